"""A full disk under a whole deployment: nothing is lost, clients are told, and all goes on once there is space.

    a file system of 360 MB ─► casino.up on it ─► a ballast fills it ─► post until nothing is stored
                                                                 └─► the ballast is deleted ─► ready, all adjudicated

With little space left PostgreSQL cannot extend a table, and refuses what is sent. With less, it cannot write its log
ahead, and stops; the supervisor starts it until it stays.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.audit.sessions import session
from tests.casino.processes import TIMEOUT_S, nothing_left_on, until
from tests.casino.stack import IMPATIENT, ROOT, Stack

pytestmark = pytest.mark.faults

SIZE_MB = 360
FULL_S = 20.0
MIB = 1024 * 1024


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder on a small file system of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = f"size={SIZE_MB}m,mode=755"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        with nothing_left_on(disk / "data"):
            (disk / "data").mkdir()
            yield disk / "data"
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


class Deployment:
    """``casino.up`` on a data folder, its output elsewhere, and a client with a key."""

    def __init__(self, data: Path, migrated: Path, output: Path) -> None:
        stack = Stack(data, migrated=migrated, output=output, port=8760)
        # What stands still because of the disk is noticed while it is full.
        stack.environment |= IMPATIENT | {
            "CABOCHON_SWEEP_S": "2",
            "CABOCHON_FREE_MB": "20",
            "CABOCHON_RATE": "1000000/min",
            "CABOCHON_PROCESSOR_BURST_S": "1e9",
        }
        self.environment = stack.environment
        self.process = stack.start()
        self.url = stack.url
        self.key = self.manage("createkey", "--casino", "full", "--table", "C1").strip()

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, path: str, events: list[dict[str, Any]] | None = None) -> tuple[int, str, Any]:
        """Return status, media type and content of an answer in JSON."""
        request = urllib.request.Request(
            self.url + path,
            data=None if events is None else json.dumps(events).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], json.load(error)

    def is_ready(self) -> bool:
        return self.ask("/health/ready")[0] == 200


def fill(data: Path, *, left: int) -> Path:
    """Write a file that leaves about ``left`` bytes of the disk, and return it."""
    ballast = data / "ballast"
    with ballast.open("wb") as file:
        while (free := shutil.disk_usage(data).free) > left:
            file.write(bytes(min(MIB, free - left)))
            file.flush()
    return ballast


@pytest.mark.parametrize("left_mb", [30, 6])
def test_a_full_disk_loses_nothing_and_all_goes_on_when_there_is_space(
    data: Path, migrated_cluster: Path, tmp_path: Path, left_mb: int
) -> None:
    deployment = Deployment(data, migrated_cluster, tmp_path / "output")
    until(deployment.is_ready, "ready")
    ballast = fill(data, left=left_mb * MIB)
    events = session("s", casino="full", last=200_000)
    stored, refused = 0, 0.0
    while not refused or time.monotonic() - refused < FULL_S:
        status, media_type, answer = deployment.ask("/api/v1/streams/s/events", events[stored : stored + 500])
        if status == 201:
            stored += 500
            assert stored < len(events), "the disk is never full"
            continue
        assert (status, media_type) == (503, "application/problem+json")
        assert answer["code"] in ("storage-full", "unavailable")
        refused = refused or time.monotonic()
        assert not deployment.is_ready()
        assert deployment.ask("/health/live")[0] == 200
        time.sleep(0.5)
    assert deployment.process.poll() is None, "the supervisor goes on"

    ballast.unlink()
    until(lambda: deployment.ask("/api/v1/streams/s/events", events[stored : stored + 500])[0] in (200, 201), "space")
    stored += 500
    until(deployment.is_ready, "ready again: web, workers, beat and sequencer")
    standing = deployment.ask("/api/v1/streams/s")
    assert standing[2]["next_seq"] == stored + 1, "what was acknowledged is there, and no more"
    until(lambda: deployment.ask("/api/v1/streams/s")[2]["adjudicated_through"] == stored, "replay")
    until(lambda: deployment.ask(f"/api/v1/log/inclusion?stream=s&seq={stored}")[0] == 200, "the sequencer")
    assert "Everything holds." in deployment.manage("verify")
    deployment.process.send_signal(signal.SIGTERM)
    assert deployment.process.wait(TIMEOUT_S) == 0
