"""Checkpoints kept outside the database: what shows that the newest part of a log was taken away.

A target is a folder, or an address that takes a PUT. Each checkpoint goes there as a file of its own, named after the
size of its tree, and is never written again.
"""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from django.conf import settings

from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, checkpoint_in
from audit.transparency.tree import Head

PREFIX = "checkpoint-"
PUT_TIMEOUT_S = 10


class ExportFailed(Exception):
    """A target did not take a checkpoint."""


def targets() -> list[str]:
    """Return the folders and addresses that checkpoints go to."""
    return list(settings.CABOCHON_CHECKPOINTS)


def name_of(size: int) -> str:
    """Return the name of the file that keeps the checkpoint of a tree of ``size`` leaves; names sort by size."""
    return f"{PREFIX}{size:020}"


def export(head: Head, target: str) -> None:
    """Put a checkpoint where it is kept. Raise ``ExportFailed`` where that cannot be done."""
    try:
        if _is_address(target):
            _put(f"{target.rstrip('/')}/{quote(name_of(head.size))}", head.note.encode())
        else:
            _write(Path(target), name_of(head.size), head.note.encode())
    except (OSError, ValueError) as error:
        raise ExportFailed(f"{target}: {error}") from error


def notes_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the checkpoints that a folder keeps, the smallest first: their files and their text."""
    for path in sorted(folder.glob(f"{PREFIX}*")):
        yield path, path.read_text()


def exported_heads(verifiers: list[Verifier], origin: str) -> list[Checkpoint]:
    """Return the largest checkpoint that each folder keeps of this log, as far as its own keys signed it."""
    found: list[Checkpoint] = []
    for target in targets():
        if _is_address(target):
            continue
        for _path, note in reversed(list(notes_in(Path(target)))):
            try:
                found.append(checkpoint_in(note, verifiers, origin=origin))
            except BadNote:
                continue
            break
    return found


def _is_address(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _put(address: str, note: bytes) -> None:
    request = urllib.request.Request(address, data=note, method="PUT", headers={"Content-Type": "text/plain"})
    with urllib.request.urlopen(request, timeout=PUT_TIMEOUT_S):
        pass


def _write(folder: Path, name: str, note: bytes) -> None:
    """Write a file whole or not at all, and never again."""
    path = folder / name
    if path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}.{os.getpid()}"
    with draft.open("wb") as file:
        file.write(note)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
