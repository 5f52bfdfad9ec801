"""``manage.py sequence`` as a process: it seals what comes, a second waits for its death, notes leave the house."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest
from django.db import connection

from audit.transparency.checkpoint_export import name_of
from audit.transparency.signed_notes import Checkpoint, Verifier, opened
from tests.casino.processes import until

ROOT = Path(__file__).parent.parent.parent.parent


def server_parameters() -> dict[str, Any]:
    """Return how the server of the tests is reached."""
    settings = connection.settings_dict
    return {
        "host": str(settings["HOST"]),
        "port": str(settings["PORT"] or 5432),
        "user": settings["USER"],
        "password": settings.get("PASSWORD") or None,
    }


class Deployment:
    """A database of its own with the commands of a deployment, on the server of the tests."""

    def __init__(self, data: Path, name: str) -> None:
        self.parameters = server_parameters() | {"dbname": name}
        user, password, host, port = (self.parameters[word] or "" for word in ("user", "password", "host", "port"))
        of_user = f"{quote(user)}:{quote(password)}" if password else quote(user)
        # A folder of sockets stands in the path of an address, a server's name before it.
        place = f"/{host}/{name}" if host.startswith("/") else f"{host}:{port}/{name}"
        self.url = f"postgres://{of_user}@{place}"
        self.data = data
        self.environment = {
            **os.environ,
            "DATABASE_URL": self.url,
            "CABOCHON_DATA": str(data),
            "CABOCHON_EXPORT_S": "0.1",
            "DJANGO_SETTINGS_MODULE": "casino.settings",
        }

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def sequencer(self, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "sequence"], cwd=ROOT, env={**self.environment, **environment}
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def rows(self, statement: str) -> list[Any]:
        with psycopg.connect(**self.parameters, autocommit=True) as server:
            return server.execute(statement).fetchall()

    def act(self, number: int = 1) -> None:
        """Have something to seal: acts of the installation, an event and a batch each."""
        script = (
            "from audit.event_store import audit_trail\n"
            f"for n in range({number}): audit_trail.record('test', 'noted', data={{'n': n}})"
        )
        self.manage("shell", "--no-imports", "-c", script)

    def is_sealed(self) -> bool:
        [(waiting, sealed)] = self.rows("select (select count(*) from log.outbox), (select count(*) from log.leaf)")
        return waiting == 0 and sealed > 0


@pytest.fixture
def deployment(db: None, tmp_path: Path) -> Iterator[Deployment]:
    name = f"sealed_{uuid4().hex[:12]}"
    server = psycopg.connect(**server_parameters(), dbname="postgres", autocommit=True)
    with server:
        server.execute(f"create database {name}")
        deployment = Deployment(tmp_path, name)
        deployment.manage("migrate", "--verbosity", "0")
        deployment.manage("logkey", "--make", "--quiet")
        yield deployment
        server.execute(f"drop database {name} with (force)")


def test_a_second_sequencer_waits_and_goes_on_where_a_killed_one_stopped(deployment: Deployment) -> None:
    with deployment.sequencer() as first:
        deployment.act(5)
        until(deployment.is_sealed, "the first batches sealed")
        with deployment.sequencer() as second:
            first.send_signal(signal.SIGKILL)
            first.wait()
            deployment.act(5)
            until(deployment.is_sealed, "the second sequencer's seals")
            second.send_signal(signal.SIGTERM)
            assert second.wait(20) == 0
    assert "10 batches, 1 streams, 10 leaves" in deployment.manage("verify")


def test_checkpoints_are_kept_in_a_folder_and_put_to_an_address(deployment: Deployment) -> None:
    kept: dict[str, bytes] = {}

    class Keeper(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keeper)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = deployment.data / "elsewhere"
    targets = f"{folder},http://127.0.0.1:{server.server_port}/notes/,http://127.0.0.1:9/nobody"
    try:
        with deployment.sequencer(CABOCHON_CHECKPOINTS=targets) as process:
            deployment.act(3)
            until(lambda: kept and list(folder.glob("checkpoint-*")), "a checkpoint kept elsewhere")
            until(deployment.is_sealed, "everything sealed")
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    finally:
        server.shutdown()
    newest = name_of(3)
    assert kept[f"/notes/{newest}"] == (folder / newest).read_bytes()
    words = deployment.manage("logkey").split()
    key = next(Verifier.of(word) for word in words if word.startswith("cabochon.localhost/log+"))
    assert Checkpoint.of(opened(kept[f"/notes/{newest}"].decode(), [key])).size == 3
    assert "Everything holds." in deployment.manage("verify", "--against", str(folder), "--key", str(key))


def test_a_rotated_key_signs_what_comes_after_and_old_receipts_stay_as_they_were(deployment: Deployment) -> None:
    deployment.act()
    deployment.manage("sequence", "--once")
    listed = deployment.manage("logkey", "--rotate", "checkpoint", "--reason", "yearly", "--at-once")
    assert listed.count("checkpoint cabochon.localhost/log+") == 2
    deployment.act()
    deployment.manage("sequence", "--once")
    notes = [note for (note,) in deployment.rows("select note from log.checkpoint order by number")]
    assert len({note.split("— cabochon.localhost/log ")[1][:5] for note in notes}) == 2
    assert "Everything holds." in deployment.manage("verify")
