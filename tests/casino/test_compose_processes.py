"""The processes of ``docker/compose.yaml``, started by hand with its own commands on this machine's servers.

Each process signs in as its own account, of the name that the file has. The file's broker is RabbitMQ. Redis takes its
place by one changed line, and is tested as well.

a night over HTTP ─► web ─► PostgreSQL, RabbitMQ ─► worker ─► findings
                              └─► sequencer ─► checkpoints
"""

from __future__ import annotations

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

from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, running_on, until
from tests.roles import signed_in_as

ROOT = Path(__file__).parent.parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
STOPS_WITHIN_S = 30


class Containers:
    """What compose would start, without containers: its commands and environments, with other addresses."""

    def __init__(self, data: Path, *, database: str, broker: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.data = data
        self.values = {
            "CABOCHON_SECRET_KEY": "a secret of this test",
            "CABOCHON_ALLOWED_HOSTS": "cabochon.example",
            "CABOCHON_HTTPS": "false",
            "CABOCHON_ORIGIN": "cabochon.example/log",
            "CABOCHON_CHECKPOINT_KEYS": str(data / "checkpoint-keys"),
            "CABOCHON_WITNESSES": "",
            "CELERY_BROKER_URL": broker,
        }
        self.database = database

    def command(self, service: str) -> list[str]:
        """Return a service's command, with the program of the virtual environment these tests run in."""
        program, *arguments = COMPOSE[service]["command"]
        path = sys.executable if program == "python" else str(Path(sys.executable).parent / program)
        return [path, *(argument.replace("/tmp/", f"{self.data}/") for argument in arguments)]

    def environment(self, service: str) -> dict[str, str]:
        """Return a service's environment: every variable the file names, with this machine's value."""
        named: dict[str, Any] = COMPOSE[service]["environment"]
        # One without a value is not passed on, because it is not set here.
        values = {**{name: value for name, value in named.items() if value is not None}, **self.values}
        assert set(self.values) <= set(named)
        values |= {name: "" for name, value in named.items() if name not in self.values and str(value).startswith("${")}
        account = named["DATABASE_URL"].removeprefix("postgres://").partition(":")[0]
        if "CABOCHON_HEARTBEAT_FILE" in named:
            values["CABOCHON_HEARTBEAT_FILE"] = str(self.data / f"heartbeat-{service}")
        values["DATABASE_URL"] = self.database if account == "cabochon" else signed_in_as(account, self.database)
        values |= {name: f"cabochon_{name.split('_')[1].lower()}_login" for name in named if name.endswith("_PASSWORD")}
        if "CABOCHON_BIND" in named:
            values["CABOCHON_BIND"] = self.url.removeprefix("http://")
        return {**ENVIRONMENT, "CABOCHON_DATA": str(self.data), **values}

    def run(self, service: str, *command: str) -> str:
        """Run a service's command, or another in its environment, to its end."""
        done = subprocess.run(
            command or self.command(service),
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
        assert codes == [0] * len(services), self.logs(*services)

    def logs(self, *services: str) -> str:
        return "\n".join((self.data / f"{service}.log").read_text() for service in services)


@pytest.fixture(params=[("empty_url", "rabbitmq_url"), ("superuser_url", "redis_url")], ids=["rabbitmq", "redis"])
def containers(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Containers]:
    """With RabbitMQ on an empty database; with Redis on one that has been migrated, as when it is started again."""
    database, broker = map(request.getfixturevalue, request.param)
    with nothing_left_on(tmp_path):
        yield Containers(tmp_path, database=database, broker=broker)


@pytest.mark.faults
def test_the_commands_of_compose_turn_a_night_into_findings(containers: Containers) -> None:
    containers.run("migrate")
    assert "cabochon_web_login is a member of cabochon_web." in containers.run("accounts")
    assert "cabochon_beat_login is a member of cabochon_beat." in containers.run("accounts")
    assert "cabochon.example/log/receipts+" in containers.run("keys")
    with containers.up("web", "replay", "sequencer"):
        until(lambda: is_ready(containers.url), "the web server")
        _play_a_table(containers, seed=1)
        until(lambda: _findings(containers) > 0, "findings by way of the broker")

    # Without a worker what was posted waits; beat's sweep finds it, whatever the broker remembers.
    with containers.up("web"):
        until(lambda: is_ready(containers.url), "the web server")
        _play_a_table(containers, seed=2)
    before = _findings(containers)
    with containers.up("replay", "beat"):
        until(lambda: _findings(containers) > before, "findings of the second night")
    assert running_on(containers.data) == []
    _verify_the_log(containers)


def _play_a_table(containers: Containers, *, seed: int) -> None:
    """Post one table's night with every irregularity that such a table can have."""
    manage = (sys.executable, "manage.py")
    casino = f"casino-{seed}"
    key = containers.run("command", *manage, "createkey", "--casino", casino, "--backfill", "--register", "C1").strip()
    night = ("--casino", casino, "--tables", "1", "--seed", str(seed), "--irregularities", "all")
    containers.run("command", *manage, "simulate", *night, "--post", containers.url, "--key", key)


def _verify_the_log(containers: Containers) -> None:
    """Seal what came while no sequencer ran, then verify everything against the exported checkpoints."""
    manage = (sys.executable, "manage.py")
    containers.run("sequencer", *manage, "sequence", "--once")
    output = containers.run("command", *manage, "verify", "--against", str(containers.data / "checkpoints"))
    assert "Everything holds." in output


def _findings(containers: Containers) -> int:
    with psycopg.connect(containers.database) as connection:
        row = connection.execute("select count(*) from audit_finding").fetchone()
        assert row is not None
        return int(row[0])
