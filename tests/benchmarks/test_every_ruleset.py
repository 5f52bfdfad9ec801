"""Benchmarks go over every ruleset that the simulator plays."""

from __future__ import annotations

from datetime import date

import pytest

from audit.simulation import RULESET_NAMES, play
from benchmarks import EVENTS_A_COUP


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_night_has_about_as_many_events_as_a_benchmark_asks_for(ruleset: str) -> None:
    night = play(ruleset, casino="bench", code="T1", gaming_day=date(2026, 11, 19), seed=1, coups=60)
    assert EVENTS_A_COUP[ruleset] / 2 < len(night.events) / 60 < EVENTS_A_COUP[ruleset] * 2
