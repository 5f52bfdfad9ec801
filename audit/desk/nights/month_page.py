"""What the page of a month shows: its nights as a calendar, one bridge, tables and nights, restatements, croupiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.dates import WEEKDAYS_ABBR as WEEKDAYS
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from audit.charts.ranges import draw_range
from audit.charts.win_line import draw_win_line
from audit.desk import parts
from audit.desk.nights.page import ROWS_SHOWN
from audit.desk.nights.tables import Table, build_first, build_table
from audit.models import NightState
from audit.presentation import WriteMoney, count, money_in_prose, money_in_thousands
from audit.presentation import day as shown_day
from audit.reconciliation import wording
from audit.reconciliation.columns import Column
from audit.reconciliation.content import BRIDGE_WITH_UNADJUDICATED
from audit.reconciliation.findings import add_tallies
from audit.reconciliation.month import ADJUSTMENTS, EXCEPTIONS, Month, croupier_rows
from audit.reconciliation.wording import money, per_thousand

WAITS: Mapping[str, Any] = {
    NightState.OPEN: gettext_lazy("playing"),
    NightState.COUNTING: gettext_lazy("count"),
    NightState.PROVISIONAL: gettext_lazy("to sign"),
    NightState.REVIEWED: gettext_lazy("to close"),
}
"""What a night that is not closed waits for."""

SCALE = 4
"""How many times the highest rate the scale of the intervals has at most."""

RARE = Decimal("0.05")
"""The probability below which a month's luck is said to be rare."""


def month_page(month: Month, *, with_names: bool = False) -> dict[str, Any]:
    """Return the context of the page of a month; ``with_names`` beside croupiers' ids."""
    return {
        "win": _win_table(month),
        "adjustments": build_first(
            ADJUSTMENTS.select(ADJUSTMENTS.page),
            month.adjustments,
            month.currency,
            {"version": lambda row: _report_address(row["report"])},
            most=ROWS_SHOWN,
        ),
        "exceptions": build_first(
            EXCEPTIONS.select(EXCEPTIONS.page),
            month.exceptions,
            month.currency,
            {"day": lambda row: _report_address(row["report"])},
            most=ROWS_SHOWN,
        ),
        "croupiers": _croupiers(month, croupier_rows(month, with_names=with_names, for_page=True)),
        "interval_heading": _interval_heading(month),
        "chance": _chance(month),
        "sentence": sentence(month),
        "weekdays": [str(WEEKDAYS[number]) for number in range(7)],
        "calendar": _calendar(month),
        "bridge": _bridge(month),
        "against_theory": _against_theory(month),
        "matrix": _matrix(month),
    }


def sentence(month: Month, write: WriteMoney = money_in_prose) -> str:
    """Return who won what on the counted nights, and how far their signatures are; a paper has it to the cent."""
    won, number = month.counted_total("W_acct"), len(month.counted)
    if not number:
        return _("No night has been counted yet.")
    says = (
        ngettext(
            "The house won %(won)s on %(number)d counted night.",
            "The house won %(won)s on %(number)d counted nights.",
            number,
        )
        if won >= 0
        else ngettext(
            "The players won %(won)s on %(number)d counted night.",
            "The players won %(won)s on %(number)d counted nights.",
            number,
        )
    )
    states = [report.state for report in month.reports.values()]
    counted = {
        "closed": states.count(NightState.CLOSED),
        "signed": states.count(NightState.REVIEWED),
        "open": states.count(NightState.PROVISIONAL),
    }
    if incomplete := len(states) - sum(counted.values()):
        of_states = _("Closed: %(closed)d; signed: %(signed)d; to sign: %(open)d; not counted yet: %(incomplete)d.")
    else:
        of_states = _("Closed: %(closed)d; signed: %(signed)d; to sign: %(open)d.")
    of_states %= {**counted, "incomplete": incomplete}
    return f"{says % {'won': write(abs(won), month.currency), 'number': number}} {of_states}"


