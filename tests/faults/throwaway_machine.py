"""A machine to throw away: this one's whole file system, of which nothing that is written stays; its own processes.

    /  ──lower──►  overlay, its upper folder in memory  ──pivot_root──►  /  of everything that is started in it

So a document's commands are typed as they stand, by root: what they install, overwrite and start is gone with the
machine. ``is_alone`` gives it a network of its own as well, in which every port is free and nobody else is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from functools import cache

_ENTER = """
set -e
mount -t tmpfs -o size=8g tmpfs "$1"
mkdir "$1"/upper "$1"/work "$1"/machine
mount -t overlay overlay -o lowerdir=/,upperdir="$1"/upper,workdir="$1"/work "$1"/machine
mount -t proc proc "$1"/machine/proc
mount --rbind /dev "$1"/machine/dev
mount --rbind /sys "$1"/machine/sys
cd "$1"/machine
mkdir -p .before
pivot_root . .before
cd /
umount -l /.before
cat > /tmp/typed
{bring}
{network}
"""


@cache
def why_there_is_none() -> str:
    """Return why no such machine can be made here, "" if one can."""
    if os.getuid():
        return "only root can make a machine to throw away"
    if not shutil.which("unshare") or not shutil.which("pivot_root"):
        return "there is no unshare, or no pivot_root"
    tried = run("true", is_alone=True)
    return "" if tried.returncode == 0 else f"no machine can be made here: {tried.stdout.strip()[-200:]}"


def run(script: str, *, bring: str = "", is_alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a script of bash on a new machine; return what became of it. With it everything ends that it started.

    ``bring`` is run before, with the network of this machine.
    """
    network = "exec unshare --net bash -c 'ip link set lo up && exec bash /tmp/typed < /dev/null'"
    network = network if is_alone else "exec bash /tmp/typed < /dev/null"
    fetch = f"bash -c {shlex.quote(bring)} < /dev/null" if bring else ""
    with tempfile.TemporaryDirectory() as folder:
        enter = _ENTER.format(bring=fetch, network=network)
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", enter, "bash", folder],
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
