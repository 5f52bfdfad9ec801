"""What the page of somebody of the staff shows of a month: payouts, errors against colleagues, findings, questions.

The payouts and the errors of a croupier are those of the nights' reports, so that the page and the month agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from django.db.models import Q
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.casework.patterns import patterns_of
from audit.charts.days import DayColumn, draw_days
from audit.charts.ranges import draw_range, draw_scale_of_ranges
from audit.charts.share import draw_parts
from audit.desk import parts
from audit.desk.names import directory_for
from audit.desk.persons.concerning import Concerning, concerning, facts_of, questions_of
from audit.desk.scoped_admin import scope_of
from audit.models import Casino, NightReport
from audit.persons.directory import Directory, staff
from audit.presentation import count, day, duration, month_of, sentence_end
from audit.reconciliation import wording
from audit.reconciliation.checks import in_millionths
from audit.reconciliation.croupiers import assessments_of
from audit.reconciliation.findings import add_tallies
from audit.reconciliation.month import month_after
from audit.reconciliation.wording import per_thousand
from settlement.night.croupiers import Assessment, Tally

COLLEAGUES = 30
"""Croupiers drawn beside one, those with the highest rates first; the page of the month has all."""


SCALE = 4
"""The scale of the intervals ends at so many times the highest rate, at the latest."""


class _Dealt(msgspec.Struct):
    """What somebody dealt at one table in a night, as the report has it."""

    table: str
    game: str
    coups: int
    seconds: int
    errors: int


class _Paid(msgspec.Struct):
    croupier: str
    payouts: int
    for_house: int
    for_player: int
    dealt: list[_Dealt] | None = None


class _Worked(NamedTuple):
    """A night of somebody: payouts with their errors, and the tables dealt; None in reports of before these."""

    tally: Tally
    dealt: list[_Dealt] | None


class _Night(msgspec.Struct):
    """What this page reads of a night's report."""

    croupiers: list[_Paid] = []


def croupier_context(request: HttpRequest, casino: Casino, code: str, first: date) -> dict[str, Any]:
    """Return the context of the page of a croupier in the month that begins on ``first``."""
    found = concerning(casino, "croupier", code, first)
    nights = _nights_of(casino, first)
    currency = _currency_of(nights, code)
    by_day = nights.get(currency, {})
    tallies: dict[str, list[Tally]] = {}
    for paid in by_day.values():
        for name, worked in paid.items():
            tallies.setdefault(name, []).append(worked.tally)
    assessed = assessments_of({name: add_tallies(*each) for name, each in sorted(tallies.items())})
    shown = sorted(assessed, key=lambda name: (-assessed[name].rate.rate, name))[:COLLEAGUES]
    if code in assessed and code not in shown:
        shown.append(code)
    directory, summary = directory_for(request, casino.pk, staff({code, *shown})), _worked(by_day, code)
    return {
        "found": found,
        "name": directory.staff(code),
        "name_on_paper": directory.for_paper().staff(code),
        "worked": summary,
        "worked_in_full": sentence_end(summary),
        "tables": _tables_dealt(by_day, code),
        "undated": _is_undated(by_day, code),
        "own": _own(assessed, code),
        "colleagues": _colleagues(casino, assessed, shown, code, directory),
        "scale": _scale(assessed, shown),
        "days": _days(found, by_day, code),
        "rows": found.rows(request),
        **_pattern(request, found),
        "heat": found.heat(),
        **facts_of(found),
        **questions_of(request, casino, _about(code)),
        "currency": currency,
    }


def _pattern(request: HttpRequest, found: Concerning) -> dict[str, Any]:
    """Return the pattern of the month, which patterns its open cases are in already, and what its one case would be.

    The note that is proposed names nobody: it enters the officers' trail, which nobody can erase.
    """
    pattern = found.pattern()
    if pattern is None:
        return {"pattern": None}
    known = patterns_of([each.case_id for each in pattern.open if each.case_id is not None])
    is_caseworker = scope_of(request, Capability.WORK_CASES).includes(found.casino.pk)
    words = {"title": pattern.title, "id": found.code, "first": day(pattern.first), "last": day(pattern.last)}
    note = (
        _("Part of the pattern “%(title)s” of %(id)s, night of %(first)s.")
        if pattern.first == pattern.last
        else _("Part of the pattern “%(title)s” of %(id)s, nights of %(first)s to %(last)s.")
    )
    return {
        "pattern": pattern,
        "together": sorted({*known.values()}),
        "note": note % words,
        "may_open": is_caseworker and len(pattern.open) > 1 and len(known) < len(pattern.open),
    }


