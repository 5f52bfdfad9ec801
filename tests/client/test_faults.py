"""Every event once, in order: through a proxy that cuts, delays, duplicates and lies, while processes are killed.

What breaks                                  | is it progress          | is anything lost or twice
---------------------------------------------|-------------------------|--------------------------
the request, before the record has it        | no: sent again          | no: it is in the spool
the answer, after the record has stored it   | yes: the same receipt   | no: the record compares
the request arrives twice at the same time   | yes                     | no: one of them stores
502 of a proxy before or after, 503, 429     | as above                | no
the table system, killed at any instant      | goes on with its spool  | no: on the disk before it is sent
the web server, killed at any instant        | as a cut                | no
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from cabochon_client.events import canonical
from cabochon_client.spool import Spool

from tests.casino.processes import ENVIRONMENT
from tests.client import table_system
from tests.client.proxy import FAULTS, Proxy, proxy
from tests.client.record import ROOT, Record, record
from tests.client.table_system import DAY_VARIABLE, event_at, stream_name


def start_table_system(
    spool: Path, record: Record, through: Proxy, sessions: int, events: int
) -> subprocess.Popen[bytes]:
    words = ["--spool", str(spool), "--url", through.url, "--key", record.key]
    words += ["--sessions", str(sessions), "--events", str(events)]
    with (spool.parent / "table_system.log").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.client.table_system", *words],
            cwd=ROOT,
            env={**ENVIRONMENT, "PYTHONPATH": str(ROOT / "client"), DAY_VARIABLE: table_system.DAY.isoformat()},
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def send_while_killing(
    folder: Path, record: Record, through: Proxy, *, sessions: int, events: int, kills: int, seed: int
) -> int:
    """Run the table system until it has sent everything; kill it and the web server on the way. Return the kills."""
    draw = random.Random(seed)
    before, total = record.count(), sessions * events
    at = sorted(draw.sample(range(1, total), kills))
    killed = 0
    spool = folder / "spool.db"
    process = start_table_system(spool, record, through, sessions, events)
    try:
        while process.poll() is None:
            if at and record.count() - before >= at[0]:
                while at and record.count() - before >= at[0]:
                    del at[0]
                process.kill()
                process.wait()
                killed += 1
                if killed % 3 == 0:
                    record.kill("web")
                    record.start_web()
                process = start_table_system(spool, record, through, sessions, events)
            time.sleep(0.1)
        assert process.returncode == 0, (folder / "table_system.log").read_text()[-3000:]
    finally:
        process.kill()
        process.wait()
    return killed


def check_each_once_and_in_order(folder: Path, record: Record, *, sessions: int, events: int) -> None:
    spool = Spool(folder / "spool.db")
    for number in range(sessions):
        stream = stream_name(number)
        expected = [
            (seq, canonical({**event_at(number, seq), "stream": stream, "seq": seq})) for seq in range(1, events + 1)
        ]
        assert record.stored(stream) == expected
        batches = record.batches(stream)
        assert batches == sorted(batches)
        row = spool.session(stream)
        assert row is not None
        assert (row.acknowledged, row.next_seq, row.state) == (events, events + 1, "open")
        covered = {
            seq for _, receipt in spool.receipts(stream) for seq in range(receipt["first_seq"], receipt["last_seq"] + 1)
        }
        assert covered == set(range(1, events + 1)), "every event has a receipt, wherever an answer was lost"
    spool.close()
    assert record.refused(map(stream_name, range(sessions))) == [], "nothing was sent that the record had to refuse"


@pytest.mark.faults
def test_two_thousand_events_each_once_through_a_proxy_that_cuts_and_lies(
    shared_record: Record, tmp_path: Path
) -> None:
    sessions, events = 5, 400
    with proxy(shared_record.port, seed=1) as through:
        killed = send_while_killing(tmp_path, shared_record, through, sessions=sessions, events=events, kills=2, seed=1)
    check_each_once_and_in_order(tmp_path, shared_record, sessions=sessions, events=events)
    assert killed >= 1
    assert sum(through.done.values()) > through.done["pass"] > 0


@pytest.mark.faults
def test_a_table_system_that_is_started_after_midnight_goes_on_with_the_day_before(
    shared_record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_system, "DAY", table_system.DAY - timedelta(days=1))
    with proxy(shared_record.port, seed=3) as through:
        send_while_killing(tmp_path, shared_record, through, sessions=1, events=20, kills=0, seed=3)
    check_each_once_and_in_order(tmp_path, shared_record, sessions=1, events=20)


@pytest.mark.parametrize(
    "events, kills", [pytest.param(300, 3, marks=pytest.mark.faults), pytest.param(2_000, 9, marks=pytest.mark.soak)]
)
def test_the_events_of_fifty_sessions_each_once(
    tmp_path: Path, migrated_template: str, events: int, kills: int
) -> None:
    sessions = 50
    with record(tmp_path / "record", migrated_template) as running, proxy(running.port, seed=2) as through:
        began = time.monotonic()
        killed = send_while_killing(tmp_path, running, through, sessions=sessions, events=events, kills=kills, seed=2)
        took_s = time.monotonic() - began
        check_each_once_and_in_order(tmp_path, running, sessions=sessions, events=events)
    print(f"{sessions * events} events in {took_s:.0f} s, {killed} kills, {dict(through.done)}")
    assert killed >= kills // 2
    assert len(through.done) > len(FAULTS) // 2
