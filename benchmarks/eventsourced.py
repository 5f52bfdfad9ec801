"""PyPI's ``eventsourcing`` on the same PostgreSQL, with the same events: what it stores and replays in a second.

Its recorder takes encoded events in batches; its repository reads them, decodes them with its own transcoder and folds
each into an aggregate. The aggregate counts: it knows no law, so that what is measured is the library alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid4

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

BATCH = 1_000

Stream = tuple[str, list[bytes]]


class Session(Aggregate):
    """A session of a table as an aggregate: the number of its events, and the last."""

    def __init__(self) -> None:
        self.events = 0
        self.last: dict[str, Any] = {}

    @event("Recorded")
    def record(self, content: dict[str, Any]) -> None:
        self.events += 1
        self.last = content


def stored_per_s(database_url: str, streams: Sequence[Stream]) -> float:
    """Return the events a second that its recorder stores."""
    address = _address(database_url)
    store = PostgresDatastore(
        dbname=address["DBNAME"], host=address["HOST"], port=address["PORT"], user=address["USER"],
        password=address["PASSWORD"],
    )  # fmt: skip
    recorder = PostgresApplicationRecorder(store, events_table_name="es_events")
    recorder.create_table()
    started = time.perf_counter()
    for _, lines in streams:
        origin = uuid4()
        for low in range(0, len(lines), BATCH):
            recorder.insert_events([
                StoredEvent(originator_id=origin, originator_version=low + offset, topic="t", state=line)
                for offset, line in enumerate(lines[low : low + BATCH])
            ])  # fmt: skip
    took = time.perf_counter() - started
    store.close()
    return sum(len(lines) for _, lines in streams) / took


def replayed_per_s(database_url: str, streams: Sequence[Stream]) -> float:
    """Return the events a second that its repository replays, after its application has saved them."""
    settings = {f"POSTGRES_{name}": value for name, value in _address(database_url).items()}
    application: Application[UUID] = Application(env={"PERSISTENCE_MODULE": "eventsourcing.postgres", **settings})
    ids = [_saved(application, lines) for _, lines in streams]
    started = time.perf_counter()
    replayed = sum(application.repository.get(each).events for each in ids)
    took = time.perf_counter() - started
    application.close()
    assert replayed == sum(len(lines) for _, lines in streams)
    return replayed / took


def _saved(application: Application[UUID], lines: Sequence[bytes]) -> UUID:
    session = Session()
    for index, line in enumerate(lines, 1):
        session.record(json.loads(line))
        if index % BATCH == 0:
            application.save(session)
    application.save(session)
    return session.id


def _address(database_url: str) -> dict[str, str]:
    address = urlsplit(database_url)
    return {
        "DBNAME": address.path[1:],
        "HOST": unquote(address.hostname or ""),
        "PORT": str(address.port or 5432),
        "USER": address.username or "",
        "PASSWORD": address.password or "",
    }
