"""Witnesses: a server with a port and a key of its own cosigns the log, and refuses one that is not what it saw.

``test_sequencer_process`` has a witness that is a process, as a deployment has.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import metamorphic_log
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from audit import monitoring
from audit.models import Cosignature, Finding, WitnessState
from audit.transparency import cosignatures, signing_keys, tree, witnesses
from audit.transparency.checkpoint_export import export
from audit.transparency.cosignatures import WitnessKey
from audit.transparency.signed_notes import BadNote, Checkpoint, open_checkpoint
from cabochon_witness.notes import LOG_KEY, PublicKey
from cabochon_witness.notes import Checkpoint as SeenCheckpoint
from tests.audit.tables import Tenant
from tests.audit.transparency.forger import rebuild_with_another_event, unguard
from tests.audit.transparency.sealed import several_streams, verified
from tests.cabochon_witness.processes import Running, make_key, witness_in_a_thread

pytestmark = pytest.mark.usefixtures("own_database")

SIZES = [[3, 4], [1, 1, 6], [5, 5]]


@pytest.fixture
def streams(tenant: Tenant, settings: Settings, tmp_path: Path) -> list[str]:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]
    settings.CABOCHON_WITNESSES = []
    return several_streams(tenant, sizes=SIZES)


@pytest.fixture
def running(streams: list[str], settings: Settings, tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "witness"
    folder.mkdir()
    make_key(folder)
    with witness_in_a_thread(folder, {signing_keys.origin(): signing_keys.verifiers("checkpoint")}) as running:
        settings.CABOCHON_WITNESSES = [f"{running.vkey} {running.url}/"]
        yield running


def newest() -> tree.StoredCheckpoint:
    checkpoint = tree.newest_checkpoint()
    assert checkpoint is not None
    return checkpoint


def test_the_newest_checkpoint_is_cosigned_and_the_note_carries_it(
    tenant: Tenant, streams: list[str], running: Running
) -> None:
    assert witnesses.ask_all() == []
    assert witnesses.ask_all() == [], "the same again only renews its age"
    cosigned = newest()
    several_streams(tenant, sizes=[[2]])
    assert newest().size > cosigned.size
    assert witnesses.ask_all() == []
    assert list(Cosignature.objects.order_by("size").values_list("size", flat=True)) == [cosigned.size, newest().size]
    assert running.log()["size"] == newest().size
    for query in ("", "?cosigned=1", f"?size={cosigned.size}"):
        note = tenant.ask(f"log/checkpoint{query}").content.decode()
        lines = note.rpartition("\n\n")[2].splitlines()
        assert [line.split(" ")[1] for line in lines] == [signing_keys.origin(), "witness.example/w1"]
        assert open_checkpoint(note, signing_keys.verifiers("checkpoint"), origin=signing_keys.origin())
        assert WitnessKey.parse(running.vkey).time_of(lines[1], cosignatures.text_of(note)) is not None
        vkeys = [str(key) for key in signing_keys.verifiers("checkpoint")]
        assert metamorphic_log.checkpoint_verify(note, vkeys).size in (cosigned.size, newest().size)
    assert verified().faults == []


def test_the_newest_cosigned_checkpoint_is_found_where_a_newer_one_has_no_cosignature(
    tenant: Tenant, streams: list[str], running: Running
) -> None:
    assert tenant.ask("log/checkpoint?cosigned=1").status_code == 404
    witnesses.ask_all()
    cosigned = newest()
    several_streams(tenant, sizes=[[2]])
    assert "witness.example" not in tenant.ask("log/checkpoint").content.decode()
    assert f"\n{cosigned.size}\n" in tenant.ask("log/checkpoint?cosigned=1").content.decode()
    assert tenant.ask("log/checkpoint?cosigned=2").status_code == 422


@pytest.mark.superuser
def test_a_witness_whose_position_was_lost_here_is_asked_from_where_it_stands(
    tenant: Tenant, streams: list[str], running: Running
) -> None:
    witnesses.ask_all()
    WitnessState.objects.all().delete()
    several_streams(tenant, sizes=[[2]])
    assert witnesses.ask_all() == []
    assert running.log()["size"] == newest().size


def test_a_witness_that_is_away_is_an_error_that_passes(
    streams: list[str], running: Running, settings: Settings, client: Client
) -> None:
    settings.CABOCHON_WITNESSES = [f"{running.vkey} http://127.0.0.1:9"]
    [failure] = witnesses.ask_all()
    assert "it cannot be reached" in failure
    state = WitnessState.objects.get()
    assert (state.refused_at, state.size) == (None, 0)
    assert "cannot be reached" in state.error
    assert "witnesses" in client.get("/health/ready").json()["failed"]
    settings.CABOCHON_WITNESSES = [f"{running.vkey} {running.url}"]
    assert witnesses.ask_all() == []
    check = client.get("/health/ready").json()["checks"]["witnesses"]
    assert (check["ok"], check.get("detail")) == (True, None)


def refusal(running: Running, client: Client) -> str:
    """Return what the witness refuses, having looked that it is shown everywhere."""
    [failure] = witnesses.ask_all()
    assert WitnessState.objects.get().refused_at is not None
    [seen] = monitoring.witnesses()
    assert seen.is_refused
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert "witnesses" in answer.json()["failed"]
    return failure


@pytest.mark.superuser
@pytest.mark.parametrize("forget", [False, True], ids=["cosignatures left", "cosignatures deleted"])
def test_a_log_that_was_rebuilt_and_signed_with_the_stolen_key_is_refused_by_the_witness_and_found_outside(
    streams: list[str], running: Running, client: Client, tmp_path: Path, forget: bool
) -> None:
    witnesses.ask_all()
    original = newest()
    export(original, str(tmp_path / "worm"))
    with connection.cursor() as cursor:
        rebuild_with_another_event(cursor, streams[0])
        if forget:
            cursor.execute("delete from audit_cosignature")
            cursor.execute("delete from audit_witnessstate")
    assert newest().root != original.root
    inside = [fault.what for fault in verified().faults]
    assert inside == (
        [] if forget else [f"what witness.example/w1 cosigned is not of this tree of {original.size} leaves"]
    )
    assert "it has cosigned another tree" in refusal(running, client)
    assert running.alarms == ["forked"]
    [had] = running.data.glob("*/alarms/forked-*/had")
    [sent] = running.data.glob("*/alarms/forked-*/sent")
    keys = [PublicKey.parse(str(key), LOG_KEY) for key in signing_keys.verifiers("checkpoint")]
    notes = [SeenCheckpoint.parse(path.read_text()) for path in (had, sent)]
    assert all(note.signed_by(keys) for note in notes)
    assert [note.root for note in notes] == [original.root, newest().root]
    tampered = Finding.objects.get(rule="log-tampered")
    assert tampered.recorded == newest().root.hex()
    assert tampered.expected == (None if forget else original.root.hex())
    with pytest.raises(CommandError, match="is not of this tree"):
        call_command("verify", "--against", str(tmp_path / "worm"))


@pytest.mark.superuser
def test_a_rebuilt_log_that_has_grown_since_is_refused_too(
    tenant: Tenant, streams: list[str], running: Running, client: Client
) -> None:
    witnesses.ask_all()
    cosigned = newest().size
    with connection.cursor() as cursor:
        rebuild_with_another_event(cursor, streams[0])
    several_streams(tenant, sizes=[[2]])
    assert f"does not extend the tree of {cosigned} leaves" in refusal(running, client)
    assert running.alarms == ["unproven"]
    assert running.log()["size"] == cosigned
    assert Finding.objects.filter(rule="log-tampered").count() == 1
    witnesses.ask_all()
    assert Finding.objects.filter(rule="log-tampered").count() == 1


@pytest.mark.superuser
def test_a_log_that_was_put_back_to_an_older_state_is_refused(
    tenant: Tenant, streams: list[str], running: Running, client: Client
) -> None:
    old = newest().size
    several_streams(tenant, sizes=[[2]])
    witnesses.ask_all()
    larger = newest().size
    with connection.cursor() as cursor:
        unguard(cursor)
        newer = "stream_id in (select stream_id from log.leaf where log_index >= %s)"
        for table in ("event", "batch", "stream_head", "stream"):
            cursor.execute(f"delete from log.{table} where {newer}", [old])
        cursor.execute("delete from log.leaf where log_index >= %s", [old])
        cursor.execute("delete from log.checkpoint where size > %s", [old])
        cursor.execute("delete from audit_cosignature")
        cursor.execute("delete from audit_witnessstate")
    assert f"it has cosigned {larger} leaves, and {old} are here" in refusal(running, client)
    assert Finding.objects.filter(rule="log-tampered").count() == 1


ANSWERS = [
    (200, b"", "without a cosignature"),
    (200, b"\xff" * 70_000, "without a cosignature"),
    (200, "— witness.example/w1 AAAA\n".encode(), "without a cosignature"),
    (409, b"", "without the size"),
    (409, b"9" * 40, "without the size"),
    (403, b"who is it", "it answers 403"),
    (500, b"", "it answers 500"),
    (302, b"", "it answers 302"),
]


@pytest.mark.parametrize("status, body, reason", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_that_is_no_cosignature_is_an_error_and_no_refusal(
    streams: list[str], settings: Settings, status: int, body: bytes, reason: str
) -> None:
    class Liar(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:9/add-checkpoint")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    settings.CABOCHON_WITNESSES = [
        f"{WitnessKey('witness.example/w1', bytes(31) + b'1')} http://127.0.0.1:{server.server_port}"
    ]
    try:
        [failure] = witnesses.ask_all()
    finally:
        server.shutdown()
    assert reason in failure
    assert WitnessState.objects.get().refused_at is None
    assert not Cosignature.objects.exists()


@pytest.mark.parametrize("each", ["", "https://witness.example", "a+b+c https://witness.example", "KEY", "KEY ftp://x"])
def test_a_witness_that_is_set_up_wrongly_is_shown_and_stops_no_sealing(
    streams: list[str], tenant: Tenant, settings: Settings, client: Client, each: str
) -> None:
    key = str(WitnessKey("witness.example/w1", bytes(31) + b"1"))
    settings.CABOCHON_WITNESSES = [each.replace("KEY", key)]
    with pytest.raises(BadNote):
        witnesses.configured()
    size = newest().size
    assert tenant.send("later", tenant.session("later", 2)).status_code == 201
    errors = StringIO()
    call_command("sequence", "--once", stderr=errors, stdout=StringIO())
    assert newest().size > size
    assert errors.getvalue().startswith("'")
    assert "witnesses" in client.get("/health/ready").json()["failed"]


def test_a_log_key_is_not_the_key_of_a_witness(streams: list[str]) -> None:
    [key, *_] = signing_keys.verifiers("checkpoint")
    with pytest.raises(BadNote, match="type 04"):
        WitnessKey.parse(str(key))


def test_a_forged_cosignature_row_is_a_fault(streams: list[str]) -> None:
    key = WitnessKey("witness.example/w1", newest().root)
    cosignatures.keep(newest(), key, f"— {key.name} AAAA", 1_700_000_000)
    [fault] = verified().faults
    assert fault.what == f"witness.example/w1 has not cosigned the one of {newest().size} leaves"
    assert Checkpoint.parse(cosignatures.text_of(newest().note)).root == newest().root
