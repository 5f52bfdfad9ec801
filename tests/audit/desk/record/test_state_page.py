"""*Record and proofs*: every table's last event, what waits and what hangs; of the officer's casinos alone."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from audit import heartbeats, monitoring
from audit.adjudication.replay import advance
from audit.adjudication.runs import record_failure
from audit.desk.jobs.job_form import EVERY_CASINO
from audit.desk.record import latest
from audit.models import Heartbeat, Job, JobKind, JobState, Officer, Role, WitnessState
from audit.transparency import signing_keys
from audit.transparency.cosignatures import WitnessKey
from settlement import ENGINE_VERSION
from tests.audit.casework.test_actions import client_of, hired, sign_in
from tests.audit.tables import Tenant, numbered
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Client:
    client = Client()
    sign_in(client, Officer.objects.create_superuser("chief"))
    return client


def page(client: Client, language: str = "en") -> str:
    """Return the text of the page, as it is read."""
    response = client.get(reverse("admin:record_state"), headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_a_table_shows_its_last_event_and_what_waits() -> None:
    tenant, desk = Tenant(), Client()
    sign_in(desk, hired(tenant, Role.AUDITOR, "auditor"))
    tenant.post("s", numbered(tenant.opener("s"), ("player.left", {"player": "Anna"})))
    text = page(desk)
    assert re.search(rf"Casino {tenant.code} T1 \S+.* s 2 session open", text)
    assert re.search(r"Oldest not judged \d+ (second|minute)s? \d+ streams? behind", text)
    assert "Witnesses None is set up." in text
    assert "No witness cosigns: whoever holds the private key of the log could sign another one." in text
    assert re.search(rf"Casino {tenant.code} s 2 ", text.split("Streams behind, longest wait first")[1])


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
    assert re.search(rf"Casino {silent.code} T1 .{{0,60}} s 1 open, silent", text)
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
    assert re.search(r"Oldest not judged \d+ (second|minute)s? 1 stream behind", text)
    keeper = client_of(hired(mine, Role.ADMINISTRATOR, "karl"))
    assert keeper.get(reverse("admin:record_state")).status_code == 403


def test_a_process_without_a_heartbeat_is_marked(desk: Client) -> None:
    heartbeats.write("beat")
    Heartbeat.objects.filter(name="sequencer").delete()
    heartbeats.write("night")
    Heartbeat.objects.filter(name="night").update(beat_at=timezone.now() - timedelta(hours=2))
    response = desk.get(reverse("admin:record_state"))
    marked = {line.label: line.is_marked for line in response.context["processes"]}
    assert marked["scheduler (beat)"] is False
    assert marked["sequencer"] is True
    assert marked["worker processes for nights and jobs"] is True
    Heartbeat.objects.all().delete()


def test_the_page_reads_well_in_french(desk: Client) -> None:
    tenant = Tenant()
    tenant.post("s", [tenant.opener("s")])
    text = page(desk, "fr")
    assert "Registre et preuves" in text
    assert "Dernier événement de chaque table" in text
    assert "séance ouverte" in text
    assert "Témoins Aucun n’est configuré." in text


def test_the_four_facts_say_what_came_what_waits_and_what_was_signed() -> None:
    tenant = Tenant()
    auditor = client_of(hired(tenant, Role.AUDITOR, "otto"))
    seal()
    text = page(auditor)
    assert "Events of this gaming day 0 no table has sent anything yet" in text
    assert "Oldest not judged none every stream is adjudicated to its last event" in text
    assert "Not sealed yet 0 batches every batch is under the signed checkpoint" in text
    assert re.search(r"Last checkpoint [\d,]+ batch(es)? no witness cosigns it", text)
    tenant.post("s", [tenant.opener("s")])
    text = page(auditor)
    assert re.search(r"Oldest not judged \d+ seconds? 1 stream behind", text)
    assert re.search(r"Not sealed yet 1 batch the oldest waiting for \d+ seconds?", text)
    french = page(auditor, "fr")
    newest = "le dernier, de quelque journée que ce soit, est arrivé"
    assert re.search(rf"Événements de cette journée de jeu 0 {newest} il y a \d+ secondes?", french)


def test_events_are_of_today_by_the_gaming_day_of_their_casino(desk: Client) -> None:
    tenant = Tenant()
    auditor = client_of(hired(tenant, Role.AUDITOR, "otto"))
    tenant.post("s", numbered(tenant.opener("s"), ("player.left", {"player": "Anna"})))
    day = tenant.stream("s").gaming_day
    assert monitoring.events_of({tenant.casino.pk: day}) == 2
    assert monitoring.events_of({tenant.casino.pk: day + timedelta(days=1)}) == 0
    assert monitoring.events_of({}) == 0
    assert "Events of this gaming day 0 the newest of any day came" in page(auditor)


@pytest.mark.django_db(transaction=True)  # as a request is, of which something is kept
def test_the_figures_need_no_more_than_a_few_queries(desk: Client) -> None:
    tenant = Tenant()
    tenant.post("s", [tenant.opener("s")])
    seal()  # of an empty record fewer are needed, and whether it is depends on the tests before
    with connection.execute_wrapper(lambda execute, *query: executed.append(query[0]) or execute(*query)):
        executed: list[str] = []
        page(desk)
    # Two of them ask whether what is kept of the page still holds; the consumers take two or three each.
    assert len(executed) <= 66


def test_the_last_verification_says_what_it_found_and_which_is_not_the_officers_is_not_shown() -> None:
    mine, other = Tenant(), Tenant()
    auditor = hired(mine, Role.AUDITOR, "vera")
    whole = {"state": JobState.DONE, "kind": JobKind.VERIFY, "officer": auditor}
    Job.objects.create(casino=mine.casino, result={"events": 41, "faults": []}, **whole)
    Job.objects.create(casino=other.casino, result={"events": 977, "faults": ["batch 3"]}, **whole)
    text = page(client_of(auditor))
    assert "recomputed what is stored: 41 events, no fault." in text
    assert not re.search(r"\b977\b", text)  # as a number of its own: a casino's code is drawn at random
    assert "1 fault" not in text
    Job.objects.create(casino=mine.casino, result={"events": 9, "faults": ["batch 3"], "unlisted": 2}, **whole)
    assert "found something wrong: 3 faults." in page(client_of(auditor))


def test_the_headline_is_of_the_newest_verification_that_ended() -> None:
    mine = Tenant()
    auditor = hired(mine, Role.AUDITOR, "vera")
    verification = {"casino": mine.casino, "kind": JobKind.VERIFY, "officer": auditor}
    Job.objects.create(state=JobState.DONE, result={"events": 9, "faults": ["batch 3"]}, **verification)
    for _ in range(5):
        Job.objects.create(**verification)
    assert "found something wrong: 1 fault." in page(client_of(auditor))
    Job.objects.create(state=JobState.STOPPED, **verification)
    assert "found something wrong: 1 fault." in page(client_of(auditor))
    Job.objects.create(state=JobState.FAILED, error="OperationalError: …", **verification)
    text = page(client_of(auditor))
    assert "failed before it had read everything: it says nothing about what is stored." in text
    assert "found something wrong" not in text
    Job.objects.create(state=JobState.DONE, result={"events": 0, "faults": []}, **verification)
    assert "had nothing to check." in page(client_of(auditor))


def test_a_verification_that_broke_off_says_why_and_leads_to_its_page() -> None:
    mine, other = Tenant(), Tenant()
    auditor = hired(mine, Role.AUDITOR, "vera")
    about = {"kind": JobKind.VERIFY, "officer": auditor}
    Job.objects.create(casino=other.casino, state=JobState.FAILED, error="DiskFull: elsewhere", **about)
    failed = Job.objects.create(casino=mine.casino, state=JobState.FAILED, error="OperationalError: <gone>", **about)
    client = client_of(auditor)
    shown = client.get(reverse("admin:record_state"), headers={"accept-language": "en"}).content.decode()
    link = f'href="{reverse("admin:audit_job_change", args=(failed.pk,))}"'
    assert f"{link}>OperationalError: &lt;gone&gt;</a>" in shown
    assert shown.count(link) == 3, "in the headline, with the cause, and in the list"
    assert "DiskFull" not in shown
    Job.objects.create(casino=mine.casino, state=JobState.DONE, result={"events": 9, "faults": []}, **about)
    assert "OperationalError" not in page(client)


def test_a_verification_that_runs_shows_how_far_it_is_and_one_that_waits_says_so() -> None:
    mine, other = Tenant(), Tenant()
    auditor = hired(mine, Role.AUDITOR, "vera")
    client = client_of(auditor)
    about = {"kind": JobKind.VERIFY, "officer": auditor}
    assert client.get(reverse("admin:record_state")).context["running"] is None
    Job.objects.create(casino=other.casino, state=JobState.RUNNING, done=1, total=7, **about)
    begun = timezone.now() - timedelta(seconds=10)
    job = Job.objects.create(
        casino=mine.casino, state=JobState.RUNNING, done=610, total=1_000, started_at=begun, **about
    )
    Job.objects.create(casino=mine.casino, state=JobState.WAITING, **about)
    answer = client.get(reverse("admin:record_state"), headers={"accept-language": "en"})
    shown = answer.content.decode()
    assert f'data-address="{reverse("admin:audit_job_progress", args=(job.pk,))}" data-state="running"' in shown
    assert '<progress max="1000" value="610"' in shown
    assert re.search(r"610 of 1,000 events · \d+ per second · about \d+ seconds? left", shown)
    assert "Verification <b>61 %</b></a>" in shown
    assert "audit/job.js" in shown
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, result={"events": 1_000, "faults": []})
    assert "Waiting for a worker process." in page(client)


def test_the_tab_of_failed_runs_counts_those_of_the_officers_casinos() -> None:
    mine, other = Tenant(tables=tuple(f"T{number}" for number in range(1, 7))), Tenant()
    for tenant in (mine, other):
        for number, table in enumerate(tenant.tables):
            tenant.post(f"s{number}", [tenant.opener(f"s{number}", table=table)])
            stream_id = tenant.stream(f"s{number}").stream_id
            advance(stream_id)
            record_failure(stream_id, ENGINE_VERSION, RuntimeError("unreadable"))
    desk = client_of(hired(mine, Role.AUDITOR, "otto"))
    text = page(desk)
    assert "Failed runs 6 Quarantine" in text
    assert text.count("Its events are stored. Findings after the failure are missing.") == latest.SHOWN
    assert "6 streams cannot be adjudicated." in text
    assert "6 flux ne peuvent être jugés." in page(desk, "fr")


def test_the_feed_of_each_table_is_drawn_those_that_are_silent_first(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant(tables=("T1", "T2"))
    tenant.post("a", numbered(tenant.opener("a", table="T1"), ("session.closed", {"float": 5_000_000})))
    tenant.post("b", [tenant.opener("b", table="T2")])
    for name in "ab":
        advance(tenant.stream(name).stream_id)
    monkeypatch.setattr(monitoring, "SILENT_S", 0)
    answer = client_of(hired(tenant, Role.AUDITOR, "otto")).get(reverse("admin:record_state"))
    assert [(each.table, each.kind) for each in answer.context["feeds"]] == [("T2", "silent"), ("T1", "shut")]
    assert answer.content.decode().count('class="chart spark') == 2


def test_one_casino_is_verified_by_one_button(desk: Client) -> None:
    tenant = Tenant()
    client = client_of(hired(tenant, Role.AUDITOR, "otto"))
    assert client.get(reverse("admin:record_state")).context["verify_all"] == tenant.code
    assert desk.get(reverse("admin:record_state")).context["verify_all"] == EVERY_CASINO


def test_each_witness_shows_what_it_cosigned_last_and_one_that_refuses_is_at_the_top(
    desk: Client, settings: Settings
) -> None:
    names = ("regulator.example/w1", "auditor.example/w2", "away.example/w3")
    keys = [WitnessKey(name, bytes([number]) * 32) for number, name in enumerate(names)]
    settings.CABOCHON_WITNESSES = [f"{key} https://w.example" for key in keys]
    now = timezone.now()
    ago = now - timedelta(minutes=3)
    WitnessState.objects.create(vkey=str(keys[0]), size=1_234, cosigned_at=ago, tried_at=now)
    text = page(desk)
    assert re.search(
        r"RW regulator.example/w1 1,234 batches · 3 minutes ago cosigns "
        r"AW auditor.example/w2 nothing yet silent AW away.example/w3 nothing yet silent",
        text,
    )
    assert "by the cosignatures of witnesses" in text
    assert "refuses the log" not in text
    WitnessState.objects.create(
        vkey=str(keys[1]), size=9, cosigned_at=ago, tried_at=now, refused_at=now, error="another tree"
    )
    WitnessState.objects.create(vkey=str(keys[2]), tried_at=now, error="it cannot be reached")
    text = page(desk)
    above = text.partition("Events of this gaming day")[0]
    assert "auditor.example/w2 refuses the log: it is not the one it has cosigned." in above
    assert "9 batches · 3 minutes ago; refuses this log: it has cosigned another one refuses" in text
    assert "away.example/w3 nothing yet; gave no cosignature at the last attempt silent" in text
    assert "1 witness of 3 follows" in text
    assert "auditor.example/w2 refuse le journal" in page(desk, "fr")


def test_the_page_says_whether_its_own_account_can_sign_the_log(
    desk: Client, settings: Settings, tmp_path: Path
) -> None:
    if not signing_keys.public_keys("checkpoint"):
        signing_keys.create("checkpoint", reason="test")
    assert "can be read by the account of this web server" in page(desk)
    settings.CABOCHON_KEYS = tmp_path
    settings.CABOCHON_CHECKPOINT_KEYS = ""
    assert "The private key of the log cannot be read by the account of this web server." in page(desk)
