"""The month: the sum of the newest versions of its nights, in one currency.

Win by table and day, every restatement, every line that differs, and each croupier's errors over the month with their
interval. Croupiers who stand out are named under a false discovery rate that holds under any dependence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.exports.sheets import Sheet
from audit.models import Casino, NightReport, NightState
from audit.persons.directory import Directory, staff
from audit.presentation import day as shown_day
from audit.presentation import local
from audit.reconciliation.columns import Column, money_columns, sheet_of
from audit.reconciliation.content import (
    BRIDGE,
    BRIDGE_WITH_UNADJUDICATED,
    UNADJUDICATED,
    croupier_row,
    figures_of,
)
from audit.reconciliation.croupiers import assessments_of
from audit.reconciliation.findings import add_tallies
from audit.reconciliation.names import with_croupiers
from audit.reconciliation.presentation import (
    COMPARISONS,
    CROUPIERS,
    RESTATEMENT,
    Section,
    comparisons_of,
)
from settlement.night.croupiers import Assessment, Tally
from settlement.night.variance import Surprise, surprise

APART_FROM_BRIDGE = ("W_acct", "D", "S")
FIGURES = (*BRIDGE_WITH_UNADJUDICATED, *APART_FROM_BRIDGE)
"""The figures of the night that a month adds up."""


@dataclass(slots=True)
class Month:
    """A month of a casino in a currency.

    ``reports`` are the newest version of each day. Amounts are minor units: ``win`` by table and day, ``totals`` by day
    and figure; None where a count is missing. ``errors`` and ``variances`` are those of payouts and of the count, by
    table and day, and ``games`` what is played at each table. ``luck``, for the house, and its ``variance`` are of the
    counted days.
    """

    casino: Casino
    first: date
    currency: str
    days: list[date] = field(default_factory=list)
    reports: dict[date, NightReport] = field(default_factory=dict)
    win: dict[str, dict[date, int | None]] = field(default_factory=dict)
    totals: dict[date, dict[str, int | None]] = field(default_factory=dict)
    games: dict[str, str] = field(default_factory=dict)
    errors: dict[str, dict[date, int]] = field(default_factory=dict)
    variances: dict[str, dict[date, int]] = field(default_factory=dict)
    adjustments: list[dict[str, Any]] = field(default_factory=list)
    exceptions: list[dict[str, Any]] = field(default_factory=list)
    croupiers: dict[str, Assessment] = field(default_factory=dict)
    luck: Fraction = Fraction(0)
    variance: Fraction = Fraction(0)

    @property
    def surprise(self) -> Surprise | None:
        """How unusual the luck of the counted nights is, all together; None where nothing was at stake."""
        return surprise(self.luck, self.variance)

    @property
    def overdue(self) -> list[date]:
        """The days without a report that are over; of those to come nobody expects one."""
        today = local(timezone.now(), self.casino).date()
        return [day for day in self.missing if day < today]

    @property
    def missing(self) -> list[date]:
        """The days without a report."""
        return [day for day in self.days if day not in self.reports]

    @property
    def reported(self) -> list[date]:
        """The days with a report."""
        return [day for day in self.days if day in self.reports]

    @property
    def counted(self) -> list[date]:
        """The days whose every table is counted."""
        return [day for day in self.reported if self.totals[day]["W_acct"] is not None]

    def counted_total(self, figure: str) -> int:
        """Return the sum of a figure over the counted days."""
        return sum(self.totals[day][figure] or 0 for day in self.counted)

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures of each night; money of bets that are not adjudicated only where a night has any."""
        has_unadjudicated = any(total[UNADJUDICATED] for total in self.totals.values())
        return (*(BRIDGE_WITH_UNADJUDICATED if has_unadjudicated else BRIDGE), *APART_FROM_BRIDGE)

    def table_total(self, table: str) -> int | None:
        """Return what a table won in the month, or None if any of its nights is not counted."""
        return _sum(self.win[table].values())

    def total(self, figure: str) -> int | None:
        """Return the month's sum of a figure, or None if any night lacks it."""
        return _sum(figures[figure] for figures in self.totals.values())


def _sum(amounts: Iterable[int | None]) -> int | None:
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def month_after(first: date) -> date:
    """Return the first day of the month after the one that begins on ``first``."""
    return (first + timedelta(days=32)).replace(day=1)


def around(first: date) -> list[date]:
    """Return the first days of the month before, of this one, and of the next unless that is still to come."""
    before, after = (first - timedelta(days=1)).replace(day=1), month_after(first)
    return [before, first, *([after] if after <= timezone.now().date() else [])]


