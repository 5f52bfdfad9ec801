"""What the night asks of a game: the value of a stake, and what the next draw can do to it.

Each ruleset names its ``Chances``: ``craps``, ``roulette``, or for a game in which one draw decides everything,
``one_draw``. ``edges`` and ``value`` ask them, and know no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from math import lcm
from operator import add, mul
from typing import Any, NamedTuple

from settlement import registries
from settlement.money import Odds, share
from settlement.ruleset import RULESETS, resolved
from settlement.state import Session, Table, Wager

CACHE_SIZE = 1 << 16
"""Values cached: a night has few different stakes, each placed many times."""


class Readings(NamedTuple):
    """The readings of a session that an edge depends on. ``payout_unit`` is in minor units; None rounds nothing."""

    ruleset: str
    payout_unit: int | None = None
    zero_rule: str = "choice"
    release_value: str = "halving"

    @classmethod
    def of(cls, session: Session) -> Readings:
        return cls(session.ruleset, session.payout_unit, session.zero_rule, session.release_value)


def part_of(stake: int, part: Odds, unit: int | None) -> Fraction:
    """Return ``part`` of ``stake`` in minor units, rounded down to ``unit`` as the session pays it; None: exactly."""
    if unit is None:
        return Fraction(stake * part.pays, part.per)
    return Fraction(share(stake, part, unit)[0])


def chance(ways: int, outcomes: int) -> Fraction:
    """Return the probability of ``ways`` out of equally likely ``outcomes``."""
    return Fraction(ways, outcomes)


class Priced(NamedTuple):
    """One bet as it can be placed: on a ``number`` that it names, or by the count of its ``pockets`` on a wheel."""

    bet: str
    number: int | None = None
    pockets: int | None = None


class Outlook:
    """The next draw, in advance: how the house's position on some stakes changes with each outcome.

    ``changes`` are in minor units × ``scale``, one for each outcome in the order of the game's ``Chances``, from
    ``lowest`` to ``highest``. Over all equally likely draws their mean is 0, so that ``squares`` / ``per`` is their
    variance in squared minor units: the sum of the squares over these draws, and what divides it.
    """

    __slots__ = ("changes", "highest", "lowest", "per", "scale", "squares")

    def __init__(self, changes: Sequence[int], ways: Sequence[int], scale: int) -> None:
        """``ways`` is how many of the equally likely draws give each outcome."""
        self.changes = changes
        self.scale = scale
        self.lowest, self.highest = min(changes), max(changes)
        draws = sum(ways)
        weighted = changes if draws == len(ways) else map(mul, ways, changes)
        self.squares = sum(map(mul, weighted, changes))
        self.per = draws * scale * scale


def outlook_of(changes: Iterable[Fraction], ways: Sequence[int]) -> Outlook:
    """Return the outlook of changes in minor units."""
    exact = [change.as_integer_ratio() for change in changes]
    scale = lcm(*[per for _amount, per in exact])
    scaled = [amount * (scale // per) for amount, per in exact]
    assert sum(map(mul, ways, scaled)) == 0, "a fair draw moves no expectation"
    return Outlook(scaled, ways, scale)


def together(stakes: Sequence[Outlook], ways: Sequence[int]) -> Outlook:
    """Return the outlook of ``stakes`` in one draw: they are added before anything is squared."""
    if len(stakes) < 2:
        return stakes[0] if stakes else Outlook([0] * len(ways), ways, 1)
    scale = lcm(*[ahead.scale for ahead in stakes])
    scaled: list[Iterable[int]] = [
        ahead.changes if ahead.scale == scale else map((scale // ahead.scale).__mul__, ahead.changes)
        for ahead in stakes
    ]
    return Outlook(list(reduce(_added, scaled)), ways, scale)


def _added(one: Iterable[int], other: Iterable[int]) -> Iterable[int]:
    return map(add, one, other)


class Chances:
    """The mathematics of one game. Amounts are minor units; a value is what the player can expect back."""

    def charged(self, session: Session, wager: Wager) -> Fraction:
        """Return what the house could expect to win on the stake of ``wager``, its choices charged, no commission."""
        raise NotImplementedError

    def present_value(self, session: Session, wager: Wager) -> Fraction:
        """Return the value of an undecided wager."""
        raise NotImplementedError

    def ways(self, ruleset: str) -> tuple[int, ...]:
        """Return in how many equally likely ways each outcome of a draw comes, in the order of every ``Outlook``."""
        raise NotImplementedError

    def outlook(self, table: Table, readings: Readings, wager: Wager) -> Outlook | None:
        """Return what the next draw can do to one stake on ``table``; None: nothing."""
        raise NotImplementedError

    def outcome_of(self, ruleset: str, result: str) -> int:
        """Return the index among the outcomes of an ``Outlook`` of a counted ``Table.result``."""
        raise NotImplementedError

    def edges(self, readings: Readings) -> Mapping[Priced, Fraction]:
        """Return the edge of the text of every bet, per unit staked, commission included, in the order of the law."""
        raise NotImplementedError

    def drawn(self, result: Any) -> list[int | str]:
        """Return what is kept of a result event for the test of the equipment."""
        return []

    def commission_base(self, bet: str, number: int | None) -> Odds | None:
        """Return what the commission of 5 % is taken on, as odds of the stake; None for a bet without commission."""
        return None

    def refund(self, readings: Readings, stake: int, zeros: int) -> Fraction:
        """Return what of a stake that is held the player may have back now."""
        return Fraction(stake)


@cache
def chances_of(ruleset: str) -> Chances:
    """Return the mathematics of a ruleset."""
    chances = resolved(RULESETS[ruleset].chances)
    assert isinstance(chances, Chances)
    return chances


registries.forgets(chances_of.cache_clear)
