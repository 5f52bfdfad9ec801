"""A casino for a season: it plans the nights, lets the tables play at the same time, and counts in the end.

One casino has the tables of both countries, so that its players go from one to another and its desk is one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from benchmarks.seasons_apart import chance, desk, tables
from benchmarks.seasons_apart.craps import Craps, QuebecCraps
from benchmarks.seasons_apart.people import (
    MINUTE,
    OPENS,
    Night,
    Visit,
    drawn_player,
    follow,
    hired,
    planned,
    the_tables,
)
from benchmarks.seasons_apart.roulette import AmericanRoulette, Roulette
from benchmarks.seasons_apart.scheme import Scheme
from benchmarks.seasons_apart.session import Session
from benchmarks.seasons_apart.tape import Tape

FRAUDS: dict[str, type[Scheme]] = {
    "past_poster": tables.PastPoster,
    "past_poster_and_croupier": tables.PastPosterPair,
    "late_call": tables.LateCall,
    "overpaid_friend": tables.OverpaidFriend,
    "overpaid_a_little": tables.OverpaidALittle,
    "overpaid_runners": tables.OverpaidRunners,
    "unswept_friend": tables.UnsweptFriend,
    "lifted_friend": tables.LiftedFriend,
    "handed_friend": tables.HandedFriend,
    "voided_spins": tables.VoidedSpins,
    "voided_throws": tables.VoidedThrows,
    "settled_friend": tables.SettledFriend,
    "goodwill_friend": tables.GoodwillFriend,
    "corrected_friend": tables.CorrectedFriend,
    "approving_inspector": tables.ApprovingInspector,
    "short_closer": tables.ShortCloser,
    "short_on_duty": tables.ShortOnDuty,
    "biased_sector": chance.Biased,
    "biased_sector_later": chance.BiasedLater,
    "biased_pocket": chance.BiasedPocket,
    "wheel_team": chance.WheelTeam,
    "steered_ball": chance.SteeredBall,
    "loaded_dice": chance.LoadedDice,
    "switched_dice": chance.SwitchedDice,
    "dice_slider": chance.DiceSlider,
    "set_sevens": chance.SetSevens,
    "walking_chips": desk.WalkingChips,
    "pooled_runners": desk.PooledRunners,
    "structuring": desk.Structuring,
    "launderer": desk.Launderer,
}
SESSIONS: dict[str, type[Session]] = {
    "fr-roulette": Roulette,
    "fr-american-roulette": AmericanRoulette,
    "fr-craps": Craps,
    "qc-craps": QuebecCraps,
}


class Stream(NamedTuple):
    """A stream of a season; the count of a night has neither table nor ruleset."""

    name: str
    gaming_day: str
    table: str
    ruleset: str
    events: list[dict[str, Any]]


class Deed(NamedTuple):
    """What a fraud did, or an honest mistake (``cause`` is ``mishap``), where it shows."""

    cause: str
    what: str
    stream: str
    wager: str | None
    seq: int | None


class Casino:
    """The casino; ``mishaps`` multiplies the rate of honest mistakes."""

    def __init__(self, seed: int, nights: int, count: int, frauds: Sequence[str], mishaps: float) -> None:
        self.seed, self.nights, self.mishaps = seed, nights, mishaps
        rng = Random(f"{seed}/casino")
        self.tables = the_tables(count)
        self.staff = hired(rng, count)
        names = [f"P{at:03}" for at in range(1, 14 * count + 31)]
        self.players = {name: drawn_player(rng, name) for name in names}
        self.wheels = {table.code: f"W{at + 1}" for at, table in enumerate(self.tables) if not table.craps}
        self.dice = [f"D{at + 1}" for at in range(sum(table.craps for table in self.tables) + 1)]
        pools = (self.staff.croupiers, self.staff.inspectors, names, list(self.wheels.values()))
        self.pools = [rng.sample(pool, len(pool)) for pool in pools]
        self.plans = self.planned(rng)
        self.deeds: list[Deed] = []
        self.schemes = [FRAUDS[fraud](fraud, self, Random(f"{seed}/{at}/{fraud}")) for at, fraud in enumerate(frauds)]
        for scheme in self.schemes:
            if not scheme.tables:
                raise ValueError(f"no table at which {scheme.fraud} could happen")

    def planned(self, rng: Random) -> list[Night]:
        """Return the plans of all nights; three honest players always sit with the croupier who brings them luck."""
        guests, all_codes = list(self.players.values()), {table.code for table in self.tables}
        lucky = [(self.innocent(2), self.innocent(0)) for _ in range(3)]
        wheels, plans = dict(self.wheels), []
        for number in range(self.nights):
            night = planned(rng, number, self.tables, self.staff, guests)
            if rng.random() < 0.1 and len(wheels) > 1:  # two wheels change places
                one, other = rng.sample(sorted(wheels), 2)
                wheels[one], wheels[other] = wheels[other], wheels[one]
            sets = rng.sample(self.dice, len(self.dice))
            night.equipment = {t.code: sets.pop() if t.craps else wheels[t.code] for t in self.tables}
            for player, croupier in lucky:
                if rng.random() < 0.4:
                    follow(rng, night, player, croupier, all_codes)
            plans.append(night)
        return plans

    # Who may be guilty: each only once

    def innocent(self, pool: int) -> str:
        if not self.pools[pool]:
            raise ValueError("too many frauds for so few people and tables")
        return self.pools[pool].pop()

    def innocent_croupier(self) -> str:
        return self.innocent(0)

    def innocent_inspector(self) -> str:
        return self.innocent(1)

    def innocent_player(self) -> str:
        name = self.innocent(2)
        self.players[name].unit = max(1000, self.players[name].unit)
        return name

    def innocent_wheel(self) -> str:
        return self.innocent(3)

    # Nights

    def streams(self) -> Iterator[Stream]:
        """Play the season, a night at a time."""
        for night in self.plans:
            yield from self.play(night)

    def play(self, night: Night) -> Iterator[Stream]:
        schemes = [scheme for scheme in self.schemes if scheme.first <= night.number <= scheme.last]
        for scheme in schemes:
            scheme.arrange(night)
        self.rng = Random(f"{self.seed}/{night.number}")
        self.changed: list[tuple[int, str, int, str | None, str]] = []
        self.waiting: dict[str, list[tuple[int, str, Visit]]] = {table.code: [] for table in self.tables}
        self.visits = {player: list(plan) for player, plan in night.visits.items()}
        for player in self.visits:
            self.players[player].rebuys = 0
            self.leaves(player, 0)
        sessions = []
        for table in self.tables:
            here = [scheme for scheme in schemes if table.code in scheme.tables]
            rng = Random(f"{self.seed}/{night.number}/{table.code}")
            sessions.append(SESSIONS[table.ruleset](self, night, table, here, rng))
        runs = [session.run() for session in sessions]
        queue = [(OPENS, at) for at in range(len(sessions))]
        while queue:  # the table whose clock is behind plays next, so that chips are carried from one to another
            _, at = heapq.heappop(queue)
            if (now := next(runs[at], None)) is not None:
                heapq.heappush(queue, (now, at))
        for player, guest in self.players.items():
            if guest.purse:
                self.cash(player, max(session.tape.now for session in sessions))
        for scheme in schemes:
            scheme.at_desk(night)
        for session in sessions:
            yield Stream(session.tape.stream, night.day, session.table.code, session.table.ruleset, session.tape.events)
        yield self.count(night, sessions)

    def count(self, night: Night, sessions: Sequence[Session]) -> Stream:
        """Return the count of a night: what the desk changed, then the boxes."""
        tape = Tape(f"apart.count.{night.day}", night.day, night.next_day, OPENS)
        tape.add("count.opened", casino="apart", gaming_day=night.day, currency="EUR")
        for at, direction, amount, player, means in sorted(self.changed, key=lambda change: change[0]):
            tape.now = at
            tape.add("cash_desk.recorded", direction=direction, amount=amount, player=player, means=means)
        counters = sorted(self.rng.sample(self.staff.counters, 2))
        for session in sessions:
            tape.add(
                "drop.counted", after=MINUTE, session=session.tape.stream, amount=session.drop, counted_by=counters
            )
        tape.add("count.closed", after=MINUTE)
        return Stream(tape.stream, night.day, "", "", tape.events)

    # Guests between tables, and the cash desk

    def arriving(self, table: str, now: int) -> Iterator[tuple[Visit, str]]:
        """Yield who has come to a table by now."""
        while self.waiting[table] and self.waiting[table][0][0] <= now:
            _, player, visit = heapq.heappop(self.waiting[table])
            yield visit, player

    def leaves(self, player: str, now: int) -> None:
        """Send a player to the next table of the evening, or to the desk and home."""
        plan = self.visits[player]
        while plan:
            visit = plan.pop(0)
            start = max(visit.start, now + MINUTE)
            if visit.until > start + 5 * MINUTE:
                heapq.heappush(self.waiting[visit.table], (start, player, visit))
                return
        self.cash(player, now + 3 * MINUTE)

    def cash(self, player: str, now: int) -> None:
        """Change a player's chips; now and then a companion does it."""
        amount, self.players[player].purse = self.players[player].purse, 0
        if amount:
            companion = self.rng.random() < 0.03 * self.mishaps
            self.exchange(now, "out", amount, self.rng.choice(sorted(self.visits)) if companion else player)

    def exchange(self, at: int, direction: str, amount: int, player: str, *, always_named: bool = False) -> None:
        """Record money at the desk; for small amounts it does not always ask for a name."""
        unnamed = amount < desk.THRESHOLD and not always_named and self.rng.random() < 0.1
        means = "card" if direction == "in" and self.rng.random() < 0.3 else "cash"
        self.changed.append((at, direction, amount, None if unnamed else player, means))

    def note(self, cause: str, what: str, stream: str, wager: str | None, seq: int | None) -> None:
        self.deeds.append(Deed(cause, what, stream, wager, seq))
