"""The mixtures: which gamblers bet on which alternative, with which part of the wealth.

A weight is what a family has of its mixture; its gamblers share it equally. The smaller the weight of the gambler who
is right, the later he is heard: wealth 1,000 of a process is 1,000 / weight of his own. So there are few gamblers where
the alternative is gross and found anyway, and most of the wealth is where it is slight.
"""

from __future__ import annotations

from functools import cache

from settlement.eprocess.bets import (
    EVENS,
    Bets,
    CellBets,
    DriftBets,
    Learner,
    LesserBets,
    LinearBets,
    Moved,
    OddsRatioBets,
    PairLearner,
    aimed_arc,
    lifted_arc,
    staked_cells,
)
from settlement.eprocess.circle import sinusoid
from settlement.eprocess.process import EVENINGS, Family, Mixture
from settlement.eprocess.turns import PAIRS, DrawnBets

WIDTHS = (1, 3, 5, 9, 12, 18)
"""Pockets of an arc."""

LIFTS = (5, 10, 20, 40)
"""By how many per cent the pockets of an arc come more often."""

LIFT_WEIGHTS = {5: 1, 10: 2, 20: 2, 40: 1}

AIMS = (5, 10, 20, 40)
"""What part of all spins, in per cent, a croupier aims at an arc."""

AMPLITUDES = (5, 10, 20)
PHASES = range(12)
"""Of the sinusoid, in twelfths of a turn."""

ARCS = 6
CUTS = 4
"""The arcs of the learners, and how many ways the wheel is cut into them, each a quarter of an arc further on."""

FACES = (1, 1, 1, 1, 1, 1)
LOADS = (3, 6, 12, 25, 50)
"""By how many per cent a face of a loaded die comes more often, at the cost of the opposite one or of all others."""

EVENS_PERCENT = EVENS // 100
"""Odds of one per cent, rounded down."""

TOTALS = tuple(6 - abs(total - 7) for total in range(2, 13))
STAKES = (5, 10, 20, 40, 80)
"""Parts of the wealth that a gambler on dice stakes, in per cent."""

HALVINGS = (2, 3, 4, 5, 6, 7)


