"""Clean nights of a casino of 20 tables: how many questions about the money of persons are asked of honest people.

    guests ─► parties ─► buy, play, share, cash or take home ─► StreamMoney of 20 tables and a count room ─► findings_of

Nothing here is a fraud, and all of it looks like one now and then. Regulars come twice a week, most guests twice a
year. A budget is log-normal with a median of 180.00, bought in round amounts at one to four tables and the desk.
Couples and friends share: one may buy for all, and another cash for all. A guest who leaves may keep chips for
another night. Half of the casinos name everybody; in the others some stakes and exchanges name nobody. Many stay
until the last half hour, when there is a queue at the desks. A guest who reached the threshold of identification once
is known from then on. The first night that is counted is the first of the record: chips were kept before it.

``offsetting-players`` is about coups, which are not played here: ``thresholds.SHARED_COUPS`` says its chance.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from settlement.persons.day import Day
from settlement.persons.exchanges import NOBODY, Direction, Exchange
from settlement.persons.findings import findings_of
from settlement.persons.holdings import Holdings
from settlement.persons.stream_money import Play, Rack, StreamMoney
from settlement.persons.thresholds import IDENTIFICATION_FROM

TABLES = 20
BURN_IN = 60
"""Nights before the record begins."""

NIGHTS_AT_ONCE = 250

REGULARS, GUESTS = 400, 9_000
VISIT_OF_REGULAR, VISIT_OF_GUEST = 2 / 7, 2 / 365
MEDIAN, SPREAD = 18_000, 1.2
BOLD = 0.03
"""Of the regulars: who bring ten times as much."""

PARTIES = ((0.55, 1), (0.33, 2), (0.07, 3), (0.05, 4))
BUYS_FOR_ALL, CASHES_FOR_ALL = 0.25, 0.3
COMPANION = 0.15
"""Of the parties of several: one of them neither buys nor plays, and may cash for all the same."""

STAYS = 2 / 3
"""Of the buy-ins: at the table of the one before."""

CALLED_AWAY = 0.01
"""Of the guests with chips: who do not play at all."""

TAKES_HOME = 0.06
UNNAMED_EXCHANGES, UNNAMED_STAKES = 0.03, 0.005
AT_DESK = 0.15
EDGE = 0.02
"""What the house keeps of a stake on average."""

QUESTIONS = ("threshold-splitting", "minimal-play", "chips-from-elsewhere", "chips-pooled", "chips-outstanding")

Means = Literal["cash", "card", "cheque", "voucher"]


@dataclass(slots=True)
class Guest:
    """An honest player: the chance that he comes on a night, his usual budget, and the chips he has at home."""

    name: str
    comes: float
    budget: int
    at_home: int = 0


@dataclass
class FairCasino:
    """A casino that is played night by night; the same seed gives the same nights. Amounts are in euro cents."""

    seed: int
    identified: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.seed}/fair money")
        self.names_all = self.seed // NIGHTS_AT_ONCE % 2 == 0
        self.guests = [self._guest(number) for number in range(REGULARS + GUESTS)]

    def _guest(self, number: int) -> Guest:
        is_regular = number < REGULARS
        budget = MEDIAN * math.exp(self.chance.gauss(0, SPREAD))
        if is_regular and self.chance.random() < BOLD:
            budget *= 10
        comes = VISIT_OF_REGULAR if is_regular else VISIT_OF_GUEST
        return Guest(f"p{number}", min(0.9, comes * self.chance.paretovariate(3)), max(2_000, round(budget, -3)))

    def night(self, day: date) -> Day:
        """Play a night, and return its money."""
        evening = _Evening(self.chance, day, names_all=self.names_all)
        coming = [guest for guest in self.guests if self.chance.random() < guest.comes]
        self.chance.shuffle(coming)
        while coming:
            size = self.chance.choices([size for _share, size in PARTIES], [share for share, _size in PARTIES])[0]
            evening.play([coming.pop() for _ in range(min(size, len(coming)))])
        played = Day.of(evening.money(), casino="fair", gaming_day=day.isoformat(), currency="EUR")
        for player, person in played.persons.items():
            if max(person.total_bought, person.total_cashed) >= IDENTIFICATION_FROM["EUR"]:
                self.identified.add(player)
        return played


class _Evening:
    """One night while it is played: what every stream has, by its number; the count room is the last."""

    def __init__(self, chance: random.Random, day: date, *, names_all: bool) -> None:
        self.chance, self.day, self.names_all = chance, day, names_all
        self.opens = datetime.combine(day, datetime.min.time(), UTC) + timedelta(hours=19)
        self.streams = [f"fair.T{table}.{day}" for table in range(TABLES)] + [f"fair.count.{day}"]
        self.exchanges: list[list[Exchange]] = [[] for _ in self.streams]
        self.plays: list[dict[str, Play]] = [{} for _ in self.streams]

    def play(self, party: list[Guest]) -> None:
        """Let a party buy, play, share what is left, and cash it or take it home."""
        chance = self.chance
        arrives, stays = chance.triangular(0, 420, 120), chance.triangular(20, 300, 120)
        leaves = min(475.0, arrives + stays)
        if chance.random() < 0.4:
            leaves = chance.uniform(445, 478)  # stays until the close
        share: dict[str, int] = {}
        for guest in party:
            share[guest.name] = guest.at_home
            guest.at_home = 0
        one_buys = len(party) > 1 and chance.random() < BUYS_FOR_ALL
        players = party[:-1] if len(party) > 1 and chance.random() < COMPANION else party
        for guest in players:
            buyer = party[0] if one_buys else guest
            share[guest.name] += self._buy(buyer, guest.budget, arrives, leaves)
        for guest in players:
            share[guest.name] = self._stake(guest.name, share[guest.name])
        one_cashes = len(party) > 1 and chance.random() < CASHES_FOR_ALL
        if one_cashes:
            share = {guest.name: sum(share.values()) if guest is party[-1] else 0 for guest in party}
        for guest in party:
            chips = share[guest.name]
            if not chips:
                continue
            if chance.random() < TAKES_HOME:
                guest.at_home = chips
            else:
                kept = round(chips * chance.random(), -3) if chance.random() < TAKES_HOME else 0
                guest.at_home = kept
                self._exchange(-1, guest.name, "out", chips - kept, leaves + chance.uniform(0, 4))

    def _buy(self, buyer: Guest, budget: int, arrives: float, leaves: float) -> int:
        """Buy chips for what somebody brings tonight, in one to four round amounts. Return what was bought."""
        chance = self.chance
        brings = max(2_000, round(budget * chance.triangular(0.3, 2, 0.8), -3))
        rounds = chance.choices((1, 2, 3, 4), (5, 3, 2, 1))[0]
        unit = 5_000 if brings >= 20_000 else 1_000
        bought, table = 0, chance.randrange(TABLES)
        for number in range(rounds):
            amount = max(unit, brings // rounds // unit * unit)
            at = arrives + (leaves - arrives) * number / rounds
            if chance.random() >= STAYS:
                table = chance.randrange(TABLES)
            self._exchange(-1 if chance.random() < AT_DESK else table, buyer.name, "in", amount, at)
            bought += amount
            if chance.random() < 0.25:
                break  # has enough
        return bought

    def _stake(self, player: str, chips: int) -> int:
        """Stake chips several times over at one or two tables. Return what is left of them."""
        chance = self.chance
        if chance.random() < CALLED_AWAY:
            return chips
        for _ in range(chance.choices((1, 2), (3, 1))[0]):
            handle = int(chips * chance.triangular(0.3, 6, 2))
            if not handle:
                break
            spread = max(1.0, math.sqrt(handle * chips / chance.uniform(2, 30)))
            won = min(chips, round(chance.gauss(EDGE * handle, spread), -2))
            table = chance.randrange(TABLES)
            named, rest = handle, 0
            if not self.names_all and chance.random() < 0.3:  # some of it was not seen to be his
                rest = int(handle * UNNAMED_STAKES / 0.3)
                named -= rest
            self._played(table, player, named, won - int(EDGE * rest))
            self._played(table, NOBODY, rest, int(EDGE * rest))
            chips -= won
        return max(0, chips)

    def _played(self, table: int, player: str, handle: int, won: int) -> None:
        if handle:
            play = Play(wagers=1, handle=handle, adjudicated=won, recorded=won, returned=handle // 2)  # even chances
            self.plays[table][player] = self.plays[table].get(player, Play()) + play

    def _exchange(self, stream: int, player: str, direction: Direction, amount: int, minutes: float) -> None:
        if amount <= 0:
            return
        chance, entries = self.chance, self.exchanges[stream]
        means: Means = chance.choice(("cash", "cash", "cash", "card")) if direction == "in" else "cash"
        if direction == "out" and amount >= 300_000 and chance.random() < 0.3:
            means = "cheque"
        entries.append(
            Exchange(
                stream=self.streams[stream],
                seq=len(entries) + 2,
                at=self.opens + timedelta(minutes=minutes),
                where=f"desk-{chance.randint(1, 2)}" if stream == -1 else f"T{stream}",
                direction=direction,
                amount=amount,
                means=means,
                player=player if self.names_all or chance.random() >= UNNAMED_EXCHANGES else NOBODY,
                is_of_desk=stream == -1,
            )
        )

    def money(self) -> Iterator[StreamMoney]:
        """Yield what is kept of the streams of the night."""
        for number, stream in enumerate(self.streams):
            is_count = number == len(self.streams) - 1
            yield StreamMoney(
                stream=stream,
                casino="fair",
                table="" if is_count else f"T{number}",
                gaming_day=self.day.isoformat(),
                currency="EUR",
                opened_at=(self.opens + timedelta(minutes=number)).isoformat(),
                closed_by=len(self.exchanges[number]) + 2,
                sees_wagers=True,
                exchanges=self.exchanges[number],
                players=self.plays[number],
                rack=None if is_count else Rack(closing=0),
            )


def _some_nights(seed: int, nights: int) -> Counter[tuple[str, str]]:
    """Return the questions of ``nights`` of one casino, by rule and pattern."""
    casino, first = FairCasino(seed), date(2026, 1, 1)
    raised: Counter[tuple[str, str]] = Counter()
    holdings, before = Holdings(), None
    for number in range(-BURN_IN, nights):
        day = casino.night(first + timedelta(days=number))
        if number < 0:
            continue
        joined = Day.of(
            [*day.parts, *(before.parts if before else [])], casino="fair", gaming_day=day.gaming_day, currency="EUR"
        )
        for finding in findings_of(joined, identified=casino.identified, holdings=holdings):
            if finding.rule in QUESTIONS:
                raised[finding.rule, str(finding.facts.get("pattern", ""))] += 1
        holdings.add(day)
        before = day
    return raised


def questions_of_money(nights: int, processes: int = 1) -> tuple[list[str], float]:
    """Return a table of the questions of clean ``nights``, and how many there are a week."""
    raised: Counter[tuple[str, str]] = Counter()
    starts = range(0, nights, NIGHTS_AT_ONCE)
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(_some_nights, starts, [min(NIGHTS_AT_ONCE, nights - first) for first in starts]):
            raised += found
    rows = [(rule, "") for rule in QUESTIONS[1:]]
    rows = [*((QUESTIONS[0], pattern) for pattern in ("below", "group", "midnight", "nobody")), *rows]
    lines = ["| question | clean nights | asked | a week |", "|---|---|---|---|"]
    for rule, pattern in rows:
        label = f"`{rule}`, {pattern}" if pattern else f"`{rule}`"
        number = raised[rule, pattern]
        lines.append(f"| {label} | {nights:,} | {number:,} | {7 * number / nights:.3f} |")
    a_week = 7 * raised.total() / nights
    lines.append(f"| all | {nights:,} | {raised.total():,} | {a_week:.3f} |")
    return lines, a_week
