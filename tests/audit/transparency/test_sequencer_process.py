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
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.conf import settings
from django.core.management import call_command

from audit.event_store import audit_trail, binary_copy
from audit.models import Cosignature, WitnessState
from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import name_of
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.signed_notes import Checkpoint, open_note
from tests.cabochon_witness.processes import make_key, witness
from tests.casino.processes import until
from tests.roles import signed_in_as

ROOT = Path(__file__).parent.parent.parent.parent


NEEDED_S = 60
"""How long a sequencer may take to end: it exports its newest checkpoint before."""


class Deployment:
    """A database of this module's own, its sequencers as processes, and its management commands in this one."""

    def __init__(self, data: Path, superuser_url: str) -> None:
        self.superuser_url = superuser_url
        self.environment = {
            **os.environ,
            "CABOCHON_DATA": str(data),
            "CABOCHON_KEYS": str(settings.CABOCHON_KEYS),
            "CABOCHON_EXPORT_S": "0.1",
            "DATABASE_URL": signed_in_as("cabochon_tests_sequencer", superuser_url),
            "DJANGO_SETTINGS_MODULE": "casino.settings",
        }

    @contextmanager
    def sequencer(self, *options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "sequence", *options], cwd=ROOT, env={**self.environment, **environment}
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def record(self, count: int = 1) -> None:
        """Record something to seal: entries of the installation's audit trail, an event and a batch each."""
        for number in range(count):
            audit_trail.record("test", "noted", data={"n": number})

    def is_sealed(self) -> bool:
        [(pending,)] = binary_copy.execute("select count(*) from log.outbox", ())
        return pending == 0

    def verify(self, *arguments: str) -> str:
        printed = StringIO()
        call_command("verify", *arguments, stdout=printed)
        return printed.getvalue()


@pytest.fixture
def deployment(django_on_its_own_database: str, tmp_path: Path) -> Deployment:
    return Deployment(tmp_path, django_on_its_own_database)


@pytest.mark.faults
def test_a_second_sequencer_waits_and_continues_where_a_killed_one_stopped(deployment: Deployment) -> None:
    before = tree.size()
    deployment.record(5)
    with deployment.sequencer() as first:
        until(deployment.is_sealed, "the first batches sealed")
        with deployment.sequencer() as second:
            first.send_signal(signal.SIGKILL)
            first.wait()
            deployment.record(5)
            until(deployment.is_sealed, "the second sequencer's seals")
            second.send_signal(signal.SIGTERM)
            assert second.wait(NEEDED_S) == 0
    assert tree.size() == before + 10
    assert f" {before + 10} leaves" in deployment.verify()


class Target(BaseHTTPRequestHandler):
    """Where checkpoints are put: it keeps them by their path."""

    uploaded: ClassVar[dict[str, bytes]]

    def do_PUT(self) -> None:
        self.uploaded[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def target() -> Iterator[tuple[str, dict[str, bytes]]]:
    """The address to which checkpoints are put, and those that were."""
    uploaded: dict[str, bytes] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Target,), {"uploaded": uploaded}))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/notes/", uploaded
    server.shutdown()


def test_checkpoints_are_exported_and_cosigned_and_a_witness_that_never_answers_delays_no_seal(
    deployment: Deployment, tmp_path: Path, target: tuple[str, dict[str, bytes]]
) -> None:
    before = tree.size()
    url, uploaded = target
    folder, of_witness = tmp_path / "elsewhere", tmp_path / "witness"
    of_witness.mkdir()
    make_key(of_witness)
    keys = signing_keys.verifiers("checkpoint")
    mute = WitnessKey("mute.example/w2", bytes(31) + b"1")
    with (
        socket.create_server(("127.0.0.1", 0)) as never,
        witness(of_witness, [f"{signing_keys.origin()}={key}" for key in keys]) as w,
    ):
        settings_of_it = {
            "CABOCHON_CHECKPOINTS": f"{folder},{url},http://127.0.0.1:9/nobody",
            "CABOCHON_WITNESSES": f"{w.vkey} {w.url},{mute} http://127.0.0.1:{never.getsockname()[1]}",
            "CABOCHON_WITNESS_EVERY": "0.1",
            "CABOCHON_EXPORT_S": "0.5",  # time enough to end it before the next export but the last
        }
        with deployment.sequencer(**settings_of_it) as process:
            deployment.record(2)
            until(Cosignature.objects.filter(size__gt=before).exists, "a cosignature of what was recorded")
            until(lambda: uploaded and list(folder.glob("checkpoint-*")), "an exported checkpoint")
            deployment.record(3)
            until(deployment.is_sealed, "seals while the other witness says nothing")
            process.send_signal(signal.SIGTERM)
            assert process.wait(NEEDED_S) == 0
            [state] = WitnessState.objects.filter(size__gt=0)
            assert state.refused_at is None
        size = w.log()["size"]
    assert before < size <= before + 5 == tree.size()
    newest = name_of(tree.size())
    assert uploaded[f"/notes/{newest}"] == (folder / newest).read_bytes()
    assert Checkpoint.parse(open_note(uploaded[f"/notes/{newest}"].decode(), keys)).size == tree.size()
    words = [word for key in keys for word in ("--key", str(key))]
    assert "Everything holds." in deployment.verify("--against", str(folder), *words)


@pytest.mark.faults
def test_a_rotated_key_signs_later_checkpoints_and_earlier_ones_stay_valid(deployment: Deployment) -> None:
    before = tree.size()
    for rotated in (False, True):
        if rotated:
            call_command("logkey", "--rotate", "checkpoint", "--reason", "yearly", "--at-once", stdout=StringIO())
        deployment.record()
        with deployment.sequencer("--once") as process:
            assert process.wait(NEEDED_S) == 0
    notes = [each.note for each in tree.checkpoints() if each.size > before]
    assert len({note.split("— cabochon.localhost/log ")[1][:5] for note in notes}) == 2
    assert "Everything holds." in deployment.verify()
