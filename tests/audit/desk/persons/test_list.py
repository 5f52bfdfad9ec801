"""The list of persons: incidents, money and nights beside each, of the casinos whose record the officer sees."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.access.scope import Scope
from audit.desk.findings.queues import HEADS
from audit.desk.persons import ranking
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
def desk(desk: Desk) -> Desk:
    """A casino whose findings name the player p-1 and the croupier c-1, both in its directory."""
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
    assert (", open<" in page) == (tally.incidents == 1)
    assert (", all open<" in page) == (tally.incidents > 1)
    assert f"{tally.incidents}, {tally.open} open" not in page, "of incidents that are all open one number is enough"
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


def give(desk: Desk, code: str, by: str, difference: int, *, currency: str = "EUR", role: str = "player") -> None:
    """Add a finding with a case of its own that names ``code``, and by which ``by`` owes ``difference``."""
    finding = Finding.objects.standing().filter(HEADS, stream=desk.stream).order_by("pk")[0]
    finding.pk, finding.run, finding.case = None, None, None
    finding._state.adding = True
    finding.wager, finding.player, finding.croupier = f"{code}-{difference}", "", ""
    setattr(finding, role, code)
    finding.owed = {"by": by, "to": None, "amount": difference}
    finding.difference, finding.currency = difference if by == "house" else -difference, currency
    finding.save()


@pytest.fixture(params=[ranking.FEW, 0], ids=["few", "many"])
def crowd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A casino with 60 persons: a-1 is owed 5, a-2 (in yen, whose unit is a whole one) 700, a-3 has 9 too much.

    They are put in order as few are, and as many are.
    """
    monkeypatch.setattr(ranking, "FEW", request.param)
    desk = Desk()
    with without_triggers():
        Finding.objects.filter(stream=desk.stream).update(player="", croupier="")
    casino = desk.tenant.casino
    codes = [*(f"a-{number}" for number in range(1, 5)), *(f"x-{number:02}" for number in range(55))]
    Person.objects.bulk_create(Person(casino=casino, code=code, kind="player", name=code) for code in codes)
    Person.objects.create(casino=casino, code="a-1", kind="croupier", name="Of the staff")
    give(desk, "a-1", "house", 500)
    give(desk, "a-2", "house", 700, currency="JPY")
    give(desk, "a-2", "player", 100)
    give(desk, "a-3", "player", 900)
    give(desk, "a-1", "house", 100, role="croupier")
    give(desk, "not in the directory", "house", 99_999)
    return desk


def listed(desk: Desk, query: str) -> list[tuple[str, str]]:
    """Return the ids of a page of the list, and who of the staff has one."""
    page = client_of(desk.first).get(f"{LIST}{query}")
    assert page.status_code == 200
    return [(each.code, "" if each.kind == "player" else "staff") for each in page.context["cl"].result_list]


COLUMN = {"incidents": 2, "owed": 3, "overpaid": 4}


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("incidents", [("a-2", ""), ("a-1", ""), ("a-1", "staff"), ("a-3", ""), ("a-4", "")]),
        ("owed", [("a-2", ""), ("a-1", ""), ("a-1", "staff"), ("a-3", ""), ("a-4", "")]),
        ("overpaid", [("a-3", ""), ("a-2", ""), ("a-1", "staff"), ("a-1", ""), ("a-4", "")]),
    ],
)
def test_the_list_is_ordered_by_incidents_and_by_money_over_its_pages_and_backwards(
    crowd: Desk, by: str, first: list[tuple[str, str]]
) -> None:
    at = COLUMN[by]
    whole = listed(crowd, f"?o=-{at}") + listed(crowd, f"?o=-{at}&p=2")
    assert whole[:5] == first
    assert len(set(whole)) == len(whole) == 60, "everybody, once"
    backwards = listed(crowd, f"?o={at}") + listed(crowd, f"?o={at}&p=2")
    assert set(backwards) == set(whole)
    some = {"incidents": 4, "owed": 3, "overpaid": 2}[by]
    amounts = {each: number for number, each in enumerate(reversed(first[:some]))}
    assert set(backwards[-some:]) == set(amounts), "those of whom something is to be said are the last"
    assert backwards[-1] == first[0]
    assert backwards[: 60 - some] == sorted(backwards[: 60 - some], key=lambda each: (each[0], each[1] == ""))


def test_an_order_keeps_to_what_was_looked_for_and_to_one_page(crowd: Desk) -> None:
    assert listed(crowd, "?o=-3&kind__exact=player&q=a-") == [("a-2", ""), ("a-1", ""), ("a-3", ""), ("a-4", "")]
    assert listed(crowd, "?o=3&kind__exact=player&q=a-") == [("a-3", ""), ("a-4", ""), ("a-1", ""), ("a-2", "")]


def test_an_order_says_nothing_of_a_casino_whose_record_is_not_seen(crowd: Desk) -> None:
    Membership.objects.filter(officer=crowd.first).update(role=Role.ADMINISTRATOR)
    assert listed(crowd, "?o=-3")[:4] == [("a-1", "staff"), ("a-1", ""), ("a-2", ""), ("a-3", "")]


def test_an_order_costs_the_same_queries_whoever_is_named(crowd: Desk) -> None:
    reader = client_of(crowd.first)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reader.get(f"{LIST}?o=-3").status_code == 200
        return len(captured)

    queries()
    before = queries()
    for number in range(10):
        give(crowd, f"x-{number:02}", "house", 10 + number)
    assert queries() == before
