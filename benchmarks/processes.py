"""Processes that a benchmark hands work to, line by line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from benchmarks.database import ROOT


def ready_process(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start Python with these arguments, and wait until it prints that it is ready."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{arguments[0]} did not start")
    return process
