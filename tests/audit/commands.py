"""``manage.py`` in a process of its own, forked from one that has loaded the libraries already.

    the tests ─► this module as a program ─► a child for each command: its arguments, environment and standard streams

What a command does is done in the child alone, from Django's settings on, as a user's shell would have it. Only
libraries, which every command loads and none changes, are there before the fork, and that is half of the
time that a command takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]

PRELOADED = (
    *("celery.app.base", "cryptography.x509", "django.contrib.admin.helpers", "django.core.management", "kombu"),
    *("django.core.serializers.json", "django.db.models", "django.views.generic", "environ", "msgspec", "polib"),
    *("prometheus_client", "psycopg_pool", "redis", "requests", "rich.console", "structlog", "typst", "xlsxwriter"),
)
"""What can be loaded without Django's settings, which a command reads from its environment."""


def manage(
    *arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run ``manage.py`` with ``arguments`` and return what it wrote and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stdin").write_bytes(stdin)
        request = {
            "arguments": ["manage.py", *arguments],
            "environment": environment or {**os.environ, "DJANGO_SETTINGS_MODULE": "casino.settings"},
            "folder": folder,
        }
        server = _server()
        print(json.dumps(request), file=_pipe(server.stdin), flush=True)
        status = int(_pipe(server.stdout).readline())
        out, err = ((Path(folder) / name).read_bytes() for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(["manage.py", *arguments], status, out, err)


@cache
def _server() -> subprocess.Popen[str]:
    """Return the process that commands are forked from. It ends when the tests do: at the end of its input."""
    return subprocess.Popen(
        [sys.executable, __file__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def serve() -> None:
    """Answer each request, a line of JSON, with the exit status of its command."""
    sys.path[0] = str(ROOT)
    for name in PRELOADED:
        __import__(name)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(request["folder"], request["environment"])
            _run(request["arguments"])
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(folder: str, environment: dict[str, str]) -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_CREAT
        file = os.open(Path(folder) / name, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)


def _run(arguments: list[str]) -> None:
    """Run ``manage.py`` as a program and end as it would."""
    import runpy

    sys.argv = arguments
    try:
        runpy.run_path("manage.py", run_name="__main__")
        status = 0
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        status = 1 if isinstance(ended.code, str) else int(ended.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # there is one
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
