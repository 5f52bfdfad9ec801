"""Art. 54: the combinations of roulette, and the zero.

Law       Arrêté of 23 December 1959, art. 54 «Combinaisons autorisées au jeu de la roulette».
In force  The text bears no date.
Scope     Every combination, its odds, and what a zero does to a simple chance. Art. 57-1 plays the same combinations
          on a layout of 38 pockets.
Missing   Nothing: A, B, the zero's two solutions, its return, the last coup.

A simple chance of initial stake S, under the reading ``zero_rule`` = choice:

                ┌── number ─► won, lost
    open ───────┤
                └── zero ──► awaiting_decision ── half ────► refunded_half: S/2^k after the k-th zero
                                    ▲   │
                               zero │   └─ prison ─► imprisoned ── number ─► released: S/2^(k−1), or lost
                                    └────────────────────┘
    The last choice before the next result counts, while nothing was paid. Where nobody says it, a payout of the half is
    the choice, and no payout is prison. At the last coup a zero leaves no choice: refunded_last_coup, S/2^k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from settlement.accounts import net
from settlement.deciding import give_back, lose, take_back_refund, win
from settlement.events import LastCoupAnnounced, WagerPlaced, ZeroDecided
from settlement.findings import find
from settlement.kinds import Kind, Shape, accept_any
from settlement.layouts import SIMPLE_CHANCES, Layout, twelves
from settlement.money import EVEN, Odds, halved, share
from settlement.state import Table, Wager


class Combination(NamedTuple):
    """One combination of the list, on any layout: the fields of a ``Kind`` that the layout does not decide."""

    bet: str
    word: str
    usual: tuple[str, str]
    shape: Shape
    odds: Odds
    clause: str
    line: str


COMBINATIONS = (
    # A: «Mise sur un numéro plein qui rapporte 35 fois la mise»
    Combination(
        "plein", "plein", ("straight up", "numéro plein"), "numbers", Odds(35, 1), "art. 54 A", "art. 54 A plein"
    ),
    Combination("cheval", "cheval", ("split", "deux numéros"), "numbers", Odds(17, 1), "art. 54 A", "art. 54 A cheval"),
    Combination(
        "transversale",
        "transversale",
        ("street", "trois numéros"),
        "numbers",
        Odds(11, 1),
        "art. 54 A",
        "art. 54 A transversale",
    ),
    Combination("carre", "carré", ("corner", "quatre numéros"), "numbers", Odds(8, 1), "art. 54 A", "art. 54 A carré"),
    Combination(
        "sixain", "sixain", ("six line", "six numéros"), "numbers", Odds(5, 1), "art. 54 A", "art. 54 A sixain"
    ),
    Combination(
        "douzaine", "douzaine", ("dozen", "douze numéros"), "which", Odds(2, 1), "art. 54 A", "art. 54 A douzaine"
    ),
    Combination(
        "colonne", "colonne", ("column", "douze numéros"), "which", Odds(2, 1), "art. 54 A", "art. 54 A douzaine"
    ),
    Combination(
        "deux_douzaines",
        "deux douzaines",
        ("two dozens", "vingt-quatre numéros"),
        "which",
        Odds(1, 2),
        "art. 54 A",
        "art. 54 A deux douzaines",
    ),
    Combination(
        "deux_colonnes",
        "deux colonnes",
        ("two columns", "vingt-quatre numéros"),
        "which",
        Odds(1, 2),
        "art. 54 A",
        "art. 54 A deux douzaines",
    ),
    # B
    Combination("pair", "pair", ("even", "numéros pairs"), "alone", EVEN, "art. 54 B", "art. 54 B pair"),
    Combination("impair", "impair", ("odd", "numéros impairs"), "alone", EVEN, "art. 54 B", "art. 54 B pair"),
    Combination("manque", "manque", ("low, 1 to 18", "1 à 18"), "alone", EVEN, "art. 54 B", "art. 54 B manque"),
    Combination("passe", "passe", ("high, 19 to 36", "19 à 36"), "alone", EVEN, "art. 54 B", "art. 54 B manque"),
    Combination("rouge", "rouge", ("red", "numéros rouges"), "alone", EVEN, "art. 54 B", "art. 54 B rouge"),
    Combination("noir", "noir", ("black", "numéros noirs"), "alone", EVEN, "art. 54 B", "art. 54 B rouge"),
)

_ODDS = {each.bet: each.odds for each in COMBINATIONS}  # looked up faster than in a MappingProxyType
ODDS: Mapping[str, Odds] = MappingProxyType(_ODDS)


def kinds_on(layout: Layout) -> Mapping[str, Kind]:
    """Return the closed list of combinations on ``layout``."""
    return MappingProxyType({each.bet: _kind_on(layout, each) for each in COMBINATIONS})


HELD_BY_ZERO = ("imprisoned", "awaiting_decision")
"""The statuses of a simple chance that a zero has hit and no result has decided since."""


def state_of_play(table: Table) -> dict[str, Any]:
    """Return what an answer says of the table: the stakes that a zero holds, each with its zeros."""
    held = (table.wagers[live] for live in table.live)
    return {"imprisoned": {wager.id: wager.zeros for wager in held if wager.status in HELD_BY_ZERO}}


def covers(wager: Wager, pocket: str) -> bool:
    """Whether ``wager`` wins on ``pocket``."""
    return pocket in (wager.pockets or _chance(wager.bet, wager.which))


def report_missing_decisions(table: Table, seq: int) -> None:
    """Find the zeros at which nobody chose, each once: a result and the close of the session both end the wait."""
    for wager_id in table.awaiting:
        wager = table.wagers[wager_id]
        if wager.account is not None and wager.account.debt:
            continue  # it was paid, and is the claim
        if wager.zero_by > table.closed_by:
            find(
                table,
                "zero-decision-missing",
                wager.zero_by,
                seq,
                wager=wager,
                zero_seq=wager.zero_by,
                zeros=wager.zeros,
                ending=table.coups_end_by,
            )


def imprison_undecided(table: Table, seq: int) -> None:
    """B 1°, 2°: the player did not choose before the next result. Find it; the stake goes on as in prison."""
    report_missing_decisions(table, seq)
    for wager_id in table.awaiting:
        wager = table.wagers[wager_id]
        wager.status = "imprisoned"
        wager.changed_by = seq
    table.awaiting.clear()


def settle_pocket(table: Table, seq: int, pocket: str, is_zero: bool) -> None:
    """Settle every live wager by ``pocket``."""
    wagers = table.wagers
    odds_of = _ODDS
    spares_simple_chances = is_zero and table.open_session().zero_rule != "lose"
    if is_zero:
        table.zero_by = seq
    for wager in [wagers[live] for live in table.live]:
        if spares_simple_chances and wager.bet in SIMPLE_CHANCES:
            _hit_by_zero(table, wager, seq)
        elif pocket in (wager.pockets or _chance(wager.bet, wager.which)):  # ``covers``, inlined for speed
            if wager.status == "imprisoned":
                _release(table, wager, seq)
            else:
                win(table, wager, seq, odds_of[wager.bet])
        else:
            lose(table, wager, seq)


def decide_zero(table: Table, event: ZeroDecided) -> None:
    """Take the player's choice at a zero: B 1°, the half; B 2°, prison."""
    seq = event.seq
    choice = event.data.choice
    wager = table.wagers.get(event.data.wager)
    if wager is None:
        find(
            table,
            "zero-decision-without-zero",
            seq,
            wager_id=event.data.wager,
            recorded=choice,
            status="unknown",
        )
    elif wager.bet not in SIMPLE_CHANCES:
        find(table, "zero-option-on-multiple-chance", wager.placed_by, seq, wager=wager, recorded=choice)
    elif wager.status == "refunded_last_coup":
        if choice == "prison":  # the half is what the law forces
            find(
                table,
                "zero-decision-on-last-coup",
                table.wheel.last_coup,
                wager.zero_by,
                seq,
                wager=wager,
                recorded=choice,
                last_coup_seq=table.wheel.last_coup,
            )
    elif _may_choose(table, wager):
        _choose(table, wager, seq, choice)
        read_choice(table, wager.id, seq)
    elif not _says_what_was_paid(table, wager, choice):
        find(
            table,
            "zero-decision-without-zero",
            wager.zero_by,
            seq,
            wager=wager,
            recorded=choice,
            status=wager.status,
        )


