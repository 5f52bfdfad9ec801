"""What replay notes of a session gives its figures, money and evidence, in whatever steps it comes: it is read once.

What is stored is, byte for byte, what a second reading of the stream would have stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import task_queue, tasks
from audit.adjudication import fairness, noted, replay, results, retired_wagers, stream_reader
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.corrections import decisions
from audit.event_store import read
from audit.event_store.append import NewEvent, append, open_stream
from audit.models import (
    Adjudication,
    AdjudicationRun,
    Finding,
    RetiredWagers,
    SessionFigures,
    StreamEvidence,
    StreamMoney,
)
from audit.reconciliation import sessions
from audit.reconciliation.sessions import compute_figures
from audit.register import entries
from audit.register.entries import Proposal
from audit.simulation import IRREGULARITIES, RULESET_NAMES
from audit.transparency.outcome import Fault, Outcome
from settlement.codec import decode_canonical, next_seq_after
from settlement.events import SessionClosed
from tests.audit.adjudication.test_any_stream import corrected_streams, recorded
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, approve
from tests.audit.reconciliation.played import DAY, Events, count, record, session
from tests.audit.register.register_desk import LONG_AGO, RegisterDesk
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short
from tests.settlement.test_properties import envelope

CASES = Path(__file__).parent.parent.parent / "conformance" / "cases.jsonl"

pytestmark = pytest.mark.django_db

CLOSE = ("session.closed", {"float": 5_000_000})


class Meter:
    """How many events the record has decoded in pages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.decoded = 0
        decode = stream_reader.decode_stored

        def counted(array: bytes) -> Any:
            events = decode(array)
            self.decoded += len(events)
            return events

        monkeypatch.setattr(stream_reader, "decode_stored", counted)


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    return Meter(monkeypatch)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The hints that were sent, which no worker gets."""
    messages: list[Any] = []

    def of_stream(task: str, **params: Any) -> None:
        if "stream_id" in params:  # what the workers of webhooks are sent is of no stream
            messages.append((task, params))

    monkeypatch.setattr(task_queue, "send_soon", of_stream)
    return messages


def kept(stream_id: int) -> list[Any]:
    """Return every byte that is kept of a stream: what is kept at its close, then what replay has found and left."""
    rows = [
        SessionFigures.objects.order_by("pk").values(
            "last_seq", "readings", "corrections", "figures", "faults", "waiting"
        ),
        StreamMoney.objects.order_by("pk").values("last_seq", "readings", "corrections", "money"),
        StreamEvidence.objects.order_by("pk").values("last_seq", "readings", "corrections", "observations"),
        Adjudication.objects.values("cursor", "next_seq", "events", "closed", "state", "known_ids", "ruleset"),
        Finding.objects.order_by("seq", "rule", "wager", "content", "readings_digest").values(
            "seq",
            "rule",
            "wager",
            "content",
            "readings_digest",
            "status",
            "severity",
            "evidence",
            "facts",
            "owed",
            "put_right_by",
        ),
    ]
    retired = RetiredWagers.objects.filter(run__stream_id=stream_id).order_by("through")
    found = [list(each.filter(stream=stream_id)) for each in rows]  # type: ignore[attr-defined]
    found.append(list(retired.values("through", "digests", "saved")))
    return [
        [
            {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}
            for row in each
        ]
        for each in found
    ]


def in_one_pass(stream_id: int) -> bool:
    """Replay a stream, and keep what was noted; return whether that was all of it."""
    sessions.bring_up_to_date(stream_id)
    with mock.patch.object(sessions, "_read", wraps=sessions._read) as reads:
        compute_figures(stream_id, read.last_seqs([stream_id])[stream_id])
    return all(call.kwargs.get("in_effect") for call in reads.call_args_list)  # but with what waits in effect


def in_two_passes(stream_id: int) -> None:
    """Replay a stream, and read it again for what is kept."""
    sessions.bring_up_to_date(stream_id)
    with mock.patch.object(sessions, "_noted", return_value=None):
        compute_figures(stream_id, read.last_seqs([stream_id])[stream_id])


def undone(read_by: Callable[[int], object], stream_id: int) -> list[Any]:
    """Return what is kept of a stream after ``read_by``, which is then undone."""
    with transaction.atomic():
        read_by(stream_id)
        found = kept(stream_id)
        transaction.set_rollback(True)
    return found


def both(stream_id: int) -> list[Any]:
    """Return what one pass keeps of a stream; fail if two passes keep anything else, or if there is not one pass."""
    with transaction.atomic():
        assert in_one_pass(stream_id)
        one = kept(stream_id)
        transaction.set_rollback(True)
    two = undone(in_two_passes, stream_id)
    for here, there in zip(one, two, strict=True):
        assert here == there
    return one


def in_pieces(tenant: Tenant, events: Events, size: int) -> list[Any]:
    """Return what is kept of a session that came ``size`` events at a time; fail if it is read again."""
    stream_id = 0
    with transaction.atomic():
        for first in range(0, len(events), size):
            stream_id = record(tenant.casino, events[first : first + size])
            sessions.bring_up_to_date(stream_id)
        assert in_one_pass(stream_id)
        found = kept(stream_id)
        transaction.set_rollback(True)
    return found


# One reading


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_a_session_that_arrives_whole_is_decoded_once_and_everything_is_kept(
    tenant: Tenant, meter: Meter, sent: list[Any], ruleset: str
) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events)
    tasks.replay_stream(stream_id=stream_id)
    assert meter.decoded == len(events)
    assert (task_queue.NIGHT_CLOSE, {"stream_id": stream_id}) in sent
    seal()
    tasks.night_close(stream_id=stream_id)
    assert meter.decoded == len(events), "nothing is read again"
    figures, money, evidence, [adjudication], findings, retired = kept(stream_id)
    assert (len(figures), len(money), len(evidence), adjudication["closed"]) == (1, 1, 1, True)
    assert findings
    assert retired


def test_a_night_that_meets_a_session_nobody_has_read_reads_it_once(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    compute_figures(stream_id, len(events))
    assert meter.decoded == len(events)
    assert [len(each) for each in kept(stream_id)[:4]] == [1, 1, 1, 1]


@pytest.mark.parametrize("size", in_short([7, 1, 100], every=3))
@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_a_session_that_comes_in_pieces_is_kept_as_one_that_comes_whole(
    tenant: Tenant, ruleset: str, size: int
) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, irregularities=IRREGULARITIES)
    paid = next(each for each in events if each["type"] == "payout.made")
    events.append(following(events, "payout.made", paid["data"]))  # of a wager that has retired, after the close
    events.append(following(events, "bank.filled", {"amount": 500, "slip": "F-late"}))
    found = in_pieces(tenant, events, size)
    with transaction.atomic():
        whole = undone(in_two_passes, record(tenant.casino, events))
        transaction.set_rollback(True)
    assert found[:3] == whole[:3]
    assert found[4] == whole[4], "and in whatever steps, it finds the same"


def test_figures_of_an_earlier_event_are_not_those_of_the_whole_session(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    row = compute_figures(stream_id, len(events) - 5)
    assert (row.last_seq, sessions.decode_figures(row).last_seq) == (len(events) - 5, len(events) - 5)
    assert meter.decoded == 2 * len(events) - 5


def test_a_session_that_is_followed_as_it_plays_is_not_read_again_at_its_close(
    tenant: Tenant, meter: Meter, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(tenant.casino, "X1", irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events)
    whole = undone(in_two_passes, stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 50)
    monkeypatch.setattr(tasks, "TASK_S", 600)  # one task reads all, however slow the machine is
    tasks.replay_stream(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [0, 0, 0]
    meter.decoded = 0
    tasks.night_close(stream_id=stream_id)
    assert meter.decoded == 0
    assert kept(stream_id)[:3] == whole[:3]
    assert kept(stream_id)[4] == whole[4], "and in whatever steps, it finds the same"


def test_a_session_that_plays_on_is_not_added_up_before_its_close(
    tenant: Tenant, meter: Meter, sent: list[Any]
) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events[:-1])
    tasks.replay_stream(stream_id=stream_id)
    assert meter.decoded == len(events) - 1
    assert sent == []
    record(tenant.casino, events[-1:])
    tasks.replay_stream(stream_id=stream_id)
    tasks.night_close(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [1, 1, 1]
    assert meter.decoded == len(events)


def following(events: Events, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return one more event, after the last of ``events``."""
    return {**events[-1], "seq": events[-1]["seq"] + 1, "type": kind, "data": data}


