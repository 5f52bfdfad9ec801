"""A log on a Citus cluster by the node nearby: which statements go there, and what happens when a node dies."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from audit.event_store import binary_copy, cluster, read
from audit.models import Finding, Membership, Officer, Role
from audit.simulation import play
from audit.simulation.nights import irregularities_of
from tests import citus
from tests.audit.api.test_answered_together import Sender, answers, held
from tests.audit.api.test_recording import post
from tests.audit.api.web import Web
from tests.audit.event_store.test_cluster import shard
from tests.audit.sessions import Event, unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until
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
    application = Web()
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


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_stream_that_somebody_holds_on_a_worker_holds_no_others_whichever_node_is_near(
    committed_tenant: Tenant, monkeypatch: pytest.MonkeyPatch, index: int
) -> None:
    """It is held until the others have their answers; on every worker one is, and one is not."""
    fast = Web()
    senders: dict[int, list[Sender]] = {}
    for _ in range(40):
        sender = Sender(fast, committed_tenant)
        _shard, _host, port = shard("stream_head", committed_tenant.stream(sender.stream).stream_id)
        senders.setdefault(port, []).append(sender)
        if len(senders) == 2 and all(len(each) > 1 for each in senders.values()):
            break
    assert len(senders) == 2
    free = [each[1] for each in senders.values()]
    with near(citus.nodes()[index], monkeypatch):
        for waits, *_ in senders.values():
            kept, *requests = waits.request(), *(each.request() for each in free)
            with held(waits.stream):
                assert answers(fast, kept, *requests) == [None, None, None], "all of them go by themselves"
                receipts = answers(fast, *requests)
                assert [each["stream"] for each in receipts] == [each.stream for each in free]
            assert answers(fast, kept)[0]["stream"] == waits.stream


@pytest.mark.parametrize("given", ["by the variable", "as the database"])
def test_a_process_replays_by_the_node_nearby(tenant: Tenant, given: str) -> None:
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
    if given == "as the database":
        environment |= {"DATABASE_URL": address(worker), "CABOCHON_NEAR_URL": ""}
    code = (
        "import django; django.setup()\n"
        "from audit.adjudication.replay import advance\n"
        "from audit.event_store import binary_copy\n"
        "near = binary_copy.nearest(); near.ensure_connection()\n"
        f"assert near.connection.info.port == {urlsplit(worker).port}\n"
        "from django.db import connection; connection.ensure_connection()\n"
        f"assert connection.connection.info.port == {urlsplit(coordinator).port}\n"
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


@contextmanager
def web_server_given(url: str, data: Path) -> Iterator[str]:
    """Run a web server whose ``DATABASE_URL`` is ``url``; yield its own address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    data.mkdir()
    environment = {
        **ENVIRONMENT,
        "CABOCHON_DATA": str(data),
        "CABOCHON_KEYS": str(settings.CABOCHON_KEYS),
        "CABOCHON_PROCESS": "web",
        "CABOCHON_SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": url,
        "CELERY_BROKER_URL": "memory://",
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
    }
    with nothing_left_on(data):
        command = [sys.executable, "-m", "casino.web"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as server:
            try:
                until(lambda: is_ready(f"http://localhost:{port}"), "the web server")
                yield f"http://localhost:{port}"
            finally:
                server.terminate()


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_web_server_given_any_node_records_and_shows_the_desk(tenant: Tenant, tmp_path: Path, index: int) -> None:
    node = citus.nodes()[index]
    name = unique_name()
    events = tenant.session(name, 30)
    officer = Officer.objects.create_user("claire", password="right horse", is_staff=True)
    Membership.objects.create(officer=officer, casino=tenant.casino, role=Role.OFFICER)
    signed_in = Client()
    signed_in.force_login(officer, backend="django.contrib.auth.backends.ModelBackend")
    cookie = {"Cookie": f"sessionid={signed_in.cookies['sessionid'].value}"}
    with web_server_given(address(node), tmp_path / "data") as url:
        parts = [events[:2], events[2:9], events[9:27], events[9:27], *([each] for each in events[27:])]
        recorded = [answer_of(f"{url}/api/v1/streams/{name}/events", tenant.headers(), body=part)[0] for part in parts]
        assert recorded == [201, 201, 201, 200, 201, 201, 201]
        assert any("log.append_named" in statement for statement in statements_at(node))
        status, standing = answer_of(f"{url}/api/v1/streams/{name}", tenant.headers())
        assert (status, json.loads(standing)["next_seq"]) == (200, 31)
        status, page = answer_of(url + reverse("admin:index"), cookie)
        assert status == 200
        assert "claire" in page
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    assert [seq for seq, _envelope in read.whole(head.stream_id)] == list(range(1, 31))


def answer_of(url: str, headers: dict[str, str], *, body: list[Event] | None = None) -> tuple[int, str]:
    """Return the status and the text with which a web server answers."""
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=sent, headers={**headers, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.read().decode()


def test_the_node_nearby_is_to_be_of_the_same_cluster(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    node = citus.nodes()[1]
    named = "update pg_dist_node set nodename = %s where groupid = (select max(groupid) from pg_dist_node)"
    with near(node, monkeypatch):
        assert cluster.is_near_of_the_same()
        with psycopg.connect(citus.database_of(node, connection.settings_dict["NAME"]), autocommit=True) as there:
            there.execute(named, ("localhost",))
            try:
                assert not cluster.is_near_of_the_same()
            finally:
                there.execute(named, ("127.0.0.1",))


@pytest.mark.parametrize("command", ["migrate", "distribute", "check --deploy --database default"])
def test_a_command_given_a_worker_does_what_it_does_at_the_coordinator(db: None, command: str) -> None:
    worker = citus.database_of(citus.nodes()[1], connection.settings_dict["NAME"])
    printed = citus.manage(citus.ROOT, worker, *command.split())
    assert "audit.E010" not in printed
    with psycopg.connect(worker) as there:
        assert there.execute("select to_regclass('public.audit_casino')").fetchone() == (None,)


def test_a_coordinator_that_its_nodes_call_by_a_dead_address_is_named(db: None) -> None:
    """Of one worker only: what it says of the coordinator is changed there, and put back."""
    worker = citus.database_of(citus.nodes()[1], connection.settings_dict["NAME"])
    at = urlsplit(citus.COORDINATOR)
    with psycopg.connect(worker, autocommit=True) as there:
        try:
            there.execute("update pg_dist_node set nodeport = 1 where groupid = 0")
            with pytest.raises(AssertionError, match=rf"coordinator {at.hostname}:1 cannot be connected to"):
                citus.manage(citus.ROOT, worker, "check", "--deploy", "--database", "default")
        finally:
            there.execute("update pg_dist_node set nodeport = %s where groupid = 0", (at.port,))
    citus.manage(citus.ROOT, worker, "check", "--deploy", "--database", "default")