def _about(code: str) -> Q:
    """Return the condition on processes of the ledger that they are about a croupier."""
    of_one = ("payout-lean", "payout-rate", "croupier-luck", "croupier-voids", "closer-drift", "duty-drift")
    alone = Q(kind__in=of_one, subject=code)
    with_player = Q(kind__in=("pair-luck", "pair-voids"), subject__endswith=f", {code}")
    with_player |= Q(kind="pair-concentration", subject__contains=f", {code}, ")
    return alone | with_player | Q(kind__in=("croupier-displacement", "concentration"), subject__startswith=f"{code}, ")


def _nights_of(casino: Casino, first: date) -> dict[str, dict[date, dict[str, _Worked]]]:
    """Return the payouts of the newest version of each night, by currency, day and croupier: one query."""
    reports = NightReport.objects.filter(casino=casino, gaming_day__gte=first, gaming_day__lt=month_after(first))
    newest = reports.order_by("currency", "gaming_day", "-version").distinct("currency", "gaming_day")
    nights: dict[str, dict[date, dict[str, _Worked]]] = {}
    for currency, gaming_day, content in newest.values_list("currency", "gaming_day", "content"):
        night = msgspec.json.decode(bytes(content), type=_Night)
        nights.setdefault(currency, {})[gaming_day] = {
            each.croupier: _Worked(Tally(each.payouts, each.for_house, each.for_player), each.dealt)
            for each in night.croupiers
        }
    return nights


def _currency_of(nights: Mapping[str, Mapping[date, Mapping[str, _Worked]]], code: str) -> str:
    """Return the currency in which somebody paid most often; "" without a night."""
    payouts = {
        currency: sum(paid[code].tally.payouts for paid in by_day.values() if code in paid)
        for currency, by_day in nights.items()
    }
    return max(sorted(payouts), key=lambda currency: payouts[currency], default="")


def _worked(by_day: Mapping[date, Mapping[str, _Worked]], code: str) -> str:
    """Return nights, hours, coups and payouts in words; hours and coups where every night of the month has them."""
    worked = [paid[code] for paid in by_day.values() if code in paid]
    if not worked:
        return _("No payouts are known for this month.")
    parts = [ngettext("%(number)d night", "%(number)d nights", len(worked)) % {"number": len(worked)}]
    if not _is_undated(by_day, code):
        dealt = [each for night in worked for each in night.dealt or ()]
        parts.append(duration(sum(each.seconds for each in dealt)))
        coups = sum(each.coups for each in dealt)
        parts.append(ngettext("%(number)s coup", "%(number)s coups", coups) % {"number": count(coups)})
    total = sum(each.tally.payouts for each in worked)
    parts.append(ngettext("%(number)s payout", "%(number)s payouts", total) % {"number": count(total)})
    return ", ".join(parts)


def _is_undated(by_day: Mapping[date, Mapping[str, _Worked]], code: str) -> bool:
    """Whether the report of a night on which somebody paid does not say how long they were on duty."""
    return any(paid[code].dealt is None for paid in by_day.values() if code in paid)


def _tables_dealt(by_day: Mapping[date, Mapping[str, _Worked]], code: str) -> list[dict[str, Any]]:
    """Return the tables that somebody dealt in the month, the longest first: hours, coups, errors, and their share."""
    tables: dict[str, _Dealt] = {}
    for paid in by_day.values():
        for each in (paid[code].dealt or ()) if code in paid else ():
            table = tables.setdefault(each.table, _Dealt(each.table, each.game, 0, 0, 0))
            table.coups += each.coups
            table.seconds += each.seconds
            table.errors += each.errors
    most = max((each.coups for each in tables.values()), default=1)
    return [
        {
            "table": each.table,
            "game": wording.game(each.game),
            "hours": duration(each.seconds),
            "coups": count(each.coups),
            "errors": count(each.errors),
            "bar": mark_safe(draw_parts(each.coups, min(each.errors, each.coups), most)),  # our own drawing
        }
        for each in sorted(tables.values(), key=lambda each: (-each.seconds, -each.coups, each.table))
    ]