# The same bytes

ONE_OF_EACH_GAME = [
    pytest.param(each, marks=() if each in ("fr-craps", "fr-roulette") else pytest.mark.faults)
    for each in RULESET_NAMES
]


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.faults)])
@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_a_simulated_session_with_every_irregularity_is_kept_alike(tenant: Tenant, ruleset: str, seed: int) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, seed=seed, coups=60, irregularities=IRREGULARITIES)
    figures, money, evidence, _adjudication, findings, retired = both(record(tenant.casino, events))
    assert (len(figures), len(money), len(evidence)) == (1, 1, 1)
    assert len(findings) > 5
    assert retired


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_what_comes_after_the_close_is_kept_alike(tenant: Tenant, ruleset: str) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, irregularities=IRREGULARITIES)
    paid = next(each for each in events if each["type"] == "payout.made")
    for kind, data in (
        ("bank.filled", {"amount": 500, "slip": "F-late"}),
        ("payout.made", paid["data"]),
        ("wager.placed", next(each["data"] for each in events if each["type"] == "wager.placed")),
        ("tip.given", {"amount": 100}),
    ):
        events.append(following(events, kind, data))
    figures, *_others, findings, _retired = both(record(tenant.casino, events))
    assert len(figures) == 1
    assert [each["seq"] for each in findings if each["rule"] == "late-after-close"] == [
        each["seq"] for each in events[-4:]
    ]


