"""Checkpoints exported: a target that did not accept one is tried again, with no new event, until it has."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from audit import consumers
from audit.management.commands.sequence import Command as Sequence
from audit.models import Heartbeat
from audit.transparency import checkpoint_export, epochs, tree
from audit.transparency.checkpoint_export import Exporter, name_of
from audit.transparency.tree import StoredCheckpoint
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, several_streams

pytestmark = pytest.mark.usefixtures("own_database")

EXPORTS = next(each for each in consumers.REGISTRY if each.name == "exports")


class Stopped(Exception):
    """The sequencer is stopped: nothing happens any more."""


class Rounds:
    """In the place of the event that a sequencer waits on: what happens before each round."""

    def __init__(self, *happens: Callable[[], object]) -> None:
        self.happens = list(happens)

    def wait(self, seconds: float) -> bool:
        if not self.happens:
            raise Stopped
        self.happens.pop(0)()
        return False


def exported_regularly(*happens: Callable[[], object]) -> None:
    """Run the thread of a sequencer that exports, for as many rounds as something happens before."""
    command = Sequence()
    command.stopping = Rounds(*happens)  # type: ignore[assignment]
    with pytest.raises(Stopped):
        command._export_regularly()


@pytest.fixture
def target(settings: Settings, tmp_path: Path) -> Path:
    """A folder that cannot be one yet: a file is in its place."""
    target = tmp_path / "checkpoints"
    target.write_text("full")
    settings.CABOCHON_CHECKPOINTS = [str(target)]
    return target


def newest() -> StoredCheckpoint:
    checkpoint = tree.newest_checkpoint()
    assert checkpoint is not None
    return checkpoint


def test_a_failed_export_is_tried_again_by_the_next_round_though_nothing_was_sealed(
    tenant: Tenant, target: Path
) -> None:
    several_streams(tenant, sizes=[[1]])
    lags: list[int] = []

    def measure() -> None:
        lags.append(EXPORTS.measure(None).items)

    def mend() -> None:
        measure()
        target.unlink()

    exported_regularly(measure, mend, measure)
    assert (target / name_of(newest().size)).read_text() == newest().note
    assert lags[0] > 0
    assert lags == [lags[0], lags[0], 0]


def test_a_target_that_has_a_checkpoint_is_sent_it_once_while_another_fails(
    tenant: Tenant, target: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that takes each name once refuses the second: that is no failure to report every minute."""
    several_streams(tenant, sizes=[[1]])
    settings.CABOCHON_CHECKPOINTS = ["https://worm.example/notes", str(target)]
    put: list[str] = []
    monkeypatch.setattr(checkpoint_export, "_put", lambda url, note: put.append(url))
    exporter = Exporter()
    for _ in range(2):
        [failure] = exporter.round()
        assert str(failure).startswith(str(target))
    assert not Heartbeat.objects.filter(name="export").exists()
    target.unlink()
    assert exporter.round() == []
    assert put == [f"https://worm.example/notes/{name_of(newest().size)}"]
    assert Heartbeat.objects.filter(name="export").exists()


def test_a_round_with_nothing_new_is_no_export(tenant: Tenant, target: Path) -> None:
    """The age of the last export is shown at the desk: it grows while nothing is exported."""
    several_streams(tenant, sizes=[[1]])
    target.unlink()
    exporter = Exporter()
    assert exporter.round() == []
    beat = Heartbeat.objects.get(name="export").beat_at
    assert exporter.round() == []
    assert Heartbeat.objects.get(name="export").beat_at == beat


def test_a_batch_that_was_received_before_an_export_and_sealed_after_it_waits_for_the_next(
    tenant: Tenant, target: Path
) -> None:
    several_streams(tenant, sizes=[[1]])
    target.unlink()
    exporter = Exporter()
    late = unique_name()
    assert tenant.send(late, tenant.session(late, 1)).status_code == 201
    assert exporter.round() == []
    assert EXPORTS.measure(None).items == 0
    target.rename(target.with_name("full"))
    target.write_text("full")
    seal()
    assert exporter.round() != []
    assert EXPORTS.measure(None).items == 1


def test_the_first_checkpoints_of_a_new_epoch_are_exported_though_the_old_tree_was_larger(
    tenant: Tenant, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several_streams(tenant, sizes=[[1]])
    target.unlink()
    exporter, large = Exporter(), newest()
    assert exporter.round() == []
    origin = f"{epochs.first_origin()}/2"
    recovered = StoredCheckpoint(1, large.root, large.note.replace(epochs.first_origin(), origin, 1))
    monkeypatch.setattr(tree, "newest_checkpoint", lambda: recovered)
    assert exporter.round() == []
    assert (target / name_of(1, origin)).read_text() == recovered.note


def test_a_server_that_answers_no_http_is_a_failure_and_does_not_end_the_thread(
    tenant: Tenant, target: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    several_streams(tenant, sizes=[[1]])
    settings.CABOCHON_CHECKPOINTS = ["https://worm.example/notes"]

    def garbled(url: str, note: bytes) -> None:
        raise http.client.BadStatusLine("\x15\x03\x01")

    monkeypatch.setattr(checkpoint_export, "_put", garbled)
    [failure] = Exporter().round()
    assert str(failure).startswith("https://worm.example/notes")
    assert isinstance(failure.__cause__, http.client.BadStatusLine), "which the desk names"
