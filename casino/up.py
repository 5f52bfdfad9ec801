"""``python -m casino.up``: everything on one machine, from nothing.

    PostgreSQL, Valkey ─► migrations ─► an officer ─► web, worker, beat ─► the first night ─► the desk

Started again it keeps its data and is up in seconds. Ctrl-C stops all of it. ``DATABASE_URL`` and ``CELERY_BROKER_URL``
put servers of your own in the place of the embedded ones.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import ServiceFailed
from casino.embedded.valkey import EmbeddedValkey
from casino.supervisor import Child, Service, Supervisor

PROJECT = Path(__file__).resolve().parent.parent
FIRST_PORT = int(os.environ.get("CABOCHON_PORT", "8000"))


def main() -> int:
    data = Path(os.environ.get("CABOCHON_DATA", PROJECT / ".data")).resolve()
    data.mkdir(parents=True, exist_ok=True)
    os.environ["CABOCHON_DATA"] = str(data)
    port = _free_port()
    services: list[Service] = []
    if not os.environ.get("DATABASE_URL"):
        services.append(EmbeddedPostgres(data))
    if not os.environ.get("CELERY_BROKER_URL"):
        services.append(EmbeddedValkey(data))
    supervisor = Supervisor(services=services, children=_children(port), logs=data / "logs", cwd=PROJECT)
    try:
        return supervisor.run(lambda: _welcome(port))
    except ServiceFailed as error:
        print(error, file=sys.stderr)
        return 1


def _children(port: int) -> list[Child]:
    python = sys.executable
    celery = (python, "-m", "celery", "-A", "casino")
    return [
        Child(
            "web",
            (python, "-m", "gunicorn", "casino.wsgi", "--config", str(PROJECT / "casino" / "gunicorn.py")),
            {"CABOCHON_PROCESS": "web", "CABOCHON_BIND": f"127.0.0.1:{port}"},
        ),
        Child("worker", (*celery, "worker", "-Q", "replay", "--concurrency", "2", "--loglevel", "warning")),
        Child("beat", (*celery, "beat", "--loglevel", "warning", "--pidfile", "")),
    ]


def _free_port() -> int:
    for port in range(FIRST_PORT, FIRST_PORT + 50):
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                line.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServiceFailed(f"No port from {FIRST_PORT} to {FIRST_PORT + 49} is free.")


def _welcome(port: int) -> tuple[str, ...]:
    """Return the command that prepares a first night and says where the desk is."""
    return (sys.executable, "manage.py", "welcome", "--url", f"http://localhost:{port}")


if __name__ == "__main__":
    sys.exit(main())
