"""Frauds at the cash desk; ``THRESHOLD`` is the amount from which the desk asks who somebody is."""

from __future__ import annotations

from benchmarks.seasons_apart.people import CLOSES, MINUTE, OPENS, Night, visits
from benchmarks.seasons_apart.scheme import Scheme
from benchmarks.seasons_apart.session import Session

THRESHOLD = 200_000


class Players(Scheme):
    """Players alone, or a group of them."""

    kind = "team"
    size = 4

    def draw(self) -> None:
        self.subject = tuple(self.casino.innocent_player() for _ in range(self.size))

    def arrange(self, night: Night) -> None:
        """Come and go as everybody."""

    def busy(self) -> bool:
        """Whether something happens on a night."""
        return self.rng.random() < min(0.9, 0.5 * self.strength)

    def exchange(self, at: int, direction: str, amount: int, player: str) -> None:
        self.casino.exchange(at, direction, amount, player, always_named=True)
        self.casino.note(self.fraud, direction, "", None, None)


class WalkingChips(Players):
    """A croupier slips chips out of the rack, and a player cashes what he neither bought nor won."""

    kind = "player"
    size = 1

    def arrange(self, night: Night) -> None:
        self.gone = 0
        if self.busy():
            night.visits[self.subject[0]] = visits(self.rng, sorted(self.tables))

    def after(self, session: Session) -> None:
        if self.subject[0] in session.present and self.gone < 30_000 * self.strength and self.rng.random() < 0.05:
            amount = self.rng.choice((2500, 5000, 10_000))
            self.gone += amount
            session.given(self.subject[0], amount)
            session.note(self.fraud, "chips")


class PooledRunners(Players):
    """Runners cash the chips of one player, each less than the threshold, over the evening."""

    def arrange(self, night: Night) -> None:
        self.total = 0
        if self.busy():
            night.visits[self.subject[0]] = visits(self.rng, sorted(self.tables))
            self.total = self.rng.randint(3, 6) * 100_000

    def at_desk(self, night: Night) -> None:
        if self.total:
            self.exchange(OPENS + 20 * MINUTE, "in", self.total, self.subject[0])
            for at, runner in enumerate(self.subject[1:]):
                amount = min(self.total, self.rng.randint(1200, 1950) * 100)
                self.total -= amount
                if amount:
                    self.exchange(OPENS + (120 + 30 * at) * MINUTE, "out", amount, runner)


class Structuring(Players):
    """A group changes amounts just under the threshold within minutes."""

    def at_desk(self, night: Night) -> None:
        if self.busy():
            start = self.rng.randint(OPENS, CLOSES - 60 * MINUTE)
            for at, player in enumerate(self.subject):
                amount = THRESHOLD - self.rng.randint(1, 40) * 500
                self.exchange(start + at * self.rng.randint(1, 3) * MINUTE, "in", amount, player)
                self.exchange(start + (40 + at) * MINUTE, "out", amount, player)


class Launderer(Players):
    """A player buys chips for cash, hardly plays, and leaves with money that has a source."""

    kind = "player"
    size = 1

    def arrange(self, night: Night) -> None:
        night.visits.pop(self.subject[0], None)

    def at_desk(self, night: Night) -> None:
        if self.busy():
            start, amount = self.rng.randint(OPENS, CLOSES - 90 * MINUTE), self.rng.randint(20, 90) * 10_000
            self.exchange(start, "in", amount, self.subject[0])
            self.exchange(start + self.rng.randint(30, 80) * MINUTE, "out", amount, self.subject[0])
