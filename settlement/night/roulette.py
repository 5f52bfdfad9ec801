"""Roulette: the value of a stake before a spin and in prison, and its edge.

A spin ends everything but a stake in prison. The law says what a pocket does: ``art_54_roulette.covers``.

A zero under ``zero_rule`` = choice lets the player choose, and his choice has a price. Values assume that he will
choose *half*, which costs him least after a first zero. The extra cost of prison is charged when he chooses it
(``RouletteChances.charged``), so that it is not luck either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product

from settlement.events import BallSettled
from settlement.fr.art_54_roulette import ODDS, covers
from settlement.layouts import DOZEN_SHAPES, SIMPLE_CHANCES, Layout, twelves
from settlement.money import EVEN, Odds
from settlement.night.chances import CACHE_SIZE, Chances, Outlook, Priced, Readings, chance, outlook_of, part_of
from settlement.ruleset import RULESETS
from settlement.state import Session, Table, Wager


@cache
def covered(ruleset: str, bet: str, pockets: tuple[str, ...], which: tuple[int, ...]) -> frozenset[str]:
    """Return the pockets of the wheel that a roulette wager wins on."""
    wager = Wager("w", bet, 1, 1, 1, pockets=pockets, which=which)
    return frozenset(pocket for pocket in layout_of(ruleset).wheel if covers(wager, pocket))


def layout_of(ruleset: str) -> Layout:
    """Return the wheel and layout of a roulette ruleset."""
    layout = RULESETS[ruleset].layout
    assert layout is not None, f"{ruleset} has no wheel"
    return layout


def is_simple(bet: str) -> bool:
    """Whether ``bet`` is a simple chance, to which a zero does something of its own: art. 54 B."""
    return bet in SIMPLE_CHANCES


def refund(readings: Readings, stake: int, zeros: int) -> Fraction:
    """Return what the player gets back if he takes his half at the ``zeros``-th zero: S/2^k."""
    return _halved(readings, stake, zeros)


def release(readings: Readings, stake: int, zeros: int) -> Fraction:
    """Return what is released from prison after ``zeros`` zeros: reading ``release_value``."""
    return _halved(readings, stake, zeros - 1 if readings.release_value == "halving" else 0)


def _halved(readings: Readings, stake: int, times: int) -> Fraction:
    part = Odds(1, 2 ** min(times, 64))
    return Fraction(stake) if part == EVEN else part_of(stake, part, readings.payout_unit)


def on_zero(readings: Readings, stake: int, zeros: int) -> Fraction:
    """Return the value of a simple chance that the ``zeros``-th zero has just hit, the player choosing his half."""
    return Fraction(0) if readings.zero_rule == "lose" else refund(readings, stake, zeros)


@lru_cache(CACHE_SIZE)
def value_at_roulette(readings: Readings, bet: str, ways: int, stake: int) -> Fraction:
    """Return the value of ``stake`` minor units before a spin, on a bet that wins on ``ways`` pockets."""
    layout = layout_of(readings.ruleset)
    pockets = len(layout.wheel)
    value = chance(ways, pockets) * (stake + part_of(stake, ODDS[bet], readings.payout_unit))
    if is_simple(bet):
        value += chance(len(layout.zeros), pockets) * on_zero(readings, stake, 1)
    return value


@lru_cache(CACHE_SIZE)
def value_in_prison(readings: Readings, ways: int, stake: int, zeros: int) -> Fraction:
    """Return the value of an initial ``stake`` that is in prison after ``zeros`` zeros, before the next spin."""
    layout = layout_of(readings.ruleset)
    pockets = len(layout.wheel)
    released = chance(ways, pockets) * release(readings, stake, zeros)
    return released + chance(len(layout.zeros), pockets) * on_zero(readings, stake, zeros + 1)


@lru_cache(CACHE_SIZE)
def _outlook_at_roulette(
    readings: Readings, bet: str, pockets: tuple[str, ...], which: tuple[int, ...], stake: int, zeros: int | None
) -> Outlook:
    """Return how each pocket changes the house's position on a stake; ``zeros`` is None if it is not in prison."""
    layout = layout_of(readings.ruleset)
    wins = covered(readings.ruleset, bet, pockets, which)
    if zeros is None:
        now = value_at_roulette(readings, bet, len(wins), stake)
        on_number = stake + part_of(stake, ODDS[bet], readings.payout_unit)
    else:
        now = value_in_prison(readings, len(wins), stake, zeros)
        on_number = release(readings, stake, zeros)
    at_zero = on_zero(readings, stake, (zeros or 0) + 1) if is_simple(bet) else Fraction(0)
    lost = {
        (is_won, is_zero): now - (on_number if is_won else 0) - (at_zero if is_zero else 0)
        for is_won, is_zero in product((False, True), repeat=2)
    }
    changes = [lost[pocket in wins, pocket in layout.zeros] for pocket in layout.wheel]
    return outlook_of(changes, (1,) * len(layout.wheel))


