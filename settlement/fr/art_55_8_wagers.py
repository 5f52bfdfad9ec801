"""Art. 55-8: the wagers of French craps.

Law       Arrêté, art. 55-8: four categories of chances, and no other.
In force  The text bears no date; its numbering is that of the arrêté of 14 May 2007.
Scope     When a stake is in play, what each throw does to it, and at which odds it wins.
Missing   Nothing: A 1° to 9°, B 1° to 8°, C 1° to 4°, D 1° and 2°.

The life of the four chances that travel or wait (A 1° to 4°); the others are one row of a table each:

    win, don't win      come-out ── 4 5 6 8 9 10 ──► stands on the point ──► 7 or the point
    come, don't come    the box ── 4 5 6 8 9 10 ──► stands on its number ──► 7 or its number
                        don't win, don't come ── 12 ──► barred: stays in place and plays again

In this text no bet is off on a come-out. Within one throw every stake is settled by the state before it, then the come
boxes are moved, then the point changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from settlement.craps import POINT_NUMBERS
from settlement.events import DiceThrown, WagerMoved, WagerPlaced
from settlement.money import EVEN, Odds
from settlement.state import Table, Wager, find, lose, win
from settlement.wagers import Kind, accept_any

OddsTable: TypeAlias = Mapping[int, Odds]
Resolve: TypeAlias = Callable[[Table, Wager, int, int, bool], None]
"""What a throw does to a live wager: (table, wager, seq of the throw, its total, whether the dice are a double)."""


def by_number(on_6_8: Odds, on_5_9: Odds, on_4_10: Odds) -> OddsTable:
    """Return the odds of the six numbers, which every text gives in pairs."""
    pairs = {4: on_4_10, 5: on_5_9, 6: on_6_8, 8: on_6_8, 9: on_5_9, 10: on_4_10}
    return MappingProxyType(pairs)


def _on(totals: tuple[int, ...], odds: Odds) -> OddsTable:
    return MappingProxyType(dict.fromkeys(totals, odds))


LINE: Mapping[str, tuple[tuple[int, ...], tuple[int, ...], bool]] = MappingProxyType(
    {
        #             first throw wins   loses         right side
        "win": ((7, 11), (2, 3, 12), True),  # A 1°
        "dont_win": ((2, 3), (7, 11), False),  # A 2°: «fait coup nul avec 12»
        "come": ((7, 11), (2, 3, 12), True),  # A 3°
        "dont_come": ((2, 3), (7, 11), False),  # A 4°
    }
)

ONE_ROLL: Mapping[str, OddsTable] = MappingProxyType(
    {
        # Every other total loses.
        "field": MappingProxyType({**_on((3, 4, 9, 10, 11), EVEN), **_on((2, 12), Odds(2, 1))}),  # A 5°
        "under_7": _on((2, 3, 4, 5, 6), EVEN),  # A 8°
        "over_7": _on((8, 9, 10, 11, 12), EVEN),  # A 9°
        "seven": _on((7,), Odds(4, 1)),  # B 2°
        "eleven": _on((11,), Odds(15, 1)),  # B 3°
        "any_craps": _on((2, 3, 12), Odds(7, 1)),  # B 4°
        "craps_2": _on((2,), Odds(30, 1)),  # B 5°
        "craps_3": _on((3,), Odds(15, 1)),  # B 6°
        "craps_12": _on((12,), Odds(30, 1)),  # B 7°
        "horn": _on((2, 3, 11, 12), Odds(4, 1)),  # B 8°, on the whole stake
    }
)

HARDWAY: OddsTable = MappingProxyType({4: Odds(7, 1), 6: Odds(9, 1), 8: Odds(9, 1), 10: Odds(7, 1)})  # B 1°

RIGHT: Mapping[str, OddsTable] = MappingProxyType(
    {
        # The number wins, 7 loses.
        "big_6": MappingProxyType({6: EVEN}),  # A 6°
        "big_8": MappingProxyType({8: EVEN}),  # A 7°
        "win_odds": by_number(Odds(6, 5), Odds(3, 2), Odds(2, 1)),  # C 1°
        "come_odds": by_number(Odds(6, 5), Odds(3, 2), Odds(2, 1)),  # C 3°
        "right_bet": by_number(Odds(7, 6), Odds(7, 5), Odds(9, 5)),  # D 1°
    }
)

WRONG: Mapping[str, OddsTable] = MappingProxyType(
    {
        # 7 wins, the number loses.
        "dont_win_odds": by_number(Odds(5, 6), Odds(2, 3), Odds(1, 2)),  # C 2°
        "dont_come_odds": by_number(Odds(5, 6), Odds(2, 3), Odds(1, 2)),  # C 4°
        "wrong_bet": by_number(Odds(4, 5), Odds(5, 8), Odds(5, 11)),  # D 2°
    }
)

BASE_OF: Mapping[str, str] = MappingProxyType(
    {
        "win_odds": "win",
        "dont_win_odds": "dont_win",
        "come_odds": "come",
        "dont_come_odds": "dont_come",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrapsKind(Kind):
    """A bet at craps, and what a throw does to it."""

    resolve: Resolve


def accept_number(table: Table, event: WagerPlaced, wager: Wager, numbers: tuple[int, ...] = POINT_NUMBERS) -> bool:
    """Accept a bet that names one of ``numbers``."""
    number = event.data.number
    if number in numbers:
        wager.number = number
        return True
    recorded = number if isinstance(number, int) else None
    find(table, "invalid-wager-number", event.seq, wager=wager, recorded=recorded)
    return False


def right(odds: OddsTable) -> Resolve:
    """Return how a bet that its number comes before 7 is resolved."""

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        if total == wager.number:
            win(table, wager, seq, odds[total])
        elif total == 7:
            lose(table, wager, seq)

    return resolve


def wrong(odds: OddsTable) -> Resolve:
    """Return how a bet that 7 comes before its number is resolved."""

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        number = wager.number
        assert number is not None
        if total == 7:
            win(table, wager, seq, odds[number])
        elif total == number:
            lose(table, wager, seq)

    return resolve


def settle_throw(table: Table, event: DiceThrown, total: int) -> None:
    """Settle every live wager by a throw of ``total``."""
    first, second = event.data.faces
    double = first == second
    seq = event.seq
    wagers = table.wagers
    for wager in [wagers[live] for live in table.live]:
        KINDS[wager.bet].resolve(table, wager, seq, total, double)


# The come box


def check_moves(table: Table, seq: int) -> None:
    """Find, at the next result, come wagers that a throw sent to a number and nobody moved there: A 3°, 4°."""
    if not table.travelling or not table.moves_seen:
        return
    for wager_id in table.travelling:
        wager = table.wagers[wager_id]
        if wager.travelled_by == table.last_result:
            find(
                table,
                "come-not-moved",
                wager.travelled_by,
                seq,
                wager=wager,
                expected=wager.number,
                travelled_seq=wager.travelled_by,
            )


def move(table: Table, event: WagerMoved) -> None:
    """Move a come or don't come stake to its number: A 3°, 4°."""
    seq = event.seq
    data = event.data
    table.moves_seen = True
    wager = table.wagers.get(data.wager)
    if wager is None or data.wager not in table.travelling:
        if table.voided_by:
            find(
                table,
                "void-throw-settled",
                table.voided_by,
                seq,
                wager=wager,
                wager_id=data.wager,
                voided_seq=table.voided_by,
                event_type=event.type,
            )
        else:
            find(
                table,
                "come-moved-to-wrong-number",
                seq,
                wager=wager,
                wager_id=data.wager,
                recorded=data.number,
            )
        return
    if data.number != wager.number:
        find(
            table,
            "come-moved-to-wrong-number",
            wager.travelled_by,
            seq,
            wager=wager,
            expected=wager.number,
            recorded=data.number,
        )
    del table.travelling[data.wager]


