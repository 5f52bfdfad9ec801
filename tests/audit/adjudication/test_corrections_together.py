"""Corrections that arrive together, or while a stream is read, cost one run, and keep no finding from standing."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.adjudication import replay, stream_reader
from audit.adjudication.replay import advance
from audit.adjudication.results import answer_of, standing
from audit.event_store import read
from audit.event_store.append import append
from audit.models import AdjudicationRun, Finding
from settlement import Event, adjudicate
from tests.audit.adjudication.test_any_stream import corrected_streams, new_event, recorded
from tests.audit.corrections.corrections_desk import approve
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db

LONG = 300
"""Events of a stream before its corrections."""

Entry = tuple[str, dict[str, Any]]


def corrected(seq: int, data: dict[str, Any]) -> Entry:
    return "entry.corrected", {"corrects": seq, "data": data, "reason": "misread", "approved_by": "chef"}


def closed_session(tenant: Tenant) -> list[dict[str, Any]]:
    """Return a session of ``LONG`` events, of which ten near its end place a wager."""
    left: list[Entry] = [("player.left", {"player": f"P{each}"}) for each in range(LONG - 12)]
    placed: list[Entry] = [("wager.placed", {"wager": f"w{each}", "bet": "win", "stake": 1_000}) for each in range(10)]
    return numbered(tenant.opener("s"), *left, *placed, ("session.closed", {"float": 5_000_000}))


def followed_by(events: list[dict[str, Any]], *entries: Entry) -> list[dict[str, Any]]:
    """Return the events that ``entries`` are after ``events``."""
    return numbered(events[0], *[("x", {})] * (len(events) - 1), *entries)[len(events) :]


def replayed(stream_id: int, *, is_shared: bool = False) -> None:
    while (progress := advance(stream_id, is_shared=is_shared)) is not None and progress.behind:
        pass


def answer_is_that_of_one_run(stream_id: int, approved: Collection[int] = ()) -> bool:
    adjudication = standing(stream_id)
    assert adjudication is not None
    whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}, approved=approved)
    return answer_of(adjudication).as_dict() == whole.as_dict()


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of the events that replay folds, as often as it folds them."""
    seqs: list[int] = []
    feed = replay._feed

    def counted(state: Any, events: Sequence[Event], interceptors: Any) -> None:
        seqs.extend(event.seq for event in events)
        feed(state, events, interceptors)

    monkeypatch.setattr(replay, "_feed", counted)
    return seqs


def test_corrections_that_wait_cost_one_run_that_reads_twice_and_not_a_run_each(folded: list[int]) -> None:
    tenant = Tenant()
    events = closed_session(tenant)
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    first_wager = LONG - 10
    entries = [
        corrected(first_wager + each, {"wager": f"w{each}", "bet": "win", "stake": 900 + each}) for each in range(10)
    ]
    assert tenant.post("s", followed_by(events, *entries)).status_code == 201
    folded.clear()
    replayed(stream_id)
    assert Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits").count() == 10
    assert folded.count(2) == 2, "once with the corrections, and once without those that wait"
    assert AdjudicationRun.objects.filter(stream_id=stream_id).count() == 2
    assert answer_is_that_of_one_run(stream_id)


@pytest.mark.parametrize("is_shared", [False, True])
def test_ten_that_wait_and_change_early_events_of_a_long_stream_cost_two_readings_and_not_ten(
    folded: list[int], monkeypatch: pytest.MonkeyPatch, is_shared: bool
) -> None:
    monkeypatch.setattr(replay, "SHARED_STEP_EVENTS" if is_shared else "STEP_EVENTS", 8)
    tenant = Tenant()
    placed: list[Entry] = [("wager.placed", {"wager": f"w{each}", "bet": "win", "stake": 1_000}) for each in range(10)]
    left: list[Entry] = [("player.left", {"player": f"P{each}"}) for each in range(48)]
    events = numbered(tenant.opener("s"), *placed, *left, ("session.closed", {"float": 5_000_000}))
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id, is_shared=is_shared)
    runs_before = AdjudicationRun.objects.filter(stream_id=stream_id).count()
    entries = [corrected(2 + each, {"wager": f"w{each}", "bet": "win", "stake": 900 + each}) for each in range(10)]
    assert tenant.post("s", followed_by(events, *entries)).status_code == 201
    folded.clear()
    replayed(stream_id, is_shared=is_shared)
    assert Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits").count() == 10
    assert folded.count(2) == 2, "once with the corrections, and once without those that wait"
    assert len(folded) == 8 + 2 * 70, "a step comes to the first of them before"
    assert AdjudicationRun.objects.filter(stream_id=stream_id).count() <= runs_before + 2
    begun_anew = AdjudicationRun.objects.filter(stream_id=stream_id).order_by("number")[runs_before]
    assert not Finding.objects.filter(run=begun_anew, seq__gte=len(events) + 1).exists(), "read with what waits"
    assert answer_is_that_of_one_run(stream_id)


