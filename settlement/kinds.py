"""What a bet of a closed list is: one record beside its article, with everything that others need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from settlement.events import WagerPlaced
from settlement.events.stakes import Marker
from settlement.money import Odds
from settlement.state import Table, Wager

Withdrawal: TypeAlias = Literal["free", "after_throw", "one_roll", "never"]

Shape: TypeAlias = Literal["alone", "number", "base", "numbers", "which"]
"""What the placement names in addition to the bet: nothing, a number, its base wager, pockets, or blocks of them."""


Accept: TypeAlias = Callable[[Table, WagerPlaced, Wager], bool]
"""Checks a placement alone: reports what is irregular and returns whether the stake is in play."""


@dataclass(frozen=True, slots=True)
class Split:
    """A bet that is one, and is elsewhere paid as several on parts of the stake: a mistake of its own, ``rule``.

    ``odds`` are those of the whole stake at which it is then paid.
    """

    rule: str
    odds: tuple[Odds, ...]

    def is_paid(self, winnings: int, stake: int) -> bool:
        """Whether ``winnings`` are what the parts of ``stake`` would win, both in minor units; rounded down."""
        return any(winnings == stake * odds.pays // odds.per for odds in self.odds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One bet of a closed list.

    ``word`` is the law's own word for it, the same in both languages; ``usual`` its usual names, English and French,
    several separated by a comma.

    ``shape`` is what a placement names, ``numbers`` those that it may name. ``withdrawal`` is when the player may take
    it back: at will, after an indecisive throw, before its one throw (which the text does not allow, but which takes
    effect), or never. ``travels``: its number is the dice's to give. ``takes_commission``: it plays only after a
    commission was paid. ``marker``: the marker that is put on it.

    ``odds`` are those at which it wins: one, or by what decides it. What decides it is the subclass's to say. ``split``
    is how it is paid where it is mistaken for several bets. ``zeros`` are the results that may leave a part of a stake
    which does not win on them, or hold it.

    ``clause`` is the label of the provision that makes the bet and decides it, ``pays`` of the one that says what it
    pays, where that is another, ``line`` of its line in a list, which a payment cites in place of the whole list, and
    ``withdrawn_under`` of the one that lets it be taken back, where that is not ``clause``.
    """

    bet: str
    word: str
    usual: tuple[str, str]
    shape: Shape
    numbers: tuple[int, ...] = ()
    withdrawal: Withdrawal
    accept: Accept
    travels: bool = False
    takes_commission: bool = False
    marker: Marker | None = None
    odds: Odds | Mapping[Any, Odds]
    split: Split | None = None
    zeros: frozenset[str] = frozenset()
    clause: str
    pays: str | None = None
    line: str | None = None
    withdrawn_under: str | None = None

    @property
    def names(self) -> list[str]:
        """What the bet is called, beside its name in the contract: the law's word, and the usual names."""
        return [self.word, *self.usual, *(name for names in self.usual for name in names.split(","))]


def accept_any(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """Accept a bet that may be placed at any moment and needs nothing but a stake."""
    return True
