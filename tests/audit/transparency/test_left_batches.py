"""What somebody writes past the interface is not sealed but named, and stops the seal of nothing else.

As a superuser would, or whoever has taken over a web server: its account may call ``log.append``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from audit import heartbeats, monitoring, task_runs
from audit.event_store import binary_copy, merkle
from audit.event_store.append import NewEvent, append
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.management.commands.sequence import _forget_settled, _report
from audit.models import Finding, LeftBatch
from audit.transparency import tree
from audit.transparency.pending import LATE, PendingBatch
from audit.transparency.sequencer import Sequencer, catch_up
from tests.audit.tables import Tenant
from tests.audit.transparency.forger import unguard
from tests.audit.transparency.sealed import seal, several_streams, verified
from tests.long_forms import in_short

pytestmark = [pytest.mark.superuser, pytest.mark.usefixtures("own_database", "own_log")]

AT = datetime(2026, 11, 19, 21, 0, 0, tzinfo=UTC)

DEEP = 3_000
"""Levels that a parser does not follow, and PostgreSQL does."""


def written(stream: str, seq: int = 4, **others: Any) -> str:
    """Return an envelope with some fields replaced, as JSON; None takes a field away."""
    fields = {
        "data": "{}",
        "occurred_at": '"2026-11-19T21:00:00Z"',
        "seq": str(seq),
        "stream": f'"{stream}"',
        "type": '"round.opened"',
        "v": "1",
    }
    fields |= others
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields.items() if value is not None) + "}"


NO_ENVELOPES = {
    "an empty object": lambda stream: "{}",
    "a number": lambda stream: "4",
    "null": lambda stream: "null",
    "an array of one": lambda stream: f"[{written(stream)}]",
    "of another stream": lambda stream: written(f"{stream}x"),
    "of another number": lambda stream: written(stream, 5),
    "of another instant": lambda stream: written(stream, occurred_at='"2026-11-19T21:00:01Z"'),
    "of no instant": lambda stream: written(stream, occurred_at='"soon"'),
    "without a type": lambda stream: written(stream, type=None),
    "without data": lambda stream: written(stream, data=None),
    "with data that are no object": lambda stream: written(stream, data="[1]"),
    "nested too deeply": lambda stream: written(stream, data='{"x":' * DEEP + "1" + "}" * DEEP),
    "nested too deeply, with the separator": lambda stream: written(
        stream, data='{"x":' * DEEP + '"a",\n"b":1' + "}" * DEEP
    ).replace('"a",\n"b":1', "[1,\n2]"),
}

UNREADABLE = {
    f"with {text}": lambda stream, text=text: written(stream, data=f'{{"x":"{text}"}}')
    for text in ("\\u0000", "\\ud800", "\\uDFFF", "\\\\\\u0000")
}
"""What PostgreSQL keeps as JSON, and does not read."""


@pytest.fixture(autouse=True)
def _own_export_folder(settings: Settings, tmp_path: Path) -> None:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]


@pytest.fixture
def begun(tenant: Tenant, stream: str) -> int:
    """A stream of three events, sealed, of which the log holds."""
    assert tenant.send(stream, tenant.session(stream, 3)).status_code == 201
    seal()
    assert verified().faults == []
    return tenant.stream(stream).stream_id


@pytest.fixture
def sequenced(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Any:
    """Seals what may be sealed, by a sequencer that reports as its process does."""

    def run(sequencer: Sequencer | None = None) -> Sequencer:
        running = sequencer or Sequencer(_report)
        if sequencer is None:
            running.load()
        with django_capture_on_commit_callbacks(execute=True):
            catch_up(running)
        return running

    return run


def causes() -> dict[tuple[int, int], str]:
    return {(each.stream_id, each.first_seq): each.cause for each in LeftBatch.objects.all()}


@pytest.mark.parametrize(
    ("body", "cause"),
    in_short(
        [
            *(pytest.param(body, "no-envelope", id=name) for name, body in NO_ENVELOPES.items()),
            *(pytest.param(body, "unreadable", id=name) for name, body in UNREADABLE.items()),
        ],
        every=3,
    ),
)
def test_a_body_that_is_no_envelope_is_left_and_the_others_are_sealed(
    tenant: Tenant, stream: str, begun: int, sequenced: Any, body: Any, cause: str, client: Client
) -> None:
    """By ``log.append``, with the root of what is stored: as a web server could that was taken over."""
    append(begun, [NewEvent(4, AT, body(stream).encode())], next_seq=5, key_id=1)
    later = several_streams(tenant, sizes=[[2, 3]])
    sequenced()
    assert causes() == {(begun, 4): cause}
    assert tree.index_of(begun, 4) is None
    assert tree.index_of(tenant.stream(later[0]).stream_id, 3) is not None
    assert not Finding.objects.filter(rule="log-tampered").exists(), "its digest is the one that was accepted"
    faults = verified().faults
    assert {fault.stream for fault in faults} == {stream}, "no other stream is named"
    assert ("batch", 4) in {(fault.part, fault.first_seq) for fault in faults}
    for name in monitoring.PROCESSES:
        heartbeats.write(name)
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        task_runs.note(entry["task"], entry["kwargs"])
    ready = client.get("/health/ready").json()
    assert ready["failed"] == ["sealing"]
    assert ready["checks"]["sealing"]["detail"].startswith("1 set aside; manage.py verify")


def superuser(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        unguard(cursor)
        cursor.execute(statement, parameters)
        assert cursor.rowcount >= 1


INSERT = """
with b as (
  insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id, received_at)
  values (%s, %s, %s, %s, 1, %s, %s, 1, {received_at}) returning stream_id, first_seq, received_at)
