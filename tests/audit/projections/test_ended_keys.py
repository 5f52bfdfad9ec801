"""Batches that came after their key was revoked or had expired: counted where a request explains it, else a fault."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from audit.access import keys
from audit.ingest.bodies import events_in
from audit.ingest.record import record
from audit.models import ApiKey, Officer
from audit.projections.ended_keys import WITHIN, after_end
from tests.audit.casework.test_actions import client_of
from tests.audit.projections.record import derived
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

STREAM = "late"


def played_after(tenant: Tenant, ago: timedelta) -> None:
    """Have a web server go on with a key that it looked up before the key was revoked, ``ago``."""
    looked_up = ApiKey.objects.select_related("casino").get(pk=tenant.key.pk)
    keys.revoke(keys.COMMAND, [tenant.key.pk])
    if ago:
        ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at=datetime.now(UTC) - ago)
    sent = json.dumps([tenant.opener(STREAM)]).encode()
    record(looked_up, STREAM, events_in(sent, "application/json"))


def late(tenant: Tenant) -> list[str]:
    return [str(each) for each in derived(tenant.casino.pk).faults if "was revoked or had expired" in str(each)]


def test_a_batch_that_came_just_after_the_end_of_its_key_is_counted_and_shown() -> None:
    tenant = Tenant()
    played_after(tenant, timedelta(seconds=0))
    seal()
    assert late(tenant) == []
    assert derived(tenant.casino.pk).figures.late_batches == 1
    [batch] = after_end(tenant.casino.pk, tenant.stream(STREAM).pk)
    assert (batch.stream, batch.first_seq, batch.prefix) == (STREAM, 1, tenant.key.prefix)
    assert timedelta() < batch.after < WITHIN
    chief = Officer.objects.create_superuser("chief")
    address = f"/admin/audit/loggedstream/{tenant.stream(STREAM).pk}/events/"
    page = client_of(chief).get(address, headers={"accept-language": "en"}).content.decode()
    assert f"s after the key {tenant.key.prefix} was revoked or had expired." in page


@pytest.mark.parametrize("is_expired", [False, True])
def test_a_batch_that_came_long_after_the_end_of_its_key_is_named(is_expired: bool) -> None:
    tenant = Tenant()
    if is_expired:
        ApiKey.objects.filter(pk=tenant.key.pk).update(expires_at=datetime.now(UTC) - timedelta(hours=1))
        played_after(tenant, timedelta(seconds=0))
    else:
        played_after(tenant, timedelta(hours=1))
    seal()
    [fault] = late(tenant)
    assert STREAM in fault
    assert tenant.key.prefix in fault
    assert derived(tenant.casino.pk).figures.late_batches == 0


def test_what_a_key_sent_before_its_end_is_not_counted() -> None:
    tenant = Tenant()
    assert tenant.post(STREAM, [tenant.opener(STREAM)]).status_code == 201
    keys.revoke(keys.COMMAND, [tenant.key.pk])
    seal()
    assert late(tenant) == []
    assert derived(tenant.casino.pk).figures.late_batches == 0
