"""Failed runs at the desk: listed with their reason, counted on the first page, and tried again by an officer."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.adjudication import runs
from audit.adjudication.replay import advance
from audit.desk.record import failed_runs
from audit.event_store import audit_trail
from audit.models import AdjudicationRun, Role
from settlement import ENGINE_VERSION
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db

LIST = reverse("admin:audit_failedrun_changelist")


def failed(tenant: Tenant) -> AdjudicationRun:
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    stream_id = tenant.stream("s").stream_id
    advance(stream_id)
    runs.record_failure(stream_id, ENGINE_VERSION, ZeroDivisionError("a stake <b>by nothing</b>"))
    return AdjudicationRun.objects.get(stream_id=stream_id)


def page(client: Client, address: str, language: str = "en") -> str:
    answer = client.get(address, headers={"accept-language": language})
    assert answer.status_code == 200
    return answer.content.decode()


def address_of(run: AdjudicationRun, what: str) -> str:
    return reverse(f"admin:audit_failedrun_{what}", args=(run.pk,))


def test_a_failed_run_is_counted_listed_and_shown_with_its_reason_and_no_traceback() -> None:
    tenant = Tenant()
    run, client = failed(tenant), client_of(hired(tenant, Role.OFFICER, "anna"))
    assert "<b>1</b> failed run" in page(client, reverse("admin:index"))
    assert "<b>1</b> passage en échec" in page(client, reverse("admin:index"), "fr")
    listed = page(client, LIST)
    assert "ZeroDivisionError: a stake &lt;b&gt;by nothing&lt;/b&gt;" in listed
    shown = page(client, address_of(run, "change"))
    assert "ZeroDivisionError" in shown
    assert "Try again now" in shown
    assert "Traceback" not in shown


def test_a_failed_run_of_another_casino_is_neither_counted_nor_shown() -> None:
    run, client = failed(Tenant()), client_of(hired(Tenant(), Role.SECOND, "anna"))
    assert "</b> failed run" not in page(client, reverse("admin:index"))
    assert "ZeroDivisionError" not in page(client, LIST)
    assert client.get(address_of(run, "change")).status_code == 404
    assert client.post(address_of(run, "try_again")).status_code == 404


def test_an_officer_has_a_failed_run_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    run, client = failed(tenant), client_of(hired(tenant, Role.OFFICER, "anna"))
    sent: list[int] = []
    monkeypatch.setattr(failed_runs, "send_soon", lambda task, *, stream_id: sent.append(stream_id))
    assert client.get(address_of(run, "try_again")).status_code == 405
    assert client.post(address_of(run, "try_again")).status_code == 302
    assert sent == [run.stream_id]
    entries = audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
    assert "run.tried_again" in [entry.type for entry in entries]
    advance(run.stream_id)
    assert "ZeroDivisionError" not in page(client, LIST)
    assert client.get(address_of(run, "change")).status_code == 404


def test_an_auditor_sees_a_failed_run_and_does_not_try_it_again() -> None:
    tenant = Tenant()
    run, client = failed(tenant), client_of(hired(tenant, Role.AUDITOR, "anna"))
    assert "Try again now" not in page(client, address_of(run, "change"))
    assert client.post(address_of(run, "try_again")).status_code == 403
    run.refresh_from_db()
    assert run.next_try_at is not None
    assert run.next_try_at > timezone.now()
