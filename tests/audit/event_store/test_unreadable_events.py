"""An event that the database keeps and cannot read, or whose instant no calendar has: it stops nobody, and is named.

Whoever has taken over a web server can append one to any stream, past the interface.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.utils import timezone

from audit.adjudication import stream_reader
from audit.casework import session_closing
from audit.event_store import merkle, read
from audit.event_store.readable import holds_unreadable, is_of_type, is_readable
from audit.ledger import feeding, order, shifts
from audit.models import Casino as CasinoRow
from audit.models import LedgerBatch, LoggedStream
from audit.notifications import alerts
from audit.reconciliation import runs
from audit.transparency import envelopes, pending, tree
from tests import citus
from tests.audit.access.test_account_walls import WEB
from tests.audit.projections.record import Casino, faults
from tests.audit.reconciliation.played import DAY, MORNING, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser, pytest.mark.usefixtures("own_log")]

UNREADABLE = ["\\u0000", "\\ud800", "\\uDFFF", "\\\\\\u0000"]
"""Escapes in a text that the database does not read."""

READABLE = ["\\u0001", "\\\\u0000", "\\\\\\\\ud800", "é", "\\n"]


def append(stream: LoggedStream, type: str, text: str, *, at: str = "") -> int:
    """Append an event with a text, as whoever has the role of a web server can. Return its number."""
    at = at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with acting_as(WEB), connection.cursor() as cursor:
        cursor.execute("select next_seq from log.stream_head where stream_id = %s", [stream.pk])
        (seq,) = cursor.fetchall()[0]
        data = f'{{"x":"{text}"}}'
        body = f'{{"data":{data},"occurred_at":"{at}","seq":{seq},"stream":"{stream.name}","type":"{type}","v":1}}'
        root = merkle.root([merkle.leaf(body.encode())])
        cursor.execute(
            "select appended from log.append(%s, %s, %s, %s, 0, %s::bigint[], %s::timestamptz[], %s)",
            [stream.pk, seq, seq + 1, root, [seq], [at], [body]],
        )
        assert cursor.fetchall() == [(True,)]
    return int(seq)


class Night:
    """A night of two tables, played and counted."""

    def __init__(self, casino: CasinoRow) -> None:
        self.casino = casino
        played = [session(casino, table, coups=3, seed=seed) for seed, table in enumerate(("R1", "R2"))]
        for events in played:
            record(casino, events)
        drops = count(casino, {events[0]["stream"]: 0 for events in played})
        record(casino, drops)
        self.first, self.second, self.counts = (
            LoggedStream.objects.get(name=events[0]["stream"]) for events in (*played, drops)
        )

    @property
    def ids(self) -> list[int]:
        return [each.pk for each in (self.first, self.second, self.counts)]


@pytest.fixture(scope=citus.MODULE)
def night(module_db: None) -> Night:
    """A night that its tests only add to: what they add is rolled back."""
    return Night(Tenant().casino)


def closes(casino_id: int) -> list[order.Close]:
    """Return every close that awaits its turn in the ledger."""
    found: list[order.Close] = []
    leaf = 0
    while True:
        close, leaf = order.next_close(casino_id, leaf)
        if close is None:
            return found
        found.append(close)


READERS: dict[str, Callable[[Night], Any]] = {
    "of_types": lambda night: read.of_types(night.first.pk, ["session.opened", "session.closed"]),
    "sessions_counted": lambda night: read.sessions_counted([night.counts.pk]),
    "last_of_type_in": lambda night: {
        stream_id: closing for stream_id, (closing, _) in read.last_of_type_in(night.ids, "session.closed").items()
    },
    "corrections": lambda night: stream_reader.corrections_of(night.first.pk),
    "next_close": lambda night: closes(night.casino.pk),
    "shifts": lambda night: shifts._closes(night.ids),
}


@pytest.mark.parametrize("text", UNREADABLE[:1] + UNREADABLE[-1:])
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_types_passes_it_by(night: Night, reader: str, text: str) -> None:
    seal()
    before = READERS[reader](night)
    assert before or reader == "corrections"
    with (
        mock.patch.object(pending, "holds_unreadable", return_value=False),
        mock.patch.object(envelopes, "holds_unreadable", return_value=False),
    ):  # as it was sealed before 1.0
        for stream in (night.first, night.counts):
            append(stream, "x.acme.noted", text)
        seal()
    assert READERS[reader](night) == before


def test_a_close_before_a_correction_that_nobody_reads_may_be_changed(night: Night) -> None:
    append(night.first, "entry.corrected", "\\u0000")
    found = read.last_of_type_in(night.ids, "session.closed")
    assert (found[night.first.pk][1], found[night.second.pk][1]) == (True, False)


def test_another_session_of_the_casino_is_fed_and_its_nights_are_reported(night: Night) -> None:
    append(night.first, "x.acme.noted", "\\u0000")
    append(night.counts, "x.acme.noted", "\\u0000")
    other = session(night.casino, "R3", coups=3, day=DAY - timedelta(days=1))
    record(night.casino, other)
    seal()
    feeding.feed(night.casino)
    fed = LedgerBatch.objects.filter(casino=night.casino, kind="draws").values_list("stream__name", flat=True)
    assert set(fed) >= {night.second.name, other[0]["stream"]}
    for day in (DAY - timedelta(days=1), DAY):
        assert runs.reconcile(night.casino, day, actor="beat", now=MORNING)


def test_two_officers_close_a_session_that_has_one() -> None:
    casino = Casino()
    stream_id = casino.played("dead", closed=False)
    stream = LoggedStream.objects.get(pk=stream_id)
    append(stream, "x.acme.noted", "\\u0000")
    closing = session_closing.propose(casino.officer, stream, float_minor=5_000_000, reason="its system died")
    assert session_closing.approve(casino.second, closing).state == "approved"


@pytest.mark.parametrize("text", UNREADABLE)
def test_it_is_not_sealed_and_is_named(night: Night, text: str) -> None:
    seal()
    seq = append(night.first, "x.acme.noted", text)
    seal()
    assert tree.index_of(night.first.pk, seq) is None
    assert "the database cannot read its text" in {
        each.what for each in faults() if (each.stream, each.first_seq) == (night.first.name, seq)
    }


@pytest.mark.parametrize("text", READABLE)
def test_a_text_that_it_can_read_is_sealed(night: Night, text: str) -> None:
    seq = append(night.first, "x.acme.noted", text)
    seal()
    assert tree.index_of(night.first.pk, seq) is not None


@pytest.mark.parametrize("text", [*UNREADABLE, *READABLE])
def test_python_and_the_database_say_the_same(text: str) -> None:
    body = f'{{"x":"{text}"}}'
    with connection.cursor() as cursor:
        cursor.execute(f"select {is_readable('b')} from (select %s::json as b) t", [body])
        assert cursor.fetchall() == [(not holds_unreadable(body.encode()),)]


@pytest.mark.parametrize("at", ["infinity", "-infinity", "200000-01-01T00:00:00Z"])
def test_an_event_of_no_year_stops_no_alert_and_no_shift(night: Night, at: str) -> None:
    before = shifts._closes(night.ids)
    CasinoRow.objects.filter(pk=night.casino.pk).update(silent_after_min=1)
    still = session(night.casino, "R9", coups=3)[:-1]
    record(night.casino, still)
    append(LoggedStream.objects.get(name=still[0]["stream"]), "x.acme.noted", "x", at=at)
    append(night.first, "session.closed", "x", at=at)
    assert shifts._closes(night.ids) == before
    alerts.sweep(timezone.now())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r'{"type":"session.closed"}', True),
        (r'{"type":"\u0073ession.closed"}', True),
        (r'{"type":"session.opened","of":"session.closed"}', False),
        (r'{"of":{"type":"session.closed"}}', None),
        (r'{"type":"session.closed","of":"\u0000"}', None),
        (r'{"type":"wager.placed"}', False),
    ],
)
def test_the_type_of_an_event_is_found_however_it_is_spelled(body: str, expected: bool | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"select {is_of_type('b', 'session.closed')} from (select %s::json as b) t", [body])
        assert cursor.fetchall() == [(expected,)]
