"""The page that a newcomer reads first: it stands once before the overview, which links to it afterwards."""

from __future__ import annotations

import json
import re
import shlex
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from audit.adjudication.replay import advance
from audit.desk.first_run.page import by_side
from audit.desk.overview.waits import Loss
from audit.management.commands import welcome
from audit.models import Casino, Officer, Role
from audit.simulation import first_run
from audit.simulation.first_run import Plan, plan
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def desk_of(tenant: Tenant, role: Role = Role.AUDITOR) -> Client:
    client = Client(headers={"accept-language": "en"})
    sign_in(client, hired(tenant, role, f"{role}-{tenant.code}"))
    return client


def page_of(client: Client) -> str:
    response = client.get("/admin/first-run/")
    assert response.status_code == 200
    return response.content.decode()


def test_it_stands_once_before_the_overview() -> None:
    client = desk_of(Tenant())
    assert client.get("/admin/").status_code == 200, "nothing simulated is loaded"
    Plan(date(2026, 11, 21), 9, 30).keep()
    assert client.get("/admin/").headers["Location"] == "/admin/first-run/"
    overview = client.get("/admin/")
    assert overview.status_code == 200, "Overview opens the overview"
    assert 'href="/admin/first-run/"' in overview.content.decode()
    assert client.get("/admin/first-run/dismiss/").status_code == 405
    assert client.post("/admin/first-run/dismiss/").headers["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_a_superuser_of_a_record_without_a_casino_is_led_to_the_first_steps_alone() -> None:
    superuser = Client(headers={"accept-language": "en"})
    sign_in(superuser, Officer.objects.create_superuser("root", password="first-horse-9"))
    assert not Casino.objects.exists()
    assert superuser.get("/admin/").headers["Location"] == "/admin/first-run/"
    page = page_of(superuser)
    assert '<h1 id="steps">First steps</h1>' in page
    assert "What to look at" not in page, "there is nothing yet"
    assert superuser.get("/admin/").status_code == 200, "Overview opens the overview"


def test_an_administrator_who_reads_no_record_is_not_led_to_it() -> None:
    Plan(date(2026, 11, 21), 9, 30).keep()
    assert desk_of(Tenant(), Role.ADMINISTRATOR).get("/admin/").status_code == 200


def test_a_plan_survives_a_restart_and_a_broken_one_is_none(data: Path) -> None:
    assert plan() is None
    kept = Plan(date(2026, 11, 21), 9, 30, is_done=True)
    kept.keep()
    assert plan() == kept
    (data / "first-run.json").write_text("{")
    assert plan() is None


def test_progress_is_that_of_the_officers_own_casinos() -> None:
    Plan(date(2026, 11, 21), 9, 30).keep()
    simulated, other = Tenant("deauville"), Tenant("honfleur")
    progress = desk_of(simulated).get("/admin/first-run/progress/").json()
    assert (progress["state"], progress["total"], progress["done"]) == ("running", 30, 0)
    assert progress["text"] == "0 of 30 nights loaded, 0 reconciled."
    elsewhere = desk_of(other)
    assert elsewhere.get("/admin/first-run/progress/").json()["state"] == "none"
    assert "simulated, and sent" not in page_of(elsewhere)


def test_what_is_loaded_no_longer_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant, says = Tenant("deauville"), "the rest loads in the background"
    Plan(date(2026, 11, 21), 9, 30).keep()
    client = desk_of(tenant)
    assert says in page_of(client)
    Plan(date(2026, 11, 21), 9, 30, is_done=True).keep()
    page = page_of(client)
    assert "The month is loaded" not in page, "0 of 30 nights are"
    assert "The simulation has stopped" in page
    assert says not in page
    monkeypatch.setattr(first_run, "progress", lambda plan, scope: first_run.Progress(30, 30, 30))
    page = page_of(client)
    assert "The month is loaded" in page
    assert "The simulation has stopped" not in page


def test_a_real_casino_stops_the_month_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated, own = Tenant("deauville"), Tenant()
    Plan(date(2026, 11, 21), 9, 30).keep()
    client = desk_of(simulated)
    monkeypatch.setattr(first_run, "progress", lambda plan, scope: first_run.Progress(30, 4, 4))
    assert 'data-state="running"' in page_of(client)
    assert own.post("s", dice_changed_in_mid_series(own, "s")).status_code == 201
    for is_done in (False, True):  # the loading has not noticed yet, and has
        Plan(date(2026, 11, 21), 9, 30, is_done=is_done).keep()
        page = page_of(client)
        assert "The simulation has stopped" in page
        assert "A casino of your own sends events" in page
        assert "The month is loaded" not in page
        assert "4 of 30 nights loaded, 4 reconciled." in page
        assert 'data-state="' not in page, "nothing more comes"


def test_what_is_loaded_and_not_yet_reconciled_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant("deauville")
    Plan(date(2026, 11, 21), 9, 30).keep()
    monkeypatch.setattr(first_run, "progress", lambda plan, scope: first_run.Progress(7, 7, 6))
    page = page_of(desk_of(tenant))
    assert "The month is being reconciled" in page
    assert "the rest loads in the background" not in page
    assert "7 of 7 nights loaded, 6 reconciled." in page
    assert 'data-state="reconciling"' in page, "the page asks on"


def test_a_sandbox_does_not_stop_the_month_and_a_casino_of_its_own_does() -> None:
    tried = Tenant(is_sandbox=True)
    assert tried.post("s", dice_changed_in_mid_series(tried, "s")).status_code == 201
    assert not first_run.is_of_others()
    own = Tenant()
    assert own.post("s", dice_changed_in_mid_series(own, "s")).status_code == 201
    assert first_run.is_of_others()


def test_that_the_month_stopped_is_printed_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Tenant()
    assert own.post("s", dice_changed_in_mid_series(own, "s")).status_code == 201
    Plan(date(2026, 11, 21), 9, 30).keep()
    for step in ("_wait_for_web", "_propose_closing", "_sign_nights"):
        monkeypatch.setattr(welcome.Command, step, lambda *_: None)
    monkeypatch.setattr("os.nice", lambda _: None)
    call_command("welcome")
    printed = capsys.readouterr().out
    assert printed.count("nothing simulated is added any more") == 1
    assert "The month is loaded" not in printed


def test_what_is_owed_in_several_currencies_is_one_sentence_for_each_side() -> None:
    lost = [Loss(side, amount, 1, "") for side, amount in (("player", "CA$1"), ("bank", "€2"), ("player", "€8"))]
    assert by_side(lost) == [{"side": "player", "amount": "CA$1 + €8"}, {"side": "bank", "amount": "€2"}]


def test_the_command_that_it_shows_stores_an_event() -> None:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    advance(tenant.stream("s").stream_id)
    page = page_of(desk_of(tenant))
    found = re.search(r'<pre class="code" id="curl"[^>]*>(.*?)</pre>', page, re.S)
    assert found
    words = shlex.split(unescape(found[1]))
    body = json.loads(words[words.index("-d") + 1])
    stream = re.search(r"/streams/([^/]+)/events", words[1])
    assert stream
    assert tenant.post(stream[1], body).status_code == 201


def steps_in(page: str) -> list[tuple[str, str]]:
    """Return the first steps of a page: how each is marked, and its title."""
    section = page.split('aria-labelledby="steps"')[1].split("</section>")[0]
    return re.findall(r'<li class="(\w*)"><span><b>([^<]*)</b>', section)


def test_a_record_in_which_nothing_is_simulated_says_which_steps_are_done() -> None:
    tenant = Tenant()
    page = page_of(desk_of(tenant, Role.SECOND))
    assert steps_in(page) == [
        ("done", "Name the casino"),
        ("done", "Add tables"),
        ("done", "Make a key"),
        ("first", "Send the first event"),
        ("", "Watch it arrive"),
        ("", "Invite a second officer"),
    ]
    assert "/gamingtable/add/" not in page, "who may not add a table has no button"
    stream = f"first-{tenant.code}"
    assert tenant.post(stream, dice_changed_in_mid_series(tenant, stream)).status_code == 201
    while (progress := advance(tenant.stream(stream).pk)) is not None and progress.behind:
        pass
    client = desk_of(tenant, Role.DIRECTOR)
    page = page_of(client)
    assert [mark for mark, _title in steps_in(page)] == ["done"] * 6
    assert stream in page


def test_the_form_of_a_step_leads_back_to_the_steps() -> None:
    tenant = Tenant()
    keeper = desk_of(tenant, Role.ADMINISTRATOR)
    sent = {"casino": tenant.casino.pk, "code": "R7", "name": ""}
    assert keeper.post("/admin/audit/gamingtable/add/?step=1", sent).headers["Location"] == "/admin/first-run/"
    sent["code"] = "R8"
    assert keeper.post("/admin/audit/gamingtable/add/", sent).headers["Location"] == "/admin/audit/gamingtable/"


def test_the_steps_begin_with_an_administrator_because_two_approve_a_role() -> None:
    tenant, says = Tenant(), "Begin with an administrator"
    superuser = Client()
    sign_in(superuser, Officer.objects.create_superuser("root", password="first-horse-9"))
    page = page_of(superuser)
    assert says in page
    assert 'href="/admin/audit/officer/add/?step=1"' in page
    desk_of(tenant, Role.ADMINISTRATOR)
    assert says not in page_of(superuser)


def test_the_first_invitation_offers_an_administrator_and_the_first_table_its_only_casino() -> None:
    tenant = Tenant()
    superuser = Client()
    sign_in(superuser, Officer.objects.create_superuser("root", password="first-horse-9"))

    def role() -> str:
        page = superuser.get("/admin/audit/officer/add/").content.decode()
        return re.findall(r'<option value="(\w+)" selected', page.split('name="role"')[1])[0]

    assert role() == "administrator", "any other would wait for one"
    keeper = desk_of(tenant, Role.ADMINISTRATOR)
    assert role() == "officer"
    form = keeper.get("/admin/audit/gamingtable/add/").content.decode()
    assert f'<option value="{tenant.casino.pk}" selected>' in form


def test_where_something_is_simulated_there_are_no_first_steps() -> None:
    tenant = Tenant()
    Plan(date(2026, 11, 21), 9, 30).keep()
    page = page_of(desk_of(tenant))
    assert ('aria-labelledby="steps"' in page) == ("From the name of the casino" in page)
