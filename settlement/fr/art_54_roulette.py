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
    At the last coup a zero leaves no choice: refunded_last_coup, S/2^k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from settlement.events import LastCoupAnnounced, WagerPlaced, ZeroDecided
from settlement.layouts import DOZEN_SHAPES, SIMPLE_CHANCES, Layout, twelves
from settlement.money import EVEN, Odds
from settlement.state import Table, Wager, find, give_back, lose, win
from settlement.wagers import Kind

ODDS: Mapping[str, Odds] = MappingProxyType(
    {
        "plein": Odds(35, 1),  # A: «Mise sur un numéro plein qui rapporte 35 fois la mise»
        "cheval": Odds(17, 1),
        "transversale": Odds(11, 1),
        "carre": Odds(8, 1),
        "sixain": Odds(5, 1),
        "douzaine": Odds(2, 1),
        "colonne": Odds(2, 1),
        "deux_douzaines": Odds(1, 2),
        "deux_colonnes": Odds(1, 2),
        **dict.fromkeys(SIMPLE_CHANCES, EVEN),  # B
    }
)


def kinds_on(layout: Layout) -> Mapping[str, Kind]:
    """Return the closed list of combinations on ``layout``."""
    accepts = {
        **{bet: _accept_shape(layout, bet) for bet in layout.shapes},
        **{bet: _accept_twelves(bet) for bet in DOZEN_SHAPES},
        **dict.fromkeys(SIMPLE_CHANCES, _accept_simple),
    }
    return MappingProxyType({bet: Kind(bet=bet, withdrawal="free", accept=accepts[bet]) for bet in ODDS})


def covers(wager: Wager, pocket: str) -> bool:
    """Whether ``wager`` wins on ``pocket``."""
    return pocket in (wager.pockets or _chance(wager.bet, wager.which))


def report_missing_decisions(table: Table, seq: int) -> None:
    """Find the zeros at which nobody chose, each once: a result and the close of the session both end the wait."""
    for wager_id in table.awaiting:
        wager = table.wagers[wager_id]
        if wager.zero_by > table.closed_by:
            find(
                table,
                "zero-decision-missing",
                wager.zero_by,
                seq,
                wager=wager,
                zero_seq=wager.zero_by,
                zeros=wager.zeros,
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
    spares_simple_chances = is_zero and table.open_session().zero_rule != "lose"
    for wager in [wagers[live] for live in table.live]:
        if spares_simple_chances and wager.bet in SIMPLE_CHANCES:
            _hit_by_zero(table, wager, seq)
        elif pocket in (wager.pockets or _chance(wager.bet, wager.which)):  # ``covers``, inlined for speed
            if wager.status == "imprisoned":
                _release(table, wager, seq)
            else:
                win(table, wager, seq, ODDS[wager.bet])
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
    elif wager.status != "awaiting_decision":
        find(
            table,
            "zero-decision-without-zero",
            wager.zero_by,
            seq,
            wager=wager,
            recorded=choice,
            status=wager.status,
        )
    elif choice == "half":
        del table.awaiting[wager.id]
        give_back(table, wager, seq, "refunded_half", _share_left(wager))
    else:
        del table.awaiting[wager.id]
        wager.status = "imprisoned"
        wager.changed_by = seq


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


def _accept_shape(layout: Layout, bet: str) -> Callable[[Table, WagerPlaced, Wager], bool]:
    legal = layout.shapes[bet]

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


def _accept_simple(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    return True


@lru_cache(maxsize=256)
def _chance(bet: str, which: tuple[int, ...]) -> frozenset[str]:
    """Return the pockets of a simple chance, of dozens or columns; no pockets if that combination does not exist."""
    return SIMPLE_CHANCES[bet] if bet in SIMPLE_CHANCES else twelves(bet, which) or frozenset()


def _hit_by_zero(table: Table, wager: Wager, seq: int) -> None:
    wager.zeros += 1
    wager.zero_by = wager.changed_by = seq
    if table.wheel.last_coup:
        give_back(table, wager, seq, "refunded_last_coup", _share_left(wager))
    elif table.open_session().zero_rule == "half":
        give_back(table, wager, seq, "refunded_half", _share_left(wager))
    else:
        wager.status = "awaiting_decision"
        table.awaiting[wager.id] = None


def _share_left(wager: Wager) -> Odds:
    """Return S/2^k: «ayant perdu 50 p. 100 de sa valeur à chaque sortie du zéro», always of the initial stake."""
    return _halved(wager.zeros)


def _release(table: Table, wager: Wager, seq: int) -> None:
    """Release a stake from prison without winnings: «reprennent purement et simplement leur liberté»."""
    is_halved = table.open_session().release_value == "halving"  # a reading
    give_back(table, wager, seq, "released", _halved(wager.zeros - 1) if is_halved else EVEN)


def _halved(times: int) -> Odds:
    # Any stake is 0 after 64 halvings: a larger power of 2 would only be a longer number.
    return Odds(1, 2 ** min(times, 64))