def read_choice(table: Table, wager_id: str, seq: int) -> None:
    """B 1°, «Retirer la moitié de sa mise»: just the half taken or handed out, net, since the zero is the choice.

    It is read anew after each movement of money until the next result.
    """
    wager = table.wagers.get(wager_id)
    if wager is None or not wager.zero_by or wager.zero_by != table.coup_began or wager.account is None:
        return
    account, is_half = wager.account, _is_half(table, wager)
    put_back = sum(move.put_back for move in account.moves)
    if is_half and wager.status in HELD_BY_ZERO:
        account.before_half = wager.status
        account.put_back -= put_back  # of what was swept and handed back he keeps the half
        table.awaiting.pop(wager.id, None)
        give_back(table, wager, seq, "refunded_half", halved(wager.zeros), may_change=True)
        table.due.pop(wager.id, None)
    elif account.before_half and not is_half:
        take_back_refund(table, wager)
        if account.before_half == "imprisoned":
            wager.status = "imprisoned"
        else:
            table.awaiting[wager.id] = None
        account.before_half = ""
        account.put_back += put_back
        if not account.withdrawn + account.lifted:  # what was handed back whole, and recovered since
            account.recovered = max(account.recovered, account.put_back - wager.stake_paid)
        wager.paid_by = 0


