"""Each process of ``make run`` hangs in turn: ``/health/ready`` says so, and the supervisor starts another."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.casino.processes import nothing_left_on, until
from tests.casino.stack import IMPATIENT, STOPS_WITHIN_S, Stack

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, migrated_cluster: Path) -> Iterator[Stack]:
    data = tmp_path_factory.mktemp("hanging") / "data"
    with nothing_left_on(data):
        stack = Stack(data, migrated=migrated_cluster)
        stack.environment |= IMPATIENT
        process = stack.start()
        yield stack
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOPS_WITHIN_S) == 0


@pytest.mark.parametrize("names", [("beat",), ("sequencer", "night"), ("replay", "notify")], ids="-".join)
def test_ready_names_the_process_until_another_does_its_work(stack: Stack, names: tuple[str, ...]) -> None:
    """Two that are given the same time hang together, one after the other: the first is killed first."""
    until(lambda: stack.ready()[0] == 200, "the heartbeats of all")
    before = dict(stack.children)
    for name in names:
        os.kill(before[name], signal.SIGSTOP)
        until(lambda name=name: name in stack.ready()[1]["failed"], "ready to be false")  # type: ignore[misc]
    for name in names:
        until(lambda name=name: stack.children[name] != before[name], f"another {name}")  # type: ignore[misc]
    until(lambda: stack.ready()[0] == 200, "ready again")
    killed = re.findall(r"(\w+) has stood still", stack.output.read_text())
    assert killed[-len(names) :] == list(names)


def test_a_web_server_that_answers_nobody_is_started_again(stack: Stack) -> None:
    until(lambda: stack.ready()[0] == 200, "the heartbeats of all")
    pid = stack.children["web"]
    os.killpg(pid, signal.SIGSTOP)
    until(lambda: stack.ready()[0] == 0, "no answer")
    until(lambda: stack.children["web"] != pid, "another web server")
    until(lambda: stack.ready()[0] == 200, "ready again")
    assert "web has stood still" in stack.output.read_text()
