"""The throws of a shooter, beside those of the others with the same dice, given all that was thrown.

The throws decide who is next: a seven-out takes the dice. So throws are not compared as they are.

    sevens   by turn, from taking the dice until the seven-out or until somebody else throws or another set comes: how
             long a turn lasts depends on what it shows, which turns are whose does not
    faces    by throw, of those while a point stands, without the seven-outs: how many of these there are in a turn
             depends on sevens alone
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import prod
from typing import NamedTuple, TypeAlias

from settlement.craps import POINT_NUMBERS
from settlement.eprocess.bets import LARGEST, ODDS_BITS, CellBets
from settlement.eprocess.observations import Observation

SEVEN = 7
PAIRS = tuple(combinations_with_replacement(range(6), 2))
"""The faces of two dice, whichever shows which."""

PLACES = 10
"""Binary digits of the odds by which turns are compared."""

Counts: TypeAlias = tuple[int, ...]
"""How often each cell came in a turn, or a throw."""


class Turn(NamedTuple):
    """The throws of one shooter with one set until the dice passed; "" where nobody knows who, or which set.

    ``on_point`` are those of the throws that came while a point stood, without a seven-out.
    """

    shooter: str
    dice_set: str
    throws: list[Observation]
    on_point: list[Observation]


Drawn: TypeAlias = tuple[list[Counts], list[tuple[Counts, int]]]
"""The turns or throws of a shooter in their order, and how often each kind is among those that they could have been."""


class Thrown(NamedTuple):
    """How often each cell came in all throws of a shooter, and what was his of what others threw, too.

    ``drawn`` is by session and set; what nobody else has thrown is left out.
    """

    counts: list[int]
    drawn: list[Drawn]


def faces_of(throw: Observation) -> tuple[int, int]:
    """Return the faces of a throw, each from 0."""
    return throw.result // 6, throw.result % 6


def turns_of(drawn: Iterable[Observation]) -> Iterator[Turn]:
    """Yield the turns of a session of craps."""
    point: int | None = None
    turn: Turn | None = None
    for throw in drawn:
        if turn is None or turn[:2] != (throw.shooter, throw.dice_set):
            if turn is not None:
                yield turn
            turn = Turn(throw.shooter, throw.dice_set, [], [])
        turn.throws.append(throw)
        total = sum(faces_of(throw)) + 2
        if point is None:
            point = total if total in POINT_NUMBERS else None
        elif total == SEVEN:
            point = None
            yield turn
            turn = None
        else:
            turn.on_point.append(throw)
            point = None if total == point else point
    if turn is not None:
        yield turn


def thrown_in(sessions: Iterable[Sequence[Observation]]) -> Iterator[tuple[str, dict[str, Thrown]]]:
    """Yield each shooter of some sessions of craps, with what he threw by channel: sevens, faces, and both at once."""
    own: dict[str, list[Observation]] = {}
    turns: list[tuple[Hashable, str, Counts]] = []
    faces: list[tuple[Hashable, str, Counts]] = []
    pairs: list[tuple[Hashable, str, Counts]] = []
    for number, drawn in enumerate(sessions):
        for turn in turns_of(drawn):
            own.setdefault(turn.shooter, []).extend(turn.throws)
            stratum = number, turn.dice_set
            turns.append((stratum, turn.shooter, sevens_of(turn.throws)))
            faces += [(stratum, turn.shooter, pooled([throw])) for throw in turn.on_point]
            pairs += [(stratum, turn.shooter, paired([throw])) for throw in turn.on_point]
    channels = (("seven", sevens_of, turns), ("face", pooled, faces), ("pair", paired, pairs))
    drawn_by = {channel: _drawn_from(units) for channel, _counted, units in channels}
    for shooter in sorted(own.keys() - {""}):
        yield (
            shooter,
            {
                channel: Thrown(list(counted(own[shooter])), drawn_by[channel].get(shooter, []))
                for channel, counted, _units in channels
            },
        )


def _drawn_from(units: Iterable[tuple[Hashable, str, Counts]]) -> dict[str, list[Drawn]]:
    """Return what each shooter has of the units of each stratum in which somebody else has some."""
    strata: dict[Hashable, list[tuple[str, Counts]]] = {}
    for stratum, shooter, counts in units:
        strata.setdefault(stratum, []).append((shooter, counts))
    drawn: dict[str, list[Drawn]] = {}
    for of in strata.values():
        shooters = {shooter for shooter, _counts in of}
        every = sorted(Counter(counts for _shooter, counts in of).items())
        for shooter in shooters if len(shooters) > 1 else ():
            drawn.setdefault(shooter, []).append(([counts for whose, counts in of if whose == shooter], every))
    return drawn


def sevens_of(throws: Iterable[Observation]) -> Counts:
    """Return how many throws are sevens, and how many are not."""
    came = Counter(sum(faces_of(throw)) == SEVEN - 2 for throw in throws)
    return came[True], came[False]


def pooled(throws: Iterable[Observation]) -> Counts:
    """Return how often each face came, whichever die showed it."""
    came = Counter(face for throw in throws for face in faces_of(throw))
    return tuple(came[face] for face in range(6))


def paired(throws: Iterable[Observation]) -> Counts:
    """Return how often each pair of faces came."""
    came = Counter(tuple(sorted(faces_of(throw))) for throw in throws)
    return tuple(came[pair] for pair in PAIRS)


class DrawnBets(NamedTuple):
    """The gamblers of ``bets`` on which turns or throws are whose, whatever the dice show and how often.

    To one of them each is worth the product of his odds on what it shows, cut to ``PLACES`` binary digits. He gets what
    it is worth over the mean of those that it could have been: all that are left.
    """

    bets: CellBets

    @property
    def bettors(self) -> int:
        return self.bets.bettors

    @property
    def memory_cells(self) -> int:
        return 0

    def settle(self, wealth: Sequence[int], _memory: list[int], seen: Sequence[Drawn]) -> list[int]:
        after = list(wealth)
        for his, every in seen:
            longest = max(sum(each) for each, _times in every)
            number = sum(times for _each, times in every)
            for index, odds in enumerate(self.bets.odds):
                worth = {each: _worth(odds, each, longest) for each, _times in every}
                total = sum(times * worth[each] for each, times in every)
                held = after[index]
                for left, each in zip(range(number, 0, -1), his, strict=False):
                    own = worth[each]
                    held = held * own * left // total
                    if held > LARGEST:
                        held = LARGEST
                    total -= own
                after[index] = held
        return after


@lru_cache(1 << 16)
def _worth(odds: tuple[int, ...], shown: Counts, longest: int) -> int:
    """Return the product of the odds on what is shown, in 2^−(``PLACES`` × ``longest``)."""
    cut = [max(1, each >> ODDS_BITS - PLACES) for each in odds]
    worth: int = prod(each**times for each, times in zip(cut, shown, strict=True) if times)
    return worth << PLACES * (longest - sum(shown))