insert into log.outbox (stream_id, first_seq, received_at) select * from b
"""


def insert_batch(stream_id: int, stream: str, received_at: str, *, seq: int = 4) -> None:
    """Insert a batch whose events, root, chain and head are as they should be, with a date of one's own."""
    envelope = written(stream, seq)
    root = merkle.root(merkle.leaves([envelope.encode()]))
    [(chain,)] = binary_copy.execute("select chain from log.stream_head where stream_id = %b::bigint", (stream_id,))
    chain = merkle.chain(chain, root, first_seq=seq, count=1)
    superuser("insert into log.event values (%s, %s, %s, %s::json)", stream_id, seq, AT, envelope)
    values = (stream_id, seq, seq, seq + 1, root, chain)
    superuser(INSERT.format(received_at=received_at), *values)
    superuser(
        f"update log.stream_head set next_seq = %s, chain = %s, received_at = {received_at} where stream_id = %s",
        *(seq + 1, chain, stream_id),
    )


@pytest.mark.parametrize(
    ("received_at", "cause"),
    [
        ("'infinity'", "unreadable"),
        ("'-infinity'", "unreadable"),
        ("'1066-10-14 BC'", "unreadable"),
        ("'19999-01-01'", "unreadable"),
        ("now() - interval '2 hours'", "back-dated"),
        ("now() - interval '3 seconds'", "back-dated"),
    ],
)
def test_a_batch_with_a_date_of_ones_own_is_left(
    tenant: Tenant, stream: str, begun: int, sequenced: Any, received_at: str, cause: str
) -> None:
    insert_batch(begun, stream, received_at)
    several_streams(tenant, sizes=[[1]])
    sequenced()
    assert causes() == {(begun, 4): cause}
    assert stream in {fault.stream for fault in verified().faults}


