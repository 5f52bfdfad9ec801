"""Frauds with wheels and dice, and with those who know of them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from benchmarks.seasons_apart.law import plein, sector
from benchmarks.seasons_apart.people import Night, Visit, visits
from benchmarks.seasons_apart.roulette import Roulette, on
from benchmarks.seasons_apart.scheme import Scheme
from benchmarks.seasons_apart.session import Session

if TYPE_CHECKING:
    from benchmarks.seasons_apart.floor import Casino

DICE = tuple[int, int]


class Biased(Scheme):
    """A sector of nine neighbouring pockets comes up oftener by 7.5 % of all spins."""

    kind = "wheel"
    games = ("roulette",)
    width, excess = 9, 0.075

    def draw(self) -> None:
        self.first, self.last = 0, self.casino.nights - 1
        self.strength = 1.0 if self.kind == "wheel" else self.strength
        self.thing = self.casino.innocent_wheel()
        self.subject, self.centre = (self.thing,), self.rng.randrange(37)

    def arrange(self, night: Night) -> None:
        """A wheel arranges nothing."""

    def favoured(self, session: Session) -> list[str]:
        return sector(session.wheel, self.centre, self.width) if isinstance(session, Roulette) else []

    def skewed(self, session: Session) -> bool:
        return session.equipment == self.thing

    def weights(self, session: Session) -> list[float] | None:
        if not isinstance(session, Roulette) or not self.skewed(session):
            return None
        pockets, favoured = len(session.wheel), set(self.favoured(session))
        more = self.excess * self.strength / self.width
        less = more * self.width / (pockets - self.width)
        return [1 / pockets + (more if pocket in favoured else -less) for pocket in session.wheel]


class BiasedLater(Biased):
    """A wheel is in order until the middle of the season, and then favours a sector."""

    def draw(self) -> None:
        super().draw()
        self.first = self.casino.nights // 2


class BiasedPocket(Biased):
    """One pocket of a wheel comes up twice as often as it should, or nearly."""

    width, excess = 1, 0.025


class WheelTeam(Biased):
    """A team knows a biased wheel, spreads its stakes over the sector, and takes turns."""

    kind = "team"

    def draw(self) -> None:
        super().draw()
        self.subject, self.accomplices = tuple(self.casino.innocent_player() for _ in range(4)), (self.thing,)

    def arrange(self, night: Night) -> None:
        table = next(code for code, thing in night.equipment.items() if thing == self.thing)
        shift = (night.shifts[table][-1].end - night.shifts[table][0].start) // len(self.subject)
        for at, player in enumerate(self.rng.sample(self.subject, len(self.subject))):
            if self.rng.random() < 0.7:
                start = night.shifts[table][0].start + at * shift
                night.visits[player] = [Visit(table, start, start + shift)]

    def stakes(self, session: Session) -> None:
        if session.equipment == self.thing:
            for player in [player for player in self.subject if player in session.present]:
                for pocket in self.rng.sample(self.favoured(session), 3):
                    session.lay(player, self.casino.players[player].unit, after=600, **on(plein(pocket)))


class SteeredBall(Biased):
    """A croupier lets the ball end in a sector, and a friend stakes there."""

    kind = "pair"
    arrange = Scheme.arrange

    def draw(self) -> None:
        Scheme.draw(self)
        self.centre = self.rng.randrange(37)

    def skewed(self, session: Session) -> bool:
        return self.together(session)

    def stakes(self, session: Session) -> None:
        if self.together(session) and self.rng.random() < 0.6:
            for pocket in self.rng.sample(self.favoured(session), 3):
                session.lay(self.friend, self.casino.players[self.friend].unit, after=600, **on(plein(pocket)))


class LoadedDice(Scheme):
    """The dice of one set, which is on another table every night, are loaded."""

    kind = "dice set"
    games = ("craps",)

    def draw(self) -> None:
        self.thing = self.rng.choice(self.casino.dice)
        self.subject, self.face = (self.thing,), self.rng.choice((1, 6))

    def arrange(self, night: Night) -> None:
        """A set of dice arranges nothing."""

    def faces(self, session: Session) -> DICE | None:
        return self.loaded(0.06) if session.equipment == self.thing else None

    def loaded(self, more: float) -> DICE:
        """Return a throw of two dice on which ``face`` is likelier by ``more`` and its opposite rarer."""
        more *= self.strength
        weights = [
            1 / 6 + (more if face == self.face else -more if face == 7 - self.face else 0) for face in range(1, 7)
        ]
        first, second = self.rng.choices(range(1, 7), weights, k=2)
        return first, second


class Shooter(LoadedDice):
    """A player who does something with the dice whenever he throws."""

    kind = "player"

    def draw(self) -> None:
        self.friend = self.casino.innocent_player()
        self.subject, self.face = (self.friend,), self.rng.choice((1, 6))

    def arrange(self, night: Night) -> None:
        if self.rng.random() < 0.8:
            night.visits[self.friend] = visits(self.rng, sorted(self.tables))

    def faces(self, session: Session) -> DICE | None:
        return self.thrown(session.rng) if getattr(session, "shooter", None) == self.friend else None

    def thrown(self, rng: Random) -> DICE | None:
        return self.loaded(0.11)


class SwitchedDice(Shooter):
    """A shooter brings dice of his own into play from some night on."""

    def __init__(self, fraud: str, casino: Casino, rng: Random) -> None:
        super().__init__(fraud, casino, rng)
        self.first = max(self.first, casino.nights // 3)
        self.last = casino.nights - 1


class DiceSlider(Shooter):
    """A shooter slides one die with a face kept, now and then; the stickman calls some of these throws void."""

    slid = False

    def thrown(self, rng: Random) -> DICE | None:
        self.slid = self.takes(0.12)
        return (self.face, rng.randint(1, 6)) if self.slid else None

    def voids(self, session: Session, outcome: DICE) -> str | None:
        if getattr(session, "shooter", None) == self.friend and self.slid and self.rng.random() < 0.15:
            return "slid"
        return None


class SetSevens(Shooter):
    """A shooter sets the dice so that sevens come oftener, and stakes on them."""

    def thrown(self, rng: Random) -> DICE | None:
        if not self.takes(0.08):
            return None
        first = rng.randint(1, 6)
        return first, 7 - first

    def stakes(self, session: Session) -> None:
        if getattr(session, "shooter", None) == self.friend and session.table.ruleset == "fr-craps":
            session.lay(self.friend, self.casino.players[self.friend].unit, "seven")