def _calendar(month: Month) -> list[dict[str, Any]]:
    """Return the days of the month, after as many empty ones as its first week has."""
    wins = [abs(won) for day in month.counted if (won := month.totals[day]["W_acct"])]
    highest = max(wins, default=1)
    days: list[dict[str, Any]] = [{"css": "out"} for _each in range(month.first.weekday())]
    for day in month.days:
        report = month.reports.get(day)
        if report is None:
            days.append({"number": day.day, "css": "fut"})
            continue
        won = month.totals[day]["W_acct"]
        days.append(
            {
                "number": day.day,
                "address": _report_address(report.pk),
                "css": _tint(won, highest),
                "amount": str(wording.NOT_COUNTED) if won is None else money_in_thousands(abs(won), month.currency),
                "exactly": _amount(won, month.currency),
                "has_players_won": won is not None and won < 0,
                "is_closed": report.state == NightState.CLOSED,
                "waits": WAITS.get(report.state, ""),
            }
        )
    return days


def _amount(won: int | None, currency: str) -> str:
    return str(wording.NOT_COUNTED) if won is None else money_in_prose(abs(won), currency)


def _tint(won: int | None, highest: int) -> str:
    """Return the class of a day: four steps where the house won, two where the players did."""
    if won is None:
        return "un"
    if won >= 0:
        return f"g{min(4, 1 + 4 * won // (highest + 1))}"
    return f"n{min(2, 1 + 2 * -won // (highest + 1))}"


def _bridge(month: Month) -> list[dict[str, Any]]:
    """Return the bridge of the counted nights."""
    keys = [figure for figure in month.figures if figure in BRIDGE_WITH_UNADJUDICATED]
    return [
        {
            "label": wording.FIGURES["accounting_win" if key == "W_acct" else key],
            "amount": wording.figure(key, month.counted_total(key) if month.counted else None, month.currency),
            "is_total": key == "W_acct",
        }
        for key in (*keys, "W_acct")
    ]


def _against_theory(month: Month) -> str:
    """Return how far the win so far was from the theoretical win, night by night, as a chart."""
    so_far, total = [], 0
    for day in month.counted:
        figures = month.totals[day]
        total += (figures["W_acct"] or 0) - (figures["theoretical"] or 0)
        so_far.append(total)
    if not so_far:
        return ""
    described = _("at the end of the last counted night: %(amount)s") % {
        "amount": money_in_prose(total, month.currency)
    }
    return draw_win_line(so_far, title=_("Win against theory, running total night by night"), description=described)


def _matrix(month: Month) -> list[dict[str, Any]]:
    """Return each table with a square for each night, its win through the month and its payout errors."""
    rows = []
    for table, won in month.win.items():
        so_far, total = [], 0
        for day in month.reported:
            total += won.get(day) or 0
            so_far.append(total)
        errors, total_won = sum(month.errors[table].values()), month.table_total(table)
        rows.append(
            {
                "name": table,
                "game": wording.game(month.games.get(table, "")),
                "squares": [_square(month, table, day) for day in month.reported],
                "line": draw_win_line(
                    so_far, title=_("Win through the month, %(table)s") % {"table": table}, description=""
                ),
                "total": money(None if total_won is None else abs(total_won), month.currency),
                "has_players_won": (total_won or 0) < 0,
                "errors": money(abs(errors), month.currency) if errors else "",
                "kept": errors > 0,
            }
        )
    return rows


def _square(month: Month, table: str, day: date) -> dict[str, str]:
    if day not in month.win[table]:
        return {"css": "cl", "says": _("shut")}
    if month.win[table][day] is None:
        return {"css": "un", "says": str(wording.NOT_COUNTED)}
    if month.errors[table][day] or month.variances[table][day]:
        return {"css": "df", "says": str(wording.VERDICTS["differs"])}
    return {"css": "ok", "says": str(wording.VERDICTS["agrees"])}


def _chance(month: Month) -> str:
    """Return how the luck of the counted nights compares with what chance allows; "" where there was none."""
    surprise = month.surprise
    if surprise is None:
        return ""
    nearer = int((1 - surprise.p) * 100)
    if surprise.p >= RARE:
        return _("Within what chance allows: %(nearer)d in 100 such months are closer.") % {"nearer": nearer}
    return _(
        "By chance alone, fewer than 1 in 20 such months is this far out; %(nearer)d in 100 are "
        "closer. A question, not an accusation."
    ) % {"nearer": nearer}


