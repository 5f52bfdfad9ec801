"""The exact edge of every bet, and the value of a stake while it is undecided.

The *value* of a stake is what the player can expect back from it, winnings and stake, under fair dice and a fair wheel;
the *edge* is what the house can expect to keep, per unit staked, its commission counted: edge = 1 + commission − value.
Both are exact fractions.

A wager at craps moves between few states: a throw leaves it in its state, moves it to another, or ends it. Throws that
leave it can be ignored, so over the others, the *deciding* ones,

    V(state) = Σ over the deciding throws of (what it pays, or V of the next state) / the number of deciding throws

and no state is entered twice. At roulette a spin ends everything but a stake in prison.

Rounding. Payouts are floored to the session's ``payout_unit`` by ``money.share``, and so are values: the value of 5
minor units on a bet at 7 to 6 counts 5 of winnings, not 5⅚. So the *breakage* is expected, charged with the edge, and
never shows as luck. With ``Readings.payout_unit`` None nothing is rounded: that is the edge of the text, the published
one.

A zero under ``zero_rule`` = choice lets the player choose, and his choice has a price. Values assume that he will
choose *half*, which costs him least after a first zero. What prison costs him more is charged when he chooses it
(``value.theoretical_win``), so that it is not luck either. ``edge_of_a_simple_chance`` prices both strategies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from settlement.craps import POINT_NUMBERS
from settlement.fr.art_54_roulette import ODDS
from settlement.fr.art_55_8_wagers import HARDWAY, ONE_ROLL
from settlement.layouts import DOZEN_SHAPES, SIMPLE_CHANCES, twelves
from settlement.money import EVEN, Odds, five_per_cent, share
from settlement.night.draws import THROWS, chance, covered, fates, is_simple, layout_of
from settlement.qc.s_95_17_place_bets import LAY_BET
from settlement.rulesets import RULESETS
from settlement.state import Session

CACHE_SIZE = 1 << 16
"""Values cached: a night has few different stakes, each placed many times."""


class Readings(NamedTuple):
    """The readings of a session that an edge depends on. ``payout_unit`` is in minor units; None rounds nothing."""

    ruleset: str
    payout_unit: int | None = None
    zero_rule: str = "choice"
    release_value: str = "halving"

    @classmethod
    def of(cls, session: Session) -> Readings:
        return cls(session.ruleset, session.payout_unit, session.zero_rule, session.release_value)


def part_of(stake: int, part: Odds, unit: int | None) -> Fraction:
    """Return ``part`` of ``stake`` in minor units, rounded down to ``unit`` as the session pays it; None: exactly."""
    if unit is None:
        return Fraction(stake * part.pays, part.per)
    return Fraction(share(stake, part, unit)[0])


# Craps


@lru_cache(CACHE_SIZE)
def value_at_craps(readings: Readings, bet: str, number: int | None, stake: int) -> Fraction:
    """Return the value of ``stake`` minor units on a bet on ``number``, before the throws that will decide it.

    ``number`` is None on the line and in the come box.
    """
    total = Fraction(0)
    deciding = 0
    for throw, fate in zip(THROWS, fates(readings.ruleset, bet, number), strict=True):
        if fate.odds is not None:
            total += throw.ways * (stake + part_of(stake, fate.odds, readings.payout_unit))
        elif not fate.decided and fate.number != number:
            total += throw.ways * value_at_craps(readings, bet, fate.number, stake)
        elif not fate.decided:
            continue
        deciding += throw.ways
    return total / deciding


# Roulette


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


# Edges


def commission_rate(bet: str, number: int | None) -> Fraction:
    """Return the commission of s. 95.17 per unit staked, unrounded; 0 for a bet without one."""
    base = commission_base(bet, number)
    if base is None:
        return Fraction(0)
    whole = 100 * base.per  # a stake that 5 % of any of these odds divides
    return Fraction(five_per_cent(whole, base, "floor"), whole)


def commission_base(bet: str, number: int | None) -> Odds | None:
    """Return what the commission of 5 % is taken on, as odds of the stake: all of it, or what it can win.

    None for a bet without commission.
    """
    match bet:
        case "buy_bet":
            return EVEN
        case "lay_bet":
            return LAY_BET.get(number or 0)
    return None


def edge_at_craps(ruleset: str, bet: str, number: int | None = None) -> Fraction:
    """Return the edge of the text, commission included, per unit staked.

    ``number`` is the one the bet is placed on, None on the line and in the come box.
    """
    return 1 + commission_rate(bet, number) - value_at_craps(Readings(ruleset), bet, number, 1)


def edge_at_roulette(readings: Readings, bet: str, ways: int) -> Fraction:
    """Return the edge of the text of a bet that wins on ``ways`` pockets; at a zero the player takes his half."""
    return 1 - value_at_roulette(readings._replace(payout_unit=None), bet, ways, 1)


def edge_of_a_simple_chance(readings: Readings, answer: Literal["half", "prison"]) -> Fraction:
    """Return the edge on a player who makes the same choice at every zero.

    A stake that stays in prison after k zeros has the value V(k) = w·released(k) + z·V(k + 1), with w and z the chances
    of its pockets and of the zeros. What is released changes by the same factor at each zero: V(k + 1) = factor · V(k).
    """
    exact = readings._replace(payout_unit=None)
    layout = layout_of(readings.ruleset)
    pockets, ways = len(layout.wheel), len(SIMPLE_CHANCES["rouge"])
    half = edge_at_roulette(exact, "rouge", ways)
    if answer == "half" or readings.zero_rule != "choice":
        return half
    zero = chance(len(layout.zeros), pockets)
    released = release(exact, 1, 1)
    factor = release(exact, 1, 2) / released
    always = chance(ways, pockets) * released / (1 - zero * factor)
    return half - zero * (always - refund(exact, 1, 1))


class Priced(NamedTuple):
    """One bet as it can be placed: ``number`` at craps, the count of its ``pockets`` at roulette."""

    bet: str
    number: int | None = None
    pockets: int | None = None


def edges(readings: Readings) -> Mapping[Priced, Fraction]:
    """Return the edge of the text of every bet of a ruleset, in the order of the law."""
    ruleset = readings.ruleset
    if RULESETS[ruleset].layout is None:
        return {priced: edge_at_craps(ruleset, priced.bet, priced.number) for priced in _bets_of_craps(ruleset)}
    return {
        priced: edge_at_roulette(readings, priced.bet, priced.pockets or 0) for priced in _bets_of_roulette(ruleset)
    }


def _bets_of_craps(ruleset: str) -> Iterator[Priced]:
    for bet in RULESETS[ruleset].kinds:
        for number in numbers_of(bet):
            yield Priced(bet, number)


def numbers_of(bet: str) -> tuple[int | None, ...]:
    """Return the numbers that a craps bet can be placed on; (None,) for a bet that names no number."""
    match bet:
        case "big_6":
            return (6,)
        case "big_8":
            return (8,)
        case "hardway":
            return tuple(HARDWAY)
        case "win" | "dont_win" | "come" | "dont_come":
            return (None,)
    return (None,) if bet in ONE_ROLL else POINT_NUMBERS


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
