"""The chips that players keep from one evening to the next: value chips of the house are good on any day.

    Day, Day, … ──► Holdings ──► what a player may still have of the evenings before, and when he was last seen
                             └─► by how much the chips outside racks and desks grew since

Two bounds enclose what a player has. He may have bought, won, lost or cashed what nobody is known to have; where play
was not all seen he may have lost everything, or won anything. A day on which no event names him is one on which he
was not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from msgspec import Struct

from settlement.persons.day import Day, Person
from settlement.persons.exchanges import NOBODY

KEPT = timedelta(days=37)
"""Gaming days that are remembered: the 30 after which chips are asked about, and a week in which nothing was played."""


class Chips(Struct, frozen=True):
    """Minor units of chips, at least and at most; ``most`` is None where nothing bounds it."""

    least: int = 0
    most: int | None = 0

    def then(self, day: Chips) -> Chips:
        """Return what is left after a further ``day``: nobody has less than no chips."""
        most = None if self.most is None or day.most is None else max(0, self.most + day.most)
        return Chips(max(0, self.least + day.least), most)


class Holding(Struct, frozen=True):
    """A player whom earlier days saw: his chips, and the last of those days."""

    player: str
    chips: Chips
    last_day: str


def left_with(day: Day, player: str) -> Chips:
    """Return by how much a player's chips grew on a day; below zero, he cashed or lost more than he got."""
    person, nobody = day.persons.get(player) or Person(player), day.persons.get(NOBODY) or Person(NOBODY)
    if not day.shows_all_play:
        return Chips(-person.total_cashed - person.play.handle - person.play.undecided, None)
    lost = person.play.undecided + day.unnamed_stakes + nobody.total_cashed
    return Chips(person.chips_left - lost, person.chips_left + unnamed(day))


def unnamed(day: Day) -> int:
    """Return the chips that nobody is known to have bought or won: any player may have had as many more.

    A stake that comes back is no chip more: whoever laid it had it before.
    """
    nobody = day.persons.get(NOBODY) or Person(NOBODY)
    won = max(0, nobody.play.handle - nobody.play.recorded - nobody.play.returned)
    return nobody.total_bought + nobody.cash_staked + won


class Holdings:
    """The chips of the gaming days before one, of one casino and currency; days are added in their order."""

    def __init__(self) -> None:
        self._players: dict[str, list[tuple[str, Chips]]] = {}
        self._outside: dict[str, int] = {}

    def add(self, day: Day) -> None:
        """Take what a gaming day left with whom, and forget what is too long ago."""
        for player in day.persons:
            if player != NOBODY:
                self._players.setdefault(player, []).append((day.gaming_day, left_with(day, player)))
        self._outside[day.gaming_day] = day.chips_outstanding
        oldest = (date.fromisoformat(day.gaming_day) - KEPT).isoformat()
        self._players = {
            player: kept
            for player, days in self._players.items()
            if (kept := [each for each in days if each[0] > oldest])
        }
        self._outside = {gaming_day: grown for gaming_day, grown in self._outside.items() if gaming_day > oldest}

    @property
    def last_day(self) -> str:
        """The last gaming day added, "" if there is none."""
        return next(reversed(self._outside), "")

    def of(self, player: str) -> Chips:
        """Return the chips that a player may have kept; none of somebody who was not seen."""
        chips = Chips()
        for _gaming_day, left in self._players.get(player, ()):
            chips = chips.then(left)
        return chips

    def last_seen(self, first: date, last: date) -> Iterator[Holding]:
        """Yield the players whose last gaming day is one from ``first`` to ``last``, by their ids."""
        for player, days in sorted(self._players.items()):
            if first.isoformat() <= days[-1][0] <= last.isoformat():
                yield Holding(player, self.of(player), days[-1][0])

    def grown_since(self, gaming_day: str) -> int:
        """Return by how much the chips outside racks and desks grew, that day included."""
        return sum(grown for each, grown in self._outside.items() if each >= gaming_day)
