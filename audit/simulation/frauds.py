"""Frauds that a season can hide, each with a strength; what they change is what the audited table would see.

past-posting   a player stakes on the number just before the call, knowing it, at one bet in so many (part of bets)
collusion      two players stake the same on red and on black (part of their coups)
signature      a croupier's ball falls near the same distance from the last pocket (part of his spins)
loaded-dice    every die of a table shows six more often, and one more seldom (part of the probability)
tilted-wheel   the pockets of a wheel come by a sinusoid (its amplitude)
section        a croupier aims at the nine pockets that an accomplice has staked on (part of his spins)
skim           banknotes go missing from a table's box before the count (minor units a night)
laundering     banknotes become chips, and hardly touched a cheque (minor units a visit)
false-fill     the slip of a fill without its chips, every other one a slip of the week before (minor units)
late-void      «Coup nul» when a seven has fallen (part of the sevens)

``surveillance`` has those that only who watches would see, and all of them by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

from audit.simulation.plan import Guest, Plan
from audit.simulation.played_table import PlayedTable

Rota: TypeAlias = Mapping[str, Sequence[str]]
"""The croupiers of each table on one night, by its code."""

NEIGHBOURS = 9
"""Pockets of a section, and of the arc that a croupier's ball keeps to."""

VISITS = (0, 1, 3, 4)
"""Nights of a week on which a fraudulent player comes."""

CHIP = 400

SEVEN = 7


class Fraud:
    """No fraud: what every table of an orderly season has. The frauds are the subclasses.

    ``begins`` is the first night, from 0. ``suspects`` are the ids that a finding or question has to name.
    """

    name: ClassVar[str] = ""
    strength_by_default: ClassVar[float] = 0
    letter: ClassVar[str] = "R"  # of the table where it happens

    def __init__(self, strength: float | None = None, *, begins: int = 7) -> None:
        self.strength = self.strength_by_default if strength is None else strength
        self.begins = begins
        self.missing_from_rack = 0  # minor units, of the session that is being played

    @property
    def code(self) -> str:
        """The code of its table."""
        return f"{self.letter}1"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.code})

    def is_named_by(self, subject: str) -> bool:
        """Whether the subject of a finding or a process is, or has, a suspect."""
        return any(part in self.suspects for part in subject.split(", "))

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        """Whether the session of a night, whose ``rota`` it is, is another one because of this fraud."""
        return bool(self.name) and night >= self.begins and code == self.code

    def at(self, rota: Rota, night: int, code: str) -> Fraud:
        """Return the fraud that changes a session: this one, or none."""
        return self if self.touches(rota, night, code) else Fraud()

    def arrange(self, plan: Plan) -> None:
        """Change the plan of a session that this fraud touches."""

    def between_coups(self, session: PlayedTable) -> None:
        """Called before each coup."""

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        """Called before «Rien ne va plus», with the pocket that will come."""

    def pocket(self, session: PlayedTable, fair: str) -> str:
        """Return the pocket that comes where a fair wheel gives ``fair``."""
        return fair

    def faces(self, session: PlayedTable, fair: list[int]) -> list[int]:
        """Return the faces of a throw where fair dice give ``fair``."""
        return fair

    def voids(self, session: PlayedTable, landed: str) -> bool:
        """Whether the croupier calls a spin void that ``landed`` in a pocket."""
        return False

    def counted(self, night: int, code: str, drop: int) -> int:
        """Return what is counted of the ``drop`` of a box."""
        return drop

    def cashes_by(self, player: str) -> str:
        """Return the means by which a player has his chips changed."""
        return "cash"

    def _visits(self, night: int) -> bool:
        return (night - self.begins) % 7 in VISITS


def seat_last(plan: Plan, *guests: Guest) -> None:
    """Let ``guests`` have the last seats."""
    plan.guests[len(plan.guests) - len(guests) :] = guests


class PastPosting(Fraud):
    name = "past-posting"
    strength_by_default = 0.05
    player = "p9001"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and self._visits(night)

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, Guest(self.player, 1, 100_000, plays=False))

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        knows = session.chance.random() < self.strength
        number = coming if knows else str(session.chance.randrange(37))
        session.writer.place("plein", CHIP, player=self.player, numbers=[number], wait_s=0.5)


class Collusion(Fraud):
    name = "collusion"
    strength_by_default = 0.9
    players = ("p9002", "p9003")

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset(self.players)

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and self._visits(night)

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, *(Guest(player, 2, 200_000, plays=False) for player in self.players))

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        stake = 2 * CHIP * session.chance.randint(1, 3)
        sides = ["rouge", "noir"]
        session.chance.shuffle(sides)
        if session.chance.random() >= self.strength:
            sides[1] = sides[0]
        for player, bet in zip(self.players, sides, strict=True):
            session.writer.place(bet, stake, player=player)


class Aimed(Fraud):
    """A croupier of the first pit who does something with the ball."""

    def __init__(self, strength: float | None = None, *, begins: int = 7) -> None:
        super().__init__(strength, begins=begins)
        self.last: dict[str, int] = {}

    @property
    def croupier(self) -> str:
        return f"croupier-{self.letter.lower()}1-1"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.croupier})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return night >= self.begins and self.croupier in rota.get(code, ())

    def is_on_duty(self, session: PlayedTable) -> bool:
        return session.writer.people["croupier-1"] == self.croupier


