"""What ``make run`` and ``cabochon-up`` start: a whole deployment on one machine, without installed servers.

    PostgreSQL, Valkey ─► casino.prepare ─► web, workers, beat, sequencer ─► welcome: officers, a month

| process | program | purpose |
|---|---|---|
| PostgreSQL, Valkey | ``casino.embedded`` | the database; the broker and cache |
| web | ``casino.web``: uvicorn with ``casino.asgi`` | the API and the desk |
| replay | Celery | replays streams |
| night | Celery | reconciles nights, runs background jobs: what takes long, so that no replay waits for it |
| notify | Celery, threads | sends webhooks: what waits for receivers of others |
| beat | Celery | starts the periodic tasks, such as the sweep for dirty streams |
| sequencer | ``manage.py sequence`` | seals batches in the transparency log |
| welcome | ``manage.py welcome`` | once: the first officers, the desk's URL, a simulated month |

Each process signs in at the database as an account of its own; only ``casino.prepare`` does as the superuser.

Started again, it keeps its data. Ctrl-C stops everything; ``casino.supervisor`` restarts what dies. ``DATABASE_URL``
and ``CELERY_BROKER_URL`` replace the embedded servers by your own.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

from casino.embedded.postgres import EmbeddedPostgres
from casino.embedded.process import ServiceFailed
from casino.embedded.valkey import EmbeddedValkey
from casino.paths import IS_CHECKOUT, PROJECT, data_folder
from casino.supervisor import AlreadyRunning, Child, PreparationFailed, Service, Supervisor

PORTS_TRIED = 50
BACKLOG = 512
CELERY = (sys.executable, "-m", "celery", "-q", "-A", "casino")


def main() -> int:
    argparse.ArgumentParser(
        prog="python -m casino.up", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    data = data_folder()
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["CABOCHON_DATA"] = str(data)
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # casino.prepare checks: no worker loads the desk for it
    services: list[Service] = []
    try:
        started = children(take_port())
        if not os.environ.get("DATABASE_URL"):
            postgres = EmbeddedPostgres(data)
            services.append(postgres)
            for child in started:  # welcome is a command
                child.environment["DATABASE_URL"] = postgres.url(process=child.name)
        if not os.environ.get("CELERY_BROKER_URL"):
            services.append(EmbeddedValkey(data))
        Supervisor(
            services=services,
            preparations=[(sys.executable, "-m", "casino.prepare")],
            children=started,
            data=data,
            cwd=PROJECT if IS_CHECKOUT else data,
        ).run()
    except (ServiceFailed, AlreadyRunning, PreparationFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _worker(queue: str, processes: str) -> tuple[str, ...]:
    """Return the command of the worker of a queue. Its name in Celery is that of the queue."""
    options = ("-Q", queue, "--concurrency", processes, "--hostname", f"{queue}@%h", "--loglevel", "warning")
    return (*CELERY, "worker", *options)


def children(listener: socket.socket) -> list[Child]:
    port = listener.getsockname()[1]
    python = sys.executable
    manage = (python, "-m", "casino.manage")
    stall_s = float(os.environ.get("CABOCHON_STALL_S", "60"))
    tables = os.environ.get("CABOCHON_FIRST_NIGHT_TABLES", "9")
    nights = os.environ.get("CABOCHON_FIRST_NIGHTS", "30")
    return [
        Child(
            "web",
            (python, "-m", "casino.web"),
            {"CABOCHON_PROCESS": "web", "CABOCHON_BIND": f"fd://{listener.fileno()}"},
            stall_s=stall_s,
            listener=listener,
        ),
        Child(
            "replay",
            _worker("replay", os.environ.get("CABOCHON_REPLAY_WORKERS", "2")),
            {"CABOCHON_PROCESS": "worker"},
            stall_s=2 * stall_s,
        ),
        Child(
            "night",
            _worker("night", os.environ.get("CABOCHON_NIGHT_WORKERS", "1")),
            {"CABOCHON_PROCESS": "night"},
            stall_s=stall_s,
        ),
        Child(
            "notify",
            (*_worker("notify", "8"), "--pool", "threads"),
            {"CABOCHON_PROCESS": "worker"},
            stall_s=2 * stall_s,
        ),
        Child("beat", (*CELERY, "beat", "--loglevel", "warning", "--pidfile", ""), stall_s=stall_s),
        Child("sequencer", (*manage, "sequence"), stall_s=stall_s),
        Child(
            "welcome",
            (
                *manage,
                "welcome",
                "--url",
                f"http://localhost:{port}",
                "--tables",
                tables,
                "--nights",
                nights,
            ),
            is_restarted=False,
        ),
    ]


def take_port() -> socket.socket:
    """Return a socket that listens on the first free port from ``CABOCHON_PORT`` on.

    It is taken here, long before the web server starts: of two deployments that start at once, each has a port.
    """
    first = int(os.environ.get("CABOCHON_PORT", "8000"))
    for port in range(first, first + PORTS_TRIED):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            continue
        return listener
    raise ServiceFailed(f"No port from {first} to {first + PORTS_TRIED - 1} is free.")


if __name__ == "__main__":
    sys.exit(main())
