"""The servers of the tests: a PostgreSQL always, the machine's own PostgreSQL, RabbitMQ and Redis if they run.

Without ``DATABASE_URL`` the process that leads the run starts the embedded PostgreSQL, and stops it at the end: on a
copy of a migrated cluster, which is kept until a migration changes. Every database of the run is copied from one. Tests
about a PostgreSQL, RabbitMQ or Redis of the machine are skipped if it does not answer, unless
``CABOCHON_REQUIRE_SERVICES=1`` forbids it.

Django signs in as an account without power, ``tests/roles.py``. A test marked ``superuser`` attacks or makes roles: its
connection is a superuser's.

Hypothesis draws the same examples in every run, so that a run says something of a change and not of a draw. ``make
search`` draws others: ``CABOCHON_EXAMPLES=drawn``.

With the address of a Citus coordinator in ``CABOCHON_TEST_CITUS``, Django's database is on that cluster: see
``tests/citus.py``.

Every run takes the tests in another order, module by module: its seed is printed, and ``SEED=…`` repeats it.

With a name in ``CABOCHON_TEST_RUN`` a server's template is kept for the next run of that name on it.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import hypothesis
import psutil
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from audit.transparency import signing_keys
from casino.celery import app
from casino.embedded.postgres import DATABASE, EmbeddedPostgres
from tests import citus
from tests.databases import address_of, database_once_a_run, migrate, new_database, prepared_cluster, server_url
from tests.faults.servers import copy_of
from tests.roles import ACCOUNT, make_accounts, signed_in_as
from tests.settings import MIGRATED, RUN

POSTGRES = os.environ.get("CABOCHON_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
RABBITMQ = os.environ.get("CABOCHON_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CABOCHON_TEST_REDIS", "redis://127.0.0.1:6379/15")

ROOT = Path(__file__).parent.parent

DATA = Path(os.environ["CABOCHON_DATA"])
"""The data folder of this run; see ``tests/settings.py``."""

IS_KEPT = not RUN.isdecimal()

EMBEDDED = EmbeddedPostgres(DATA, "-c fsync=off -c full_page_writes=off -c autovacuum=off -c max_wal_size=8GB")
"""This run's server. It need not survive a power cut: no commit waits for the disk. Nothing depends on when a table was
last vacuumed."""


# Before a test module is imported: its own settings take the rest from the profile that is loaded then.
hypothesis.settings.register_profile("repeated", derandomize=True, max_examples=60, deadline=None)
hypothesis.settings.register_profile("drawn", max_examples=400, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("CABOCHON_EXAMPLES", "repeated"))


def pytest_configure(config: pytest.Config) -> None:
    # A worker keeps millions of objects to its end: they are looked through seldom.
    gc.set_threshold(50_000, 20, 50)
    config.pluginmanager.register(_DearestFirst())
    config.addinivalue_line("markers", "superuser: Django's connection is a superuser's in this test")
    if hasattr(config, "workerinput"):  # a worker, which uses its leader's server
        return
    for folder in DATA.parent.glob("test-*"):  # of runs that were killed
        leader = folder.name.removeprefix("test-")
        if leader.isdecimal() and not psutil.pid_exists(int(leader)):
            _remove(folder)
    if "DATABASE_URL" in os.environ:
        if not IS_KEPT:
            config.add_cleanup(partial(_drop_databases, f"starts_with(datname, '{MIGRATED}')"))
        with psycopg.connect(server_url(), autocommit=True) as server:
            make_accounts(server)
    else:
        copy_of(prepared_cluster(), DATA)
        EMBEDDED.start()
        config.add_cleanup(partial(_remove, DATA))
        with psycopg.connect(server_url(), autocommit=True) as server:
            server.execute(f'create database "{MIGRATED}" template "{DATABASE}"')


def _order(config: pytest.Config) -> str:
    seed = config.getoption("randomly_seed", None)
    return f"The order of the tests is that of SEED={seed}." if seed else "The tests are in the order of their files."


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        session.config.get_terminal_writer().line(_order(session.config))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    gc.freeze()  # pytest looks through them twice at its end, and the interpreter once


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(_order(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check that ``make faults``, which reads few modules, has every long form.

    On a cluster every test commits: Citus writes and reads a shard under one role in a transaction.
    """
    for path in {item.path for item in items if item.get_closest_marker("faults")}:
        if not re.search(r"mark\.faults|in_short", path.read_text()):
            raise pytest.UsageError(f"make faults would not find the long forms of {path}: it looks for these words")
    for item in items if citus.COORDINATOR else ():
        marker = item.get_closest_marker("django_db")
        if marker or "db" in getattr(item, "fixturenames", ()):
            given = marker.kwargs if marker else {}
            item.add_marker(pytest.mark.django_db(**{**given, "transaction": True}), append=False)


