"""The processes of ``docker/compose.yaml``, started by hand with its own commands on this machine's servers.

The file's broker is RabbitMQ; a Redis in its place is a line, and so is tried as well.

a night over HTTP ─► web ─► PostgreSQL, RabbitMQ ─► worker ─► findings
                              └─► sequencer ─► checkpoints
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.casino.processes import is_ready, nothing_left_on, running_on, until

ROOT = Path(__file__).parent.parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
STOPS_WITHIN_S = 30


class Containers:
    """What compose would start, without containers: its commands and environments, other addresses."""

    def __init__(self, data: Path, *, database: str, broker: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as line:
            self.url = f"http://127.0.0.1:{line.getsockname()[1]}"
        self.data = data
        self.given = {
            "CABOCHON_SECRET_KEY": "a secret of this test",
            "CABOCHON_ALLOWED_HOSTS": "cabochon.example",
            "CABOCHON_HTTPS": "false",
            "CABOCHON_ORIGIN": "cabochon.example/log",
            "DATABASE_URL": database,
            "CELERY_BROKER_URL": broker,
        }

    def command(self, service: str) -> list[str]:
        """Return a service's command, its program taken from the environment these tests run in."""
        program, *words = COMPOSE[service]["command"]
        found = sys.executable if program == "python" else str(Path(sys.executable).parent / program)
        return [found, *(word.replace("/tmp/", f"{self.data}/") for word in words)]

    def environment(self, service: str) -> dict[str, str]:
        """Return a service's environment: every variable the file names, with this machine's value."""
        named: dict[str, Any] = COMPOSE[service]["environment"]
        values = {**named, **self.given}
        assert set(self.given) <= set(named)
        if "CABOCHON_BIND" in named:
            values["CABOCHON_BIND"] = self.url.removeprefix("http://")
        image = {"PATH": os.environ["PATH"], "CABOCHON_DATA": str(self.data), "PYTHONUNBUFFERED": "1"}
        return {**image, **values}

    def run(self, service: str, *words: str) -> str:
        """Run a service's command, or another in its environment, to its end."""
        done = subprocess.run(
            words or self.command(service),
            cwd=ROOT,
            env=self.environment(service),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def up(self, *services: str) -> Iterator[None]:
        """Keep services running for a while, then stop them as ``docker stop`` does."""
        started = [
            subprocess.Popen(
                self.command(service),
                cwd=ROOT,
                env=self.environment(service),
                stdout=(self.data / f"{service}.log").open("wb"),
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            for service in services
        ]
        try:
            yield
        finally:
            for process in started:
                process.terminate()
            codes = [process.wait(STOPS_WITHIN_S) for process in started]
        assert codes == [0] * len(services), self.said(*services)

    def said(self, *services: str) -> str:
        return "\n".join((self.data / f"{service}.log").read_text() for service in services)


@pytest.fixture(params=["rabbitmq_url", "redis_url"])
def containers(tmp_path: Path, postgres_url: str, request: pytest.FixtureRequest) -> Iterator[Containers]:
    with nothing_left_on(tmp_path):
        yield Containers(tmp_path, database=postgres_url, broker=request.getfixturevalue(request.param))


def test_the_commands_of_compose_turn_a_night_into_findings(containers: Containers) -> None:
    containers.run("migrate")
    assert "cabochon.example/log/receipts+" in containers.run("keys")
    with containers.up("web", "worker", "sequencer"):
        until(lambda: is_ready(containers.url), "the web server")
        _play_a_table(containers, seed=1)
        until(lambda: _findings(containers) > 0, "findings by way of the broker")

    # Without a worker or a broker that remembers, what was posted waits; beat's sweep finds it.
    with containers.up("web"):
        until(lambda: is_ready(containers.url), "the web server")
        _play_a_table(containers, seed=2)
    before = _findings(containers)
    with containers.up("worker", "beat"):
        until(lambda: _findings(containers) > before, "findings of the second night")
    assert running_on(containers.data) == []
    _check_the_record(containers)


def _play_a_table(containers: Containers, *, seed: int) -> None:
    """Post the night of one table, with everything irregular a table of its kind can show."""
    manage = (sys.executable, "manage.py")
    casino = f"house-{seed}"
    key = containers.run("web", *manage, "createkey", "--casino", casino, "--register", "C1").strip()
    words = ("--casino", casino, "--tables", "1", "--seed", str(seed), "--irregularities", "all")
    containers.run("web", *manage, "simulate", *words, "--post", containers.url, "--key", key)


def _check_the_record(containers: Containers) -> None:
    """Seal what came while no sequencer ran, and recompute everything against the checkpoints that were exported."""
    manage = (sys.executable, "manage.py")
    containers.run("sequencer", *manage, "sequence", "--once")
    said = containers.run("sequencer", *manage, "verify", "--against", str(containers.data / "checkpoints"))
    assert "Everything holds." in said


def _findings(containers: Containers) -> int:
    with psycopg.connect(containers.given["DATABASE_URL"]) as connection:
        row = connection.execute("select count(*) from audit_finding").fetchone()
        assert row is not None
        return int(row[0])
