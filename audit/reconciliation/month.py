"""The month: what the newest versions of its nights add up to, in one currency.

Win by table and day, every adjustment that was made, every line that differs, and each croupier's errors over the month
with their interval; who stands out is named under a control of false names that holds whatever the dependence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from audit.models import Casino, NightReport
from audit.reconciliation.checks import in_millionths
from audit.reconciliation.night import FALSE_NAMES, INTERVAL
from audit.reconciliation.sheets import BRIDGE, Column, Sheet
from settlement.night.croupiers import Tally, error_rate, more_than_others, noteworthy, one_sidedness


@dataclass(slots=True)
class Croupier:
    """One croupier over a month. RateCounter and p-values are millionths, p-values rounded up."""

    name: str
    tally: Tally
    rate: int
    low: int
    high: int
    p_errors: int
    p_side: int
    is_noteworthy: bool


@dataclass(slots=True)
class Month:
    """A month of a casino in a currency. ``win`` is by table and day, None where a count is missing."""

    casino: Casino
    first: date
    currency: str
    days: list[date] = field(default_factory=list)
    reports: dict[date, NightReport] = field(default_factory=dict)
    win: dict[str, dict[date, int | None]] = field(default_factory=dict)
    totals: dict[date, dict[str, int | None]] = field(default_factory=dict)
    adjustments: list[dict[str, Any]] = field(default_factory=list)
    exceptions: list[dict[str, Any]] = field(default_factory=list)
    croupiers: list[Croupier] = field(default_factory=list)

    @property
    def missing(self) -> list[date]:
        """The days that have no report."""
        return [day for day in self.days if day not in self.reports]

    def table_total(self, table: str) -> int | None:
        """Return what a table won in the month, None where any of its nights is not counted."""
        return _sum(self.win[table].values())

    def total(self, name: str) -> int | None:
        """Return the month's sum of a figure, None where any night lacks it."""
        return _sum(figures[name] for figures in self.totals.values())


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = list(amounts)
    return None if any(amount is None for amount in known) else sum(amount for amount in known if amount is not None)


def month_of(casino: Casino, first: date, currency: str) -> Month:
    """Return the month that begins on ``first``."""
    following = (first + timedelta(days=32)).replace(day=1)
    month = Month(casino, first, currency)
    month.days = [first + timedelta(days=number) for number in range((following - first).days)]
    reports = NightReport.objects.filter(
        casino=casino, currency=currency, gaming_day__gte=first, gaming_day__lt=following
    ).order_by("gaming_day", "version")
    tallies: dict[str, Tally] = {}
    for report in reports:
        month.reports[report.gaming_day] = report
        month.adjustments += [
            {**row, "day": report.gaming_day, "version": report.version, "report": report.pk} for row in report.sheet
        ]
    for day, report in month.reports.items():
        _add(month, day, report, tallies)
    month.win = dict(sorted(month.win.items()))
    month.croupiers = _compared(tallies)
    return month


def _add(month: Month, day: date, report: NightReport, tallies: dict[str, Tally]) -> None:
    said = report.said()
    for table in said["tables"]:
        month.win.setdefault(table["name"], {})[day] = table["W_acct"]
    total = said["total"]
    month.totals[day] = {
        name: total["bridge"].get(name) if name in BRIDGE else total[name] for name in (*BRIDGE, "W_acct", "D", "S")
    }
    month.exceptions += [
        {"day": day, "report": report.pk, "number": line["number"], "code": line["code"], "row": row}
        for line in said["lines"]
        if line["code"] != "findings"  # they have a list of their own
        for row in line["rows"]
        if row["verdict"] == "differs"
    ]
    for each in said["croupiers"]:
        before = tallies.get(each["croupier"], Tally(0))
        tallies[each["croupier"]] = Tally(
            before.payouts + each["payouts"],
            before.for_house + each["for_house"],
            before.for_player + each["for_player"],
        )


def _compared(tallies: dict[str, Tally]) -> list[Croupier]:
    everybody = Tally(*(sum(counts) for counts in zip(*tallies.values(), strict=True))) if tallies else Tally(0)
    p_errors = {name: more_than_others(tally, everybody) for name, tally in tallies.items()}
    p_side = {name: one_sidedness(tally) for name, tally in tallies.items()}
    # Two questions of each croupier, all under one control: the tests share their totals, so whatever the dependence.
    asked = {f"errors/{name}": p for name, p in p_errors.items()} | {f"side/{name}": p for name, p in p_side.items()}
    named = {name.partition("/")[2] for name in noteworthy(asked, FALSE_NAMES, any_dependence=True)}
    found = []
    for name, tally in sorted(tallies.items()):
        rate = error_rate(tally, INTERVAL)
        if rate is not None:
            shares = (in_millionths(rate.rate), in_millionths(rate.low), in_millionths(rate.high))
            p_values = [-(-p.numerator * 10**6 // p.denominator) for p in (p_errors[name], p_side[name])]
            found.append(Croupier(name, tally, *shares, *p_values, name in named))
    return found


def sheets(month: Month) -> list[Sheet]:
    """Return the tables of a month, as forms write them."""
    days = [day for day in month.days if day in month.reports]
    by_day = [Column(day.isoformat(), "money") for day in days]
    wins = [
        [table, *(amounts.get(day) for day in days), month.table_total(table)] for table, amounts in month.win.items()
    ]
    figures = (*BRIDGE, "W_acct", "D", "S")
    return [
        Sheet("win", [Column("table"), *by_day, Column("total", "money")], wins),
        Sheet(
            "bridge",
            [Column("day"), Column("version", "number"), Column("state"), *(Column(name, "money") for name in figures)],
            [
                [
                    day.isoformat(),
                    month.reports[day].version,
                    month.reports[day].state,
                    *(month.totals[day][name] for name in figures),
                ]
                for day in days
            ],
        ),
        Sheet(
            "adjustments",
            [Column(name) for name in ("day", "version", "of", "line", "was", "is", "reasons")],
            [
                [
                    str(row["day"]),
                    *(row[name] for name in ("version", "of", "line", "was", "is")),
                    "; ".join(row["reasons"]),
                ]
                for row in month.adjustments
            ],
        ),
        Sheet(
            "exceptions",
            [Column(name) for name in ("day", "number", "line", "stream", "table", "expected", "found", "note")],
            [
                [
                    str(each["day"]),
                    each["number"],
                    each["code"],
                    *(each["row"][name] for name in ("stream", "table", "expected", "found", "note")),
                ]
                for each in month.exceptions
            ],
        ),
        Sheet(
            "croupiers",
            [
                Column(name)
                for name in (
                    *("croupier", "payouts", "for_house", "for_player", "rate_millionths", "low_millionths"),
                    *("high_millionths", "p_errors_millionths", "p_side_millionths", "noteworthy"),
                )
            ],
            [
                [
                    *(each.name, each.tally.payouts, each.tally.for_house, each.tally.for_player, each.rate, each.low),
                    *(each.high, each.p_errors, each.p_side, each.is_noteworthy),
                ]
                for each in month.croupiers
            ],
        ),
    ]
