"""What a process holds for each explanation that its gamblers bet on, and what its learners have counted.

    a process = cash + Σ gamblers          an explanation = some of the gamblers, who have a share s of the mixture
                                           its evidence   = cash + their wealth / s

The cash is staked by a fixed schedule and divided by the weights alone: so this is the wealth that the process had, if
it had been of these gamblers and no others. It describes a process. None is asked about by it, and which one is the
largest is known afterwards only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from settlement.eprocess.bets import ArcBets, Bets, CellBets, Learner, Moved
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Family, Process
from settlement.eprocess.turns import Thrown

OnCircle: TypeAlias = Literal["twice", "one", "sector", "wide", "wave", "any"]
OfDice: TypeAlias = Literal["face", "pair", "double", "seven", "total", "after-double", "after-seven", "after-other"]
OfMemory: TypeAlias = Literal["displacement-2", "displacement-3", "pair-1", "pair-2", "pair-3"]
OfMoney: TypeAlias = Literal["luck", "late", "marks", "errors", "money", "payouts", "variance", "calls", "below"]
Name: TypeAlias = OnCircle | OfDice | OfMemory | OfMoney
"""What gamblers bet on: on a circle by how much of it, elsewhere by the channel that they see."""

CIRCULAR = frozenset({"wheel", "wheel-displacement", "croupier-displacement"})
"""Kinds whose gamblers bet on a circle: on arcs of pockets, or of distances from the last pocket."""

SECTOR = 5
"""Pockets of the widest arc that is called a sector."""


OF_DICE: Mapping[str, str] = MappingProxyType(
    {"die": "face", "dice-supply": "face", "dice-pair": "total", "void-call": "total"}
)
"""Kinds about dice, and the channel on which a learner counts what came: each face, or each total of two dice."""


COUNTED: Mapping[str, str] = MappingProxyType(
    {
        "wheel": "pocket",
        "wheel-displacement": "displacement",
        "croupier-displacement": "displacement",
        "shooter": "seven",
        **OF_DICE,
    }
)
"""The channel of each kind whose batches are kept as counts, to say since when something comes more often."""


class Tally(NamedTuple):
    """How often each face or each total of two dice came, and in how many of all equally likely ways it comes."""

    counts: Sequence[int]
    ways: Sequence[int]


class Explanation(NamedTuple):
    """Gamblers who bet on one kind of thing, and what they hold: 1 is what they began with."""

    name: Name
    evidence: Fraction


class Arc(NamedTuple):
    """Cells of a circle that follow each other: ``width`` of them from ``start`` on, without the first ``left_out``."""

    start: int
    width: int
    left_out: int = 0

    def cells(self, of: int) -> tuple[int, ...]:
        """Return the indexes of its cells on a circle of ``of``."""
        circle = of - self.left_out
        return tuple(self.left_out + (self.start + each) % circle for each in range(self.width))


def explanations_of(process: Process) -> list[Explanation]:
    """Return the explanations of a process, that with the most evidence first; none where there is only one."""
    if not process.wealth:
        return []
    mixture = KINDS[process.kind].mixture(process.variant)
    held: dict[Name, int] = {}
    shares: dict[Name, int] = {}
    first = 0
    for family in mixture.families:
        for name, bettors in _names_of(process.kind, family):
            last = first + bettors
            held[name] = held.get(name, 0) + sum(process.wealth[first:last])
            shares[name] = shares.get(name, 0) + sum(mixture.shares[first:last])
            first = last
    if len(held) == 1:
        return []
    found = [Explanation(name, Fraction(process.cash + held[name] * UNIT // shares[name], UNIT)) for name in held]
    return sorted(found, key=lambda each: -each.evidence)


def counted_in(kind: str, seen: Mapping[str, Any]) -> list[int]:
    """Return what a batch of a process counted; nothing of a kind that is not described by counts."""
    counted = seen.get(COUNTED.get(kind, ""), ())
    return list(counted.counts if isinstance(counted, Thrown) else counted)


def best_arc(process: Process) -> Arc | None:
    """Return the arc whose gambler holds the most for his share: what fits best, of all that was bet on."""
    if process.kind not in CIRCULAR or not process.wealth:
        return None
    mixture = KINDS[process.kind].mixture(process.variant)
    best: tuple[int, Arc] | None = None
    first = 0
    for family in mixture.families:
        last = first + family.bets.bettors
        bets = _on_circle(family)
        if isinstance(bets, ArcBets):
            share = mixture.shares[first]
            start = max(range(bets.cells), key=lambda cell: process.wealth[first + cell])
            holds = process.wealth[first + start] * UNIT // share
            if best is None or holds > best[0]:
                best = holds, Arc(start, bets.width, process.variant - bets.cells)
        first = last
    return best[1] if best is not None else None


def counts_of(process: Process) -> Sequence[int]:
    """Return how often each cell of the circle came, as its finest learner counted; nothing of another process.

    A cell that its gamblers leave out has 0.
    """
    if process.kind not in CIRCULAR or not process.wealth:
        return ()
    families = KINDS[process.kind].mixture(process.variant).families
    learned = (
        memory
        for family, memory in zip(families, process.memory, strict=True)
        if isinstance(_on_circle(family), Learner)
    )
    finest = max(learned, key=len)
    return [0] * (process.variant - len(finest)) + finest


def tally_of(process: Process) -> Tally | None:
    """Return how often each face or total came since a process about dice began; None of one that counts neither."""
    channel = OF_DICE.get(process.kind)
    if channel is None or not process.wealth:
        return None
    families = KINDS[process.kind].mixture(process.variant).families
    return next(
        Tally(memory, family.bets.sizes)
        for family, memory in zip(families, process.memory, strict=True)
        if family.channel == channel and isinstance(family.bets, Learner)
    )


def arcs_of(process: Process) -> int:
    """Return among how many arcs the best one of a process about a circle was chosen; 0 of another process."""
    if process.kind not in CIRCULAR or not process.wealth:
        return 0
    families = KINDS[process.kind].mixture(process.variant).families
    arcs = [bets for bets in map(_on_circle, families) if isinstance(bets, ArcBets)]
    return len({each.width for each in arcs}) * arcs[0].cells


def _on_circle(family: Family) -> Bets:
    """Return the bets of a family, on whatever part of the circle."""
    return family.bets.bets if isinstance(family.bets, Moved) else family.bets


def _names_of(kind: str, family: Family) -> list[tuple[Name, int]]:
    """Return what the gamblers of a family bet on, in turn, with how many of them do.

    The distance 0 is the last pocket again: a spin recorded twice.
    """
    bets = family.bets
    if kind == "wheel-displacement" and isinstance(bets, ArcBets) and bets.width == 1:
        return [("twice", 1), ("one", bets.cells - 1)]
    return [(_name_of(kind, family), bets.bettors)]


def _name_of(kind: str, family: Family) -> Name:
    if kind in CIRCULAR:
        return _name_on_circle(_on_circle(family))
    if family.channel == "face" and isinstance(family.bets, Learner):
        return "any"
    assert family.channel in _CHANNELS, family.channel
    return _CHANNELS[family.channel]


def _name_on_circle(bets: Bets) -> OnCircle:
    match bets:
        case ArcBets(width=1):
            return "one"
        case ArcBets(width=width):
            return "sector" if width <= SECTOR else "wide"
        case CellBets():
            return "wave"
        case _:
            return "any"


_CHANNELS: Mapping[str, Name] = MappingProxyType({name: name for part in get_args(Name) for name in get_args(part)})
"""Explanations that are named as their channel is."""
