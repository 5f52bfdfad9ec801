"""A log on a Citus cluster by the node nearby: which statements go there, and what happens when a node dies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, connections

from audit.access import sandboxes
from audit.api.fast_path import FastPath
from audit.event_store import binary_copy, read
from audit.models import Finding
from audit.simulation import play
from audit.simulation.nights import irregularities_of
from tests import citus
from tests.audit.api.test_fast_path import post
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.roles import ACCOUNT, signed_in_as

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.django_db(transaction=True)]

ROOT = Path(__file__).parents[3]
NAMED = "nearby-of-the-tests"


def address(node: str) -> str:
    """Return the address of the tests' database on a node, for their account, with a name for its sessions."""
    url = signed_in_as(ACCOUNT, citus.database_of(node, connection.settings_dict["NAME"]))
    return f"{url}?application_name={quote(NAMED)}"


def statements_at(node: str) -> list[str]:
    """Return the last statement of each session of the node nearby."""
    with psycopg.connect(citus.database_of(node, connection.settings_dict["NAME"])) as superuser:
        found = superuser.execute("select query from pg_stat_activity where application_name = %s", (NAMED,))
        return [query for (query,) in found.fetchall()]


@contextmanager
def near(node: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give this process a node nearby."""
    host, _, port = node.rpartition("@")[2].partition("/")[0].partition(":")
    options = {**connection.settings_dict["OPTIONS"], "application_name": NAMED}
    there = {**connection.settings_dict, "HOST": host, "PORT": port, "OPTIONS": options}
    with monkeypatch.context() as patch:
        patch.setitem(settings.DATABASES, binary_copy.NEAR, there)
        connections[binary_copy.NEAR].connect()  # Django's test cases refuse one that is not connected yet
        yield
        connections[binary_copy.NEAR].close()
        del connections[binary_copy.NEAR]


@pytest.mark.parametrize("index", [1, 2])
def test_a_web_server_and_a_replay_worker_near_a_worker_node_record_and_find(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, index: int
) -> None:
    node = citus.nodes()[index]
    name = unique_name()
    events = tenant.session(name, 30)
    application = FastPath(WSGIHandler())
    with near(node, monkeypatch):
        assert post(application, name, events[:2], tenant.secret)[0] == 201
        assert post(application, name, events[2:9], tenant.secret)[0] == 201
        assert any("log.append_named" in statement for statement in statements_at(node))
        assert post(application, name, events[9:], tenant.secret)[0] == 201
        assert post(application, name, events[9:], tenant.secret)[0] == 200
        head = read.head_of(tenant.casino.pk, name)
        assert head is not None
        assert [seq for seq, _envelope in read.whole(head.stream_id)] == list(range(1, 31))
        assert any("log.event" in statement for statement in statements_at(node))
    seal()
    assert read.next_seq_of(head.stream_id) == 31


def test_a_process_replays_by_the_node_nearby(tenant: Tenant) -> None:
    night = play("fr-craps", casino=tenant.code, code="C1", gaming_day=date(2026, 11, 19), seed=3,
                 coups=12, irregularities=sorted(irregularities_of("fr-craps"))[:2])  # fmt: skip
    assert tenant.send(night.stream, night.events).status_code == 201
    head = read.head_of(tenant.casino.pk, night.stream)
    assert head is not None
    coordinator, worker = citus.nodes()[0], citus.nodes()[1]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": address(coordinator).partition("?")[0],
        "CABOCHON_NEAR_URL": address(worker),
    }
    code = (
        "import django; django.setup()\n"
        "from audit.adjudication.replay import advance\n"
        "from audit.event_store import binary_copy\n"
        "assert binary_copy.nearest().alias == 'near'\n"
        f"while (step := advance({head.stream_id})) is not None and step.behind: pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={k: v for k, v in environment.items() if k != "CABOCHON_TEST_CITUS"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Finding.objects.filter(stream_id=head.stream_id).exists()


def test_a_sandbox_on_a_cluster_is_not_emptied_and_it_is_said_why() -> None:
    sandbox = Tenant(is_sandbox=True)
    with pytest.raises(sandboxes.NotEmptied, match="on a cluster"):
        sandboxes.empty(sandbox.casino)
