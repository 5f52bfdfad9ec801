"""The list of persons: incidents, money and nights beside each, of the casinos whose record the officer sees."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.access.scope import Scope
from audit.desk.persons.concerning import concerning
from audit.desk.persons.tallies import Tally, key_of, tallies_of
from audit.models import Finding, Membership, Person, Role
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.tables import Tenant
from tests.roles import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/person/"
EVERYWHERE = Scope(None)


@pytest.fixture
def desk() -> Desk:
    """A casino whose findings name the player p-1 and the croupier c-1, both in its directory."""
    desk = Desk()
    with without_triggers():
        Finding.objects.filter(stream=desk.stream).update(player="p-1", croupier="c-1")
    for code, kind in (("p-1", "player"), ("c-1", "croupier"), ("p-2", "player"), ("c-1", "player")):
        Person.objects.create(casino=desk.tenant.casino, code=code, kind=kind, name=f"Name of {kind} {code}")
    return desk


def person(desk: Desk, code: str, kind: str) -> Person:
    return Person.objects.get(casino=desk.tenant.casino, code=code, kind=kind)


@pytest.mark.parametrize(("code", "kind", "role"), [("p-1", "player", "player"), ("c-1", "croupier", "croupier")])
def test_the_list_agrees_with_the_page_of_a_person(desk: Desk, code: str, kind: str, role: str) -> None:
    found = concerning(desk.tenant.casino, role, code, desk.stream.gaming_day.replace(day=1))
    [tally] = tallies_of([person(desk, code, kind)], EVERYWHERE).values()
    assert (tally.incidents, tally.open) == (found.open + found.closed, found.open)
    assert tally.incidents > 0
    assert {key: total for key, total in tally.sums.items() if total} == found.sums
    assert any(found.sums.values())
    assert tally.days == {desk.stream.gaming_day}
    page = client_of(desk.first).get(LIST).content.decode()
    assert f"Name of {kind} {code}" in page
    assert found.amount_of("bank") in page
    assert f"/admin/audit/person/{role}/" in page or f"/{role}/" in page


def test_a_player_and_an_employee_of_one_id_and_somebody_without_findings_are_kept_apart(desk: Desk) -> None:
    listed = [person(desk, "c-1", "player"), person(desk, "c-1", "croupier"), person(desk, "p-2", "player")]
    tallies = tallies_of(listed, EVERYWHERE)
    assert [tallies[key_of(each)].incidents > 0 for each in listed] == [False, True, False]


def test_the_same_id_at_another_casino_is_somebody_else(desk: Desk) -> None:
    other = Person.objects.create(casino=Tenant().casino, code="p-1", kind="player", name="Another")
    tallies = tallies_of([other, person(desk, "p-1", "player")], EVERYWHERE)
    assert tallies[key_of(other)] == Tally()


def test_nothing_is_added_up_where_the_record_is_not_seen(desk: Desk) -> None:
    ours = person(desk, "p-1", "player")
    assert tallies_of([ours], Scope(frozenset())) == {}
    Membership.objects.filter(officer=desk.administrator).update(role=Role.ADMINISTRATOR)
    found = concerning(desk.tenant.casino, "player", "p-1", desk.stream.gaming_day.replace(day=1))
    page = client_of(desk.administrator).get(LIST).content.decode()
    assert found.amount_of("bank") not in page


def test_a_page_costs_two_queries_whoever_is_on_it(desk: Desk) -> None:
    casino = desk.tenant.casino
    Person.objects.bulk_create(
        Person(casino=casino, code=f"x-{number}", kind="player", name=f"X {number}") for number in range(60)
    )
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tallies_of(Person.objects.filter(casino=casino), EVERYWHERE)
    assert len(queries) == 3, "the persons, the players among them, and the staff"
    page = client_of(desk.first).get(LIST)
    assert len(page.context["cl"].result_list) == 50
    assert client_of(desk.first).get(f"{LIST}?q=X+59").context["cl"].result_count == 1