DEAR = ("test_up.py", "test_matrix.py", "test_conformance.py", "test_upgrade.py", "test_nights.py")
"""Modules that take longest. Whichever a worker begins last, the others wait for."""


class _DearestFirst:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: item.path.name not in DEAR)  # after they were shuffled


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _sign_in(is_superuser=item.get_closest_marker("superuser") is not None)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Make a cluster's database anew after a test that has damaged it; after the last one it is gone.

    Elsewhere a module fails that leaves a casino behind: another one would meet it, in one order of many.
    """
    name = connection.settings_dict["NAME"]
    if nextitem is None:
        return
    citus.after_a_test(name)
    if nextitem.path != item.path and name.startswith("cabochon_") and not citus.COORDINATOR:
        with psycopg.connect(address_of(name), autocommit=True) as superuser:
            left = superuser.execute("select code from audit_casino where not is_sandbox").fetchall()
        assert not left, f"{item.path.relative_to(ROOT)} leaves casinos behind: {left}"


def _sign_in(*, is_superuser: bool) -> None:
    """Choose the account of Django's connection before a test opens it."""
    account = urlsplit(server_url())
    user = unquote(account.username or "") if is_superuser else ACCOUNT
    password = unquote(account.password or "") if is_superuser else ACCOUNT
    if connection.settings_dict["USER"] != user:
        assert not connection.in_atomic_block, "a superuser does not see the rows of module_db"
        connection.close()
        connection.settings_dict["USER"], connection.settings_dict["PASSWORD"] = user, password