@pytest.mark.parametrize("ruleset", in_short(ONE_OF_EACH_GAME, every=3))
def test_corrections_that_wait_are_approved_or_come_late_are_kept_alike(tenant: Tenant, ruleset: str) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, irregularities=IRREGULARITIES)
    wagers = [each for each in events if each["type"] == "wager.placed"]
    for each in wagers[1:4]:
        right = {**each["data"], "stake": each["data"]["stake"] + 200}
        correction = {"corrects": each["seq"], "data": right, "reason": "misread", "approved_by": "chief"}
        events.append(following(events, "entry.corrected", correction))
    stream_id = record(tenant.casino, events)
    figures, *_others = both(stream_id)
    assert len(figures) == 1
    seqs = figures[0]["waiting"]["seqs"]
    assert seqs, "some of them change what was settled"
    in_one_pass(stream_id)
    approve(tenant.casino, stream_id, seqs[0])
    figures, *_others, _retired = both(stream_id)
    assert [each["waiting"].get("seqs", []) for each in figures] == [seqs, seqs[1:]]
    in_one_pass(stream_id)
    record(tenant.casino, [following(events, "bank.credited", {"amount": 500, "slip": "C-late"})])
    assert len(both(stream_id)[0]) == 3, "what comes late is another step, and other figures"


def test_notes_of_a_session_that_a_worker_folds_on_meanwhile_are_no_answer(tenant: Tenant) -> None:
    """Rows of a later step beside a snapshot of an earlier one would count a wager twice."""
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    in_one_pass(stream_id)
    before = results.standing(stream_id)
    assert before is not None
    assert noted.projection_of(before) is not None
    record(tenant.casino, [following(events, "bank.credited", {"amount": 500, "slip": "C-late"})])
    in_one_pass(stream_id)
    assert noted.projection_of(before) is None


