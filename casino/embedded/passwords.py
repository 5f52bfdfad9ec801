"""Passwords of the embedded PostgreSQL's accounts: made once, each in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def password_of(account: str, *, data: Path) -> str:
    """Return the password of an account, made on the first call. Concurrent processes get the same one."""
    folder = data / "passwords"
    path = folder / account
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        draft = path.with_name(f".{account}.{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
        with suppress(FileExistsError):  # another process was first: its password is used
            os.link(draft, path)
        draft.unlink()
    return path.read_text()


def has_password(account: str, *, data: Path) -> bool:
    """Return whether a password was made."""
    return (data / "passwords" / account).exists()
