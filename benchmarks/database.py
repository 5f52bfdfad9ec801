"""A database for one benchmark, on a real PostgreSQL: created, migrated, and dropped at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import psycopg.sql

SERVER = os.environ.get("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def database(**settings: str) -> Iterator[dict[str, str]]:
    """Create a database and a data folder; yield the environment variables that name them.

    They are set in this process too. ``settings`` are further variables to set.
    """
    name = f"cabochon_bench_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"create database {name}")
    try:
        with tempfile.TemporaryDirectory() as data:
            environment = _environment(name, data, settings)
            _prepare()
            yield environment
    finally:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f"drop database {name} with (force)")


@contextmanager
def kept(folder: Path) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield what ``database`` does, and whether it is new: the database and the data in ``folder`` stay afterwards.

    The database is named after the folder. Whoever is done with it drops both.
    """
    name = f"cabochon_kept_{folder.name}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        is_new = server.execute("select from pg_database where datname = %s", (name,)).fetchone() is None
        if is_new:
            server.execute(psycopg.sql.SQL("create database {}").format(psycopg.sql.Identifier(name)))
    folder.mkdir(parents=True, exist_ok=True)
    environment = _environment(name, str(folder), {})
    _prepare()
    yield environment, is_new


def _environment(name: str, data: str, settings: dict[str, str]) -> dict[str, str]:
    """Return the variables of a database and a data folder, set in this process too."""
    environment = {
        **os.environ,
        "DATABASE_URL": urlsplit(SERVER)._replace(path=f"/{name}").geturl(),
        "CABOCHON_DATA": data,
        "CELERY_BROKER_URL": "memory://",
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        **settings,
    }
    os.environ.update(environment)
    return environment


def _prepare() -> None:
    for command in ("migrate -v 0", "logkey --make --quiet", "collectstatic --noinput -v 0"):
        subprocess.run([sys.executable, "manage.py", *command.split()], cwd=ROOT, check=True)