def test_the_first_batch_of_a_stream_is_found_by_who_wrote_it_when(tenant: Tenant, stream: str, begun: int) -> None:
    """Dated seconds back, before anything was in its stream: only the sequencer that ran meanwhile can tell."""
    sequencer = Sequencer(lambda left: None)
    sequencer.load()
    several_streams(tenant, sizes=[[1]])
    clock = sequencer.clock
    clock.look()
    sealed, xmax = clock.sealed[-1], clock.xmax[-1]

    def dated(received_at: datetime, written_by: int) -> bool:
        batch = Batch(1, 1, 2, 1, bytes(32), bytes(32), received_at, 1)
        return clock.is_back_dated(PendingBatch(StreamRow(1, "s", 1, 1), batch, bytes(32), False, written_by))

    second = timedelta(seconds=1)
    low = 0xFFFF_FFFF
    assert dated(sealed - second, xmax & low), "its transaction began after that was sealed"
    assert dated(sealed - second, (xmax + 9) & low)
    assert not dated(sealed, (xmax + 9) & low)
    assert not dated(sealed - second, (xmax - 1) & low), "its transaction is older: it was committed late"
    assert dated(sealed - LATE - second, (xmax - 1) & low), "but none lasts as long"


def test_one_dated_to_come_waits_and_moves_no_clock(tenant: Tenant, stream: str, begun: int, sequenced: Any) -> None:
    insert_batch(begun, stream, "now() + interval '5 days'")
    [other] = several_streams(tenant, sizes=[[2]])
    sequenced()
    assert causes() == {}
    assert tree.index_of(begun, 4) is None
    stream_id = tenant.stream(other).stream_id
    assert tree.index_of(stream_id, 1) is not None
    [(ahead,)] = binary_copy.execute("select received_at > clock_timestamp() from log.clock", ())
    assert not ahead
    assert "it was received at a time to come" in {fault.what for fault in verified().faults}


def test_a_batch_of_the_outbox_that_is_not_there_and_one_of_no_casino_stop_nothing(
    tenant: Tenant, stream: str, begun: int, sequenced: Any
) -> None:
    """Two thousand and more would fill the sequencer's round."""
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")  # as at the end of each transaction elsewhere
    superuser(
        "insert into log.outbox (stream_id, first_seq, received_at)"
        " select -n, 1, '2001-01-01' from generate_series(1, 2100) n"
    )
    superuser("update log.stream set casino_id = 999999999 where stream_id = %s", begun)
    superuser("update log.event set envelope = '{}' where stream_id = %s and seq = 2", begun)
    superuser("insert into log.batch select stream_id, 100, 100, 101, 1, root, chain, 1, now() from log.batch limit 1")
    superuser("insert into log.outbox select stream_id, first_seq, received_at from log.batch where first_seq = 100")
    [other] = several_streams(tenant, sizes=[[2]])
    sequenced()
    assert tree.index_of(tenant.stream(other).stream_id, 1) is not None
    found = causes()
    assert len(found) == 2101
    assert set(found.values()) == {"missing", "altered"}


@pytest.mark.parametrize("clock", ["'infinity'", "'2900-01-01'", "now() + interval '300 days'"])
def test_a_clock_of_the_log_that_somebody_has_set_stops_nothing(tenant: Tenant, sequenced: Any, clock: str) -> None:
    seal()
    superuser(f"update log.clock set received_at = {clock}")
    [name] = several_streams(tenant, sizes=[[2, 2]])
    assert len(tree.indexes_of(tenant.stream(name).stream_id)) == 2
    assert any("clock" in fault.what for fault in verified().faults)


def test_what_was_left_is_forgotten_when_it_is_gone(stream: str, begun: int, sequenced: Any) -> None:
    append(begun, [NewEvent(4, AT, b"{}")], next_seq=5, key_id=1)
    sequenced()
    sequenced()
    assert LeftBatch.objects.count() == 1, "it is reported once, however often"
    _forget_settled()
    assert LeftBatch.objects.count() == 1
    superuser("delete from log.outbox where stream_id = %s", begun)
    _forget_settled()
    assert not LeftBatch.objects.exists()


def test_the_desk_names_what_is_left(tenant: Tenant, stream: str, begun: int, sequenced: Any) -> None:
    append(begun, [NewEvent(4, AT, b"{}")], next_seq=5, key_id=1)
    sequenced()
    [left], number = monitoring.left_batches([tenant.casino.pk])
    assert (str(left), number) == (f"{stream} 4–4", 1)
    assert monitoring.left_batches([-1]) == ([], 0)
