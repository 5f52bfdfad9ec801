"""A session is called by its table and its night; its stream's name is a reference, not a title."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from audit.adjudication import runs as adjudication_runs
from audit.adjudication.replay import advance
from audit.desk.sessions import session_name, table_name
from audit.models import LoggedStream, Quarantined, Role
from audit.presentation import night_of
from audit.reconciliation import runs
from settlement import ENGINE_VERSION
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.event_store.test_audit_trail import entries_today
from tests.audit.reconciliation.played import DAY, MORNING
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db

NAME = "casino:C7:2026-11-19"


def titled(client: Client, address: str) -> list[str]:
    """Return the titles of a page and its breadcrumbs, as they are read."""
    page = client.get(address).content.decode()
    found = re.findall(
        r'<title>.*?</title>|<h1[ >].*?</h1>|<(?:div|nav) class="(?:breadcrumbs|crumb)".*?</(?:div|nav)>',
        page,
        re.DOTALL,
    )
    assert len(found) >= 3, address
    return [unescape(" ".join(re.sub(r"<[^>]+>", " ", each).split())) for each in found]


def test_no_page_of_a_session_has_the_name_of_its_stream_for_a_title() -> None:
    night = NamedNight()
    stream = LoggedStream.objects.get(pk=night.stream_id)
    officer = client_of(hired(night.tenant, Role.OFFICER, "officer"))
    of_stream = f"/admin/audit/loggedstream/{stream.pk}"
    for address in (f"{of_stream}/{page}/" for page in ("events", "table", "coverage")):
        titles = titled(officer, address)
        assert not [each for each in titles if stream.name in each], address
        assert any(night_of(DAY) in each for each in titles), address
        assert stream.name in officer.get(address).content.decode(), f"{address} has it as a reference"


def test_a_failed_run_is_named_by_table_and_night() -> None:
    tenant = Tenant()
    assert tenant.post(NAME, dice_changed_in_mid_series(tenant, NAME)).status_code == 201
    stream = tenant.stream(NAME)
    advance(stream.pk)
    adjudication_runs.record_failure(stream.pk, ENGINE_VERSION, ZeroDivisionError("by nothing"))
    officer = client_of(hired(tenant, Role.OFFICER, "anna"))
    words = f"Table {tenant.table.code} · {night_of(stream.gaming_day)}"
    assert session_name(stream) == words
    listed = officer.get("/admin/audit/failedrun/").content.decode()
    assert f'<span title="{NAME}">{words}</span>' in listed
    [address] = set(re.findall(r'href="(/admin/audit/failedrun/\d+/change/)', listed))
    titles = titled(officer, address)
    assert f"Failed run of {words}" in titles
    assert not [each for each in titles if NAME in each]


def test_a_request_in_quarantine_is_named_by_the_session_that_it_was_for_if_there_is_one() -> None:
    tenant = Tenant()
    assert tenant.post(NAME, dice_changed_in_mid_series(tenant, NAME)).status_code == 201
    for stream in (NAME, "never-opened"):
        tenant.send(stream, b"[x]")
    officer = client_of(hired(tenant, Role.OFFICER, "anna"))
    words = session_name(tenant.stream(NAME))
    for address in ("/admin/audit/quarantined/", "/admin/state/"):
        page = officer.get(address).content.decode()
        assert re.search(rf'title="{NAME}"[^>]*>{re.escape(words)}<', page), address
        assert re.search(r'title="never-opened"[^>]*>never-opened<', page), address
    refused = Quarantined.objects.get(casino=tenant.casino, stream=NAME)
    page = titled(officer, f"/admin/audit/quarantined/{refused.pk}/change/")
    assert f"{words} · {refused.code}" in page
    assert not [each for each in page if NAME in each]
    [viewed] = [each.data for each in entries_today(tenant.casino.pk) if each.type == "quarantine.viewed"]
    assert (viewed["id"], viewed["stream"]) == (refused.pk, NAME)


def test_a_count_is_of_no_table() -> None:
    assert table_name("") == "Count"
    night = NamedNight()
    of_count = LoggedStream.objects.get(casino=night.casino, table=None, is_of_desk=False)
    assert session_name(of_count) == f"Count · {night_of(DAY)}"
    assert titled(
        client_of(hired(night.tenant, Role.OFFICER, "officer")), f"/admin/audit/loggedstream/{of_count.pk}/events/"
    )


def test_a_wheel_is_not_called_a_wheel_twice() -> None:
    tenant = Tenant()
    opener = tenant.opener("s", gaming_day=DAY.isoformat(), wheel="wheel-R1", dice_set="dice_C1")
    assert tenant.post("s", [opener]).status_code == 201
    stream = tenant.stream("s")
    (report,) = runs.reconcile(tenant.casino, DAY, actor="test", now=MORNING)
    desk = client_of(hired(tenant, Role.OFFICER, "officer"))
    for page in (
        *(f"/admin/audit/loggedstream/{stream.pk}/{name}/" for name in ("events", "table", "coverage")),
        f"/admin/audit/nightreport/{report.pk}/session/{stream.pk}/",
    ):
        shown = desk.get(page).content.decode()
        assert "wheel R1" in shown, page
        assert "dice C1" in shown, page
        assert "wheel wheel" not in shown, page
        assert "dice dice" not in shown, page
