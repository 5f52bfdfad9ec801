"""Replay: a stream folded in steps gives the same adjudication as in one run, whatever stops it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from audit.adjudication import findings, replay, retired_wagers, runs
from audit.adjudication.replay import advance
from audit.adjudication.results import wager_of
from audit.event_store import cluster, read
from audit.models import Adjudication, AdjudicationRun, Finding, RetiredWagers, WaitingStream
from audit.tasks import replay_stream, sweep
from benchmarks.fairness import not_permitted, wager
from settlement import ENGINE_VERSION, adjudicate
from tests.audit.adjudication.finished import of_finished_coups
from tests.audit.corrections.corrections_desk import approve
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

CASES = Path(__file__).parent.parent.parent / "conformance" / "cases.jsonl"

pytestmark = pytest.mark.django_db


def replayed(stream_id: int) -> int:
    """Replay a stream to its end and return in how many steps."""
    steps = 0
    while (progress := advance(stream_id)) is not None and progress.folded:
        steps += 1
    return steps


def standing(stream_id: int) -> list[tuple[str, int, str]]:
    found = Finding.objects.filter(stream_id=stream_id, status="standing").order_by("seq", "rule", "wager")
    return [(finding.rule, finding.seq, finding.wager) for finding in found]


@pytest.mark.parametrize(
    "every", [30, pytest.param(5, marks=pytest.mark.faults), pytest.param(1, marks=pytest.mark.soak)]
)
def test_every_conformance_stream_recorded_and_replayed_in_small_steps_answers_as_one_run(
    monkeypatch: pytest.MonkeyPatch, settings: Any, every: int
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 5)
    settings.CABOCHON_STREAMS_A_DAY = 10_000
    tenant = Tenant()
    compared = 0
    for case in map(json.loads, CASES.read_text().splitlines()[::every]):
        events = [
            event
            | (
                {"data": event["data"] | {"casino": tenant.code, "table": "T1"}}
                if event["type"] == "session.opened"
                else {}
            )
            for event in case["events"]
        ]
        if tenant.post(case["id"], events).status_code != 201:
            continue  # a gap or two contents of one seq: the record refuses what a file may hold
        stream_id = tenant.stream(case["id"]).stream_id
        replayed(stream_id)
        sent = [json.dumps(event) for event in events]
        answer = adjudicate(sent, readings={})  # a record always has a register
        from_the_law = [(found.rule, found.seq, found.wager or "") for found in of_finished_coups(sent)]
        from_the_record = [found for found in standing(stream_id) if found[0] != "late-after-close"]
        assert from_the_record == from_the_law, case["id"]
        from_the_tables = tenant.get(f"/streams/{case['id']}/adjudication").json()
        from_the_tables["findings"] = [
            found for found in from_the_tables["findings"] if found["rule"] != "late-after-close"
        ]
        assert from_the_tables == json.loads(json.dumps(answer.as_dict())), case["id"]
        assert list(from_the_tables["wagers"]) == list(answer.wagers)
        compared += 1
    assert compared > 400 // every


def test_events_that_arrive_later_are_folded_from_the_cursor_on() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events[:5])
    stream_id = tenant.stream("s").stream_id
    assert replayed(stream_id) == 1
    tenant.post("s", events[5:])
    assert replayed(stream_id) == 1
    cursor = Adjudication.objects.get(stream_id=stream_id)
    assert (cursor.cursor, cursor.next_seq, cursor.events) == (13, 14, 13)
    assert standing(stream_id) == [("dice-changed-during-point-series", 9, ""), ("payout-overpaid", 12, "w2")]


@pytest.mark.parametrize("module, stopped_in", [(findings, "add_findings"), (retired_wagers, "retire")])
def test_a_worker_that_dies_in_a_step_commits_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, stopped_in: str
) -> None:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    stream_id = tenant.stream("s").stream_id
    whole = getattr(module, stopped_in)

    def dies(*args: Any, **kwargs: Any) -> None:
        whole(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, stopped_in, dies)
    with pytest.raises(KeyboardInterrupt):
        advance(stream_id)
    assert not Finding.objects.filter(stream_id=stream_id).exists()
    assert not RetiredWagers.objects.filter(run__stream_id=stream_id).exists()
    assert not Adjudication.objects.filter(stream_id=stream_id).exists()

    monkeypatch.undo()
    replayed(stream_id)
    assert len(standing(stream_id)) == 2


@pytest.mark.django_db(transaction=True)
def test_a_worker_leaves_a_stream_whose_first_step_another_has_in_hand_without_waiting() -> None:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    stream_id = tenant.stream("s").stream_id
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as worker, connection.cursor() as own:
            worker.execute(
                cluster.readable(runs.BEGIN_FIRST), {"stream": stream_id, "engine": ENGINE_VERSION, "what_if": None}
            )
            assert worker.fetchone() is not None
            own.execute("set lock_timeout = '1s'")
            assert advance(stream_id) is None
            own.execute("reset lock_timeout")
        other.rollback()
    finally:
        other.close()
    assert replayed(stream_id) == 1


def test_a_first_step_that_fails_leaves_a_run_that_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    stream_id = tenant.stream("s").stream_id

    def fails(*args: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(findings, "add_findings", fails)
    with pytest.raises(ZeroDivisionError):
        advance(stream_id)
    assert not AdjudicationRun.objects.filter(stream_id=stream_id).exists()
    assert runs.record_failure(stream_id, ENGINE_VERSION, ZeroDivisionError())
    assert AdjudicationRun.objects.get(stream_id=stream_id).state == "failed"


@pytest.mark.django_db(transaction=True)
def test_a_worker_leaves_a_stream_that_another_holds_without_waiting() -> None:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    stream_id = tenant.stream("s").stream_id
    Adjudication.objects.create(stream_id=stream_id, engine_version=ENGINE_VERSION)
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as worker, connection.cursor() as own:
            worker.execute("select from audit_adjudication where stream_id = %s for update", (stream_id,))
            own.execute("set lock_timeout = '1s'")  # to wait would be an error here, and not a matter of time
            assert advance(stream_id) is None
            own.execute("reset lock_timeout")
            assert Adjudication.objects.get(stream_id=stream_id).cursor == 0
        other.rollback()
    finally:
        other.close()
    assert replayed(stream_id) == 1


def test_a_correction_replays_the_stream_and_supersedes_findings_that_it_removes() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events)
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    assert ("payout-overpaid", 12, "w2") in standing(stream_id)

    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entry = {"corrects": 12, "data": right, "reason": "misread chip", "approved_by": "chef-4"}
    tenant.post("s", numbered(events[0], *[("x", {})] * 12, ("entry.corrected", entry))[13:])
    replayed(stream_id)
    assert ("payout-overpaid", 12, "w2") in standing(stream_id), "the correction waits for two officers"
    approve(tenant.casino, stream_id, 14)
    replayed(stream_id)

    assert standing(stream_id) == [("dice-changed-during-point-series", 9, ""), ("entry-corrected", 14, "")]
    gone = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert gone.superseded_at is not None
    wager = wager_of(stream_id, "w2")
    assert wager is not None
    assert wager.winnings_paid == 700
    answer = tenant.get("/streams/s/adjudication").json()
    assert answer["corrections"] == [{"seq": 14, "corrects": 12, "reason": "misread chip", "approved_by": "chef-4"}]


def test_findings_are_superseded_by_a_worker_whose_clock_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were found by one whose clock was an hour ahead. They end when they began, and not before."""
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events)
    stream_id = tenant.stream("s").stream_id
    with monkeypatch.context() as patch:
        ahead = timezone.now() + timedelta(hours=1)
        patch.setattr(timezone, "now", lambda: ahead)
        replayed(stream_id)
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entry = {"corrects": 12, "data": right, "reason": "misread chip", "approved_by": "chef-4"}
    tenant.post("s", numbered(events[0], *[("x", {})] * 12, ("entry.corrected", entry))[13:])
    replayed(stream_id)
    approve(tenant.casino, stream_id, 14)
    replayed(stream_id)
    gone = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert gone.superseded_at == gone.opened_at
    assert standing(stream_id) == [("dice-changed-during-point-series", 9, ""), ("entry-corrected", 14, "")]


