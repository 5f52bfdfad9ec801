"""A table that comes back after two officers closed its session: all that it had not sent is recorded, as late."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cabochon_client import Client
from cabochon_client.events import NUMBERS, canonical, one_higher

from settlement.events.meanings import FIELDS
from tests.client.record import ROOT, Record, command
from tests.client.table_system import event_at, stream_name

CLOSE = """
import sys
import django
django.setup()
from audit.casework import session_closing
from audit.models import LoggedStream, Membership, Officer, Role
stream = LoggedStream.objects.get(name=sys.argv[1])
def hired(role):
    officer = Officer.objects.create_user(f"{role}-{stream.pk}", is_staff=True)
    Membership.objects.create(officer=officer, casino=stream.casino, role=role)
    return officer
proposed = session_closing.propose(hired(Role.OFFICER), stream, float_minor=4_990_000, reason="the terminal burned")
session_closing.approve(hired(Role.SECOND), proposed)
"""
"""The program with which two officers close the session that is named, at the desk of the record."""

SENT = 6
"""Events of a session that the record has when it is closed. The closing is the next."""


def close(record: Record, stream: str) -> None:
    environment = {**record.environment, "DATABASE_URL": record.database}
    subprocess.run([sys.executable, "-c", CLOSE, stream], cwd=ROOT, env=environment, check=True)


def numbered(number: int, seq: int, *, as_if: int | None = None) -> dict[str, Any]:
    """Return what table ``number`` reports as its event ``as_if``, under the number ``seq``."""
    return {**event_at(number, as_if or seq), "stream": stream_name(number), "seq": seq}


def stored_late(record: Record, stream: str) -> list[dict[str, Any]]:
    """Return what the record has after the closing, having seen that nothing before it changed."""
    stored = [(seq, json.loads(envelope)) for seq, envelope in record.stored(stream)]
    assert [seq for seq, _ in stored] == list(range(1, len(stored) + 1))
    closing = stored[SENT][1]
    assert (closing["type"], sorted(closing["ext"]["desk"])) == ("session.closed", ["approved_by", "proposed_by"])
    number = int(stream.split(".")[1][1:])
    assert [event for _, event in stored[:SENT]] == [
        json.loads(canonical(numbered(number, seq))) for seq in range(1, SENT + 1)
    ]
    return [event for _, event in stored[SENT + 1 :]]


def test_what_was_not_sent_is_recorded_after_the_closing_under_the_next_numbers(
    shared_record: Record, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stream = stream_name(41)
    with Client(tmp_path / "spool.db", shared_record.url, shared_record.key) as client:
        session = client.session(stream)
        session.extend([event_at(41, seq) for seq in range(1, SENT + 1)])
        assert client.flush(30)
        close(shared_record, stream)
        placed = session.append("wager.placed", {"wager": "w", "bet": "win", "stake": 500})
        corrected = session.append(
            "entry.corrected",
            {
                "corrects": placed,
                "data": {"wager": "w", "bet": "win", "stake": 50},
                "reason": "typed",
                "approved_by": "c1",
            },
        )
        assert (placed, corrected) == (SENT + 1, SENT + 2)
        with caplog.at_level(logging.WARNING, "cabochon_client"):
            assert client.flush(30)
        warnings = [each.getMessage() for each in caplog.records if each.name == "cabochon_client"]
        assert warnings == [
            f"{stream}: two officers closed this session with event 7; events 7 to 8 are sent as 8 to 9, and are late"
        ]
        session.append("wager.withdrawn", {"wager": "w"})
        data = {"corrects": placed, "data": {"wager": "w", "bet": "win", "stake": 5}, "reason": "x", "approved_by": "c"}
        session.append("entry.corrected", data)  # by the number that was returned
        assert client.flush(60, sealed=True)
        status = client.status()
        assert (status.waiting, status.in_difficulty, status.renumbered) == (0, [], {stream: (7, 8)})
    late = stored_late(shared_record, stream)
    assert [(each["seq"], each["type"], each["data"].get("corrects")) for each in late] == [
        (8, "wager.placed", None),
        (9, "entry.corrected", 8),
        (10, "wager.withdrawn", None),
        (11, "entry.corrected", 8),
    ]
    [(code, _detail)] = shared_record.refused([stream])
    assert code == "conflict"
    assert shared_record.query("select 1 from audit_finding where rule = 'sequence-conflict'") == []
    kept = sqlite3.connect(tmp_path / "spool.db").execute("select seq, envelope from set_aside order by seq").fetchall()
    assert [(seq, json.loads(envelope)["seq"]) for seq, envelope in kept] == [(7, 7), (8, 8)]
    shown = command("status", CABOCHON_SPOOL=str(tmp_path / "spool.db")).stdout
    assert f"{stream}: events 7 to 8 are 8 to 9 now" in shown


@pytest.mark.faults
def test_a_spool_that_is_put_back_sends_the_same_events_under_the_same_numbers(
    shared_record: Record, tmp_path: Path
) -> None:
    """Its first six events are stored, and it has no receipt of them: they come in one request with the others."""
    stream = stream_name(42)
    access = (shared_record.url, shared_record.key)
    with Client(tmp_path / "copied.db", *access) as client:
        client.session(stream).extend([event_at(42, seq) for seq in range(1, SENT + 1)])
    shutil.copy(tmp_path / "copied.db", tmp_path / "spool.db")
    with Client(tmp_path / "spool.db", *access) as client:
        assert client.flush(30)
    close(shared_record, stream)
    for spool in ("spool.db", "copied.db"):
        with Client(tmp_path / spool, *access) as client:
            client.session(stream).extend([event_at(42, seq) for seq in range(SENT + 1, SENT + 5)])
            assert client.flush(30)
            assert client.status().in_difficulty == []
    late = stored_late(shared_record, stream)
    assert late == [json.loads(canonical(numbered(42, seq + 1, as_if=seq))) for seq in range(SENT + 1, SENT + 5)]


@pytest.mark.faults
def test_a_file_with_numbers_of_its_own_is_sent_as_often_as_you_like_and_goes_on(
    shared_record: Record, tmp_path: Path
) -> None:
    stream, file = stream_name(43), tmp_path / "night.ndjson"
    access = {"CABOCHON_URL": shared_record.url, "CABOCHON_KEY": shared_record.key}

    def send(last: int, spool: str) -> None:
        file.write_text("".join(json.dumps(numbered(43, seq)) + "\n" for seq in range(1, last + 1)))
        sent = command("send", str(file), CABOCHON_SPOOL=str(tmp_path / spool), **access)
        assert sent.returncode == 0, sent.stdout + sent.stderr

    send(SENT, "spool.db")
    close(shared_record, stream)
    for last in (9, 9, 12):
        send(last, "spool.db")
    send(12, "another.db")
    late = stored_late(shared_record, stream)
    assert late == [json.loads(canonical(numbered(43, seq + 1, as_if=seq))) for seq in range(SENT + 1, 13)]


def test_the_numbers_of_events_in_data_are_those_that_the_catalogue_says() -> None:
    about = {name for name, meaning in FIELDS.items() if meaning.startswith("seq of") or meaning == "last lost seq"}
    assert about == NUMBERS


def test_numbers_are_raised_in_nested_data_and_not_below_the_first() -> None:
    data = {"corrects": 7, "data": {"voids": 6, "through": 9}, "voids": "7", "stake": 8}
    event = {"type": "entry.corrected", "seq": 9, "data": data}
    assert one_higher(event, 7, 8) == {**event, "data": {**data, "corrects": 8}}
    assert one_higher(event, 7)["seq"] == 10
    assert one_higher(event, 7)["data"] == {**data, "corrects": 8, "data": {"voids": 6, "through": 10}}
    assert one_higher({"type": "no_more_bets", "seq": 3}, 1) == {"type": "no_more_bets", "seq": 4}
