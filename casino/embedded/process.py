"""Running the embedded servers: as an ordinary user, also when we are root, and below folders that are closed.

PostgreSQL refuses to run as root. Under root there are three ways to be somebody else, tried in this order; each is
tried by reading this very file, which may lie below folders that only root can enter:

1. *nobody* with the capability to pass closed folders (``setpriv``);
2. *nobody* of a user namespace of our own (``unshare``), whose files are root's outside;
3. *nobody* plainly, which serves where the folders are open.

No folder that is not ours is ever opened, and no user is ever made.
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

LONGEST_SOCKET_FOLDER = 85
"""Bytes left for a folder where a socket's path may have 103 (macOS; 107 on Linux) and its name takes the rest."""


class ServiceFailed(RuntimeError):
    """An embedded server could not be started, stopped or made. The message holds what it said."""


@dataclass(frozen=True, slots=True)
class _Identity:
    """How a command is run as an ordinary user: words before it, or a user to run it as; and whose its files are."""

    words: tuple[str, ...]
    user: int | None
    owner: int

    def works(self) -> bool:
        """Whether a command run so can read our files."""
        try:
            tried = subprocess.run(
                [*self.words, "cat", __file__],
                user=self.user,
                group=self.user,
                cwd="/",
                capture_output=True,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return tried.returncode == 0


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
    """Return how this machine lets us run a server. Raise ``ServiceFailed`` where it does not."""
    if os.geteuid() != 0:
        return _Identity((), user=None, owner=os.geteuid())
    for identity in _UNDER_ROOT:
        if identity.works():
            return identity
    raise ServiceFailed(
        "PostgreSQL does not run as root, and no other user may read this folder. "
        "Run this as an ordinary user, or set DATABASE_URL to a server of your own."
    )


def socket_folder(data: Path) -> Path:
    """Return the folder of the sockets that belong to ``data``.

    A socket's path is limited to a hundred bytes or so, which a project's folder may exceed: the folder is short, and
    named after the data it serves.
    """
    name = f"cabochon-{os.geteuid()}-{hashlib.sha256(str(data).encode()).hexdigest()[:10]}"
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if parent and len(os.fsencode(folder := Path(parent) / name)) <= LONGEST_SOCKET_FOLDER:
            return folder
    return Path("/tmp") / name


def own_folder(path: Path) -> None:
    """Make a folder that only the servers' user can enter. Raise ``ServiceFailed`` where it is somebody else's."""
    owner = _identity().owner
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.geteuid(), owner}:
        raise ServiceFailed(f"{path} belongs to another user: remove it, or start this as the user who made it.")
    if found.st_uid != owner:
        os.chown(path, owner, -1)
    path.chmod(0o700)


def run(*words: object, timeout_s: int = 120) -> str:
    """Run a server's tool as an ordinary user; return what it printed. Raise ``ServiceFailed`` where it fails."""
    identity = _identity()
    # Output goes to a file, never to a pipe: a server that is started inherits it and would hold the pipe open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [*identity.words, *map(str, words)],
            user=identity.user,
            group=identity.user,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
            timeout=timeout_s,
            check=False,
        )
        output.seek(0)
        said = output.read().decode(errors="replace")
    if done.returncode:
        raise ServiceFailed(f"{Path(str(words[0])).name} failed:\n{said.strip()}")
    return said


def is_listening(path: Path) -> bool:
    """Whether a server listens on a socket, ready or not. A pid file would also name a process that was killed."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(2)
        try:
            line.connect(str(path))
        except OSError:
            return False
    return True