# Placement


def _accept_line(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """A 1°, 2°: «qui se joue au premier jet»."""
    if table.point is None:
        return True
    find(
        table,
        "line-wager-after-come-out",
        table.point_set_by,
        event.seq,
        wager=wager,
        point=table.point,
        point_seq=table.point_set_by,
    )
    return False


def _accept_come(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """A 3°, 4°: «à n'importe quel moment de la série après le premier jet»."""
    if table.point is not None:
        return True
    find(table, "come-wager-on-come-out", event.seq, wager=wager)
    return False


def _accept_big(number: int) -> Callable[[Table, WagerPlaced, Wager], bool]:
    def accept(table: Table, event: WagerPlaced, wager: Wager) -> bool:
        wager.number = number
        return True

    return accept


def _accept_hardway(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    return accept_number(table, event, wager, tuple(HARDWAY))


def _accept_wrong(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """D 2°: «différenciée par l'employé à l'aide d'une contremarque portant "Wrong Bet"»."""
    if event.data.marker != "wrong_bet":
        find(table, "wrong-bet-not-marked", event.seq, wager=wager, recorded=event.data.marker or None)
    return accept_number(table, event, wager)


def _accept_odds(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """C: «si la chance simple correspondante, dont le point doit être connu, a déjà été engagée»."""
    wager.base = event.data.base or None
    base = table.wagers.get(wager.base or "")
    fault = _fault_of_base(wager, base)
    if base is not None and fault is None:
        wager.number = base.number
        return True
    base_placed_by = base.placed_by if base is not None else 0
    find(table, "odds-without-base-wager", base_placed_by, event.seq, wager=wager, base=wager.base, fault=fault)
    return False


def _fault_of_base(wager: Wager, base: Wager | None) -> str | None:
    """Return why ``base`` cannot carry the odds ``wager``; None if it can."""
    if base is None:
        return "unknown"
    if base.bet != BASE_OF[wager.bet]:
        return "other_kind"
    if base.status != "open":
        return "decided"
    if wager.player is not None and base.player is not None and wager.player != base.player:
        return "other_player"
    return "no_point" if base.number is None else None


# Settlement


def _line(bet: str) -> Resolve:
    natural, craps, right_side = LINE[bet]

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        if wager.number is not None:
            if total == 7:
                lose(table, wager, seq) if right_side else win(table, wager, seq, EVEN)
            elif total == wager.number:
                win(table, wager, seq, EVEN) if right_side else lose(table, wager, seq)
        elif total in natural:
            win(table, wager, seq, EVEN)
        elif total in craps:
            lose(table, wager, seq)
        elif total == 12:
            wager.barred_by = wager.changed_by = seq
        else:
            wager.number = total
            wager.travelled_by = wager.changed_by = seq
            if bet in ("come", "dont_come"):
                table.travelling[wager.id] = None

    return resolve


def _one_roll(odds: OddsTable) -> Resolve:
    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        winning = odds.get(total)
        if winning is None:
            lose(table, wager, seq)
        else:
            win(table, wager, seq, winning)

    return resolve


def _resolve_hardway(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
    """B 1°: the double wins; 7, or the same total otherwise formed, loses."""
    if total == wager.number and double:
        win(table, wager, seq, HARDWAY[total])
    elif total in (7, wager.number):
        lose(table, wager, seq)


def _kinds() -> dict[str, CrapsKind]:
    kinds: dict[str, CrapsKind] = {}
    for bet in LINE:
        accept = _accept_come if bet in ("come", "dont_come") else _accept_line
        kinds[bet] = CrapsKind(bet=bet, withdrawal="never", accept=accept, resolve=_line(bet))
    for bet, odds in ONE_ROLL.items():
        kinds[bet] = CrapsKind(bet=bet, withdrawal="one_roll", accept=accept_any, resolve=_one_roll(odds))
    placed = {"big_6": _accept_big(6), "big_8": _accept_big(8), "right_bet": accept_number, "wrong_bet": _accept_wrong}
    for bet, odds in RIGHT.items():
        kinds[bet] = CrapsKind(
            bet=bet, withdrawal="after_throw", accept=placed.get(bet, _accept_odds), resolve=right(odds)
        )
    for bet, odds in WRONG.items():
        kinds[bet] = CrapsKind(
            bet=bet, withdrawal="after_throw", accept=placed.get(bet, _accept_odds), resolve=wrong(odds)
        )
    kinds["hardway"] = CrapsKind(
        bet="hardway", withdrawal="after_throw", accept=_accept_hardway, resolve=_resolve_hardway
    )
    return kinds


KINDS: Mapping[str, CrapsKind] = MappingProxyType(_kinds())
"""The closed list: «Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes»."""
