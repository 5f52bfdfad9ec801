"""Since when something comes more often or more rarely, and how often it has come since then.

    sessions 0 … t − 1: as chance has it      t … n: with one share p, always the same      L(t, p): how likely that is
    E(t, p) = M / L(t, p),    M the mean of L(r, q) over every session r, by weights, and every share q, evenly

M is what gamblers have of whom some begin at each session, as repeated confidence sequences do (S. Shekhar and
A. Ramdas, arXiv 2309.09111); a mean takes the place of their intersection, so that there is one level. Where t and p
are true, E(t, p) is a martingale from 1. So the pairs with E below 1/α have the true one with a probability of 1 − α,
whenever one looks: their t are the interval of the beginning, their p that of the share.

α is the level of the process. The levels of all processes of a year add up to the budget; so of all such intervals no
more than that are ever wrong, on average, and it does not matter that those are looked at that have asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from settlement.eprocess.confidence import PARTS, PRECISE, Interval, edge, log, log_factorial

SOONER = Fraction(1, 100)
"""The part of the gamblers who have not begun that begins at each session."""


class Counted(NamedTuple):
    """How often something came in a session, and in how many draws."""

    times: int
    draws: int


class Beginning(NamedTuple):
    """With which sessions it may have begun, by their index, the likeliest, and the share since then."""

    first: int
    best: int
    last: int
    share: Interval


def beginning_of(sessions: Sequence[Counted], chance: Fraction, alpha: Fraction, *, chosen_of: int = 1) -> Beginning:
    """Return since when and how often something has come that chance gives ``chance`` of all draws.

    ``sessions``, at least one, end with the one that asked: afterwards somebody may have acted. ``chosen_of`` is among
    how many things this one was chosen by its counts.
    """
    times = [0, *accumulate(each.times for each in sessions)]
    draws = [0, *accumulate(each.draws for each in sessions)]
    waited = log(1 - SOONER)
    starts = []
    mixed = _plus(_likelihood(times[-1], draws[-1], chance), len(sessions) * waited)
    for start in range(len(sessions)):
        before = _likelihood(times[start], draws[start], chance)
        since = _Since(times[-1] - times[start], draws[-1] - draws[start])
        starts.append((before, since))
        mixed = _log_sum(mixed, _plus(before, start * waited, log(SOONER), since.mean))
    least = _plus(mixed, log(alpha / chosen_of))
    most = [_plus(before, since.most) for before, since in starts]
    found = [start for start, log_most in enumerate(most) if log_most >= least]
    best = max(range(len(starts)), key=most.__getitem__)
    edges = [starts[start][1].between(least - starts[start][0]) for start in found]
    low, high = min(low for low, _high in edges), max(high for _low, high in edges)
    interval = Interval(starts[best][1].share, Fraction(low, PARTS), Fraction(high, PARTS))
    return Beginning(found[0], best, found[-1], interval)


def best_of(evidence: Sequence[float]) -> int:
    """Return with which session a process has likeliest begun to grow, by the logarithms of its ``evidence``.

    That after its least, up to its highest: for processes that count nothing.
    """
    top = max(range(len(evidence)), key=evidence.__getitem__)
    least = min(range(top + 1), key=lambda index: (evidence[index], -index))
    return 0 if least == top or evidence[least] > 0 else least + 1


class _Since(NamedTuple):
    """What was counted from a session on."""

    times: int
    draws: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.times, self.draws) if self.draws else Fraction(0)

    @property
    def mean(self) -> Decimal:
        """The logarithm of the mean likelihood over every share."""
        ways = _plus(log_factorial(self.times), log_factorial(self.draws - self.times))
        return PRECISE.subtract(ways, log_factorial(self.draws + 1))

    @property
    def most(self) -> Decimal:
        """The logarithm of the largest likelihood of a share."""
        return _likelihood(self.times, self.draws, self.share)

    def between(self, least: Decimal) -> tuple[int, int]:
        """Return between which parts the logarithm of the likelihood is ``least`` or more, rounded outward."""

        def is_possible(part: int) -> bool:
            return _likelihood(self.times, self.draws, Fraction(part, PARTS)) >= least

        middle = int(self.share * PARTS)
        return edge(middle, 0, is_possible), edge(min(PARTS, middle + 1), PARTS, is_possible)


_log_once = lru_cache(2 * PARTS)(log)
"""The logarithm of a share, which many sessions ask for."""


def _likelihood(times: int, draws: int, share: Fraction) -> Decimal:
    """Return the logarithm of the likelihood of a share."""
    rest = draws - times
    if (not share and times) or (share == 1 and rest):
        return Decimal("-Infinity")
    came = PRECISE.multiply(times, _log_once(share)) if times else Decimal(0)
    return _plus(came, PRECISE.multiply(rest, _log_once(1 - share)) if rest else Decimal(0))


def _plus(*logs: Decimal) -> Decimal:
    total = Decimal(0)
    for each in logs:
        total = PRECISE.add(total, each)
    return total


def _log_sum(first: Decimal, second: Decimal) -> Decimal:
    high = max(first, second)
    less = PRECISE.exp(PRECISE.subtract(min(first, second), high))
    return PRECISE.add(high, PRECISE.ln(PRECISE.add(1, less)))
