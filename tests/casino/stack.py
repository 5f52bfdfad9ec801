"""The supervisor of ``make run`` in a process of its own, for tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.casino.processes import until
from tests.faults.servers import copy_of

ROOT = Path(__file__).parents[2]
STOPS_WITHIN_S = 60
LOADED_WITHIN_S = 300
"""Its first night is posted and replayed before it says where the desk is."""


class Stack:
    """A supervisor in a process of its own, on data of its own, and its output.

    ``migrated`` is a cluster that its PostgreSQL begins with, so that it need not migrate an empty one.
    """

    def __init__(
        self, data: Path, *, migrated: Path | None = None, output: Path | None = None, port: int = 8700
    ) -> None:
        self.data = data
        if migrated is not None:
            copy_of(migrated, data)
        self.output = output or data / "output"
        without_servers = {
            name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}
        }
        self.environment = {
            **without_servers,
            "CABOCHON_DATA": str(data),
            "CABOCHON_PORT": str(port),
            "CABOCHON_WEB_WORKERS": "1",
            "DJANGO_SETTINGS_MODULE": "casino.settings",
        }

    def start(self, *, tables: int = 0, nights: int = 1) -> subprocess.Popen[bytes]:
        """Start the supervisor with ``nights`` nights of ``tables`` tables; wait until it prints the desk's address."""
        self.data.mkdir(exist_ok=True)
        with self.output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "casino.up"],
                cwd=ROOT,
                env={
                    **self.environment,
                    "CABOCHON_FIRST_NIGHT_TABLES": str(tables),
                    "CABOCHON_FIRST_NIGHTS": str(nights),
                },
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until(
            lambda: "Ctrl-C" in self.output.read_text() or process.poll() is not None,
            "the desk's address",
            timeout_s=LOADED_WITHIN_S,
        )
        assert process.poll() is None, self.output.read_text()
        return process

    @property
    def url(self) -> str:
        match = re.search(r"http://localhost:\d+", self.output.read_text())
        assert match, self.output.read_text()
        return match[0]

    @property
    def children(self) -> dict[str, int]:
        """The pid of each child of the supervisor."""
        names = ("web", "replay", "night", "notify", "beat", "sequencer", "welcome")
        return dict(zip(names, map(int, (self.data / "processes").read_text().split()), strict=False))

    def ready(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the content of ``/health/ready``; status 0 if nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/health/ready", timeout=5) as answer:
                assert answer.headers["X-Request-ID"]
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            return 0, {"failed": []}

    @property
    def password(self) -> str:
        match = re.search(r"password\s+(\S+)", self.output.read_text())
        assert match, self.output.read_text()
        return match[1]


IMPATIENT = {
    "CABOCHON_STALL_S": "32",
    "CABOCHON_BEAT_STALE_S": "14",
    "CABOCHON_SEQUENCER_STALE_S": "14",
    "CABOCHON_REPLAY_STALE_S": "16",
    "CABOCHON_NIGHT_STALE_S": "16",
    "CABOCHON_NOTIFY_STALE_S": "16",
}
"""Settings under which a process that hangs is noticed in half a minute.

Each is stale well before the supervisor replaces it, so that ``/health/ready`` has the time to name it: a worker's
heartbeat comes every ten seconds, and its file may be as old when it hangs.
"""
