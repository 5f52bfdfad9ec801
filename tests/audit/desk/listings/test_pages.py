"""The pages of the watch list and the exclusion list: from a player's page to the list and off it again."""

from __future__ import annotations

import pytest

from audit.models import Listing, ListKind, Person, Sighting
from audit.persons import listings
from tests.audit.casework.test_actions import PASSWORD, client_of
from tests.audit.persons.test_listings import FOR_GOOD, Floor
from tests.audit.persons.test_sightings import played, swept
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/listing/"
EN = {"accept-language": "en"}
FORM = {"kind": "exclusion", "last_day": "2999-01-01", "reason": "threatened a croupier"}


@pytest.fixture
def floor(db: None) -> Floor:
    return Floor()


def new(floor: Floor) -> str:
    return f"{LIST}new/{floor.person.pk}/"


def decide(listing: Listing) -> str:
    return f"{LIST}{listing.pk}/decide/"


def player_page(floor: Floor) -> str:
    address = f"/admin/audit/person/player/{floor.casino.pk}/p1/"
    return client_of(floor.first).get(address, headers=EN).content.decode()


def test_the_page_of_a_player_leads_to_the_proposal_and_shows_the_entry(floor: Floor) -> None:
    assert new(floor) in player_page(floor)
    client = client_of(floor.first)
    assert "Gaétan Villeneuve" in client.get(new(floor), headers=EN).content.decode()
    assert not Listing.objects.exists(), "a page that asks proposes nothing"
    answer = client.post(new(floor), FORM, follow=True, headers=EN)
    assert "A second officer must approve it." in answer.content.decode()
    listing = Listing.objects.get()
    assert (listing.kind, listing.last_day, listing.reason) == ("exclusion", FOR_GOOD, "threatened a croupier")
    assert f"{LIST}{listing.pk}/change/" in player_page(floor)


@pytest.mark.parametrize(
    "wrong",
    in_short([{"kind": "guests"}, {"reason": " "}], further=[{"kind": ""}, {"last_day": "x"}]),
)
def test_a_proposal_that_says_too_little_is_asked_for_again(floor: Floor, wrong: dict[str, str]) -> None:
    answer = client_of(floor.first).post(new(floor), {**FORM, **wrong}, headers=EN)
    assert answer.context["form"].errors.keys() == wrong.keys()
    assert not Listing.objects.exists()


def test_a_reason_with_the_name_is_refused_and_stays_in_the_form(floor: Floor) -> None:
    sent = {**FORM, "reason": "Villeneuve threatened a croupier"}
    page = client_of(floor.first).post(new(floor), sent, headers=EN).content.decode()
    assert "The reason contains the name" in page
    assert "Villeneuve threatened a croupier</textarea>" in page


def test_the_second_officer_finds_it_among_what_waits_and_approves_with_the_password(floor: Floor) -> None:
    listing = floor.propose()
    own, second = client_of(floor.first), client_of(floor.second)
    assert f"{LIST}{listing.pk}/change/" in second.get("/admin/approve/", headers=EN).content.decode()
    assert own.get(f"{LIST}{listing.pk}/change/", headers=EN).context["may_approve"] is False
    assert second.post(decide(listing), {"step": "approve"}).status_code == 403
    second.post(decide(listing), {"step": "approve", "proof_password": PASSWORD})
    listing.refresh_from_db()
    assert (listing.state, listing.approved_by) == ("listed", floor.second)
    assert f"{LIST}{listing.pk}/change/" not in second.get("/admin/approve/", headers=EN).content.decode()


def test_a_removal_is_proposed_waits_and_is_approved_in_the_same_way(floor: Floor) -> None:
    listing = floor.listed()
    client = client_of(floor.second)
    assert client.post(decide(listing), {"step": "remove", "reason": ""}, headers=EN).context["removing"].errors
    client.post(decide(listing), {"step": "remove", "reason": "he apologised"})
    waits = client_of(floor.third).get("/admin/approve/", headers=EN).content.decode()
    assert "Removal: exclusion list" in waits
    assert f"{LIST}{listing.pk}/change/" not in client.get("/admin/approve/", headers=EN).content.decode(), "one's own"
    client_of(floor.third).post(decide(listing), {"step": "approve", "proof_password": PASSWORD})
    listing.refresh_from_db()
    assert listing.state == "removed"