def test_a_count_is_not_noted_and_a_session_is(tenant: Tenant) -> None:
    for events, is_noted in ((session(tenant.casino, "X1"), True), (count(tenant.casino, {"X1": 5}), False)):
        stream_id = record(tenant.casino, events)
        sessions.bring_up_to_date(stream_id)
        assert bool(Adjudication.objects.get(stream=stream_id).memory) == is_noted


def test_a_run_that_the_register_begins_is_kept_alike() -> None:
    desk = RegisterDesk()
    events = session(desk.casino, "T1", irregularities=IRREGULARITIES)
    stream_id = record(desk.casino, events)
    in_one_pass(stream_id)
    desk.decided("payout_unit", 100)
    figures, money, evidence, *_others = both(stream_id)
    assert [each["readings"] != "" for each in figures] == [False, True]
    assert (len(money), len(evidence)) == (2, 2)


def is_kept_alike(stream: list[bytes], late: bool) -> None:
    """Close a stream, before its last event where that is ``late``, and compare what is kept of it."""
    tenant = Tenant()
    close = max(2, len(stream)) if late else len(stream) + 1
    closed = [*stream[: close - 1], envelope(close, *CLOSE, close)]
    if late:
        last = json.loads(stream[-1])
        closed.append(envelope(close + 1, last["type"], last["data"], close + 1))
    stream_id = recorded(tenant, closed)
    events = [decode_canonical(raw) for raw in closed]
    entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in events]
    append(stream_id, entries, next_seq=next_seq_after(events[-1][0]), key_id=1)
    both(stream_id)


any_closed = given(stream=corrected_streams(), late=st.booleans())
examples = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@settings(examples, max_examples=4)
@any_closed
def test_any_stream_that_is_closed_is_kept_alike(stream: list[bytes], late: bool) -> None:
    is_kept_alike(stream, late)


@pytest.mark.faults
@examples
@any_closed
def test_many_streams_that_are_closed_are_kept_alike(stream: list[bytes], late: bool) -> None:
    is_kept_alike(stream, late)


@pytest.mark.parametrize(
    "every", [60, pytest.param(5, marks=pytest.mark.faults), pytest.param(1, marks=pytest.mark.soak)]
)
def test_every_conformance_stream_is_kept_alike(settings: Any, every: int) -> None:
    settings.CABOCHON_STREAMS_A_DAY = 10_000
    tenant = Tenant()
    kept_whole = 0
    for case in map(json.loads, CASES.read_text().splitlines()[::every]):
        events = case["events"]
        opened = events[0]["data"] | {"casino": tenant.code, "table": "T1"}
        events = [{**events[0], "data": opened}, *events[1:]]
        if not any(event["type"] == "session.closed" for event in events):
            events.append(following(events, *CLOSE))
        if tenant.post(case["id"], events).status_code == 201:
            both(tenant.stream(case["id"]).stream_id)
            kept_whole += 1
    assert kept_whole > 350 // every


# What goes wrong


