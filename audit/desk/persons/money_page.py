"""What the page of a player's money shows of one gaming day: exchanges that add up, what is due, play, questions.

All of it is read from what the nights kept of the day's streams; nothing is computed from the events here.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.charts.share import draw_share
from audit.charts.stairs import Out, Step, draw_stairs
from audit.desk import parts
from audit.desk.findings.person_filters import findings_address
from audit.desk.ledger.page import money_of_day, register_rows
from audit.desk.names import directory_for
from audit.desk.persons.player_page import bridge_of, luck_chart, money_address, stayed_with, tests_about
from audit.ledger import listing
from audit.models import Casino, Finding
from audit.persons.directory import Directory, players
from audit.persons.play import sessions_of
from audit.presentation import finding_title, language, local, money, money_in_prose, night_of, reference, sentence_end
from audit.reconciliation.month import month_after
from audit.reconciliation.persons import RULES_OF_PERSONS, identified_at, thresholds_of
from settlement.catalogue.words import word
from settlement.persons.day import Day, Person
from settlement.persons.exchange_register import exchange_registers
from settlement.persons.exchanges import Exchange
from settlement.persons.thresholds import OPPOSING_PERCENT, SHARED_COUPS, Thresholds

PAIRS = 5
"""Players shown with whom somebody shared coups, those with the most opposing stakes first."""


def money_context(request: HttpRequest, casino: Casino, player: str, gaming_day: date) -> dict[str, Any]:
    """Return the context of the page of a player's money of a gaming day."""
    kept = money_of_day(casino, gaming_day)
    ours = [each for each in kept if player in each.players or any(own.player == player for own in each.exchanges)]
    currencies = sorted({each.currency for each in ours})
    thresholds = thresholds_of(casino, gaming_day)
    days = [
        Day.of(kept, casino=casino.code, gaming_day=gaming_day.isoformat(), currency=currency)
        for currency in currencies
    ]
    others = {code for each in days for pair in each.pairs() for code in (pair.total.first, pair.total.second)}
    exchanging = {each.player for day in days for each in day.exchanges if each.player}
    directory = directory_for(request, casino.pk, players({player, *others, *exchanging}))
    findings = Finding.objects.standing().filter(
        casino=casino, gaming_day=gaming_day, player=player, rule__in=RULES_OF_PERSONS
    )
    has_question = listing.with_question(listing.processes_of(casino).filter(tests_about(player))).exists()
    return {
        "name": directory.player(player),
        "name_on_paper": directory.for_paper().player(player),
        "title_of_day": sentence_end(night_of(gaming_day)),
        "gaming_day": gaming_day,
        **_nights_around(casino, player, gaming_day),
        "findings": findings_address(player=player, month=f"{gaming_day:%Y-%m}"),
        "identified": player in identified_at(casino, [player]),
        "sums": [_of_currency(casino, day, player, thresholds, directory, has_question=has_question) for day in days],
        "has_several_currencies": len(days) > 1,
        "questions": [
            {"finding": each, "title": finding_title(each.rule), "reference": reference(each)}
            for each in findings.order_by("occurred_at", "pk")
        ],
    }


def _nights_around(casino: Casino, player: str, gaming_day: date) -> dict[str, Any]:
    """Return the nights before and after of the same month in which something is kept of the player."""
    first = gaming_day.replace(day=1)
    kept = sessions_of(casino, player, first, month_after(first))
    days = {date.fromisoformat(own.gaming_day) for _stream, own in kept}
    before = max((day for day in days if day < gaming_day), default=None)
    after = min((day for day in days if day > gaming_day), default=None)
    return {
        f"night_{name}": {"day": day, "address": money_address(casino, player, day.isoformat())} if day else None
        for name, day in (("before", before), ("after", after))
    }


def _of_currency(
    casino: Casino, day: Day, player: str, thresholds: Thresholds, directory: Directory, *, has_question: bool
) -> dict[str, Any]:
    own, currency = day.persons.get(player) or Person(player), day.currency
    exchanges = [each for each in day.exchanges if each.player == player and not each.is_stake]
    threshold = thresholds.identification_from.get(currency)
    registers = [
        each
        for each in exchange_registers(day, thresholds)
        if any(entry.exchange.player == player for entry in each.entries)
    ]
    return {
        "currency": currency,
        "bought": money(own.total_bought, currency),
        "bought_count": sum(each.direction == "in" for each in exchanges),
        "cashed": money(own.total_cashed, currency),
        "cashed_count": sum(each.direction == "out" for each in exchanges),
        "result": stayed_with(own.play.recorded, currency),
        "chips_left": money_in_prose(own.chips_left, currency) if own.chips_left > 0 else "",
        "tips": money_in_prose(own.play.tips, currency) if own.play.tips else "",
        "stairs": _stairs(casino, exchanges, threshold, currency),
        "exchanges": [
            {
                "exchange": each,
                "direction": word("one_exchange", each.direction, language()),
                "means": word("means", each.means, language()),
                "amount": money(each.amount, currency),
            }
            for each in exchanges
        ],
        "levels": _levels(own, threshold, currency),
        "reportable": _reportable(own, thresholds, currency),
        "has_threshold": threshold is not None,
        "bridge": bridge_of(own.play, currency),
        "luck_chart": luck_chart(own.play, currency) if has_question else "",
        "has_play": bool(own.play.wagers),
        "pairs": _pairs(casino, day, player, directory),
        "registers": register_rows(registers, currency, directory, casino, chosen=player),
    }