def test_another_run_is_resumed_and_the_findings_before_it_stand_until_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events)
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    before = standing(stream_id)
    wrong = {"wager": "w2", "winnings": 800, "stake_returned": 600}
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entries = [
        ("entry.corrected", {"corrects": seq, "data": data, "reason": "misread", "approved_by": "chef-4"})
        for seq, data in ((12, wrong), (12, right), (4, {"nothing": 1}))
    ]
    tenant.post("s", numbered(events[0], *[("x", {})] * 12, *entries)[13:])

    for _ in range(6):  # the worker may die after each of them: every step is committed, none is done again
        assert standing(stream_id) == before
        assert tenant.get("/streams/s").json()["verdict"] == "pending"
        advance(stream_id)
    replayed(stream_id)

    after = [
        ("dice-changed-during-point-series", 9, ""),
        ("payout-overpaid", 12, "w2"),
        ("entry-corrected", 14, ""),
        ("entry-corrected", 15, ""),
        ("correction-without-effect", 16, ""),
    ]
    assert standing(stream_id) == after
    assert tenant.get("/streams/s").json()["verdict"] == "irregular"
    whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}, approved=[]).as_dict()
    assert tenant.get("/streams/s/adjudication").json() == json.loads(json.dumps(whole))
    # The second learns in its last step that both corrections wait.
    first, second, third = AdjudicationRun.objects.filter(stream_id=stream_id).order_by("number")
    assert (first.number, first.state, first.superseded_by) == (1, "superseded", third)
    assert (second.number, second.state, second.superseded_by) == (2, "superseded", third)
    assert (third.number, third.state, third.replaces, third.cause) == (3, "complete", first, "correction")
    assert Adjudication.objects.get(stream_id=stream_id).run == third
    assert not RetiredWagers.objects.filter(run=first).exists()


