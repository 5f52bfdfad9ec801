"""The list of tables says in words which table, game and night a session is of."""

from __future__ import annotations

import re

import pytest

from audit.models import Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.reconciliation.played import DAY, count, record
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/loggedstream/"


def test_a_row_names_the_table_the_game_and_the_night_and_a_count_is_called_so() -> None:
    tenant = Tenant()
    assert tenant.post("s", [tenant.opener("s", gaming_day=DAY.isoformat())]).status_code == 201
    record(tenant.casino, count(tenant.casino, {}))
    desk = client_of(hired(tenant, Role.OFFICER, "officer"))
    page = desk.get(LIST).content.decode()
    cells = [re.sub("<[^>]+>", "", each) for each in re.findall(r"<t[dh] data-label[^>]*>.*?</t[dh]>", page, re.DOTALL)]
    assert {"T1", "Count", "Craps, France", "Thu 19 Nov"} <= set(cells)
    assert "—" not in "".join(cells)
    assert "First received" in page
    assert "2 sessions and counts" in page
    found = desk.get(LIST, {"q": "t1"}).content.decode()
    assert found.count('<tr role="row">') == 2, "the head and one session"
    assert "1 result" in found
    assert "Show all" in found
    assert "result" not in re.sub("<[^>]+>", "", page), "of what nobody searched for the foot says how many"
    french = desk.get(LIST, headers={"accept-language": "fr"}).content.decode()
    assert "Comptée" in french
    assert "2 séances et comptées" in french
    assert '<input type="submit" value="Rechercher">' in french


def test_the_events_of_a_session_are_under_the_name_of_table_and_night() -> None:
    tenant = Tenant()
    assert tenant.post("s", [tenant.opener("s", gaming_day=DAY.isoformat())]).status_code == 201
    desk = client_of(hired(tenant, Role.OFFICER, "officer"))
    page = desk.get(f"{LIST}{tenant.stream('s').stream_id}/events/").content.decode()
    assert "<h1>Table T1 · Night of Thu 19 Nov</h1>" in page
