"""Refused sign-ins: counted, bounded, and one entry a window without the name that was typed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from axes.models import AccessAttempt
from django.test import Client

from audit.access import refusals
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.models import Officer, SignInRefusal
from audit.tasks import sweep

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECRET = "my password, typed into the wrong field"


@pytest.fixture(autouse=True)
def as_deployed(settings: Any) -> Iterator[time_machine.Coordinates]:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def refused(name: str = SECRET, **extra: str) -> int:
    form = {"username": name, "password": "wrong", "next": "/admin/"}
    return Client().post("/admin/login/", form, **extra).status_code


def entries() -> list[AuditEntry]:
    return list(audit_trail.entries_of(audit_trail.INSTALLATION, NOON.date()))


def test_refused_sign_ins_are_one_entry_without_the_names(as_deployed: time_machine.Coordinates) -> None:
    for number in range(40):
        refused(f"{SECRET} {number}", REMOTE_ADDR=f"198.51.100.{number % 5}")
    assert entries() == []
    as_deployed.shift(timedelta(minutes=10))
    sweep()
    [entry] = entries()
    assert (entry.type, entry.actor) == ("officer.refused", "sign-in")
    assert entry.data == {
        "from": "2026-11-20T12:00:00+00:00",
        "until": "2026-11-20T12:10:00+00:00",
        "refusals": 40,
        "addresses": 5,
    }
    sweep()
    assert len(entries()) == 1
    assert not SignInRefusal.objects.exists()


def test_the_next_sign_in_writes_what_no_sweep_has_written(as_deployed: time_machine.Coordinates) -> None:
    Officer.objects.create_superuser("claire", password="right horse")
    refused()
    as_deployed.shift(timedelta(minutes=10))
    form = {"username": "claire", "password": "right horse", "next": "/admin/"}
    assert Client().post("/admin/login/", form).status_code == 302
    assert [entry.type for entry in entries()][-2:] == ["officer.refused", "officer.signed_in"]


def test_the_table_does_not_grow_with_the_number_of_addresses() -> None:
    for number in range(refusals.MAX_NETWORKS + 50):
        refusals.count_refusal(f"10.0.{number // 256}.{number % 256}", NOON)
    rows = SignInRefusal.objects.all()
    assert rows.count() == refusals.MAX_NETWORKS + 1
    assert rows.get(network="").refusals == 50
    assert sum(row.refusals for row in rows) == refusals.MAX_NETWORKS + 50


def test_the_failures_that_lock_a_name_are_forgotten_with_the_lock_out(
    as_deployed: time_machine.Coordinates, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        refused(f"{SECRET} {number}")
    assert AccessAttempt.objects.count() == 5
    monkeypatch.setattr(refusals, "MAX_ATTEMPTS", 3)
    sweep()
    assert AccessAttempt.objects.count() == 3, "an attacker does not fill the disk"
    as_deployed.shift(timedelta(minutes=16))
    sweep()
    assert not AccessAttempt.objects.exists()


def test_nothing_secret_that_was_typed_is_kept_with_a_failure() -> None:
    form = {"username": "claire", "password": "secret-1", "code": "secret-2", "proof_password": "secret-3"}
    Client().post("/admin/login/", form)
    kept = AccessAttempt.objects.get()
    assert "secret-" not in f"{kept.post_data} {kept.get_data}"
