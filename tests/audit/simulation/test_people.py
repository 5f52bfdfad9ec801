"""The people of simulated nights: ids in the events, invented names in the directory, the same from the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.models import Person
from audit.models.persons import PERSON_ID
from audit.simulation import RULESET_NAMES
from audit.simulation.people import fill_directory, people_of
from audit.simulation.session import GUESTS, PLAYERS
from tests.audit.simulation.test_nights import played
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_everybody_whom_the_events_name_has_a_name_of_their_own_that_is_not_in_them(ruleset: str) -> None:
    casino, night = Tenant().casino, played(ruleset, 1)
    people = people_of(casino, [night], seed=1)
    seated = {event["data"]["player"] for event in night.events if event["type"] == "player.seated"}
    assert seated <= {each.code for each in people if each.kind == "player"}
    assert len({each.name for each in people}) == len(people)
    events = json.dumps(night.events, ensure_ascii=False)
    for each in people:
        each.full_clean()
        assert each.name not in events
        assert f'"{each.code}"' in events


def test_a_seed_gives_the_same_names() -> None:
    casino, night = Tenant().casino, played("fr-craps", 1)
    first, again, other = ([each.name for each in people_of(casino, [night], seed=seed)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_directory_keeps_the_names_that_it_has() -> None:
    casino, night = Tenant().casino, played("fr-craps", 1)
    Person.objects.create(casino=casino, code="chef-1", kind="chef_de_table", name="Already There")
    added = fill_directory(casino, [night], seed=1)
    assert added == Person.objects.filter(casino=casino).count() - 1
    assert fill_directory(casino, [night], seed=2) == 0
    assert Person.objects.get(casino=casino, code="chef-1").name == "Already There"


def test_the_command_fills_the_directory_of_a_casino_that_there_is(tmp_path: Path) -> None:
    casino = Tenant().casino
    arguments = ("simulate", "--names", "--coups", "5", "--out", str(tmp_path / "night.ndjson"), "--casino")
    call_command(*arguments, casino.code)
    people = Person.objects.filter(casino=casino)
    assert people.filter(kind="player").exists()
    written = (tmp_path / "night.ndjson").read_text()
    assert not [each.name for each in people if each.name in written]
    with pytest.raises(CommandError):
        call_command(*arguments, "nowhere")


def test_simulated_ids_are_opaque() -> None:
    codes = [*PLAYERS, *GUESTS]
    assert len(set(codes)) == len(codes)
    for code in codes:
        PERSON_ID(code)
