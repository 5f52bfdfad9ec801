"""Any stream, recorded in pieces and replayed in steps, gives the same adjudication as in one run."""

from __future__ import annotations

import json
from datetime import date
from types import SimpleNamespace
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.adjudication import replay, retired_wagers
from audit.adjudication.replay import advance
from audit.adjudication.results import answer_of, standing
from audit.adjudication.stream_reader import held_by
from audit.event_store import read
from audit.event_store.append import NewEvent, append, open_stream
from audit.models import Finding, RetiredWagers
from settlement import adjudicate
from settlement.codec import decode_canonical, next_seq_after
from tests.audit.adjudication.finished import of_finished_coups
from tests.audit.tables import Tenant
from tests.long_forms import in_short
from tests.settlement.test_corrections import GRAVE_BY_ANOTHER
from tests.settlement.test_properties import EVENTS, envelope, placements, streams

pytestmark = pytest.mark.django_db

SHAPES = {**EVENTS, "wager.placed": placements}


@st.composite
def corrected_streams(draw: st.DrawFn) -> list[bytes]:
    """Draw a stream with corrections among and after its events: of earlier events, of each other, of nothing."""
    events = [json.loads(raw) for raw in draw(streams())]
    for _ in range(draw(st.integers(0, 4))):
        index = draw(st.integers(1, len(events)))
        target = draw(st.integers(1, len(events) + 2))
        fitting = [SHAPES[event["type"]] for event in events[target - 1 : target] if event["type"] in SHAPES]
        right = draw(st.one_of(*fitting, st.just({"stake": 5})))
        data = {"corrects": target, "data": dict(right), "reason": "misread", "approved_by": "chef-4"}
        events.insert(index, {"type": "entry.corrected", "data": data})
    return [envelope(seq, event["type"], event["data"], seq) for seq, event in enumerate(events, start=1)]


def recorded(tenant: Tenant, stream: list[bytes]) -> int:
    """Open the stream that these events are of, without them, and return its id.

    As its first event says: a test that commits leaves to the others a log that holds.
    """
    opener = json.loads(stream[0])
    return open_stream(
        casino_id=tenant.casino.pk,
        table_id=tenant.table.pk,
        name=opener["stream"],
        gaming_day=date.fromisoformat(opener["data"]["gaming_day"]),
        game=opener["data"]["game"],
        ruleset=opener["data"]["ruleset"],
        currency=opener["data"]["currency"],
    )


def new_event(raw: bytes) -> NewEvent:
    """Return an event to append as the interface does: canonical."""
    event, canonical = decode_canonical(raw)
    return NewEvent(event.seq, event.occurred_at, canonical)


def replayed(stream_id: int) -> None:
    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def answers_as_one_run(stream: list[bytes], pieces: list[int], step: int, in_a_row: int, prefixes: int) -> None:
    """Record a stream in pieces, replay it in steps, and compare what the record answers with what the law does."""
    tenant = Tenant()
    stream_id = recorded(tenant, stream)
    remaining = [decode_canonical(raw) for raw in stream]
    with (
        mock.patch.object(replay, "STEP_EVENTS", step),
        mock.patch.object(retired_wagers, "MAX_ROW_BYTES", in_a_row),
        mock.patch.object(retired_wagers, "MAX_PREFIXES", prefixes),
    ):
        while remaining:
            batch, remaining = remaining[: pieces[0]], remaining[pieces[0] :]
            pieces = [*pieces[1:], pieces[0]]
            entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in batch]
            append(stream_id, entries, next_seq=next_seq_after(batch[-1][0]), key_id=1)
            replayed(stream_id)
    answer, whole = as_json(stream_id), json.loads(json.dumps(adjudicate(stream, readings={}, approved=[]).as_dict()))
    assert answer == whole
    assert list(answer["wagers"]) == list(whole["wagers"])
    found = Finding.objects.filter(stream_id=stream_id, status="standing").exclude(rule="late-after-close")
    in_order = found.order_by("seq", "rule", "wager")
    assert [(row.rule, row.seq, row.wager) for row in in_order] == [
        (finding.rule, finding.seq, finding.wager or "") for finding in of_finished_coups(stream)
    ]
    assert stream_id not in read.dirty_streams(replay.ENGINE_VERSION, limit=1_000_000)


# These commit, as a worker does: of hundreds of steps in one transaction PostgreSQL would keep every dead row.
in_any_pieces = given(
    stream=corrected_streams(),
    pieces=st.lists(st.integers(1, 12), min_size=1, max_size=8),
    step=st.integers(1, 9),
    in_a_row=st.sampled_from([1, 1_000, 2 * 1024 * 1024]),
    prefixes=st.sampled_from([0, 256]),
)
examples = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.django_db(transaction=True)
@settings(examples, max_examples=5)
@in_any_pieces
def test_a_stream_recorded_in_pieces_and_replayed_in_steps_answers_as_one_run(**drawn: Any) -> None:
    answers_as_one_run(**drawn)


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
@examples
@in_any_pieces
def test_many_streams_recorded_in_pieces_and_replayed_in_steps_answer_as_one_run(**drawn: Any) -> None:
    answers_as_one_run(**drawn)


@pytest.mark.parametrize(("most", "possible"), [(3, {"a-7"}), (2, {"a-7", "c-1"}), (1, {"a-7", "a-9", "c-1"})])
def test_an_id_is_new_if_its_prefix_is_unknown_and_there_was_room_for_another(most: int, possible: set[str]) -> None:
    """Of as many prefixes as are remembered another may have been left out."""
    retired: list[Any] = [SimpleNamespace(id=each) for each in ("b-3", "a-8")]
    known: dict[str, int] = {}
    with mock.patch.object(retired_wagers, "MAX_PREFIXES", most):
        retired_wagers.remember(known, retired)
        assert retired_wagers._possibly_retired(known, {"a-7", "a-9", "c-1"}) == possible