def arcs_of(cells: int, cut: int) -> tuple[int, ...]:
    """Return the arc of each pocket, by index; the first arc starts ``cut`` quarters of an arc after index 0."""
    shift = cut * cells // (ARCS * CUTS)
    return tuple((index - shift) % cells * ARCS // cells for index in range(cells))


def _learners(cells: int) -> list[tuple[int, Bets]]:
    pockets: list[tuple[int, Bets]] = [(3, Learner(tuple(range(cells)), (1,) * cells, prior)) for prior in (2, 20, 100)]
    for cut in range(CUTS):
        arcs = arcs_of(cells, cut)
        sizes = tuple(arcs.count(arc) for arc in range(ARCS))
        pockets += [(1, Learner(arcs, sizes, prior)) for prior in (1, 5)]
    return pockets


def _widths(cells: int, widths: tuple[int, ...] = WIDTHS) -> list[int]:
    """Return the widths that leave something of the wheel outside of the arc: that of la boule has nine pockets."""
    return [width for width in widths if width < cells]


@cache
def wheel(cells: int) -> Mixture:
    """Return the mixture against a wheel of ``cells`` even and independent pockets.

    Half of it bets on arcs that come more often, a quarter on a sinusoid, a quarter learns.
    """
    tilts = [
        Family("pocket", 17 * LIFT_WEIGHTS[lift], lifted_arc(cells, width, lift))
        for width in _widths(cells)
        for lift in LIFTS
    ]
    rows = [
        Family("pocket", 102, CellBets((1,) * cells, tuple(sinusoid(cells, phase, 12, size) for phase in PHASES)))
        for size in AMPLITUDES
    ]
    learners = [Family("pocket", 15 * weight, bets) for weight, bets in _learners(cells)]
    return Mixture(*tilts, *rows, *learners)


@cache
def displacement(cells: int) -> Mixture:
    """Return the mixture against displacements from the last pocket that are not even."""
    return Mixture(
        *(Family("displacement", 1, aimed_arc(cells, width, aim)) for width in _widths(cells) for aim in AIMS),
        Family("displacement", 2, Learner(tuple(range(cells)), (1,) * cells, 5)),
    )


@cache
def displacement_of_croupier(cells: int) -> Mixture:
    """Return the mixture against a croupier's displacements that are not even.

    The last pocket again is left out: a spin that was recorded twice looks so, and says nothing of him.
    """
    others = cells - 1
    return Mixture(
        *(Family("displacement", 1, Moved(aimed_arc(others, width, aim))) for width in _widths(others) for aim in AIMS),
        Family("displacement", 2, Moved(Learner(tuple(range(others)), (1,) * others, 5))),
    )


@cache
def memory_of_wheel(cells: int) -> Mixture:
    """Return the mixture against a next pocket that depends on those one, two and three spins before it."""
    aimed = [
        Family(f"displacement-{lag}", 1, aimed_arc(cells, width, aim))
        for lag in (2, 3)
        for width in _widths(cells, (3, 9, 18))
        for aim in (5, 20)
    ]
    learned = [Family(f"pair-{lag}", 2, PairLearner(cells, prior)) for lag in (1, 2, 3) for prior in (5, 50)]
    return Mixture(*aimed, *learned)


def _loaded(percent: int) -> CellBets:
    """Return the bets that a face comes ``percent`` more often: at the cost of the opposite face, or of the others."""
    more = EVENS_PERCENT * (100 + percent)
    less = EVENS_PERCENT * (100 - percent)
    rows = []
    for face in range(6):
        row = [100 * EVENS_PERCENT] * 6
        row[face], row[5 - face] = more, less
        rows.append(tuple(row))
    return CellBets(FACES, tuple(rows))


def _favoured(percent: int) -> CellBets:
    rest = EVENS_PERCENT * (600 - 100 - percent) // 5
    more = EVENS_PERCENT * (100 + percent)
    return CellBets(FACES, tuple(tuple(more if each == face else rest for each in range(6)) for face in range(6)))


@cache
def die() -> Mixture:
    """Return the mixture against the faces of a die, or of all dice of a table."""
    return Mixture(
        *(Family("face", 4, _loaded(load)) for load in LOADS),
        *(Family("face", 1, _favoured(load)) for load in LOADS),
        *(Family("face", 1, Learner(tuple(range(6)), FACES, prior)) for prior in (1, 6, 36)),
    )


def _on(sizes: tuple[int, ...], *cells: int) -> CellBets:
    return CellBets(sizes, tuple(staked_cells(sizes, cells, stake) for stake in STAKES))


SEVEN = (6, 30)
DOUBLE = (6, 30)
SEQUENCES = {"after-double": (1, 1, 34), "after-seven": (2, 34), "after-other": (2, 2, 32)}
"""Ways of the throw after a double, after a seven, or after another: the same faces, the opposite ones, neither.

After a seven the opposite faces are the same.
"""


@cache
def dice_pair() -> Mixture:
    """Return the mixture against the dice of a set: faces, doubles, seven or not, totals, and what follows a throw.

    The faces have a third of it. Of one die by name they are in ``die``; here they stay with a set that moves.
    """
    return Mixture(
        *die().families,
        Family("double", 8, _on(DOUBLE, 0)),
        Family("double", 4, _on(DOUBLE, 1)),
        Family("seven", 8, _on(SEVEN, 0)),
        Family("seven", 8, CellBets(SEVEN, (*_on(SEVEN, 1).odds, staked_cells(SEVEN, (1,), 100)))),
        *(Family("total", 4, Learner(tuple(range(11)), TOTALS, prior)) for prior in (1, 5)),
        *(
            Family(channel, 4, _on(sizes, cell))
            for channel, sizes in SEQUENCES.items()
            for cell in range(len(sizes) - 1)
        ),
    )


def _thrown(channel: str, weight: int, bets: CellBets) -> Family:
    """Return bets on what a shooter throws, more than fair dice do and more than the others do with the same set."""
    return Family(channel, weight, LesserBets(bets, DrawnBets(bets)))


WAYS_OF_PAIRS = tuple(1 if first == second else 2 for first, second in PAIRS)


def _slid(percent: int) -> CellBets:
    """Return the bets that ``percent`` of the throws have one die with a face that was kept; one for each face."""
    rows = []
    for face in range(6):
        covered = [0 if face not in pair else 1 if pair[0] != pair[1] else 2 for pair in PAIRS]
        # With one die kept a pair that has its face comes in one way of six; else in two of 36, or in one if a double.
        kept = EVENS * (100 - percent) // 100
        gain = (0, EVENS * 3 * percent // 100, EVENS * 6 * percent // 100)
        rows.append(tuple(kept + gain[each] for each in covered))
    return CellBets(WAYS_OF_PAIRS, tuple(rows))


@cache
def shooter() -> Mixture:
    """Return the mixture against a shooter, a third each: sevens, faces of dice that are loaded, one die that is slid.

    A die that is slid keeps its face, and leaves sevens at one in six. Loaded dice are loaded for all who throw them.
    """
    return Mixture(
        _thrown("seven", 20, _on(SEVEN, 1)),
        _thrown("seven", 10, _on(SEVEN, 0)),
        *(_thrown("face", 6, _loaded(load)) for load in LOADS),
        *(_thrown("pair", 6, _slid(part)) for part in STAKES),
        batches_of_year=EVENINGS,
    )


@cache
def void_call(cells: int) -> Mixture:
    """Return the mixture against void throws that fall like any other, and would have paid like any other.

    Void spins, of a wheel of ``cells`` pockets, are looked at for what they would have paid alone.
    """
    luck = [Family("luck", 3, LinearBets(sign, (1, 2, 3, 4))) for sign in (1, -1)]
    if cells:
        return Mixture(*luck)
    return Mixture(
        Family("double", 1, _on(DOUBLE, 0)),
        Family("seven", 2, _on(SEVEN, 0)),
        Family("seven", 1, _on(SEVEN, 1)),
        Family("total", 1, Learner(tuple(range(11)), TOTALS, 1)),
        *luck,
    )


@cache
def table_luck() -> Mixture:
    """Return the mixture against the luck of the house at a table, either way."""
    return Mixture(*(Family("luck", 1, LinearBets(sign, (3, 4, 5, 6, 7, 8))) for sign in (1, -1)))


@cache
def player_luck() -> Mixture:
    """Return the mixture against the luck of a player; a player who is too lucky has three quarters of it."""
    families = Family("luck", 3, LinearBets(-1, HALVINGS)), Family("luck", 1, LinearBets(1, HALVINGS))
    return Mixture(*families, batches_of_year=EVENINGS)


@cache
def corrected_luck() -> Mixture:
    """Return the mixture against a player who wins by results that were corrected no more than by any other.

    A result is corrected for somebody so that he wins, each time: so the gamblers stake much, up to all they have.
    """
    return Mixture(Family("luck", 1, LinearBets(-1, (0, 1, 2, 3))), batches_of_year=EVENINGS)


TOO_LUCKY = LesserBets(LinearBets(-1, HALVINGS), LinearBets(-1, HALVINGS))
"""Bets that the house loses more than chance has it, and more than with the others who dealt."""


@cache
def pair_luck() -> Mixture:
    """Return the mixture against a player who wins no more with a croupier than with the others, or than by chance."""
    return Mixture(Family("luck", 1, TOO_LUCKY), batches_of_year=EVENINGS)


@cache
def croupier_luck() -> Mixture:
    """Return the mixture against a croupier at whose spins no more is won than at those of the others, or by chance.

    Late stakes have half of it, all stakes the other.
    """
    return Mixture(Family("late", 1, TOO_LUCKY), Family("luck", 1, TOO_LUCKY))


MORE_OFTEN = OddsRatioBets(((3, 2), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1)))
"""Bets that somebody has more of the marked coups than his part of all: up to what is done for one friend alone."""


@cache
def payout_lean() -> Mixture:
    """Return the mixture against a croupier's errors that lean as those of the others: by number, and by money."""
    more = ((3, 2), (2, 1), (4, 1), (8, 1))
    fewer = tuple((less, more_) for more_, less in more)
    return Mixture(
        Family("errors", 1, OddsRatioBets(more)),
        Family("errors", 1, OddsRatioBets(fewer)),
        *(Family("money", 1, LinearBets(sign, (1, 2, 3, 4))) for sign in (1, -1)),
    )


@cache
def payout_rate() -> Mixture:
    """Return the mixture against a croupier who errs as often as the others; only for more."""
    return Mixture(Family("payouts", 1, MORE_OFTEN))


@cache
def concentration() -> Mixture:
    """Return the mixture against findings of a rule that a croupier has no more often than the others."""
    return Mixture(Family("marks", 1, MORE_OFTEN))


@cache
def pair_concentration() -> Mixture:
    """Return the mixture against findings that a player has no more often with a croupier than with the others.

    Or that the croupier has no more often with the player than with the others: either is enough for an orderly pair.
    """
    return Mixture(Family("marks", 1, LesserBets(MORE_OFTEN, MORE_OFTEN)))


@cache
def croupier_voids() -> Mixture:
    """Return the mixture against coups called void no more often than by the others, that would have paid like any."""
    luck = [Family("luck", 1, LinearBets(sign, (1, 2, 3, 4))) for sign in (1, -1)]
    return Mixture(Family("calls", 2, MORE_OFTEN), *luck)


@cache
def pair_voids() -> Mixture:
    """Return the mixture against a player whose coups are called void no more often with a croupier than with others.

    Or no more often than the croupier's other coups; and on which the player would have lost no more than by chance.
    """
    often = Family("calls", 1, LesserBets(MORE_OFTEN, MORE_OFTEN))
    return Mixture(often, Family("luck", 1, LinearBets(1, (1, 2, 3, 4))))


USUAL_VARIANCE = 5_000
"""What an accounting variance is expected to be before any was seen, whatever its sign; in minor units."""


@cache
def drift() -> Mixture:
    """Return the mixture against accounting variances whose mean is 0, either way."""
    return Mixture(*(Family("variance", 1, DriftBets(sign, (0, 1, 2, 3, 4, 5), USUAL_VARIANCE)) for sign in (1, -1)))


@cache
def drift_of_person() -> Mixture:
    """Return the mixture against variances that are 0 on average, or as those of the same table without a person.

    Half of it bets on less than without him, whatever the amounts.
    """
    halvings = (0, 1, 2, 3, 4, 5)
    either = [DriftBets(sign, halvings, USUAL_VARIANCE) for sign in (1, -1)]
    amounts = [Family("variance", 1, LesserBets(bets, bets)) for bets in either]
    return Mixture(*amounts, Family("below", 2, LesserBets(MORE_OFTEN, MORE_OFTEN)))
