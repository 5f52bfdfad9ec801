"""The search of the queue, and what “take the next finding” takes: what the list shows first."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from audit.models import Finding, Person, PersonKind, Role
from audit.models.cases import State
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.tables import dice_changed_in_mid_series
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/finding/"


def found(client: Client, term: str) -> set[int]:
    return {each.pk for each in client.get(LIST, {"q": term}).context["cl"].result_list}


def test_a_table_is_found_by_its_code_in_any_case(desk: Desk) -> None:
    client = client_of(desk.first)
    assert found(client, "t1") == found(client, "T1") == {finding.pk for finding in desk.findings}
    assert found(client, "T2") == set()


def test_a_person_is_found_by_name_where_names_are_seen_and_else_by_id(desk: Desk) -> None:
    casino = desk.tenant.casino
    concerned = {finding.pk for finding in desk.findings if finding.player == "Anna"}
    assert concerned
    assert len(concerned) < len(desk.findings)
    Person.objects.create(casino=casino, code="Anna", kind=PersonKind.PLAYER, name="Bruno Keller")
    assert found(client_of(desk.first), "bruno kel") == concerned
    assert found(client_of(desk.auditor), "Bruno Keller") == set()
    assert found(client_of(desk.auditor), "Anna") == concerned
    elsewhere = client_of(hired(Desk().tenant, Role.OFFICER, "elsewhere"))
    assert found(elsewhere, "Bruno Keller") == set()


def test_ids_are_found_as_before(desk: Desk) -> None:
    client = client_of(desk.first)
    assert found(client, "w2") == {finding.pk for finding in desk.findings if finding.wager == "w2"}
    assert found(client, desk.stream.name) == {finding.pk for finding in desk.findings}


@pytest.mark.parametrize(
    "query",
    in_short(
        ["queue=open&rule=dice-changed-during-point-series", "queue=unassigned&o=-7.4", ""],
        further=["queue=open", "q=w2"],
    ),
)
def test_the_next_finding_is_the_first_new_one_that_the_list_shows(desk: Desk, query: str) -> None:
    stream = f"more-{desk.tenant.code}"
    assert desk.tenant.post(stream, dice_changed_in_mid_series(desk.tenant, stream)).status_code == 201
    replayed(desk.tenant.stream(stream).stream_id)
    client = client_of(desk.first)
    page = client.get(f"{LIST}?{query}")
    new = [each for each in page.context["cl"].result_list if each.case and each.case.state == State.NEW]
    assert len(new) > 1
    address = re.search(r'action="([^"]*take-next/[^"]*)"', page.content.decode())
    assert address
    taken = client.post(address[1].replace("&amp;", "&"))
    assert Finding.objects.get(pk=new[0].pk).case.assigned_to == desk.first
    opened = re.search(r"/finding/(\d+)/change/", taken["Location"])
    assert opened
    assert Finding.objects.get(pk=opened[1]).case_id == new[0].case_id
