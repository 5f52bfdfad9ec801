"""``python -m casino.up``: a whole deployment on one machine, without installed servers.

    PostgreSQL, Valkey ─► migrations, keys ─► web, worker, beat, sequencer ─► an officer, the first night ─► the desk

Started again, it keeps its data. Ctrl-C stops everything. ``DATABASE_URL`` and ``CELERY_BROKER_URL``
replace the embedded servers by your own.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import ServiceFailed
from casino.embedded.valkey import EmbeddedValkey
from casino.supervisor import AlreadyRunning, Child, PreparationFailed, Service, Supervisor

PROJECT = Path(__file__).resolve().parent.parent
PORTS_TRIED = 50


def main() -> int:
    data = Path(os.environ.get("CABOCHON_DATA") or PROJECT / ".data").resolve()
    data.mkdir(parents=True, exist_ok=True)
    os.environ["CABOCHON_DATA"] = str(data)
    services: list[Service] = []
    if not os.environ.get("DATABASE_URL"):
        services.append(EmbeddedPostgres(data))
    if not os.environ.get("CELERY_BROKER_URL"):
        services.append(EmbeddedValkey(data))
    python = sys.executable
    try:
        Supervisor(
            services=services,
            preparations=[
                (python, "manage.py", "migrate", "--verbosity", "0"),
                (python, "manage.py", "logkey", "--make", "--quiet"),
                (python, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"),
            ],
            children=_children(_free_port()),
            data=data,
            cwd=PROJECT,
        ).run()
    except (ServiceFailed, AlreadyRunning, PreparationFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _children(port: int) -> list[Child]:
    python = sys.executable
    celery = (python, "-m", "celery", "-A", "casino")
    tables = os.environ.get("CABOCHON_FIRST_NIGHT_TABLES", "12")
    return [
        Child(
            "web",
            (python, "-m", "gunicorn", "casino.wsgi", "--config", "casino/gunicorn.py"),
            {"CABOCHON_PROCESS": "web", "CABOCHON_BIND": f"127.0.0.1:{port}"},
        ),
        Child("worker", (*celery, "worker", "-Q", "replay,night", "--concurrency", "2", "--loglevel", "warning")),
        Child("beat", (*celery, "beat", "--loglevel", "warning", "--pidfile", "")),
        Child("sequencer", (python, "manage.py", "sequence")),
        Child(
            "welcome",
            (python, "manage.py", "welcome", "--url", f"http://localhost:{port}", "--tables", tables),
            is_restarted=False,
        ),
    ]


def _free_port() -> int:
    first = int(os.environ.get("CABOCHON_PORT", "8000"))
    for port in range(first, first + PORTS_TRIED):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServiceFailed(f"No port from {first} to {first + PORTS_TRIED - 1} is free.")


if __name__ == "__main__":
    sys.exit(main())
