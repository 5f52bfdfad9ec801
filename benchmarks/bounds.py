"""What the frauds of ``seasons_apart`` that nobody named show at most: ``python -m benchmarks.found_apart --bound``.

``oracle`` is the likelihood ratio, against honesty, of somebody who knows the fraud, the persons, the strength, the
sector or face, and how often honest people do the same: no casino knows that. ``best`` is the most that one gambler of
a process ever has who is chosen afterwards and has all from the first night of the fraud on: no shares in these
gamblers have more. ``level`` is what that process asks, 1/α. All three are natural logarithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import log
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.seasons_apart import Planted
from settlement.eprocess.channels import Fed
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Ledger, name_of
from settlement.eprocess.observations import Observation, Observations
from settlement.eprocess.process import UNIT

RATES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "overpaid_friend": (0.12, 0.0005),
        "overpaid_runners": (0.12, 0.0005),
        "overpaid_a_little": (0.4, 0.0005),
        "settled_friend": (0.03, 0.0001),
        "goodwill_friend": (0.03, 0.0001),
        "approving_inspector": (0.04, 0.0004),
        "corrected_friend": (0.06, 0.0008),
        "past_poster": (0.03, 0.0003),
        "past_poster_and_croupier": (0.05, 0.0003),
        "voided_spins": (0.2, 0.003),
        "voided_throws": (0.2, 0.008),
        "short_closer": (1.0, 0.02),
        "short_on_duty": (0.6, 0.02),
    }
)
"""How often an opportunity is taken at strength 1, and about how often it just happens, by the generator's text."""

SECTOR, EXCESS = 9, 0.075
SLID, SEVENS, LOADED = 0.12, 0.08, 0.11
EACH = 1 << 64
"""What a gambler begins with is 1, in 2⁻¹⁹²: so that nothing is lost by rounding while he loses."""


class Bound(NamedTuple):
    """The deeds of a fraud, or its throws or spins; and the logarithms. ``oracle`` is None where nobody knows it."""

    deeds: int
    oracle: float | None
    best: float
    level: float
    process: str

    def __str__(self) -> str:
        oracle = "unknown" if self.oracle is None else f"{self.oracle:.1f}"
        return f"{self.deeds} deeds; oracle {oracle}; best {self.best:.1f} of {self.level:.1f} ({self.process})"


def bound_of(
    fraud: Planted,
    deeds: int,
    ledger: Ledger,
    fed: Iterable[tuple[int, Fed]],
    evenings: Sequence[Sequence[Observations]],
) -> Bound:
    """Return what a fraud with so many ``deeds`` shows, of what the ledger was ``fed`` by night."""
    own = [session for evening in evenings[fraud.first : fraud.last + 1] for session in evening]
    nearest = best_of(ledger, fed, fraud)
    if fraud.fraud in RATES:
        rate, by_chance = RATES[fraud.fraud]
        return Bound(deeds, of_deeds(deeds, rate * fraud.strength / by_chance), *nearest)
    if fraud.fraud in ("dice_slider", "set_sevens", "switched_dice"):
        throws = [draw.result for session in own if session.cells == 0 for draw in session.drawn if is_by(draw, fraud)]
        oracle = max(sum(log(36 * chance_of(fraud, face, throw)) for throw in throws) for face in (0, 5))
        return Bound(len(throws), oracle, *nearest)
    if fraud.fraud in ("wheel_team", "steered_ball"):
        spins = list(spins_of(fraud, own))
        return Bound(len(spins), max(of_sector(fraud, spins, centre) for centre in range(37)), *nearest)
    return Bound(deeds, None, *nearest)


# The oracle


def of_deeds(deeds: int, ratio: float) -> float:
    """Return the logarithm of the likelihood ratio of so many deeds, ``ratio`` times as many as by chance."""
    return deeds * (log(ratio) - 1 + 1 / ratio)


def is_by(draw: Observation, fraud: Planted) -> bool:
    return draw.shooter in fraud.subject


def chance_of(fraud: Planted, face: int, throw: int) -> float:
    """Return how likely a throw is, whichever die shows which, with what the shooter does about a ``face`` from 0."""
    first, second = divmod(throw, 6)
    if fraud.fraud == "set_sevens":
        part = SEVENS * fraud.strength
        return (1 - part) / 36 + part / 6 * (first + second == 5)
    if fraud.fraud == "dice_slider":
        part = SLID * fraud.strength
        return (1 - part) / 36 + part / 12 * ((first == face) + (second == face))
    more = LOADED * fraud.strength
    one, other = (1 / 6 + more * ((each == face) - (each == 5 - face)) for each in (first, second))
    return one * other


def spins_of(fraud: Planted, sessions: Iterable[Observations]) -> Iterator[tuple[int, int]]:
    """Yield the pocket and how many there are, of spins on which a subject staked: at the wheel, or by the croupier."""
    subjects = set(fraud.subject)
    for session in sessions:
        for draw in session.drawn if session.cells > 0 else ():
            is_skewed = session.wheel in fraud.accomplices or draw.croupier in subjects
            if is_skewed and subjects & draw.players.keys():
                yield draw.result, session.cells


def of_sector(fraud: Planted, spins: Iterable[tuple[int, int]], centre: int) -> float:
    """Return the logarithm of the likelihood ratio of spins, if the sector around ``centre`` is favoured."""
    excess = EXCESS * fraud.strength
    total = 0.0
    for pocket, cells in spins:
        is_favoured = (pocket - centre + SECTOR // 2) % cells < SECTOR
        total += log(1 + cells * excess / (SECTOR if is_favoured else SECTOR - cells))
    return total


# The best gambler


def best_of(ledger: Ledger, fed: Iterable[tuple[int, Fed]], fraud: Planted) -> tuple[float, float, str]:
    """Return what the best gambler has of the process that he brings nearest to its level, the level, and its name."""
    by_process: dict[str, list[Fed]] = {}
    for night, batch in fed:
        if fraud.first <= night <= fraud.last and set(batch.subject.split(", ")) & set(fraud.subject):
            by_process.setdefault(name_of(batch), []).append(batch)
    found = [
        (most_of(batches), -log(Fraction(ledger.processes[name].alpha)), name) for name, batches in by_process.items()
    ]
    return max(found, key=lambda each: each[0] - each[1], default=(0.0, 0.0, "no process"))


def most_of(batches: Sequence[Fed]) -> float:
    """Return the logarithm of the most that one gambler has who begins with 1."""
    most = 1
    for family in KINDS[batches[0].kind].mixture(batches[0].variant).families:
        bets, memory = family.bets, [0] * family.bets.memory_cells
        wealth = [UNIT * EACH] * bets.bettors
        for batch in batches:
            if family.channel in batch.seen:
                wealth = bets.settle(wealth, memory, batch.seen[family.channel])
                most = max(most, *wealth)
    return log(most) - log(UNIT * EACH)