def test_findings_of_an_earlier_engine_stand_until_the_run_of_the_new_one_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    stream_id = tenant.stream("s").stream_id
    monkeypatch.setattr(replay, "ENGINE_VERSION", "0")
    replayed(stream_id)
    old = list(Finding.objects.filter(stream_id=stream_id, status="standing").values_list("engine_version", "rule"))
    assert {version for version, _ in old} == {"0"}

    monkeypatch.undo()
    monkeypatch.setattr(replay, "STEP_EVENTS", 4)
    assert stream_id not in read.dirty_streams(ENGINE_VERSION, limit=100_000), "it waits for a promotion"
    for _ in range(3):
        found = Finding.objects.filter(stream_id=stream_id, status="standing")
        assert list(found.values_list("engine_version", "rule")) == old
        advance(stream_id)
    replayed(stream_id)
    found = Finding.objects.filter(stream_id=stream_id, status="standing")
    assert {version for version, _ in found.values_list("engine_version", "rule")} == {ENGINE_VERSION}
    assert Finding.objects.filter(stream_id=stream_id, engine_version="0").count() == len(old), "none is deleted"
    whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}).as_dict()
    assert tenant.get("/streams/s/adjudication").json() == json.loads(json.dumps(whole)), "the old ones are not in it"
    assert stream_id not in read.dirty_streams(ENGINE_VERSION, limit=100_000)


def test_events_after_the_close_are_stored_and_found_except_corrections() -> None:
    tenant = Tenant()
    late = numbered(
        tenant.opener("s"),
        ("session.closed", {"float": 5_000_000}),
        ("player.left", {"player": "Anna"}),
        ("entry.corrected", {"corrects": 2, "data": {"float": 1}, "reason": "slip", "approved_by": "chef-4"}),
    )
    assert tenant.post("s", late[:3]).status_code == 201
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    assert standing(stream_id) == [("late-after-close", 3, "")]
    found = Finding.objects.get(stream_id=stream_id)
    assert (found.evidence, found.facts) == ([2, 3], {"closed_seq": 2, "event_type": "player.left"})
    assert tenant.post("s", late).status_code == 201
    replayed(stream_id)
    assert standing(stream_id) == [("late-after-close", 3, ""), ("entry-corrected", 4, "")]


