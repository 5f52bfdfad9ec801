"""What the pages of the ledger show: a process, the money of a person, the exchange register of a day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any

import msgspec
from django.db.models import F, Func, IntegerField, Value
from django.utils.translation import gettext_lazy as _

from audit.desk.ledger.curve import curve_of
from audit.desk.ledger.subjects import subjects_of
from audit.ledger import listing
from audit.ledger.corrected import would_be
from audit.ledger.equipment import equipment_of
from audit.models import Casino, Finding, LedgerPoint, LedgerProcess, LedgerQuestion, LoggedStream, StreamMoney
from audit.persons.directory import Directory
from audit.presentation import finding_title, language, money
from audit.reconciliation.persons import thresholds_of
from audit.reconciliation.wording import PROCESSES
from settlement.catalogue.words import word
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT
from settlement.persons import stream_money
from settlement.persons.day import Day
from settlement.persons.exchange_register import exchange_registers

MOVES_SHOWN = 5
STREAMS_SHOWN = 100
"""Streams of a person's page, the newest first."""

NULLS = {
    "wheel": _("the pockets are even and independent"),
    "croupier-displacement": _("the pockets are even and independent"),
    "die": _("the faces are even and independent"),
    "dice-supply": _("the faces are even and independent"),
    "dice-pair": _("the faces are even and independent"),
    "shooter": _("the faces are even and independent"),
    "void-call": _("throws called void fall, and would have paid, like any other"),
    "payout-lean": _("which croupier made a payout has nothing to do with its error"),
    "payout-rate": _("which croupier made a payout has nothing to do with its error"),
}
LUCK = _("given the stakes that stand, a draw changes nobody’s expectation")
BALANCED = _("the accounting variance is 0 on average")


def title_of(process: LedgerProcess) -> Any:
    return PROCESSES.get(process.kind, process.kind)


def null_of(process: LedgerProcess) -> Any:
    """Return what is true of an orderly subject, in the active language."""
    if process.kind.endswith("luck"):
        return LUCK
    if process.kind.endswith("drift"):
        return BALANCED
    return NULLS.get(process.kind, NULLS["wheel"])


def rows_of(casino: Casino, processes: Iterable[LedgerProcess], *, sees_names: bool) -> list[dict[str, Any]]:
    """Return processes of a casino as a list shows them, with links to whom or what they are about."""
    listed = list(processes)
    subjects = subjects_of(casino, listed, sees_names=sees_names)
    return [{**row_of(process), "subject": subjects[process.pk]} for process in listed]


def row_of(process: LedgerProcess) -> dict[str, Any]:
    """Return a process as a list shows it, without whom it is about."""
    return {
        "process": process,
        "title": title_of(process),
        "wealth": listing.times(process.wealth_over_start),
        "of_the_year": listing.times(process.e_value),
        "asks_at": listing.times(process.threshold),
    }


def process_context(process: LedgerProcess, *, sees_names: bool) -> dict[str, Any]:
    """Return the context of the page of a process; ``sees_names``: with links to pages that show names."""
    points = list(LedgerPoint.objects.filter(process=process).select_related("batch__stream").order_by("batch__number"))
    logs = [listing.log_wealth(point.wealth_over_start) for point in points]
    level = listing.log_wealth(Fraction(int(process.opening), UNIT) * process.threshold)
    moves = [{"point": point, "factor": listing.times(_factor(points, index))} for index, point in enumerate(points)]
    order = sorted(range(len(points)), key=lambda index: -abs(logs[index] - (logs[index - 1] if index else 0.0)))
    corrected = would_be(process)
    questions = list(LedgerQuestion.objects.filter(process=process).select_related("batch").order_by("year"))
    findings = Finding.objects.in_bulk([question.finding_id for question in questions])
    last = questions[-1] if questions else None
    return {
        **row_of(process),
        "subject": subjects_of(process.casino, [process], sees_names=sees_names)[process.pk],
        "null": null_of(process),
        "asks": finding_title(KINDS[process.kind].question),
        "last": last,
        "finding": findings[last.finding_id] if last else None,
        # One in the whole number below: never less often than the level says.
        "one_in": f"{int(1 / Fraction(last.alpha if last else process.alpha)):,}".replace(
            ",", "\N{NARROW NO-BREAK SPACE}"
        ),
        "is_watched": last is None and process.pk in {each.pk for each in listing.watched(process.casino)},
        "highest": listing.times(process.highest_over_start),
        "curve": curve_of(logs, level),
        "moves": [moves[index] for index in order[:MOVES_SHOWN]],
        "corrected": listing.times(Fraction(corrected.evidence, UNIT)) if corrected is not None else None,
        "questions": [
            {
                "question": question,
                "finding": findings[question.finding_id],
                "title": finding_title(findings[question.finding_id].rule),
            }
            for question in questions
        ],
        "is_equipment": equipment_of(process) is not None,
    }


