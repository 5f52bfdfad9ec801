"""Entries of the register: proposed by one officer who keeps it, approved, declined or withdrawn.

    propose ──► waiting ──► approved   by another officer: version n of the casino's register
                   ├──────► declined   by another officer
                   └──────► withdrawn  by whoever proposed it

Each of these names an entry of the audit trail, and the database does what it says in the same statement, or refuses:
``sql/entries.sql``. Here are the words of a refusal, and the question to the engine whether the law allows a value:
when it is proposed, and again when it is approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Casino, GamingTable, Officer, RegisterEntry, RequestState
from audit.presentation import language
from audit.register import in_force, readings
from audit.register.readings import DOUBLE_TABLE, KINDS, ValueRefused
from settlement import Finding

FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
"""The first and the last gaming day that a stream may have."""

_REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _("You do not keep the register of this casino."),
    "not-keeper": _("You do not keep the register of this casino."),
    "no-such-table": _("The casino has no such table."),
    "waiting-already": _("A proposal about the same reading, table and ruleset is already waiting."),
    "not-readable": _("The register cannot hold this entry."),
    "no-such-entry": _("The proposal has changed in the meantime. Look at it again."),
    "decided": _("The proposal has been decided in the meantime."),
    "own-proposal": _("You proposed this. Another officer must decide."),
    "not-own-proposal": _("Only the officer who proposed this can withdraw it."),
    "same-hands": SAME_HANDS,
    "proposer-left": _("The officer who proposed this no longer keeps the register here. Decline the proposal."),
}
"""What the database's code of a refusal is in words."""


