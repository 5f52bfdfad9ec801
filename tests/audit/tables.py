"""A tenant with a key and sessions to send: what tests of the record start from."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.test import Client

from audit.models import ApiKey, Casino, GamingTable, KeyScope, LoggedStream
from tests.audit.sessions import Event, session

_numbers = itertools.count(1)


@dataclass
class Tenant:
    """A casino of its own, so that no test meets the streams of another: nothing is ever deleted from the log.

    It has tables and a key for all of them, or for those in ``limited_to``; ``table`` is the first. ``is_sandbox``: it
    is one, and can be emptied.
    """

    code: str = field(default_factory=lambda: f"house{next(_numbers)}")
    client: Client = field(default_factory=Client)
    tables: tuple[str, ...] = ("T1",)
    limited_to: tuple[str, ...] = ()
    is_sandbox: bool = False

    def __post_init__(self) -> None:
        self.casino = Casino.objects.create(
            code=self.code, name=f"Casino {self.code}", time_zone="Europe/Paris", is_sandbox=self.is_sandbox
        )
        registered = {code: GamingTable.objects.create(casino=self.casino, code=code) for code in self.tables}
        self.table = registered[self.tables[0]]
        self.key, self.secret = ApiKey.make(casino=self.casino, name="test", scopes=list(KeyScope.values))
        self.key.tables.set(registered[code] for code in self.limited_to)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}

    def send(self, stream: str, body: Any, *, type: str = "application/json", **headers: str) -> HttpResponse:
        """POST ``body`` to a stream: bytes as they are, anything else as JSON."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(
            f"/api/v1/streams/{stream}/events", sent, content_type=type, headers=self.headers() | headers
        )

    def ask(self, path: str, **headers: str) -> HttpResponse:
        return self.client.get(f"/api/v1/{path}", headers=self.headers() | headers)

    def session(self, stream: str, last: int) -> list[Event]:
        """Return a session at the table ``C1``: its opener, and wagers up to ``last``."""
        return session(stream, casino=self.code, last=last)

    def post(self, stream: str, events: list[dict[str, Any]], **headers: str) -> HttpResponse:
        """Send events of one stream, as the table system does."""
        return self.send(stream, events, **headers)

    def get(self, path: str) -> HttpResponse:
        return self.ask(path.removeprefix("/"))

    def stream(self, name: str) -> LoggedStream:
        return LoggedStream.objects.get(casino=self.casino, name=name)

    def opener(self, stream: str, **data: Any) -> dict[str, Any]:
        """Return a session's first event at this casino."""
        return {
            "stream": stream,
            "seq": 1,
            "type": "session.opened",
            "occurred_at": "2026-11-19T20:00:00+01:00",
            "data": {
                "casino": self.code,
                "table": "T1",
                "gaming_day": "2026-11-19",
                "game": "craps",
                "ruleset": "fr-craps",
                "currency": "EUR",
                "float": 5_000_000,
                "observes": ["custody"],
                **data,
            },
        }


def numbered(first: dict[str, Any], *rest: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a stream: its opener, then an event a second for each type and data."""
    return [first] + [
        {
            "stream": first["stream"],
            "seq": seq,
            "type": kind,
            "occurred_at": f"2026-11-19T20:{seq // 60:02}:{seq % 60:02}+01:00",
            "data": data,
        }
        for seq, (kind, data) in enumerate(rest, start=2)
    ]


SIX = ["a", "b", "c", "d", "e", "f"]
OTHER_SIX = ["g", "h", "i", "j", "k", "l"]


def dice_changed_in_mid_series(tenant: Tenant, stream: str) -> list[dict[str, Any]]:
    """A session in which the shooter has the dice changed while the point stands, and a right bet is overpaid.

    The last throw ends the coup.
    """
    return numbered(
        tenant.opener(stream, observes=["custody", "marker"], seats=["S1", "S2"]),
        ("dice.set_introduced", {"dice": SIX, "decided_by": "opening", "announced": True}),
        ("dice.offered", {"seat": "S1"}),
        ("dice.selected", {"seat": "S1", "dice": ["a", "b"], "boxed": ["c", "d", "e", "f"]}),
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1000, "player": "Anna", "seat": "S1"}),
        ("wager.placed", {"wager": "w2", "bet": "right_bet", "number": 6, "stake": 600, "player": "Anna"}),
        ("dice.thrown", {"faces": [5, 3], "seat": "S1", "dice": ["a", "b"]}),
        ("point.marked", {"number": 8}),
        ("dice.set_introduced", {"dice": OTHER_SIX, "decided_by": "chef_de_table", "announced": True}),
        ("dice.selected", {"seat": "S1", "dice": ["g", "h"], "boxed": ["i", "j", "k", "l"]}),
        ("dice.thrown", {"faces": [2, 4], "seat": "S1", "dice": ["g", "h"]}),
        ("payout.made", {"wager": "w2", "winnings": 900, "stake_returned": 600}),
        ("dice.thrown", {"faces": [1, 2], "seat": "S1", "dice": ["g", "h"]}),
    )


TOUCHED_WRONGLY = ("dice-touched-without-cause", 8)
"""The rule and the seq of what ``dice_touched_wrongly`` shows."""


def dice_touched_wrongly(tenant: Tenant, stream: str) -> list[dict[str, Any]]:
    """The beginning of that session, before money moves: the stickman touches the dice at event 8, the last."""
    events = dice_changed_in_mid_series(tenant, stream)[:8]
    return [*events[:7], events[7] | {"type": "dice.touched", "data": {"by": "stickman", "cause": "habit"}}]


def touched_for(events: list[dict[str, Any]], cause: str, *, seq: int) -> dict[str, Any]:
    """The correction of that touch, at event ``seq``: in its coup and before money moved, it takes effect at once."""
    touch = {"by": "stickman", "cause": cause}
    data = {"corrects": 8, "data": touch, "reason": "misread", "approved_by": "chef-4"}
    return numbered(events[0], *[("x", {})] * (seq - 2), ("entry.corrected", data))[-1]
