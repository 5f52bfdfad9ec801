"""The roles of a deployment: the role that serves requests only needs to append and to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.db import connection
from pytest_django import Settings

from audit.transparency import signing_keys
from tests import citus
from tests.audit.tables import Tenant

pytestmark = pytest.mark.superuser


@pytest.fixture
def serving_role(tenant: Tenant) -> Iterator[str]:
    """A role as a deployment creates it, in force. Skips unless the tests run as a superuser."""
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")
        for statement in (
            f"create role serving {'login' if citus.COORDINATOR else 'nologin'}",  # from node to node
            "grant cabochon_web to serving",
            "set role serving",
        ):
            cursor.execute(statement)
        yield "serving"
        cursor.execute("reset role")
        cursor.execute("drop role serving")  # on a cluster nothing is rolled back


def test_the_serving_role_records_and_reads(tenant: Tenant, stream: str, serving_role: str) -> None:
    sent = tenant.session(stream, 4)
    sent[0]["data"]["gaming_day"] = "1994-05-05"  # a month without partitions
    assert tenant.send(stream, sent).status_code == 201
    assert tenant.send(stream, sent).status_code == 200
    assert len(tenant.ask(f"streams/{stream}/events").json()["events"]) == 4
    sent[3]["data"]["stake"] = 1
    assert tenant.send(stream, sent).status_code == 409


OF_THE_CLUSTER = {"audit.W006", "audit.W008"} if citus.COORDINATOR else set()
"""Of the cluster that the tests are given: there their roles sign in, and its pages may have no checksums."""


def warnings() -> str:
    messages = run_checks(tags=["security"], include_deployment_checks=True, databases=["default"])
    return "\n".join(f"({message.id}) {message.msg}" for message in messages if message.id not in OF_THE_CLUSTER)


@pytest.fixture(autouse=True)
def _named_log(settings: Settings) -> None:
    settings.CABOCHON_ORIGIN = "casino.example/log"


def test_the_check_warns_of_a_superuser_and_not_of_the_serving_role(tenant: Tenant, serving_role: str) -> None:
    assert "audit." not in warnings()
    with connection.cursor() as cursor:
        cursor.execute("reset role")
    assert "audit.W001" in warnings()
    assert "audit.W003" not in warnings()


@pytest.mark.parametrize(
    "statement, warning",
    [
        ("alter event trigger log_no_change disable", "audit.W003"),
        ("alter event trigger log_no_drop enable", "audit.W003"),
        ("alter table log.event_202611 disable trigger no_truncate", "audit.E001) log.event_202611 lacks its"),
        ("alter table log.event enable replica trigger no_change", "audit.E001) log.event lacks its trigger"),
        ("drop trigger no_truncate on log.batch_202611", "audit.E001) log.batch_202611 lacks its trigger no_truncate"),
        ("alter table log.leaf disable trigger all", "audit.E001) log.leaf lacks its trigger no_change"),
        ("drop trigger no_change on log.checkpoint", "audit.E001) log.checkpoint lacks its trigger no_change"),
    ],
)
def test_the_check_names_the_guard_that_is_missing(tenant: Tenant, stream: str, statement: str, warning: str) -> None:
    tenant.send(stream, tenant.session(stream, 1))  # of November 2026, whose partitions exist then
    assert warning not in warnings()
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")
        citus.let_a_superuser_attack(cursor)
        for guard in ("log_no_change", "log_no_drop") if "event trigger" not in statement else ():
            cursor.execute(f"alter event trigger {guard} disable")
        cursor.execute(statement)
    assert warning in warnings()


def test_the_check_warns_of_missing_keys_and_of_the_default_name(
    tenant: Tenant, settings: Settings, tmp_path: Path
) -> None:
    settings.CABOCHON_KEYS = tmp_path
    settings.CABOCHON_ORIGIN = "cabochon.localhost/log"
    signing_keys._keyring = signing_keys._Keyring()
    try:
        assert warnings().count("audit.W004") == 2
        assert "audit.W005" in warnings()
    finally:
        signing_keys._keyring = signing_keys._Keyring()
