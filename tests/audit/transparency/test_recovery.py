"""A record restored from a backup that lacks its last events: seen, recovered by two officers, sent again, whole."""

from __future__ import annotations

import base64
import io
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from pytest_django import Settings

from audit import monitoring
from audit.adjudication.replay import advance
from audit.management.commands.sequence import Command as Sequence
from audit.models import Cosignature, Finding, LogEpoch, LogFork, Officer, Role
from audit.projections.verify import verify_derived
from audit.transparency import epochs, signing_keys, tree
from audit.transparency.checkpoint_export import export, notes_in
from audit.transparency.cosignatures import WitnessKey, keep, text_of
from audit.transparency.outcome import Outcome
from audit.transparency.sequencer import Forked, Sequencer
from audit.transparency.signed_notes import Checkpoint, Signer
from audit.transparency.tiles import write_tiles
from audit.transparency.tree import StoredCheckpoint
from audit.transparency.verify import verify
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.superuser]

SENT_BEFORE = 6
"""Events of the session that the backup has."""


@pytest.fixture
def tenant(db: None) -> Tenant:
    return Tenant()


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]
    return tmp_path / "checkpoints"


@pytest.fixture
def officers(tenant: Tenant) -> list[Officer]:
    return [hired(tenant, Role.DIRECTOR, "dora"), hired(tenant, Role.SECOND, "sam")]


class Restored:
    """A table that sent a session, of which the record was then put back to its first six events."""

    def __init__(self, tenant: Tenant, folder: Path) -> None:
        self.tenant, self.name = tenant, f"restored-{tenant.code}"
        self.events = dice_changed_in_mid_series(tenant, self.name)
        assert tenant.post(self.name, self.events[:SENT_BEFORE]).status_code == 201
        seal()
        self.kept = tree.size()
        assert tenant.post(self.name, self.events[SENT_BEFORE:]).status_code == 201
        seal()
        self.signed = tree.newest_checkpoint()
        assert self.signed is not None
        export(self.signed, str(folder))
        write_tiles(folder.parent / "tiles", self.signed)
        with connection.cursor() as cursor:
            _restore(cursor, self.kept, tenant.stream(self.name).stream_id)


def _restore(cursor: CursorWrapper, kept: int, stream_id: int) -> None:
    """Leave what a backup of ``kept`` leaves has: no superuser of a running record could otherwise."""
    for guard in ("log_no_change", "log_no_drop"):
        cursor.execute(f"alter event trigger {guard} disable")
    for table in ("event", "batch", "stream_head", "leaf", "subtree", "checkpoint", "clock"):
        cursor.execute(f"alter table log.{table} disable trigger user")
    for statement in (
        "delete from log.event where stream_id = %(stream)s and seq > %(sent)s",
        "delete from log.batch where stream_id = %(stream)s and first_seq > %(sent)s",
        "delete from log.leaf where log_index >= %(kept)s",
        "delete from log.checkpoint where size > %(kept)s",
        "update log.stream_head h set next_seq = b.next_seq, chain = b.chain, received_at = b.received_at"
        " from log.batch b where b.stream_id = h.stream_id and h.stream_id = %(stream)s",
        "update log.clock set received_at = (select max(b.received_at) from log.leaf join log.batch b"
        " using (stream_id, first_seq))",
    ):
        cursor.execute(statement, {"stream": stream_id, "sent": SENT_BEFORE, "kept": kept})
        assert cursor.rowcount >= 1, statement


@pytest.fixture
def restored(tenant: Tenant, folder: Path) -> Restored:
    return Restored(tenant, folder)


def recover(
    monkeypatch: pytest.MonkeyPatch, officers: list[Officer], *arguments: str, passwords: str = "x\nx\n"
) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(passwords))
    named = [argument for officer in officers for argument in ("--officer", officer.username)]
    out = StringIO()
    call_command("recover", *named, "--reason", "a disk failed", *arguments, stdout=out)
    return out.getvalue()


def verified(folder: Path, **options: Any) -> Outcome:
    outside = [(path.name, note) for path, note in notes_in(folder)]
    keys = signing_keys.verifiers("checkpoint")
    outcome = verify(keys, outside=outside, decisions=[None], **options)
    for fault in verify_derived(None, outcome).faults:
        outcome.add(fault)
    return outcome


def test_the_sequencer_says_where_the_log_forked_and_goes_on_looking(restored: Restored) -> None:
    with pytest.raises(Forked) as forked:
        Sequencer(lambda left: None).load()
    sequence = Sequence()
    sequence.stopping = _Never()  # type: ignore[assignment]
    for _ in range(2):
        sequence._wait_for_recovery(forked.value)
    fork = monitoring.fork()
    assert fork is not None
    assert restored.signed is not None
    assert (fork.leaves, fork.signed_size) == (restored.kept, restored.signed.size)


class _Never:
    def wait(self, timeout: float) -> bool:
        return False


