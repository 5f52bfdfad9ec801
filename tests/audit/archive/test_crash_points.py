"""Killed anywhere, the command leaves the month in place or its proved file; run again, it goes on to its end."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction

from audit.archive import proof
from audit.models import ArchivedMonth
from audit.transparency import signing_keys
from tests.audit.archive.killing import dying
from tests.audit.archive.years import MONTH, Years, archived, stored, verified
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.superuser

FILE = "cabochon-1992-03.ndjson.gz"


class Killed(BaseException):
    """What no handler of the command catches, as it catches no SIGKILL: an open transaction is rolled back."""


def killed_at(step: int, *arguments: str) -> tuple[list[str], bool]:
    """Run the command and kill it at a step. Return the steps that it came to, and whether it was killed."""

    def die() -> None:
        raise Killed

    with dying(step, die) as steps:
        try:
            archived(*arguments)
        except Killed:
            return steps, True
    return steps, False


def every_step(
    *arguments: str, check: Callable[[list[str]], None], again: Callable[[], object], apart: int = 1
) -> list[str]:
    """Kill the command at steps so far apart, check, run it again, and take all of it back. Return all of its steps."""
    for step in range(1, 100, apart):
        with transaction.atomic():
            came_to, is_killed = killed_at(step, *arguments)
            if not is_killed:
                return came_to
            check(came_to)
            again()
            transaction.set_rollback(True)
    raise AssertionError("it has no end")


def proves(folder: Path) -> bool:
    row = ArchivedMonth.objects.get(month=MONTH)
    verifiers = signing_keys.verifiers("checkpoint")
    filed = proof.open_filed(folder, FILE, verifiers)
    proof.demand_filed(proof.prove(folder / FILE, MONTH, row.low, row.high, verifiers), filed)
    return True


@pytest.mark.parametrize("apart", [3, pytest.param(1, marks=pytest.mark.faults)])
def test_killed_at_any_step_of_archiving_the_month_is_in_place_or_its_file_is_proved(
    played: Years, folder: Path, apart: int
) -> None:
    [stream_id] = played.streams
    whole = stored(stream_id)

    def check(steps: list[str]) -> None:
        if stored(stream_id) == whole:
            assert not ArchivedMonth.objects.exists()
        else:
            assert stored(stream_id) == 0
            assert proves(folder)

    def again() -> None:
        archived("--before", "1992-04")
        assert stored(stream_id) == 0
        assert proves(folder)
        for path in folder.iterdir():
            path.unlink()

    steps = every_step("--before", "1992-04", check=check, again=again, apart=apart)
    for name in ("before write", "after fsync", "before rename", "after rename", "after swap_month", "after entry"):
        assert name in steps, steps


@pytest.mark.faults
def test_killed_while_it_is_attached_or_detached_a_month_is_as_before_or_whole(played: Years, folder: Path) -> None:
    [stream_id] = played.streams
    whole = stored(stream_id)
    archived("--before", "1992-04")
    for command, before, after in (("--attach", "archived", "attached"), ("--detach", "attached", "archived")):

        def check(steps: list[str], before: str = before) -> None:
            assert ArchivedMonth.objects.get().state == before
            assert stored(stream_id) == (whole if before == "attached" else 0)
            assert proves(folder)

        steps = every_step(command, "1992-03", check=check, again=lambda command=command: archived(command, "1992-03"))
        assert "after swap_month" in steps
        archived(command, "1992-03") if ArchivedMonth.objects.get().state == before else None
        assert ArchivedMonth.objects.get().state == after
    seal()
    assert verified().faults == []


def test_killed_while_it_is_destroyed_a_file_is_there_or_its_destruction_is_entered(
    played: Years, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archived("--before", "1992-04")
    content = (folder / FILE).read_bytes()
    officers = ["--officer", played.second.username, "--officer", played.director.username, "--reason", "over"]

    def again() -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("x\nx\n"))
        archived("--destroy", "1992-03", *officers)
        assert not (folder / FILE).exists()
        assert ArchivedMonth.objects.get().state == "destroyed"
        (folder / FILE).write_bytes(content)
        monkeypatch.setattr("sys.stdin", io.StringIO("x\nx\n"))

    def check(steps: list[str]) -> None:
        if not (folder / FILE).exists():
            assert ArchivedMonth.objects.get().state == "destroyed"

    monkeypatch.setattr("sys.stdin", io.StringIO("x\nx\n"))
    steps = every_step("--destroy", "1992-03", *officers, check=check, again=again)
    assert {"after entry", "before unlink", "after unlink"} <= {*steps}
