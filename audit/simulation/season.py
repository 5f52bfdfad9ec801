"""A season: the nights of a casino, with players who come back, croupiers on a rota, wheels and dice that are known by
id, slips whose numbers run on, and a count every morning. It is orderly, unless a fraud is hidden in it.

    season ─► rota, guests, equipment of each night ─► ``Evening`` ─► a session of each table ─► count and cash desk

Many guests come now and then with small means; few are bold, and these are known. The cash desk is cautious: it
identifies a guest who exchanges half the threshold of identification or more. Each session draws from a generator of
its own, so a fraud changes the sessions that it touches and no other.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any

from audit.simulation.evening import Evening
from audit.simulation.frauds import Fraud
from audit.simulation.nights import Night, simulator_of
from audit.simulation.plan import Guest
from audit.simulation.session import Session
from settlement.persons.thresholds import IDENTIFICATION_FROM
from settlement.rulesets import RULESETS

GUESTS_A_TABLE = 40
"""The guests of a casino, for each of its tables."""

MEANS: Sequence[tuple[int, int, int]] = ((60, 1, 30_000), (30, 2, 60_000), (7, 4, 120_000), (3, 10, 800_000))
"""Out of a hundred guests: how many have which boldness, and which budget of an evening in minor units."""

KNOWN_FROM = 10
"""The boldness of those who are identified from the first evening on."""

IDENTIFIED_FROM = IDENTIFICATION_FROM["EUR"] // 2

PIT_TABLES = 3
PIT_CROUPIERS = 8
"""Of each pit: its tables, of one game, and its croupiers."""

TEAMS = (("compteur-1", "compteur-2"), ("compteur-3", "compteur-4"), ("compteur-5", "compteur-6"))
"""The persons who count a night's boxes together, in turn."""

SHIFTS = ("week", "week", "week", "week", "weekend", "weekend", "weekend")
"""By night of the week."""

CURRENCY = "EUR"
FLOAT = 5_000_000

PASSERS = 16
"""Of each table: who may sit down in the course of an evening, where people come and go."""

DICE_SETS = 4
"""Sets of dice of a table, which are changed every week."""


@dataclass(frozen=True, slots=True)
class Played:
    """One session of a season. Amounts in minor units: what was bought, and what each player has left to change."""

    night: Night
    bought: int
    stacks: dict[str, int]
    spent: dict[str, int]
    closing_float: int
    slips: int

    @property
    def code(self) -> str:
        return self.night.code


@dataclass(frozen=True, slots=True)
class SeasonNight:
    """One night: its sessions, and the stream of the count room with the cash desk."""

    number: int
    day: date
    sessions: list[Played]
    count: list[dict[str, Any]]