@pytest.fixture(autouse=True, scope="session")
def _tables_are_emptied_by_a_superuser(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that commits, bring the tables back to what the migrations left.

    By a superuser: no account of ours may, and Django signs in as one of ours. Rows that a migration wrote, such as
    the deadlines, come back from the template: the test that a worker runs next may be any. To truncate makes the files
    of a table and of its indexes anew, which takes twenty times as long as to delete the few rows of a test.
    """

    kept = {"django_migrations", "django_content_type", "auth_permission"}

    @cache
    def migrated() -> dict[str, bytes]:
        """Return the rows of each table of the template, which are the same throughout a run."""
        tables = sorted(set(connection.introspection.django_table_names(only_existing=True)) - kept)
        at = connection.settings_dict["NAME"] if citus.COORDINATOR else MIGRATED
        with psycopg.connect(address_of(at), autocommit=True) as template:
            return {table: _copied(template, f"copy {table} to stdout") for table in tables}

    def empty(self: TransactionTestCase) -> None:
        assert not connection.in_atomic_block, "a test that commits does not share the rows of module_db"
        with psycopg.connect(address_of(connection.settings_dict["NAME"]), autocommit=True) as superuser:
            if citus.COORDINATOR:  # where a shard's rows have no file here, and its triggers another session
                superuser.execute(f"truncate {', '.join(migrated())} cascade")
            superuser.execute("set session_replication_role = replica")  # rows in any order, and no trigger's own rows
            if not citus.COORDINATOR:
                superuser.execute(_EMPTY.format(tables=", ".join(migrated())))
            for table, rows in migrated().items():
                if rows:
                    with superuser.cursor() as cursor, cursor.copy(f"copy {table} from stdin") as copy:
                        copy.write(rows)
            # The log keeps its streams, although their casinos are gone: nobody replays them any more.
            superuser.execute("delete from audit_leafcursor")
            superuser.execute(
                "insert into audit_leafcursor (id, next_leaf) select 1, coalesce(max(log_index) + 1, 0) from log.leaf"
            )

    if citus.COORDINATOR:
        request.getfixturevalue("django_db_setup")
        with request.getfixturevalue("django_db_blocker").unblock():
            migrated()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


_EMPTY = """
do $$
declare
  relation record;
begin
  lock table {tables} in access exclusive mode;  -- what another connection has begun is waited for
  for relation in
    select oid::regclass as name, pg_relation_size(oid) > 512 * 1024 or exists (
      select from pg_trigger where tgrelid = c.oid and tgenabled = 'A' and tgtype & 8 > 0) as refuses_or_is_large
    from pg_class c where oid = any ('{{{tables}}}'::regclass[]) and pg_relation_size(oid) > 0
  loop
    if relation.refuses_or_is_large then
      execute format('truncate %s cascade', relation.name);
    else
      execute format('delete from %s', relation.name);
    end if;
  end loop;
end $$
"""
"""Empty the tables that have a row, whatever refuses that."""


def _copied(connection: psycopg.Connection[Any], statement: str) -> bytes:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        return b"".join(copy)


@pytest.fixture(scope="session", autouse=True)
def tasks_go_nowhere() -> None:
    """Send tasks to a broker in memory that no worker reads: a test that wants a stream replayed calls for it."""
    app.conf.broker_url = app.conf.broker_write_url = app.conf.broker_read_url = "memory://"
    app.conf.broker_transport_options = {}


def _remove(data: Path) -> None:
    EmbeddedPostgres(data).stop()
    shutil.rmtree(data)


def _drop_databases(condition: str) -> None:
    with psycopg.connect(server_url(), autocommit=True) as server:
        for (name,) in server.execute(f"select datname from pg_database where {condition}").fetchall():
            server.execute(f'drop database "{name}" with (force)')


@pytest.fixture(scope="session")
def migrated_template() -> str:
    """The name of the template, which the first worker that needs it makes."""
    if citus.COORDINATOR:
        pytest.skip("a cluster's database cannot be copied")
    return database_once_a_run(MIGRATED, migrate)


@pytest.fixture(scope="session")
def migrated_cluster() -> Path:
    """The data folder of an embedded PostgreSQL that is stopped, migrated, with the accounts of ``casino.up``.

    Whoever starts a server of their own copies it: to migrate an empty database takes longer than most of their tests.
    """
    return prepared_cluster()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Django's database: a copy of the template, with the log's signing keys, which a deployment makes once."""
    if citus.COORDINATOR:
        new = citus.new_database(ROOT, kept=MIGRATED if IS_KEPT else "")
    else:
        new = new_database(server_url(), template=request.getfixturevalue("migrated_template"))
    before = connection.settings_dict["NAME"]
    for url in new:
        settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = urlsplit(url).path[1:]
        with django_db_blocker.unblock():
            connection.close()  # a test without a database may have opened one: whichever comes first in this order
            call_command("logkey", "--make", stdout=StringIO())
        if citus.COORDINATOR:
            connections.close_all()
            name = connection.settings_dict["NAME"]
            (citus.restore if citus.is_kept(name) else citus.keep)(name)
        yield
        with django_db_blocker.unblock():
            connections.close_all()
        if citus.COORDINATOR and not IS_KEPT:
            citus.forget(connection.settings_dict["NAME"])
    # Mutation testing begins a second session in this process, whose first tests need no database.
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = before


@pytest.fixture(scope=citus.MODULE)
def module_db(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Django's database for fixtures of a module: its tests share the rows, which are rolled back after the last one.

    A fixture with rows that many tests read has the scope ``citus.MODULE`` and asks for this one instead of ``db``.
    Each test still has a transaction of its own, a savepoint in that of the module. PostgreSQL's ``now()`` is the start
    of the module's. A test that commits or is marked ``superuser`` needs a module without this fixture. On a cluster,
    where every test commits, each test has its own rows.
    """
    if citus.COORDINATOR:
        request.getfixturevalue("transactional_db")
        yield
        return
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def own_log(django_db_setup: None) -> None:
    """On a cluster, a log in which nothing is, and which nobody else meets: elsewhere it is rolled back."""
    citus.begin_anew(connection.settings_dict["NAME"])
    citus.leaves_damage()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The address of a new, empty database on the machine's own PostgreSQL. It is dropped after the test."""
    yield from new_database(_answering("PostgreSQL", POSTGRES))


@pytest.fixture
def empty_url() -> Iterator[str]:
    """The address of a new, empty database on the PostgreSQL of this run. It is dropped after the test."""
    yield from new_database(server_url())


@pytest.fixture
def migrated_url(superuser_url: str) -> str:
    """The address of a new, migrated database on the PostgreSQL of this run, for the account of the tests."""
    return signed_in_as(ACCOUNT, superuser_url)


@pytest.fixture
def superuser_url(migrated_template: str) -> Iterator[str]:
    """The address of the database of ``migrated_url`` for a superuser. It is dropped after the test."""
    yield from new_database(server_url(), template=migrated_template)


@pytest.fixture(scope="module")
def django_on_its_own_database(
    django_db_setup: None, migrated_template: str, django_db_blocker: DjangoDbBlocker
) -> Iterator[str]:
    """A new, migrated database for one module, with the log's signing keys: its address for a superuser.

    Django's connections go to it meanwhile. The keys are made as the account of the tests, whatever the account of the
    module's first test is.
    """
    before = {name: connection.settings_dict[name] for name in ("NAME", "USER", "PASSWORD")}
    with contextmanager(new_database)(server_url(), template=migrated_template) as url, django_db_blocker.unblock():
        connection.close()
        connection.settings_dict["NAME"] = urlsplit(url).path[1:]
        try:
            _sign_in(is_superuser=False)
            call_command("logkey", "--make", stdout=StringIO())
            connection.close()
            connection.settings_dict.update({name: before[name] for name in ("USER", "PASSWORD")})
            yield url
        finally:
            connections.close_all()
            connection.settings_dict["NAME"] = before["NAME"]


@pytest.fixture(scope="module")
def own_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """A database for a module that verifies or counts all there is: elsewhere are the rows and the log of other tests.

    A cluster's database cannot be copied: there it is Django's.
    """
    if not citus.COORDINATOR:
        request.getfixturevalue("django_on_its_own_database")
    yield
    signing_keys._keyring.forget()


@pytest.fixture
def rabbitmq_url() -> Iterator[str]:
    """The address of a real RabbitMQ: a virtual host of the test's own, if the test may add one."""
    yield from _virtual_host()


@pytest.fixture(scope="module")
def rabbitmq_of_the_module() -> Iterator[str]:
    """As ``rabbitmq_url``, for tests that each name their own exchange: to add a host and delete it takes seconds."""
    yield from _virtual_host()


def _virtual_host() -> Iterator[str]:
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


def _rabbitmqctl(*arguments: str) -> None:
    subprocess.run(["rabbitmqctl", "--quiet", *arguments], capture_output=True, check=True)


@pytest.fixture
def redis_url() -> str:
    """The address of a real Redis."""
    return _answering("Redis", REDIS)


def _answering(name: str, url: str) -> str:
    """Return ``url`` if something listens there. Otherwise skip the test, or fail it if services are required."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=2).close()
    except OSError as error:
        if os.environ.get("CABOCHON_REQUIRE_SERVICES") == "1":
            pytest.fail(f"{name} does not answer at {address.hostname}:{address.port}: {error}")
        pytest.skip(f"{name} does not answer at {address.hostname}:{address.port}")
    return url