def test_a_conflict_found_at_ingestion_outlives_every_replay() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events[:5])
    other = [*events[:4], events[4] | {"data": events[4]["data"] | {"stake": 9_000}}]
    assert tenant.post("s", other).status_code == 409
    stream_id = tenant.stream("s").stream_id
    correction = {"corrects": 5, "data": events[4]["data"], "reason": "slip", "approved_by": "chef-4"}
    tenant.post("s", numbered(events[0], *[("x", {})] * 4, ("entry.corrected", correction))[5:])
    replayed(stream_id)
    assert standing(stream_id) == [("sequence-conflict", 5, ""), ("entry-corrected", 6, "")]


def test_the_sweep_puts_every_dirty_stream_into_the_queue_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    tenant.post("done", [tenant.opener("done")])
    replayed(tenant.stream("done").stream_id)
    tenant.post("dirty", [tenant.opener("dirty")])
    hinted: list[int | None] = []
    monkeypatch.setattr(replay_stream, "delay", lambda *, stream_id: hinted.append(stream_id))
    swept = sweep()
    waiting = set(WaitingStream.objects.values_list("stream_id", flat=True))
    assert len(hinted) == min(swept, settings.CABOCHON_REPLAY_WORKERS), "a message for each worker is enough"
    assert tenant.stream("dirty").stream_id in waiting
    assert tenant.stream("done").stream_id not in waiting


def test_a_stream_with_a_declared_loss_does_not_stay_dirty() -> None:
    tenant = Tenant()
    tenant.post("s", numbered(tenant.opener("s"), ("events.lost", {"through": 9, "reason": "spool_lost"})))
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    assert stream_id not in read.dirty_streams(ENGINE_VERSION, limit=1_000)
    assert tenant.get("/streams/s").json()["verdict"] == "irregular"


def test_a_wager_is_found_in_play_and_after_it_retired() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    tenant.post("s", events)
    stream_id = tenant.stream("s").stream_id
    assert wager_of(stream_id, "w1") is None, "nothing is adjudicated yet"
    replayed(stream_id)
    rows = RetiredWagers.objects.filter(run__stream_id=stream_id)
    assert rows.count() == 1
    whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}).wagers
    for wager_id in ("w1", "w2"):
        wager = wager_of(stream_id, wager_id)
        assert wager is not None
        assert (wager.stake, wager.winnings_paid) == (whole[wager_id].stake, whole[wager_id].winnings_paid)
    assert wager_of(stream_id, "w3") is None


@pytest.mark.parametrize("ruleset, expected", [("fr-whist", ""), ("fr-craps", "fr-craps")])
def test_findings_bear_the_ruleset_if_it_is_a_known_one(ruleset: str, expected: str) -> None:
    tenant = Tenant()
    opener = tenant.opener("s", ruleset=ruleset)
    placed = ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1000})
    tenant.post("s", numbered(opener, placed, placed))
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    assert Adjudication.objects.get(stream_id=stream_id).ruleset == expected
    found = Finding.objects.filter(stream_id=stream_id)
    assert {row.ruleset for row in found} == {expected}


def test_the_irregular_event_of_the_fairness_benchmark_is_a_finding_as_soon_as_it_is_replayed() -> None:
    """That benchmark times the row of the finding; of what may still be put right there is none yet."""
    tenant = Tenant()
    events = [tenant.opener("busy"), wager("busy", 2), wager("busy", 3), not_permitted("busy", 4)]
    events = [{**event, "occurred_at": events[0]["occurred_at"]} for event in events]
    assert tenant.post("busy", events).status_code == 201
    stream_id = tenant.stream("busy").stream_id
    replayed(stream_id)
    assert ("wager-not-permitted", 4, "w4") in standing(stream_id)