@pytest.mark.parametrize("step", in_short([2, 1, 4, 3, 6, 9], every=3))
def test_a_correction_of_a_later_event_is_distinguished_from_one_that_does_not_fit(step: int) -> None:
    wrong = {"data": {"stake": 5}, "reason": "misread", "approved_by": "chef-4"}
    data = {"casino": "demo", "table": "T1", "gaming_day": "2010-11-19", "game": "craps", "ruleset": "fr-craps"}
    opener = {**data, "currency": "EUR", "float": 0, "observes": []}
    rest = [{"number": 4}, {"number": 5}, {"corrects": 6, **wrong}, {}, {}, {"corrects": 6, **wrong}]
    types = ["point.marked", "point.marked", "entry.corrected", "no_more_bets", "no_more_bets", "entry.corrected"]
    stream = [envelope(1, "session.opened", opener, 1)]
    stream += [
        envelope(seq, type, data, seq) for seq, (type, data) in enumerate(zip(types, rest, strict=True), start=2)
    ]
    tenant = Tenant()
    stream_id = recorded(tenant, stream)
    with mock.patch.object(replay, "STEP_EVENTS", step):
        for event, raw in map(decode_canonical, stream):
            append(stream_id, [NewEvent(event.seq, event.occurred_at, raw)], next_seq=event.seq + 1, key_id=1)
            replayed(stream_id)
    assert as_json(stream_id) == json.loads(json.dumps(adjudicate(stream, readings={}).as_dict()))


@pytest.mark.parametrize(("piece", "step"), in_short([(8, 3), (8, 1), (3, 5), (1, 8), (8, 8)], every=2))
def test_in_whatever_steps_and_pieces_a_stream_is_read_the_same_corrections_wait(piece: int, step: int) -> None:
    stream = [msgspec.json.encode(event) for event in GRAVE_BY_ANOTHER]
    stream_id = recorded(Tenant(), stream)
    events = [decode_canonical(raw) for raw in stream]
    with mock.patch.object(replay, "STEP_EVENTS", step):
        for low in range(0, len(events), piece):
            batch = events[low : low + piece]
            entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in batch]
            append(stream_id, entries, next_seq=batch[-1][0].seq + 1, key_id=1)
            replayed(stream_id)
    adjudication = standing(stream_id)
    assert adjudication is not None
    assert held_by(bytes(adjudication.state)) == {6, 7}
    assert as_json(stream_id) == json.loads(json.dumps(adjudicate(stream, readings={}, approved=[]).as_dict()))


def as_json(stream_id: int) -> dict[str, Any]:
    adjudication = standing(stream_id)
    assert adjudication is not None
    answer: dict[str, Any] = json.loads(json.dumps(answer_of(adjudication).as_dict()))
    return answer


def test_a_stream_that_arrives_an_event_at_a_time_has_few_rows_of_retired_wagers() -> None:
    tenant = Tenant()
    stream = [
        json.dumps(tenant.opener("s", game="french_roulette", ruleset="fr-roulette", observes=[])).encode(),
        *[
            envelope(seq, *kind, seq)
            for seq, kind in enumerate(
                [
                    each
                    for coup in range(100)
                    for each in (
                        ("wager.placed", {"wager": f"{coup * 7919 % 997:x}-", "bet": "rouge", "stake": 100}),
                        ("ball.settled", {"pocket": "4"}),
                    )
                ],
                start=2,
            )
        ],
    ]
    stream_id = recorded(tenant, stream)
    for raw in stream:
        event = new_event(raw)
        append(stream_id, [event], next_seq=event.seq + 1, key_id=1)
        advance(stream_id)
    rows = RetiredWagers.objects.filter(run__stream_id=stream_id)
    assert rows.count() <= 8
    assert len(as_json(stream_id)["wagers"]) == 100
    again = envelope(202, "wager.placed", {"wager": "0-", "bet": "rouge", "stake": 100}, 202)
    append(stream_id, [new_event(again)], next_seq=203, key_id=1)
    advance(stream_id)
    assert Finding.objects.filter(stream_id=stream_id, rule="wager-id-reused", seq=202).count() == 1


def test_what_happens_to_a_wager_after_it_retired_is_stored_step_by_step() -> None:
    tenant = Tenant()
    opener = tenant.opener(
        "s", game="american_roulette", ruleset="fr-american-roulette", observes=["announcements"], seats=["S1"]
    )
    rest = [
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 100, "player": "Anna"}),
        ("ball.settled", {"pocket": "1"}),
        ("result.announced", {"pocket": "1", "chances": ["rouge", "impair", "manque"]}),
        ("ball.settled", {"pocket": "2"}),  # nobody has paid w1: it is missed, and retires
        ("payment.announced", {"wager": "w1", "amount": 100}),
        ("payout.made", {"wager": "w1", "winnings": 100, "stake_returned": 100}),
        ("payout.made", {"wager": "w1", "winnings": 100, "stake_returned": 100}),
    ]
    stream = [json.dumps(opener).encode(), *[envelope(seq, *each, seq) for seq, each in enumerate(rest, start=2)]]
    stream_id = recorded(tenant, stream)
    for raw in stream:
        event = new_event(raw)
        append(stream_id, [event], next_seq=event.seq + 1, key_id=1)
        advance(stream_id)
    answer = as_json(stream_id)
    assert answer == json.loads(json.dumps(adjudicate(stream, readings={}).as_dict()))
    found = [finding["rule"] for finding in answer["findings"]]
    assert "payment-not-announced" not in found
    assert "payout-duplicated" in found
