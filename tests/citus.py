"""The tests on a Citus cluster: ``CABOCHON_TEST_CITUS`` is the address of its coordinator, for a superuser.

Django's database is then a new one on every node, migrated and distributed, and dropped at the end. Every test commits;
after one that leaves damage the database is again what it was before the first: a copy of it is kept on every node.
``pg_hba.conf`` has to let the nodes sign in at each other as any role; the roles that the tests take sign in, too,
because Citus speaks to a node as the role in force.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from django.db import NotSupportedError, connection, connections
from django.db.backends.utils import CursorWrapper

from audit.access.database_roles import ROLES
from tests.roles import make_accounts

ROOT = Path(__file__).parent.parent

COORDINATOR = os.environ.get("CABOCHON_TEST_CITUS", "")

MODULE: Literal["function", "module"] = "function" if COORDINATOR else "module"
"""The scope of fixtures with rows that the tests of a module share: see ``module_db`` in ``tests/conftest.py``."""

ON_A_CLUSTER = pytest.mark.skipif(not COORDINATOR, reason="needs a Citus cluster: CABOCHON_TEST_CITUS")

_NODES = (
    "select nodename, nodeport from pg_dist_node where isactive and noderole = 'primary' and groupid > 0 order by 2"
)


def nodes() -> list[str]:
    """Return the addresses of the nodes for a superuser, the coordinator's first."""
    at = urlsplit(COORDINATOR)
    with psycopg.connect(COORDINATOR) as coordinator:
        workers = coordinator.execute(_NODES).fetchall()
    user = f"{at.username}:{at.password}" if at.password else at.username
    return [COORDINATOR, *(at._replace(netloc=f"{user}@{host}:{port}").geturl() for host, port in workers)]


def database_of(node: str, name: str) -> str:
    """Return the address of a database on a node."""
    return urlsplit(node)._replace(path=f"/{name}").geturl()


def new_database(root: Path, *, kept: str = "", is_distributed: bool = True) -> Iterator[str]:
    """Yield the coordinator's address of a new database on every node, migrated; of the one ``kept`` that is there."""
    name = kept or f"cabochon_{uuid4().hex[:12]}"
    addresses = nodes()
    url = database_of(COORDINATOR, name)
    with psycopg.connect(COORDINATOR) as server:
        is_there = bool(server.execute("select 1 from pg_database where datname = %s", (name,)).fetchone())
    if not is_there:
        make(name, addresses)
        manage(root, url, "migrate", "--verbosity", "0")
    if is_distributed:
        manage(root, url, "distribute")
    yield url
    if not kept:
        for node in reversed(addresses):
            _drop(name, node)


def is_kept(name: str) -> bool:
    """Return whether a run before this one has kept a copy of a database."""
    with psycopg.connect(COORDINATOR) as server:
        found = server.execute("select 1 from pg_database where datname = %s", (f"{name}_kept",)).fetchone()
    return found is not None


def keep(name: str, *, label: str = "kept") -> None:
    """Keep a copy of a database on every node."""
    _copy(name, f"{name}_{label}")


def restore(name: str, *, label: str = "kept") -> None:
    """Make a database anew as it was when it was kept."""
    connections.close_all()
    _copy(f"{name}_{label}", name)


def forget(name: str, *, label: str = "kept") -> None:
    """Drop the copy that was kept of a database."""
    for node in reversed(nodes()):
        _drop(f"{name}_{label}", node)


_restored = itertools.count(1)


class _State:
    """What the tests that have run have left in the database: nothing, something, or damage."""

    is_new = False
    is_damaged = False


def leaves_damage() -> None:
    """Say that this test damages a log which is not rolled back, as none is on a cluster."""
    _State.is_damaged = True


