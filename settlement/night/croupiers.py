"""Payout errors by croupier: how often, compared with the others, and in whose favour.

Three questions, each with an exact answer, none an accusation:

    how often?        Clopper–Pearson: the rates under which as many errors, or as few, are no rarer than α/2 (C. J.
                      Clopper and E. S. Pearson, Biometrika 26, 1934). Keeps its level at any number of payouts.
    more than others? Fisher's exact test, one-sided: given the number of errors of all croupiers, how many of them fall
                      on this one's payouts if all err alike (R. A. Fisher, *Design of Experiments*, 1935).
    for one side?     The sign test: honest slips fall on either side like a coin.

Of many croupiers, some stand out by chance. ``noteworthy`` keeps the false discovery rate, the expected share of false
names among those it returns, at or below q (Y. Benjamini and Y. Hochberg, J. R. Statist. Soc. B 57, 1995). Fisher's
tests of one night share their total, so they are dependent; ``any_dependence`` divides q by 1 + ½ + ⅓ + …, which keeps
the rate whatever the dependence (Y. Benjamini and D. Yekutieli, Ann. Statist. 29, 2001).

p-values are exact fractions. Bounds of rates are rounded outward, to the millionth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import NamedTuple

MILLION = 1_000_000

EXACT_TRIALS = 1_000
"""Payouts up to which a tail is summed in integers; beyond, in decimals of 60 digits, ample for bounds of 6 digits."""

KEPT = 1 << 12
"""Answers that are kept: a month asks again for the same nights, and each takes some thousand long operations."""

_precise = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)


class Tally(NamedTuple):
    """One croupier's payouts, and how many of them were wrong in the house's and in the player's favour."""

    payouts: int
    for_house: int = 0
    for_player: int = 0

    @property
    def errors(self) -> int:
        return self.for_house + self.for_player


class Rate(NamedTuple):
    """An error rate and its confidence interval of level 1 − ``alpha``, both ends included."""

    rate: Fraction
    low: Fraction
    high: Fraction
    alpha: Fraction


def error_rate(tally: Tally, alpha: Fraction) -> Rate | None:
    """Return a croupier's error rate; None if he paid nothing."""
    if not tally.payouts:
        return None
    low, high = clopper_pearson(tally.errors, tally.payouts, alpha)
    return Rate(Fraction(tally.errors, tally.payouts), low, high, alpha)