@lru_cache(CACHE_SIZE)
def _charged_at_roulette(
    readings: Readings, bet: str, pockets: tuple[str, ...], which: tuple[int, ...], stake: int, prisons: int
) -> Fraction:
    """Return what a stake is charged when it is placed, and at each of the zeros at which prison was chosen."""
    ways = len(covered(readings.ruleset, bet, pockets, which))
    charged = stake - value_at_roulette(readings, bet, ways, stake)
    for zeros in range(1, prisons + 1):
        charged += refund(readings, stake, zeros) - value_in_prison(readings, ways, stake, zeros)
    return charged


def edge_at_roulette(readings: Readings, bet: str, ways: int) -> Fraction:
    """Return the edge of the text of a bet that wins on ``ways`` pockets; at a zero the player takes his half."""
    return 1 - value_at_roulette(readings._replace(payout_unit=None), bet, ways, 1)


class RouletteChances(Chances):
    """The mathematics of both roulettes."""

    def charged(self, session: Session, wager: Wager) -> Fraction:
        prisons = _times_in_prison(wager)
        return _charged_at_roulette(
            Readings.of(session), wager.bet, wager.pockets, wager.which, wager.standing, prisons
        )

    def present_value(self, session: Session, wager: Wager) -> Fraction:
        readings, stake = Readings.of(session), wager.standing
        match wager.status:
            case "imprisoned":
                return value_in_prison(readings, _ways(session, wager), stake, wager.zeros)
            case "awaiting_decision":
                return refund(readings, stake, wager.zeros)
        return value_at_roulette(readings, wager.bet, _ways(session, wager), stake)

    def ways(self, ruleset: str) -> tuple[int, ...]:
        return (1,) * len(layout_of(ruleset).wheel)

    def outlook(self, table: Table, readings: Readings, wager: Wager) -> Outlook:
        # A stake that still awaits its decision goes on as in prison.
        zeros = wager.zeros if wager.status != "open" else None
        return _outlook_at_roulette(readings, wager.bet, wager.pockets, wager.which, wager.standing, zeros)

    def outcome_of(self, ruleset: str, result: str) -> int:
        return layout_of(ruleset).wheel.index(result)

    def edges(self, readings: Readings) -> Mapping[Priced, Fraction]:
        return {
            priced: edge_at_roulette(readings, priced.bet, priced.pockets or 0)
            for priced in _bets_of_roulette(readings.ruleset)
        }

    def drawn(self, result: BallSettled) -> list[int | str]:
        """Return the pocket."""
        return [result.data.pocket]

    def refund(self, readings: Readings, stake: int, zeros: int) -> Fraction:
        return refund(readings, stake, zeros)


def _bets_of_roulette(ruleset: str) -> Iterator[Priced]:
    seen: dict[Priced, None] = {}
    for bet, shapes in layout_of(ruleset).shapes.items():
        for pockets in shapes.values():
            seen[Priced(bet, pockets=len(covered(ruleset, bet, pockets, ())))] = None
    for bet in DOZEN_SHAPES:
        for which in ((1,), (2,), (3,), (1, 2), (2, 3)):
            if twelves(bet, which) is not None:
                seen[Priced(bet, pockets=len(covered(ruleset, bet, (), which)))] = None
    for bet in SIMPLE_CHANCES:
        seen[Priced(bet, pockets=len(covered(ruleset, bet, (), ())))] = None
    yield from seen


def _times_in_prison(wager: Wager) -> int:
    """Return at how many zeros the player chose prison: all but one that ended the wager, or awaits his choice."""
    ended_or_waits = wager.status in ("refunded_half", "refunded_last_coup", "awaiting_decision")
    return wager.zeros - 1 if ended_or_waits else wager.zeros


def _ways(session: Session, wager: Wager) -> int:
    return len(covered(session.ruleset, wager.bet, wager.pockets, wager.which))


CHANCES = RouletteChances()
