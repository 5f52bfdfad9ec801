"""The findings list: its columns, defined once for the desk's list and for its exports, and its rows as a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access.scope import Scope
from audit.casework.debts import Debt, debt_of, look_up_debts, stake_of_debt, with_money
from audit.casework.priority import with_priority
from audit.casework.titles import incident_title
from audit.casework.urgency import priority_of
from audit.corrections.superseding import look_up_corrections
from audit.corrections.wording import look_up_decided
from audit.exports.sheets import Column, Dated, Sheet
from audit.models import Finding
from audit.models.adjudication import Severity
from audit.models.cases import State
from audit.persons.directory import Directory, named_facts, persons_of_facts, players, staff
from audit.presentation import (
    date_time,
    day,
    finding_title,
    language,
    local,
    money,
    provision,
    reference,
    superseded_by,
    units,
    value,
)
from settlement.catalogue import RULES
from settlement.provisions import deciding_first

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_ROWS = 50_000
"""Rows of a file; an officer who wants more narrows the filter."""

BATCH_ROWS = 500
"""Rows read by one query, and rows between two reports of progress."""

RELATED = ("stream", "table", "casino", "case__assigned_to", "superseded_by_run__replaces")
"""What a row shows in addition to the finding itself."""


@dataclass(frozen=True, slots=True)
class FindingColumn:
    """One column of the findings list: its heading, its cell, and the field that sorts it ("" if none does).

    An amount is a ``Decimal`` in units of the row's currency. A cell may be None.
    """

    heading: _StrPromise
    cell: Callable[[Finding], Any]
    ordering: str = ""


def _at(moment: datetime, finding: Finding) -> Dated:
    words = date_time(moment, finding.casino, seconds=True, with_year=True)
    return Dated(words, local(moment, finding.casino).isoformat())


def _message(finding: Finding) -> str:
    return f"{finding.as_value().message(language())} {finding.decided}".strip()


def _casino(finding: Finding) -> str:
    """Return the code of the casino; of a sandbox, with that: no file of findings may pass for one of a casino."""
    casino = finding.casino
    return gettext("%(name)s (sandbox)") % {"name": casino.code} if casino.is_sandbox else casino.code


def _value(finding: Finding, name: Literal["expected", "recorded"]) -> str | Decimal | None:
    """Return what was expected or recorded: an amount in units of the currency, anything else in words."""
    rule, fact = RULES[finding.rule], getattr(finding, name)
    kind = rule.expected_is if name == "expected" else rule.recorded_is
    return (
        units(fact, finding.currency)
        if kind == "money" and isinstance(fact, int)
        else value(fact, kind, finding.currency)
    )


def _gaming_day(finding: Finding) -> Dated:
    return Dated(day(finding.gaming_day, with_weekday=True, with_year=True), finding.gaming_day.isoformat())


def _amount(finding: Finding) -> Decimal | None:
    """Return what is owed now, without a sign: who owes it to whom is in words. None where no money is concerned."""
    debt = _in_file(finding)
    if debt.claims:
        return units(debt.larger, debt.claims[0].currency)
    if debt.is_put_right or debt.is_cleared:
        return units(0, finding.currency)
    return None if finding.difference is None else units(abs(finding.difference), finding.currency)  # owed by nobody


def _side(finding: Finding, by: str) -> Decimal | None:
    """Return what ``by`` owes, "house" or "player": an incident of several wagers may have both."""
    debt = _in_file(finding)
    amount = debt.to_players if by == "house" else debt.to_bank
    return units(amount, debt.claims[0].currency) if amount else None


def _owed_by(finding: Finding) -> str:
    by = _in_file(finding).by
    return _party(finding, is_bank=by == "house") if by else ""


def _owed_to(finding: Finding) -> str:
    by = _in_file(finding).by
    return _party(finding, is_bank=by != "house") if by else ""


def _party(finding: Finding, *, is_bank: bool) -> str:
    if is_bank:
        return gettext("the house")
    debt = _in_file(finding)
    codes = {each.player for each in debt.claims if each.by == debt.by}
    if len(codes) > 1:
        return gettext("several players")
    code = codes.pop() if codes else finding.player
    named = finding.named.get("player", finding.player) if code == finding.player else code
    return named or gettext("unknown player")


def _in_file(finding: Finding) -> Debt:
    """Return what a row says is owed: the money of its own finding, or of its incident where the file has only that."""
    debt: Debt | None = getattr(finding, "debt_in_file", None)  # set by ``findings_by_id``
    return debt_of([finding]) if debt is None else debt


def _money(finding: Finding) -> str:
    player, debt = finding.named.get("player", ""), _in_file(finding)
    if finding.difference is None and not (debt.claims or debt.is_put_right or debt.is_cleared):
        return ""
    return stake_of_debt(finding, debt, player, money).text


def _title(finding: Finding) -> str:
    return incident_title(finding, stake_of_debt(finding, _in_file(finding), finding.named.get("player", "")))


def _provision(finding: Finding) -> str:
    """Return the clauses that the finding cites, the deciding one first."""
    bet, own = finding.facts.get("bet"), finding.provisions or [finding.provision]
    return ", ".join(map(provision, filter(None, deciding_first(own, finding.rule, finding.ruleset, bet))))


def _caused_by(finding: Finding) -> str:
    cause = finding.as_value().caused_by
    return f"{cause.rule} #{cause.seq}" if cause is not None else ""


COLUMNS: Mapping[str, FindingColumn] = {
    "id": FindingColumn(_("id"), lambda finding: finding.pk, "pk"),
    "reference": FindingColumn(_("reference"), reference, "pk"),
    "severity": FindingColumn(_("severity"), lambda finding: str(Severity(finding.severity).label), "severity"),
    "priority": FindingColumn(_("priority"), priority_of, "priority"),
    "rule": FindingColumn(_("rule"), lambda finding: finding.rule, "rule"),
    "title": FindingColumn(_("finding"), _title, "rule"),
    "rule_title": FindingColumn(_("what happened"), lambda finding: finding_title(finding.rule)),
    "casino": FindingColumn(_("casino"), _casino, "casino"),
    "table": FindingColumn(_("table"), lambda finding: finding.table.code if finding.table else "", "table"),
    "gaming_day": FindingColumn(_("gaming day"), _gaming_day, "gaming_day"),
    "occurred": FindingColumn(_("occurred"), lambda finding: _at(finding.occurred_at, finding), "occurred_at"),
    "wager": FindingColumn(_("wager"), lambda finding: finding.wager, "wager"),
    "money": FindingColumn(_("money"), _money, "size"),
    "expected": FindingColumn(_("expected"), lambda finding: _value(finding, "expected")),
    "recorded": FindingColumn(_("recorded"), lambda finding: _value(finding, "recorded")),
    "amount": FindingColumn(_("amount"), _amount),
    "owed_by": FindingColumn(_("owed by"), _owed_by),
    "owed_to": FindingColumn(_("owed to"), _owed_to),
    "owed_to_players": FindingColumn(_("owed to players"), lambda finding: _side(finding, "house")),
    "owed_to_bank": FindingColumn(_("owed to the house"), lambda finding: _side(finding, "player")),
    "player": FindingColumn(_("player"), lambda finding: finding.named.get("player", finding.player)),
    "croupier": FindingColumn(_("croupier"), lambda finding: finding.named.get("croupier", finding.croupier)),
    "currency": FindingColumn(_("currency"), lambda finding: finding.currency),
    "provision": FindingColumn(_("provision"), _provision),
    "caused_by": FindingColumn(_("caused by"), _caused_by),
    "state": FindingColumn(
        _("state"),
        lambda finding: str(State(finding.case.state).label) if finding.case else "",
        "case__state",
    ),
    "officer": FindingColumn(
        _("officer"),
        lambda finding: str(finding.case.assigned_to or "") if finding.case else "",
        "case__assigned_to",
    ),
    "deadline": FindingColumn(
        _("deadline"),
        lambda finding: _at(finding.case.deadline, finding) if finding.case else "",
        "case__deadline",
    ),
    "outcome": FindingColumn(
        _("outcome"),
        lambda finding: finding.case.get_outcome_display() if finding.case and finding.case.outcome else "",
    ),
    "status": FindingColumn(_("status"), lambda finding: finding.get_status_display(), "status"),
    "superseded_by": FindingColumn(_("superseded by"), superseded_by),
    "message": FindingColumn(_("message"), _message),
    "remedy": FindingColumn(_("what to do"), lambda finding: finding.as_value().remedy(language(), finding.named)),
}
"""Every column by its name, in the order of an export. A list on screen shows a selection of them."""


PRINTED = (
    *("severity", "priority", "title", "rule_title", "table", "occurred", "wager", "money", "croupier", "provision"),
    *("state", "deadline", "remedy"),
)
"""The columns of a PDF: a page has no room for all, and the other files have them."""

NOWHERE = Scope()


def findings_by_id(ids: Sequence[int], scope: Scope, *, names: Scope = NOWHERE) -> Iterator[Finding]:
    """Yield the findings with these ids in this order, read in batches. Ids unknown or out of ``scope`` are skipped.

    A row owes what its finding owes, and the cause of an incident what of the incident no other row owes: so a file
    has every claim of its incidents once, of a queue as of a list.

    At the casinos of ``names``, their facts have players' names beside the ids: they are for reading, not for saving.
    """
    selected = with_money(with_priority(scope.rows(Finding.objects.select_related(*RELATED))))
    in_file = frozenset(ids)
    for low in range(0, len(ids), BATCH_ROWS):
        batch = ids[low : low + BATCH_ROWS]
        findings = selected.in_bulk(batch)
        add_names(findings.values(), names, for_file=True)
        look_up_corrections(findings.values())
        look_up_decided(findings.values())
        look_up_debts(findings.values(), in_file)
        yield from (findings[pk] for pk in batch if pk in findings)


def add_names(findings: Collection[Finding], names: Scope, *, with_facts: bool = True, for_file: bool = False) -> None:
    """Put the names of persons in the place of their ids in ``findings``, in memory, at the casinos of ``names``.

    Without facts those alone who are concerned are named; in a file each name has its id. One query for each casino.
    """
    by_casino: dict[int, list[Finding]] = {}
    for finding in findings:
        if names.includes(finding.casino_id):
            by_casino.setdefault(finding.casino_id, []).append(finding)
    for casino_id, at_casino in by_casino.items():
        in_facts = chain.from_iterable(persons_of_facts(each.facts) for each in at_casino if with_facts)
        concerned = players([finding.player for finding in at_casino])
        directory = Directory.of(casino_id, [*in_facts, *concerned, *staff([each.croupier for each in at_casino])])
        directory = directory if for_file else directory.for_page()
        for finding in at_casino:
            if with_facts:
                finding.facts = named_facts(finding.facts, directory)
            finding.named = names_of(finding, directory)


def names_of(finding: Finding, directory: Directory) -> dict[str, str]:
    """Return the persons concerned as a page shows them, by what they are in it."""
    named = {"player": finding.player and directory.player(finding.player)}
    named["croupier"] = finding.croupier and directory.staff(finding.croupier)
    return {role: name for role, name in named.items() if name}


def findings_sheet(findings: Iterable[Finding], on_progress: Callable[[int], None] = lambda rows: None) -> Sheet:
    """Return findings as a table in the active language. ``on_progress`` receives the number of rows so far."""
    rows, is_of_sandbox = [], False
    for finding in findings:
        is_of_sandbox = is_of_sandbox or finding.casino.is_sandbox
        rows.append([column.cell(finding) for column in COLUMNS.values()])
        if len(rows) % BATCH_ROWS == 0:
            on_progress(len(rows))
    columns = [Column(str(column.heading), key=name) for name, column in COLUMNS.items()]
    return Sheet("findings", columns, rows, PRINTED, is_of_sandbox)