@pytest.mark.django_db(transaction=True)
def test_a_step_that_failed_is_tried_again_without_notes_and_the_session_is_read_again(tenant: Tenant) -> None:
    events = session(tenant.casino, "X1", irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events[:50])
    sessions.bring_up_to_date(stream_id)
    record(tenant.casino, events[50:])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sessions.PersonsProjection, "_noters", lambda projection, **options: [{SessionClosed: _breaks}])
        tasks.replay_stream(stream_id=stream_id)
        run = AdjudicationRun.objects.get(stream=stream_id)
        assert (run.state, run.error_type, run.tries) == ("failed", "ZeroDivisionError", 1)
        assert replay.advance(stream_id, in_pause=True) is not None
    assert AdjudicationRun.objects.get(stream=stream_id).state == "complete"
    assert Finding.objects.filter(stream=stream_id).exists()
    assert not in_one_pass(stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [1, 1, 1]


def _breaks(event: Any) -> None:
    raise ZeroDivisionError


def test_what_officers_decide_while_a_session_is_read_is_not_kept_under_their_decision() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s", CLOSE, is_replayed=False)
    sessions.bring_up_to_date(stream_id)
    last_seq = read.last_seqs([stream_id])[stream_id]
    assert sessions._noted(sessions.key_of(stream_id, last_seq, "")) is not None
    desk.approved(stream_id)  # the run has not been told
    assert sessions._noted(sessions.key_of(stream_id, last_seq, "")) is None


def test_notes_of_a_session_that_a_worker_folds_on_meanwhile_are_not_taken(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    sessions.bring_up_to_date(stream_id)
    rows = retired_wagers.rows

    def folded_on(adjudication: Adjudication) -> Any:
        found = rows(adjudication)
        record(tenant.casino, [following(events, "tip.given", {"amount": 100})])
        sessions.bring_up_to_date(stream_id)
        return found

    whole = undone(in_two_passes, stream_id)
    monkeypatch.setattr(retired_wagers, "rows", folded_on)
    compute_figures(stream_id, len(events))
    assert kept(stream_id)[:3] == whole[:3]


def test_a_refusal_is_part_of_what_figures_are_kept_under() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s", CLOSE)
    decisions.refuse(desk.director, desk.tenant.stream("s"), CORRECTION, reason="the video shows otherwise")
    proposal = Proposal(reading="payout_unit", value=100, first_day=LONG_AGO, reason="custom")
    entries.approve(desk.director, entries.propose(desk.second, desk.casino, proposal).pk)
    assert in_one_pass(stream_id)
    row = SessionFigures.objects.get(stream=stream_id)
    assert sessions.stored_figures(stream_id, row.last_seq) == row
    assert (row.waiting, row.corrections != "") == ({}, True)


def test_the_chain_is_verified_before_figures_are_kept(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    verified: list[Any] = []

    def two_faults(*arguments: Any, streams: list[int], **options: Any) -> Any:
        verified.append(streams)
        outcome = Outcome()
        for part in ("batch", "head"):
            outcome.add(Fault(part, "does not follow", "X1", 1))
        return outcome

    monkeypatch.setattr(sessions, "verify", two_faults)
    in_one_pass(stream_id)
    assert verified == [[stream_id]]
    assert SessionFigures.objects.get(stream=stream_id).faults == 2


# Of whom nothing is noted


def test_a_what_if_run_notes_nothing(tenant: Tenant) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "X1"))
    what_if = what_if_runs.begin(
        f"half-{tenant.code}", readings={"zero_rule": "half"}, selection=Selection(casino=tenant.code), actor="test"
    )
    what_if_runs.replay_one(what_if, stream_id)
    adjudication = Adjudication.objects.get(stream=stream_id)
    assert (adjudication.closed, bytes(adjudication.memory)) == (True, b"")
    assert not any(RetiredWagers.objects.filter(run__stream_id=stream_id).values_list("notes", flat=True))


def test_a_step_that_is_shared_notes_as_any_other(
    tenant: Tenant, meter: Meter, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    turns = iter([fairness.Turn(stream_id, tenant.casino.pk, 1, is_shared=True)])
    monkeypatch.setattr(fairness, "take", lambda: next(turns, None))
    tasks.replay_stream(stream_id=stream_id)
    assert sent == [(task_queue.NIGHT_CLOSE, {"stream_id": stream_id})]
    tasks.night_close(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [1, 1, 1]
    assert meter.decoded == len(events)


def test_a_session_of_no_table_is_not_noted(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1", coups=3)
    stream_id = open_stream(
        casino_id=tenant.casino.pk, table_id=None, name=events[0]["stream"], gaming_day=DAY,
        game="french_roulette", ruleset="fr-roulette", currency="EUR",
    )  # fmt: skip
    decoded = [decode_canonical(json.dumps(event, sort_keys=True, separators=(",", ":")).encode()) for event in events]
    entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in decoded]
    append(stream_id, entries, next_seq=len(entries) + 1, key_id=1)
    sessions.bring_up_to_date(stream_id)
    adjudication = Adjudication.objects.get(stream=stream_id)
    assert (adjudication.closed, bytes(adjudication.memory)) == (True, b"")