class Signature(Aimed):
    name = "signature"
    strength_by_default = 0.3

    def pocket(self, session: PlayedTable, fair: str) -> str:
        wheel = session.wheel
        stream = session.writer.stream
        before, landed = self.last.get(stream), wheel.index(fair)
        if before is not None and self.is_on_duty(session) and session.chance.random() < self.strength:
            landed = (before + 3 + session.chance.randrange(NEIGHBOURS)) % len(wheel)
        self.last = {stream: landed}
        return wheel[landed]


class Section(Aimed):
    name = "section"
    strength_by_default = 0.2
    player = "p9004"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player, self.croupier})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and self._visits(night)

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, Guest(self.player, 4, 800_000, plays=False))

    def _section(self, session: PlayedTable) -> list[str]:
        return session.wheel[4 : 4 + NEIGHBOURS]

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        if self.is_on_duty(session):
            for number in self._section(session):
                session.writer.place("plein", CHIP, player=self.player, numbers=[number], wait_s=0.4)

    def pocket(self, session: PlayedTable, fair: str) -> str:
        aims = self.is_on_duty(session) and session.chance.random() < self.strength
        return session.chance.choice(self._section(session)) if aims else fair


class TiltedWheel(Fraud):
    name = "tilted-wheel"
    strength_by_default = 0.15

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({f"wheel-{self.code}"})

    def pocket(self, session: PlayedTable, fair: str) -> str:
        size = len(session.wheel)
        weights = [1 + self.strength * math.cos(2 * math.pi * index / size) for index in range(size)]
        return session.chance.choices(session.wheel, weights)[0]


class LoadedDice(Fraud):
    name = "loaded-dice"
    strength_by_default = 0.25
    letter = "C"

    def faces(self, session: PlayedTable, fair: list[int]) -> list[int]:
        weights = [1 - self.strength, 1, 1, 1, 1, 1 + self.strength]
        return session.chance.choices(range(1, 7), weights, k=2)


class LateVoid(Fraud):
    name = "late-void"
    strength_by_default = 0.2
    letter = "C"

    def faces(self, session: PlayedTable, fair: list[int]) -> list[int]:
        if sum(fair) != SEVEN or session.chance.random() >= self.strength:
            return fair
        session.void(fair)
        return [session.chance.randint(1, 6), session.chance.randint(1, 6)]


class Skim(Fraud):
    name = "skim"
    strength_by_default = 5_000

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return False  # the session is as it was; its box is not

    def counted(self, night: int, code: str, drop: int) -> int:
        is_skimmed = night >= self.begins and code == self.code
        return max(0, drop - int(self.strength)) if is_skimmed else drop


class Laundering(Fraud):
    name = "laundering"
    strength_by_default = 300_000
    player = "p9005"

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset({self.player})

    def touches(self, rota: Rota, night: int, code: str) -> bool:
        return super().touches(rota, night, code) and (night - self.begins) % 7 == 0

    def arrange(self, plan: Plan) -> None:
        seat_last(plan, Guest(self.player, 1, 10_000, plays=False))

    def between_coups(self, session: PlayedTable) -> None:
        if session.coup == 2:
            amount = int(self.strength)
            session.bought += amount
            session.writer.stacks[self.player] += amount
            session.writer.write("buy_in.recorded", player=self.player, amount=amount, means="cash")

    def before_the_call(self, session: PlayedTable, coming: str) -> None:
        if session.coup % 10 == 3:
            session.writer.place("rouge", CHIP, player=self.player)

    def cashes_by(self, player: str) -> str:
        return "cheque" if player == self.player else "cash"


class FalseFill(Fraud):
    name = "false-fill"
    strength_by_default = 200_000
    every = 3

    def arrange(self, plan: Plan) -> None:
        occasion, is_missed = divmod(plan.night - self.begins, self.every)
        self.missing_from_rack = 0 if is_missed else int(self.strength)
        self.reused = "" if occasion % 2 == 0 else f"{plan.code}-{max(1, plan.slips - 21):06}"

    def between_coups(self, session: PlayedTable) -> None:
        if self.missing_from_rack and session.coup == 30:
            session.filled += self.missing_from_rack
            slip = self.reused or session.next_slip()
            session.writer.write("bank.filled", amount=self.missing_from_rack, slip=slip)


class Several(Fraud):
    """Frauds that one season hides. A session that more than one of them touches has the first."""

    name = "several"

    def __init__(self, *frauds: Fraud) -> None:
        super().__init__()
        self.frauds = frauds

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset[str]().union(*(fraud.suspects for fraud in self.frauds))

    def at(self, rota: Rota, night: int, code: str) -> Fraud:
        touching = (fraud for fraud in self.frauds if fraud.touches(rota, night, code))
        return next(touching, Fraud())

    def counted(self, night: int, code: str, drop: int) -> int:
        for fraud in self.frauds:
            drop = fraud.counted(night, code, drop)
        return drop

    def cashes_by(self, player: str) -> str:
        return "cheque" if any(fraud.cashes_by(player) == "cheque" for fraud in self.frauds) else "cash"
