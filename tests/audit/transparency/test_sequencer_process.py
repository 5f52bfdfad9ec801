"""``manage.py sequence`` as a process: it seals batches, a second one waits for its death, checkpoints are exported."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.transparency.checkpoint_export import name_of
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.signed_notes import Checkpoint, Verifier, open_note
from tests.cabochon_witness.processes import make_key, witness
from tests.casino.processes import until
from tests.roles import ACCOUNT, signed_in_as

ROOT = Path(__file__).parent.parent.parent.parent


class Deployment:
    """A deployment: a database of its own on the tests' server, its sequencer and its management commands."""

    def __init__(self, data: Path, superuser_url: str) -> None:
        self.superuser_url = superuser_url
        self.data = data
        self.environment = {
            **os.environ,
            "DATABASE_URL": signed_in_as(ACCOUNT, superuser_url),
            "CABOCHON_DATA": str(data),
            "CABOCHON_EXPORT_S": "0.1",
            "DJANGO_SETTINGS_MODULE": "casino.settings",
        }

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
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
            [sys.executable, "manage.py", "sequence"],
            cwd=ROOT,
            env={
                **self.environment,
                "DATABASE_URL": signed_in_as("cabochon_tests_sequencer", self.superuser_url),
                **environment,
            },
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def rows(self, statement: str) -> list[Any]:
        with psycopg.connect(self.superuser_url, autocommit=True) as server:
            return server.execute(statement).fetchall()

    def record(self, count: int = 1) -> None:
        """Record something to seal: entries of the installation's audit trail, an event and a batch each."""
        script = (
            "from audit.event_store import audit_trail\n"
            f"for n in range({count}): audit_trail.record('test', 'noted', data={{'n': n}})"
        )
        self.manage("shell", "--no-imports", "-c", script)

    def is_sealed(self) -> bool:
        [(pending, sealed)] = self.rows("select (select count(*) from log.outbox), (select count(*) from log.leaf)")
        return pending == 0 and sealed > 0


@pytest.fixture
def deployment(superuser_url: str, tmp_path: Path) -> Deployment:
    deployment = Deployment(tmp_path, superuser_url)
    deployment.manage("logkey", "--make", "--quiet")
    return deployment


def test_a_second_sequencer_waits_and_continues_where_a_killed_one_stopped(deployment: Deployment) -> None:
    with deployment.sequencer() as first:
        deployment.record(5)
        until(deployment.is_sealed, "the first batches sealed")
        with deployment.sequencer() as second:
            first.send_signal(signal.SIGKILL)
            first.wait()
            deployment.record(5)
            until(deployment.is_sealed, "the second sequencer's seals")
            second.send_signal(signal.SIGTERM)
            assert second.wait(20) == 0
    assert "10 batches, 1 stream, 10 leaves" in deployment.manage("verify")


def test_checkpoints_are_exported_to_a_folder_and_put_to_a_url(deployment: Deployment) -> None:
    uploaded: dict[str, bytes] = {}

    class Target(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            uploaded[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = deployment.data / "elsewhere"
    targets = f"{folder},http://127.0.0.1:{server.server_port}/notes/,http://127.0.0.1:9/nobody"
    try:
        with deployment.sequencer(CABOCHON_CHECKPOINTS=targets) as process:
            deployment.record(3)
            until(lambda: uploaded and list(folder.glob("checkpoint-*")), "an exported checkpoint")
            until(deployment.is_sealed, "everything sealed")
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    finally:
        server.shutdown()
    newest = name_of(3)
    assert uploaded[f"/notes/{newest}"] == (folder / newest).read_bytes()
    listed = deployment.manage("logkey").split()
    key = next(Verifier.parse(word) for word in listed if word.startswith("cabochon.localhost/log+"))
    assert Checkpoint.parse(open_note(uploaded[f"/notes/{newest}"].decode(), [key])).size == 3
    assert "Everything holds." in deployment.manage("verify", "--against", str(folder), "--key", str(key))


def test_the_sequencer_has_its_checkpoints_cosigned_and_one_that_never_answers_delays_no_seal(
    deployment: Deployment, tmp_path: Path
) -> None:
    folder = tmp_path / "witness"
    folder.mkdir()
    make_key(folder)
    listed = deployment.manage("logkey").split()
    [log_key] = [word for word in listed if word.startswith("cabochon.localhost/log+")]
    mute = WitnessKey("mute.example/w2", bytes(31) + b"1")
    with socket.create_server(("127.0.0.1", 0)) as never, witness(folder, [f"cabochon.localhost/log={log_key}"]) as w:
        witnesses = f"{w.vkey} {w.url},{mute} http://127.0.0.1:{never.getsockname()[1]}"
        with deployment.sequencer(CABOCHON_WITNESSES=witnesses, CABOCHON_WITNESS_EVERY="0.1"):
            deployment.record(2)
            until(lambda: deployment.rows("select 1 from audit_cosignature"), "a cosignature")
            deployment.record(3)
            until(deployment.is_sealed, "seals while the other witness says nothing")
            assert deployment.rows("select refused_at from audit_witnessstate where size > 0") == [(None,)]
        size = w.log()["size"]
    assert 0 < size <= 5
    assert "Everything holds." in deployment.manage("verify")


@pytest.mark.faults
def test_a_rotated_key_signs_later_checkpoints_and_earlier_ones_stay_valid(deployment: Deployment) -> None:
    deployment.record()
    deployment.manage("sequence", "--once")
    listed = deployment.manage("logkey", "--rotate", "checkpoint", "--reason", "yearly", "--at-once")
    assert listed.count("checkpoint cabochon.localhost/log+") == 2
    deployment.record()
    deployment.manage("sequence", "--once")
    notes = [note for (note,) in deployment.rows("select note from log.checkpoint order by number")]
    assert len({note.split("— cabochon.localhost/log ")[1][:5] for note in notes}) == 2
    assert "Everything holds." in deployment.manage("verify")
