"""One pass: where replay reads a closed session whole, its figures, money and evidence come from the same fold.

What is stored is, byte for byte, what a second reading of the stream would have stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import task_queue, tasks
from audit.adjudication import fairness, replay, stream_reader
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.replay import advance
from audit.adjudication.what_if import Selection
from audit.adjudication.witness import WholeSession
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
from audit.reconciliation.sessions import OnePass, compute_figures
from audit.register import entries
from audit.register.entries import Proposal
from audit.simulation import IRREGULARITIES, RULESET_NAMES
from audit.transparency.outcome import Fault, Outcome
from settlement import State
from settlement.codec import decode_canonical, next_seq_after
from settlement.events import SessionOpened
from settlement.rulesets import RULESETS
from tests.audit.adjudication.test_any_stream import corrected_streams, recorded
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, approve
from tests.audit.reconciliation.played import DAY, Events, record, session
from tests.audit.register.register_desk import LONG_AGO, RegisterDesk
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
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
    """Replay a stream as a worker does, and add up what it has read; return whether that was all of it."""
    one_pass = OnePass()
    sessions.bring_up_to_date(stream_id, one_pass)
    if one_pass.last_seq:
        one_pass.keep()
    else:
        in_two_passes(stream_id)
    return one_pass.last_seq > 0


def in_two_passes(stream_id: int) -> None:
    """Replay a stream, and read it again for what is kept."""
    sessions.bring_up_to_date(stream_id)
    compute_figures(stream_id, read.last_seqs([stream_id])[stream_id])


def undone(read_by: Callable[[int], object], stream_id: int) -> list[Any]:
    """Return what is kept of a stream after ``read_by``, which is then undone."""
    with transaction.atomic():
        read_by(stream_id)
        found = kept(stream_id)
        transaction.set_rollback(True)
    return found


def both(stream_id: int, *, is_whole: bool = True) -> list[Any]:
    """Return what one pass keeps of a stream; fail if two passes keep anything else, or if there is not one pass."""
    with transaction.atomic():
        assert in_one_pass(stream_id) == is_whole
        transaction.set_rollback(True)
    one, two = undone(in_one_pass, stream_id), undone(in_two_passes, stream_id)
    for here, there in zip(one, two, strict=True):
        assert here == there
    return one


# One reading


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_session_that_arrives_whole_is_decoded_once_and_everything_is_kept(
    tenant: Tenant, meter: Meter, sent: list[Any], ruleset: str
) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events)
    tasks.replay_stream(stream_id=stream_id)
    assert meter.decoded == len(events)
    figures, money, evidence, [adjudication], findings, retired = kept(stream_id)
    assert (len(figures), len(money), len(evidence), adjudication["closed"]) == (1, 1, 1, True)
    assert findings
    assert retired
    assert (task_queue.NIGHT_CLOSE, {"stream_id": stream_id}) in sent, "the ledger is still to be fed"
    seal()
    tasks.night_close(stream_id=stream_id)
    assert meter.decoded == len(events), "nothing is read again"


def test_a_night_that_meets_a_session_nobody_has_read_reads_it_once(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    compute_figures(stream_id, len(events))
    assert meter.decoded == len(events)
    assert [len(each) for each in kept(stream_id)[:4]] == [1, 1, 1, 1]


def test_figures_of_an_earlier_event_are_not_those_of_the_whole_session(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events)
    row = compute_figures(stream_id, len(events) - 5)
    assert (row.last_seq, sessions.decode_figures(row).last_seq) == (len(events) - 5, len(events) - 5)
    assert meter.decoded == 2 * len(events) - 5


def test_a_session_that_is_followed_as_it_plays_is_read_again_at_its_close(
    tenant: Tenant, meter: Meter, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(tenant.casino, "X1", irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events)
    whole = undone(in_one_pass, stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 50)
    monkeypatch.setattr(tasks, "TASK_S", 600)  # one task reads all, however slow the machine is
    tasks.replay_stream(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [0, 0, 0]
    meter.decoded = 0
    tasks.night_close(stream_id=stream_id)
    assert meter.decoded == len(events)
    assert kept(stream_id)[:3] == whole[:3]
    assert kept(stream_id)[4] == whole[4], "and in whatever steps, it finds the same"


def test_a_session_that_plays_on_is_not_added_up(tenant: Tenant, meter: Meter, sent: list[Any]) -> None:
    events = session(tenant.casino, "X1")
    stream_id = record(tenant.casino, events[:-1])
    tasks.replay_stream(stream_id=stream_id)
    assert meter.decoded == len(events) - 1
    assert [len(each) for each in kept(stream_id)[:4]] == [0, 0, 0, 1]
    record(tenant.casino, events[-1:])
    tasks.replay_stream(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [0, 0, 0], "the step began behind the first event"
    tasks.night_close(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [1, 1, 1]


def following(events: Events, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return one more event, after the last of ``events``."""
    return {**events[-1], "seq": events[-1]["seq"] + 1, "type": kind, "data": data}


# The same bytes

ONE_OF_EACH_GAME = [
    pytest.param(each, marks=() if each in ("fr-craps", "fr-roulette") else pytest.mark.faults)
    for each in RULESET_NAMES
]


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.faults)])
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_simulated_session_with_every_irregularity_is_kept_alike(tenant: Tenant, ruleset: str, seed: int) -> None:
    events = session(tenant.casino, "X1", ruleset=ruleset, seed=seed, coups=60, irregularities=IRREGULARITIES)
    figures, money, evidence, _adjudication, findings, retired = both(record(tenant.casino, events))
    assert (len(figures), len(money), len(evidence)) == (1, 1, 1)
    assert len(findings) > 5
    assert retired


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
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