@lru_cache(KEPT)
def clopper_pearson(errors: int, trials: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Return the bounds of the error rate at level 1 − ``alpha``, rounded outward to the millionth."""
    assert 0 <= errors <= trials
    assert 0 < alpha < 1
    if trials > EXACT_TRIALS:
        return _rounded_bounds(errors, trials, alpha)
    whole = int(MILLION**trials)

    def as_many_are_common(rate: int) -> bool:
        return 2 * (whole - _at_most(errors - 1, trials, rate)) * alpha.denominator >= alpha.numerator * whole

    def as_few_are_rare(rate: int) -> bool:
        return 2 * _at_most(errors, trials, rate) * alpha.denominator < alpha.numerator * whole

    low = _first_rate(as_many_are_common) - 1 if errors else 0
    high = _first_rate(as_few_are_rare) if errors < trials else MILLION
    return Fraction(max(0, low), MILLION), Fraction(high, MILLION)


def _rounded_bounds(errors: int, trials: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Return the bounds of ``clopper_pearson``, computed in decimals: for many trials."""
    half = _precise.divide(alpha.numerator, 2 * alpha.denominator)

    def as_many_are_common(rate: int) -> bool:
        return bool(1 - _share_at_most(errors - 1, trials, rate) >= half)

    def as_few_are_rare(rate: int) -> bool:
        return bool(_share_at_most(errors, trials, rate) < half)

    low = _first_rate(as_many_are_common) - 1 if errors else 0
    high = _first_rate(as_few_are_rare) if errors < trials else MILLION
    return Fraction(max(0, low), MILLION), Fraction(high, MILLION)


def _share_at_most(most: int, trials: int, rate: int) -> Decimal:
    """Return the probability of ``most`` events or fewer in ``trials``, each of probability ``rate`` millionths."""
    if 2 * most >= trials:
        return _precise.subtract(1, _share_at_most(trials - most - 1, trials, MILLION - rate))
    if most < 0 or rate == MILLION:
        return Decimal(0)
    term = total = _precise.power(_precise.divide(MILLION - rate, MILLION), trials)
    for events in range(most):
        term = _precise.divide(
            _precise.multiply(term, (trials - events) * rate), Decimal((events + 1) * (MILLION - rate))
        )
        total = _precise.add(total, term)
    return total


def _first_rate(holds: Callable[[int], bool]) -> int:
    """Return the first rate, in millionths, from which on ``holds``."""
    low, high = 0, MILLION
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _at_most(most: int, trials: int, rate: int) -> int:
    """Return the probability of ``_share_at_most`` times 10⁶ⁿ, n being ``trials``: an integer.

    Σ over k ≤ most of C(n, k) rᵏ (10⁶ − r)ⁿ⁻ᵏ; the shorter of the two tails is summed.
    """
    if 2 * most >= trials:
        return int(MILLION**trials) - _at_most(trials - most - 1, trials, MILLION - rate)
    other = MILLION - rate
    ways, total = 1, 0
    for events in range(most + 1):
        total = total * other + ways * rate**events
        ways = ways * (trials - events) // (events + 1)
    return total * int(other ** (trials - most))


@lru_cache(KEPT)
def more_than_others(tally: Tally, everybody: Tally) -> Fraction:
    """Return the p-value of Fisher's exact test: the probability of as many errors or more if all err alike.

    ``everybody`` is the total of all croupiers, this one included. 1 if he made no error.
    """
    others = everybody.payouts - tally.payouts
    errors = everybody.errors
    assert others >= 0
    assert errors >= tally.errors
    most = min(errors, tally.payouts)
    ways = sum(comb(tally.payouts, own) * comb(others, errors - own) for own in range(tally.errors, most + 1))
    return Fraction(ways, comb(everybody.payouts, errors))


def one_sidedness(tally: Tally) -> Fraction:
    """Return the p-value of the sign test, two-sided: the probability that fair slips are as uneven, or more so.

    `payout-errors-one-sided` is raised if it is below its level. 1 if there are no errors.
    """
    errors = tally.errors
    larger = max(tally.for_house, tally.for_player)
    ways = sum(comb(errors, on_one_side) for on_one_side in range(larger, errors + 1))
    return min(Fraction(1), Fraction(2 * ways, 2**errors))


def noteworthy(p_values: Mapping[str, Fraction], q: Fraction, *, any_dependence: bool = False) -> list[str]:
    """Return the names whose p-values stand out, smallest first, with a false discovery rate of at most ``q``.

    Benjamini and Hochberg: all names up to the last whose p-value is at most its rank × q / the number of names.
    """
    tests = len(p_values)
    if any_dependence:
        q /= sum((Fraction(1, rank) for rank in range(1, tests + 1)), Fraction(0)) or 1
    ranked = sorted(p_values, key=lambda name: (p_values[name], name))
    last = 0
    for rank, name in enumerate(ranked, start=1):
        if p_values[name] * tests <= rank * q:
            last = rank
    return ranked[:last]


class Assessment(NamedTuple):
    """One croupier's rate and p-values: ``p_errors`` of Fisher's test, ``p_side`` of the sign test."""

    tally: Tally
    rate: Rate
    p_errors: Fraction
    p_side: Fraction
    noteworthy: bool


def compare(tallies: Mapping[str, Tally], *, alpha: Fraction, q: Fraction) -> dict[str, Assessment]:
    """Return the assessment of every croupier who paid something, by name.

    The intervals have the level 1 − ``alpha``. ``noteworthy`` is whoever stands out by the rate of the errors or by
    their side: both tests together have the false discovery rate ``q``. Fisher's tests share their totals, so it holds
    under any dependence.
    """
    paying = {name: tally for name, tally in tallies.items() if tally.payouts}
    everybody = Tally(*(sum(counts) for counts in zip(*paying.values(), strict=True))) if paying else Tally(0)
    p_errors = {name: more_than_others(tally, everybody) for name, tally in paying.items()}
    p_side = {name: one_sidedness(tally) for name, tally in paying.items()}
    p_values = {f"errors/{name}": p for name, p in p_errors.items()} | {f"side/{name}": p for name, p in p_side.items()}
    standing_out = {key.partition("/")[2] for key in noteworthy(p_values, q, any_dependence=True)}
    assessments = {}
    for name, tally in sorted(paying.items()):
        rate = error_rate(tally, alpha)
        assert rate is not None
        assessments[name] = Assessment(tally, rate, p_errors[name], p_side[name], name in standing_out)
    return assessments
