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

from settlement import acts
from settlement.calls import timing
from settlement.craps import POINT_NUMBERS
from settlement.deciding import lose, win
from settlement.events import WagerMoved, WagerPlaced
from settlement.findings import find
from settlement.kinds import Kind
from settlement.money import EVEN, Odds
from settlement.seats import may_be_of_one
from settlement.state import StakeChange, Table, Wager

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

TRAVELLING = ("come", "dont_come")
"""A 3°, 4°: the dice send them from their box to a number."""

PLACE_BETS = ("right_bet", "wrong_bet")
"""D: taken back, and so moved, «en cas de coup non décisif»."""

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
        elif total == 7 and wager.number is not None:
            lose(table, wager, seq)

    return resolve


def wrong(odds: OddsTable) -> Resolve:
    """Return how a bet that 7 comes before its number is resolved."""

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        number = wager.number
        if number is None:  # odds whose base was not seen
            return
        if total == 7:
            win(table, wager, seq, odds[number])
        elif total == number:
            lose(table, wager, seq)

    return resolve


# The come box


def check_moves(table: Table, seq: int) -> None:
    """Find, at the next result, come wagers that a throw sent to a number and nobody moved there: A 3°, 4°."""
    if not table.travelling or not table.moves_seen:
        return
    for wager_id in table.travelling:
        wager = table.wagers[wager_id]
        if wager.travelled_by == table.last_result and not (table.off_and_on and _is_off_and_on(table, wager)):
            find(
                table,
                "come-not-moved",
                wager.travelled_by,
                seq,
                wager=wager,
                expected=wager.number,
                travelled_seq=wager.travelled_by,
                ending=table.coups_end_by,
            )


def move(table: Table, event: WagerMoved) -> None:
    """Move a come or don't come stake to its number: A 3°, 4°."""
    seq = event.seq
    data = event.data
    wager = table.wagers.get(data.wager)
    if wager is not None and _may_be_moved(table, event, wager):
        if not table.call and table.open_session().calls:
            before = (wager.number or 0, wager.throws_before)
            table.stake_changes.append(StakeChange("wager.moved", seq, event.occurred_at, wager.id, *before))
        wager.number = data.number
        wager.throws_before = table.throws
        wager.changed_by = seq
        return
    table.moves_seen = True
    travels = data.wager in table.travelling
    if wager is not None and wager.bet in TRAVELLING and wager.status == "open" and wager.number is not None:
        if data.number == wager.number:  # where the dice have sent it
            table.travelling.pop(data.wager, None)
            if table.acts:
                acts.right(table, f"{event.type} {data.wager}", seq)
            return
        key = f"{event.type} {data.wager}"
        if travels or key in table.acts or not table.voided_by:
            table.travelling.pop(data.wager, None)
            acts.wrong(
                table,
                key,
                "come-moved-to-wrong-number",
                wager.travelled_by,
                seq,
                wager=wager,
                expected=wager.number,
                recorded=data.number,
            )
            return
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
        find(table, "come-moved-to-wrong-number", seq, wager=wager, wager_id=data.wager, recorded=data.number)


# Placement