def _levels(own: Person, threshold: int | None, currency: str) -> list[dict[str, Any]]:
    """Return how far each direction is from the amount at which identification is due."""
    if threshold is None:
        return []
    sums = (
        (_("Chips bought, gaming day"), own.total_bought),
        (_("Chips cashed, gaming day"), own.total_cashed),
    )
    return [
        {
            "label": label,
            "of": _("%(amount)s of %(threshold)s")
            % {"amount": money_in_prose(amount, currency), "threshold": money_in_prose(threshold, currency)},
            "bar": mark_safe(  # our own drawing
                draw_share(min(amount, threshold), threshold, kind="reached" if amount >= threshold else "amount")
            ),
            "is_reached": amount >= threshold,
        }
        for label, amount in sums
    ]


def _reportable(own: Person, thresholds: Thresholds, currency: str) -> dict[str, Any] | None:
    """Return the cash received and paid on the day against what is reportable; None in a currency without an amount."""
    threshold = thresholds.reportable_cash_from.get(currency)
    if threshold is None:
        return None
    return {
        "received": money_in_prose(own.cash_in, currency),
        "paid": money_in_prose(own.total_cashed, currency),
        "threshold": money_in_prose(threshold, currency),
        "is_reached": max(own.cash_in, own.total_cashed) >= threshold,
    }


def _stairs(casino: Casino, exchanges: list[Exchange], threshold: int | None, currency: str) -> SafeString:
    """Return what was bought through the night as a chart, and what was cashed; "" where nothing was."""
    bought = [each for each in exchanges if each.direction == "in"]
    if not exchanges:
        return SafeString("")
    first, last = exchanges[0].at, exchanges[-1].at
    span = max((last - first).total_seconds(), 60.0)

    def share(at: datetime) -> float:
        return 0.04 + 0.92 * (at - first).total_seconds() / span

    steps, so_far = [], 0
    for each in bought:
        before, so_far = so_far, so_far + each.amount
        is_due = threshold is not None and before < threshold <= so_far
        steps.append(Step(share(each.at), so_far, f"{money_in_prose(each.amount, currency)} {each.where}", is_due))
    outs = [
        Out(share(each.at), each.amount, f"{money_in_prose(each.amount, currency)} {each.where}")
        for each in exchanges
        if each.direction == "out"
    ]
    ticks = [(share(at), f"{local(at, casino):%H:%M}") for at in dict.fromkeys((first, last))]
    due = None
    if threshold is not None:
        due = (
            threshold,
            _("%(amount)s: identification, art. R. 561-10 CMF") % {"amount": money_in_prose(threshold, currency)},
        )
    return mark_safe(  # our own drawing
        draw_stairs(
            steps,
            ticks,
            due=due,
            title=_("Chips bought, running total"),
            description=_("in all %(amount)s") % {"amount": money_in_prose(so_far, currency)},
            outs=outs,
            amount=lambda minor: money_in_prose(minor, currency),
        )
    )


def _pairs(casino: Casino, day: Day, player: str, directory: Directory) -> list[dict[str, Any]]:
    """Return with whom a player shared coups on opposite sides, and whether there were enough of them to ask."""
    pairs = [
        each.total for each in day.pairs() if player in (each.total.first, each.total.second) and each.total.opposing
    ]
    rows = []
    for pair in sorted(pairs, key=lambda pair: (-pair.opposing, pair.first, pair.second))[:PAIRS]:
        other = pair.second if pair.first == player else pair.first
        rows.append(
            {
                "person": parts.person("player", casino.pk, other, directory.player(other)),
                "shared": pair.shared,
                "opposing": pair.opposing,
                "amount": money_in_prose(pair.amount, day.currency),
                "is_question": pair.shared >= SHARED_COUPS and pair.opposing * 100 >= pair.shared * OPPOSING_PERCENT,
            }
        )
    return rows