def _own(assessed: Mapping[str, Assessment], code: str) -> dict[str, Any] | None:
    """Return the rate of one croupier with its interval, beside that of the colleagues; None without payouts."""
    own = assessed.get(code)
    if own is None:
        return None
    others = [each.tally for name, each in assessed.items() if name != code]
    together = add_tallies(*others) if others else None
    payouts = together.payouts if together is not None else 0
    return {
        "rate": per_thousand(in_millionths(own.rate.rate)),
        "low": per_thousand(in_millionths(own.rate.low)),
        "high": per_thousand(in_millionths(own.rate.high)),
        "others": per_thousand(_rate(together)) if together is not None and payouts else "",
        "errors": own.tally.for_house + own.tally.for_player,
        "noteworthy": own.noteworthy,
    }


def _rate(tally: Tally) -> int:
    return (tally.for_house + tally.for_player) * 1_000_000 // tally.payouts


def _colleagues(
    casino: Casino, assessed: Mapping[str, Assessment], shown: list[str], code: str, directory: Directory
) -> list[dict[str, Any]]:
    """Return the errors of each croupier with their interval, all on one scale, the highest rate first."""
    most, everybody = _most(assessed, shown), _everybody(assessed)
    rows = []
    for name in shown:
        rate = assessed[name].rate
        low, high, own = (in_millionths(each) for each in (rate.low, rate.high, rate.rate))
        texts = {"low": per_thousand(low), "high": per_thousand(high)}
        chart = draw_range(
            low,
            high,
            own,
            everybody=everybody,
            most=most,
            is_chosen=name == code,
            title=_("Errors, 95%% interval: %(croupier)s") % {"croupier": directory.staff(name)},
            description=_("from %(low)s to %(high)s") % texts,
        )
        rows.append(
            {
                "person": parts.person("croupier", casino.pk, name, directory.staff(name)),
                "name_on_paper": directory.for_paper().staff(name),
                "chart": mark_safe(chart),  # our own drawing, its texts escaped
                "rate": per_thousand(own),
                "interval": f"{texts['low']} – {texts['high']}",
                "is_chosen": name == code,
                "noteworthy": assessed[name].noteworthy,
            }
        )
    return rows


def _most(assessed: Mapping[str, Assessment], shown: list[str]) -> int:
    """Return where the scale of the intervals ends, in millionths: that of somebody who paid twice would be all of it.

    An interval that goes on beyond is cut off there; the numbers are beside it.
    """
    widest = max((in_millionths(assessed[name].rate.high) for name in shown), default=1)
    highest = max((in_millionths(assessed[name].rate.rate) for name in shown), default=0)
    return min(widest, SCALE * highest) or widest


def _everybody(assessed: Mapping[str, Assessment]) -> int:
    return _rate(add_tallies(*(each.tally for each in assessed.values()))) if assessed else 0


def _scale(assessed: Mapping[str, Assessment], shown: list[str]) -> SafeString:
    """Return the scale under the intervals, in wrong payouts of 1,000."""
    everybody = _everybody(assessed)
    together = _("everybody %(rate)s") % {"rate": per_thousand(everybody)}

    def tick(millionths: int) -> str:
        return number_format(Decimal(millionths) / 1000, 1 if millionths % 1000 else 0)

    title = _("Wrong payouts in 1,000")
    most = _most(assessed, shown)
    return mark_safe(  # our own drawing, its texts escaped
        draw_scale_of_ranges(
            everybody=everybody, most=most, tick=tick, together=together, title=title, description=together
        )
    )


def _days(found: Concerning, by_day: Mapping[date, Mapping[str, _Worked]], code: str) -> Any:
    """Return the payouts of each day of the month as a chart, with its incidents as marks."""
    marks = found.marks()
    columns, each = [], found.first
    while each < month_after(found.first):
        paid = by_day.get(each, {}).get(code)
        columns.append(DayColumn(each.day, paid.tally.payouts if paid else 0, marks.get(each, ())))
        each += timedelta(days=1)
    described = "; ".join(
        f"{day(date_, with_year=False)}: {count(paid[code].tally.payouts)}"
        for date_, paid in sorted(by_day.items())
        if code in paid
    )
    title = _("Payouts of each night, %(month)s") % {"month": month_of(found.first)}
    return mark_safe(draw_days(columns, title=title, description=described))  # our own drawing
