"""Nights that were played, recorded and counted: what tests of the reconciliation start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from audit.event_store.append import NewEvent, append, open_stream
from audit.models import Casino, GamingTable, NightReport
from audit.reconciliation import runs
from audit.simulation import play
from settlement.codec import decode_canonical, next_seq_after
from tests.audit.transparency.sealed import seal

DAY = date(2026, 11, 19)
MORNING = datetime(2026, 11, 20, 8, tzinfo=UTC)
"""When the gaming day is over."""

Events = list[dict[str, Any]]


def table_of(casino: Casino, code: str) -> GamingTable:
    return GamingTable.objects.get_or_create(casino=casino, code=code)[0]


def record(casino: Casino, events: Events, *, table: str | None = None, next_seq: int = 1) -> int:
    """Record events of one stream as one batch, as ingestion does; return the stream's id."""
    read = [decode_canonical(msgspec.json.encode(event)) for event in events]
    first = events[0]
    data = first["data"]
    if first["seq"] == 1:
        stream_id = open_stream(
            casino_id=casino.pk,
            table_id=table_of(casino, data["table"]).pk if "table" in data else None,
            name=first["stream"],
            gaming_day=date.fromisoformat(data["gaming_day"]),
            game=data.get("game"),
            ruleset=data.get("ruleset"),
            currency=data["currency"],
        )
    else:
        from audit.models import LoggedStream

        stream_id = LoggedStream.objects.get(casino=casino, name=first["stream"]).stream_id
    entries = [NewEvent(event.seq, event.occurred_at, envelope) for event, envelope in read]
    append(stream_id, entries, next_seq=next_seq_after(read[-1][0]), key_id=1)
    return stream_id


def session(
    casino: Casino,
    code: str,
    *,
    ruleset: str = "fr-roulette",
    seed: int = 1,
    coups: int = 20,
    day: date = DAY,
    irregularities: Sequence[str] = (),
    **opened: Any,
) -> Events:
    """Return a simulated session of a casino; ``opened`` changes what its opener says."""
    played = play(
        ruleset,
        casino=casino.code,
        code=code,
        gaming_day=day,
        seed=seed,
        coups=coups,
        irregularities=irregularities,
        zone=casino.time_zone,
    )
    events = played.events
    events[0]["data"] |= {"gaming_day": day.isoformat(), **opened}
    return events


def buy_ins(events: Events) -> int:
    return sum(event["data"]["amount"] for event in events if event["type"] == "buy_in.recorded")


def count(
    casino: Casino, drops: Mapping[str, int], *, day: date = DAY, currency: str = "EUR", closed: bool = True
) -> Events:
    """Return a count-room stream: one entry a session, three hours after the cutoff."""
    stream = f"{casino.code}.count.{day}.{currency}"
    entries: list[tuple[str, dict[str, Any]]] = [
        ("count.opened", {"casino": casino.code, "gaming_day": day.isoformat(), "currency": currency})
    ]
    entries += [
        ("drop.counted", {"session": name, "amount": amount, "counted_by": ["Ida", "Max"]})
        for name, amount in drops.items()
    ]
    entries += [("count.closed", {})] if closed else []
    return [
        {
            "stream": stream,
            "seq": seq,
            "type": kind,
            "occurred_at": f"{day}T23:30:{seq % 60:02}+00:00",
            "data": data,
        }
        for seq, (kind, data) in enumerate(entries, start=1)
    ]


def inserted(events: Events, index: int, kind: str, data: dict[str, Any]) -> Events:
    """Return ``events`` with one more at ``index``, numbered anew."""
    new = {**events[index - 1], "type": kind, "data": data}
    new.pop("actor", None)
    changed = [*events[:index], new, *events[index:]]
    return [{**event, "seq": seq} for seq, event in enumerate(changed, start=1)]


def reconciled(casino: Casino, *sessions: Events, counted_more: int = 0, closed: bool = True) -> NightReport:
    """Record a night's sessions and its count, seal both and reconcile the night.

    ``counted_more``, in minor units, is found beyond what was bought in the last session.
    """
    for events in sessions:
        record(casino, events)
    drops = {events[0]["stream"]: buy_ins(events) for events in sessions}
    drops[sessions[-1][0]["stream"]] += counted_more
    record(casino, count(casino, drops, closed=closed))
    seal()
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report