def _everybody(month: Month) -> int:
    """Return the errors of all croupiers together in their payouts, in millionths."""
    tally = add_tallies(*(each.tally for each in month.croupiers.values())) if month.croupiers else None
    return (tally.for_house + tally.for_player) * 1_000_000 // tally.payouts if tally and tally.payouts else 0


def _interval_heading(month: Month) -> str:
    if not month.croupiers:
        return _("95% interval")
    return _("95%% interval; everybody %(rate)s") % {"rate": per_thousand(_everybody(month))}


def _end_of_scale(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return where the scale of the intervals ends, in millionths: that of somebody who paid twice would be all of it.

    An interval that goes on beyond is cut off there; the numbers are beside it.
    """
    widest = max((row["high_millionths"] for row in rows), default=1)
    highest = max((row["rate_millionths"] for row in rows), default=0)
    return min(widest, SCALE * highest) or widest


def _croupiers(month: Month, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the errors of each croupier with their interval, all on one scale, the highest rate first.

    Rates are errors in 1,000 payouts, as on the page of a croupier.
    """
    widest, everybody = _end_of_scale(rows), _everybody(month)
    shown = []
    for row in sorted(rows, key=lambda row: (-row["rate_millionths"], row["croupier"])):
        low, high, rate = row["low_millionths"], row["high_millionths"], row["rate_millionths"]
        texts = {"low": per_thousand(low), "high": per_thousand(high)}
        code = row.get("croupier_id", row["croupier"])
        says = ngettext("%(errors)s in %(payouts)s payout", "%(errors)s in %(payouts)s payouts", row["payouts"]) % {
            "errors": row["for_house"] + row["for_player"],
            "payouts": count(row["payouts"]),
        }
        chart = draw_range(
            low,
            high,
            rate,
            everybody=everybody,
            most=widest,
            is_chosen=row["noteworthy"],
            title=_("Errors, 95%% interval: %(croupier)s") % {"croupier": row["croupier"]},
            description=_("from %(low)s to %(high)s") % texts,
        )
        shown.append(
            {
                **row,
                "person": parts.person("croupier", month.casino.pk, code, row["croupier"], month=f"{month.first:%Y-%m}")
                if code
                else row["croupier"],
                "errors": says,
                "rate": per_thousand(rate),
                "interval": f"{texts['low']} – {texts['high']}",
                "chart": mark_safe(chart),  # our own drawing, its texts escaped
                "direction": _direction(row["for_house"], row["for_player"]),
            }
        )
    return shown


def _direction(for_house: int, for_player: int) -> str:
    """Return by how many of the errors the house gained, and by how many players did."""
    if not for_house and not for_player:
        return ""
    return _("%(for_house)s for the house, %(for_player)s for players") % {
        "for_house": for_house,
        "for_player": for_player,
    }


def _win_table(month: Month) -> Table:
    """Return the accounting win by table and day, and below it the night's figures by day."""
    days, currency = month.reported, month.currency
    columns = [
        Column("heading", gettext_lazy("Table"), "name"),
        *(Column(str(day), shown_day(day, with_year=False), "formatted") for day in days),
        Column("total", gettext_lazy("Total"), "formatted"),
    ]
    rows: list[Mapping[str, Any]] = [
        {
            "heading": table,
            **{str(day): money(won[day], currency) if day in won else "" for day in days},
            "total": money(month.table_total(table), currency),
        }
        for table, won in month.win.items()
    ]
    sums = [
        {
            "heading": wording.FIGURES[figure],
            **{str(day): money(month.totals[day][figure], currency) for day in days},
            "total": money(month.total(figure), currency),
        }
        for figure in month.figures
    ]
    table = build_table(columns, rows, currency)
    table.foot = build_table(columns, sums, currency).rows
    for heading, day in zip(table.headings[1:-1], days, strict=True):
        heading.address = _report_address(month.reports[day].pk)
    return table


def _report_address(pk: int) -> str:
    return reverse("admin:audit_nightreport_change", args=(pk,))
