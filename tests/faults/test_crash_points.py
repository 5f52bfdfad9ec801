"""A thousand schedules with crashes before and after every step of every actor; one of them in every run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from audit.adjudication import findings, replay
from audit.api import recording
from audit.transparency import outcome as log_outcome
from audit.transparency import signing_keys
from audit.transparency import verify as log_verify
from audit.transparency.outcome import Fault
from tests.audit.tables import Tenant
from tests.faults.crash_points import CrashPoint
from tests.faults.schedule import ACTORS, STEP_EVENTS, Schedule, crash_points, steps_of

SCHEDULES = int(os.environ.get("CABOCHON_SCHEDULES", "1120"))
CHUNKS = 16

QUICK_SEEDS = range(1)

OFTEN = 2
"""Chunks in ``make faults``: together they hold every crash point. ``make soak`` plays the others."""

AT_ONCE = {"correct": 3}
"""Points of an actor in one schedule, if not one: a worker that reads a stream again has most of the steps."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_steps_and_registered_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker take small steps; look the signing keys up again, which an earlier test may have rolled back."""
    monkeypatch.setattr(replay, "STEP_EVENTS", STEP_EVENTS)
    signing_keys._keyring.forget()


def planned(seed: int, points: Mapping[str, Sequence[CrashPoint]]) -> dict[str, list[CrashPoint]]:
    """Return the crash points that are planned for a seed: each actor's are assigned to the seeds in turn."""
    return {
        actor: [of[(seed + n * len(of) // AT_ONCE.get(actor, 1)) % len(of)] for n in range(AT_ONCE.get(actor, 1))]
        for actor, of in points.items()
    }


def faults_of_the_log() -> list[Fault]:
    """Return what is wrong with the tree, a checkpoint or a stream of a schedule.

    Other tests leave events in the log that no table system may send: their streams are left out.
    """
    faults = log_verify.verify(signing_keys.verifiers("checkpoint")).faults
    return [fault for fault in faults if not fault.stream or fault.stream.startswith("faults-")]


def play(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the schedules of some seeds, then verify the whole log."""
    monkeypatch.setattr(log_outcome, "MAX_OF_A_PART", 1_000_000)
    tenant = Tenant()
    points = crash_points(steps_of(tenant))
    killed = 0
    for seed in seeds:
        schedule = Schedule(tenant, seed, planned(seed, points))
        try:
            schedule.play()
        except AssertionError as error:
            raise AssertionError(f"{error}\npython -m tests.faults --processes --seed {seed} plays it again") from error
        killed += schedule.killed
    assert faults_of_the_log() == [], "the tree over all of them holds"
    # A correction may find nothing to do, and an acknowledged batch is not always sent again.
    assert killed >= len(seeds) * sum(map(len, planned(0, points).values())) * 0.6


def test_in_a_quick_schedule_nothing_is_lost_and_nothing_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    play(QUICK_SEEDS, monkeypatch)


@pytest.mark.parametrize(
    "chunk", [pytest.param(n, marks=pytest.mark.faults if n < OFTEN else pytest.mark.soak) for n in range(CHUNKS)]
)
def test_wherever_an_actor_is_killed_nothing_is_lost_and_nothing_counted_twice(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_each = SCHEDULES // CHUNKS
    seeds = range(chunk * of_each, (chunk + 1) * of_each)
    if "CABOCHON_SCHEDULE" in os.environ:
        only = int(os.environ["CABOCHON_SCHEDULE"])
        seeds = range(only, only + 1) if only in seeds else range(0)
    play(seeds, monkeypatch)


@pytest.mark.faults
def test_every_crash_point_is_planned_and_every_actor_has_steps_of_every_kind() -> None:
    steps = steps_of(Tenant())
    points = crash_points(steps)
    assert set(steps) == set(ACTORS)
    assert sum(map(len, points.values())) > 250
    often = range(OFTEN * SCHEDULES // CHUNKS)
    for actor, of_actor in points.items():
        assert {point for seed in often for point in planned(seed, points)[actor]} == set(of_actor), (
            "the first chunks have every one"
        )
    assert all(named[-1] == "answer" for named in steps.values())
    assert {"statement", "commit", "message", "answer"} <= set(steps["open"])
    assert {"statement", "commit", "copy"} <= set(steps["replay"]) & set(steps["correct"])
    assert {"statement", "commit"} <= set(steps["seal"])


def fails(schedule: Schedule) -> bool:
    try:
        schedule.play()
    except AssertionError:
        return True
    return False


@pytest.mark.faults
def test_the_schedules_find_findings_that_are_written_after_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove the harness: with a flaw built in, it fails."""
    whole = findings.add_findings
    tenant = Tenant()
    # After the correction: a finding that is lost before it is found again by the correction's run.
    commits = [step for step, name in enumerate(steps_of(tenant)["correct"], start=1) if name == "commit"]
    points = {"correct": [CrashPoint(step, "after") for step in commits]}
    monkeypatch.setattr(findings, "add_findings", lambda *args: transaction.on_commit(partial(whole, *args)))
    seeds = range(10_000, 10_000 + 4 * len(commits))
    assert any(fails(Schedule(tenant, seed, planned(seed, points))) for seed in seeds)


@pytest.mark.faults
def test_the_schedules_find_an_answer_that_is_given_before_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = recording.append_named

    def undone(*args: Any, **kwargs: Any) -> Any:
        with transaction.atomic():
            stored = whole(*args, **kwargs)
            transaction.set_rollback(True)
        return stored

    tenant = Tenant()
    points = crash_points(steps_of(tenant))
    monkeypatch.setattr(recording, "append_named", undone)
    assert any(fails(Schedule(tenant, seed, planned(seed, points))) for seed in range(20_000, 20_020))
