"""``python -m casino.up``: it starts from nothing and again on its data, restarts what dies, and stops on a signal."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import socket_folder
from casino.embedded.valkey import EmbeddedValkey
from tests.casino.processes import is_ready, leader, nothing_left_on, running_on, until

ROOT = Path(__file__).parent.parent.parent
STOPS_WITHIN_S = 60
WORKER = "-A casino worker -Q replay"


class Stack:
    """A supervisor in a process of its own, on data of its own, and its output."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.output = data / "output"
        without_servers = {
            name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}
        }
        self.environment = {
            **without_servers,
            "CABOCHON_DATA": str(data),
            "CABOCHON_PORT": "8700",
            "CABOCHON_WEB_WORKERS": "1",
            "DJANGO_SETTINGS_MODULE": "casino.settings",
        }

    def start(self, *, tables: int = 0) -> subprocess.Popen[bytes]:
        """Start the supervisor with a first night of ``tables`` tables; wait until it prints the desk's address."""
        self.data.mkdir(exist_ok=True)
        with self.output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "casino.up"],
                cwd=ROOT,
                env={**self.environment, "CABOCHON_FIRST_NIGHT_TABLES": str(tables)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until(lambda: "Ctrl-C" in self.output.read_text() or process.poll() is not None, "the desk's address")
        assert process.poll() is None, self.output.read_text()
        return process

    @property
    def url(self) -> str:
        match = re.search(r"http://localhost:\d+", self.output.read_text())
        assert match, self.output.read_text()
        return match[0]

    @property
    def password(self) -> str:
        match = re.search(r"password\s+(\S+)", self.output.read_text())
        assert match, self.output.read_text()
        return match[1]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    data = tmp_path / "data"
    with nothing_left_on(data):
        yield Stack(data)


def test_it_starts_from_nothing_and_again_on_its_data_and_leaves_nothing_behind(stack: Stack) -> None:
    process = stack.start(tables=1)
    assert is_ready(stack.url)
    first = stack.password
    assert stat.S_IMODE((stack.data / "logs").stat().st_mode) == 0o700
    with psycopg.connect(EmbeddedPostgres(stack.data).url()) as superuser:
        signed_in = superuser.execute(
            "select distinct usename from pg_stat_activity where datname = 'cabochon' and pid <> pg_backend_pid()"
        ).fetchall()
    assert {f"cabochon_{name}_login" for name in ("web", "sequencer")} <= {account for (account,) in signed_in}
    assert ("cabochon",) not in signed_in
    assert re.search(r"A finding .*/admin/audit/finding/\d+/", stack.output.read_text())

    twin = subprocess.run(
        [sys.executable, "-m", "casino.up"],
        cwd=ROOT,
        env=stack.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=STOPS_WITHIN_S,
    )
    assert (twin.returncode, twin.stderr.strip()) == (
        1,
        "It is running already, from another terminal, on the same data.",
    )

    process.send_signal(signal.SIGINT)
    assert process.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []
    assert not socket_folder(stack.data).exists()

    again = stack.start(tables=1)
    assert stack.password == first
    assert "events posted" not in stack.output.read_text()
    again.send_signal(signal.SIGTERM)
    assert again.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []


def test_what_dies_is_restarted(stack: Stack) -> None:
    process = stack.start()
    postgres, valkey = EmbeddedPostgres(stack.data), EmbeddedValkey(stack.data)
    web = leader(stack.data, "gunicorn")
    worker = leader(stack.data, WORKER)
    os.kill(int((postgres.cluster / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    os.kill(int((valkey.folder / "pid").read_text()), signal.SIGKILL)
    web.kill()
    worker.kill()

    until(lambda: "replay has died" in stack.output.read_text(), "the message about the worker")
    until(lambda: "web has died" in stack.output.read_text(), "the message about the web server")
    until(lambda: is_ready(stack.url) and valkey.is_running(), "answers of the restarted servers")
    until(lambda: _has_leader(stack.data, WORKER), "a new worker")
    assert leader(stack.data, WORKER).pid != worker.pid

    process.send_signal(signal.SIGTERM)
    assert process.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []


def test_a_process_that_hangs_is_named_by_ready_and_started_again(stack: Stack) -> None:
    stack.environment |= {
        "CABOCHON_STALL_S": "20",
        "CABOCHON_BEAT_STALE_S": "14",
        "CABOCHON_SEQUENCER_STALE_S": "14",
        "CABOCHON_REPLAY_STALE_S": "25",
        "CABOCHON_NIGHT_STALE_S": "25",
    }
    process = stack.start()
    until(lambda: _ready(stack.url)[0] == 200, "the heartbeats of all")
    for name in ("beat", "sequencer", "replay"):
        pid = _children(stack)[name]
        os.kill(pid, signal.SIGSTOP)
        until(lambda: name in _ready(stack.url)[1]["failed"], f"ready to be false: {name}")  # noqa: B023
        until(lambda: _children(stack)[name] != pid, f"another {name}")  # noqa: B023
        until(lambda: _ready(stack.url)[0] == 200, f"ready again: {name}")
    until(lambda: f"{name} has stood still" in stack.output.read_text(), "the message")
    process.send_signal(signal.SIGTERM)
    assert process.wait(STOPS_WITHIN_S) == 0


def _children(stack: Stack) -> dict[str, int]:
    """Return the pid of each child of the supervisor."""
    names = ("web", "replay", "night", "beat", "sequencer", "welcome")
    return dict(zip(names, map(int, (stack.data / "processes").read_text().split()), strict=False))


def _ready(url: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"{url}/health/ready", timeout=10) as answer:
            assert answer.headers["X-Request-ID"]
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_processes_left_by_a_killed_supervisor_are_ended_by_the_next(stack: Stack) -> None:
    killed = stack.start()
    orphan = leader(stack.data, "gunicorn")
    killed.kill()
    killed.wait()
    assert orphan.is_running()

    process = stack.start()

    assert not orphan.is_running()
    assert leader(stack.data, "gunicorn").pid != orphan.pid
    process.send_signal(signal.SIGHUP)  # the terminal was closed
    assert process.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []


def _has_leader(data: Path, command: str) -> bool:
    try:
        leader(data, command)
    except ValueError:
        return False
    return True
