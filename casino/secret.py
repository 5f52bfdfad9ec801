"""The secret key of a deployment that configures none: created once, in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def secret_key(data: Path) -> str:
    """Return the key in ``data``, created on the first call. Concurrent processes get the same one."""
    path = data / "secret-key"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # another process was first: its key is used
            os.link(draft, path)
        draft.unlink()
    return path.read_text()