def announce_last_coup(table: Table, event: LastCoupAnnounced) -> None:
    """Remember that the next coup is the last of the session."""
    table.wheel.last_coup = event.seq


def check_last_coup(table: Table, seq: int, pocket: str) -> None:
    """Find a second result after the last coup was announced."""
    coup = table.wheel
    if coup.last_coup:
        coup.results_since_last_coup += 1
        if coup.results_since_last_coup > 1:
            find(
                table,
                "result-after-last-coup",
                coup.last_coup,
                coup.settled_by,
                seq,
                recorded=pocket,
                last_coup_seq=coup.last_coup,
            )


def _kind_on(layout: Layout, combination: Combination) -> Kind:
    bet = combination.bet
    match combination.shape:
        case "numbers":
            accept = _accept_shape(layout, bet)
        case "which":
            accept = _accept_twelves(bet)
        case _:
            accept = accept_any
    zeros = layout.zeros if bet in SIMPLE_CHANCES else frozenset()
    return Kind(withdrawal="free", accept=accept, zeros=zeros, **combination._asdict())


def _accept_shape(layout: Layout, bet: str) -> Callable[[Table, WagerPlaced, Wager], bool]:
    legal = dict(layout.shapes[bet])  # looked up faster than in a MappingProxyType

    def accept(table: Table, event: WagerPlaced, wager: Wager) -> bool:
        numbers = event.data.numbers or []
        pockets = legal.get(frozenset(numbers))
        if pockets is None or len(pockets) != len(numbers):
            find(table, "combination-not-permitted", event.seq, wager=wager, numbers=list(numbers))
            return False
        wager.pockets = pockets
        return True

    return accept


def _accept_twelves(bet: str) -> Callable[[Table, WagerPlaced, Wager], bool]:
    def accept(table: Table, event: WagerPlaced, wager: Wager) -> bool:
        which = tuple(sorted(event.data.which or ()))
        if not _chance(bet, which):
            find(table, "combination-not-permitted", event.seq, wager=wager, which=list(event.data.which or ()))
            return False
        wager.which = which
        return True

    return accept


