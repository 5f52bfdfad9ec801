"""The servers of the tests: a real PostgreSQL always, servers of the machine where they run.

Without ``DATABASE_URL`` the embedded PostgreSQL is started once, by the process that leads the run, and stopped at its
end. Tests about a PostgreSQL, RabbitMQ or Redis of the machine skip where it does not answer, unless
``CABOCHON_REQUIRE_SERVICES=1`` forbids it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import psycopg
import pytest
from django.core.management import call_command
from pytest_django import DjangoDbBlocker

from casino.embedded.postgres import EmbeddedPostgres

POSTGRES = os.environ.get("CABOCHON_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
RABBITMQ = os.environ.get("CABOCHON_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CABOCHON_TEST_REDIS", "redis://127.0.0.1:6379/15")


DATA = Path(os.environ["CABOCHON_DATA"])
"""The folder of this run; see ``tests/settings.py``."""


WITHOUT_FSYNC = "-c fsync=off -c full_page_writes=off"
"""The tests' database needs to survive no power cut: a commit does not wait for the disk."""


def pytest_configure(config: pytest.Config) -> None:
    if not _leads(config):
        return
    for left in DATA.parent.glob("test-*"):  # by a run that was killed
        if not psutil.pid_exists(int(left.name.removeprefix("test-"))):
            _remove(left)
    if not os.environ.get("DATABASE_URL"):
        EmbeddedPostgres(DATA, WITHOUT_FSYNC).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _leads(config):
        _remove(DATA)


def _remove(data: Path) -> None:
    EmbeddedPostgres(data).stop()
    shutil.rmtree(data)


def _leads(config: pytest.Config) -> bool:
    """Whether this process leads the run, rather than being one of its workers."""
    return not hasattr(config, "workerinput")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """The keys of the log, as a deployment makes them once."""
    with django_db_blocker.unblock():
        call_command("logkey", "--make", stdout=StringIO())


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The address of a new database on the machine's own PostgreSQL, dropped when the test is over."""
    yield from _new_database(_answering("PostgreSQL", POSTGRES))


@pytest.fixture
def database_url() -> Iterator[str]:
    """The address of a new database on the PostgreSQL of this run, which is always there."""
    yield from _new_database(os.environ.get("DATABASE_URL") or EmbeddedPostgres(DATA).url("postgres"))


def _new_database(server: str) -> Iterator[str]:
    name = f"cabochon_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def rabbitmq_url() -> Iterator[str]:
    """The address of a real RabbitMQ: of a virtual host of the test's own, where we may make one."""
    server = _answering("RabbitMQ", RABBITMQ)
    user = urlsplit(server).username or "guest"
    host = f"cabochon-{uuid4().hex[:12]}"
    try:
        _rabbitmqctl("add_vhost", host)
        _rabbitmqctl("set_permissions", "-p", host, user, ".*", ".*", ".*")
    except (OSError, subprocess.CalledProcessError):
        yield server
        return
    yield urlsplit(server)._replace(path=f"/{host}").geturl()
    _rabbitmqctl("delete_vhost", host)


def _rabbitmqctl(*words: str) -> None:
    subprocess.run(["rabbitmqctl", "--quiet", *words], capture_output=True, check=True)


@pytest.fixture
def redis_url() -> str:
    """The address of a real Redis."""
    return _answering("Redis", REDIS)


def _answering(name: str, url: str) -> str:
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=2).close()
    except OSError as error:
        if os.environ.get("CABOCHON_REQUIRE_SERVICES") == "1":
            pytest.fail(f"{name} does not answer at {address.hostname}:{address.port}: {error}")
        pytest.skip(f"{name} does not answer at {address.hostname}:{address.port}")
    return url
