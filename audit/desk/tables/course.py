"""The course of a session: its coups, who worked when, who sat where, and the chips of the bank.

    session.opened, results, staff, seats, fills and credits ──► Course ──► the table at an event, the session's ruler

Events are as their corrections leave them; a coup whose result was voided is none. They are read once for each state of
the stream: of the hundreds of events of an hour, these are a few.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from audit.adjudication.stream_reader import corrections_in_effect
from audit.event_store import read
from audit.models import LoggedStream
from settlement import RULESETS, Event
from settlement.codec import decode_stored
from settlement.events import (
    BankCredited,
    BankFilled,
    PlayerLeft,
    PlayerSeated,
    SessionClosed,
    SessionOpened,
    StaffAssigned,
    StaffRelieved,
)
from settlement.staff import change_staff, open_staff
from settlement.state import Table

FOLLOWED = (
    *(SessionOpened, SessionClosed, StaffAssigned, StaffRelieved),
    *(PlayerSeated, PlayerLeft, BankFilled, BankCredited),
)

CROUPIER = "croupier"

Member = tuple[str, str]
"""Somebody of the staff and the role, as events name them."""


@dataclass(frozen=True, slots=True)
class Coup:
    """One result that counts; ``number`` is its place in the session, from 1."""

    number: int
    event: Event

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def at(self) -> datetime:
        return self.event.occurred_at


@dataclass(frozen=True, slots=True)
class Duty:
    """A time in which the same croupiers, none at times, worked at a table."""

    croupiers: tuple[str, ...]
    begin: datetime
    end: datetime

    def covers(self, instant: datetime) -> bool:
        return self.begin <= instant < self.end


@dataclass(slots=True)
class AtTable:
    """Who and what is at a table at an event. ``since`` is when each of the staff came.

    ``bank`` are the chips of the opener, with fills and without credits, in minor units; ``bank_at`` is when that last
    changed. Both are None where the session has no opener. ``seats`` are the seats of those who sit, "" where no seat
    is named, by player.
    """

    since: dict[Member, datetime] = field(default_factory=dict)
    seats: dict[str, str] = field(default_factory=dict)
    bank: int | None = None
    bank_at: datetime | None = None

    @property
    def croupiers(self) -> tuple[str, ...]:
        return tuple(sorted({person for person, role in self.since if role == CROUPIER}))

    def in_role(self, role: str) -> list[str]:
        return [person for person, as_role in self.since if as_role == role]


@dataclass(frozen=True)
class Course:
    """What is followed of one session: its coups, and the events about its people and its bank, in order."""

    coups: list[Coup]
    events: list[Event]

    @cached_property
    def by_seq(self) -> dict[int, Coup]:
        return {coup.event.seq: coup for coup in self.coups}

    @property
    def opener(self) -> SessionOpened | None:
        first = self.events[0] if self.events else None
        return first if isinstance(first, SessionOpened) else None

    def coup_at(self, seq: int) -> Coup | None:
        """Return the last coup whose result is not after an event; None before the first."""
        index = bisect_right(self.coups, seq, key=lambda coup: coup.seq)
        return self.coups[index - 1] if index else None

    def around(self, seq: int) -> tuple[Coup | None, Coup | None]:
        """Return the coup before the one of an event, and the one after it."""
        number = coup.number if (coup := self.coup_at(seq)) is not None else 0
        before = self.coups[number - 2] if number >= 2 else None
        return before, self.coups[number] if number < len(self.coups) else None

    def at(self, seq: int) -> AtTable:
        """Return who and what was at the table just after an event."""
        before = [found for _event, found in _followed(event for event in self.events if event.seq <= seq)]
        return before[-1] if before else AtTable()

    def duties(self, last: datetime) -> list[Duty]:
        """Return who dealt when, up to ``last``; times without a croupier that is known are left out."""
        changes: list[tuple[datetime, tuple[str, ...]]] = []
        for event, found in _followed(self.events):
            croupiers = () if isinstance(event, SessionClosed) else found.croupiers
            if not changes or changes[-1][1] != croupiers:
                changes.append((event.occurred_at, croupiers))
        ends = [*(begin for begin, _croupiers in changes[1:]), last + timedelta(microseconds=1)]
        return [
            Duty(croupiers, begin, end)
            for (begin, croupiers), end in zip(changes, ends, strict=bool(changes))
            if croupiers and end > begin
        ]

    def staff(self) -> set[str]:
        """Return everybody of the staff whom the session names."""
        return {person for _event, found in _followed(self.events) for person, _role in found.since}


def course_of(stream: LoggedStream) -> Course:
    """Return the course of a session, of all its events that are stored."""
    ruleset = RULESETS.get(stream.ruleset or "")
    result = ruleset.result if ruleset is not None else None
    types = [kind.type for kind in FOLLOWED] + ([result.type] if result is not None else [])
    stored = decode_stored(b"[%b]" % b",".join(read.of_types(stream.pk, types)))
    corrections = corrections_in_effect(stream.pk)
    events = list(stored)
    if corrections.targets:
        events = [corrections.corrected(event) for event in events if not corrections.removed_by(event)]
    results = [event for event in events if type(event) is result]
    coups = [Coup(number, event) for number, event in enumerate(results, start=1)]
    return Course(coups, [event for event in events if isinstance(event, FOLLOWED)])


def _followed(events: Iterable[Event]) -> Iterator[tuple[Event, AtTable]]:
    """Yield each event with the table after it, always the same object."""
    found, table = AtTable(), Table()
    for event in events:
        match event:
            case SessionOpened():
                open_staff(table, event.data)
                found.since = _since(table, found, event)
                found.bank, found.bank_at = event.data.float, event.occurred_at
            case StaffAssigned() | StaffRelieved():
                change_staff(table, event)
                found.since = _since(table, found, event)
            case PlayerSeated():
                found.seats[event.data.player] = event.data.seat or ""
            case PlayerLeft():
                found.seats.pop(event.data.player, None)
            case BankFilled() | BankCredited():
                amount = event.data.amount if isinstance(event, BankFilled) else -event.data.amount
                found.bank, found.bank_at = (found.bank or 0) + amount, event.occurred_at
            case _:
                pass
        yield event, found


def _since(table: Table, before: AtTable, event: Event) -> dict[Member, datetime]:
    """Return since when each of the staff is there, who were so ``before`` the event as it says."""
    return {member: before.since.get(member, event.occurred_at) for member in dict.fromkeys(table.staff)}
