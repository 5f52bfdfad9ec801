"""The tests on a Citus cluster: ``CABOCHON_TEST_CITUS`` is the address of its coordinator, for a superuser.

Django's database is then a new one on every node, migrated and distributed, and dropped at the end. A cluster's
database cannot be copied, so tests that need a copy of the migrated one are skipped. ``pg_hba.conf`` has to let the
nodes sign in at each other as any role; the roles that the tests take sign in, too, because Citus speaks to a node as
the role in force.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from django.db import NotSupportedError
from django.db.backends.utils import CursorWrapper

from audit.access.database_roles import ROLES
from tests.roles import make_accounts

ROOT = Path(__file__).parent.parent

COORDINATOR = os.environ.get("CABOCHON_TEST_CITUS", "")

ON_A_CLUSTER = pytest.mark.skipif(not COORDINATOR, reason="needs a Citus cluster: CABOCHON_TEST_CITUS")

NEEDS_A_ROLLBACK = pytest.mark.skipif(
    bool(COORDINATOR), reason="leaves the log damaged unless it is rolled back, and tests on a cluster commit"
)

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
        _make(name, addresses)
        manage(root, url, "migrate", "--verbosity", "0")
    if is_distributed:
        manage(root, url, "distribute")
    yield url
    if not kept:
        with ExitStack() as stack:
            for node in reversed(addresses):
                server = stack.enter_context(psycopg.connect(node, autocommit=True))
                server.execute("set citus.enable_create_database_propagation = off")
                server.execute(f"drop database {name} with (force)")


def let_a_superuser_attack(cursor: CursorWrapper) -> None:
    """On a cluster, let a superuser change triggers of shards through the coordinator, in this transaction."""
    if COORDINATOR:
        cursor.execute("set local citus.enable_unsafe_triggers = on")
        cursor.execute("set local citus.multi_shard_modify_mode = 'sequential'")


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
    with psycopg.connect(node, autocommit=True) as server:
        server.execute("set citus.enable_create_database_propagation = off")
        server.execute(f"drop database if exists {name} with (force)")
        server.execute(f"create database {name}")
    with psycopg.connect(database_of(node, name), autocommit=True) as database:
        database.execute("create extension citus")


def _make(name: str, addresses: list[str]) -> None:
    for node in addresses:
        with psycopg.connect(node, autocommit=True) as server:
            make_accounts(server)
            for role in ROLES:
                server.execute(f"alter role {role} login")
        new_empty_database(name, node)
    url = database_of(COORDINATOR, name)
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
