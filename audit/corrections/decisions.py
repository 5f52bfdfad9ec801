"""Decisions of officers about a correction, an annulment or a result declared void afterwards, that waits for them.

    waits ─► countersigned by one officer ─► countersigned by another, in other hands: approved, it takes effect
      └──────────────┴─────────────────────► refused by one officer who approves cases: final

An officer who works on cases or approves them gives the first countersignature. An officer who approves them gives
the second, or a refusal, as for a case. Nobody decides about a correction that they recorded or approved at the
table, and nobody decides twice. A refused correction never has an effect; the table may send another.

Each decision names an entry of the audit trail, and the database does what it says in the same statement, or refuses:
``sql/decisions.sql``. Here are the words of a refusal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.event_store import audit_trail, binary_copy
from audit.event_store.append import EntryRefused
from audit.models import (
    CORRECTION_RULES,
    CorrectionDecision,
    CorrectionState,
    Finding,
    LoggedStream,
    Officer,
    Verdict,
)

ATTEMPT_REFUSED = "correction.attempt_refused"

_NOT_DECIDER = _("Your role at this casino does not allow this.")

_REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _NOT_DECIDER,
    "not-decider": _NOT_DECIDER,
    "no-such-correction": _("The session has no such correction."),
    "decided": _("The correction has been decided in the meantime."),
    "not-waiting": _("The correction is not waiting for a decision."),
    "own-correction": _("You recorded or approved this correction at the table. Other officers must decide."),
    "own-decision": _("You have already decided on this correction. Another officer must decide."),
    "same-hands": SAME_HANDS,
    "no-reason": _("Give a reason."),
}
"""What the database's code of a refusal is in words."""


class DecisionRefused(audit_trail.Refused):
    """The officer cannot decide so about the correction. ``reason`` is for the officer."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The corrections of one stream that officers have decided about, by seq, in order."""

    approved: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()

    def through(self, last_seq: int) -> Decided:
        """Return those through an event."""
        return Decided(
            tuple(seq for seq in self.approved if seq <= last_seq),
            tuple(seq for seq in self.refused if seq <= last_seq),
        )

    @property
    def key(self) -> str:
        """The SHA-256 of the decisions, 64 hex digits; "" for none."""
        if not self.approved and not self.refused:
            return ""
        return hashlib.sha256(f"{list(self.approved)} {list(self.refused)}".encode()).hexdigest()


def countersign(actor: Officer, stream: LoggedStream, seq: int, *, reason: str) -> CorrectionDecision:
    """Countersign correction ``seq`` of a stream; the second countersignature approves it. Raise ``DecisionRefused``.

    A refused attempt is recorded in the audit trail.
    """
    return _decide(actor, stream, seq, Verdict.COUNTERSIGNED, reason)


def refuse(actor: Officer, stream: LoggedStream, seq: int, *, reason: str) -> CorrectionDecision:
    """Refuse correction ``seq`` of a stream for good. Raise ``DecisionRefused``."""
    return _decide(actor, stream, seq, Verdict.REFUSED, reason)


def _decide(actor: Officer, stream: LoggedStream, seq: int, verdict: Verdict, reason: str) -> CorrectionDecision:
    reason = audit_trail.cleaned(reason)
    data = {"session": stream.name, "correction": seq}
    name = actor.get_username()
    try:
        with transaction.atomic():
            added = audit_trail.perform(
                name, f"correction.{verdict}", casino_id=stream.casino_id, data=data, reason=reason
            )
    except EntryRefused as refused:
        why = _REFUSALS.get(refused.code, _REFUSALS["no-such-correction"])
        attempt = {**data, "decision": str(verdict)}
        audit_trail.record(name, ATTEMPT_REFUSED, casino_id=stream.casino_id, data=attempt, reason=str(why))
        raise DecisionRefused(why) from refused
    return CorrectionDecision.objects.get(pk=added["id"])


def decisions_about(stream_id: int, seq: int) -> list[CorrectionDecision]:
    """Return the decisions about a correction, in order, each with its officer."""
    about = CorrectionDecision.objects.filter(stream=stream_id, seq=seq).order_by("number")
    return list(about.select_related("officer"))


def decisions_of(findings: Iterable[Finding]) -> dict[tuple[int, int], list[CorrectionDecision]]:
    """Return the decisions about the corrections that ``findings`` say were made, by stream id and seq."""
    found: dict[tuple[int, int], list[CorrectionDecision]] = {
        (each.stream_id, each.seq): [] for each in findings if each.rule in CORRECTION_RULES
    }
    streams, seqs = {stream_id for stream_id, _seq in found}, {seq for _stream_id, seq in found}
    rows = CorrectionDecision.objects.filter(stream__in=streams, seq__in=seqs).order_by("number")
    for decision in rows.select_related("officer") if found else ():
        if (decision.stream_id, decision.seq) in found:
            found[decision.stream_id, decision.seq].append(decision)
    return found


def needs_officers(finding: Finding, decisions: Sequence[CorrectionDecision]) -> bool:
    """Return whether a finding is of a correction that waits for officers, or that they have decided about."""
    return finding.rule in CORRECTION_RULES and (bool(decisions) or finding.facts.get("waits") == "waits")


def state_of(decisions: Iterable[CorrectionDecision]) -> CorrectionState:
    """Return where a correction is that needs two officers, by the decisions about it."""
    verdicts = [each.verdict for each in decisions]
    if Verdict.REFUSED in verdicts:
        return CorrectionState.REFUSED
    return CorrectionState.APPROVED if len(verdicts) > 1 else CorrectionState.WAITING


def may_countersign(actor: Officer, casino_id: int, decisions: Sequence[CorrectionDecision]) -> bool:
    """Return whether ``actor`` may give the next countersignature, as far as roles and earlier decisions say."""
    needed = [Capability.APPROVE_CASES] if decisions else [Capability.WORK_CASES, Capability.APPROVE_CASES]
    return (
        state_of(decisions) == CorrectionState.WAITING
        and Scope.of(actor, *needed).includes(casino_id)
        and not any(same_hands(each.officer, actor) for each in decisions)
    )


def may_refuse(actor: Officer, casino_id: int, decisions: Sequence[CorrectionDecision]) -> bool:
    """Return whether ``actor`` may refuse the correction, as far as roles and earlier decisions say."""
    return (
        state_of(decisions) == CorrectionState.WAITING
        and Scope.of(actor, Capability.APPROVE_CASES).includes(casino_id)
        and all(each.officer_id != actor.pk for each in decisions)
    )


_DECIDED = """
select stream_id, seq, verdict, number from audit_correctiondecision where stream_id = any (%b::bigint[])
order by stream_id, seq
"""


def decided_of(stream_ids: Iterable[int]) -> dict[int, Decided]:
    """Return what is decided about the corrections of streams, by stream id; every one of ``stream_ids`` is there."""
    ids = list(stream_ids)
    found: dict[int, tuple[list[int], list[int]]] = {stream_id: ([], []) for stream_id in ids}
    for stream_id, seq, verdict, number in binary_copy.execute(_DECIDED, (ids,)):
        approved, refused = found[stream_id]
        if verdict == Verdict.REFUSED:
            refused.append(seq)
        elif number > 1:
            approved.append(seq)
    return {stream_id: Decided(tuple(approved), tuple(refused)) for stream_id, (approved, refused) in found.items()}


def approved_in(stream_id: int) -> list[int]:
    """Return the corrections of a stream that two officers have approved, by seq."""
    return list(decided_of([stream_id])[stream_id].approved)
