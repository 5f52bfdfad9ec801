"""``python -m casino.up``: it starts from nothing and again on its data, restarts what dies, and stops on a signal."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from audit.simulation.month import nights_of, play
from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import socket_folder
from casino.embedded.valkey import EmbeddedValkey
from tests.casino.processes import is_ready, leader, nothing_left_on, running_on, until
from tests.casino.stack import LOADED_WITHIN_S, ROOT, STOPS_WITHIN_S, Stack

WORKER = "-A casino worker -Q replay"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    data = tmp_path / "data"
    with nothing_left_on(data):
        yield Stack(data)


@pytest.fixture
def migrated_stack(tmp_path: Path, migrated_cluster: Path) -> Iterator[Stack]:
    data = tmp_path / "data"
    with nothing_left_on(data):
        yield Stack(data, migrated=migrated_cluster)


def test_it_starts_on_its_data_keeps_them_and_leaves_nothing_behind(migrated_stack: Stack) -> None:
    stack = migrated_stack
    process = stack.start()
    assert is_ready(stack.url)
    assert_processes_sign_in_without_power(stack)
    assert_a_twin_is_refused(stack)
    postgres = EmbeddedPostgres(stack.data)
    before = officers(postgres)
    assert "officer" in before
    stop(stack, process, signal.SIGINT)
    assert not socket_folder(stack.data).exists()

    postgres.start()
    try:
        assert officers(postgres) == before
    finally:
        postgres.stop()


def officers(postgres: EmbeddedPostgres) -> dict[str, str]:
    """Return who may sign in, with the digests of their passwords."""
    with psycopg.connect(postgres.url()) as superuser:
        return dict(superuser.execute("select username, password from audit_officer").fetchall())


@pytest.mark.faults
def test_it_starts_from_nothing_and_again_on_its_data_and_leaves_nothing_behind(stack: Stack) -> None:
    process = stack.start(tables=1)
    assert is_ready(stack.url)
    first = stack.password
    assert stat.S_IMODE((stack.data / "logs").stat().st_mode) == 0o700
    assert_processes_sign_in_without_power(stack)
    assert_the_desk_has_one_night_to_show(stack)
    assert_a_twin_is_refused(stack)
    stop(stack, process, signal.SIGINT)
    assert not socket_folder(stack.data).exists()

    again = stack.start(tables=1)
    assert stack.password == first
    assert "night 1 of" not in stack.output.read_text()
    stop(stack, again, signal.SIGTERM)


def assert_the_desk_has_one_night_to_show(stack: Stack) -> None:
    before, _name, address = stack.output.read_text().partition("A finding ")
    assert "night 1 of" in before
    assert "night 2 of" not in before, "the rest is loaded behind"
    assert re.match(r" *http://localhost:\d+/admin/audit/finding/\d+/", address)
    with psycopg.connect(EmbeddedPostgres(stack.data).url()) as superuser:
        assert superuser.execute("select count(*) from audit_case where state = 'second'").fetchone() == (1,)


def assert_processes_sign_in_without_power(stack: Stack) -> None:
    with psycopg.connect(EmbeddedPostgres(stack.data).url()) as superuser:
        signed_in = superuser.execute(
            "select distinct usename from pg_stat_activity where datname = 'cabochon' and pid <> pg_backend_pid()"
        ).fetchall()
    assert {f"cabochon_{name}_login" for name in ("web", "sequencer")} <= {account for (account,) in signed_in}
    assert ("cabochon",) not in signed_in


def assert_a_twin_is_refused(stack: Stack) -> None:
    twin = subprocess.run(
        [sys.executable, "-m", "casino.up"],
        cwd=ROOT,
        env=stack.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=STOPS_WITHIN_S,
    )
    assert (twin.returncode, twin.stderr.strip()) == (
        1,
        "It is running already, from another terminal, on the same data.",
    )


def stop(stack: Stack, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    process.send_signal(number)
    assert process.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []


@pytest.mark.faults
def test_the_month_goes_on_where_it_was_stopped_and_nothing_is_stored_twice(migrated_stack: Stack) -> None:
    stack = migrated_stack
    process = stack.start(tables=1, nights=3)
    stop(stack, process, signal.SIGINT)

    again = stack.start(tables=1, nights=3)
    plan = json.loads((stack.data / "first-run.json").read_text())
    last_day = date.fromisoformat(plan["last_day"])
    until(lambda: "The month is loaded" in stack.output.read_text(), "the rest of the month", timeout_s=LOADED_WITHIN_S)
    played = [play(*each, last_day, tables=1, number=3) for each in nights_of(last_day, tables=1, number=3)]
    streams = [session for night in played for session in (*night.sessions, *([night.count] if night.count else []))]
    with psycopg.connect(EmbeddedPostgres(stack.data).url()) as superuser:
        stored = dict(
            superuser.execute(
                "select s.name, count(*) from log.stream s join log.event e using (stream_id)"
                " where not s.is_of_desk group by s.name"
            ).fetchall()
        )
        nights = superuser.execute("select count(distinct (casino_id, gaming_day)) from audit_nightreport").fetchone()
        to_sign = superuser.execute(
            "select c.code, r.gaming_day from audit_nightreport r join audit_casino c on c.id = r.casino_id"
            " where r.state <> 'closed' and not exists (select from audit_nightreport n where n.casino_id = r.casino_id"
            " and n.gaming_day = r.gaming_day and n.currency = r.currency and n.id > r.id)"
        ).fetchall()
        half_way = superuser.execute("select count(*) from audit_case where state = 'second'").fetchone()
        keys = superuser.execute("select count(*) from audit_apikey where revoked_at is null").fetchone()
    assert stored == {stream.stream: len(stream.events) for stream in streams}
    assert (nights, half_way, keys) == ((7,), (1,), (0,))
    assert to_sign == [("deauville", last_day)]
    again.send_signal(signal.SIGTERM)
    assert again.wait(STOPS_WITHIN_S) == 0


@pytest.mark.faults
def test_what_dies_is_restarted(migrated_stack: Stack) -> None:
    stack = migrated_stack
    process = stack.start()
    postgres, valkey = EmbeddedPostgres(stack.data), EmbeddedValkey(stack.data)
    web = leader(stack.data, "casino.web")
    worker = leader(stack.data, WORKER)
    os.kill(int((postgres.cluster / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    os.kill(int((valkey.folder / "pid").read_text()), signal.SIGKILL)
    web.kill()
    worker.kill()

    until(lambda: "replay has died" in stack.output.read_text(), "the message about the worker")
    until(lambda: "web has died" in stack.output.read_text(), "the message about the web server")
    until(lambda: is_ready(stack.url) and valkey.is_running(), "answers of the restarted servers")
    until(lambda: _has_leader(stack.data, WORKER), "a new worker")
    assert leader(stack.data, WORKER).pid != worker.pid

    stop(stack, process, signal.SIGTERM)


@pytest.mark.faults
def test_processes_left_by_a_killed_supervisor_are_ended_by_the_next(migrated_stack: Stack) -> None:
    stack = migrated_stack
    killed = stack.start()
    orphan = leader(stack.data, "casino.web")
    killed.kill()
    killed.wait()
    assert orphan.is_running()

    process = stack.start()

    assert not orphan.is_running()
    assert leader(stack.data, "casino.web").pid != orphan.pid
    process.send_signal(signal.SIGHUP)  # the terminal was closed
    assert process.wait(STOPS_WITHIN_S) == 0
    assert running_on(stack.data) == []


def _has_leader(data: Path, command: str) -> bool:
    try:
        leader(data, command)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("argument", ["--help", "--whatever"])
def test_an_argument_starts_nothing(tmp_path: Path, argument: str) -> None:
    command = [sys.executable, "-m", "casino.up", argument]
    environment = os.environ | {"CABOCHON_DATA": str(tmp_path / "data")}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == (0 if argument == "--help" else 2)
    assert "usage: python -m casino.up" in run.stdout + run.stderr
    assert not (tmp_path / "data").exists()
