"""The restore drill, in short: every client sends again what was lost, and the record is as if nothing had been."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.restore_drill import Way, drill

EVENTS = 150
"""Of each of the six sessions."""


@pytest.mark.parametrize(
    "way", [pytest.param("wal", marks=pytest.mark.faults), pytest.param("dump", marks=pytest.mark.soak)]
)
def test_a_record_that_lost_its_last_events_is_restored_recovered_and_sent_again(
    tmp_path: Path, migrated_cluster: Path, way: Way
) -> None:
    steps: list[tuple[str, str]] = []
    drill(tmp_path, way, events=EVENTS, migrated=migrated_cluster, say=lambda who, what: steps.append((who, what)))
    of = {who: [what for each, what in steps if each == who] for who, _ in steps}
    before, forked, recovered, after = of["desk"]
    assert "The log is not the one that was signed" in forked
    assert all("The log is not the one" not in page for page in (before, recovered, after))
    assert "gap" in of["clients"][1]
    assert "send them again from there" in of["clients"][2]
    assert of["recover"][0].count("epoch-2") >= 2
