"""Corrections that arrive together, or while a stream is read, cost one run, and keep no finding from standing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from audit.adjudication import replay, stream_reader
from audit.adjudication.replay import advance
from audit.adjudication.results import answer_of, standing
from audit.event_store import read
from audit.models import AdjudicationRun, Finding
from settlement import Event, adjudicate
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


def replayed(stream_id: int) -> None:
    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def answer_is_that_of_one_run(stream_id: int) -> bool:
    adjudication = standing(stream_id)
    assert adjudication is not None
    whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}, approved=[])
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


def test_corrections_that_wait_cost_the_events_since_the_earliest_entry_and_not_a_run_each(folded: list[int]) -> None:
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
    assert folded.count(2) == 1, "the beginning is read once, by one run"
    assert len(folded) < 2 * LONG
    assert AdjudicationRun.objects.filter(stream_id=stream_id).count() == 2
    assert answer_is_that_of_one_run(stream_id)


def test_a_correction_that_waits_of_an_event_that_is_folded_begins_the_stream_anew(
    folded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 100)
    tenant = Tenant()
    events = closed_session(tenant)
    assert tenant.post("s", events).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    entries = [corrected(2, {"player": "Q"}), corrected(LONG - 1, {"wager": "w9", "bet": "win", "stake": 900})]
    assert tenant.post("s", followed_by(events, *entries)).status_code == 201
    folded.clear()
    replayed(stream_id)
    assert Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits").count() == 2
    assert folded.count(2) > 1
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