@pytest.mark.parametrize("ruleset", ONE_OF_EACH_GAME)
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
    last = both(stream_id, is_whole=False)[0]
    assert len(last) == 3, "what comes late to a session that was read is a step, and its figures are another reading"


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


@settings(examples, max_examples=8)
@any_closed
def test_any_stream_that_is_closed_is_kept_alike(stream: list[bytes], late: bool) -> None:
    is_kept_alike(stream, late)


@pytest.mark.faults
@examples
@any_closed
def test_many_streams_that_are_closed_are_kept_alike(stream: list[bytes], late: bool) -> None:
    is_kept_alike(stream, late)


@pytest.mark.parametrize(
    "every", [30, pytest.param(5, marks=pytest.mark.faults), pytest.param(1, marks=pytest.mark.soak)]
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
            is_known = opened["ruleset"] in RULESETS
            both(tenant.stream(case["id"]).stream_id, is_whole=is_known)
            kept_whole += is_known
    assert kept_whole > 350 // every


# What goes wrong


def test_a_worker_that_dies_between_findings_and_figures_leaves_them_to_the_close(
    tenant: Tenant, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(tenant.casino, "X1", irregularities=IRREGULARITIES)
    stream_id = record(tenant.casino, events)
    whole = undone(in_one_pass, stream_id)

    def dies(one_pass: OnePass) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(OnePass, "keep", dies)
        with pytest.raises(SystemExit):
            tasks.replay_stream(stream_id=stream_id)
    assert [len(each) for each in kept(stream_id)[:3]] == [0, 0, 0]
    assert kept(stream_id)[3:] == whole[3:], "the findings are there"
    tasks.night_close(stream_id=stream_id)
    assert kept(stream_id) == whole


@pytest.mark.django_db(transaction=True)
def test_figures_that_cannot_be_added_up_keep_no_finding_back_and_the_close_tries_again(
    tenant: Tenant, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "X1", irregularities=IRREGULARITIES))

    def fails(one_pass: OnePass) -> None:
        raise ValueError("a sum")

    monkeypatch.setattr(OnePass, "keep", fails)
    tasks.replay_stream(stream_id=stream_id)
    assert Finding.objects.filter(stream=stream_id).exists()
    assert AdjudicationRun.objects.get(stream=stream_id).state == "complete"
    assert sent == [(task_queue.NIGHT_CLOSE, {"stream_id": stream_id})]


@pytest.mark.django_db(transaction=True)
def test_a_step_that_failed_is_tried_again_without_reading_along(tenant: Tenant) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "X1"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sessions.PersonsProjection, "_noters", lambda projection, **options: [{SessionOpened: _breaks}])
        tasks.replay_stream(stream_id=stream_id)
        run = AdjudicationRun.objects.get(stream=stream_id)
        assert (run.state, run.error_type, run.tries) == ("failed", "ZeroDivisionError", 1)
        one_pass = OnePass()
        assert advance(stream_id, in_pause=True, witness=one_pass) is not None
    assert one_pass.last_seq == 0
    assert AdjudicationRun.objects.get(stream=stream_id).state == "complete"


def _breaks(event: Any) -> None:
    raise ZeroDivisionError


def test_what_officers_decide_while_a_session_is_read_is_not_kept_under_their_decision() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s", CLOSE, is_replayed=False)
    sessions.bring_up_to_date(stream_id)
    one_pass = OnePass()
    desk.approved(stream_id)  # the run under way does not know that
    assert one_pass.begins(WholeSession(stream_id, 7, {}, ()), State()) == {}
    one_pass.ends()
    assert one_pass.last_seq == 0


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


# Who has no witness


def test_a_what_if_run_keeps_no_figures(tenant: Tenant) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "X1"))
    what_if = what_if_runs.begin(
        f"half-{tenant.code}", readings={"zero_rule": "half"}, selection=Selection(casino=tenant.code), actor="test"
    )
    one_pass = OnePass()
    progress = advance(stream_id, what_if, witness=one_pass)
    assert progress is not None
    assert progress.has_closed
    assert one_pass.last_seq == 0
    what_if_runs.replay_one(what_if, stream_id)
    assert not SessionFigures.objects.filter(stream=stream_id).exists()


def test_while_another_casino_waits_a_step_has_no_figures_to_read(
    tenant: Tenant, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "X1"))
    turns = iter([fairness.Turn(stream_id, tenant.casino.pk, 1, is_shared=True)])
    monkeypatch.setattr(fairness, "take", lambda: next(turns, None))
    tasks.replay_stream(stream_id=stream_id)
    assert Adjudication.objects.get(stream=stream_id).closed
    assert not SessionFigures.objects.filter(stream=stream_id).exists()
    assert sent == [(task_queue.NIGHT_CLOSE, {"stream_id": stream_id})]


def test_a_session_of_no_table_is_not_added_up(tenant: Tenant, meter: Meter) -> None:
    events = session(tenant.casino, "X1", coups=3)
    stream_id = open_stream(
        casino_id=tenant.casino.pk, table_id=None, name=events[0]["stream"], gaming_day=DAY,
        game="french_roulette", ruleset="fr-roulette", currency="EUR",
    )  # fmt: skip
    decoded = [decode_canonical(json.dumps(event, sort_keys=True, separators=(",", ":")).encode()) for event in events]
    entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in decoded]
    append(stream_id, entries, next_seq=len(entries) + 1, key_id=1)
    one_pass = OnePass()
    sessions.bring_up_to_date(stream_id, one_pass)
    assert Adjudication.objects.get(stream=stream_id).closed
    assert one_pass.last_seq == 0
