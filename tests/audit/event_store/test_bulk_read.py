"""Reading a range of a stream in pages: by the numbers that are stored, however many a client left out."""

from __future__ import annotations

import msgspec
import pytest
from django.db import connection

from audit.event_store import bulk_read
from audit.event_store.bulk_read import arrays_between
from tests.audit.sessions import Event, event
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

LAST = 2**53 - 1


@pytest.fixture(autouse=True)
def limited_statements() -> None:
    """Have the server cancel a statement that does not end, as it does for the web server."""
    with connection.cursor() as cursor:
        cursor.execute("set local statement_timeout = '10s'")


def lost(stream: str, seq: int, through: int) -> Event:
    return event(stream, seq, "events.lost", through=through, reason="spool_lost")


def calls(stream: str, first: int, last: int) -> list[Event]:
    return [event(stream, seq) for seq in range(first, last + 1)]


def stored(tenant: Tenant, stream: str, sent: list[Event]) -> int:
    """Record a stream and return its id."""
    assert tenant.send(stream, sent).status_code == 201
    with connection.cursor() as cursor:
        cursor.execute("select stream_id from log.stream where name = %s", (stream,))
        return int(cursor.fetchone()[0])


def pages(stream_id: int, first: int, last: int) -> list[list[int]]:
    return [[each["seq"] for each in msgspec.json.decode(array)] for array in arrays_between(stream_id, first, last)]


def test_a_loss_through_the_largest_number_is_passed_over_at_once(tenant: Tenant, stream: str) -> None:
    stream_id = stored(tenant, stream, [*tenant.session(stream, 3), lost(stream, 4, LAST)])
    assert pages(stream_id, 1, LAST) == [[1, 2, 3, 4]]
    assert pages(stream_id, 5, LAST) == []


def test_pages_begin_at_the_next_stored_number(tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_read, "PART_EVENTS", 3)
    far = 10**12
    stream_id = stored(
        tenant,
        stream,
        [
            *tenant.session(stream, 4),
            lost(stream, 5, 9),
            *calls(stream, 10, 14),
            lost(stream, 15, far),
            *calls(stream, far + 1, far + 2),
            lost(stream, far + 3, LAST - 1),
            *calls(stream, LAST, LAST),
        ],
    )
    assert pages(stream_id, 1, LAST) == [
        [1, 2, 3],
        [4, 5],
        [10, 11, 12],
        [13, 14, 15],
        [far + 1, far + 2, far + 3],
        [LAST],
    ]
    assert pages(stream_id, 2, 11) == [[2, 3, 4], [5], [10, 11]]
    assert pages(stream_id, 6, 9) == []
    assert pages(stream_id, 7, far + 1) == [[10, 11, 12], [13, 14, 15], [far + 1]]
    assert pages(stream_id, LAST, LAST) == [[LAST]]
