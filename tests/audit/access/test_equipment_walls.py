"""An intruder on a web server does to casinos, tables and webhooks no more than the officer may, with its entry."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audit.access import casino_settings
from audit.access.casino_settings import settings_of
from audit.event_store import audit_trail, binary_copy
from audit.event_store.append import EntryRefused
from audit.event_store.audit_trail import COMMAND, address_mark
from audit.models import Casino, GamingTable, Officer, Role, Webhook, WebhookSecret
from audit.notifications import webhooks
from tests.audit.access.walls import refused, taken_over
from tests.audit.casework.test_actions import hired
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

URL = "https://hooks.example/cabochon"
OTHERS = [role for role in Role if role is not Role.ADMINISTRATOR]


def next_id(of: str) -> int:
    [(given,)] = binary_copy.execute("select audit_next_id(%b::text)", (of,))
    return int(given)


def new_table(at: Casino, **changed: Any) -> dict[str, Any]:
    """Return what the entry of a table says, with an id that is free."""
    return {"id": next_id("gamingtable"), **settings_of(GamingTable(casino=at, code="T77")), **changed}


def new_casino(**changed: Any) -> tuple[Casino, dict[str, Any]]:
    """Return a casino that is not stored, and what its entry says."""
    row = Casino(pk=next_id("casino"), code=unique_name(), name="New")
    return row, {"id": row.pk, **settings_of(row), **changed}


def hook(**changed: Any) -> dict[str, Any]:
    """Return what the entry of a webhook says, with an id that is free."""
    stated = {"id": next_id("webhook"), "named": "desk", "host": "hooks.example", "address": address_mark(URL)}
    return {**stated, "severities": ["major"], "alerts": 0, **changed}


def unsaid(**changed: Any) -> str:
    return json.dumps({"url": URL, "secret": webhooks.new_secret(), **changed})


def superuser() -> Officer:
    return Officer.objects.create_user(unique_name(), password="long-enough-for-this-1", is_superuser=True)


# Casinos and tables


def test_a_keeper_sets_tables_and_hours_as_a_web_server(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper").get_username()
    table = GamingTable(casino=tenant.casino, code="T77", name="by the window")
    with taken_over():
        casino_settings.store(keeper, "added", table)
        table.name, table.does_not_report = "", True
        casino_settings.store(keeper, "changed", table)
        assert list(GamingTable.objects.filter(code="T77").values_list("name", "does_not_report")) == [("", True)]
        casino = Casino.objects.get(pk=tenant.casino.pk)
        casino.silent_after_min = 5
        casino_settings.store(keeper, "changed", casino)
        assert Casino.objects.get(pk=casino.pk).silent_after_min == 5


def test_a_superuser_adds_a_casino_and_sets_all_of_it_as_a_web_server(tenant: Tenant) -> None:
    chief = superuser().get_username()
    with taken_over():
        casino = Casino(code=unique_name(), name="New", time_zone="Asia/Tokyo")
        casino_settings.store(chief, "added", casino)
        stored = Casino.objects.get(code=casino.code)
        assert settings_of(stored) == settings_of(casino)
        stored.name, stored.time_zone, stored.false_questions = "Other", "Europe/Paris", 2
        casino_settings.store(chief, "changed", stored)
        assert settings_of(Casino.objects.get(pk=stored.pk)) == settings_of(stored)


@pytest.mark.parametrize("role", OTHERS)
def test_nobody_else_sets_tables_or_hours(tenant: Tenant, role: Role) -> None:
    officer = hired(tenant, role, "officer")
    assert refused(officer, "gamingtable.added", tenant.casino, new_table(tenant.casino)) == "not-keeper-here"
    stated = {"id": tenant.casino.pk, **settings_of(tenant.casino), "silent_after_min": 5}
    assert refused(officer, "casino.changed", tenant.casino, stated) == "not-keeper-here"


def test_nobody_but_a_superuser_adds_a_casino_or_sets_what_is_the_installations(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    row, stated = new_casino()
    assert refused(keeper, "casino.added", row, stated) == "not-keeper-here"
    own = {"id": tenant.casino.pk, **settings_of(tenant.casino)}
    for changed in (
        {"name": "x"},
        {"time_zone": "UTC"},
        {"priority_threshold": 7},
        {"unclaimed_days": 7},
        {"false_questions": "9.00"},
    ):
        assert refused(keeper, "casino.changed", tenant.casino, {**own, **changed}) == "not-allowed"


def test_nobody_changes_a_code_or_makes_a_casino_a_sandbox(tenant: Tenant) -> None:
    chief = superuser()
    own = {"id": tenant.casino.pk, **settings_of(tenant.casino)}
    assert refused(chief, "casino.changed", tenant.casino, own) is None
    for changed in ({"code": "x"}, {"is_sandbox": 1}, {"reference_code": "QQQ"}):
        assert refused(chief, "casino.changed", tenant.casino, {**own, **changed}) == "not-allowed"
    table = {"id": tenant.table.pk, **settings_of(tenant.table)}
    assert refused(chief, "gamingtable.changed", tenant.casino, table) is None
    assert refused(chief, "gamingtable.changed", tenant.casino, {**table, "code": "x"}) == "not-a-table"


def test_a_keeper_of_one_casino_sets_nothing_of_another(tenant: Tenant) -> None:
    keeper, other = hired(tenant, Role.ADMINISTRATOR, "keeper"), Tenant()
    assert refused(keeper, "gamingtable.added", other.casino, new_table(other.casino)) == "not-keeper-here"
    foreign = {"id": other.table.pk, **settings_of(other.table)}
    assert refused(keeper, "gamingtable.changed", tenant.casino, foreign) == "not-a-table"
    named = {"id": other.casino.pk, **settings_of(other.casino)}
    assert refused(keeper, "casino.changed", tenant.casino, named) == "not-a-casino"


WRONG_CASINOS = [
    *({"code": ""}, {"code": "a b"}, {"code": "x" * 101}, {"time_zone": ""}, {"time_zone": "x y"}, {"cutoff": "25:00"}),
    *({"priority_threshold": 0}, {"false_questions": "0.00"}, {"false_questions": "13.00"}, {"name": "x" * 201}),
    *({"unclaimed_days": 0}, {"unclaimed_days": 36_501}, {"reference_code": "qqq"}),
    *({"silent_after_min": 1_441}, {"reports_from": "09:00:00"}),
]


@pytest.mark.parametrize("changed", WRONG_CASINOS, ids=str)
def test_an_invalid_casino_is_refused(changed: dict[str, Any]) -> None:
    chief = superuser()
    row, stated = new_casino()
    assert refused(chief, "casino.added", row, stated) is None
    assert refused(chief, "casino.added", row, {**stated, **changed}) == "not-a-casino"


def test_no_row_takes_an_id_or_a_code_of_another_or_one_that_was_not_given_out(tenant: Tenant) -> None:
    chief = superuser()
    stated = new_table(tenant.casino)
    assert refused(chief, "gamingtable.added", tenant.casino, stated) is None
    for changed in ({"id": tenant.table.pk}, {"code": tenant.table.code}, {"code": "a b"}):
        assert refused(chief, "gamingtable.added", tenant.casino, {**stated, **changed}) == "not-a-table"
    for wrong in (2**40, 0, ""):
        assert refused(chief, "gamingtable.added", tenant.casino, {**stated, "id": wrong}) == "not-given-out"
    assert binary_copy.execute("select audit_next_id('officer')", ()) == [(None,)]


def test_a_command_adds_a_casino() -> None:
    casino = Casino(code=unique_name())
    casino_settings.store(COMMAND, "added", casino)
    assert settings_of(Casino.objects.get(pk=casino.pk)) == settings_of(casino)


# Webhooks


def test_a_keeper_keeps_webhooks_as_a_web_server(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper").get_username()
    with taken_over():
        created, _secret = webhooks.create(keeper, casino=tenant.casino, name="desk", url=URL, severities=["info"])
        webhooks.change(keeper, created, name="night", url=URL + "2", severities=["major"], is_active=False)
        webhooks.rotate(keeper, created)
        webhooks.request_test(keeper, created)
        created.refresh_from_db()
        assert (created.name, created.url, created.severities) == ("night", URL + "2", ["major"])
        assert (created.is_active, created.test_requested_at is None) == (False, False)
        assert WebhookSecret.objects.filter(webhook=created, expires_at=None).count() == 1


@pytest.mark.parametrize("role", OTHERS)
def test_nobody_else_keeps_webhooks(tenant: Tenant, role: Role) -> None:
    officer = hired(tenant, role, "officer")
    kept, _secret = webhooks.create(COMMAND, casino=tenant.casino, name="desk", url=URL, severities=["info"])
    for type in ("webhook.created", "webhook.changed"):
        assert refused(officer, type, tenant.casino, hook(id=kept.pk), unsaid()) == "not-keeper-here"
    named = {"id": kept.pk, "until": datetime.now(UTC).isoformat()}
    for type in ("webhook.rotated", "webhook.tested"):
        assert refused(officer, type, tenant.casino, named, unsaid()) == "not-keeper-here"


def test_a_keeper_of_one_casino_keeps_no_webhook_of_another(tenant: Tenant) -> None:
    keeper, other = hired(tenant, Role.ADMINISTRATOR, "keeper"), Tenant()
    foreign, _secret = webhooks.create(COMMAND, casino=other.casino, name="desk", url=URL, severities=["info"])
    assert refused(keeper, "webhook.created", other.casino, hook(), unsaid()) == "not-keeper-here"
    assert refused(keeper, "webhook.changed", tenant.casino, hook(id=foreign.pk), unsaid()) == "not-a-webhook"
    named = {"id": foreign.pk, "until": datetime.now(UTC).isoformat()}
    for type in ("webhook.rotated", "webhook.tested"):
        assert refused(keeper, type, tenant.casino, named, unsaid()) == "not-a-webhook"


def test_an_address_or_a_secret_that_is_not_the_entrys_is_refused(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    stated = hook()
    assert refused(keeper, "webhook.created", tenant.casino, stated, unsaid()) is None
    elsewhere = unsaid(url="https://evil.example/")
    assert refused(keeper, "webhook.created", tenant.casino, stated, elsewhere) == "not-a-webhook"
    assert refused(keeper, "webhook.created", tenant.casino, {**stated, "address": None}, "{}") == "not-a-webhook"
    assert (
        refused(keeper, "webhook.created", tenant.casino, {**stated, "severities": ["x"]}, unsaid()) == "not-a-webhook"
    )
    assert (
        refused(keeper, "webhook.created", tenant.casino, {**stated, "named": "x" * 201}, unsaid()) == "not-a-webhook"
    )
    for secret in ("", "whsec_", None):
        assert refused(keeper, "webhook.created", tenant.casino, stated, unsaid(secret=secret)) == "not-a-secret"
    assert refused(keeper, "webhook.created", tenant.casino, {**stated, "id": 2**40}, unsaid()) == "not-given-out"


def test_a_secret_that_was_replaced_signs_for_a_day_at_most(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    kept, _secret = webhooks.create(COMMAND, casino=tenant.casino, name="desk", url=URL, severities=["info"])
    for hours, code in ((24, None), (25, "not-a-secret")):
        until = (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
        assert refused(keeper, "webhook.rotated", tenant.casino, {"id": kept.pk, "until": until}, unsaid()) == code
    assert refused(keeper, "webhook.rotated", tenant.casino, {"id": kept.pk}, unsaid()) == "not-a-secret"


def test_an_entry_alone_stores_no_webhook(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper").get_username()
    with taken_over(), pytest.raises(EntryRefused):
        audit_trail.perform(keeper, "webhook.created", casino_id=tenant.casino.pk, data=hook())
    assert not Webhook.objects.filter(casino=tenant.casino).exists()
