"""Are dice and wheel fair? Tests that may be looked at after every draw, and still keep their level.

A fixed-sample test that is repeated every night raises a false alarm in the end, with certainty. An *e-process* does
not: it is the wealth of a gambler who stakes against the hypothesis at fair odds, starting with 1. While the draws are
fair, wealth is a non-negative martingale, so by Ville's inequality the chance that it *ever* reaches 1/α is at most α
(J. Ville, *Étude critique de la notion de collectif*, 1939; G. Shafer, J. R. Statist. Soc. A 184, 2021; A. Ramdas et
al., *Game-theoretic statistics and safe anytime-valid inference*, Statist. Sci. 38, 2023).

    wealth after a draw = wealth before × q(what came) / p(what came)

p is the fair chance; q is what the draws so far let one expect, smoothed: (count + prior) / (draws + all priors), the
predictive chance under a Dirichlet prior around fair. A strong prior finds a slight bias, a weak one a gross bias; no
one knows which there is, so wealth is split over several and added up, which is a martingale as well.

    dice     each die that is named by itself, or each of the two places where none is named: six faces
    wheel    pockets: 37 or 38 cells, for a pocket that is loose or has worn frets
             arcs: six stretches of neighbouring pockets, cut at four places, for a wheel that is out of level

A die that joins later has its share set aside from the start: 1/(j·(j+1)) for the j-th, which add up to 1.

Everything is an integer: wealth is kept in units of 2⁻⁵¹², rounded down at every step. What rounding takes away makes
wealth smaller, never larger, so the level holds exactly as stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from settlement.layouts import Layout

UNIT = 2**512
"""One unit of wealth, as it is kept."""

FACES = 6
ARCS = 6
CUTS = 4
"""How often the wheel is cut into arcs, each time a quarter of an arc further on."""

DICE_PRIORS = (1, 6, 36)
"""What each face is given before the first throw; the larger, the nearer to fair."""

POCKET_PRIORS = (2, 20)
ARC_PRIORS = (1, 5)
"""The same for each pocket, alone and as a part of an arc."""


class Bettor:
    """One gambler against one fair hypothesis: cells that come with ``sizes`` chances of their sum.

    ``wealth`` is in 1/``UNIT``; ``counts`` how often each cell came.
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
        """Settle the stakes on ``cell``, which came, and learn from it."""
        size = self.sizes[cell]
        expected = self.counts[cell] + self.prior * size
        self.wealth = self.wealth * expected * self.total // ((self.draws + self.prior * self.total) * size)
        self.counts[cell] += 1
        self.draws += 1


class Die:
    """The wealth staked against one die."""

    __slots__ = ("bettors",)

    def __init__(self) -> None:
        self.bettors = [Bettor([1] * FACES, prior) for prior in DICE_PRIORS]

    @property
    def wealth(self) -> int:
        return sum(bettor.wealth for bettor in self.bettors) // len(self.bettors)


class Fairness:
    """The evidence against fairness so far, of the dice of a table or of its wheel.

    ``evidence`` is the wealth now, ``peak`` the largest it ever was, both 1/``UNIT``; ``draws`` the throws or spins.
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
        """The anytime-valid p-value: 1 over the peak. Under fairness it is ever below α with a chance of at most α."""
        return Fraction(UNIT, self.peak)

    def alarms(self, alpha: Fraction) -> bool:
        """Whether wealth has ever reached 1/``alpha``."""
        return self.peak * alpha.numerator >= UNIT * alpha.denominator

    def _settle(self) -> None:
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
        known = len(self.dice)
        shares = sum(die.wealth // (place * (place + 1)) for place, die in enumerate(self.dice.values(), start=1))
        return shares + UNIT // (known + 1)  # what is set aside for dice that are still to come

    def throw(self, faces: Sequence[int], names: Sequence[str] = ()) -> None:
        """Note a throw. ``names`` are the dice in the order of ``faces``; without them a place stands for a die."""
        assert all(1 <= face <= FACES for face in faces)
        called = names if len(names) == len(faces) == len(set(names)) else [f"#{at}" for at in range(len(faces))]
        for name, face in zip(called, faces, strict=True):
            die = self.dice.setdefault(name, Die())
            for bettor in die.bettors:
                bettor.draw(face - 1)
        self._settle()


class WheelFairness(Fairness):
    """Evidence against the wheel of one table: loose pockets, and a wheel out of level."""

    __slots__ = ("arcs", "cells", "places", "pockets")

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        size = len(layout.wheel)
        self.places = {pocket: place for place, pocket in enumerate(layout.wheel)}
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
        """Note where the ball came to rest."""
        place = self.places[pocket]
        for bettor in self.pockets:
            bettor.draw(place)
        for cells, bettors in zip(self.cells, self.arcs, strict=True):
            for bettor in bettors:
                bettor.draw(cells[place])
        self._settle()


def _cells(size: int, cut: int) -> list[int]:
    """Return the arc of each place of a wheel, which is first cut ``cut`` quarters of an arc after place 0."""
    shift = cut * size // (ARCS * CUTS)
    return [(place - shift) % size * ARCS // size for place in range(size)]


def summary(fairness: Fairness, alpha: Fraction) -> dict[str, Any]:
    """Return what a report says of a test: draws, p-value ``n/d`` rounded up to the millionth, and whether it asks."""
    millionths = -(-(10**6) * UNIT // fairness.peak)
    return {"draws": fairness.draws, "p_millionths": millionths, "asks": fairness.alarms(alpha), "alpha": str(alpha)}
