"""The command line: how often a command looks for garbage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
from django.core import management

from casino import manage

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def _usual_threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("command", "is_usual"), [("migrate", False), ("verify", True), ("replay", True)])
def test_only_migrations_look_for_garbage_seldom(
    monkeypatch: pytest.MonkeyPatch, command: str, *, is_usual: bool
) -> None:
    """A command that reads sessions would keep the garbage of many: ``verify --deep`` took twice the memory."""
    monkeypatch.setattr(sys, "argv", ["manage.py", command])
    monkeypatch.setattr(management, "execute_from_command_line", lambda argv: None)
    assert manage.main() == 0
    assert (gc.get_threshold() == USUAL) is is_usual
