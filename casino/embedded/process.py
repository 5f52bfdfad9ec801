"""Runs the embedded servers as an ordinary user, even if started by root.

PostgreSQL refuses to run as root. Started by root, it runs, in this order,

1. in a user namespace of its own (``unshare``): inside it is an ordinary user without any capability, outside its
   files are root's, and no other process of the machine is its peer;
2. where namespaces are forbidden: as the account that owns the data folder, if that is an account of its own, not
   root's and not *nobody*'s, which any service may share;
3. not at all, with advice.

No folder of another owner is ever opened to other users, and no account is ever created.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOBODY = 65534

MAX_SOCKET_FOLDER = 85
"""In bytes. The path of a socket, with its name, may have 103 on macOS and 107 on Linux."""


class ServiceFailed(RuntimeError):
    """An embedded server could not be created, started or stopped. The message has its output."""


@dataclass(frozen=True, slots=True)
class _Identity:
    """How to run a command as an ordinary user.

    ``prefix`` comes before the command; ``user`` and ``group`` are ids to run it as, or None; ``owner`` is the user id
    that its files have outside.
    """

    prefix: tuple[str, ...]
    user: int | None
    group: int | None
    owner: int

    def can_read_our_files(self) -> bool:
        """Return whether a command that is run this way can read this project's files."""
        try:
            completed = subprocess.run(
                [*self.prefix, "cat", __file__],
                user=self.user,
                group=self.group,
                extra_groups=[] if self.user is not None else None,
                cwd="/",
                capture_output=True,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return completed.returncode == 0


_IN_A_NAMESPACE = _Identity(
    ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"), user=None, group=None, owner=0
)


@cache
def _identity(data: Path) -> _Identity:
    """Return how to run a server on ``data``. Raise ``ServiceFailed`` if there is no way."""
    if os.geteuid() != 0:
        return _Identity((), user=None, group=None, owner=os.geteuid())
    if _IN_A_NAMESPACE.can_read_our_files():
        return _IN_A_NAMESPACE
    status = data.stat()
    own = _Identity((), user=status.st_uid, group=status.st_gid, owner=status.st_uid)
    if status.st_uid not in {0, NOBODY} and own.can_read_our_files():
        return own
    raise ServiceFailed(
        "PostgreSQL does not run as root, and this machine lets root open no user namespace for it. Run this as an "
        f"ordinary user; or give {data} to an account of its own that can read this folder; or set DATABASE_URL."
    )


def socket_folder(data: Path) -> Path:
    """Return the folder of the sockets that belong to ``data``.

    The path of a socket is limited to about a hundred bytes, which ``data`` may exceed. So the folder has a short path,
    with a hash of ``data``.
    """
    name = f"cabochon-{os.geteuid()}-{hashlib.sha256(str(data).encode()).hexdigest()[:10]}"
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if parent and len(os.fsencode(folder := Path(parent) / name)) <= MAX_SOCKET_FOLDER:
            return folder
    return Path("/tmp") / name


def own_folder(path: Path, *, data: Path) -> None:
    """Create a folder that only the servers' user can enter. Raise ``ServiceFailed`` if it belongs to another user."""
    owner = _identity(data).owner
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {os.geteuid(), owner}:
        raise ServiceFailed(f"{path} belongs to another user: remove it, or start this as its owner.")
    path.chmod(0o700)
    if status.st_uid != owner:
        _take_over(path, owner)


def _take_over(path: Path, owner: int) -> None:
    """Give a folder and everything in it to ``owner``; links are not followed."""
    os.chown(path, owner, -1, follow_symlinks=False)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), owner, -1, follow_symlinks=False)


def run(*command: object, data: Path, entered: str = "", timeout_s: int = 120) -> str:
    """Run a server's tool on ``data`` as an ordinary user, with ``entered`` as its input; return its output.

    Raise ``ServiceFailed`` if it fails.
    """
    identity = _identity(data)
    # Output goes to a file, never to a pipe: a server that is started inherits it and would hold the pipe open.
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as keyboard:
        keyboard.write(entered.encode())
        keyboard.seek(0)
        done = subprocess.run(
            [*identity.prefix, *map(str, command)],
            user=identity.user,
            group=identity.group,
            extra_groups=[] if identity.user is not None else None,
            stdin=keyboard,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
            timeout=timeout_s,
            check=False,
        )
        file.seek(0)
        output = file.read().decode(errors="replace")
    if done.returncode:
        raise ServiceFailed(f"{Path(str(command[0])).name} failed:\n{output.strip()}")
    return output


def is_listening(path: Path) -> bool:
    """Return whether a server listens on a socket, ready or not. A pid file may be of a process that was killed."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True
