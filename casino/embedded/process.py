"""Runs the embedded servers as an ordinary user, even if started by root and below folders that only root can enter.

PostgreSQL refuses to run as root. Root has three ways to run it as another user. The first that can read this file,
which may lie below folders that only root can enter, is used:

1. as *nobody* with the capability to pass closed folders (``setpriv``);
2. as *nobody* in a user namespace of its own (``unshare``), whose files belong to root outside;
3. as *nobody* without more, which is enough if the folders are open.

No folder of another owner is ever opened to other users, and no user is ever created.
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

    ``prefix`` comes before the command; ``user`` is a user id to run it as, or None; ``owner`` is the user id that its
    files have outside.
    """

    prefix: tuple[str, ...]
    user: int | None
    owner: int

    def can_read_our_files(self) -> bool:
        """Return whether a command that is run this way can read this project's files."""
        try:
            completed = subprocess.run(
                [*self.prefix, "cat", __file__],
                user=self.user,
                group=self.user,
                cwd="/",
                capture_output=True,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return completed.returncode == 0


_UNDER_ROOT = (
    _Identity(
        (
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--securebits=+no_setuid_fixup"),
        ),
        user=None,
        owner=NOBODY,
    ),
    _Identity(("unshare", "--user"), user=None, owner=0),
    _Identity((), user=NOBODY, owner=NOBODY),
)


@cache
def _identity() -> _Identity:
    """Return how to run a server on this machine. Raise ``ServiceFailed`` if there is no way."""
    if os.geteuid() != 0:
        return _Identity((), user=None, owner=os.geteuid())
    for identity in _UNDER_ROOT:
        if identity.can_read_our_files():
            return identity
    raise ServiceFailed(
        "PostgreSQL does not run as root, and no other user may read this folder. "
        "Run this as an ordinary user, or set DATABASE_URL to a server of your own."
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


def own_folder(path: Path) -> None:
    """Create a folder that only the servers' user can enter. Raise ``ServiceFailed`` if it belongs to another user."""
    owner = _identity().owner
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {os.geteuid(), owner}:
        raise ServiceFailed(f"{path} belongs to another user: remove it, or start this as its owner.")
    if status.st_uid != owner:
        os.chown(path, owner, -1)
    path.chmod(0o700)


def run(*command: object, timeout_s: int = 120) -> str:
    """Run a server's tool as an ordinary user; return its output. Raise ``ServiceFailed`` if it fails."""
    identity = _identity()
    # Output goes to a file, never to a pipe: a server that is started inherits it and would hold the pipe open.
    with tempfile.TemporaryFile() as file:
        done = subprocess.run(
            [*identity.prefix, *map(str, command)],
            user=identity.user,
            group=identity.user,
            stdin=subprocess.DEVNULL,
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
