"""Running the embedded servers: as an ordinary user, also when we are root, and below folders that are closed.

PostgreSQL refuses to run as root. Under root its processes run as *nobody* with the capability to read below closed
folders (``setpriv``); where that is not to be had, as *nobody* plainly. No folder that is not ours is ever opened, and
no user is ever made.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

NOBODY = 65534

_CAPABILITIES = "+dac_override,+dac_read_search"


class ServiceFailed(RuntimeError):
    """An embedded server could not be started, stopped or made. The message holds what it said."""


def socket_folder(data: Path) -> Path:
    """Return the folder of the sockets that belong to ``data``.

    A socket's path has at most 107 bytes, which a project's folder may exceed: the folder is short, and named after
    the data it serves.
    """
    name = f"cabochon-{os.geteuid()}-{hashlib.sha256(str(data).encode()).hexdigest()[:10]}"
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / name


def own_folder(path: Path) -> None:
    """Make a folder that only the servers' user can enter."""
    path.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    path.chmod(0o700)


def run(*words: object, timeout_s: int = 120) -> str:
    """Run a server's tool and return what it printed. Raise ``ServiceFailed`` where it fails."""
    # Output goes to a file, never to a pipe: a server that is started inherits it and would hold the pipe open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [*_as_ordinary_user(), *map(str, words)],
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


@cache
def _as_ordinary_user() -> tuple[str, ...]:
    """Return the words before a command that make it run as an ordinary user: none, unless we are root."""
    if os.geteuid() != 0:
        return ()
    ids = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    reading = (f"--inh-caps={_CAPABILITIES}", f"--ambient-caps={_CAPABILITIES}", "--securebits=+no_setuid_fixup")
    setpriv = shutil.which("setpriv")
    for words in ((setpriv, *ids, *reading), (setpriv, *ids)) if setpriv else ():
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    raise ServiceFailed(
        "PostgreSQL does not run as root, and this machine has no setpriv (util-linux) to run it as another user. "
        "Run this as an ordinary user, or set DATABASE_URL to a server of your own."
    )