def test_corrections_that_keep_arriving_keep_no_finding_from_standing(
    folded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = Tenant()
    left: list[Entry] = [("player.left", {"player": f"P{each}"}) for each in range(49)]
    events = numbered(tenant.opener("s"), *left)
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 10)
    for number in range(20):
        more = followed_by(events, corrected(2 + number, {"player": "Q"}))
        assert tenant.post("s", more).status_code == 201
        events += more
        advance(stream_id)
    found = Finding.objects.standing().filter(stream_id=stream_id, rule="entry-corrected")
    assert 51 in found.values_list("seq", flat=True), "the first, while others arrive"
    replayed(stream_id)
    assert found.count() == 20
    assert answer_is_that_of_one_run(stream_id)


def test_a_run_of_a_new_engine_knows_the_corrections_before_it_reads(
    folded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = Tenant()
    events = closed_session(tenant)
    events += followed_by(events, corrected(2, {"player": "Q"}))
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    with monkeypatch.context() as patch:
        patch.setattr(replay, "ENGINE_VERSION", "0")
        replayed(stream_id)
    folded.clear()
    replayed(stream_id)
    known = stream_reader.held_by(bytes(standing(stream_id).state))  # type: ignore[union-attr]
    assert known == {LONG + 1}
    assert folded.count(LONG) == 2, "once, and once more without the correction, which waits"


def test_nothing_stands_by_a_correction_that_waits_however_early_a_step_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    placed: Entry = ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1_000})
    left: list[Entry] = [("player.left", {"player": f"P{each}"}) for each in range(150)]
    closed: Entry = ("session.closed", {"float": 5_000_000})
    not_permitted = corrected(2, {"wager": "w1", "bet": "none", "stake": 1_000})
    assert tenant.post("s", numbered(tenant.opener("s"), placed, *left, closed, not_permitted)).status_code == 201
    stream_id = tenant.stream("s").stream_id
    progress, by_correction = advance(stream_id), Finding.objects.standing().filter(rule="wager-not-permitted")
    monkeypatch.setattr(replay, "processor_s", itertools.count(step=10).__next__)  # each step ends after one slice
    monkeypatch.setattr(replay, "SHARED_STEP_EVENTS", 100)  # or as soon, for the sake of others
    while progress is not None and progress.behind:
        assert not by_correction.exists(), f"no officer has approved it, and the stream is read to {progress.cursor}"
        progress = advance(stream_id, is_shared=True)
    assert Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits").count() == 1
    assert answer_is_that_of_one_run(stream_id)


def waiting(stream_id: int) -> list[int]:
    rows = Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits")
    return sorted(rows.values_list("seq", flat=True))


def is_read_as_in_one_step(stream: list[bytes], pieces: int, size: int, bound: str, chosen: list[int]) -> None:
    """Read a stream in short steps, approve those ``chosen`` of what waits, read it again, and compare each time."""
    tenant = Tenant()
    stream_id = recorded(tenant, stream)
    entries = [new_event(raw) for raw in stream]
    by_name = {"events": ("STEP_EVENTS", size), "shared": ("SHARED_STEP_EVENTS", size), "time": ("STEP_S", -1)}
    with mock.patch.object(replay, *by_name[bound]), mock.patch.object(replay, "FIRST_SLICE", size):
        for low in range(0, len(entries), pieces):
            piece = entries[low : low + pieces]
            append(stream_id, piece, next_seq=piece[-1].seq + 1, key_id=1)
            replayed(stream_id, is_shared=bound == "shared")
        assert answer_is_that_of_one_run(stream_id)
        found = waiting(stream_id)
        approved = sorted({found[each % len(found)] for each in chosen}) if found else []
        if approved:
            approve(tenant.casino, stream_id, *approved)
            replayed(stream_id, is_shared=bound == "shared")
        assert answer_is_that_of_one_run(stream_id, approved)
    adjudication = standing(stream_id)
    assert adjudication is not None
    of_run = Finding.objects.filter(stream_id=stream_id, run=adjudication.run).exclude(
        superseded_by_run=adjudication.run
    )
    assert not of_run.exclude(status="standing").exists()
    assert not Finding.objects.standing().filter(stream_id=stream_id).exclude(run=adjudication.run).exists()


in_short_steps = given(
    stream=corrected_streams(),
    pieces=st.integers(1, 40),
    size=st.integers(1, 9),
    bound=st.sampled_from(["events", "shared", "time"]),
    chosen=st.lists(st.integers(0, 3), max_size=2),
)
examples = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.django_db(transaction=True)
@settings(examples, max_examples=5)
@in_short_steps
def test_a_stream_is_read_as_in_one_step_wherever_corrections_are_and_some_are_approved(**drawn: Any) -> None:
    is_read_as_in_one_step(**drawn)


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
@examples
@in_short_steps
def test_many_streams_are_read_as_in_one_step_wherever_corrections_are(**drawn: Any) -> None:
    is_read_as_in_one_step(**drawn)
