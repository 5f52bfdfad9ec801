"""A lock between processes: of all that have a spool open, one sends."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class FileLock:
    """A lock that the operating system frees when its process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free. Return whether this object has it."""
        if self._file is None:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _locked(file):
                os.close(file)
                return False
            self._file = file
        return True

    def release(self) -> None:
        """Free the lock, if this object has it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _locked(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
