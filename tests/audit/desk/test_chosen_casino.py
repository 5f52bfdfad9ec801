"""The switch between casinos: it narrows lists and counts, opens every page of theirs, and widens nothing."""

from __future__ import annotations

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Membership, Role
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

FINDINGS = "/admin/audit/finding/"
CHOOSE = "/admin/casino/"


@pytest.fixture(scope=citus.MODULE)
def shared_other(module_db: None) -> Desk:
    other = Desk()
    other.tenant.client = Client()  # one that has answered nothing can be copied
    return other


@pytest.fixture
def desks(desk: Desk, shared_other: Desk) -> tuple[Desk, Desk]:
    return desk, deepcopy(shared_other)


@pytest.fixture
def client(desks: tuple[Desk, Desk]) -> Client:
    """An officer of both casinos."""
    here, there = desks
    officer = hired(here.tenant, Role.OFFICER, "both")
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.SECOND)
    return client_of(officer)


def listed(client: Client) -> set[int]:
    return {finding.casino_id for finding in client.get(FINDINGS).context["cl"].result_list}


def waiting(client: Client) -> int:
    return int(client.get("/admin/").context["navigation"].waits)


def test_lists_and_counts_are_of_the_chosen_casino_and_pages_open_by_right(
    desks: tuple[Desk, Desk], client: Client
) -> None:
    here, there = desks
    assert listed(client) == {here.tenant.casino.pk, there.tenant.casino.pk}
    of_both = waiting(client)
    answer = client.post(CHOOSE, {"casino": here.tenant.casino.pk, "next": FINDINGS})
    assert answer.headers["Location"] == FINDINGS
    assert listed(client) == {here.tenant.casino.pk}
    assert 0 < waiting(client) < of_both
    shown = client.get("/admin/")
    assert f'value="{here.tenant.casino.pk}" selected' in shown.content.decode()
    assert there.tenant.code not in shown.context["overview"]["losses"].__repr__()
    foreign = reverse("admin:audit_finding_change", args=(there.findings[0].pk,))
    assert client.get(foreign).status_code == 200
    client.post(CHOOSE, {"casino": ""})
    assert listed(client) == {here.tenant.casino.pk, there.tenant.casino.pk}


def test_the_search_and_the_proposals_are_of_the_chosen_casino(desks: tuple[Desk, Desk], client: Client) -> None:
    here, there = desks
    there.proposed_by(there.second)
    approve = reverse("admin:approve")
    address = reverse("admin:approve_closing", args=(there.findings[0].pk,))
    assert address in client.get(approve).content.decode()
    client.post(CHOOSE, {"casino": here.tenant.casino.pk})
    assert address not in client.get(approve).content.decode()
    assert client.get(address).status_code == 200
    table = there.findings[0].table
    assert table is not None
    found = client.get("/admin/search/", {"q": table.code}).content.decode()
    assert f"table={table.pk}" not in found


def test_a_finding_names_its_casino_where_a_list_is_of_several(desks: tuple[Desk, Desk]) -> None:
    here, there = desks
    officer = hired(here.tenant, Role.SECOND, "second-of-both")
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.SECOND)
    client = client_of(officer)
    for desk in desks:
        desk.proposed_by(desk.first)

    def named(desk: Desk) -> list[bool]:
        casino, code = str(desk.tenant.casino), desk.tenant.table.code
        queue = client.get(FINDINGS).content.decode()
        proposals = client.get(reverse("admin:approve")).content.decode()
        found = client.get("/admin/search/", {"q": code, "part": "1"}).content.decode()
        found = found.partition("<h3>Findings</h3>")[2].partition("<h3>")[0]
        return [f"<span>{casino}</span>" in queue, f" · {casino} · " in proposals, f" · {casino} · " in found]

    assert [named(desk) for desk in desks] == [[True] * 3] * 2
    client.post(CHOOSE, {"casino": here.tenant.casino.pk})
    assert named(here) == [False] * 3


@pytest.mark.parametrize(
    "casino",
    in_short(["999999999", "x", str(2**70)], further=["-1", "٣", "1' or '1"]),
)
def test_what_is_no_casino_of_theirs_chooses_none(desks: tuple[Desk, Desk], client: Client, casino: str) -> None:
    client.post(CHOOSE, {"casino": desks[0].tenant.casino.pk})
    assert client.post(CHOOSE, {"casino": casino}).status_code == 302
    assert len(listed(client)) == 2


def test_a_choice_widens_nothing_and_ends_with_the_role(desks: tuple[Desk, Desk], client: Client) -> None:
    here, there = desks
    stranger = client_of(here.first)
    stranger.post(CHOOSE, {"casino": there.tenant.casino.pk})
    assert listed(stranger) == {here.tenant.casino.pk}
    client.post(CHOOSE, {"casino": there.tenant.casino.pk})
    Membership.objects.filter(casino=there.tenant.casino, officer__username__startswith="both").delete()
    assert listed(client) == {here.tenant.casino.pk}


def test_who_has_one_casino_has_nothing_to_choose(desks: tuple[Desk, Desk]) -> None:
    shown = client_of(desks[0].first).get("/admin/").content.decode()
    assert 'id="chosen-casino"' not in shown
    assert f'<p class="casino">{desks[0].tenant.casino.name}</p>' in shown


@pytest.mark.parametrize(
    "back",
    in_short(
        ["//elsewhere.example", "javascript:alert(1)", "-1", "no page"], further=["https://elsewhere.example/", "[]"]
    ),
)
def test_it_leads_to_no_other_site(desks: tuple[Desk, Desk], client: Client, back: str) -> None:
    answer = client.post(CHOOSE, {"casino": desks[0].tenant.casino.pk, "next": back})
    assert answer.headers["Location"] == "/admin/"
    assert client.get(CHOOSE).status_code == 405
