"""Recovery: a log that was restored to an earlier state goes on as another epoch.

    what is here, what was signed ─► where they part, what was lost ─► a new key ─► a note signed by both ─► the epoch

Only exported checkpoints say what was signed: a database that was put back knows nothing of what it lost. Which
batches were lost, static tiles say (``manage.py tiles``), whose bundles have the entry of every leaf. Without them
only how many leaves were lost is known; the table systems have the receipts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.db import transaction

from audit.event_store import audit_trail, merkle
from audit.models import Officer
from audit.transparency import epochs, signing_keys, tree
from audit.transparency.checkpoint_export import notes_in
from audit.transparency.epochs import Epoch
from audit.transparency.signed_notes import BadNote, Checkpoint, open_checkpoint
from audit.transparency.tiles import entries_in

RECOVERED = "log.recovered"

MAX_LISTED = 500
"""Lost batches that the note lists; the command prints all that it knows."""


class NothingToRecover(Exception):
    """The log is the one that was signed."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What a restored log lacks of the one that was signed.

    ``kept`` leaves are here; up to ``forked_at`` they are those that were signed. ``signed`` is the largest checkpoint.
    ``batches`` are the lost ones, as far as tiles say: "casino stream first–last", in the order of the log.
    """

    kept: int
    forked_at: int
    signed: Checkpoint
    batches: Sequence[str] = ()


def loss(folders: Sequence[Path], tiles: Path | None = None) -> Loss:
    """Return what is lost by the checkpoints in ``folders``. Raise ``NothingToRecover``."""
    origin, verifiers = signing_keys.origin(), signing_keys.verifiers("checkpoint")
    signed: dict[int, Checkpoint] = {}
    for folder in folders:
        for _path, note in notes_in(folder):
            try:
                checkpoint = open_checkpoint(note, verifiers, origin=origin)
            except BadNote:
                continue
            signed[checkpoint.size] = checkpoint
    here = tree.size()
    agreeing = [size for size, each in signed.items() if size <= here and tree.frontier(size).root() == each.root]
    if not signed or len(agreeing) == len(signed):
        raise NothingToRecover("The exported checkpoints are of this log: nothing is lost.")
    largest = signed[max(signed)]
    parted = [size for size, each in signed.items() if size <= here and size not in agreeing]
    # What is here beyond the last checkpoint that agrees is that of the log, unless another one parts from it.
    forked_at = max(agreeing, default=0) if parted else here
    if tiles is not None:
        forked_at = _last_common(tiles, forked_at, here, largest.size)
    batches = tuple(_lost_batches(tiles, forked_at, largest.size)) if tiles is not None else ()
    return Loss(here, forked_at, largest, batches)


def _last_common(tiles: Path, known: int, here: int, signed: int) -> int:
    """Return up to which leaf the log is that of the tiles, at least ``known``."""
    hashes = tree.hashes_of(0, known, here)
    common = known
    for hash, entry in zip(hashes, entries_in(tiles, known, min(here, signed)), strict=False):
        if merkle.leaf(entry) != hash:
            break
        common += 1
    return common


def _lost_batches(tiles: Path, low: int, high: int) -> Iterator[str]:
    for entry in entries_in(tiles, low, high):
        batch = json.loads(entry)
        yield f"{batch['casino']} {batch['stream']} {batch['first_seq']}–{batch['last_seq']}"


def recover(lost: Loss, officers: Sequence[Officer], reason: str) -> Epoch:
    """Open the epoch that follows a loss, by decision of two officers, in the account of the machine.

    Make its key, sign its note with the last key of the epoch before and with the new one, and enter all of it.
    """
    before = epochs.current()
    number = before.number + 1
    epoch = Epoch(number, epochs.origin_of(number), lost.kept, lost.forked_at, lost.signed.size)
    names = [officer.get_username() for officer in officers]
    listed = [*lost.batches[:MAX_LISTED]]
    if len(lost.batches) > MAX_LISTED:
        listed.append(f"{len(lost.batches) - MAX_LISTED} more")
    root = tree.frontier(lost.kept).root()
    text = epochs.note_text(epoch, root=root, signed_root=lost.signed.root, lost=listed, officers=names, reason=reason)
    with transaction.atomic():
        old = signing_keys.signer("checkpoint", datetime.now(UTC))
        created = signing_keys.create("checkpoint", reason=f"epoch {number}", at_once=True, of_origin=epoch.origin)
        new = signing_keys.signer("checkpoint", created.valid_from)
        note = old.note(text) + new.note(text).rpartition("\n\n")[2]
        data = {
            "epoch": number,
            "origin": epoch.origin,
            "kept": epoch.kept,
            "forked_at": epoch.forked_at,
            "signed_size": epoch.signed_size,
            "note": note,
            "officers": names,
        }
        audit_trail.perform_command(RECOVERED, data=data, reason=reason)
    return epochs.current()
