"""The failover drill, in short: a synchronous standby has all that was acknowledged, and the clients send the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.failover_drill import drill

pytestmark = pytest.mark.faults

EVENTS = 100
"""Of each of the four sessions."""


@pytest.mark.skipif(shutil.which("pg_config") is None, reason="the machine has no PostgreSQL: pg_config")
def test_a_synchronous_standby_that_is_promoted_under_load_lacks_nothing(tmp_path: Path) -> None:
    steps: list[str] = []
    outcome = drill(tmp_path, events=EVENTS, say=steps.append)
    assert outcome.acknowledged >= EVENTS
    assert outcome.lost == 0
    assert outcome.stored == outcome.sent > outcome.acknowledged, steps
    assert outcome.verified == "Everything holds."
    assert steps[-1] == "the old host is the new one's standby, synchronous"
