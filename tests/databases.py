"""The databases of the tests: new ones, and what several workers need and takes long to make.

The first worker that needs it makes it, the others wait.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

from casino.embedded.postgres import EmbeddedPostgres
from tests.roles import make_accounts
from tests.settings import ROOT, SCHEMA

UNUSED_S = 7 * 24 * 3600
"""Seconds after which a prepared cluster of other migrations goes."""


@cache
def server_url() -> str:
    """Return the address of the PostgreSQL of this run, for a superuser."""
    return os.environ.get("DATABASE_URL") or EmbeddedPostgres(Path(os.environ["CABOCHON_DATA"])).url("postgres")


def address_of(database: str, of: str = "") -> str:
    return urlsplit(of or server_url())._replace(path=f"/{database}").geturl()


def new_database(server: str, *, template: str = "template1") -> Iterator[str]:
    """Create a database on a server, yield its address, and drop it."""
    name = f"cabochon_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute(f'create database {name} template "{template}"')
        # A copy has not the rights on the database itself that migrating the template gave and took.
        owner.execute(f"revoke temporary on database {name} from public")
        try:
            yield address_of(name, server)
        finally:
            owner.execute(f"drop database {name} with (force)")


def database_once_a_run(name: str, fill: Callable[[str], object]) -> str:
    """Return the name of a database that ``fill`` was given the address of, in this worker or another.

    It is a template: it is copied, and nobody stays connected to it.
    """
    with psycopg.connect(server_url(), autocommit=True) as owner:
        owner.execute("select pg_advisory_lock(hashtext(%s))", (name,))  # until the connection is closed
        if not owner.execute("select 1 from pg_database where datname = %s", (name,)).fetchone():
            unfinished = f"{name}_unfinished"
            owner.execute(f'drop database if exists "{unfinished}"')
            owner.execute(f'create database "{unfinished}" template template0')
            fill(address_of(unfinished))
            owner.execute(f'alter database "{unfinished}" rename to "{name}"')
    return name


def migrate(url: str) -> None:
    """Migrate a database from nothing, as a superuser."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "casino.settings", "DATABASE_URL": url}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)


def prepared_cluster() -> Path:
    """Return the data folder of an embedded PostgreSQL, stopped and migrated, with all accounts; it is only read.

    The first run makes it, and it is kept until a migration changes: to migrate takes longer than most runs.
    """
    folder = ROOT / ".data" / f"prepared-{SCHEMA}"
    folder.parent.mkdir(exist_ok=True)
    with folder.with_name("prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_name("unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)  # of a run that was killed
            server = EmbeddedPostgres(unfinished, "-c fsync=off -c full_page_writes=off")
            server.start()
            try:
                with psycopg.connect(server.url(), autocommit=True) as superuser:
                    make_accounts(superuser)
                    migrate(server.url())
                    superuser.execute("vacuum freeze")
            finally:
                server.stop()
            unfinished.rename(folder)
        os.utime(folder)
        for other in folder.parent.glob("prepared-*"):
            if other.stat().st_mtime < time.time() - UNUSED_S:
                shutil.rmtree(other, ignore_errors=True)
    return folder


def once_a_run(name: str, make: Callable[[Path], object]) -> Path:
    """Return the path that ``make`` has written a file or a folder to, in this worker or another; it is only read.

    It is in the data folder of the run, which is removed at the end.
    """
    path = Path(os.environ["CABOCHON_DATA"]) / "shared" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_name(f"{name}.unfinished")
            if unfinished.is_dir():  # of a run that was killed
                shutil.rmtree(unfinished)
            make(unfinished)
            unfinished.rename(path)
    return path
