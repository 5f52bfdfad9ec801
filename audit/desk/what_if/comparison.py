"""What stands beside what a run finds, as a page shows it: the sums, each rule, and each finding that differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from django.utils.functional import Promise, cached_property
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.adjudication.what_if import Change
from audit.adjudication.what_if_sums import Compared, Sum
from audit.casework.stakes import Stake
from audit.charts.dumbbell import draw_dumbbell
from audit.desk import parts
from audit.desk.sessions import session_name
from audit.models import LoggedStream, WhatIf
from audit.models.adjudication import Severity
from audit.presentation import (
    count,
    date_time,
    day,
    finding_title,
    language,
    money,
    money_in_prose,
    value,
)
from audit.register.readings import UNLAWFUL, as_read
from settlement.catalogue import RULES
from settlement.catalogue.words import word

KINDS_OF_CHANGE: Mapping[str, Promise] = {
    "appeared": gettext_lazy("appeared"),
    "disappeared": gettext_lazy("disappeared"),
    "changed": gettext_lazy("changed"),
}
"""How a finding differs, by its kind."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one reading finds, in words."""

    findings: int
    to_players: str
    to_bank: str


@dataclass(frozen=True)
class Verdict:
    """The sums of all rules in one currency: before, after, and how they differ. "" where there is no such money."""

    compared: Compared

    @cached_property
    def before(self) -> Side:
        return _side(self.compared.before, self.compared.currency)

    @cached_property
    def after(self) -> Side:
        return _side(self.compared.after, self.compared.currency)

    @property
    def side(self) -> str:
        """Whose money differs: "player", "bank", or "none"."""
        return "player" if self._more_to_players else "bank" if self._more_to_bank else "none"

    @property
    def to_players(self) -> str:
        return _difference(self._more_to_players, self.compared.currency)

    @property
    def to_bank(self) -> str:
        return _difference(self._more_to_bank, self.compared.currency)

    @property
    def _more_to_players(self) -> int:
        return self.compared.after.to_players_minor - self.compared.before.to_players_minor

    @property
    def _more_to_bank(self) -> int:
        return self.compared.after.to_bank_minor - self.compared.before.to_bank_minor


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: its findings before and after, and the money of both. "" where no money is concerned."""

    rule: str
    title: str
    before: Side
    after: Side
    drawing: SafeString


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A finding that differs; ``stake`` says who would have more or less, None where no money is concerned.

    ``session`` is the table and the night that it is of, in words.
    """

    change: Change
    title: str
    before: str
    after: str
    stake: Stake | None
    session: str = ""

    @property
    def difference(self) -> SafeString:
        return parts.who(self.stake) if self.stake is not None else SafeString("")

    @property
    def difference_in_words(self) -> str:
        return self.stake.words if self.stake is not None else ""


def facts_of(what_if: WhatIf) -> Iterator[list[str]]:
    """Yield what a run tried and of what, each with what it is called, as files have it."""
    for name, value_ in what_if.readings.items():
        yield [*as_read(name, value_)]
    yield [_("casino"), str(what_if.casino or _("all casinos"))]
    selection = what_if.selection
    for name, words in (("first_day", _("gaming days from")), ("last_day", _("up to"))):
        if chosen := selection.get(name):
            yield [words, day(date.fromisoformat(chosen), with_year=True)]
    if tables := selection.get("tables"):
        yield [_("tables"), ", ".join(tables)]
    yield [_("streams"), count(what_if.streams)]
    yield [_("engine"), what_if.engine_version]
    yield [_("started"), date_time(what_if.started_at, what_if.casino, with_year=True)]
    yield [_("started by"), what_if.started_by]


def rule_rows(compared: Sequence[Compared]) -> list[RuleRow]:
    """Return every rule that finds something before or after, those that differ first."""
    most = max((max(each.before.findings, each.after.findings) for each in compared), default=1)
    in_order = sorted(compared, key=lambda each: (each.before == each.after, -abs(_shift(each)), each.rule))
    return [
        RuleRow(
            each.rule,
            finding_title(each.rule),
            _side(each.before, each.currency, in_table=True),
            _side(each.after, each.currency, in_table=True),
            mark_safe(draw_dumbbell(each.before.findings, each.after.findings, most)),
        )
        for each in in_order
    ]


def change_rows(changes: Iterable[Change]) -> list[ChangeRow]:
    """Return findings that differ as the rows of a page, each with its session."""
    shown = [*changes]
    streams = LoggedStream.objects.filter(pk__in={change.stream_id for change in shown}).select_related("table")
    sessions = {stream.pk: session_name(stream) for stream in streams}
    return [replace(change_row(change), session=sessions[change.stream_id]) for change in shown]


def change_row(change: Change) -> ChangeRow:
    """Return a finding that differs as a row."""
    return ChangeRow(
        change,
        finding_title(change.rule),
        _values_text(change, change.before),
        _values_text(change, change.after),
        _more_or_less(change),
    )


def _shift(each: Compared) -> int:
    return each.after.findings - each.before.findings


def _side(of: Sum, currency: str, *, in_table: bool = False) -> Side:
    write = money if in_table else money_in_prose
    to_players, to_bank = of.to_players_minor, of.to_bank_minor
    return Side(
        of.findings,
        write(to_players, currency) if to_players else "",
        write(to_bank, currency) if to_bank else "",
    )


def _difference(minor: int, currency: str) -> str:
    """Return how a sum would change, without a sign; "" if it would not."""
    if not minor:
        return ""
    amount = {"amount": money_in_prose(abs(minor), currency)}
    return _("%(amount)s more") % amount if minor > 0 else _("%(amount)s less") % amount


def _more_or_less(change: Change) -> Stake | None:
    """Return who would get how much more or less by the run's reading: of what was due for one stake."""
    due = missing_minor(change)
    if not due:
        return None
    amount = {"amount": money_in_prose(abs(due), change.currency)}
    if due > 0:
        return Stake("player", "", _("%(amount)s more to the player") % amount)
    return Stake("bank", "", _("%(amount)s less to the player") % amount)


def missing_minor(change: Change) -> int | None:
    """Return how much more the run says to be due for one stake, in minor units; None where no money is concerned."""
    rule = RULES[change.rule]
    if rule.expected_is != "money" or rule.recorded_is != "money":
        return None
    return _missing_minor(change.after) - _missing_minor(change.before)


def _missing_minor(finding: dict[str, Any] | None) -> int:
    """Return what was due less what was recorded; 0 without a finding, or without an amount."""
    if finding is None or not isinstance(finding["expected"], int) or not isinstance(finding["recorded"], int):
        return 0
    return int(finding["expected"]) - int(finding["recorded"])


def _values_text(change: Change, finding: dict[str, Any] | None) -> str:
    """Return “expected → recorded” of a finding, “✓” if its rule has neither; "" if there is no such finding.

    The severity is added where it is what changed.
    """
    if finding is None:
        return ""
    rule = RULES[change.rule]
    values: tuple[str | None, ...] = (
        value(finding["expected"], rule.expected_is, change.currency),
        value(finding["recorded"], rule.recorded_is, change.currency),
    )
    if change.rule == UNLAWFUL:  # values of a reading, which the engine records by their codes
        values = tuple(word("reading_value", each, language()) if each else each for each in values)
    text = " → ".join(text for text in values if text) or "✓"
    severities = {(each or finding)["severity"] for each in (change.before, change.after)}
    return f"{text} ({Severity(finding['severity']).label})" if len(severities) > 1 else text
