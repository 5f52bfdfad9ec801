"""Where the chips of a wager are: every event that moves them, as account.md 1 lists the entries.

``held`` is what the player has had out of it: "winnings + stake handed back, lifted or playing on + settlements −
recoveries". Nothing here knows what is due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Chips:
    """The chips of one wager, under one of two answers to what a withdrawal moves.

    "A withdrawal and a stake handed back are one movement, up to the amount withdrawn". ``is_joined``: always, and in
    either order. Else only where the chips that are handed back can lie nowhere else: 300 of 1,000 withdrawn, and
    after the win 700 handed back, are 1,000.

    A stake that is withdrawn after it was swept lay again where it lay (``is_joined``), or nothing lay there.
    """

    is_joined: bool
    laid: int = 0
    felt: int = 0
    held: int = 0
    with_table: int = 0
    """What was swept, or taken back after the wager was decided."""
    is_swept: bool = False
    to_go: int = 0
    """Withdrawn, and not yet seen handed back."""
    gone: int = 0
    """Handed back, and not yet seen withdrawn."""
    back: int = 0
    """The stake that the player has: handed back, lifted, or playing on."""
    handed_back: int = 0
    """By payouts alone, less what was taken back, since the coup before the wager was decided."""
    pressed: int = 0
    """What plays on above the stake, in the coup that runs."""

    def add(self, amount: int) -> None:
        self.held += amount

    def withdraw(self, amount: int | None, standing: int) -> None:
        """Lift ``amount``; none: all that stands."""
        if self.is_joined:
            amount = standing if amount is None else amount
            same = min(amount, self.gone)
            self.gone -= same
            moved = min(amount - same, self.felt + self.with_table)
        else:
            moved = self.felt if amount is None else min(amount, self.felt)
        of_felt = min(moved, self.felt)
        self.felt -= of_felt
        self.with_table -= moved - of_felt
        self.held += moved
        self.back += moved
        self.to_go += moved

    def hand_back(self, amount: int) -> None:
        self.handed_back += amount
        lying = 0 if self.is_joined else self.felt + self.with_table
        same = min(self.to_go, max(0, amount - lying))
        self.to_go -= same
        rest = amount - same
        of_felt = min(rest, self.felt)
        self.felt -= of_felt
        self.with_table -= min(rest - of_felt, self.with_table)
        self.held += rest
        self.back += rest
        self.gone += rest if self.is_joined else 0

    def sweep(self) -> None:
        if self.felt > 0:
            self.with_table += self.felt
            self.felt = 0
        elif not self.is_swept:
            # What is swept lay there: it had been withdrawn, and it had not gone.
            self.held -= self.to_go
            self.back -= self.to_go
            self.with_table += self.to_go
            self.to_go = 0
        self.is_swept = True

    def recover(self, winnings: int, stake: int, *, is_undecided: bool) -> None:
        """Take back: "player → house, or back to the felt while the wager is undecided"."""
        self.held -= winnings + stake
        self.back -= stake
        self.handed_back -= stake
        self.to_go -= min(self.to_go, stake)
        self.gone -= min(self.gone, stake)
        back = min(winnings + stake, max(0, self.laid - self.felt)) if is_undecided else 0
        self.felt += back
        self.with_table += max(0, stake - back)

    def play_on(self, amount: int) -> None:
        self.held += amount
        self.back += amount
        self.felt -= min(self.felt, amount)

    def press(self, due: int) -> None:
        """Count what plays on above the stake: "an increase paid out of winnings due and not handed over"."""
        self.held += min(self.pressed, max(0, due - self.held))
        self.pressed = 0


@dataclass
class Account:
    """The chips of one wager, under both answers."""

    answers: list[Chips] = field(default_factory=lambda: [Chips(is_joined=True), Chips(is_joined=False)])

    @property
    def held(self) -> list[int]:
        return [chips.held for chips in self.answers]

    def each(self, move: Callable[[Chips], None]) -> None:
        for chips in self.answers:
            move(chips)
