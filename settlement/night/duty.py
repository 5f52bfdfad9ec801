"""Who worked at a table and for how long, and how many coups were played meanwhile.

    session.opened (staff, croupier) ─┐                        ┌─ staff.relieved
    staff.assigned ───────────────────┴─► on duty ─► coups ────┴─ session.closed ─► seconds

The clock is that of the table. A person with several roles is on duty from the first to the last; a coup counts for
each who deals: every croupier, and the stickman. Of a session that is open, a duty lasts to the last result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from settlement.events import Envelope, Event, SessionClosed, SessionOpened, StaffAssigned, StaffRelieved

DEALERS = frozenset({"croupier", "stickman"})
"""The roles whose coups are counted."""


class Duty(Struct):
    """What one member of the staff did in a session: ``coups`` dealt, and whole ``seconds`` on duty."""

    coups: int = 0
    seconds: int = 0


class PaidBy(Struct):
    """How many wagers one croupier paid in a session, how many of them wrong, and the event of the last error.

    A wager that several croupiers paid counts for each of them; if it is wrong, the error is that of who paid last.
    """

    payouts: int = 0
    for_house: int = 0
    for_player: int = 0
    last_error: int = 0


class DutyClock(Struct):
    """Follows the staff of one session, event by event in order of ``seq``.

    ``posts`` are persons with their roles, ``since`` when each came on duty, ``done`` what each has done before,
    ``last`` the instant of the last result.
    """

    posts: set[tuple[str, str]] = set()
    since: dict[str, datetime] = {}
    done: dict[str, Duty] = {}
    last: datetime | None = None
    is_open: bool = False

    @property
    def noters(self) -> Mapping[type[Envelope], Callable[[Any], None]]:
        """What is called for an event, by its type."""
        return {
            SessionOpened: self.open,
            StaffAssigned: self.assign,
            StaffRelieved: self.relieve,
            SessionClosed: self.close,
        }

    def open(self, event: SessionOpened) -> None:
        """Take the staff that the opener names."""
        self.is_open = True
        for member in event.data.staff or []:
            self._take_post(member.person, member.role, event.occurred_at)
        if event.data.croupier:
            self._take_post(event.data.croupier, "croupier", event.occurred_at)

    def assign(self, event: StaffAssigned) -> None:
        self._take_post(event.data.person, event.data.role, event.occurred_at)

    def relieve(self, event: StaffRelieved) -> None:
        self.posts.discard((event.data.person, event.data.role))
        if all(person != event.data.person for person, _role in self.posts):
            self._end(event.data.person, event.occurred_at)

    def close(self, event: SessionClosed) -> None:
        """End every duty: a later event of the session is nobody's."""
        for person in list(self.since):
            self._end(person, event.occurred_at)
        self.posts.clear()

    def draw(self, event: Event) -> None:
        """Count a result for everybody who deals."""
        self.last = event.occurred_at
        for person in {person for person, role in self.posts if role in DEALERS}:
            self.done.setdefault(person, Duty()).coups += 1

    def duties(self) -> dict[str, Duty] | None:
        """Return what everybody has done so far, by person; None where no opener was seen."""
        if not self.is_open:
            return None
        found = {person: Duty(duty.coups, duty.seconds) for person, duty in self.done.items()}
        for person, since in self.since.items():
            found.setdefault(person, Duty()).seconds += _between(since, self.last)
        return dict(sorted(found.items()))

    def _take_post(self, person: str, role: str, at: datetime) -> None:
        self.posts.add((person, role))
        self.since.setdefault(person, at)

    def _end(self, person: str, at: datetime) -> None:
        since = self.since.pop(person, None)
        if since is not None:
            self.done.setdefault(person, Duty()).seconds += _between(since, at)


def _between(since: datetime, until: datetime | None) -> int:
    """Return whole seconds; none where a clock went back."""
    return max(0, (until - since) // timedelta(seconds=1)) if until is not None else 0
