"""Files that are there whole or not at all, whatever is interrupted."""

from __future__ import annotations

import os
from pathlib import Path

READABLE = 0o666
"""The mode of a file that everybody may read, before the process's umask."""


def write(path: Path, content: bytes, *, mode: int = READABLE) -> None:
    """Write a file under a draft's name, sync it to the disk and rename it. Raise ``OSError`` if that fails.

    Only after ``sync_folder`` does the name outlive a power cut.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