def accept_line(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """A 1°, 2°: «qui se joue au premier jet»."""
    if table.point is None or not table.sees("results"):
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


def accept_come(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """A 3°, 4°: «à n'importe quel moment de la série après le premier jet»."""
    if table.point is not None or not table.sees("results"):
        return True
    find(table, "come-wager-on-come-out", event.seq, wager=wager)
    return False


def accept_big(number: int) -> Callable[[Table, WagerPlaced, Wager], bool]:
    """Return what accepts a bet whose name says its ``number``: A 6°, 7°."""

    def accept(table: Table, event: WagerPlaced, wager: Wager) -> bool:
        wager.number = number
        return True

    return accept


def accept_hardway(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """B 1°: a hard way names one of its four numbers."""
    return accept_number(table, event, wager, tuple(HARDWAY))


def accept_wrong(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """D 2°: «différenciée par l'employé à l'aide d'une contremarque portant "Wrong Bet"»."""
    if event.data.marker != "wrong_bet":
        find(table, "wrong-bet-not-marked", event.seq, wager=wager, recorded=event.data.marker or None)
    return accept_number(table, event, wager)


def accept_odds(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """C: «si la chance simple correspondante, dont le point doit être connu, a déjà été engagée»."""
    wager.base = event.data.base or None
    base = table.wagers.get(wager.base or "")
    fault = _fault_of_base(wager, base)
    if fault is not None and _is_unseen(table, fault):
        return accept_number(table, event, wager) if isinstance(event.data.number, int) else True
    if base is not None and fault is None:
        if not may_be_of_one(wager, base):
            find(table, "odds-on-anothers-base", base.placed_by, event.seq, wager=wager, base=base.id)
            return False
        number = event.data.number
        if isinstance(number, int) and number != base.number:
            find(
                table,
                "odds-number-mismatch",
                base.placed_by,
                event.seq,
                wager=wager,
                base=base.id,
                expected=base.number,
                recorded=number,
            )
            return False
        wager.number = base.number
        return True
    base_placed_by = base.placed_by if base is not None else 0
    find(table, "odds-without-base-wager", base_placed_by, event.seq, wager=wager, base=wager.base, fault=fault)
    return False


# Settlement


def line(bet: str) -> Resolve:
    """Return how a chance of ``LINE`` is resolved."""
    natural, craps, right_side = LINE[bet]
    travels = bet in TRAVELLING

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        if wager.number is not None:
            if total == 7:
                lose(table, wager, seq) if right_side else win(table, wager, seq, EVEN)
            elif total == wager.number:
                win(table, wager, seq, EVEN) if right_side else lose(table, wager, seq)
                if travels:
                    table.off_and_on[wager.id] = None
        elif total in natural:
            win(table, wager, seq, EVEN)
        elif total in craps:
            lose(table, wager, seq)
        elif total == 12:
            wager.barred_by = wager.changed_by = seq
        else:
            wager.number = total
            wager.travelled_by = wager.changed_by = seq
            if travels:
                table.travelling[wager.id] = None

    return resolve


def one_roll(odds: OddsTable) -> Resolve:
    """Return how a bet for one throw is resolved that wins on the totals of ``odds``."""

    def resolve(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
        winning = odds.get(total)
        if winning is None:
            lose(table, wager, seq)
        else:
            win(table, wager, seq, winning)

    return resolve


def resolve_hardway(table: Table, wager: Wager, seq: int, total: int, double: bool) -> None:
    """B 1°: the double wins; 7, or the same total otherwise formed, loses."""
    if total == wager.number and double:
        win(table, wager, seq, HARDWAY[total])
    elif total in (7, wager.number):
        lose(table, wager, seq)


def _is_off_and_on(table: Table, wager: Wager) -> bool:
    """Whether another of the same player lies there for ``wager``: the throw that sent it there decided that one."""
    others = (table.wagers[other] for other in table.off_and_on)
    return any(other.bet == wager.bet and may_be_of_one(wager, other) for other in others)


def _may_be_moved(table: Table, event: WagerMoved, wager: Wager) -> bool:
    """D: whether a place bet may go to another number now, which is to be taken back and placed again in one act."""
    return (
        wager.bet in PLACE_BETS
        and wager.status == "open"
        and wager.throws_before < table.throws  # «en cas de coup non décisif»
        and table.last_result > wager.placed_by  # a «Coup nul» is none
        and event.data.number in POINT_NUMBERS
        and timing(table, event.occurred_at) != "late"
    )


def _fault_of_base(wager: Wager, base: Wager | None) -> str | None:
    """Return why ``base`` cannot carry the odds ``wager``; None if it can."""
    if base is None:
        return "unknown"
    if base.bet != BASE_OF[wager.bet]:
        return "other_kind"
    if base.status != "open":
        return "decided"
    return "no_point" if base.number is None else None


def _is_unseen(table: Table, fault: str) -> bool:
    """Whether ``fault`` may come of what the table does not see: the base was placed, or its point thrown, unseen."""
    return not table.sees("wagers" if fault == "unknown" else "results") and fault in ("unknown", "no_point")
