"""The client against the real record: seals, the command, a restored database, keys that are rotated.

A table that comes back after two officers closed its session: all that it had not sent is recorded, as late.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cabochon_client import Client
from cabochon_client.events import NUMBERS, canonical, one_higher

from settlement.events.meanings import FIELDS
from tests.client.record import ROOT, Record, command, record
from tests.client.table_system import event_at, stream_name
from tests.client.test_readme import README
from tests.databases import server_url


def lines(number: int, first: int, last: int) -> str:
    stream = stream_name(number)
    numbered = [{**event_at(number, seq), "stream": stream, "seq": seq} for seq in range(first, last + 1)]
    return "".join(json.dumps(each) + "\n" for each in numbered)


def test_what_is_sent_is_stored_and_the_log_seals_it(shared_record: Record, tmp_path: Path) -> None:
    stream = stream_name(20)
    with Client(tmp_path / "spool.db", shared_record.url, shared_record.key) as client:
        client.start()
        session = client.session(stream)
        for first in (1, 8):
            session.extend([event_at(20, seq) for seq in range(first, first + 7)])
            assert client.flush(30)
        assert client.flush(60, sealed=True)
        status = client.status()
        assert status.receipts == {"sealed": 2}
        assert status.waiting == 0
        assert status.problem is None
        assert "cabochon.localhost/log" in (client.spool.note("checkpoint") or "")
    assert shared_record.stored(stream) == [
        (seq, canonical({**event_at(20, seq), "stream": stream, "seq": seq})) for seq in range(1, 15)
    ]


def test_a_file_is_sent_by_command_twice_and_stored_once(shared_record: Record, tmp_path: Path) -> None:
    file = tmp_path / "night.ndjson"
    file.write_text(lines(21, 1, 30))
    access = {"CABOCHON_URL": shared_record.url, "CABOCHON_KEY": shared_record.key}
    spools = [tmp_path / "spool.db", tmp_path / "spool.db", tmp_path / "another.db"]
    for spool in spools:
        sent = command("send", str(file), CABOCHON_SPOOL=str(spool), **access)
        assert sent.returncode == 0, sent.stderr
        assert "The record has everything" in sent.stdout
    assert len(shared_record.stored(stream_name(21))) == 30
    assert len(shared_record.batches(stream_name(21))) == 1
    status = command("status", CABOCHON_SPOOL=str(spools[0]), **access)
    assert f"{stream_name(21)}  through 30, 0 waiting, open" in status.stdout
    status = command("status", "--json", CABOCHON_SPOOL=str(spools[0]), **access)
    assert json.loads(status.stdout)["waiting"] == 0
    receipts = command("receipts", stream_name(21), CABOCHON_SPOOL=str(spools[0]), **access)
    assert json.loads(receipts.stdout)["receipt"]["last_seq"] == 30


def test_a_bad_line_is_named_and_nothing_of_its_page_is_sent(shared_record: Record, tmp_path: Path) -> None:
    file = tmp_path / "night.ndjson"
    file.write_text(lines(22, 1, 3) + "{oh no\n")
    sent = command("send", str(file), CABOCHON_SPOOL=str(tmp_path / "spool.db"), CABOCHON_URL=shared_record.url)
    assert sent.returncode == 3
    assert "line 4" in sent.stderr


def test_what_the_record_refuses_is_explained_and_can_be_left_out(shared_record: Record, tmp_path: Path) -> None:
    stream = stream_name(23)
    wrong = {**event_at(23, 4), "stream": stream, "seq": 4, "type": "wager.placed", "data": {"wager": "w4", "stak": 1}}
    file = tmp_path / "night.ndjson"
    file.write_text(lines(23, 1, 3) + json.dumps(wrong) + "\n" + lines(23, 5, 6))
    access = {
        "CABOCHON_URL": shared_record.url,
        "CABOCHON_KEY": shared_record.key,
        "CABOCHON_SPOOL": str(tmp_path / "spool.db"),
    }
    sent = command("send", str(file), **access)
    assert sent.returncode == 1
    assert "stopped" in sent.stdout
    assert "--reason refused" in sent.stdout
    lost = command("lost", stream, "--through", "4", "--reason", "refused", **access)
    assert "Events 4 to 4" in lost.stdout, lost.stderr
    assert command("send", **access).returncode == 0
    stored = shared_record.stored(stream)
    assert [seq for seq, _ in stored] == [1, 2, 3, 4, 5, 6]
    assert json.loads(stored[3][1])["type"] == "events.lost"


def test_check_says_what_is_wrong_and_what_to_do(shared_record: Record, tmp_path: Path) -> None:
    def checked(**changed: str) -> tuple[int, str]:
        access = {"CABOCHON_URL": shared_record.url, "CABOCHON_KEY": shared_record.key} | changed
        done = command("check", CABOCHON_SPOOL=str(tmp_path / "spool.db"), **access)
        return done.returncode, done.stdout

    status, found = checked()
    assert status == 0, found
    assert found.count("ok") >= 4
    assert "may record events" in found
    status, found = checked(CABOCHON_KEY="cab_000000000000_" + "x" * 43)
    assert status == 1
    assert "unknown, revoked or expired" in found
    status, found = checked(CABOCHON_KEY=shared_record.reading_key)
    assert status == 1
    assert "events:write" in found
    status, found = checked(CABOCHON_URL="http://127.0.0.1:1")
    assert status == 1
    assert "cannot be reached" in found
    status, found = checked(CABOCHON_KEY="")
    assert status == 1
    assert "no API key is set" in found
    tried = "select code from audit_quarantined where strpos(stream || detail, 'cabochon-check') > 0"
    assert shared_record.query(tried) == [], "nothing is recorded"


@pytest.mark.faults
def test_a_key_is_rotated_without_a_pause(shared_record: Record, tmp_path: Path) -> None:
    old = shared_record.manage("createkey", "--casino", "harbour")
    stream, keys = stream_name(24), [old]
    with Client(tmp_path / "spool.db", shared_record.url, lambda: keys) as client:
        client.session(stream).extend([event_at(24, 1)])
        assert client.flush(30)
        new = shared_record.manage("createkey", "--rotate", old.split("_")[1])
        keys.insert(0, new)
        client.session(stream).extend([event_at(24, 2)])
        assert client.flush(30)
        shared_record.manage("revokekey", old.split("_")[1])
        client.session(stream).extend([event_at(24, seq) for seq in range(3, 6)])
        assert client.flush(30)
    assert [seq for seq, _ in shared_record.stored(stream)] == [1, 2, 3, 4, 5]


@pytest.mark.faults
def test_a_record_restored_from_a_backup_gets_back_what_it_lost(tmp_path: Path, migrated_template: str) -> None:
    stream = stream_name(1)
    with record(tmp_path / "record", migrated_template) as running:
        with Client(tmp_path / "spool.db", running.url, running.key) as client:
            client.session(stream).extend([event_at(1, seq) for seq in range(1, 11)])
            assert client.flush(30)
            running.kill("web")
            live, backup = running.database.rpartition("/")[2], f"{running.database.rpartition('/')[2]}_backup"
            with psycopg.connect(server_url(), autocommit=True) as server:
                copy(server, live, backup)
            running.start_web()
            client.session(stream).extend([event_at(1, seq) for seq in range(11, 31)])
            assert client.flush(30)
            before = running.stored(stream)
            running.kill("web")
            with psycopg.connect(server_url(), autocommit=True) as server:
                server.execute(f'drop database "{live}" with (force)')  # type: ignore[arg-type]
                copy(server, backup, live)
                server.execute(f'drop database "{backup}" with (force)')  # type: ignore[arg-type]
            running.start_web()
            assert len(running.stored(stream)) == 10
            client.session(stream).extend([event_at(1, 31)])
            assert client.flush(60)
            status = client.status()
        assert running.stored(stream)[:30] == before
        assert len(running.stored(stream)) == 31
        assert status.restored is not None
        assert (status.restored["next_seq"], status.restored["lost_through"]) == (11, 30)
        assert status.receipts["void"] == 1


def copy(server: psycopg.Connection[object], source: str, target: str) -> None:
    server.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (source,))
    server.execute(f'create database "{target}" template "{source}"')  # type: ignore[arg-type]


def test_nothing_is_left_for_others_to_read(tmp_path: Path) -> None:
    with Client(tmp_path / "spool.db", "http://localhost:1", "k") as client:
        client.session(stream_name(1)).extend([event_at(1, 1)])
        for name in ("spool.db", "spool.db-wal"):
            assert os.stat(tmp_path / name).st_mode & 0o077 == 0


def test_the_session_of_the_readme_is_recorded(
    shared_record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [block] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    code = block.replace("http://localhost:8000", shared_record.url).replace("cab_…", shared_record.key)
    code = code.replace("{today}.1", "{today}.readme")  # a session of its own
    monkeypatch.chdir(tmp_path)
    defined: dict[str, object] = {}
    exec(compile(code, str(README), "exec"), defined)
    stored = shared_record.stored(f"harbour.T1.{defined['today']}.readme")
    assert [seq for seq, _ in stored] == [1, 2, 3, 4]


# Closed by officers

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
