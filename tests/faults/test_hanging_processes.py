"""Each process of ``make run`` hangs in turn: ``/health/ready`` says so, and the supervisor starts another."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.casino.processes import nothing_left_on, until
from tests.casino.stack import IMPATIENT, STOPS_WITHIN_S, Stack

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    data = tmp_path_factory.mktemp("hanging") / "data"
    with nothing_left_on(data):
        stack = Stack(data)
        stack.environment |= IMPATIENT
        process = stack.start()
        yield stack
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOPS_WITHIN_S) == 0


@pytest.mark.parametrize("name", ["beat", "sequencer", "replay", "night", "notify"])
def test_ready_names_the_process_until_another_does_its_work(stack: Stack, name: str) -> None:
    until(lambda: stack.ready()[0] == 200, "the heartbeats of all")
    pid = stack.children[name]
    os.kill(pid, signal.SIGSTOP)
    until(lambda: name in stack.ready()[1]["failed"], "ready to be false")
    until(lambda: stack.children[name] != pid, f"another {name}")
    until(lambda: stack.ready()[0] == 200, "ready again")
    assert f"{name} has stood still" in stack.output.read_text()


def test_a_web_server_that_answers_nobody_is_started_again(stack: Stack) -> None:
    until(lambda: stack.ready()[0] == 200, "the heartbeats of all")
    pid = stack.children["web"]
    os.killpg(pid, signal.SIGSTOP)
    until(lambda: stack.ready()[0] == 0, "no answer")
    until(lambda: stack.children["web"] != pid, "another web server")
    until(lambda: stack.ready()[0] == 200, "ready again")
    assert "web has stood still" in stack.output.read_text()
