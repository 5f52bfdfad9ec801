"""``python -m benchmarks.single``: requests of one event, here against an earlier commit, in alternating rounds.

Two web servers of two workers run at the same time on one PostgreSQL at its durable defaults: one of the commit
``--against``, from a git worktree, one of the code that is here, each with a database of its own. In each round both
are measured with 8 and with 64 clients, one after the other, the other idle, in turns of who is first; so a machine
that slows down slows both, and a ratio is one of the same round.

A client is a connection with a stream and a key of its own, and sends its next event once it has the receipt of the
last; with ``--events`` a request brings so many. All of them are one process: what they take of the cores is the same
for both. Beside requests per second it prints the processor time of a request, in the web server's processes and in
PostgreSQL's that serve it.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks.database import ROOT

CLIENTS = (8, 64)

GOALS = {8: 1.3, 64: 3.0}
"""Least ratio of requests per second by clients, against the version before requests were gathered."""

BEFORE = "e2a9f0c"
"""The last commit that commits every request by itself."""

_TABLE = """
import json, sys
from benchmarks.database import database
with database(CABOCHON_RATE="100000000/min") as environment:
    import django
    django.setup()
    from audit.models import ApiKey, Casino, GamingTable, KeyScope
    casino = Casino.objects.create(code="bench", name="bench")
    GamingTable.objects.create(casino=casino, code="T1")
    scopes = list(KeyScope.values)
    keys = [ApiKey.make(casino=casino, name=f"bench {n}", scopes=scopes)[1] for n in range(int(sys.argv[1]))]
    print(json.dumps({"environment": environment, "keys": keys}), flush=True)
    sys.stdin.read()
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single", description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="duration of each measurement")
    parser.add_argument("--events", type=int, default=1, help="of a request")
    parser.add_argument("--json", metavar="FILE", help="also write every round to FILE")
    options = parser.parse_args()
    with ExitStack() as stack:
        earlier = stack.enter_context(_worktree(options.against))
        servers = {
            "before": stack.enter_context(_server(earlier, options)),
            "here": stack.enter_context(_server(ROOT, options)),
        }
        rounds = []
        for number in range(options.rounds):
            order = list(servers) if number % 2 == 0 else list(reversed(servers))
            rounds.append({clients: {who: servers[who].measure(clients) for who in order} for clients in CLIENTS})
    _print(rounds, options.against)
    if options.json:
        Path(options.json).write_text(json.dumps(rounds, indent=1) + "\n")
    return 0


@contextmanager
def _worktree(commit: str) -> Iterator[Path]:
    """Check out a commit beside the repository, for as long as it is measured."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "earlier"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", path, commit], cwd=ROOT, check=True)
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=ROOT, check=True)


@contextmanager
def _server(code: Path, options: argparse.Namespace) -> Iterator[Server]:
    """Run a web server of the code in a folder, on a database that this code has made."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    holder = subprocess.Popen(
        [sys.executable, "-c", _TABLE, str(max(CLIENTS))],
        cwd=code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder, ExitStack() as stack:
        assert holder.stdout is not None
        created = json.loads(holder.stdout.readline())
        environment = {**created["environment"], "CABOCHON_PROCESS": "web", "CABOCHON_BIND": f"127.0.0.1:{port}"}
        of_gunicorn = ["gunicorn", "casino.wsgi", "--config", "casino/gunicorn.py"]  # until 0.3.0
        program = ["casino.web"] if (code / "casino" / "web.py").exists() else of_gunicorn
        command = [sys.executable, "-m", *program]
        web = stack.enter_context(subprocess.Popen(command, cwd=code, env=environment, stderr=subprocess.DEVNULL))
        stack.callback(web.terminate)
        _until_up(port)
        server = Server(web.pid, port, created["keys"], options, created["environment"]["DATABASE_URL"])
        stack.callback(server.close)
        for clients in CLIENTS:
            server.connect(clients)
            server.measure(clients)  # warm: keys, statements and heads are known
        yield server


class Server:
    """A running web server, and clients that are connected to it."""

    def __init__(self, pid: int, port: int, keys: list[str], options: argparse.Namespace, database_url: str) -> None:
        self.web, self.port, self.keys, self.seconds = psutil.Process(pid), port, keys, options.seconds
        self.events = options.events
        self.database = psycopg.connect(database_url, autocommit=True)
        self.clients: dict[int, subprocess.Popen[str]] = {}

    def connect(self, clients: int) -> None:
        """Start so many clients, which wait."""
        arguments = (str(self.port), "bench", f"single-{clients}", str(clients), str(self.seconds), str(self.events))
        process = subprocess.Popen(
            [sys.executable, "benchmarks/single_clients.py", *arguments],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.clients[clients] = process
        assert self._ask(clients, " ".join(self.keys)) == "ready"

    def measure(self, clients: int) -> dict[str, float]:
        """Return requests a second, latencies in milliseconds and processor time of a request in microseconds."""
        before = self._processor_s()
        took = sorted(json.loads(self._ask(clients, "go")))
        web_s, postgres_s = (after - at for after, at in zip(self._processor_s(), before, strict=True))
        return {
            "requests/s": len(took) / self.seconds,
            "p50": 1_000 * took[len(took) // 2],
            "p99": 1_000 * took[int(len(took) * 0.99)],
            "web": 1_000_000 * web_s / len(took),
            "postgres": 1_000_000 * postgres_s / len(took),
        }

    def close(self) -> None:
        for process in self.clients.values():
            process.communicate()
        self.database.close()

    def _ask(self, clients: int, line: str) -> str:
        process = self.clients[clients]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def _processor_s(self) -> tuple[float, float]:
        """Return the processor seconds of the web server's processes, and of PostgreSQL's that serve it."""
        serving = "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        backends = [psutil.Process(pid) for (pid,) in self.database.execute(serving)]
        return _spent([self.web, *self.web.children()]), _spent(backends)


def _spent(processes: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


def _until_up(port: int) -> None:
    from benchmarks.record import _until_up as until_up

    until_up(port)


def _print(rounds: list[dict[int, dict[str, dict[str, float]]]], against: str) -> None:
    table = Table(title=f"Requests: {against}, and here; the median of {len(rounds)} rounds, least – most")
    for heading in ("clients", "", "requests/s", "p50 ms", "p99 ms", "web µs", "postgres µs", "ratio", "at least"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for clients in CLIENTS:
        ratios = [each[clients]["here"]["requests/s"] / each[clients]["before"]["requests/s"] for each in rounds]
        for who in ("before", "here"):
            cells = [_spread([each[clients][who][name] for each in rounds], digits) for name, digits in _SHOWN.items()]
            ratio = (_spread(ratios, 2), f"{GOALS[clients]:g}") if who == "here" else ("", "")
            table.add_row(str(clients), who, *cells, *ratio)
    Console(width=150).print(table)


_SHOWN = {"requests/s": 0, "p50": 1, "p99": 1, "web": 0, "postgres": 0}


def _spread(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    return f"{statistics.median(values):,.{digits}f} ({low:,.{digits}f} – {high:,.{digits}f})"


if __name__ == "__main__":
    sys.exit(main())
