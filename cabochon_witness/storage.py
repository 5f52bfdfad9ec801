"""What a witness remembers, in its data folder: for each log the last checkpoint it cosigned, and evidence of alarms.

    DIR/lock                              one process at a time
    DIR/LOG/checkpoint                    the last checkpoint, with the log's signatures and our cosignature
    DIR/LOG/alarms/KIND-DIGEST/           had, sent: the two signed notes; request: what was sent; what: a sentence

``LOG`` is a digest of the log's name. Every file is written to a draft, synced and renamed, and its folder is synced: a
machine that loses power remembers what it has answered.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cabochon_witness.notes import BadNote, Checkpoint, PublicKey

MAX_KEPT = 20
"""Alarms of a kind that are kept of one log: whoever has its key can make any number of them."""


class CannotRead(Exception):
    """The data folder has something that a witness did not write, or another process uses it."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The last checkpoint that was cosigned, and when, in seconds since 1970."""

    checkpoint: Checkpoint
    cosigned_at: int


def lock(data: Path) -> int:
    """Take the data folder for this process, until it ends. Raise ``CannotRead`` if another one has it."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise CannotRead(f"another witness uses {data}") from None
    return descriptor


class LogFolder:
    """The folder of one log."""

    def __init__(self, data: Path, origin: str) -> None:
        self.path = data / sha256(origin.encode()).hexdigest()[:32]
        self.origin = origin
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync(data)

    def load(self, key: PublicKey) -> Remembered | None:
        """Return what is remembered, None before the first checkpoint.

        Raise ``CannotRead`` if the file is not what this witness wrote: to forget a checkpoint would be to cosign
        another in its stead.
        """
        path = self.path / "checkpoint"
        if not path.exists():
            return None
        try:
            checkpoint = Checkpoint.parse(path.read_text())
        except (BadNote, UnicodeDecodeError) as error:
            raise CannotRead(f"{path}: {error}") from None
        cosigned_at = checkpoint.cosigned_at(key)
        if checkpoint.origin != self.origin or cosigned_at is None:
            raise CannotRead(f"{path} is not a checkpoint of {self.origin} that {key.name} cosigned")
        return Remembered(checkpoint, cosigned_at)

    def remember(self, text: str, lines: list[str], cosignature: str) -> None:
        """Replace the remembered checkpoint; it is on the disk when this returns."""
        signatures = "".join(f"{line}\n" for line in lines)
        write(self.path / "checkpoint", f"{text}\n{signatures}{cosignature}".encode())

    def alarms(self) -> list[str]:
        """Return the names of the alarms that are kept, sorted."""
        folder = self.path / "alarms"
        return sorted(each.name for each in folder.iterdir() if (each / "what").exists()) if folder.exists() else []

    def keep_alarm(self, kind: str, files: dict[str, str]) -> Path | None:
        """Keep the files of an alarm; return its folder, None if there are too many or its two notes are kept."""
        digest = sha256(f"{files['had']}\0{files['sent']}".encode()).hexdigest()[:16]
        folder = self.path / "alarms" / f"{kind}-{digest}"
        kept = [name for name in self.alarms() if name.startswith(f"{kind}-")]
        if folder.name in kept or len(kept) >= MAX_KEPT:
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in sorted(files):  # "what" is the last: an alarm that has it is complete
            write(folder / name, files[name].encode())
        _sync(folder.parent)
        _sync(self.path)
        return folder


def write(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write a file atomically: a draft, synced, renamed, its folder synced."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
