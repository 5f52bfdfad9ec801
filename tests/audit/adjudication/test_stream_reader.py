"""Reading a stream with its corrections: as known by now, as known at an earlier event, and from a saved state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from audit.adjudication import stream_reader
from audit.event_store import bulk_read, read
from settlement import State
from settlement.events import PayoutMade
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db


def corrected_payout(tenant: Tenant, *winnings: int) -> tuple[int, list[dict[str, Any]]]:
    """Record a session of 12 events whose last, a payout of 900, is corrected by events 13, 14, … to ``winnings``."""
    events = dice_changed_in_mid_series(tenant, "s")[:12]
    corrections: list[tuple[str, dict[str, Any]]] = [
        (
            "entry.corrected",
            {
                "corrects": 12,
                "data": {"wager": "w2", "winnings": each, "stake_returned": 600},
                "reason": "misread",
                "approved_by": "chef-4",
            },
        )
        for each in winnings
    ]
    sent = events + numbered(events[0], *[("x", {})] * 11, *corrections)[12:]
    assert tenant.post("s", sent).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)  # which finds that they wait for nobody: they came in the coup
    return stream_id, sent


def test_corrections_are_those_known_at_an_event() -> None:
    stream_id, _ = corrected_payout(Tenant(), 800, 700)
    assert [each.seq for each in stream_reader.corrections_of(stream_id)] == [13, 14]
    assert [each.seq for each in stream_reader.corrections_of(stream_id, known_through=13)] == [13]
    assert stream_reader.corrections_of(stream_id, known_through=12) == []


@pytest.mark.parametrize("last_seq, winnings", [(12, 900), (13, 800), (14, 700)])
def test_an_event_is_read_as_the_corrections_through_the_last_event_leave_it(last_seq: int, winnings: int) -> None:
    stream_id, _ = corrected_payout(Tenant(), 800, 700)
    events = list(stream_reader.corrected_events(stream_id, last_seq))
    assert [event.seq for event in events] == list(range(1, last_seq + 1))
    assert [event.data.winnings for event in events if isinstance(event, PayoutMade)] == [winnings]


@pytest.mark.parametrize(
    "seq, known_through, winnings", [(12, None, 700), (99, None, 700), (12, 13, 800), (99, 12, 900)]
)
def test_a_state_at_an_event_counts_the_corrections_known_then(
    seq: int, known_through: int | None, winnings: int
) -> None:
    stream_id, _ = corrected_payout(Tenant(), 800, 700)
    state = stream_reader.state_at(stream_id, seq, known_through=known_through)
    assert state.table.wagers["w2"].winnings_paid == winnings
    assert state.table.findings == []


def test_a_state_before_the_first_event_is_empty() -> None:
    stream_id, _ = corrected_payout(Tenant())
    assert stream_reader.state_at(stream_id, 0).table.events == 0


def test_a_correction_that_arrives_while_a_stream_is_read_does_not_break_the_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, sent = corrected_payout(tenant, 800)
    head = read.next_seq_of(stream_id)
    late = sent[12] | {"seq": 14}

    def arrives(stream_id: int) -> int:
        assert tenant.post("s", [late]).status_code == 201
        return head

    monkeypatch.setattr(read, "next_seq_of", arrives)
    assert stream_reader.state_at(stream_id, 99).table.last_seq == 13


@pytest.mark.parametrize("cursor", [0, 5, 12, 13])
def test_a_fold_resumed_from_a_saved_state_ends_as_one_that_never_stopped(
    cursor: int,
) -> None:
    stream_id, _ = corrected_payout(Tenant(), 800, 700)
    whole = stream_reader.state_at(stream_id, 14)
    part = State(stream_reader.corrections_of(stream_id))  # `state_at` compares nothing
    for page in stream_reader.pages(stream_id, 1, cursor):
        part.feed_all(page)
    state = stream_reader.resumed_state(stream_id, part.to_bytes(), cursor=cursor, known_through=14)
    for page in stream_reader.pages(stream_id, cursor + 1, 14):
        state.feed_all(page)
    state.forget_findings()
    state.table.differences = {}
    assert state.table == whole.table  # bytes may differ in the order of a set


def test_pages_end_with_the_one_that_reaches_the_limit_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_read, "PART_EVENTS", 4)
    stream_id, _ = corrected_payout(Tenant(), 800, 700)

    def lengths(max_bytes: int | None) -> list[int]:
        return [len(page) for page in stream_reader.pages(stream_id, 1, 14, max_bytes=max_bytes)]

    assert lengths(None) == [4, 4, 4, 2]
    assert lengths(1) == [4]
    first_two = sum(len(raw) + 1 for _, raw in read.slice_of(stream_id, limit=8)) + 2
    assert lengths(first_two - 4) == [4, 4]
    assert lengths(first_two) == [4, 4]
    assert lengths(first_two + 1) == [4, 4, 4]
    assert list(stream_reader.pages(stream_id, 15, 14)) == []


def test_the_connection_is_usable_after_pages_were_left_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_read, "PART_EVENTS", 2)
    stream_id, _ = corrected_payout(Tenant(), 800)
    with closing(stream_reader.pages(stream_id, 1, 13)) as pages:
        assert len(next(pages)) == 2
    assert read.next_seq_of(stream_id) == 14


def test_chunks_are_read_as_they_are_taken_each_twice_as_large_as_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_reader, "MOST_AT_ONCE", 4)
    stream_id, _ = corrected_payout(Tenant(), 800, 700)
    firsts: list[int] = []
    arrays_between = stream_reader.arrays_between

    def noted(stream_id: int, first_seq: int, last_seq: int, *, max_events: int | None = None) -> Iterator[bytes]:
        firsts.append(first_seq)
        return arrays_between(stream_id, first_seq, last_seq, max_events=max_events)

    monkeypatch.setattr(stream_reader, "arrays_between", noted)

    def chunks(first_seq: int = 1, max_events: int = 100, max_bytes: int = 1_000_000) -> list[list[int]]:
        read_now = stream_reader.chunks(stream_id, first_seq, 14, first=1, max_events=max_events, max_bytes=max_bytes)
        return [[event.seq for event in chunk] for chunk in read_now]

    assert chunks() == [[1], [2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14]]
    assert chunks(first_seq=15) == []
    assert chunks(first_seq=3, max_events=5) == [[3], [4, 5], [6, 7]]
    assert chunks(max_bytes=1) == [[1]]
    firsts.clear()
    left = stream_reader.chunks(stream_id, 1, 14, first=1, max_events=100, max_bytes=1_000_000)
    assert [len(next(left)), len(next(left))] == [1, 2]
    assert read.next_seq_of(stream_id) == 15, "the connection takes other commands"
    assert firsts == [1, 2]
