"""Checkpoints exported out of the database: they show if the newest part of the log was removed.

A target is a folder, or a URL that accepts PUT. Each checkpoint is a file of its own there, named after the size of its
tree, and is never written again.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from datetime import datetime
from http.client import HTTPException
from pathlib import Path
from typing import cast
from urllib.parse import quote

from django.conf import settings

from audit import heartbeats
from audit.event_store import binary_copy, durable_files
from audit.transparency import epochs, tree
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, open_checkpoint
from audit.transparency.tree import StoredCheckpoint

PREFIX = "checkpoint-"
PUT_TIMEOUT_S = 10


class ExportFailed(Exception):
    """A target did not accept a checkpoint."""


EXPORTED = "exported"
"""The heartbeat that says when the newest batch was received which every target has in a checkpoint."""

_RECEIVED_THROUGH = """
select max(b.received_at)
from (select stream_id, first_seq from log.leaf where log_index < %b::bigint order by log_index desc limit 200) l
join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
"""


class Exporter:
    """Exports the newest checkpoint to every target. One that did not accept it is tried again in the next round."""

    def __init__(self) -> None:
        self._newest_at: dict[str, str] = {}  # the name of the last checkpoint of each target
        self._beaten = ""  # that of the last one that every target had when the heartbeat was written

    def round(self) -> list[ExportFailed]:
        """Export the newest checkpoint to the targets that lack it; return the errors.

        Names are compared and not sizes: the tree of a new epoch is smaller than the one before it.
        """
        newest = tree.newest_checkpoint()
        if newest is None:
            return []
        name, errors = _name(newest), list[ExportFailed]()
        for target in targets():
            if self._newest_at.get(target) == name:
                continue
            try:
                export(newest, target)
            except ExportFailed as error:
                errors.append(error)
            else:
                self._newest_at[target] = name
        if not errors and name != self._beaten:
            heartbeats.write("export")
            heartbeats.write(EXPORTED, _received_through(newest.size))
            self._beaten = name
        return errors


def _received_through(size: int) -> datetime | None:
    """Return when the newest batch in a tree of ``size`` leaves was received: those sealed at once are in any order."""
    [(received_at,)] = binary_copy.execute(_RECEIVED_THROUGH, (size,))
    return cast("datetime | None", received_at)


def targets() -> list[str]:
    """Return the folders and URLs of ``CABOCHON_CHECKPOINTS``."""
    return list(settings.CABOCHON_CHECKPOINTS)


def folders() -> list[Path]:
    """Return the targets that are folders: what was exported there can be read again."""
    return [Path(target) for target in targets() if not _is_url(target)]


def name_of(size: int, origin: str = "") -> str:
    """Return the file name of the checkpoint of a tree of ``size`` leaves; names of one epoch sort by size.

    ``origin`` is the checkpoint's, by default that of the first epoch.
    """
    epoch = origin.removeprefix(epochs.first_origin()).strip("/")
    return f"{PREFIX}{epoch}{'-' if epoch else ''}{size:020}"


def _name(checkpoint: StoredCheckpoint) -> str:
    return name_of(checkpoint.size, checkpoint.note.partition("\n")[0])


def export(checkpoint: StoredCheckpoint, target: str) -> None:
    """Copy a checkpoint to a target. Raise ``ExportFailed`` if that fails."""
    name = _name(checkpoint)
    try:
        if _is_url(target):
            _put(f"{target.rstrip('/')}/{quote(name)}", checkpoint.note.encode())
        else:
            _write(Path(target), name, checkpoint.note.encode())
    except (OSError, ValueError, HTTPException) as error:
        raise ExportFailed(f"{target}: {error}") from error


def notes_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the checkpoints in a folder, the smallest first: path and note."""
    for path in sorted(folder.glob(f"{PREFIX}*")):
        yield path, path.read_text()


def exported_checkpoints(verifiers: list[Verifier], origin: str) -> list[Checkpoint]:
    """Return, for each folder, the largest checkpoint of this log that one of ``verifiers`` signed."""
    largest: list[Checkpoint] = []
    for folder in folders():
        for _path, note in reversed(list(notes_in(folder))):
            try:
                largest.append(open_checkpoint(note, verifiers, origin=origin))
            except BadNote:
                continue
            break
    return largest


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _put(url: str, note: bytes) -> None:
    request = urllib.request.Request(url, data=note, method="PUT", headers={"Content-Type": "text/plain"})
    with urllib.request.urlopen(request, timeout=PUT_TIMEOUT_S):
        pass


def _write(folder: Path, name: str, note: bytes) -> None:
    """Write a file atomically, unless it exists."""
    path = folder / name
    if path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    durable_files.write(path, note)