def _factor(points: list[LedgerPoint], index: int) -> Fraction:
    before = points[index - 1].wealth_over_start if index else Fraction(1)
    return points[index].wealth_over_start / before if before else Fraction(0)


# Money of a person, and of a day: what is kept of the streams, read and never computed here


def person_rows(casino: Casino, player: str) -> list[dict[str, Any]]:
    """Return the play of one player, stream by stream, the newest first, with sums by currency at the end."""
    # As the money is written, escapes included. The id may stand there for something else: the row is decoded, and says
    # whether it is the player's.
    holds = Func(
        Value(msgspec.json.encode(player)),
        F("money"),
        template="position(%(expressions)s)",
        arg_joiner=" in ",
        output_field=IntegerField(),
    )
    of_casino = StreamMoney.objects.filter(stream__in=LoggedStream.objects.filter(casino=casino))
    found = of_casino.annotate(held=holds).filter(held__gt=0).select_related("stream")
    seen: set[int] = set()
    rows: list[dict[str, Any]] = []
    for kept in found.order_by("-stream_id", "-last_seq", "-pk"):
        if kept.stream_id in seen or len(rows) >= STREAMS_SHOWN:
            continue
        seen.add(kept.stream_id)
        own = stream_money.decode(bytes(kept.money))
        play = own.players.get(player)
        exchanges = [each for each in own.exchanges if each.player == player]
        if play is None and not exchanges:
            continue
        currency = own.currency
        sums = {
            "handle": play.handle if play else 0,
            "theoretical": round(play.theoretical) if play else 0,
            "luck": round(play.luck) if play else 0,
            "into_chips": sum(each.amount for each in exchanges if each.direction == "in"),
            "into_money": sum(each.amount for each in exchanges if each.direction == "out"),
        }
        rows.append(
            {
                "stream": kept.stream,
                "table": own.table,
                "currency": currency,
                **{name: money(amount, currency) for name, amount in sums.items()},
            }
        )
    return rows


def registers_of(casino: Casino, gaming_day: date, directory: Directory) -> list[dict[str, Any]]:
    """Return the exchange registers of a gaming day, desk by desk, from what is kept of its streams."""
    registers: list[dict[str, Any]] = []
    kept = _money_of_day(casino, gaming_day)
    for currency in sorted({each.currency for each in kept}):
        own = [each for each in kept if each.currency == currency]
        day = Day.of(own, casino=casino.code, gaming_day=gaming_day.isoformat(), currency=currency)
        for register in exchange_registers(day, thresholds_of(casino, gaming_day)):
            registers.append(
                {
                    "register": register,
                    "currency": currency,
                    "into_chips": money(register.into_chips, currency),
                    "into_money": money(register.into_money, currency),
                    "entries": [
                        {
                            "entry": entry,
                            "player": directory.player(entry.exchange.player) if entry.exchange.player else "",
                            "direction": word("exchange", entry.exchange.direction, language()),
                            "means": word("means", entry.exchange.means, language()),
                            "amount": money(entry.exchange.amount, currency),
                            "of_day": money(entry.of_day, currency) if entry.exchange.player else "",
                        }
                        for entry in register.entries
                    ],
                }
            )
    return registers


def players_of_day(casino: Casino, gaming_day: date) -> set[str]:
    """Return the players who exchanged anything on a gaming day, as far as its streams were read."""
    return {each.player for kept in _money_of_day(casino, gaming_day) for each in kept.exchanges if each.player}


def _money_of_day(casino: Casino, gaming_day: date) -> list[stream_money.StreamMoney]:
    """Return what is kept of the streams of a day, each as it was read last."""
    streams = LoggedStream.objects.filter(casino=casino, gaming_day=gaming_day, is_of_desk=False)
    rows: Iterable[StreamMoney] = StreamMoney.objects.filter(stream__in=streams).order_by("stream_id", "last_seq", "pk")
    newest = {row.stream_id: row for row in rows}
    return [stream_money.decode(bytes(row.money)) for row in newest.values()]
