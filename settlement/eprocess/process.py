"""A process: the wealth of one mixture of gamblers against one null about one subject, for ever.

Wealth is in 2⁻¹²⁸. It begins as cash; before each batch a part of the cash, fixed in advance, is divided among the
gamblers by the weights of the mixture. One half of a year's first cash goes early, the other in equal parts:

    batch              1     2      3      4     …   s
    of the first half  7/8   1/24   1/48   1/80      1/(4s(s + 1))
    of the second      1/S at each, until none is left; S is how many batches a year has, 365 or what a mixture says

So the mixture is also one over the time from which the null is wrong, as an e-detector is (J. Shin, A. Ramdas and
A. Rinaldo, 2022). A gambler whose wealth is spent over fair years comes in again, and what was never staked keeps
wealth above 0. A year begins the schedule anew, not the wealth.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

from settlement.eprocess.bets import Bets

UNIT = 1 << 128
"""Wealth 1, as an integer."""

GAMING_DAYS = 365
"""Batches of a year: one a gaming day."""

EVENINGS = 100
"""Batches of a year about a guest: he does not come every night."""


def cash_left(batches: int, of_year: int) -> Fraction:
    """Return which part of a year's first cash is left after so many batches, of ``of_year``."""
    early = Fraction(1, 4 * (batches + 1)) if batches else Fraction(1)
    evenly = Fraction(max(0, of_year - batches), of_year)
    return (early + evenly) / 2


@cache
def part_staked(batch: int, of_year: int) -> Fraction:
    """Return which part of the cash is staked before the batch of number ``batch``, from 1, of a year."""
    return 1 - cash_left(batch, of_year) / cash_left(batch - 1, of_year)


@lru_cache(1 << 12)
def _terms(alpha: str) -> tuple[int, int]:
    """Return the numerator and the denominator of a level."""
    return Fraction(alpha).as_integer_ratio()


class Family(NamedTuple):
    """Bets of one kind, the channel of a batch that they see, and their weight; each gambler has an equal share."""

    channel: str
    weight: int
    bets: Bets


class Mixture:
    """Families of gamblers, who share the wealth of a process by their weights.

    ``shares`` are those of the gamblers in turn, in 2⁻¹²⁸, rounded down: together at most 1. ``batches_of_year`` is
    over how many batches the second half of a year's cash is spread.
    """

    __slots__ = ("batches_of_year", "families", "memory_cells", "shares")

    def __init__(self, *families: Family, batches_of_year: int = GAMING_DAYS) -> None:
        self.families = families
        self.batches_of_year = batches_of_year
        whole = sum(family.weight for family in families)
        self.shares = [
            UNIT * family.weight // (whole * family.bets.bettors)
            for family in families
            for _ in range(family.bets.bettors)
        ]
        self.memory_cells = [family.bets.memory_cells for family in families]


class Crossing(Struct, frozen=True, array_like=True):
    """When a process first asked in a year: at level ``alpha``, after ``draws`` in all, at the close of ``session``.

    ``evidence`` is the wealth since the year began, rounded down.
    """

    year: int
    alpha: str
    session: str
    draws: int
    evidence: int


class Process(Struct):
    """The state of a process. It can be saved after any batch, and goes on where it was.

    ``kind`` and ``variant`` name the mixture (``kinds``), ``subject`` what it is about. ``cash`` and ``wealth``, one
    for each gambler, are in 2⁻¹²⁸, as are ``highest``, the most that all of it ever was after a batch, and those of
    the year: ``opening`` when it began, ``year_highest`` since. ``batches`` are those of the year, ``draws`` all.
    ``alpha`` is the level of the year, "n/d", and ``crossings`` when it asked.
    """

    kind: str
    subject: str
    variant: int = 0
    cash: int = UNIT
    wealth: list[int] = []
    memory: list[list[int]] = []
    batches: int = 0
    draws: int = 0
    highest: int = UNIT
    year: int = 0
    opening: int = UNIT
    year_highest: int = UNIT
    alpha: str = ""
    crossings: list[Crossing] = []

    @property
    def evidence(self) -> int:
        """The wealth now, in 2⁻¹²⁸."""
        return self.cash + sum(self.wealth)

    @property
    def e_value(self) -> Fraction:
        """The wealth now over that when the year began: an e-value at any time fixed without looking ahead."""
        return Fraction(self.evidence, self.opening)

    def begin_year(self, year: int, alpha: Fraction) -> None:
        """Begin a year at the level ``alpha``. Nothing is forgotten; the level is for the wealth from here on."""
        self.year, self.alpha = year, str(alpha)
        self.opening = self.year_highest = self.evidence
        self.batches = 0

    def asks(self) -> bool:
        """Whether wealth has reached 1/α since the year began, whatever it is now."""
        return any(crossing.year == self.year for crossing in self.crossings)

    def feed(self, mixture: Mixture, seen: Mapping[str, Any], *, draws: int, session: str) -> Crossing | None:
        """Settle a batch: what was seen by channel, and how many ``draws`` that is. Return the question it raises.

        A channel that is missing saw nothing.
        """
        if not self.wealth:
            self.wealth = [0] * len(mixture.shares)
            self.memory = [[0] * cells for cells in mixture.memory_cells]
        self._stake(mixture)
        first = 0
        for family, memory in zip(mixture.families, self.memory, strict=True):
            last = first + family.bets.bettors
            if family.channel in seen:
                self.wealth[first:last] = family.bets.settle(self.wealth[first:last], memory, seen[family.channel])
            first = last
        self.draws += draws
        evidence = self.evidence
        self.highest = max(self.highest, evidence)
        self.year_highest = max(self.year_highest, evidence)
        return self._cross(evidence, session)

    def _stake(self, mixture: Mixture) -> None:
        self.batches += 1
        part = part_staked(self.batches, mixture.batches_of_year)
        staked = self.cash * part.numerator // part.denominator
        first = 0
        for family in mixture.families:  # whose gamblers have equal shares
            last = first + family.bets.bettors
            given = staked * mixture.shares[first] >> 128
            self.wealth[first:last] = [before + given for before in self.wealth[first:last]]
            self.cash -= given * (last - first)
            first = last

    def _cross(self, evidence: int, session: str) -> Crossing | None:
        if not self.alpha or self.asks():
            return None
        numerator, denominator = _terms(self.alpha)
        if evidence * numerator < self.opening * denominator:
            return None
        crossing = Crossing(self.year, self.alpha, session, self.draws, evidence // self.opening)
        self.crossings = [*self.crossings, crossing]
        return crossing
