"""All words match, accents and capitals do not matter, whole ids come first, and what there is not is said."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit.desk.palette.query import query_of
from audit.models import Person, PersonKind
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.desk.palette.test_palette import found
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


def player(desk: Desk, code: str, name: str, card: str = "") -> Person:
    return Person.objects.create(
        casino=desk.tenant.casino, code=code, kind=PersonKind.PLAYER, name=name, card_or_licence=card
    )


def notes(client: Client, typed: str, language: str = "en") -> str:
    """Return the text of the results without their links."""
    page = client.get("/admin/search/", {"q": typed, "part": "1"}, headers={"accept-language": language})
    return re.sub(r"<a .*?</a>|<[^>]*>", " ", page.content.decode(), flags=re.DOTALL)


@pytest.mark.parametrize(
    "typed",
    in_short(["helene perrin", "perrin t1", "p0412", "c-77"], further=["PERRIN Hélène", "P0412", "C-77"]),
)
def test_a_person_is_found_by_every_word_an_id_or_a_card(desk: Desk, typed: str) -> None:
    player(desk, "p0412", "Hélène Perrin", "C-77")
    player(desk, "p0500", "Hélène Martin")
    [(words, _address)] = found(client_of(desk.first), typed)["People"]
    assert words.startswith("Hélène Perrin | "), words


def test_a_person_is_not_found_by_one_word_of_two(desk: Desk) -> None:
    player(desk, "p0412", "Pascale Perrin")
    assert "People" not in found(client_of(desk.first), "pascale martin")


def test_the_person_of_an_exact_id_comes_first_and_persons_come_before_findings(desk: Desk) -> None:
    player(desk, "p9", "Aaron Zabel")
    player(desk, "zabel", "Zoe Weber")
    player(desk, next(each.player for each in desk.findings if each.player), "Bruno Perrin")
    [first, second] = found(client_of(desk.first), "zabel")["People"]
    assert (first[0].split(" | ")[0], second[0].split(" | ")[0]) == ("Zoe Weber", "Aaron Zabel")
    groups = list(found(client_of(desk.first), "perrin"))
    assert groups.index("People") < groups.index("Findings"), groups


@pytest.mark.parametrize(
    ("language", "typed", "says"),
    in_short(
        [
            ("en", "r9", "There is no table “r9”."),
            ("en", "t1 2026-11-18 20:00", "T1 has no session on that day."),
            ("en", "2019-11-18", "There is no report of the night of 18 Nov 2019."),
            ("en", "nobody at all", "No result for “nobody at all”."),
        ],
        further=[
            ("en", "r9 20:00", "There is no table “r9”."),
            ("fr", "R9 20h00", "Il n’y a pas de table «\N{NO-BREAK SPACE}R9\N{NO-BREAK SPACE}»."),
        ],
    ),
)
def test_what_there_is_not_is_said(desk: Desk, language: str, typed: str, says: str) -> None:
    assert says in notes(client_of(desk.first), typed, language)


def test_a_table_that_there_is_and_an_id_that_looks_like_one_are_not_missed(desk: Desk) -> None:
    assert "no table" not in notes(client_of(desk.first), "t1 20:00")
    wager = next(each.wager for each in desk.findings if each.wager)
    assert found(client_of(desk.first), wager)["Findings"]
    assert "no table" not in notes(client_of(desk.first), wager)


@pytest.mark.parametrize(
    ("typed", "days_ago"), [("yesterday", 1), ("hier", 1), ("Yesterday", 1), ("today", 0), ("aujourd’hui", 0)]
)
def test_a_word_for_a_day_is_that_day(typed: str, days_ago: int) -> None:
    today = date(2026, 11, 29)
    query = query_of(f"r3 {typed} 20:18", today=today)
    assert (query.day, query.words) == (today - timedelta(days=days_ago), ("r3",))


def test_yesterday_is_a_night(desk: Desk) -> None:
    says = notes(client_of(desk.first), "yesterday")
    night = timezone.localdate() - timedelta(days=1)
    assert f"There is no report of the night of {night.day} {night:%b}." in says


@pytest.mark.parametrize("typed", [pytest.param("payout-missing", marks=pytest.mark.faults), "payout missing"])
def test_a_rule_is_found_by_its_name(desk: Desk, typed: str) -> None:
    assert any("/payout-missing/" in to for _words, to in found(client_of(desk.first), typed)["Rules"])


@pytest.mark.parametrize("typed", ["P-26-0007", "w-26-0001 "])
def test_the_number_of_an_order_is_taken_apart(typed: str) -> None:
    query = query_of(typed, today=date(2026, 11, 29))
    assert query.orders == (typed.strip().upper(),)
    assert query.words == ()