def test_what_waits_is_declined_for_a_reason(floor: Floor) -> None:
    listing, client = floor.propose(), client_of(floor.second)
    assert client.post(decide(listing), {"step": "decline", "reason": ""}, headers=EN).context["declining"].errors
    page = client.post(decide(listing), {"step": "decline", "reason": "a slip"}, follow=True, headers=EN)
    assert "Declined by" in page.content.decode()
    listing.refresh_from_db()
    assert (listing.state, listing.end_reason) == ("declined", "a slip")
    assert client.post(decide(listing), {"step": "approve", "proof_password": PASSWORD}, follow=True, headers=EN)
    listing.refresh_from_db()
    assert listing.state == "declined"


def test_the_list_has_names_and_is_narrowed_by_list(floor: Floor) -> None:
    floor.listed()
    floor.propose(ListKind.WATCH)
    client = client_of(floor.first)
    page = client.get(LIST, headers=EN)
    assert len(page.context["cl"].result_list) == 2
    assert "Gaétan Villeneuve" in page.content.decode()
    assert [each.kind for each in client.get(LIST, {"kind__exact": "watch"}).context["cl"].result_list] == ["watch"]
    assert LIST in client.get("/admin/audit/person/", headers=EN).content.decode()


def test_the_page_of_an_entry_has_the_nights_at_a_table(floor: Floor) -> None:
    listing = floor.listed()
    address, client = f"{LIST}{listing.pk}/change/", client_of(floor.first)
    assert "Not seen at a table" in client.get(address, headers=EN).content.decode()
    played(floor.tenant)
    swept()
    stream = Sighting.objects.get().stream_id
    assert f"/admin/audit/loggedstream/{stream}/table/" in client.get(address, headers=EN).content.decode()


def test_a_sighting_is_dismissed_from_the_inbox_and_the_entry_says_by_whom_and_why(floor: Floor) -> None:
    listing, client = floor.listed(), client_of(floor.second)
    played(floor.tenant)
    swept()
    address = f"{LIST}seen/{Sighting.objects.get().pk}/dismiss/"
    assert client.get(address).status_code == 405
    page = client.post(address, {"outcome": "", "reason": "left"}, follow=True, headers=EN).content.decode()
    assert "Choose an outcome." in page
    assert Sighting.objects.get().dismissed_at is None
    assert client_of(Floor().second).post(address, {"outcome": "shown_out"}).status_code == 404
    page = client.post(address, {"outcome": "shown_out", "reason": "left"}, follow=True, headers=EN).content.decode()
    assert "It leaves the inbox of every officer" in page
    assert address not in page
    assert "Shown out: left" in client.get(f"{LIST}{listing.pk}/change/", headers=EN).content.decode()


def test_an_officer_of_another_casino_sees_nothing_of_it(floor: Floor) -> None:
    listing, client = floor.listed(), client_of(Floor().second)
    assert client.get(f"{LIST}{listing.pk}/change/").status_code == 404
    assert client.get(new(floor)).status_code == 404
    assert client.post(new(floor), FORM).status_code == 404
    assert client.post(decide(listing), {"step": "remove", "reason": "x"}).status_code == 404
    assert not client.get(LIST).context["cl"].result_list
    found = client.get("/admin/search/", {"q": "p1", "part": "1"}, headers=EN).content.decode()
    assert "exclusion list" not in found


def test_the_search_says_on_which_list_a_player_is(floor: Floor) -> None:
    floor.propose(ListKind.WATCH)
    floor.listed()
    found = client_of(floor.first).get("/admin/search/", {"q": "villeneuve", "part": "1"}, headers=EN).content.decode()
    assert "exclusion list" in found
    assert "watch list" not in found, "nobody has approved it"


def test_an_entry_of_somebody_erased_has_the_id_alone(floor: Floor) -> None:
    listing = floor.listed()
    Person.objects.filter(pk=floor.person.pk).update(name="Somebody else")
    listings.propose_removal(floor.first, listing, reason="p1 is erased")
    page = client_of(floor.first).get(f"{LIST}{listing.pk}/change/", headers=EN).content.decode()
    assert "Villeneuve" not in page


def test_the_pages_are_french_in_french(floor: Floor) -> None:
    listing = floor.listed()
    client, fr = client_of(floor.first), {"accept-language": "fr"}
    assert "Inscrire un joueur sur une liste" in client.get(new(floor), headers=fr).content.decode()
    shown = client.get(f"{LIST}{listing.pk}/change/", headers=fr).content.decode()
    for words in ("Liste d’exclusion", "Retirer de la liste", "Proposé par"):
        assert words in shown, words