def month_of(casino: Casino, first: date, currency: str) -> Month:
    """Return the month that begins on ``first``."""
    following = month_after(first)
    month = Month(casino, first, currency)
    month.days = [first + timedelta(days=number) for number in range((following - first).days)]
    reports = NightReport.objects.filter(
        casino=casino, currency=currency, gaming_day__gte=first, gaming_day__lt=following
    ).order_by("gaming_day", "version")
    for report in reports:
        month.reports[report.gaming_day] = report  # a later version replaces an earlier one
        month.adjustments += [
            {**row, "day": str(report.gaming_day), "version": report.version, "report": report.pk}
            for row in report.sheet
        ]
    tallies: dict[str, list[Tally]] = {}
    for day, report in month.reports.items():
        _add(month, day, report, tallies)
    month.win = dict(sorted(month.win.items()))
    month.croupiers = assessments_of({name: add_tallies(*each) for name, each in sorted(tallies.items())})
    return month


def _add(month: Month, day: date, report: NightReport, tallies: dict[str, list[Tally]]) -> None:
    content = report.parsed_content()
    for table in content["tables"]:
        figures = figures_of(table)
        month.win.setdefault(table["name"], {})[day] = table["W_acct"]
        month.errors.setdefault(table["name"], {})[day] = figures["payout_errors"]
        month.variances.setdefault(table["name"], {})[day] = figures.get("accounting_variance") or 0
    month.games |= {session["table"]: session["game"] for session in content["sessions"]}
    total = figures_of(content["total"])
    if total["W_acct"] is not None:
        month.luck += Fraction(total["exact"]["luck"])
        month.variance += Fraction(total["variance"])
    month.totals[day] = {figure: total.get(figure) for figure in FIGURES}
    month.exceptions += [
        {**row, "day": str(day), "report": report.pk}
        for line in content["lines"]
        if line["code"] != "findings"  # findings have a list of their own
        for row in comparisons_of(line)
        if row["verdict"] == "differs"
    ]
    for each in content["croupiers"]:
        tally = Tally(each["payouts"], each["for_house"], each["for_player"])
        tallies.setdefault(each["croupier"], []).append(tally)


# Its tables

_DAY = Column("day", _("Day"), "day")

ADJUSTMENTS = replace(
    RESTATEMENT,
    name="adjustments",
    title=_("Restatements"),
    columns=(_DAY, Column("version", _("Version"), "ordinal"), *RESTATEMENT.columns),
    page=("day", "version", "of", "line", "was", "is", "reasons"),
    sheet=("day", "version", "of", "line", "was", "is", "reasons"),
)

EXCEPTIONS = replace(
    COMPARISONS,
    name="exceptions",
    columns=(_DAY, *COMPARISONS.columns),
    page=("day", "line", "table", "expected", "found", "note"),
    sheet=("day", "number", "line", "stream", "table", "expected", "found", "note"),
)


def croupier_rows(month: Month, *, with_names: bool = False, for_page: bool = False) -> list[dict[str, Any]]:
    """Return the errors of every croupier of the month; ``with_names`` beside ids, ``for_page`` in their place."""
    rows = [croupier_row(croupier, assessment) for croupier, assessment in month.croupiers.items()]
    if not with_names:
        return rows
    directory = Directory.of(month.casino.pk, staff(month.croupiers))
    return with_croupiers(rows, directory.for_page() if for_page else directory)


def sheets(month: Month, *, with_names: bool = False) -> list[Sheet]:
    """Return the tables of a month, in the active language. Amounts are minor units."""
    days, currency = month.reported, month.currency
    by_day = [Column(day.isoformat(), shown_day(day, with_year=True), "money") for day in days]
    wins = [
        {"table": table, **{day.isoformat(): won.get(day, "") for day in days}, "total": month.table_total(table)}
        for table, won in month.win.items()
    ]
    nights = [
        {
            "day": day.isoformat(),
            "version": month.reports[day].version,
            "state": str(NightState(month.reports[day].state).label),
            **{figure: month.totals[day][figure] for figure in month.figures},
        }
        for day in days
    ]
    version, state = Column("version", _("Version"), "number"), Column("state", _("State"))
    bridge = [_DAY, version, state, *money_columns(month.figures)]
    # The note of an exception is its code here, to filter by; the note of a line in a report's workbook is its text.
    exceptions = [replace(column, kind="text") if column.kind == "note" else column for column in _select(EXCEPTIONS)]
    return [
        sheet_of("win", [Column("table", _("Table")), *by_day, Column("total", _("Total"), "money")], wins, currency),
        sheet_of("bridge", bridge, nights, currency),
        sheet_of("adjustments", _select(ADJUSTMENTS), month.adjustments, currency),
        sheet_of("exceptions", exceptions, month.exceptions, currency),
        sheet_of("croupiers", _select(CROUPIERS), croupier_rows(month, with_names=with_names), currency),
    ]


def _select(section: Section) -> list[Column]:
    return section.select(section.sheet)
