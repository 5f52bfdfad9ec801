"""The spool: on the disk before anything is sent, in order, bounded, and nothing deleted that may be needed."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from cabochon_client import EventError, OutOfOrder, SpoolFull
from cabochon_client.client import event
from cabochon_client.events import canonical
from cabochon_client.spool import Spool

from settlement.codec import ShapeError
from settlement.codec import canonical as canonical_of_the_record
from tests.client.table_system import event_at

STREAM = "harbour.T1.2026-11-19.1"


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool.db")


def events(last: int, *, first: int = 1) -> list[dict[str, Any]]:
    return [event_at(1, seq) for seq in range(first, last + 1)]


def receipt_of(first: int, last: int, **changed: Any) -> dict[str, Any]:
    return {"stream": STREAM, "first_seq": first, "last_seq": last, "next_seq": last + 1, "chain": f"{first}"} | changed


def test_what_was_appended_is_there_for_whoever_opens_the_file_next(spool: Spool) -> None:
    assert spool.append(STREAM, events(3)) == [1, 2, 3]
    again = Spool(spool.path)  # without closing the first, as after a kill
    assert again.append(STREAM, events(5, first=4)) == [4, 5]
    row = again.session(STREAM)
    assert row is not None
    assert [seq for seq, _ in again.batch(row, max_events=10, max_bytes=10_000)] == [1, 2, 3, 4, 5]


def test_a_batch_is_bounded_by_number_and_by_bytes(spool: Spool) -> None:
    spool.append(STREAM, events(9))
    row = spool.session(STREAM)
    assert row is not None
    assert [seq for seq, _ in spool.batch(row, max_events=4, max_bytes=10_000)] == [1, 2, 3, 4]
    assert len(spool.batch(row, max_events=9, max_bytes=1)) == 1, "an event is sent, however large it is"


@pytest.mark.parametrize("seq", [1, 2, 3, 10, 20])
def test_the_canonical_form_is_that_of_the_record(seq: int) -> None:
    numbered = {**event_at(1, seq), "stream": STREAM, "seq": seq}
    assert canonical_of_the_record(canonical(numbered)) == canonical(numbered)


REFUSED = [
    ({"data": {"stake": 12.5}}, "/data/stake: 12.5 is not an integer; amounts are in minor units"),
    ({"data": {"stake": 2**53}}, "give it as text"),
    ({"data": {"note": "\0"}}, "/data/note: has the character NUL"),
    ({"data": {"note": "\ud800"}}, "/data/note: is not valid Unicode"),
    ({"data": {"note": "x" * 40_000}}, "more than 32768"),
    ({"ext": {"note": "x" * 5_000}}, "/ext: is more than 4096 bytes"),
    ({"type": 1}, "/type: is not text"),
    ({"stak": 1}, "/stak: is no field of an event"),
    ({"type": "events.lost", "data": {"through": 0}}, "/data/through"),
]


@pytest.mark.parametrize("changed, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_the_record_could_not_take_is_refused_before_it_has_a_number(
    spool: Spool, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(EventError, match=re.escape(message)):
        spool.append(STREAM, [*events(1), {**event_at(1, 2), **changed}])
    assert spool.session(STREAM) is None, "all or none"
    numbered = {**event_at(1, 2), **changed, "stream": STREAM, "seq": 2}
    if "\ud800" not in str(changed):
        with pytest.raises(ShapeError):
            canonical_of_the_record(json.dumps(numbered).encode())


def test_an_instant_needs_an_offset() -> None:
    with pytest.raises(EventError, match="no offset"):
        event("no_more_bets", occurred_at=datetime(2026, 11, 19, 20))  # noqa: DTZ001


def test_a_file_is_put_once_and_in_order(spool: Spool) -> None:
    numbered = [{**each, "stream": STREAM, "seq": seq} for seq, each in enumerate(events(4), start=1)]
    assert spool.put(numbered[:2]) == 2
    assert spool.put(numbered) == 2
    with pytest.raises(OutOfOrder, match=r"6 of .* comes after 4; 5 is missing"):
        spool.put([{**event_at(1, 6), "stream": STREAM, "seq": 6}])
    with pytest.raises(OutOfOrder, match="other content"):
        spool.put([{**numbered[1], "actor": "dev-2"}])


def test_receipts_that_come_in_any_order_acknowledge_what_is_whole(spool: Spool) -> None:
    spool.append(STREAM, events(9))
    row = spool.session(STREAM)
    assert row is not None
    spool.acknowledge(row, receipt_of(4, 6), last_sent=6, after=7)
    assert spool.sessions()[0].acknowledged == 0
    sent_next = spool.batch(row, max_events=9, max_bytes=9_999)
    assert [seq for seq, _ in sent_next] == [1, 2, 3], "the receipt of these was lost"
    spool.acknowledge(row, receipt_of(1, 3), last_sent=3, after=4)
    assert spool.sessions()[0].acknowledged == 6


def test_a_batch_that_holds_more_than_was_sent_acknowledges_what_was_sent(spool: Spool) -> None:
    spool.append(STREAM, events(5))
    row = spool.session(STREAM)
    assert row is not None
    spool.append(STREAM, events(6, first=6))
    spool.acknowledge(row, receipt_of(1, 8), last_sent=5, after=6)
    row = spool.sessions()[0]
    assert row.acknowledged == 5
    spool.acknowledge(row, receipt_of(1, 8), last_sent=6, after=7)
    assert spool.sessions()[0].acknowledged == 6
    assert spool.count_receipts() == {"given": 1}


def test_a_full_spool_refuses_and_what_is_sealed_makes_room(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool.db", max_bytes=200_000)
    appended = 0
    with suppress(SpoolFull):
        while appended < 100_000:
            appended += len(spool.append(STREAM, [event_at(1, appended + 1)]))
    assert 100 < appended < 100_000
    assert spool.used_bytes() <= 200_000
    row = spool.session(STREAM)
    assert row is not None
    spool.acknowledge(row, receipt_of(1, appended), last_sent=appended, after=appended + 1)
    with pytest.raises(SpoolFull):
        spool.append(STREAM, [event_at(1, appended + 1)])  # acknowledged is not sealed
    [kept] = spool.unsealed(1)
    spool.set_receipt(kept.id, "sealed")
    assert spool.append(STREAM, [event_at(1, appended + 1)]) == [appended + 1]
    assert spool.range(row, 1, appended) == []
    assert spool.path.stat().st_size < 300_000


def test_what_is_sealed_is_kept_for_a_while_and_then_deleted(spool: Spool) -> None:
    spool.append(STREAM, events(4))
    row = spool.session(STREAM)
    assert row is not None
    spool.acknowledge(row, receipt_of(1, 3), last_sent=3, after=4)
    spool.set_receipt(spool.unsealed(1)[0].id, "sealed")
    spool.delete_sealed()
    assert len(spool.range(row, 1, 4)) == 4
    spool.keep_s = 0
    spool.delete_sealed()
    assert [seq for seq, _ in spool.range(row, 1, 4)] == [4]
    assert spool.count_receipts() == {}


def test_the_numbers_of_a_session_move_once(spool: Spool) -> None:
    spool.append(STREAM, events(3))
    before = spool.session(STREAM)
    assert before is not None
    assert spool.renumber(before, 2) is None, "the first was not acknowledged"
    assert spool.renumber(before, 1) == 3
    moved = spool.session(STREAM)
    assert moved is not None
    assert (moved.next_seq, moved.acknowledged, spool.renumbered()) == (5, 1, {STREAM: (1, 3)})
    assert spool.renumber(moved, 2) is None
    assert spool.session(STREAM) == moved
