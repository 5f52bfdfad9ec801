"""The witness as a process: its command, its HTTP, hostile clients, death and restart."""

from __future__ import annotations

import os
import signal
import socket
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from cabochon_witness.notes import WITNESS_KEY, Checkpoint, PublicKey
from cabochon_witness.server import IDLE_S, MAX_BODY, MAX_CONNECTIONS
from tests.cabochon_witness.logs import ORIGIN, Log
from tests.cabochon_witness.processes import command, make_key, witness
from tests.casino.processes import until

LOG = Log()
LOGS = [f"{ORIGIN}={LOG.signer.verifier}"]


def test_a_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    created = command("key", "--name", "witness.example/w1", "--out", str(tmp_path / "key"))
    assert created.returncode == 0, created.stderr
    assert PublicKey.parse(created.stdout.strip(), WITNESS_KEY).name == "witness.example/w1"
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    again = command("key", "--name", "other", "--out", str(tmp_path / "key"))
    assert again.returncode == 2
    assert "never replaced" in again.stderr


def test_killed_after_any_answer_it_remembers_it(tmp_path: Path) -> None:
    vkey = make_key(tmp_path)
    for old, size in ((0, 3), (3, 40), (40, 41)):
        with witness(tmp_path, LOGS) as running:
            assert running.vkey == vkey
            status, line = running.send(LOG.request(old, size))
            running.process.send_signal(signal.SIGKILL)
            running.process.wait()
        assert status == 200
        assert Checkpoint.parse(LOG.note(size) + line).cosigned_at(PublicKey.parse(vkey, WITNESS_KEY)) is not None
    with witness(tmp_path, LOGS) as running:
        assert running.send(LOG.request(0, 8)) == (409, "41\n")


def test_an_alarm_is_a_line_a_status_and_a_command_that_runs_once(tmp_path: Path) -> None:
    make_key(tmp_path)
    script = tmp_path / "alarm"
    script.write_text(f'#!/bin/sh\necho "$WITNESS_ALARM $WITNESS_LOG $WITNESS_EVIDENCE" >> {tmp_path}/ran\n')
    script.chmod(0o700)
    with witness(tmp_path, LOGS, "--on-alarm", str(script)) as running:
        running.send(LOG.request(0, 8))
        forked = LOG.fork(5)
        assert running.send(forked.request(8, 9))[0] == 422
        assert running.send(forked.request(8, 10))[0] == 422
        assert running.send(forked.request(8, 8, []))[0] == 409
        assert running.alarms == ["forked", "unproven", "unproven"]
        until(lambda: (tmp_path / "ran").exists() and (tmp_path / "ran").read_text().count("\n") == 2, "two commands")
    ran = sorted(line.split(" ")[:2] for line in (tmp_path / "ran").read_text().splitlines())
    assert ran == [["forked", ORIGIN], ["unproven", ORIGIN]]
    alarms = [line for line in (tmp_path / "stderr").read_text().splitlines() if line.startswith("ALARM ")]
    assert [line.split(":")[0] for line in alarms] == ["ALARM unproven", "ALARM unproven", "ALARM forked"]


def test_a_log_that_falls_silent_is_reported(tmp_path: Path) -> None:
    make_key(tmp_path)
    with witness(tmp_path, LOGS, "--silent-after", "0") as running:
        until(lambda: running.log()["is_silent"], "the alarm of a silent log")
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
    assert f"ALARM silent: {ORIGIN}: no new checkpoint" in (tmp_path / "stderr").read_text()


def raw(port: int, sent: bytes) -> bytes:
    """Send bytes, end our side, and return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while got := connection.recv(65_536):
            answer += got
        return answer


POST = b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\n"


@pytest.mark.parametrize(
    "sent, status",
    [
        (POST + b"\r\n", b"411"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (POST + b"Content-Length: -1\r\n\r\n", b"411"),
        (POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", b"411"),
        (POST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), b"413"),
        (POST + b"Content-Length: 999999999999999999\r\n\r\n", b"411"),
        (POST + b"Content-Length: 3\r\n\r\nabc", b"400"),
        (POST + b"X: " + b"y" * 70_000 + b"\r\n\r\n", b"431"),
        (POST + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"GET /" + b"y" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"DELETE /add-checkpoint HTTP/1.1\r\n\r\n", b"501"),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"404"),
        (b"\x00\xff\r\n\r\n", b"400"),
    ],
    ids=range(13),
)
def test_hostile_requests_are_refused(running_port: int, sent: bytes, status: bytes) -> None:
    answer = raw(running_port, sent)
    assert status in answer.split(b"\r\n")[0], answer[:200]


@pytest.fixture(scope="module")
def running_port(tmp_path_factory: pytest.TempPathFactory) -> object:
    folder = tmp_path_factory.mktemp("witness")
    make_key(folder)
    with witness(folder, LOGS) as running:
        yield running.port


@pytest.mark.parametrize("idle_s", [1.0, pytest.param(IDLE_S, marks=pytest.mark.faults)])
def test_clients_that_hold_every_connection_lose_them(tmp_path: Path, idle_s: float) -> None:
    make_key(tmp_path)
    with witness(tmp_path, LOGS, idle_s=idle_s) as running:
        held = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(MAX_CONNECTIONS + 10)]
        for each in held:
            with suppress(OSError):  # there are too many, and this one was closed at once
                each.sendall(POST)
        threads = len(os.listdir(f"/proc/{running.process.pid}/task"))
        assert threads <= MAX_CONNECTIONS + 3

        def answers() -> bool:
            try:
                return running.send(LOG.request(0, 3))[0] in (200, 409)
            except OSError:
                return False

        until(answers, "an answer, once those that say nothing are cut off")
        for each in held:
            each.close()


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["--log", "nothing", "--key", "KEY"], "ORIGIN=VKEY"),
        (["--log", f"{ORIGIN}=x+y+z", "--key", "KEY"], "not"),
        (["--log", LOGS[0], "--key", "/nothing"], "No such file"),
        (["--log", LOGS[0], "--key", "KEY", "--listen", "here"], "HOST:PORT"),
    ],
    ids=range(4),
)
def test_wrong_use_is_said_in_a_line(tmp_path: Path, arguments: list[str], reason: str) -> None:
    make_key(tmp_path)
    arguments = [each.replace("KEY", str(tmp_path / "key")) if each == "KEY" else each for each in arguments]
    failed = command("--data", str(tmp_path / "data"), *arguments)
    assert failed.returncode == 2
    assert reason in failed.stderr
    assert "Traceback" not in failed.stderr
