"""Who works and who plays, and where they are on a night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from benchmarks.seasons_apart.law import ON_NUMBER, ONE_ROLL, Spot, drawn_spot

MINUTE = 60_000
OPENS, CLOSES = 20 * 60 * MINUTE, 24 * 60 * MINUTE
GAMES = ("fr-roulette", "fr-american-roulette", "fr-craps", "fr-roulette", "fr-american-roulette", "qc-craps")
FIRST_DAY = date(2009, 1, 5)  # both instruments and section 95.17 were in force


class Table(NamedTuple):
    """A table: its code, its rules."""

    code: str
    ruleset: str

    @property
    def craps(self) -> bool:
        return self.ruleset.endswith("craps")


class Shift(NamedTuple):
    """A croupier deals at a table from ``start`` until ``end``, in milliseconds after midnight of the gaming day."""

    day: str
    table: str
    croupier: str
    start: int
    end: int


class Visit(NamedTuple):
    """A player means to play at a table."""

    table: str
    start: int
    until: int


@dataclass
class Player:
    """A player with habits, and with chips in the purse while in the casino (minor units)."""

    name: str
    unit: int
    attends: float
    games: tuple[str, ...]
    spots: list[Spot]
    bets: list[tuple[str, int | None]]
    takes_half: bool
    buys_at_desk: bool
    purse: int = 0
    rebuys: int = 0


@dataclass
class Staff:
    """Everybody who works; ``slips`` is how often a croupier pays wrongly by mistake."""

    croupiers: list[str]
    inspectors: list[str]
    counters: list[str]
    slips: dict[str, float]


@dataclass
class Night:
    """The plan of a gaming day."""

    number: int
    day: str
    next_day: str
    fatigue: float
    shifts: dict[str, list[Shift]] = field(default_factory=dict)
    crews: dict[str, list[str]] = field(default_factory=dict)
    chefs: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    closers: dict[str, str] = field(default_factory=dict)
    visits: dict[str, list[Visit]] = field(default_factory=dict)
    equipment: dict[str, str] = field(default_factory=dict)

    def shifts_of(self, croupier: str) -> list[Shift]:
        """Return where somebody deals, in order of time."""
        return sorted(
            (s for all_ in self.shifts.values() for s in all_ if s.croupier == croupier), key=lambda s: s.start
        )


def the_tables(count: int) -> list[Table]:
    """Return so many tables, the games in turn."""
    return [Table(f"T{at + 1}", GAMES[at % len(GAMES)]) for at in range(count)]


def hired(rng: Random, tables: int) -> Staff:
    """Return the staff of so many tables."""
    croupiers = [f"C{at:02}" for at in range(1, 4 * tables + 1)]
    inspectors = [f"I{at:02}" for at in range(1, tables + 4)]
    slips = {croupier: 0.002 * rng.lognormvariate(0, 0.6) for croupier in croupiers}
    return Staff(croupiers, inspectors, ["K1", "K2", "K3", "K4"], slips)


def drawn_bet(rng: Random, ruleset: str) -> tuple[str, int | None]:
    """Return a bet at craps and its number."""
    number = rng.choice((4, 5, 6, 8, 9, 10))
    if ruleset == "qc-craps":
        return rng.choice(("right_bet", "right_bet", "buy_bet", "lay_bet")), number
    bet = rng.choice(
        ("win", "win", "dont_win", "come", "right_bet", "right_bet", "wrong_bet", "hardway", "big_6", *ONE_ROLL)
    )
    if bet == "hardway":
        return bet, number // 2 * 2
    return bet, 6 if bet == "big_6" else number if bet in ON_NUMBER else None


def drawn_player(rng: Random, name: str) -> Player:
    """Return a player with habits of his own."""
    return Player(
        name,
        rng.choice((200, 500, 500, 1000, 1000, 2000, 5000)),
        rng.uniform(0.15, 0.8),
        tuple(dict.fromkeys(rng.choices(GAMES, k=2))),
        [drawn_spot(rng) for _ in range(rng.randint(2, 6))],
        [drawn_bet(rng, "fr-craps") for _ in range(4)],
        rng.random() < 0.6,
        rng.random() < 0.3,
    )


def planned(rng: Random, number: int, tables: Sequence[Table], staff: Staff, guests: Sequence[Player]) -> Night:
    """Return the plan of a night, without frauds: crews, breaks, visits."""
    day = FIRST_DAY + timedelta(number)
    night = Night(number, day.isoformat(), (day + timedelta(1)).isoformat(), rng.lognormvariate(0, 0.3))
    croupiers, inspectors = (rng.sample(all_, len(all_)) for all_ in (staff.croupiers, staff.inspectors))
    for at, table in enumerate(tables):
        crew = night.crews[table.code] = croupiers[3 * at : 3 * at + 3]
        start, shifts = OPENS, []
        while start < CLOSES:
            end = start + rng.randint(20, 40) * MINUTE
            last = end > CLOSES - 15 * MINUTE  # who deals then stays until the table is closed
            shifts.append(Shift(night.day, table.code, crew[len(shifts) % 3], start, CLOSES if last else end))
            start = CLOSES if last else end
        night.shifts[table.code] = shifts
        chefs = [(OPENS, inspectors[at])]
        if rng.random() < 0.5:
            chefs.append((OPENS + rng.randint(60, 180) * MINUTE, inspectors[len(tables) + at % 3]))
        night.chefs[table.code] = chefs
        night.closers[table.code] = chefs[-1][1] if rng.random() < 0.5 else rng.choice(inspectors)
    for guest in guests:
        places = [table.code for table in tables if table.ruleset in guest.games]
        if places and rng.random() < guest.attends:
            night.visits[guest.name] = visits(rng, places)
    return night


def visits(rng: Random, places: list[str]) -> list[Visit]:
    """Return up to three visits of an evening."""
    found, start = [], OPENS + rng.randint(0, 150) * MINUTE
    for _ in range(rng.choice((1, 1, 2, 3))):
        until = start + rng.randint(30, 100) * MINUTE
        found.append(Visit(rng.choice(places), start, min(until, CLOSES)))
        start = until + rng.randint(1, 10) * MINUTE
        if start > CLOSES - 30 * MINUTE:
            break
    return found


def follow(rng: Random, night: Night, player: str, croupier: str, tables: set[str], share: float = 0.8) -> None:
    """Let ``player`` come on this night and play where ``croupier`` deals, as far as ``tables`` go."""
    shifts = [shift for shift in night.shifts_of(croupier) if shift.table in tables and rng.random() < share]
    if shifts:
        night.visits[player] = [Visit(shift.table, shift.start, shift.end) for shift in shifts]