def begin_anew(name: str) -> None:
    """On a cluster, have the database as it was before the first test.

    Ids of new rows begin elsewhere: a process remembers things by their ids.
    """
    if not COORDINATOR or _State.is_new:
        return
    restore(name)
    with psycopg.connect(database_of(COORDINATOR, name), autocommit=True) as database:
        database.execute(
            "select setval(format('%%I.%%I', schemaname, sequencename)::regclass, %s) from pg_sequences"
            " where schemaname = 'public'",
            (1_000_000 * next(_restored),),
        )
    _State.is_new, _State.is_damaged = True, False


def after_a_test(name: str) -> None:
    """Begin anew if the test has left damage."""
    _State.is_new = False
    if _State.is_damaged:
        begin_anew(name)


def _copy(source: str, target: str) -> None:
    """Copy a database on each node by itself."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda node: _copy_on(node, source, target), nodes()))


def _copy_on(node: str, source: str, target: str) -> None:
    _drop(target, node)
    with psycopg.connect(node, autocommit=True) as server:
        server.execute("set citus.enable_create_database_propagation = off")
        # Or the cluster's own process, which looks after each database, comes back to it.
        server.execute(f"alter database {source} allow_connections false")
        server.execute("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s", (source,))
        server.execute(f"create database {target} template {source} strategy file_copy")
        for each in (source, target):
            server.execute(f"alter database {each} allow_connections true")
    with psycopg.connect(database_of(node, target), autocommit=True) as database:
        database.execute(  # the one thing in a database of a cluster that names the database
            "update pg_dist_object set objid = (select oid from pg_database where datname = current_database())"
            " where classid = 'pg_database'::regclass"
        )


def _drop(name: str, node: str) -> None:
    with psycopg.connect(node, autocommit=True) as server:
        server.execute("set citus.enable_create_database_propagation = off")
        server.execute(f"drop database if exists {name} with (force)")


def let_a_superuser_attack(cursor: CursorWrapper) -> None:
    """On a cluster, let a superuser change triggers of shards through the coordinator.

    In this transaction; outside of one, as long as the connection is open, and then it leaves damage.
    """
    if COORDINATOR:
        if not connection.in_atomic_block:
            leaves_damage()
        for name, value in (("enable_unsafe_triggers", "on"), ("multi_shard_modify_mode", "sequential")):
            cursor.execute("select set_config(%s, %s, %s)", (f"citus.{name}", value, connection.in_atomic_block))


def table_of(stored_in: str) -> str:
    """Return the name of the table that a row is of, by that of what it is stored in: a shard, on a cluster."""
    return stored_in.rpartition("_")[0] if COORDINATOR else stored_in


@contextmanager
def skipped_where_citus_refuses() -> Iterator[None]:
    """Skip a test that attacks by a statement that Citus does not have, with its words; no other refusal is one."""
    try:
        yield
    except NotSupportedError as refused:
        if not COORDINATOR:
            raise
        pytest.skip(f"Citus refuses the attack itself: {' '.join(str(refused).split())}")


def new_empty_database(name: str, node: str) -> None:
    """Make a database on one node, in the place of the one of that name there, with nothing but the extension."""
    _drop(name, node)
    with psycopg.connect(node, autocommit=True) as server:
        server.execute("set citus.enable_create_database_propagation = off")
        server.execute(f"create database {name}")
    with psycopg.connect(database_of(node, name), autocommit=True) as database:
        database.execute("create extension citus")


def make(name: str, addresses: list[str]) -> None:
    """Make a database on the nodes of a cluster, the coordinator's address first, which then knows its workers."""
    for node in addresses:
        with psycopg.connect(node, autocommit=True) as server:
            make_accounts(server)
            for role in ROLES:
                server.execute(f"alter role {role} login")
        new_empty_database(name, node)
    url = database_of(addresses[0], name)
    at = urlsplit(url)
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("select citus_set_coordinator_host(%s, %s)", (at.hostname, at.port))
        for node in map(urlsplit, addresses[1:]):
            database.execute("select citus_add_node(%s, %s)", (node.hostname, node.port))


def manage(root: Path, url: str, *arguments: str) -> str:
    """Run a command on a database, and return what it prints."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "casino.settings", "DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
