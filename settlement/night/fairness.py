"""The e-process: are dice and wheel fair? Tests that keep their level although one looks after every draw.

A fixed-sample test that is repeated every night raises a false alarm in the end, with certainty. An *e-process* does
not: it is the wealth of a gambler who bets against the hypothesis at fair odds, starting with 1. While the draws are
fair, wealth is a non-negative martingale, so by Ville's inequality the probability that it *ever* reaches 1/α is at
most α (J. Ville, *Étude critique de la notion de collectif*, 1939; G. Shafer, J. R. Statist. Soc. A 184, 2021; A.
Ramdas et al., *Game-theoretic statistics and safe anytime-valid inference*, Statist. Sci. 38, 2023).

    wealth after a draw = wealth before × q(result) / p(result)

p is the fair probability; q is the predictive one, from the draws so far under a Dirichlet prior around fair:
(count + prior) / (draws + sum of the priors). A strong prior finds a slight bias sooner, a weak one a gross bias. Which
there is is unknown, so wealth is split over several priors and added up, which is a martingale as well.

    dice     each die by its name, or by its position in the throw if the dice are not named: six faces
    wheel    pockets: 37 or 38 cells, for a pocket that is loose or has worn frets
             arcs: six ranges of neighbouring pockets, starting at four offsets, for a wheel that is out of level

A die that joins later has its share set aside from the start: 1/(j·(j+1)) for the j-th, which add up to 1.

Everything is an integer: wealth is in units of 2⁻⁵¹², rounded down at every step. Rounding makes wealth smaller, never
larger, so the level holds exactly as stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from settlement.layouts import Layout

UNIT = 2**512
"""Wealth 1, as an integer."""

FACES = 6
ARCS = 6
CUTS = 4
"""How many ways the wheel is cut into arcs, each a quarter of an arc further on."""

DICE_PRIORS = (1, 6, 36)
"""The prior of each face, one per bettor: the larger, the nearer to fair."""

POCKET_PRIORS = (2, 20)
ARC_PRIORS = (1, 5)
"""The same for a pocket alone, and for each pocket of an arc."""


class Bettor:
    """One gambler against one fair hypothesis: that cell i has a probability of ``sizes[i]`` of their sum.

    ``wealth`` is in 1/``UNIT``; ``counts`` is how often each cell came.
    """

    __slots__ = ("counts", "draws", "prior", "sizes", "total", "wealth")

    def __init__(self, sizes: Sequence[int], prior: int) -> None:
        self.sizes = tuple(sizes)
        self.total = sum(sizes)
        self.prior = prior
        self.counts = [0] * len(self.sizes)
        self.draws = 0
        self.wealth = UNIT

    def draw(self, cell: int) -> None:
        """Settle the bets on a draw of ``cell``, and learn from it."""
        size = self.sizes[cell]
        expected = self.counts[cell] + self.prior * size
        self.wealth = self.wealth * expected * self.total // ((self.draws + self.prior * self.total) * size)
        self.counts[cell] += 1
        self.draws += 1


class Die:
    """The bettors against one die."""

    __slots__ = ("bettors",)

    def __init__(self) -> None:
        self.bettors = [Bettor([1] * FACES, prior) for prior in DICE_PRIORS]

    @property
    def wealth(self) -> int:
        return sum(bettor.wealth for bettor in self.bettors) // len(self.bettors)


class Fairness:
    """The evidence so far against the fairness of a table's dice or of its wheel.

    ``evidence`` is the wealth now, an e-value, and ``peak`` the largest it ever was, both in 1/``UNIT``; ``draws`` is
    the number of throws or spins.
    """

    __slots__ = ("draws", "peak")

    def __init__(self) -> None:
        self.draws = 0
        self.peak = UNIT

    @property
    def evidence(self) -> int:
        raise NotImplementedError

    @property
    def p_value(self) -> Fraction:
        """The anytime-valid p-value, 1 / peak: under fairness the probability that it is ever ≤ α is at most α."""
        return Fraction(UNIT, self.peak)

    def alarms(self, alpha: Fraction) -> bool:
        """Whether wealth has ever reached 1/``alpha``: whether the test asks its question."""
        return self.peak * alpha.numerator >= UNIT * alpha.denominator

    def _count_draw(self) -> None:
        self.draws += 1
        self.peak = max(self.peak, self.evidence)


class DiceFairness(Fairness):
    """Evidence against the dice of one table."""

    __slots__ = ("dice",)

    def __init__(self) -> None:
        super().__init__()
        self.dice: dict[str, Die] = {}

    @property
    def evidence(self) -> int:
        shares = sum(die.wealth // (rank * (rank + 1)) for rank, die in enumerate(self.dice.values(), start=1))
        return shares + UNIT // (len(self.dice) + 1)  # the second term is set aside for dice that join later

    def throw(self, faces: Sequence[int], names: Sequence[str] = ()) -> None:
        """Count a throw. ``names`` are the dice in the order of ``faces``.

        If they do not name each die, the position in the throw does.
        """
        assert all(1 <= face <= FACES for face in faces)
        is_named = len(names) == len(faces) == len(set(names))
        for name, face in zip(names if is_named else [f"#{index}" for index in range(len(faces))], faces, strict=True):
            die = self.dice.setdefault(name, Die())
            for bettor in die.bettors:
                bettor.draw(face - 1)
        self._count_draw()


class WheelFairness(Fairness):
    """Evidence against the wheel of one table: loose pockets, and a wheel out of level."""

    __slots__ = ("arcs", "cells", "index_of", "pockets")

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        size = len(layout.wheel)
        self.index_of = {pocket: index for index, pocket in enumerate(layout.wheel)}
        self.pockets = [Bettor([1] * size, prior) for prior in POCKET_PRIORS]
        self.cells = [_cells(size, cut) for cut in range(CUTS)]
        self.arcs = [
            [Bettor([cells.count(arc) for arc in range(ARCS)], prior) for prior in ARC_PRIORS] for cells in self.cells
        ]

    @property
    def evidence(self) -> int:
        by_pocket = sum(bettor.wealth for bettor in self.pockets) // len(self.pockets)
        by_arc = sum(bettor.wealth for bettors in self.arcs for bettor in bettors) // (CUTS * len(ARC_PRIORS))
        return (by_pocket + by_arc) // 2

    def spin(self, pocket: str) -> None:
        """Count a spin; the ball came to rest in ``pocket``."""
        index = self.index_of[pocket]
        for bettor in self.pockets:
            bettor.draw(index)
        for cells, bettors in zip(self.cells, self.arcs, strict=True):
            for bettor in bettors:
                bettor.draw(cells[index])
        self._count_draw()


def _cells(size: int, cut: int) -> list[int]:
    """Return the arc of each pocket, by index; the first arc starts ``cut`` quarters of an arc after index 0."""
    shift = cut * size // (ARCS * CUTS)
    return [(index - shift) % size * ARCS // size for index in range(size)]


def saved(fairness: Fairness) -> list[Any]:
    """Return all that a test has found so far, as plain data that ``restore`` takes; wealth in hexadecimal digits."""
    if isinstance(fairness, WheelFairness):
        parts = {"": [*fairness.pockets, *(bettor for bettors in fairness.arcs for bettor in bettors)]}
    else:
        assert isinstance(fairness, DiceFairness)
        parts = {name: die.bettors for name, die in fairness.dice.items()}
    bettors = [[name, [[f"{each.wealth:x}", each.counts] for each in part]] for name, part in parts.items()]
    return [fairness.draws, f"{fairness.peak:x}", bettors]


def restore(fairness: Fairness, found: Sequence[Any]) -> None:
    """Give a new test what an earlier one had found, by ``saved``."""
    fairness.draws, fairness.peak = found[0], int(found[1], 16)
    for name, part in found[2]:
        if isinstance(fairness, WheelFairness):
            bettors = [*fairness.pockets, *(bettor for bettors in fairness.arcs for bettor in bettors)]
        else:
            assert isinstance(fairness, DiceFairness)
            bettors = fairness.dice.setdefault(name, Die()).bettors
        for bettor, (wealth, counts) in zip(bettors, part, strict=True):
            bettor.wealth, bettor.counts, bettor.draws = int(wealth, 16), list(counts), sum(counts)


def summary(fairness: Fairness, alpha: Fraction) -> dict[str, Any]:
    """Return a test as a report has it: draws, p-value in millionths, rounded up, and whether it asks its question."""
    millionths = -(-(10**6) * UNIT // fairness.peak)
    return {"draws": fairness.draws, "p_millionths": millionths, "asks": fairness.alarms(alpha), "alpha": str(alpha)}