def test_what_was_lost_is_listed_recovered_by_two_officers_sent_again_and_holds(
    restored: Restored, officers: list[Officer], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert restored.signed is not None
    LogFork.objects.create(leaves=1, signed_size=2, found_at=officers[0].date_joined)
    dry = StringIO()
    tiles = ["--tiles", str(folder.parent / "tiles")]
    call_command("recover", "--dry-run", *tiles, stdout=dry)
    lost = f"{restored.name} {SENT_BEFORE + 1}–{len(restored.events)}"
    assert lost in dry.getvalue()
    assert not LogEpoch.objects.exists()

    printed = recover(monkeypatch, officers, *tiles)
    epoch = epochs.current()
    assert (epoch.number, epoch.kept, epoch.forked_at) == (2, restored.kept, restored.kept)
    assert epoch.origin.endswith("/epoch-2")
    assert all(
        each in epoch.note for each in (lost, "reason a disk failed", officers[0].username, officers[1].username)
    )
    assert epoch.note in printed
    assert monitoring.fork() is None

    seal()
    newest = tree.newest_checkpoint()
    assert newest is not None
    assert newest.note.startswith(f"{epoch.origin}\n")
    assert newest.note.count("\n— ") == 1
    export(newest, str(folder))
    assert len(list(notes_in(folder))) == 2, "of one size, but of another epoch"

    too_late = restored.tenant.post(restored.name, restored.events[SENT_BEFORE + 1 :])
    assert too_late.status_code == 409
    problem = too_late.json()
    assert (problem["code"], problem["next_seq"], problem["epoch"]) == ("gap", SENT_BEFORE + 1, 2)
    assert f"for event {SENT_BEFORE + 1} and later ones" in problem["detail"]
    assert restored.tenant.post(restored.name, restored.events).status_code == 201  # what is here is told apart
    stream = restored.tenant.stream(restored.name)
    advance(stream.stream_id)
    assert "dice-changed-during-point-series" in Finding.objects.filter(stream=stream).values_list("rule", flat=True)
    seal()
    outcome = verified(folder)
    assert outcome.faults == []
    assert outcome.lost == 1
    assert [each.number for each in outcome.epochs] == [2]


def test_what_a_witness_cosigned_before_is_held_against_its_epoch(
    restored: Restored, officers: list[Officer], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the leaves that are here it still counts; of those that were lost the note says that they were."""
    assert restored.signed is not None
    kept = tree.newest_checkpoint()
    assert kept is not None
    for checkpoint in (kept, restored.signed):
        _cosign(checkpoint)
    recover(monkeypatch, officers)
    seal()
    outcome = verified(folder)
    assert outcome.faults == []
    assert outcome.lost == 2, "the exported one and the cosigned one"
    Cosignature.objects.filter(size=kept.size).update(root=bytes(32))
    assert any("w.example/w" in str(fault) for fault in verified(folder).faults)


def _cosign(checkpoint: StoredCheckpoint) -> None:
    seed, time_s = Ed25519PrivateKey.generate(), 1_764_000_000
    public = seed.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    key = WitnessKey("w.example/w", public)
    signed = seed.sign(f"cosignature/v1\ntime {time_s}\n{text_of(checkpoint.note)}".encode())
    line = base64.b64encode(key.key_id + time_s.to_bytes(8, "big") + signed).decode()
    keep(checkpoint, key, f"— {key.name} {line}", time_s)


def test_of_more_leaves_than_the_note_says_were_signed_a_checkpoint_is_a_fault(
    restored: Restored, officers: list[Officer], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a recovery would excuse whatever was signed after what it has seen."""
    origin = signing_keys.origin()
    recover(monkeypatch, officers)
    seal()
    assert restored.signed is not None
    later = Checkpoint(origin, restored.signed.size + 3, bytes(32))
    old = signing_keys.public_keys("checkpoint")[-2]
    note = signing_keys.signer("checkpoint", old.valid_from).note(later.text())
    export(StoredCheckpoint(later.size, later.root, note), str(folder))
    assert any(str(later.size) in str(fault) for fault in verified(folder).faults)


def test_nobody_recovers_alone_or_a_log_that_lacks_nothing(
    restored: Restored, officers: list[Officer], monkeypatch: pytest.MonkeyPatch
) -> None:
    clerk = hired(restored.tenant, Role.ADMINISTRATOR, "clerk")
    for named, passwords, refusal in (
        (officers[:1], "x\n", "Name two officers"),
        ([officers[0], officers[0]], "x\nx\n", "Name two officers"),
        (officers, "x\nwrong\n", "The account or the password is wrong"),
        ([officers[0], clerk], "x\nx\n", "may not sign nights"),
    ):
        with pytest.raises(CommandError, match=refusal):
            recover(monkeypatch, named, passwords=passwords)
    assert not LogEpoch.objects.exists()
    recover(monkeypatch, officers)
    seal()
    with pytest.raises(CommandError, match="nothing is lost"):
        recover(monkeypatch, officers)


def test_an_epoch_that_nobody_opened_or_that_says_something_else_is_named(
    restored: Restored, officers: list[Officer], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recover(monkeypatch, officers)
    seal()
    assert verified(folder).faults == []
    epoch = LogEpoch.objects.get()
    LogEpoch.objects.update(signed_size=epoch.signed_size + 5)
    assert any("epoch 2" in str(fault) for fault in verified(folder).faults)
    LogEpoch.objects.update(signed_size=epoch.signed_size)
    stolen = Signer(epoch.origin, bytes(range(32)))
    LogEpoch.objects.update(note=stolen.note(epoch.note.partition("\n\n")[0] + "\n"))
    assert any("none of the given keys has signed" in str(fault) for fault in verified(folder).faults)
    LogEpoch.objects.all().delete()
    assert any("epoch 2 is missing" in str(fault) for fault in verified(folder).faults)
