"""What the night asks of a game: the value of a stake, and what the next draw can do to it.

Each ruleset names its ``Chances``: ``craps``, ``roulette``, or for a game in which one draw decides everything,
``one_draw``. ``edges`` and ``value`` ask them, and know no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from math import lcm
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


class Outlook(NamedTuple):
    """The next draw, in advance: how the house's position changes with each outcome.

    ``changes`` are in minor units × ``scale``, one for each outcome; ``ways`` is how many of the equally likely draws
    give it, in the order of the game's ``Chances``.
    """

    changes: tuple[int, ...]
    ways: tuple[int, ...]
    scale: int

    @property
    def mean(self) -> Fraction:
        total = sum(ways * change for ways, change in zip(self.ways, self.changes, strict=True))
        return Fraction(total, sum(self.ways) * self.scale)

    @property
    def variance(self) -> Fraction:
        """In squared minor units."""
        return Fraction(self.squares, sum(self.ways) * self.scale**2) - self.mean**2

    @property
    def squares(self) -> int:
        """The sum of the squared changes over all equally likely draws, in minor units² × ``scale``²."""
        return sum(ways * change * change for ways, change in zip(self.ways, self.changes, strict=True))


class Changes(NamedTuple):
    """How the house's position on one wager changes with each outcome of the next draw, in minor units × ``scale``."""

    scale: int
    by_outcome: tuple[int, ...]


def changes_of(by_outcome: Iterable[Fraction], ways: Iterable[int]) -> Changes:
    """Return changes in minor units as ``Changes``; ``ways`` are those of the outcomes."""
    exact = list(by_outcome)
    scale = lcm(*(change.denominator for change in exact))
    changes = Changes(scale, tuple(int(change * scale) for change in exact))
    mean = sum(way * change for way, change in zip(ways, changes.by_outcome, strict=True))
    assert mean == 0, "a fair draw moves no expectation"
    return changes


def added(changes: Iterable[Changes], outcomes: int) -> Changes:
    """Return the sum of changes, each with one number for each of so many ``outcomes``; 0 for none."""
    by_scale: dict[int, list[tuple[int, ...]]] = {}
    for scale, by_outcome in changes:
        by_scale.setdefault(scale, []).append(by_outcome)
    if not by_scale:
        return Changes(1, (0,) * outcomes)
    common = lcm(*by_scale)
    parts = []
    for scale, rows in by_scale.items():
        total = rows[0] if len(rows) == 1 else tuple(map(sum, zip(*rows, strict=True)))
        parts.append(total if scale == common else tuple(each * (common // scale) for each in total))
    return Changes(common, parts[0] if len(parts) == 1 else tuple(map(sum, zip(*parts, strict=True))))


class Chances:
    """The mathematics of one game. Amounts are minor units; a value is what the player can expect back."""

    def charged(self, session: Session, wager: Wager) -> Fraction:
        """Return what the house could expect to win on the stake of ``wager``, its choices charged, no commission."""
        raise NotImplementedError

    def present_value(self, session: Session, wager: Wager) -> Fraction:
        """Return the value of an undecided wager."""
        raise NotImplementedError

    def ways(self, ruleset: str) -> tuple[int, ...]:
        """Return in how many equally likely ways each outcome of a draw comes, in the order of all changes."""
        raise NotImplementedError

    def changes(self, table: Table, session: Session, wager: Wager) -> Changes | None:
        """Return what the next draw can do to one stake on ``table``; None: nothing. The sum over its ways is 0."""
        raise NotImplementedError

    def outlook(self, table: Table, session: Session) -> Outlook:
        """Return what the next draw can do to the stakes on ``table``."""
        ways = self.ways(session.ruleset)
        each = (self.changes(table, session, table.wagers[wager_id]) for wager_id in table.live)
        scale, by_outcome = added((changes for changes in each if changes is not None), len(ways))
        return Outlook(by_outcome, ways, scale)

    def outcome_of(self, ruleset: str, result: str) -> int:
        """Return the index among the outcomes of an ``outlook`` of a counted ``Table.result``."""
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
