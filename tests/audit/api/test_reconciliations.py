"""Night reports by the API: every format and version, and nothing of another casino."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from audit.models import NightReport
from audit.reconciliation import runs
from tests import citus
from tests.audit.conftest import make_tenant
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def played(module_db: None) -> Tenant:
    """A casino with a night in two currencies, of which one was counted afterwards."""
    tenant = make_tenant()
    euros, dollars = session(tenant.casino, "R1"), session(tenant.casino, "R2", seed=2, currency="CAD")
    record(tenant.casino, euros)
    record(tenant.casino, dollars)
    runs.reconcile(tenant.casino, DAY, actor="test", now=MORNING)
    record(tenant.casino, count(tenant.casino, {euros[0]["stream"]: buy_ins(euros)}))
    runs.reconcile(tenant.casino, DAY, actor="test", now=MORNING)
    return tenant


def address(tenant: Tenant, rest: str = "") -> str:
    return f"reconciliations/{tenant.casino.code}/{DAY}{rest}"


def test_a_night_is_answered_in_its_newest_version(played: Tenant) -> None:
    for rest in ("", ".json"):
        answer = json.loads(played.ask(address(played, rest)).content)
        assert [(each["currency"], each["version"]) for each in answer["reports"]] == [("CAD", 1), ("EUR", 2)]
        assert answer["reports"][1]["total"]["bridge"]["accounting_variance"] == 0
        assert answer["reports"][1]["restatement"]
    answer = json.loads(played.ask(address(played, "?currency=EUR&version=1")).content)
    assert [each["state"] for each in answer["reports"]] == ["counting"]


def test_its_versions(played: Tenant) -> None:
    answer = json.loads(played.ask(address(played, "/versions")).content)["versions"]
    assert [(each["currency"], each["version"], each["state"]) for each in answer] == [
        ("CAD", 1, "counting"),
        ("EUR", 1, "counting"),
        ("EUR", 2, "provisional"),
    ]


@pytest.mark.parametrize(
    "rest, kind, begins",
    [
        (".csv?currency=EUR", "text/csv", b"Session,Table,"),
        (".csv?currency=EUR&table=lines", "text/csv", b"No.,Line,"),
        pytest.param(".pdf?currency=EUR", "application/pdf", b"%PDF-", marks=pytest.mark.faults),
        (".pdf?currency=EUR&language=en&version=1", "application/pdf", b"%PDF-"),
        (".xlsx?currency=CAD", "application/vnd", b"PK"),
    ],
)
def test_files(played: Tenant, rest: str, kind: str, begins: bytes) -> None:
    answer = played.ask(address(played, rest))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.content.startswith(begins)
    assert played.ask(address(played, rest)).content == answer.content


@pytest.mark.parametrize(
    "rest, status",
    [
        (".pdf", 422),  # two currencies
        (".csv?currency=EUR&table=nonsense", 422),
        (".pdf?currency=EUR&language=de", 422),
        ("?version=0", 422),
        ("?version=x", 422),
        ("?nonsense=1", 422),
        ("?currency=CHF", 404),
        ("?version=9", 404),
    ],
)
def test_an_invalid_parameter_is_a_problem(played: Tenant, rest: str, status: int) -> None:
    answer = played.ask(address(played, rest))
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_another_day_another_casino_and_another_key_get_nothing(played: Tenant) -> None:
    assert played.ask(f"reconciliations/{played.casino.code}/{DAY - timedelta(days=1)}").status_code == 404
    assert played.ask(f"reconciliations/{played.casino.code}/yesterday").status_code == 404
    other = make_tenant()
    assert other.ask(address(played)).status_code == 404
    table_key = make_tenant(limited_to=("C1",))
    assert table_key.ask(address(table_key)).status_code == 403
    played.key.scopes = ["streams:read"]
    played.key.save()
    assert played.ask(address(played)).status_code == 403
    assert NightReport.objects.filter(casino=played.casino).count() == 3
