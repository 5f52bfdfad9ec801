"""What stands: which findings of which run officers see, whatever overtakes a run, and that only those have a case."""

from __future__ import annotations

from typing import Any

import pytest

from audit.adjudication import replay, runs
from audit.adjudication.replay import advance
from audit.adjudication.what_if import Selection, begin, replay_one
from audit.models import Adjudication, AdjudicationRun, Case, Finding, RunCause, RunState
from audit.transparency.integrity_findings import report_tampering
from settlement import ENGINE_VERSION
from tests.audit.corrections.corrections_desk import approve
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db

OVERPAID = {"wager": "w2", "winnings": 900, "stake_returned": 600}
PAID_RIGHT = {"wager": "w2", "winnings": 700, "stake_returned": 600}
PAID_EVEN_MORE = {"wager": "w2", "winnings": 1_000, "stake_returned": 600}
THROW = ("dice.thrown", {"faces": [1, 2], "seat": "S1", "dice": ["g", "h"]})

LAST = 15
"""The last event of the session: the money of its last payout is judged at event 13, in the fifth step of three."""


def replayed(stream_id: int) -> None:
    while (progress := advance(stream_id)) is not None and progress.behind:
        pass


def session(tenant: Tenant, stream: str, payout: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """Record the session in which the dice change in mid-series, with this payout on the right bet of 6.00."""
    events = dice_changed_in_mid_series(tenant, stream)
    events[11]["data"] = payout
    events += numbered(events[0], *[("x", {})] * (len(events) - 1), THROW, THROW)[len(events) :]
    assert len(events) == LAST
    assert tenant.post(stream, events).status_code == 201
    return tenant.stream(stream).stream_id, events


def corrected(tenant: Tenant, events: list[dict[str, Any]], payout: dict[str, Any]) -> None:
    """Correct the payout, at the next event of the stream."""
    data = {"corrects": 12, "data": payout, "reason": "misread chip", "approved_by": "chef-4"}
    events += numbered(events[0], *[("x", {})] * (len(events) - 1), ("entry.corrected", data))[-1:]
    assert tenant.post(events[0]["stream"], events).status_code == 201


def in_steps_of_three(stream_id: int, steps: int) -> None:
    for _ in range(steps):
        advance(stream_id)


def shown(stream_id: int) -> list[tuple[int, str, Any]]:
    """Return what an officer sees of a stream: seq, rule, and the recorded amount."""
    rows = Finding.objects.standing().filter(stream_id=stream_id)
    return list(rows.order_by("seq", "rule").values_list("seq", "rule", "recorded"))


def rules_with_a_case(stream_id: int) -> list[str]:
    return list(Case.objects.filter(stream_id=stream_id).order_by("seq", "rule").values_list("rule", flat=True))


def test_a_correction_followed_by_another_in_mid_run_leaves_no_case_of_a_finding_that_never_stood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    replayed(stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    corrected(tenant, events, OVERPAID)
    in_steps_of_three(stream_id, 6)  # the correction is met, then five steps of the run that knows it: through event 15
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    both_corrections = ["dice-changed-during-point-series", "entry-corrected", "entry-corrected"]
    assert [rule for _, rule, _ in shown(stream_id)] == both_corrections
    assert rules_with_a_case(stream_id) == both_corrections
    left = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert (left.status, left.stood_at, left.case) == ("superseded", None, None)
    assert left.superseded_by_run is not None
    assert (left.superseded_by_run.number, left.superseded_by_run.corrections_through) == (3, 16)


def test_a_finding_of_a_run_that_replaces_another_has_no_case_until_the_run_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    corrected(tenant, events, OVERPAID)
    replayed(stream_id)
    approve(tenant.casino, stream_id, 16)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    in_steps_of_three(stream_id, 6)
    assert rules_with_a_case(stream_id) == ["dice-changed-during-point-series", "entry-corrected"]
    replayed(stream_id)
    found = ["dice-changed-during-point-series", "payout-overpaid", "entry-corrected"]
    assert rules_with_a_case(stream_id) == found


def test_a_run_that_is_not_complete_does_not_change_what_a_standing_finding_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    corrected(tenant, events, PAID_EVEN_MORE)
    replayed(stream_id)
    before = shown(stream_id)
    approve(tenant.casino, stream_id, 16)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    in_steps_of_three(stream_id, 6)
    assert shown(stream_id) == before
    replayed(stream_id)
    [(_, _, amount_before)] = [row for row in before if row[1] == "payout-overpaid"]
    [(_, _, amount_after)] = [row for row in shown(stream_id) if row[1] == "payout-overpaid"]
    assert amount_after == amount_before + 100


def test_findings_of_a_first_run_that_a_correction_overtakes_stand_until_the_next_run_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    corrected(tenant, events, PAID_RIGHT)
    in_steps_of_three(stream_id, 5)  # through event 15: the correction waits
    before = [(9, "dice-changed-during-point-series"), (12, "payout-overpaid")]
    for _ in range(6):
        assert [row[:2] for row in shown(stream_id)] == before
        advance(stream_id)
    replayed(stream_id)
    assert [row[:2] for row in shown(stream_id)] == [*before, (16, "entry-corrected")], "the correction waits"
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    after = [*before[:1], (16, "entry-corrected")]
    assert [row[:2] for row in shown(stream_id)] == after
    cases = ["dice-changed-during-point-series", "payout-overpaid", "entry-corrected"]
    assert rules_with_a_case(stream_id) == cases, "one stood, and its case stays"


def test_a_new_engine_version_whose_run_dies_half_way_and_is_overtaken_leaves_no_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    monkeypatch.setattr(replay, "ENGINE_VERSION", "0")
    replayed(stream_id)
    before = shown(stream_id)
    monkeypatch.undo()
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    corrected(tenant, events, OVERPAID)
    in_steps_of_three(stream_id, 11)  # the new version meets the correction, and reads 1 to 15 again, knowing it
    assert shown(stream_id) == before
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    corrections = [(16, "entry-corrected"), (17, "entry-corrected")]
    assert [row[:2] for row in shown(stream_id)] == [row[:2] for row in before] + corrections
    assert rules_with_a_case(stream_id) == ["dice-changed-during-point-series", "entry-corrected", "entry-corrected"]


def test_an_earlier_version_that_comes_back_does_not_add_its_findings_to_those_of_the_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    monkeypatch.setattr(replay, "ENGINE_VERSION", "0")
    replayed(stream_id)
    monkeypatch.undo()
    replayed(stream_id)
    monkeypatch.setattr(replay, "ENGINE_VERSION", "0")
    again = ("payout.made", {"wager": "w2", "winnings": 700, "stake_returned": 600})
    events += numbered(events[0], *[("x", {})] * (LAST - 1), again)[-1:]
    assert tenant.post("s", events).status_code == 201
    replayed(stream_id)
    standing = Finding.objects.standing().filter(stream_id=stream_id)
    assert standing.values("engine_version").distinct().count() == 1


def test_a_what_if_run_opens_no_case_and_supersedes_nothing() -> None:
    tenant = Tenant()
    stream_id, _events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    before, cases = shown(stream_id), rules_with_a_case(stream_id)
    what_if = begin(f"unit-{tenant.code}", readings={"payout_unit": 500}, selection=Selection(tenant.code), actor="x")
    replay_one(what_if, stream_id)
    assert (shown(stream_id), rules_with_a_case(stream_id)) == (before, cases)


def test_an_integrity_finding_stands_at_once_and_outlives_every_run() -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    report_tampering(stream_id, 1, expected=bytes(32), recorded=bytes(range(32)))
    report_tampering(stream_id, 1, expected=bytes(32), recorded=bytes(range(32)))
    assert [row[:2] for row in shown(stream_id)] == [(1, "log-tampered")]
    replayed(stream_id)
    corrected(tenant, events, OVERPAID)
    replayed(stream_id)
    found = [(1, "log-tampered"), (9, "dice-changed-during-point-series"), (16, "entry-corrected")]
    assert [row[:2] for row in shown(stream_id)] == found, "the correction waits"
    runs_so_far = run_of(stream_id).number
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    assert [row[:2] for row in shown(stream_id)] == [*found[:2], (12, "payout-overpaid"), *found[2:]]
    assert run_of(stream_id).number > runs_so_far > 1


def run_of(stream_id: int) -> AdjudicationRun:
    run = Adjudication.objects.get(stream_id=stream_id, what_if=None).run
    assert run is not None
    return run


def test_a_run_that_is_complete_supersedes_none_of_another_stream() -> None:
    tenant = Tenant()
    other, _ = session(tenant, "other", OVERPAID)
    replayed(other)
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    first = run_of(stream_id)
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    first.refresh_from_db()
    assert (first.state, first.superseded_by) == (RunState.SUPERSEDED, run_of(stream_id))
    assert run_of(other).state == RunState.COMPLETE


def test_a_run_takes_the_place_of_one_that_has_read_nothing_although_other_streams_were_read() -> None:
    tenant = Tenant()
    other, _ = session(tenant, "other", OVERPAID)
    replayed(other)
    stream_id, _ = session(tenant, "s", OVERPAID)
    assert runs.begin_first(stream_id, ENGINE_VERSION, None)
    adjudication = Adjudication.objects.get(stream_id=stream_id)
    runs.begin(adjudication, RunCause.CORRECTION)
    assert adjudication.run is not None
    assert adjudication.run.replaces is None, "nothing stands yet that it could replace"


def test_a_run_overtakes_no_what_if_run_and_is_numbered_apart_from_them() -> None:
    tenant = Tenant()
    stream_id, _ = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    what_if = begin(f"w-{tenant.code}", readings={}, selection=Selection(casino=tenant.code), actor="test")
    assert runs.begin_first(stream_id, ENGINE_VERSION, what_if.pk)
    standing = Adjudication.objects.get(stream_id=stream_id, what_if=None)
    runs.begin(standing, RunCause.CORRECTION)
    assert standing.run is not None
    assert standing.run.number == 2
    assert AdjudicationRun.objects.get(what_if=what_if).state == RunState.RUNNING


def test_the_newest_run_of_a_stream_is_so_whatever_began_later_elsewhere() -> None:
    tenant = Tenant()
    stream_id, _ = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    later, _ = session(tenant, "later", OVERPAID)
    replayed(later)
    assert runs.is_newest(run_of(stream_id))
    adjudication = Adjudication.objects.get(stream_id=stream_id)
    before = run_of(stream_id)
    runs.begin(adjudication, RunCause.CORRECTION)
    assert not runs.is_newest(before)