class RegisterRefused(Exception):
    """The entry cannot be proposed or decided so. ``reason`` is for the officer.

    ``finding``: what the engine finds unlawful in it, with its provision; None if that is not why.
    """

    def __init__(self, reason: str | Promise, finding: Finding | None = None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.finding = finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is proposed. ``table`` None is every table; ``ruleset`` "" every one that the reading concerns.

    ``value`` None takes back what an earlier entry decided; ``last_day`` None is without an end.
    """

    reading: str
    value: Any
    first_day: date
    last_day: date | None = None
    table: GamingTable | None = None
    ruleset: str = ""
    reason: str = ""


def propose(actor: Officer, casino: Casino, proposal: Proposal) -> RegisterEntry:
    """Propose an entry. Raise ``RegisterRefused``."""
    _demand_keeper(actor, casino.pk)
    proposal_is_whole(casino, proposal)
    demand_lawful(casino.pk, proposal)
    data = {**_content(proposal), "reason": audit_trail.cleaned(proposal.reason)}
    added = _perform(actor, "register.proposed", casino.pk, data)
    return RegisterEntry.objects.get(pk=added["id"])


def approve(actor: Officer, entry_id: int, *, reason: str = "") -> RegisterEntry:
    """Approve an entry, which is then a version of the casino's register. Raise ``RegisterRefused``.

    A refusal is recorded in the audit trail.
    """
    return _decide(actor, entry_id, RequestState.APPROVED, reason)


def decline(actor: Officer, entry_id: int, *, reason: str) -> RegisterEntry:
    """Decline an entry that another officer proposed. Raise ``RegisterRefused``."""
    if not audit_trail.cleaned(reason):
        raise RegisterRefused(_("Give a reason."))
    return _decide(actor, entry_id, RequestState.DECLINED, reason)


def withdraw(actor: Officer, entry_id: int, *, reason: str = "") -> RegisterEntry:
    """Withdraw one's own proposal. Raise ``RegisterRefused``."""
    return _decide(actor, entry_id, RequestState.WITHDRAWN, reason)


def may_decide(actor: Officer, entry: RegisterEntry) -> bool:
    """Return whether ``actor`` may approve or decline an entry: another's, which waits, in other hands."""
    return (
        entry.state == RequestState.WAITING
        and Scope.of(actor, Capability.KEEP_REGISTER).includes(entry.casino_id)
        and not same_hands(entry.proposed_by, actor)
    )


def proposal_is_whole(casino: Casino, proposal: Proposal) -> None:
    """Raise ``RegisterRefused`` for a proposal that lacks something or contradicts itself, whatever the law says."""
    kind = KINDS.get(proposal.reading)
    try:
        readings.check(proposal.reading, proposal.value)
    except ValueRefused as refused:
        raise RegisterRefused(refused.reason) from refused
    assert kind is not None, "a reading that there is not has no value"
    if not readings.rulesets_of(proposal.reading, proposal.ruleset):
        raise RegisterRefused(_("This ruleset has no such reading."))
    if kind.is_of_table and proposal.table is None:
        raise RegisterRefused(_("Choose the table."))
    if kind.is_of_ruleset and not proposal.ruleset:
        raise RegisterRefused(_("Choose the ruleset."))
    if kind.is_of_casino and (proposal.table is not None or proposal.ruleset):
        raise RegisterRefused(_("This is decided for the whole casino: choose neither table nor ruleset."))
    if proposal.table is not None and proposal.table.casino_id != casino.pk:
        raise RegisterRefused(_("The casino has no such table."))
    if not FIRST_DAY <= proposal.first_day <= LAST_DAY:
        raise RegisterRefused(_("That gaming day is too far away."))
    if proposal.last_day is not None and not proposal.first_day <= proposal.last_day <= LAST_DAY:
        raise RegisterRefused(_("The last day is before the first."))
    if not audit_trail.cleaned(proposal.reason):
        raise RegisterRefused(_("Give a reason."))


def demand_lawful(casino_id: int, proposal: Proposal) -> None:
    """Raise ``RegisterRefused`` for a value that contradicts the text at a ruleset that it reaches, as the engine says.

    A table counts as double if the register says so on the first day.
    """
    for ruleset in readings.rulesets_of(proposal.reading, proposal.ruleset):
        is_double = False
        if proposal.table is not None:
            where = in_force.Place(casino_id, proposal.table.pk, ruleset, proposal.first_day)
            decided = in_force.deciding(where, in_force.approved(casino_id)).get(DOUBLE_TABLE)
            is_double = decided is not None and decided.value is True
        finding = readings.objection(proposal.reading, proposal.value, ruleset=ruleset, is_double=is_double)
        if finding is not None:
            clause = readings.clause_of(proposal.reading, finding)
            raise RegisterRefused(f"{finding.message(language())} {clause}".strip(), finding)


def _decide(actor: Officer, entry_id: int, state: RequestState, reason: str) -> RegisterEntry:
    entry = RegisterEntry.objects.select_related("table", "proposed_by", "casino").get(pk=entry_id)
    proposal = Proposal(
        reading=entry.reading,
        value=entry.value,
        first_day=entry.first_day,
        last_day=entry.last_day,
        table=entry.table,
        ruleset=entry.ruleset,
        reason=entry.reason,
    )
    data = {"id": entry.pk, **_content(proposal), "proposed_by": entry.proposed_by.get_username()}
    try:
        with transaction.atomic():
            _demand_keeper(actor, entry.casino_id)
            if state == RequestState.APPROVED:
                demand_lawful(entry.casino_id, proposal)
            _perform(actor, f"register.{state}", entry.casino_id, data, reason=audit_trail.cleaned(reason))
    except RegisterRefused as refused:
        data = {**data, "decision": str(state)}
        audit_trail.record(
            actor.get_username(), "register.refused", casino_id=entry.casino_id, data=data, reason=str(refused)
        )
        raise
    return RegisterEntry.objects.get(pk=entry_id)


def _demand_keeper(actor: Officer, casino_id: int) -> None:
    if not Scope.of(actor, Capability.KEEP_REGISTER).includes(casino_id):
        raise RegisterRefused(_REFUSALS["not-keeper"])


def _content(proposal: Proposal) -> dict[str, Any]:
    """Return what an entry of the audit trail says of a proposal."""
    return {
        "reading": proposal.reading,
        "value": readings.as_json(proposal.value),
        "ruleset": proposal.ruleset,
        "table": proposal.table.code if proposal.table is not None else "",
        "first_day": proposal.first_day.isoformat(),
        "last_day": proposal.last_day.isoformat() if proposal.last_day is not None else "",
    }


def _perform(actor: Officer, type: str, casino_id: int, data: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
    try:
        return audit_trail.perform(actor.get_username(), type, casino_id=casino_id, data=data, reason=reason)
    except EntryRefused as refused:
        raise RegisterRefused(_REFUSALS.get(refused.code, _REFUSALS["no-such-entry"])) from refused
