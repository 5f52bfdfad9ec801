"""What ``make run`` shows: a month at two casinos, and one evening in Québec; nothing of it is real.

    VENUES ─► ``nights_of``: newest first ─► each night by itself: its sessions, then the count of the morning

A night is played without those before it: every rack closes with what it opened with, and each night has a series of
slips of its own. So the last night is there first, and a month that was interrupted goes on at any night.

People err here as they do, and put most of it right; the newest nights have errors that nobody has put right, one or
two a table. Three frauds are hidden in the month: a player who posts late and a croupier whose spins fall alike at
Deauville, and a box at Enghien from which banknotes are missing. ``docs/frauds.md`` says what is found of them.

The casino in Québec plays an evening of 2010, because s. 95.17, as it is here, is the text of that year.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from audit.simulation import nights
from audit.simulation.evening import Evening
from audit.simulation.frauds import Fraud, PastPosting, Several, Signature, Skim
from audit.simulation.nights import Night, irregularities_of
from audit.simulation.season import Season
from settlement.rulesets import RULESETS

SEED = 1
COUPS = 90
"""Coups of a session: some 1,500 events."""

MONTH = 30
FRAUDS_BEGIN = 2
"""The night of the month, from 0, on which the frauds begin."""

ERRORS_A_TABLE = 2
"""Errors that nobody has put right, of each table on the newest two nights; later one at a table in four."""

SHOWN = "dice-changed-during-point-series"
"""The error that the last night has wherever it can, and that the newcomer is shown."""

ABROAD = "charlevoix"
EARLIER_RULES = next(name for name, ruleset in RULESETS.items() if ruleset.instrument.in_force_until is not None)
"""The ruleset whose text is no longer in force: it is played where it was, in its last year."""


@dataclass(frozen=True, slots=True)
class Venue:
    """A simulated casino, and how many tables it has in a month of three tables."""

    code: str
    name: str
    zone: str
    share: int = 0


VENUES = (
    Venue("deauville", "Casino de Deauville (simulation)", "Europe/Paris", 2),
    Venue("enghien", "Casino d’Enghien (simulation)", "Europe/Paris", 1),
    Venue(ABROAD, "Casino de Charlevoix (simulation)", "America/Toronto"),
)


@dataclass(frozen=True, slots=True)
class MonthNight:
    """One night of a venue: its sessions, with the count of the morning after, if it is counted, as the last."""

    venue: Venue
    day: date
    sessions: list[Night]
    count: Night | None


@dataclass
class MonthSeason(Season):
    """The month of one casino, of which any night can be played by itself. ``number`` nights, the last the newest."""

    number: int = MONTH

    @cached_property
    def possible(self) -> dict[str, list[str]]:
        """The irregularities that each table can have."""
        return {code: sorted(irregularities_of(ruleset)) for code, ruleset in self.codes.items()}

    def irregularities(self, night: int, code: str) -> list[str]:
        chance = random.Random(f"{self.seed}/{self.casino}/{code}/{self.day(night)}/errors")
        is_new = night >= self.number - 2
        many = ERRORS_A_TABLE if is_new else int(chance.random() < 1 / 4)
        chosen = chance.sample(self.possible[code], k=min(many, len(self.possible[code])))
        is_shown = night == self.number - 1 and SHOWN in self.possible[code] and SHOWN not in chosen
        return [SHOWN, *chosen] if is_shown else chosen

    def whims(self, night: int, code: str) -> random.Random:
        return random.Random(f"{self.seed}/{self.casino}/{code}/{self.day(night)}/human")

    def evening(self, night: int, code: str, fraud: Fraud) -> Evening:
        evening = super().evening(night, code, fraud)
        evening.series = f"{self.day(night):%y%m%d}-"
        return evening

    def alone(self, night: int) -> tuple[list[Night], Night]:
        """Play one night: its sessions, and its count."""
        self.slips = {}
        played = [self.session(night, code) for code in self.codes]
        count = self.count(night, played)
        return [each.night for each in played], Night("count", "", count[0]["stream"], count)


def tables_of(venue: Venue, tables: int) -> int:
    """Return how many of ``tables`` a venue has; the one in Québec has one more."""
    if venue.code == ABROAD:
        return 1
    whole = sum(each.share for each in VENUES)
    return max(1, round(tables * venue.share / whole))


def codes_of(venue: Venue, tables: int) -> list[str]:
    """Return the codes of the tables of a venue, of ``tables`` in all."""
    if venue.code == ABROAD:
        return nights.tables_for(1, EARLIER_RULES)
    return list(season_of(venue, date.min, tables=tables, number=1).codes)


def season_of(venue: Venue, last_day: date, *, tables: int, number: int) -> MonthSeason:
    """Return the month of a venue: ``number`` nights, the last of which is of ``last_day``."""
    first_day = last_day - timedelta(days=number - 1)
    return MonthSeason(
        casino=venue.code,
        zone=venue.zone,
        tables=tables_of(venue, tables),
        first_day=first_day,
        seed=SEED,
        coups=COUPS,
        fraud=_fraud(venue),
        number=number,
    )


def nights_of(last_day: date, *, tables: int, number: int) -> Iterator[tuple[Venue, date]]:
    """Yield the nights of a month in the order in which they are recorded: the newest first, Québec after two."""
    for back in range(number):
        for venue in VENUES:
            if venue.share:
                yield venue, last_day - timedelta(days=back)
        if back == min(1, number - 1):
            yield next(venue for venue in VENUES if not venue.share), nights.day_played(EARLIER_RULES, last_day)


def play(venue: Venue, day: date, last_day: date, *, tables: int, number: int) -> MonthNight:
    """Play one night of the month that ends with ``last_day``. The same arguments give the same night."""
    if venue.code == ABROAD:
        errors: Sequence[str] = sorted(irregularities_of(EARLIER_RULES))[:ERRORS_A_TABLE]
        begun: dict[str, Any] = {"casino": venue.code, "gaming_day": day, "seed": SEED, "coups": COUPS}
        code = nights.tables_for(1, EARLIER_RULES)[0]
        session = nights.play(EARLIER_RULES, code=code, irregularities=errors, zone=venue.zone, **begun)
        return MonthNight(venue, day, [session], None)
    season = season_of(venue, last_day, tables=tables, number=number)
    sessions, count = season.alone((day - season.first_day).days)
    return MonthNight(venue, day, sessions, count)


def _fraud(venue: Venue) -> Fraud:
    if venue.code == "enghien":
        return Skim(40_000, begins=FRAUDS_BEGIN)
    return Several(PastPosting(0.3, begins=FRAUDS_BEGIN), Signature(0.6, begins=FRAUDS_BEGIN))
