"""The directory: which name an id has at which casino, how it is written, and that sentences hold with any name."""

from __future__ import annotations

import re
import unicodedata

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from audit.desk.tables.event_sentences import TEMPLATES, sentence
from audit.models import Person, PersonKind
from audit.persons.directory import (
    NO_NAMES,
    PLAYER_FACTS,
    PLAYER_FIELDS,
    STAFF_FIELDS,
    Directory,
    Family,
    PersonId,
    mentioned_in,
    named_facts,
    persons_of_facts,
    players,
    staff,
)
from audit.presentation import person
from settlement import decode
from settlement.catalogue import RULES
from tests.audit.tables import Tenant
from tests.settlement.streams import event

pytestmark = pytest.mark.django_db

PERSONS_FIELDS = PLAYER_FIELDS | STAFF_FIELDS


def listed(tenant: Tenant, code: str, name: str, kind: PersonKind = PersonKind.PLAYER) -> Person:
    return Person.objects.create(casino=tenant.casino, code=code, name=name, kind=kind)


def test_the_names_of_a_page_are_one_query_and_an_id_without_a_name_is_shown_alone(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    tenant = Tenant()
    listed(tenant, "p1", "Élodie Martin")
    listed(tenant, "c1", "Rémi Ouellet", PersonKind.CROUPIER)
    with django_assert_num_queries(1):
        directory = Directory.of(tenant.casino.pk, [*players(["p1", "p2", None, ""]), *staff(["c1", "c2"])])
    with django_assert_num_queries(0):
        assert directory.player("p1") == "Élodie Martin (p1)"
        assert directory.player("p2") == "p2"
        assert directory.staff("c1") == "Rémi Ouellet (c1)"
        assert directory.staff("c2") == "c2"
        assert Directory.of(tenant.casino.pk, []) is NO_NAMES


def test_the_same_id_at_two_casinos_is_two_people() -> None:
    here, there = Tenant(), Tenant()
    listed(here, "p1", "Élodie Martin")
    listed(there, "p1", "Simon Gagnon")
    listed(there, "p2", "Noémie Caron")
    wanted = list(players(["p1", "p2"]))
    assert Directory.of(here.casino.pk, wanted).player("p1") == "Élodie Martin (p1)"
    assert Directory.of(here.casino.pk, wanted).player("p2") == "p2"
    assert Directory.of(there.casino.pk, wanted).player("p1") == "Simon Gagnon (p1)"


def test_a_player_and_an_employee_may_have_the_same_id_and_two_players_may_not() -> None:
    tenant = Tenant()
    listed(tenant, "17", "Élodie Martin")
    listed(tenant, "17", "Rémi Ouellet", PersonKind.CROUPIER)
    directory = Directory.of(tenant.casino.pk, players(["17"]))
    assert directory.player("17") == "Élodie Martin (17)"
    assert directory.staff("17") == "Rémi Ouellet (17)"
    second = Person(casino=tenant.casino, code="17", name="X", kind=PersonKind.CHEF_DE_TABLE)
    with pytest.raises(ValidationError):
        second.full_clean()
    with pytest.raises(IntegrityError):
        second.save()


@pytest.mark.parametrize("code", ["", "Chloé", "a b", "a/b", "x" * 41, "p1\n", "<b>"])
def test_an_id_is_what_events_accept(code: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Person(code=code, name="X", kind=PersonKind.PLAYER).clean_fields(exclude={"casino"})
    assert set(refused.value.error_dict) == {"code"}


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "a\u202eb", "a\u2066b", "a\u2028b", "x" * 121, ""])
def test_a_name_that_would_disturb_the_text_around_it_is_refused(name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Person(code="p1", name=name, kind=PersonKind.PLAYER).clean_fields(exclude={"casino"})
    assert set(refused.value.error_dict) == {"name"}


@pytest.mark.parametrize("name", ["O’Neill", "=cmd|' /C calc'!A0", "<script>alert(1)</script>", "לאה כהן", "می‌خواهم"])
def test_any_other_name_is_taken_as_it_is(name: str) -> None:
    Person(code="p1", name=name, kind=PersonKind.PLAYER).clean_fields(exclude={"casino"})


def test_a_name_from_right_to_left_is_isolated_and_another_is_not() -> None:
    shown = person("p1", "לאה כהן")
    assert [unicodedata.bidirectional(each) for each in shown if unicodedata.category(each) == "Cf"] == ["FSI", "PDI"]
    assert shown.endswith(" (p1)")
    assert person("p1", "Élodie") == "Élodie (p1)"
    assert person("p1") == "p1"


def test_a_row_calls_itself_by_its_id_so_that_no_history_keeps_a_name() -> None:
    assert str(listed(Tenant(), "p1", "Élodie Martin")) == "p1"


# Sentences

NAMES = {PersonId(Family.PLAYER, "p1"): "Élodie Arnaud", PersonId(Family.STAFF, "p1"): "Étienne Hébert"}


@pytest.mark.parametrize(
    ("kind", "data", "english", "french"),
    [
        (
            "staff.assigned",
            {"person": "p1", "role": "croupier"},
            "Étienne Hébert (p1) takes post as croupier",
            "Étienne Hébert (p1) prend son poste de croupier",
        ),
        (
            "player.seated",
            {"player": "p1"},
            "Élodie Arnaud (p1) sits down",
            "Élodie Arnaud (p1) s’assied",
        ),
        (
            "wager.placed",
            {"wager": "w1", "bet": "win", "stake": 1000, "player": "p1"},
            "Élodie Arnaud (p1) stakes €10 on win — wager w1",
            "Élodie Arnaud (p1) mise 10 € sur win — mise w1",
        ),
        (
            "colour.assigned",
            {"colour": "rouge", "player": "p1", "value": 100},
            "Colour rouge given to Élodie Arnaud (p1) at €1 a chip",
            "Couleur « rouge » attribuée à Élodie Arnaud (p1) à 1 € le jeton",
        ),
    ],
)
def test_a_name_stands_in_the_place_of_its_id(kind: str, data: dict[str, object], english: str, french: str) -> None:
    directory = Directory(NAMES)
    happened = decode(event("s", 2, kind, **data))
    assert set(mentioned_in([happened])) <= set(NAMES)
    assert sentence(happened, "en", "EUR", None, directory) == english
    assert sentence(happened, "fr", "EUR", None, directory).replace("\N{NO-BREAK SPACE}", " ") == french


def test_an_id_at_the_beginning_of_a_sentence_keeps_its_letters() -> None:
    placed = decode(event("s", 2, "wager.placed", wager="w1", bet="win", stake=1000, player="p0412"))
    assert sentence(placed, "en", "EUR", "fr-craps") == "p0412 stakes €10 on win — wager w1"


@pytest.mark.parametrize("name", ["{stake}", "[p]", "{player}", "(s)"])
def test_a_name_that_looks_like_a_template_is_only_a_name(name: str) -> None:
    placed = decode(event("s", 2, "wager.placed", wager="w1", bet="win", stake=1000, player="p1"))
    shown = sentence(placed, "en", "EUR", "fr-craps", Directory({PersonId(Family.PLAYER, "p1"): name}))
    assert shown == f"{name} (p1) stakes €10 on win — wager w1"


ELIDES = re.compile(r"\b(?:de|que|le|la|se|ne|du|au|jusque|lorsque) \{(\w+)\}", re.IGNORECASE)


def test_no_french_sentence_would_have_to_elide_before_a_name() -> None:
    french = [template for _english, template in TEMPLATES.values()] + [rule.message.fr for rule in RULES.values()]
    wanted = [field for template in french for field in ELIDES.findall(template)]
    assert wanted, "the pattern finds what it looks for"
    assert not set(wanted) & (PERSONS_FIELDS | PLAYER_FACTS)


def test_every_fact_that_a_message_calls_a_player_is_named() -> None:
    called = {
        field for rule in RULES.values() for field in re.findall(r"\bplayer \{(\w+)\}", rule.message.en, re.IGNORECASE)
    }
    assert called == PLAYER_FACTS
    facts = {"player": "p1", "owner": "p2", "seq": 3, "player_before": None}
    assert named_facts(facts, Directory(NAMES)) == facts | {"player": "Élodie Arnaud (p1)"}


def test_a_fact_that_names_several_players_is_named() -> None:
    facts = {"players": ["p1", "p2"], "elsewhere": ["p1"]}
    assert set(persons_of_facts(facts)) == set(players(["p1", "p2"]))
    assert named_facts(facts, Directory(NAMES)) == facts | {"players": ["Élodie Arnaud (p1)", "p2"]}


def test_persons_are_found_in_every_field_and_in_the_data_of_a_correction() -> None:
    opened = decode(
        event(
            "s", 1, "session.opened", casino="c", table="T", gaming_day="2026-11-19", game="craps", ruleset="fr-craps",
            currency="EUR", float=1, observes=[], staff=[{"person": "chef-1", "role": "chef_de_table"}],
        )
    )  # fmt: skip
    counted = decode(event("s", 2, "drop.counted", session="x", amount=1, counted_by=["k1", "k2"]))
    corrected = decode(
        event("s", 3, "entry.corrected", corrects=2, reason="slip", approved_by="chef-2", data={"player": "p9"})
    )
    assert set(mentioned_in([opened, counted, corrected])) == {
        *staff(["chef-1", "k1", "k2", "chef-2"]),
        *players(["p9"]),
    }


def test_markup_in_a_name_is_escaped_by_the_page() -> None:
    assert escape(person("p1", "<b>")) == "&lt;b&gt; (p1)"
