"""Ten thousand interleavings of clients, workers and sequencers that are killed, cut off and timed out."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection

from audit.adjudication import replay
from audit.api import fast_path
from audit.transparency import signing_keys
from audit.transparency.verify import verify
from tests.faults.clocks import Clocks
from tests.faults.interleaving import Interleaving, World
from tests.faults.schedule import STEP_EVENTS
from tests.faults.turns import taking_turns

QUICK = 100
OFTEN = 1_000
SCHEDULES = int(os.environ.get("CABOCHON_SCHEDULES", "10000"))
FIRST = int(os.environ.get("CABOCHON_SEED", "0"))
CHUNKS = 8


@pytest.fixture(scope="module")
def world(django_on_its_own_database: str) -> Iterator[World]:
    """A database of its own with clocks that step, in which small steps are taken."""
    for signal in (request_started, request_finished):  # each thread keeps its connection, as a server's does
        signal.disconnect(close_old_connections)
    with psycopg.connect(django_on_its_own_database, autocommit=True) as superuser, pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "STEP_EVENTS", STEP_EVENTS)
        # A process keeps what it has looked up for as long as it lives: what a schedule does depends on no clock.
        patch.setattr(fast_path, "KEY_CACHE_S", 1e9)
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
        schedule = Interleaving(world, seed)
        again = f"python -m tests.faults --schedules 1 --seed {seed}"
        try:
            found = schedule.play()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{again} plays it again") from error
        assert found == [], f"{again} plays it again"
    outcome = verify(signing_keys.verifiers("checkpoint"))
    assert outcome.faults == []
    assert outcome.leaves == world.leaves.size


def test_the_quick_schedules_break_no_rule(world: World) -> None:
    play(world, range(QUICK))