@lru_cache(maxsize=256)
def _chance(bet: str, which: tuple[int, ...]) -> frozenset[str]:
    """Return the pockets of a simple chance, of dozens or columns; no pockets if that combination does not exist."""
    return SIMPLE_CHANCES[bet] if bet in SIMPLE_CHANCES else twelves(bet, which) or frozenset()


def _may_choose(table: Table, wager: Wager) -> bool:
    """Whether a choice has effect: after a zero and before the next result, while nothing was paid."""
    if wager.zero_by != table.coup_began or wager.status not in ("awaiting_decision", "imprisoned", "refunded_half"):
        return False
    return table.open_session().zero_rule == "choice" and not _has_moved(table, wager)


def _says_what_was_paid(table: Table, wager: Wager, choice: str) -> bool:
    """Whether a choice of the half comes after that half was taken, or where the reading leaves no choice but it."""
    return choice == "half" and wager.zero_by == table.coup_began and wager.status == "refunded_half"


def _choose(table: Table, wager: Wager, seq: int, choice: str) -> None:
    """Take a choice, or take it in place of an earlier one."""
    table.awaiting.pop(wager.id, None)
    if wager.status == "refunded_half":
        take_back_refund(table, wager)
    if choice == "half":
        give_back(table, wager, seq, "refunded_half", halved(wager.zeros), may_change=True)
    else:
        wager.status = "imprisoned"
        wager.changed_by = seq


def _is_half(table: Table, wager: Wager) -> bool:
    """Whether what went to the player in this coup is what the zero leaves of ``wager``, rounded down or up.

    A half that he took and that was handed to him is one.
    """
    moves = wager.account.moves if wager.account is not None else ()
    if sum(move.winnings + move.settled for move in moves):
        return False
    was_withdrawn = wager.account is not None and wager.account.withdrawn > 0
    handed = lifted = recovered = 0
    for move in moves:
        lifted += move.lifted
        if move.stake < 0 and (lifted or was_withdrawn):
            recovered -= move.stake
        else:  # taken back before he took anything, it is as if it had not been handed out
            handed += move.stake
    halves = _halves(wager.standing, halved(wager.zeros), table.open_session().payout_unit)
    return any(
        taken > 0 and taken in halves for taken in (max(handed, lifted) - recovered, handed + lifted - recovered)
    )


def _halves(stake: int, part: Odds, unit: int) -> tuple[int, ...]:
    """Return ``part`` of a stake in minor units: rounded down to the unit, rounded up, and as it is."""
    down, divides = share(stake, part, unit)
    if divides:
        return (down,)
    exact, is_whole = share(stake, part, 1)
    return (down, down + unit, exact) if is_whole else (down, down + unit)


def _has_moved(table: Table, wager: Wager) -> bool:
    """Whether anything was handed over or settled in this coup and not recovered, or the player took the half."""
    if wager.account is not None:
        moves = wager.account.moves
        winnings, stake = net(moves)
        stake -= sum(move.put_back for move in moves)
        return bool(_is_half(table, wager) or stake or winnings + sum(move.settled for move in moves))
    return wager.paid_by > table.coup_began


def _hit_by_zero(table: Table, wager: Wager, seq: int) -> None:
    """Count a zero: «ayant perdu 50 p. 100 de sa valeur à chaque sortie du zéro», always of the initial stake."""
    wager.zeros += 1
    wager.zero_by = wager.changed_by = seq
    if table.wheel.last_coup:
        give_back(table, wager, seq, "refunded_last_coup", halved(wager.zeros))
    elif table.open_session().zero_rule == "half":
        give_back(table, wager, seq, "refunded_half", halved(wager.zeros))
    else:
        wager.status = "awaiting_decision"
        table.awaiting[wager.id] = None


def _release(table: Table, wager: Wager, seq: int) -> None:
    """Release a stake from prison without winnings: «reprennent purement et simplement leur liberté»."""
    is_halved = table.open_session().release_value == "halving"  # a reading
    give_back(table, wager, seq, "released", halved(wager.zeros - 1) if is_halved else EVEN)
