"""The account of each wager, read a second time from the events alone: held, due and debt (account.md 1).

    held  what the player has had: winnings + stake handed back, lifted or playing on + settlements − recoveries
    due   what the law gives him at the end of the coup (an undecided wager: the part lawfully withdrawn)
    debt  held − due: above zero the player owes it to the house, below zero the house owes it to him

It is read at the end of the last coup that has ended: the last counted result begins a coup that has no end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.settlement.second_reading import boule, craps, quebec, roulette
from tests.settlement.second_reading.book import Book, Table
from tests.settlement.second_reading.practice import Events

TABLES: dict[str, Callable[[Events], Table]] = {
    "fr-craps": craps.table,
    "qc-craps": quebec.table,
    "fr-roulette": roulette.table,
    "fr-american-roulette": roulette.table,
    "fr-boule": boule.table,
}

HIS = ("void", "withdrawn", "released")
"""Of which the stake is the player's, whole."""


class Balance(NamedTuple):
    """What one wager has come to, in minor units. ``held`` counts what the player may have lifted unseen."""

    held: int
    due: int
    debt: int


def read(events: Events) -> dict[str, Balance]:
    """Return the account of each wager at the end of the last coup, also of names that no wager bears."""
    book = ended(standing(events))
    return {name: balance(book, name) for name in sorted(book.accounts)}


def ended(events: Events) -> Book:
    """Return the book at the end of the last coup that has ended."""
    book = Book(TABLES[events[0]["data"]["ruleset"]](events))
    last = max((at for at, event in enumerate(events) if ends_coup(event, book)), default=0)
    book.enter(events[:last])
    book.end_coup()
    return book


def ends_coup(event: dict[str, Any], book: Book) -> bool:
    return event["type"] == "session.closed" or book.table.is_result(event)


def balance(book: Book, name: str) -> Balance:
    due = book.due_to(name)
    wager = book.wager(name)
    # "The debt is then the value nearest to zero that some lifting explains."
    is_half = wager is not None and wager.is_chosen_half
    his = due - wager.winnings_due if wager is not None and (is_half or wager.status in HIS) else None
    held = book.accounts[name].held(wager.laid if wager is not None else 0, his, due, is_half=is_half)
    debt = held - due
    # Practice: "a deviation of less than one payout unit in the player's favour", "measured from the exact amount
    # upwards; where the exact amount is a whole number of units nothing is rounding".
    if debt > 0 and wager is not None and wager.rounded_off and debt < wager.rounded_off + book.table.unit:
        debt = 0
    return Balance(held, due, debt)


UNTOUCHABLE = ("entry.corrected", "entry.annulled")

VOIDS = {"spin.voided": "ball.settled", "throw.voided": "dice.thrown", "boule.voided": "boule.settled"}


def standing(events: Events) -> Events:
    """Return the stream by what stands: with what was corrected, and without what was annulled.

    What was annulled "never happened", and leaves its place empty. A result that was called void is a voided throw or
    spin in its place, which "lifts the call".
    "Annulling the last correction of an entry brings back what was corrected."
    """
    corrections: dict[int, list[int]] = {}
    """For each seq the corrections that stand, the last one last."""
    annulled: set[int] = set()
    voided: set[int] = set()
    for event in events:
        data, seq = event["data"], event["seq"]
        match event["type"]:
            case "entry.corrected":
                corrected = data["corrects"]
                if is_entry(events, corrected, before=seq) and corrected not in annulled:
                    corrections.setdefault(corrected, []).append(seq)
            case "entry.annulled":
                annul(events, data["annuls"], seq, corrections, annulled)
            case "spin.voided" | "throw.voided" | "boule.voided" if "voids" in data:
                results = [
                    one["seq"]
                    for one in events[: seq - 1]
                    if one["type"] == VOIDS[event["type"]] and one["seq"] not in annulled | voided
                ]
                if results and results[-1] == data["voids"]:
                    voided.add(data["voids"])
    return [as_it_stands(events, event, corrections, annulled, voided) for event in events]


def is_entry(events: Events, seq: int, *, before: int) -> bool:
    return seq < before and events[seq - 1]["type"] not in UNTOUCHABLE


def annul(events: Events, seq: int, by: int, corrections: dict[int, list[int]], annulled: set[int]) -> None:
    if seq >= by:
        return
    one = events[seq - 1]
    if one["type"] == "entry.corrected":
        stand = corrections.get(one["data"]["corrects"], [])
        if stand and stand[-1] == seq:
            stand.pop()
    elif one["type"] not in ("entry.annulled", "session.opened"):
        annulled.add(seq)


def as_it_stands(
    events: Events, event: dict[str, Any], corrections: dict[int, list[int]], annulled: set[int], voided: set[int]
) -> dict[str, Any]:
    if event["seq"] in annulled:
        return event | {"type": "nothing", "data": {}}
    if event["seq"] in voided:
        return event | {"type": {counted: by for by, counted in VOIDS.items()}[event["type"]], "data": {}}
    stand = corrections.get(event["seq"])
    return event | {"data": events[stand[-1] - 1]["data"]["data"]} if stand else event
