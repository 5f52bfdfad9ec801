"""The supervisor: a child that hangs is started again, logs are for their user alone and bounded."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from casino import up
from casino.supervisor import LOG_BYTES, rotate
from tests.casino.processes import until

ROOT = Path(__file__).parent.parent.parent

CHILD = """
import os, pathlib, time
print(os.getpid(), flush=True)
while True:
    pathlib.Path(os.environ["CABOCHON_HEARTBEAT_FILE"]).touch()
    time.sleep(0.1)
"""

SUPERVISED = """
import sys
from pathlib import Path
from casino import supervisor
from casino.supervisor import Child, Supervisor
supervisor.POLL_INTERVAL_S, supervisor.RESTART_DELAY_S = 0.1, 0.3
data = Path(sys.argv[1])
child = Child("casino-child", (sys.executable, "-c", sys.argv[2]), stall_s=2.0)
Supervisor(services=[], preparations=[], children=[child], data=data, cwd=data).run()
"""

SERVED = """
import sys
from pathlib import Path
from casino import supervisor, up
from casino.supervisor import Child, Supervisor
supervisor.POLL_INTERVAL_S, supervisor.RESTART_DELAY_S = 0.1, 0.3
data = Path(sys.argv[1])
listener = up.take_port()
(data / "port").write_text(str(listener.getsockname()[1]))
child = Child("casino-served", (sys.executable, "-c", sys.argv[2], str(listener.fileno())), listener=listener)
Supervisor(services=[], preparations=[], children=[child], data=data, cwd=data).run()
"""

ANSWERS_ONCE = """
import os, socket, sys
connection, _ = socket.socket(fileno=int(sys.argv[1])).accept()
connection.sendall(str(os.getpid()).encode())
connection.close()
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", SUPERVISED, str(tmp_path), CHILD], cwd=ROOT)
    yield process
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


@pytest.mark.usefixtures("supervisor")
def test_a_child_that_hangs_is_killed_and_started_again(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "casino-child.log"
    until(lambda: log.exists() and log.read_text().split(), "the first child")
    first = int(log.read_text().split()[0])
    until(lambda: (tmp_path / "heartbeats" / "casino-child").exists(), "its heartbeat")
    os.kill(first, signal.SIGSTOP)
    until(lambda: len(log.read_text().split()) == 2, "the second child")
    until(lambda: not psutil.pid_exists(first), "the end of the first")
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "heartbeats").stat().st_mode) == 0o700


@pytest.mark.usefixtures("supervisor")
def test_what_it_cannot_write_stops_nothing_that_it_supervises(tmp_path: Path) -> None:
    log, children = tmp_path / "logs" / "casino-child.log", tmp_path / "processes"
    until(lambda: log.exists() and log.read_text().split(), "the first child")
    first = log.read_text().split()[0]
    until(lambda: children.exists() and children.read_text().split() == [first], "the list of children")
    for name in ("processes.new", "logs/casino-child.log.new"):
        (tmp_path / name).mkdir()  # no file can be written there, as on a full disk
    with log.open("ab") as file:
        file.truncate(LOG_BYTES)
    os.kill(int(first), signal.SIGKILL)
    until(lambda: first not in log.read_text().replace("\0", "").split()[-1], "the second child")
    assert children.read_text().split() == [first], "whole as it was, and not empty"


def test_a_log_that_cannot_be_copied_keeps_the_older_ones(tmp_path: Path) -> None:
    log, before = tmp_path / "web.log", tmp_path / "web.log.1"
    log.write_bytes(b"second")
    before.write_bytes(b"first")
    (tmp_path / "web.log.new").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        rotate(log, most_bytes=5)
    assert (log.read_bytes(), before.read_bytes()) == (b"second", b"first")
    (tmp_path / "web.log.new").rmdir()
    rotate(log, most_bytes=5)
    assert (log.read_bytes(), before.read_bytes()) == (b"", b"second")


def test_a_log_is_begun_anew_at_its_size_and_the_newest_before_it_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab") as writer:  # as a child does, which keeps it open
        for content in (b"first", b"second", b"third", b"fourth"):
            writer.write(content)
            writer.flush()
            rotate(log, most_bytes=5, kept=2)
        writer.write(b"x")
        writer.flush()
        rotate(log, most_bytes=5, kept=2)
    assert log.read_bytes() == b"x"
    assert (tmp_path / "web.log.1").read_bytes() == b"fourth"
    assert (tmp_path / "web.log.2").read_bytes() == b"third"
    assert not (tmp_path / "web.log.3").exists()


def test_who_connects_between_two_children_waits_for_the_second(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVED, str(tmp_path), ANSWERS_ONCE], cwd=ROOT)
    try:
        port = tmp_path / "port"
        until(lambda: port.exists() and port.read_text(), "the port")
        answers = []
        for _ in range(3):  # each child ends with its answer
            with socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=60) as client:
                answers.append(client.recv(100))
        assert len(set(answers)) == 3
        assert b"" not in answers
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_two_deployments_that_start_at_once_have_a_port_each() -> None:
    with up.take_port() as first, up.take_port() as second:
        assert first.getsockname()[1] != second.getsockname()[1]
