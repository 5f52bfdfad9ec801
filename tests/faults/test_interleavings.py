"""Ten thousand interleavings of clients, workers and sequencers that are killed, cut off and timed out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction

from audit.adjudication import findings, replay
from audit.api import key_lookup, recording
from audit.models import api_keys
from audit.transparency import signing_keys
from audit.transparency.verify import verify
from tests.faults.clocks import Clocks
from tests.faults.interleaving import STEP_EVENTS, Interleaving, World
from tests.faults.turns import FAULTS, LOCK_TIMEOUT_MS, taking_turns

QUICK = 4
OFTEN = 74
SCHEDULES = int(os.environ.get("CABOCHON_SCHEDULES", "10000"))
FIRST = int(os.environ.get("CABOCHON_SEED", "0"))
CHUNKS = 8


@pytest.fixture(scope="module")
def world(django_on_its_own_database: str) -> Iterator[World]:
    """A database of its own with clocks that step; workers take small steps."""
    for signal in (request_started, request_finished):  # each thread keeps its connection, as a server's does
        signal.disconnect(close_old_connections)
    with (
        psycopg.connect(django_on_its_own_database, autocommit=True) as superuser,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(replay, "STEP_EVENTS", STEP_EVENTS)
        # A process keeps what it has looked up for as long as it lives: what a schedule does depends on no clock.
        patch.setattr(recording, "KEY_CACHE_S", 1e9)
        patch.setattr(recording, "LOCK_MS", LOCK_TIMEOUT_MS)
        patch.setattr(key_lookup, "KNOWN_S", 1e9)
        patch.setattr(api_keys, "USE_STORED_AFTER", timedelta.min)  # at every look-up
        patch.setattr(signing_keys, "RELOAD_EVERY_S", 1e9)
        patch.setitem(connection.settings_dict, "CONN_MAX_AGE", 600)  # as a server's
        clocks = Clocks(superuser)
        with clocks.stepping(), taking_turns():
            world = World(clocks)
            yield world
            world.close()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def play(world: World, seeds: range) -> None:
    """Play the schedules of some seeds, then verify the whole log."""
    for seed in seeds:
        again = f"python -m tests.faults --schedules 1 --seed {seed} plays it again"
        try:
            found = Interleaving(world, seed).play()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{again}") from error
        assert found == [], again
        world.seen |= {line.partition(": ")[2] for line in world.trace}
    outcome = verify(signing_keys.verifiers("checkpoint"))
    assert outcome.faults == []
    assert outcome.leaves == world.leaves.size


def test_the_quick_schedules_break_no_rule(world: World) -> None:
    play(world, range(QUICK))


@pytest.mark.faults
def test_the_usual_schedules_break_no_rule(world: World) -> None:
    play(world, range(QUICK, QUICK + OFTEN))
    assert {f"statement {fault}" for fault in FAULTS} <= world.seen
    assert {f"commit {fault}" for fault in FAULTS if fault != "timeout"} <= world.seen
    assert {"copy", "message", "commit"} <= world.seen
    assert {f"{stored} of 3 are stored together" for stored in range(4)} <= world.seen


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_schedule_breaks_a_rule(world: World, chunk: int) -> None:
    play(world, range(FIRST + SCHEDULES * chunk // CHUNKS, FIRST + SCHEDULES * (chunk + 1) // CHUNKS))


@pytest.mark.faults
def test_a_seed_does_the_same_whatever_was_played_before(world: World) -> None:
    traces = []
    for seeds in (range(900, 903), range(902, 899, -1)):
        played = {}
        for seed in seeds:
            assert Interleaving(world, seed).play() == []
            played[seed] = list(world.trace)
        traces.append(played)
    assert traces[0] == traces[1]
    assert len(set(map(tuple, traces[0].values()))) == 3, "every seed does something else"


def broken_rules(world: World, seeds: range) -> set[str]:
    """Play schedules until one of them breaks a rule; return the rules that it breaks."""
    for seed in seeds:
        try:
            found = Interleaving(world, seed).play()
        except AssertionError:
            return {"an assertion"}
        if found:
            return {violation.rule for violation in found}
    return set()


def test_they_find_an_answer_that_is_given_before_the_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove the harness: with a flaw built in, it fails."""
    whole = recording.append_named

    def undone(*args: Any, **kwargs: Any) -> Any:
        with transaction.atomic():
            stored = whole(*args, **kwargs)
            transaction.set_rollback(True)
        return stored

    monkeypatch.setattr(recording, "append_named", undone)
    assert broken_rules(world, range(20)) & {"next-seq", "lost", "receipt-changed", "an assertion"}


@pytest.mark.faults
def test_they_find_findings_that_are_written_after_the_cursor(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = findings.add_findings
    monkeypatch.setattr(findings, "add_findings", lambda *args: transaction.on_commit(partial(whole, *args)))
    # The first of these seeds breaks a rule as the schedules are now; after a change of theirs another one does.
    assert broken_rules(world, range(5, 65)) & {"findings", "an assertion"}


@pytest.mark.faults
def test_they_find_events_that_are_answered_together_before_the_commit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = recording.append_singles

    def undone(*args: Any) -> Any:
        with transaction.atomic():
            stored = whole(*args)
            transaction.set_rollback(True)
        return stored

    monkeypatch.setattr(recording, "append_singles", undone)
    assert broken_rules(world, range(20)) & {"next-seq", "lost", "receipt-changed", "an assertion"}


def test_they_find_receipts_of_one_commit_that_are_mixed_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = recording.append_singles
    monkeypatch.setattr(recording, "append_singles", lambda singles: whole(singles)[::-1])
    assert broken_rules(world, range(20)) != set()


@pytest.mark.faults
def test_they_find_a_receipt_of_another_instant(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the web server read its own clock: asked for again, it says another instant."""
    whole = recording.receipt
    monkeypatch.setattr(
        recording,
        "receipt",
        lambda stream, batch, **of: whole(stream, replace(batch, received_at=datetime.now(UTC)), **of),
    )
    assert broken_rules(world, range(20)) <= {"receipt-changed", "receipt-unsealed"}
    assert broken_rules(world, range(20)) != set()
