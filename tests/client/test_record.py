"""The client against the real record: seals, the command, a restored database, keys that are rotated."""

from __future__ import annotations

import json
import os
from pathlib import Path

import psycopg
import pytest
from cabochon_client import Client
from cabochon_client.events import canonical

from tests.client.record import Record, command, record
from tests.client.table_system import event_at, stream_name
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
