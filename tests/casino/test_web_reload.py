"""A reload (HUP) of the web server: the old workers serve until the new ones do, and go on if these never will.

The application is a line of ASGI that can be slow to load, or fail to; the server is ours.
"""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.casino.processes import ENVIRONMENT, runs, until

ROOT = Path(__file__).parents[2]
APPLICATION = """
import time
{first}
print(file=open("{loaded}", "a"))
async def application(scope, receive, send):
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"3")]
    await send({{"type": "http.response.start", "status": 200, "headers": headers}})
    await send({{"type": "http.response.body", "body": b"{answer}"}})
"""


@dataclass
class Web:
    folder: Path
    port: int
    main: psutil.Process

    def install(self, answer: str, first: str = "") -> None:
        """Put another version in place: it answers three letters, and does ``first`` while it is loaded."""
        (self.folder / "installed.py").write_text(
            APPLICATION.format(first=first, answer=answer, loaded=self.folder / "loaded")
        )

    def ask(self) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/")
        return connection.getresponse().read().decode()

    def reload(self) -> None:
        self.main.send_signal(signal.SIGHUP)

    @property
    def workers(self) -> set[int]:
        return {each.pid for each in self.main.children() if runs(each)}

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with starting(tmp_path) as started:
        until(lambda: (tmp_path / "loaded").exists() and (tmp_path / "loaded").read_text() == "\n\n", "two workers")
        until(lambda: _answers(started), "an answer")
        yield started


@contextmanager
def starting(tmp_path: Path, first: str = "") -> Iterator[Web]:
    """Start a web server, whose application does ``first`` while it is loaded; stop it at the end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    (tmp_path / "installed.py").write_text(APPLICATION.format(first=first, answer="one", loaded=tmp_path / "loaded"))
    environment = {
        **ENVIRONMENT,
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CABOCHON_BIND": f"127.0.0.1:{port}",
    }
    command = [sys.executable, "-m", "casino.web", "installed:application"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    started = Web(tmp_path, port, psutil.Process(process.pid))
    try:
        yield started
    finally:
        process.terminate()
        process.wait(30)


def _answers(web: Web) -> bool:
    try:
        return bool(web.ask())
    except OSError:
        return False


def test_old_workers_answer_until_the_new_ones_serve(web: Web) -> None:
    old, may_load = web.workers, web.folder / "may-load"
    waits = f"import pathlib\nwhile not pathlib.Path({str(may_load)!r}).exists(): time.sleep(0.05)"
    web.install("two", first=waits)
    web.reload()
    until(lambda: len(web.workers) == 3, "a new worker beside the old")
    assert [web.ask() for _ in range(20)] == ["one"] * 20, "nobody waits for the new workers to load"
    assert old <= web.workers

    may_load.touch()
    until(lambda: not old & web.workers and web.ask() == "two", "the new workers")
    assert len(web.workers) == 2


@pytest.mark.faults
def test_a_version_that_cannot_be_loaded_takes_nothing_down(web: Web) -> None:
    old = web.workers
    web.install("two", first="raise RuntimeError('a fault')")
    web.reload()
    until(lambda: "The new workers do not start, and the old ones go on" in web.log, "the message")
    until(lambda: web.workers == old, "the old workers alone")
    assert web.ask() == "one"

    web.install("two")
    web.reload()
    until(lambda: not old & web.workers and web.ask() == "two", "the version that can be loaded")
    assert len(web.workers) == 2


@pytest.mark.faults
def test_an_application_that_cannot_be_loaded_at_the_start_ends_the_server(web: Web) -> None:
    """With nobody to go on, it ends, and whoever started it sees that."""
    web.install("two", first="raise RuntimeError('a fault')")
    for each in web.main.children():
        each.kill()
    until(lambda: not runs(web.main), "its end")


@pytest.mark.faults
def test_a_request_in_the_middle_of_a_reload_is_answered_on_its_open_connection(web: Web) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)
    old = web.workers
    web.install("two")
    web.reload()
    answers, began = [], time.monotonic()
    while not answers or old & web.workers or answers[-1] != "two":
        assert time.monotonic() - began < 60
        connection.request("GET", "/")
        answer = connection.getresponse()
        answers.append(answer.read().decode())
        if answer.getheader("Connection") == "close":
            connection.close()
        time.sleep(0.05)
    assert set(answers) == {"one", "two"}


@pytest.mark.faults
def test_new_workers_load_the_program_one_after_the_other(web: Web) -> None:
    loads = web.folder / "loads"
    note = f"import os; note = lambda what: print(os.getpid(), what, file=open({str(loads)!r}, 'a'))"
    old = web.workers
    web.install("two", first=f"{note}; note('begins'); time.sleep(1); note('ends')")
    web.reload()
    until(lambda: not old & web.workers and web.ask() == "two", "the new workers")
    assert len(web.workers) == 2
    lines = [line.split() for line in loads.read_text().splitlines()]
    assert [what for _pid, what in lines] == ["begins", "ends"] * 2
    assert [lines[0][0], lines[2][0]] == [lines[1][0], lines[3][0]]
    assert {int(pid) for pid, _what in lines} == web.workers


@pytest.mark.faults
def test_a_worker_that_dies_while_it_loads_holds_up_no_other(web: Web) -> None:
    loader = web.folder / "loader"
    note = f"import os; print(os.getpid(), file=open({str(loader)!r}, 'a'), flush=True)"
    web.install("two", first=f"{note}; time.sleep(600)")
    web.reload()
    until(lambda: len(web.workers) == 3 and loader.exists() and loader.read_text().strip(), "one that loads")
    web.install("two")
    psutil.Process(int(loader.read_text())).kill()
    until(lambda: web.ask() == "two", "the one that has waited")


@pytest.mark.faults
def test_a_server_that_starts_refuses_connections_until_a_worker_serves(tmp_path: Path) -> None:
    """Which is how a proxy with other web servers knows: nobody waits in a queue that is not served yet."""
    gate = tmp_path / "open"
    first = f"import pathlib; wait = pathlib.Path({str(gate)!r})\nwhile not wait.exists(): time.sleep(0.05)"
    with starting(tmp_path, first=first) as web:
        until(lambda: len(web.workers) == 1, "a worker that loads")
        assert _refuses(web)
        gate.touch()
        until(lambda: _answers(web), "an answer")
        assert web.ask() == "one"


@pytest.mark.faults
def test_a_server_that_stops_refuses_whom_it_will_not_answer_and_answers_whom_it_knows(web: Web) -> None:
    known = http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)
    known.request("GET", "/")
    assert known.getresponse().read() == b"one"
    web.main.terminate()
    until(lambda: _refuses(web), "a refusal")
    known.request("GET", "/")
    answer = known.getresponse()
    assert (answer.read(), answer.getheader("Connection")) == (b"one", "close")


def _refuses(web: Web) -> bool:
    try:
        socket.create_connection(("127.0.0.1", web.port), timeout=30).close()
    except ConnectionRefusedError:
        return True
    return False
