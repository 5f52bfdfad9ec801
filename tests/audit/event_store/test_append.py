"""Appending: what is stored, hashed and chained, recomputed here from the bytes alone."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from hashlib import sha256
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import Error, connection, transaction

from audit.event_store import binary_copy, read
from audit.event_store.append import NewEvent, UnexpectedSeq, append, open_stream
from tests import citus
from tests.audit.event_store.test_merkle import defined
from tests.audit.sessions import event, session, written
from tests.audit.tables import Tenant

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC)


def new_events(first: int, last: int, *, note: str = "") -> list[NewEvent]:
    return [NewEvent(seq, NOON, b'{"note":"%b","seq":%d}' % (note.encode(), seq)) for seq in range(first, last + 1)]


def _as_sent(event: dict[str, Any]) -> NewEvent:
    return NewEvent(event["seq"], datetime.fromisoformat(event["occurred_at"]), written(event))


@pytest.fixture
def stream_id(db: None, stream: str) -> int:
    citus.leaves_damage()  # what is appended here are no events
    return open_stream(
        casino_id=7, table_id=None, name=stream, gaming_day=NOON.date(), game=None, ruleset=None, currency="EUR"
    )


def test_root_and_chain_are_recomputed_from_the_canonical_bytes_alone(tenant: Tenant, stream: str) -> None:
    sent = session(stream, casino=tenant.casino.code, last=60)
    receipts = [tenant.send(stream, sent[first:last]).json() for first, last in ((0, 1), (1, 14), (14, 60))]
    chain = bytes(32)
    for receipt in receipts:
        first, last = receipt["first_seq"], receipt["last_seq"]
        root = defined([written(each) for each in sent[first - 1 : last]])
        chain = sha256(chain + root + struct.pack(">qq", first, last - first + 1)).digest()
        assert (receipt["root"], receipt["chain"]) == (root.hex(), chain.hex())
    assert tenant.ask(f"streams/{stream}").json()["chain"] == chain.hex()


def test_the_stored_bytes_are_the_canonical_ones(tenant: Tenant, stream: str) -> None:
    sent = session(stream, casino=tenant.casino.code, last=5)
    sent[2]["ext"] = {"note": "stickman é — \u2028 \U0001f3b2"}
    sent[2]["occurred_at"] = "2026-11-19t20:00:03.120-00:00"
    tenant.send(stream, sent)
    head = read.head_of(tenant.casino.pk, stream)
    assert head is not None
    stored = dict(read.slice_of(head.stream_id, limit=10))
    assert stored[2] == written(sent[1])
    assert b'"ext":{"note":"stickman \xc3\xa9 \xe2\x80\x94 \xe2\x80\xa8 \xf0\x9f\x8e\xb2"}' in stored[3]
    assert b'"occurred_at":"2026-11-19t20:00:03.120-00:00"' in stored[3]


def test_a_batch_that_is_not_next_stores_nothing_and_names_the_next_number(stream_id: int) -> None:
    append(stream_id, new_events(1, 3), next_seq=4, key_id=1)
    for first in (1, 3, 5):
        with pytest.raises(UnexpectedSeq) as refused:
            append(stream_id, new_events(first, 9), next_seq=10, key_id=1)
        assert refused.value.next_seq == 4
    assert [seq for seq, _ in read.slice_of(stream_id, limit=10)] == [1, 2, 3]
    assert read.batch_holding(stream_id, 4) is None


def test_a_declared_loss_moves_the_head_and_its_numbers_are_in_no_batch(stream_id: int) -> None:
    append(stream_id, new_events(1, 2), next_seq=10, key_id=1)
    batch = append(stream_id, new_events(10, 10), next_seq=11, key_id=1)
    assert read.batch_holding(stream_id, 2).last_seq == 2
    assert read.batch_holding(stream_id, 5) is None
    assert read.batch_holding(stream_id, 10) == batch


@pytest.mark.parametrize("seqs", [(2, 1), (1, 1), (1, 3, 2)])
def test_the_events_of_a_batch_ascend(stream_id: int, seqs: tuple[int, ...]) -> None:
    with pytest.raises(Error), transaction.atomic():
        append(stream_id, [NewEvent(seq, NOON, b"{}") for seq in seqs], next_seq=9, key_id=1)


def test_an_unopened_stream_accepts_nothing(db: None) -> None:
    with pytest.raises(Error, match="there is no stream"), transaction.atomic():
        append(-1, new_events(1, 1), next_seq=2, key_id=1)


def test_an_append_is_one_statement_of_its_own(committed_tenant: Tenant, stream: str) -> None:
    [opening] = session(stream, casino=committed_tenant.casino.code, last=1)
    stream_id = open_stream(
        casino_id=committed_tenant.casino.pk,
        table_id=None,
        name=stream,
        gaming_day=date.fromisoformat(opening["data"]["gaming_day"]),
        game=opening["data"]["game"],
        ruleset=opening["data"]["ruleset"],
        currency=opening["data"]["currency"],
    )
    raw = connection.connection
    append(stream_id, [_as_sent(opening)], next_seq=2, key_id=1)
    assert raw.info.transaction_status.name == "IDLE"
    with raw.cursor() as cursor:  # and it is durable at once: another connection sees it
        assert cursor.execute("select next_seq from log.stream_head where stream_id = %s", (stream_id,)).fetchone()


def test_eight_writers_of_the_same_batches_store_each_once(committed_tenant: Tenant, stream: str) -> None:
    tenant = committed_tenant
    sent = session(stream, casino=tenant.casino.code, last=80)
    assert tenant.send(stream, sent[:10]).status_code == 201
    head = read.head_of(tenant.casino.pk, stream)
    outcomes: list[str] = []
    together = Barrier(8)

    def write() -> None:
        together.wait()
        for first in range(11, 81, 10):
            batch = [_as_sent(each) for each in sent[first - 1 : first + 9]]
            try:
                append(head.stream_id, batch, next_seq=first + 10, key_id=tenant.key.pk)
                outcomes.append("stored")
            except UnexpectedSeq as refused:
                outcomes.append("late" if refused.next_seq > first else "early")
        connection.close()

    writers = [Thread(target=write) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(outcomes) == ["late"] * 49 + ["stored"] * 7
    assert [raw for _, raw in read.slice_of(head.stream_id, limit=100)] == [written(each) for each in sent]
    assert tenant.send(stream, sent).status_code == 200


def test_events_are_read_after_before_and_at_a_seq(stream_id: int) -> None:
    append(stream_id, new_events(1, 10), next_seq=11, key_id=1)
    assert [seq for seq, _ in read.slice_of(stream_id, after=3, limit=2)] == [4, 5]
    assert [seq for seq, _ in read.before(stream_id, seq=4, limit=2)] == [2, 3]
    assert [seq for seq, _ in read.whole(stream_id, after=7)] == [8, 9, 10]
    assert read.slice_of(stream_id, after=10, limit=5) == []
    assert set(read.events_at(stream_id, [2, 5, 99])) == {2, 5}


def test_corrections_are_found_by_their_type(tenant: Tenant, stream: str) -> None:
    correction = event(
        stream, 3, "entry.corrected", corrects=2, data={"wager": "w2"}, reason="entry.corrected", approved_by="c1"
    )
    tenant.send(stream, [*session(stream, casino=tenant.casino.code, last=2), correction])
    head = read.head_of(tenant.casino.pk, stream)
    assert read.corrections_of(head.stream_id) == [written(correction)]


def test_what_is_asked_of_one_stream_again_and_again_is_parsed_once(stream_id: int) -> None:
    for seq in range(1, 9):
        read.slice_of(stream_id, after=seq, limit=1)
        binary_copy.execute("select 'not nearby'", ())
    prepared = [statement for (statement,) in binary_copy.execute("select statement from pg_prepared_statements", ())]
    assert any("from log.event where stream_id = $1" in each for each in prepared)
    assert not any("not nearby" in each for each in prepared)
