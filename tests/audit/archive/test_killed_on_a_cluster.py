"""``manage.py archive`` on a Citus cluster, where something dies: its process at any step, or a node while it commits.

What it does in files is as on one server: ``test_crash_points.py``.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError
from django.db import OperationalError, connection, connections

from audit.archive import months, proof
from audit.event_store import cluster
from audit.models import ArchivedMonth
from audit.transparency import signing_keys
from tests import citus
from tests.audit.archive.killing import Running, run
from tests.audit.archive.test_on_a_cluster import may_make_tables, seqs
from tests.audit.archive.years import MONTH, PLAYED, Years, archived, stored, verified
from tests.audit.event_store.cluster_nodes import Node, prepared, recovered, until
from tests.audit.transparency.sealed import seal

pytestmark = [
    citus.ON_A_CLUSTER,
    pytest.mark.superuser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_log"),
]

ARCHIVE = ("--before", "1992-04")
ATTACH, DETACH = ("--attach", "1992-03"), ("--detach", "1992-03")
TO_THE_END = 1_000


def state() -> str:
    row = ArchivedMonth.objects.filter(month=MONTH).first()
    return row.state if row else "in place"


def check(stream_id: int, whole: list[int], folder: Path) -> str:
    """Demand that the month is whole, here or in its file, and that all holds. Return where it is."""
    connections.close_all()
    now = state()
    if now == "archived":
        assert stored(stream_id) == 0
    else:
        assert seqs(stream_id) == whole
    if now != "in place":
        row = months._month(MONTH)
        verifiers = signing_keys.verifiers("checkpoint")
        proof.demand_filed(
            proof.prove(folder / row.file, MONTH, row.low, row.high, verifiers),
            proof.open_filed(folder, row.file, verifiers),
        )
    assert prepared() == 0
    assert verified().faults == []
    assert cluster.unprotected() == []
    return now


def goes_on(*arguments: str, stream_id: int, whole: list[int], folder: Path, ends: str) -> None:
    """Demand that the command runs to its end, which takes back what the log's owner was allowed meanwhile."""
    if state() != ends:
        assert run(TO_THE_END, *arguments) == []
        assert not may_make_tables()
    seal()
    assert check(stream_id, whole, folder) == ends


def steps_of(*arguments: str) -> range:
    """Return the numbers of the steps that change the database, as a run to the end has them."""
    code, passed = Running(TO_THE_END, *arguments).wait()
    assert code == 0, passed
    return range(passed.index("before allow_moves") + 1, len(passed) + 1)


def states(begins: str, ends: str) -> dict[str, list[str]]:
    """Return where the month is after a death at each step, in the order of the two of one name."""
    within = ("begin_to_archive", "stage_month", "swap_month", "entry")
    return {
        "before allow_moves": [begins, ends],
        "after allow_moves": [begins, ends],
        **{f"{when} {what}": [begins] for what in within for when in ("before", "after")},
    }


def test_killed_at_any_step_of_archiving_nothing_is_lost_and_it_runs_again_to_its_end(
    years: Years, folder: Path
) -> None:
    stream_id = years.play(PLAYED)
    whole = seqs(stream_id)
    died: dict[str, list[str]] = {}
    with _kept() as take_back:
        for step in steps_of(*ARCHIVE):
            take_back()
            for path in folder.glob("*"):
                path.unlink()
            at = run(step, *ARCHIVE)[-1]
            died.setdefault(at, []).append(check(stream_id, whole, folder))
            goes_on(*ARCHIVE, stream_id=stream_id, whole=whole, folder=folder, ends="archived")
    assert died == states("in place", "archived")


def test_killed_at_any_step_of_attaching_and_detaching_nothing_is_lost_and_it_runs_again_to_its_end(
    years: Years, folder: Path
) -> None:
    stream_id = years.play(PLAYED)
    whole = seqs(stream_id)
    assert run(TO_THE_END, *ARCHIVE) == []
    seal()
    for does, undoes, begins, ends in (
        (ATTACH, DETACH, "archived", "attached"),
        (DETACH, ATTACH, "attached", "archived"),
    ):
        died: dict[str, list[str]] = {}
        for step in steps_of(*does):
            if state() == ends:
                goes_on(*undoes, stream_id=stream_id, whole=whole, folder=folder, ends=begins)
            at = run(step, *does)[-1]
            died.setdefault(at, []).append(check(stream_id, whole, folder))
        assert died == states(begins, ends)
        goes_on(*does, stream_id=stream_id, whole=whole, folder=folder, ends=ends)


@contextmanager
def _kept() -> Iterator[Callable[[], None]]:
    """Yield a function that takes all back to the beginning of this block."""
    name = connection.settings_dict["NAME"]
    connections.close_all()
    citus.keep(name, label="played")
    try:
        yield lambda: citus.restore(name, label="played")
    finally:
        citus.forget(name, label="played")


@pytest.mark.parametrize(
    ("index", "dies", "ends"),
    [
        (0, "process", "archived"),
        (1, "process", "archived"),
        (0, "node", "archived"),  # the coordinator has committed, and no worker yet
        (1, "node", "in place"),  # a worker has prepared, and the coordinator does not know
    ],
)
def test_killed_while_it_commits_on_several_nodes_nothing_is_lost_and_it_goes_on(
    years: Years, folder: Path, index: int, dies: str, ends: str
) -> None:
    stream_id = years.play(PLAYED)
    whole = seqs(stream_id)
    node = Node(citus.nodes()[index])
    running = Running("after entry", *ARCHIVE, by=signal.SIGSTOP)
    process = psutil.Process(running.process.pid)
    until(lambda: process.status() == psutil.STATUS_STOPPED)
    node.hold_commits()
    process.resume()
    until(lambda: prepared() > 0)
    node.wait_until_held()
    if dies == "process":
        process.kill()
        node.let_commits_go()
        until(lambda: prepared() == 0)
        running.wait()
    else:
        with node.down():
            code, printed = running.wait()
        recovered()
        assert code == 1
        assert ("did not answer to the end" in " ".join(printed)) == (ends == "archived")
    assert check(stream_id, whole, folder) == ends
    goes_on(*ARCHIVE, stream_id=stream_id, whole=whole, folder=folder, ends="archived")


def test_while_a_worker_is_down_a_month_stays_where_it_is_and_the_command_says_why(years: Years, folder: Path) -> None:
    stream_id = years.play(PLAYED)
    whole = seqs(stream_id)
    node = Node(citus.nodes()[1])
    for arguments, ends in ((ARCHIVE, "archived"), (ATTACH, "attached"), (DETACH, "archived")):
        before = state()
        with node.down():
            connections.close_all()
            # Where a condition cannot even be read, the command line says so in one line: ``casino.manage``.
            with pytest.raises((CommandError, OperationalError), match=r"gives no answer|to the remote node"):
                archived(*arguments)
            connections.close_all()
            assert state() == before
        assert check(stream_id, whole, folder) == before
        goes_on(*arguments, stream_id=stream_id, whole=whole, folder=folder, ends=ends)