@dataclass
class Season:
    """A season that is played night by night. The same arguments give the same season, to the byte.

    ``count_errors`` is the standard deviation of an honest miscount of a box, in minor units; 0 in an orderly season.
    ``identified`` are the players whose identity was verified so far.
    """

    casino: str = "deauville"
    first_day: date = date(2026, 9, 1)
    tables: int = 20
    seed: int = 1
    coups: int = 100
    fraud: Fraud = field(default_factory=Fraud)
    count_errors: int = 0
    zone: str = "Europe/Paris"
    floats: dict[str, int] = field(default_factory=dict)
    slips: dict[str, int] = field(default_factory=dict)
    identified: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.identified |= {guest.name for _game, guest, _weight in self.guests if guest.boldness >= KNOWN_FROM}

    # What is planned

    @cached_property
    def games(self) -> list[str]:
        """The rulesets of the tables, repeated: those of a night’s mix in force and in euros, most played first."""
        played = [
            name
            for name, ruleset in RULESETS.items()
            if simulator_of(name).tables_in_mix
            and simulator_of(name).currency == CURRENCY
            and ruleset.instrument.in_force_until is None
        ]

        def share(name: str) -> tuple[int, str, str]:
            return simulator_of(name).tables_in_mix, RULESETS[name].equipment or "", name

        return sorted(played, key=share, reverse=True)

    @cached_property
    def codes(self) -> dict[str, str]:
        """The code of each table, with its ruleset."""
        numbers: Counter[str] = Counter()
        codes = {}
        for index in range(self.tables):
            game = self.games[index % len(self.games)]
            numbers[game] += 1
            codes[f"{simulator_of(game).letter}{numbers[game]}"] = game
        return codes

    @cached_property
    def guests(self) -> list[tuple[str, Guest, float]]:
        """Every guest, with the game that he plays and how often he comes compared with others."""
        chance = random.Random(f"{self.seed}/{self.casino}/guests")
        played = list(self.codes.values())
        guests = []
        for number in range(GUESTS_A_TABLE * self.tables):
            _of_hundred, boldness, budget = chance.choices(MEANS, [share for share, _b, _m in MEANS])[0]
            often = min(30.0, chance.paretovariate(1.2))
            guests.append((played[number % len(played)], Guest(f"p{1000 + number}", boldness, budget), often))
        return guests

    def day(self, night: int) -> date:
        return self.first_day + timedelta(days=night)

    def rota(self, night: int) -> dict[str, list[str]]:
        """Return the two croupiers of each table on a night, by its code."""
        rota: dict[str, list[str]] = {}
        for game in self.games:
            codes = [code for code, ruleset in self.codes.items() if ruleset == game]
            pits = [codes[first : first + PIT_TABLES] for first in range(0, len(codes), PIT_TABLES)]
            for pit, tables in enumerate(pits, start=1):
                chance = random.Random(f"{self.seed}/{self.casino}/{self.day(night)}/{game}/{pit}")
                team = [f"croupier-{tables[0][0].lower()}{pit}-{number}" for number in range(1, PIT_CROUPIERS + 1)]
                chance.shuffle(team)
                rota |= {code: team[2 * index : 2 * index + 2] for index, code in enumerate(tables)}
        return rota

    def guests_of(self, night: int) -> dict[str, list[Guest]]:
        """Return who sits at each table on a night, by its code: four to seven guests of its game."""
        chance = random.Random(f"{self.seed}/{self.casino}/{self.day(night)}/guests")
        seated = {}
        for game in self.games:
            # The larger his weight, the sooner a guest comes (Efraimidis and Spirakis).
            coming = sorted((chance.random() ** (1 / often), guest) for own, guest, often in self.guests if own == game)
            for code in (code for code, ruleset in self.codes.items() if ruleset == game):
                number = chance.randint(4, 7)
                coming, seats = coming[:-number], coming[-number:]
                seated[code] = [guest for _rank, guest in seats]
        return seated

    def evening(self, night: int, code: str, fraud: Fraud) -> Evening:
        """Return the plan of a table for a night."""
        week = night // 7
        evening = Evening(
            night=night,
            code=code,
            guests=self.guests_of(night)[code],
            croupiers=self.rota(night)[code],
            chief=f"chef-{code.lower()}",
            stickman=f"stickman-{code.lower()}",
            wheel=f"wheel-{code}",
            dice_sets=[f"dice-{code}-{week}-{number}" for number in range(1, DICE_SETS + 1)],
            float_at_opening=self.floats.get(code, FLOAT),
            slips=self.slips.get(code, 0),
            fraud=fraud,
            passers=[f"p{7000 + PASSERS * list(self.codes).index(code) + number}" for number in range(PASSERS)],
        )
        fraud.arrange(evening)
        return evening

    def irregularities(self, night: int, code: str) -> list[str]:
        """Return what goes wrong at a table on a night, by name: nothing in an orderly season."""
        return []

    def whims(self, night: int, code: str) -> random.Random | None:
        """Return the chance of what people do at a table on a night; None in an orderly season."""
        return None

    # What is played

    def session(self, night: int, code: str) -> Played:
        """Play the session of a table, the next of it, and keep where its rack and its slips end."""
        ruleset = self.codes[code]
        session: Session = simulator_of(ruleset)(
            casino=self.casino,
            code=code,
            gaming_day=self.day(night),
            chance=random.Random(f"{self.seed}/{self.casino}/{code}/{self.day(night)}"),
            coups=self.coups,
            zone=self.zone,
            evening=self.evening(night, code, self.fraud.at(self.rota(night), night, code)),
            irregularities=self.irregularities(night, code),
            whims=self.whims(night, code),
        )
        events = session.play()
        assert session.evening is not None
        closing = next(event for event in reversed(events) if event["type"] == "session.closed")["data"]["float"]
        self.floats[code], self.slips[code] = closing, session.slips
        return Played(
            Night(code, ruleset, session.writer.stream, events, session.injected, session.irregularities),
            session.bought,
            {player: chips for player, chips in sorted(session.writer.stacks.items()) if player and chips > 0},
            dict(sorted(session.evening.spent.items())),
            closing,
            session.slips,
        )

    def count(self, night: int, sessions: Sequence[Played]) -> list[dict[str, Any]]:
        """Return the stream of the cash desk and the count room of a night, and identify who exchanged much."""
        chance = random.Random(f"{self.seed}/{self.casino}/{self.day(night)}/count")
        entries: list[tuple[str, dict[str, Any]]] = [
            ("count.opened", {"casino": self.casino, "gaming_day": self.day(night).isoformat(), "currency": "EUR"})
        ]
        for played in sessions:
            for player, chips in played.stacks.items():
                means = self.fraud.cashes_by(player)
                desk = {"direction": "out", "amount": chips, "means": means, "player": player}
                entries.append(("cash_desk.recorded", desk))
                if max(chips, played.spent.get(player, 0)) >= IDENTIFIED_FROM:
                    self.identified.add(player)
            self.identified |= {player for player, spent in played.spent.items() if spent >= IDENTIFIED_FROM}
        for played in sessions:
            miscount = round(chance.gauss(0, self.count_errors)) if self.count_errors else 0
            amount = max(0, self.fraud.counted(night, played.code, played.bought) + miscount)
            counted = {"session": played.night.stream, "amount": amount, "counted_by": list(self.team(night))}
            entries.append(("drop.counted", counted))
        entries.append(("count.closed", {}))
        return self._stream(night, entries)

    def _stream(self, night: int, entries: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        opened = datetime.combine(self.day(night) + timedelta(days=1), datetime.min.time(), UTC) + timedelta(hours=3)
        return [
            {
                "stream": f"{self.casino}.count.{self.day(night)}.EUR",
                "seq": seq,
                "type": kind,
                "v": 1,
                "occurred_at": (opened + timedelta(seconds=20 * seq)).isoformat(timespec="milliseconds"),
                **({"actor": "desk-1"} if kind == "cash_desk.recorded" else {}),
                "data": data,
            }
            for seq, (kind, data) in enumerate(entries, start=1)
        ]

    def team(self, night: int) -> tuple[str, str]:
        """Return who counts the boxes of a night."""
        return TEAMS[night % len(TEAMS)]

    def shift(self, night: int) -> str:
        """Return the shift of a night."""
        return SHIFTS[self.day(night).weekday()]

    def nights(self, number: int) -> Iterator[SeasonNight]:
        """Play ``number`` nights, one after the other."""
        for night in range(number):
            sessions = [self.session(night, code) for code in self.codes]
            yield SeasonNight(night, self.day(night), sessions, self.count(night, sessions))
