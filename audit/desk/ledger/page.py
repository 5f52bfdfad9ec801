"""What the pages of the ledger have in common, and the exchange register of a day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.desk import parts
from audit.desk.ledger.subjects import subjects_of
from audit.ledger import listing
from audit.models import Casino, LedgerProcess, LoggedStream, StreamMoney
from audit.persons.directory import NO_NAMES, Directory
from audit.presentation import language, money, money_in_prose
from audit.reconciliation.persons import thresholds_of
from audit.reconciliation.wording import PROCESSES
from settlement.catalogue.words import word
from settlement.persons import stream_money
from settlement.persons.day import Day
from settlement.persons.exchange_register import ExchangeRegister, exchange_registers

NULLS = {
    "wheel": _("the pockets are equally likely and independent"),
    "croupier-displacement": _("the pockets are equally likely and independent"),
    "die": _("the faces are equally likely and independent"),
    "dice-supply": _("the faces are equally likely and independent"),
    "dice-pair": _("the faces are equally likely and independent"),
    "shooter": _("the faces are equally likely and independent, or those with a set are alike whoever throws"),
    "void-call": _("coups called void show what any other shows, and would have paid like any other"),
    "pair-luck": _("a draw changes nobody’s expectation, or changes it alike whoever of a table and night deals"),
    "croupier-luck": _("a draw changes nobody’s expectation, or changes it alike whoever of a table and night deals"),
    "concentration": _("at one table and night, a finding about a coup does not depend on which croupier dealt it"),
    "pair-concentration": _(
        "the findings about a player do not depend on who deals, or those about a croupier not on who stakes"
    ),
    "player-concentration": _("the findings about the stakes at a croupier’s coups do not depend on whose they are"),
    "croupier-voids": _("at one table and night, what is called void does not depend on who deals or on what it pays"),
    "pair-voids": _("what is called void does not depend on who deals, or not on who stakes, and not on what it pays"),
    "closer-drift": _("the accounting variance is 0 on average, or as at the same table without this person"),
    "duty-drift": _("the accounting variance is 0 on average, or as at the same table without this person"),
    "payout-lean": _("at one table and night, the error in a payout does not depend on which croupier made it"),
    "payout-rate": _("at one table and night, the error in a payout does not depend on which croupier made it"),
}
MILLION = 10**6

LUCK = _("given the stakes on the table, a draw changes nobody’s expectation")
BALANCED = _("the accounting variance is 0 on average")


def times(wealth: Fraction) -> str:
    """Return how many times a stake has become, as ``listing.times`` does, in the numerals of the active language."""
    text = listing.times(wealth)
    if language() == "fr":
        return text.replace(",", "\N{NARROW NO-BREAK SPACE}").replace(".", ",")
    return text


def odds(wealth: Fraction) -> str:
    """Return evidence as ``times`` does; beyond a million no number, for a larger one says nothing more."""
    return gettext("more than a million to one") if wealth > MILLION else times(wealth)


def to_one(wealth: Fraction) -> str:
    """Return evidence as odds against chance: “1,340 to 1”."""
    return odds(wealth) if wealth > MILLION else gettext("%(evidence)s to 1") % {"evidence": times(wealth)}


def title_of(process: LedgerProcess) -> Any:
    return PROCESSES.get(process.kind, process.kind)


def null_of(process: LedgerProcess) -> Any:
    """Return what is true of an orderly subject, in the active language."""
    usual = LUCK if process.kind.endswith("luck") else BALANCED if process.kind.endswith("drift") else NULLS["wheel"]
    return NULLS.get(process.kind, usual)


def rows_of(
    casino: Casino, processes: Iterable[LedgerProcess], directory: Directory = NO_NAMES
) -> list[dict[str, Any]]:
    """Return processes of a casino as a list shows them, with links to whom or what they are about."""
    listed = list(processes)
    subjects = subjects_of(casino, listed, directory)
    return [{**row_of(process), "subject": subjects[process.pk]} for process in listed]


def row_of(process: LedgerProcess) -> dict[str, Any]:
    """Return a process as a list shows it, without whom it is about."""
    return {
        "process": process,
        "title": title_of(process),
        "wealth": odds(process.wealth_over_start),
        "against_chance": to_one(process.wealth_over_start),
        "of_the_year": odds(process.e_value),
        "asks_at": times(process.threshold),
    }


# Money of a person, and of a day: what is kept of the streams, read and never computed here


def registers_of(casino: Casino, gaming_day: date, directory: Directory) -> list[dict[str, Any]]:
    """Return the exchange registers of a gaming day, desk by desk, from what is kept of its streams."""
    registers: list[dict[str, Any]] = []
    kept = money_of_day(casino, gaming_day)
    for currency in sorted({each.currency for each in kept}):
        own = [each for each in kept if each.currency == currency]
        day = Day.of(own, casino=casino.code, gaming_day=gaming_day.isoformat(), currency=currency)
        registers += register_rows(
            exchange_registers(day, thresholds_of(casino, gaming_day)), currency, directory, casino
        )
    return registers


def register_rows(
    registers: Iterable[ExchangeRegister], currency: str, directory: Directory, casino: Casino, *, chosen: str = ""
) -> list[dict[str, Any]]:
    """Return exchange registers as a page lists them; the lines of player ``chosen`` are marked."""
    return [
        {
            "register": register,
            "currency": currency,
            "into_chips": money_in_prose(register.into_chips, currency),
            "into_money": money_in_prose(register.into_money, currency),
            "entries": [
                {
                    "entry": entry,
                    "person": parts.person("player", casino.pk, player, directory.player(player)) if player else "",
                    "is_chosen": bool(chosen) and player == chosen,
                    "direction": word("one_exchange", entry.exchange.direction, language()),
                    "means": word("means", entry.exchange.means, language()),
                    "amount": money(entry.exchange.amount, currency),
                    "of_day": money(entry.of_day, currency) if player else "",
                }
                for entry in register.entries
                for player in (entry.exchange.player,)
            ],
        }
        for register in registers
    ]


def players_of_day(casino: Casino, gaming_day: date) -> set[str]:
    """Return the players who exchanged anything on a gaming day, as far as its streams were read."""
    return {each.player for kept in money_of_day(casino, gaming_day) for each in kept.exchanges if each.player}


def money_of_day(casino: Casino, gaming_day: date) -> list[stream_money.StreamMoney]:
    """Return what is kept of the streams of a day, each as it was read last."""
    streams = LoggedStream.objects.filter(casino=casino, gaming_day=gaming_day, is_of_desk=False)
    rows: Iterable[StreamMoney] = StreamMoney.objects.filter(stream__in=streams).order_by("stream_id", "last_seq", "pk")
    newest = {row.stream_id: row for row in rows}
    return [stream_money.decode(bytes(row.money)) for row in newest.values()]
