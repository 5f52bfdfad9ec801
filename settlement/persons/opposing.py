"""Two players on both sides of one chance: red and black, pass and don't, coup after coup.

Together they lose little more than the zero, and chips change hands between them, so it is asked about. Innocent
explanations are many: a couple who like a long evening, two systems that run opposite ways.

A *shared coup* is a throw or a spin that decided a stake of each of the two on chances with an opposite; in an
*opposing* one they stood on opposite sides of one chance with nearly the same amounts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, partial
from itertools import combinations
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from settlement import registries
from settlement.persons.exchanges import NOBODY
from settlement.ruleset import RULESETS
from settlement.state import Wager


@cache
def two_sided(ruleset: str | None) -> Mapping[str, tuple[str, int]]:
    """Return the bets of a ruleset that have an opposite: the chance, by its first bet, and the side."""
    known = RULESETS.get(ruleset or "")
    return MappingProxyType(
        {
            bet: (chance[0][0], side)
            for chance in (() if known is None else known.opposites)
            for side, bets in enumerate(chance)
            for bet in bets
        }
    )


registries.forgets(two_sided.cache_clear)

NEAR_PERCENT = 90
"""Amounts are nearly the same where the smaller is at least this share of the larger."""

Chance: TypeAlias = tuple[str, int | None]


class Pair(Struct):
    """Two players of one session, in order of their ids: coups shared, and opposing ones.

    ``amount`` is what the smaller stakes of the opposing coups add up to, in minor units. Of the last of them, the
    later of the two stakes is event ``last_seq``, the earlier ``first_seq``, and ``wager`` is the id of the earlier.
    """

    first: str
    second: str
    shared: int = 0
    opposing: int = 0
    amount: int = 0
    first_seq: int = 0
    last_seq: int = 0
    wager: str = ""


class Sides(Struct, array_like=True):
    """What a player has on both sides of one chance in one coup, and his last stake there: its event and its id."""

    amounts: list[int]
    placed_by: int
    wager: str

    @property
    def net(self) -> int:
        """The stake on the first side less that on the second: who stands on both stands where more of his is."""
        return self.amounts[0] - self.amounts[1]


class Coups:
    """The stakes on chances with an opposite, by the event that decided them. Memory: these stakes, as amounts.

    ``ruleset`` is that of their session, whose bets they are.
    """

    def __init__(self, ruleset: str | None) -> None:
        self._side_of = two_sided(ruleset)
        self._by_coup: defaultdict[int, defaultdict[str, dict[Chance, Sides]]]
        self._by_coup = defaultdict(partial(defaultdict, dict))

    def add(self, wager: Wager, player: str) -> None:
        """Count a wager of ``player`` as it stands at the end, if a throw or a spin decided it."""
        side = self._side_of.get(wager.bet)
        if side is None or player == NOBODY or not wager.decided_by:
            return
        chances = self._by_coup[wager.decided_by][player]
        chance = side[0], wager.number
        sides = chances.get(chance)
        if sides is None:
            sides = chances[chance] = Sides([0, 0], wager.placed_by, wager.id)
        else:
            sides.placed_by, sides.wager = max((sides.placed_by, sides.wager), (wager.placed_by, wager.id))
        sides.amounts[side[1]] += wager.standing

    def pairs(self) -> list[Pair]:
        """Return every two players who shared a coup, in order of their ids."""
        pairs: dict[tuple[str, str], Pair] = {}
        for _seq, coup in sorted(self._by_coup.items()):
            for first, second in combinations(sorted(coup), 2):
                pair = pairs.get((first, second))
                if pair is None:
                    pair = pairs[first, second] = Pair(first, second)
                pair.shared += 1
                facing = opposed(coup[first], coup[second])
                if facing is not None:
                    one, other = sorted(facing, key=lambda sides: sides.placed_by)
                    pair.opposing += 1
                    pair.amount += min(abs(one.net), abs(other.net))
                    pair.first_seq, pair.last_seq, pair.wager = one.placed_by, other.placed_by, one.wager
        return [pair for _players, pair in sorted(pairs.items())]


def opposed(one: Mapping[Chance, Sides], other: Mapping[Chance, Sides]) -> tuple[Sides, Sides] | None:
    """Return where two players stand on opposite sides of one chance with nearly the same amounts; None if nowhere.

    Of several such chances the one with the largest stakes counts.
    """
    facing: tuple[Sides, Sides] | None = None
    most = 0
    for chance in sorted(one.keys() & other.keys(), key=str):
        here, there = one[chance], other[chance]
        low, high = sorted((abs(here.net), abs(there.net)))
        if here.net * there.net < 0 and low * 100 >= high * NEAR_PERCENT and low > most:
            facing, most = (here, there), low
    return facing


def added(pairs: Iterable[Pair]) -> Pair:
    """Return the sum of the pairs of the same two players over sessions, without a last event."""
    pairs = list(pairs)
    return Pair(
        pairs[0].first,
        pairs[0].second,
        sum(pair.shared for pair in pairs),
        sum(pair.opposing for pair in pairs),
        sum(pair.amount for pair in pairs),
    )
