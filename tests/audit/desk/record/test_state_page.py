"""*State of the record*: every table's last event, what waits and what hangs; of the officer's casinos alone."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit import heartbeats, monitoring
from audit.adjudication.replay import advance
from audit.desk.jobs.job_form import EVERY_CASINO
from audit.models import Heartbeat, Job, JobKind, JobState, Officer, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(Officer.objects.create_superuser("chief"))
    return client


def page(client: Client, language: str = "en") -> str:
    """Return the text of the page, as it is read."""
    response = client.get(reverse("admin:record_state"), headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_a_table_shows_its_last_event_and_what_waits() -> None:
    tenant, desk = Tenant(), Client()
    desk.force_login(hired(tenant, Role.AUDITOR, "auditor"))
    tenant.post("s", numbered(tenant.opener("s"), ("player.left", {"player": "Anna"})))
    text = page(desk)
    assert re.search(rf"Casino {tenant.code} T1 \S+.* s 2 session open", text)
    assert re.search(r"Streams behind \d+ the oldest for \d+ (second|minute)", text)
    assert "Last witness — not set up" in text
    assert re.search(rf"Casino {tenant.code} s 2 ", text.split("Streams behind, the longest waiting first")[1])


def test_a_closed_session_is_not_marked_and_an_open_one_without_an_event_for_an_hour_is(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "SILENT_S", 0)
    silent, closed = Tenant(), Tenant()
    silent.post("s", [silent.opener("s")])
    closed.post("s", numbered(closed.opener("s"), ("session.closed", {"float": 5_000_000})))
    for tenant in (silent, closed):
        advance(tenant.stream("s").stream_id)
    text = page(desk)
    assert re.search(rf"Casino {silent.code} T1 .{{0,60}} s 1 open, silent for more than an hour", text)
    assert re.search(rf"Casino {closed.code} T1 .{{0,60}} s 2 session closed", text)
    monkeypatch.undo()
    assert re.search(rf"Casino {silent.code} T1 .{{0,60}} s 1 session open", page(desk))


def test_an_officer_sees_the_tables_of_their_own_casinos_alone() -> None:
    mine, other = Tenant(), Tenant()
    for tenant in (mine, other):
        tenant.post(f"stream-of-{tenant.code}", [tenant.opener(f"stream-of-{tenant.code}")])
    text = page(client_of(hired(mine, Role.OFFICER, "anna")))
    assert f"stream-of-{mine.code}" in text
    assert other.code not in text
    assert re.search(r"Streams behind 1 the oldest", text)
    keeper = client_of(hired(mine, Role.ADMINISTRATOR, "karl"))
    assert keeper.get(reverse("admin:record_state")).status_code == 403


def test_a_process_without_a_heartbeat_is_marked(desk: Client) -> None:
    heartbeats.write("beat")
    Heartbeat.objects.filter(name="sequencer").delete()
    heartbeats.write("night")
    Heartbeat.objects.filter(name="night").update(beat_at=timezone.now() - timedelta(hours=2))
    response = desk.get(reverse("admin:record_state"))
    marked = {line.label: line.is_marked for line in response.context["processes"]}
    assert marked["schedule (beat)"] is False
    assert marked["sequencer"] is True
    assert marked["workers for nights and jobs"] is True
    Heartbeat.objects.all().delete()


def test_the_page_reads_well_in_french(desk: Client) -> None:
    tenant = Tenant()
    tenant.post("s", [tenant.opener("s")])
    text = page(desk, "fr")
    assert "Registre et preuves" in text
    assert "Dernier événement de chaque table" in text
    assert "séance ouverte" in text
    assert "Dernier témoin — non configuré" in text


def test_the_figures_need_no_more_than_a_few_queries(desk: Client) -> None:
    with connection.execute_wrapper(lambda execute, *query: executed.append(query[0]) or execute(*query)):
        executed: list[str] = []
        page(desk)
    assert len(executed) <= 36


def test_the_last_verification_says_what_it_found_and_which_is_not_the_officers_is_not_shown() -> None:
    mine, other = Tenant(), Tenant()
    auditor = hired(mine, Role.AUDITOR, "vera")
    whole = {"state": JobState.DONE, "kind": JobKind.VERIFY, "officer": auditor}
    Job.objects.create(casino=mine.casino, result={"events": 41, "faults": []}, **whole)
    Job.objects.create(casino=other.casino, result={"events": 977, "faults": ["batch 3"]}, **whole)
    text = page(client_of(auditor))
    assert "recomputed what is stored: 41 events, no fault." in text
    assert "977" not in text
    assert "1 fault" not in text
    Job.objects.create(casino=mine.casino, result={"events": 9, "faults": ["batch 3"], "unlisted": 2}, **whole)
    assert "did not end well: 3 faults." in page(client_of(auditor))


def test_one_casino_is_verified_by_one_button(desk: Client) -> None:
    tenant = Tenant()
    client = client_of(hired(tenant, Role.AUDITOR, "otto"))
    assert client.get(reverse("admin:record_state")).context["verify_all"] == tenant.code
    assert desk.get(reverse("admin:record_state")).context["verify_all"] == EVERY_CASINO
