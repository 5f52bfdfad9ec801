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
from fractions import Fraction
from itertools import accumulate
from math import ceil, exp, floor, inf, lgamma, log, log1p
from typing import NamedTuple

from settlement.eprocess.confidence import PARTS, Interval

SOONER = 1 / 100
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
    by_chance = log(chance), log1p(-chance)
    times = [0, *accumulate(each.times for each in sessions)]
    draws = [0, *accumulate(each.draws for each in sessions)]
    starts = []
    mixed = -inf
    for start in range(len(sessions)):
        before = times[start] * by_chance[0] + (draws[start] - times[start]) * by_chance[1]
        since = _Since(times[-1] - times[start], draws[-1] - draws[start])
        starts.append((before, since))
        mixed = _log_sum(mixed, before + start * log1p(-SOONER) + log(SOONER) + since.mean)
    whole = times[-1] * by_chance[0] + (draws[-1] - times[-1]) * by_chance[1]
    mixed = _log_sum(mixed, whole + len(sessions) * log1p(-SOONER))
    least = mixed + log(alpha / chosen_of)
    best = max(range(len(starts)), key=lambda start: starts[start][0] + starts[start][1].most)
    found = [
        (start, since.between(least - before))
        for start, (before, since) in enumerate(starts)
        if before + since.most >= least
    ]
    low, high = min(shares[0] for _start, shares in found), max(shares[1] for _start, shares in found)
    interval = Interval(starts[best][1].share, Fraction(floor(low * PARTS), PARTS), Fraction(ceil(high * PARTS), PARTS))
    return Beginning(found[0][0], best, found[-1][0], interval)


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
    def mean(self) -> float:
        """The logarithm of the mean likelihood over every share."""
        return lgamma(self.times + 1) + lgamma(self.draws - self.times + 1) - lgamma(self.draws + 2)

    @property
    def most(self) -> float:
        """The logarithm of the largest likelihood of a share."""
        return self.likelihood(float(self.share))

    def likelihood(self, share: float) -> float:
        """Return the logarithm of the likelihood of a share."""
        rest = self.draws - self.times
        if (share <= 0 and self.times) or (share >= 1 and rest):
            return -inf
        return (self.times * log(share) if self.times else 0.0) + (rest * log1p(-share) if rest else 0.0)

    def between(self, least: float) -> tuple[float, float]:
        """Return between which shares the logarithm of the likelihood is ``least`` or more, slightly outward."""
        edges = []
        for end in (0.0, 1.0):
            inside, outside = float(self.share), end
            if self.likelihood(end) >= least:
                inside = outside
            while abs(outside - inside) > 1e-9:
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if self.likelihood(middle) >= least else (inside, middle)
            edges.append(outside)
        return edges[0], edges[1]


def _log_sum(first: float, second: float) -> float:
    high = max(first, second)
    return high + log1p(exp(min(first, second) - high))
