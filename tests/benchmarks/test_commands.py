"""The benchmarks that the documentation names run to their end, on as little as they take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

ROOT = Path(__file__).resolve().parents[2]

COMMANDS = (
    "adjudicate --events 1000 --rounds 1",
    "night --tables 2 --events 2000",
    "night --tables 1 --events 40000 --whole",
    "record --events 32000 --rounds 1 --seconds 1 --memory 0",
    "sealing --seconds 1",
)
"""Those of which no test runs a part. So few events measure nothing: a floor may be missed."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_benchmark_runs_to_its_end(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{command.split()[0]}", *command.split()[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    assert done.stdout
