"""The directory of a casino: from the ids of a page to their names, in one query.

    events, stakes, facts ──► PersonId … ──► Directory.of ──► player(code), staff(code): “Name (id)”, or the id alone

On a page a name stands alone (``for_page``): the person it leads to has the id. A page that may show no names, and
every paper that leaves the casino, uses ``NO_NAMES``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from django.db import connection
from msgspec.structs import replace

from audit.models import PersonKind
from audit.presentation import isolated, person
from settlement import Event
from settlement.events import ExtensionEvent
from settlement.finding import Outcome

PLAYER_FIELDS = frozenset({"player"})
STAFF_FIELDS = frozenset({"person", "croupier", "approved_by", "counted_by"})
"""The fields of events that name a player, or somebody of the staff."""

PLAYER_FACTS = frozenset({"player", "owner", "player_before", "other_player", "staker"})
STAFF_FACTS = frozenset({"approved_by", "closer", "thrower"})
"""The facts of findings that name a player, or somebody of the staff."""

PLAYERS_FACT = "players"
"""The fact of findings that names several."""


class Family(StrEnum):
    """Whose system gave an id: players and staff may have the same."""

    PLAYER = "player"
    STAFF = "staff"


class PersonId(NamedTuple):
    """An id as an event uses it."""

    family: Family
    code: str


_NAMES = "select kind, code, name from audit_person where casino_id = %s and code = any (%s)"


@dataclass(frozen=True, slots=True)
class Directory:
    """The names of some persons of one casino.

    ``alone`` are the names that stand without an id: on a page, those that only one of these persons has.
    """

    names: Mapping[PersonId, str] = field(default_factory=dict)
    alone: frozenset[str] = frozenset()

    @classmethod
    def of(cls, casino_id: int, persons: Iterable[PersonId]) -> Directory:
        """Return the names of ``persons`` at a casino: one query, none if there are no persons."""
        codes = {each.code for each in persons}
        if not codes:
            return NO_NAMES
        # As text: nearly every page asks this, and Django takes longer to write it than PostgreSQL to answer.
        with connection.cursor() as cursor:
            cursor.execute(_NAMES, (casino_id, list(codes)))
            rows = cursor.fetchall()
        return cls({PersonId(family_of(kind), code): name for kind, code, name in rows})

    def for_page(self) -> Directory:
        """Return the same names for a page: the id follows only a name that two of these persons share."""
        held = Counter(self.names.values())
        return Directory(self.names, frozenset(name for name, persons in held.items() if persons == 1))

    def for_paper(self) -> Directory:
        """Return the same names for a file, in which each has its id."""
        return Directory(self.names)

    def player(self, code: str) -> str:
        """Return a player as a page or a file shows them."""
        return self._shown(PersonId(Family.PLAYER, code))

    def staff(self, code: str) -> str:
        """Return somebody of the staff as a page or a file shows them."""
        return self._shown(PersonId(Family.STAFF, code))

    def _shown(self, known: PersonId) -> str:
        name = self.names.get(known, "")
        return isolated(name) if name in self.alone else person(known.code, name)


NO_NAMES = Directory()


def family_of(kind: str) -> Family:
    """Return the family of a kind of ``PersonKind``."""
    return Family.PLAYER if kind == PersonKind.PLAYER else Family.STAFF


def players(codes: Iterable[str | None]) -> Iterator[PersonId]:
    """Yield the ids of players; None and "" are left out."""
    return (PersonId(Family.PLAYER, code) for code in codes if code)


def staff(codes: Iterable[str | None]) -> Iterator[PersonId]:
    """Yield the ids of staff; None and "" are left out."""
    return (PersonId(Family.STAFF, code) for code in codes if code)


def mentioned_in(events: Iterable[Event]) -> Iterator[PersonId]:
    """Yield the persons whom events name, those in the data of corrections included.

    What the fields of an integrator's own events mean is not known.
    """
    for event in events:
        if isinstance(event, ExtensionEvent):
            continue
        data = msgspec.to_builtins(event.data)
        yield from _mentioned(data)
        if isinstance(corrected := data.get("data"), dict):
            yield from _mentioned(corrected)


def _mentioned(data: Mapping[str, Any]) -> Iterator[PersonId]:
    yield from players(_codes(data.get(name) for name in PLAYER_FIELDS))
    yield from staff(_codes(data.get(name) for name in STAFF_FIELDS))
    members = data.get("staff")
    if isinstance(members, list):
        yield from staff(_codes(each.get("person") for each in members if isinstance(each, dict)))


def _codes(values: Iterable[Any]) -> Iterator[str]:
    lists = (value if isinstance(value, list) else [value] for value in values)
    return (each for each in chain.from_iterable(lists) if isinstance(each, str))


def persons_of_facts(facts: Mapping[str, Any]) -> Iterator[PersonId]:
    """Yield the persons whom the facts of a finding name."""
    yield from players(_codes(facts.get(name) for name in (*PLAYER_FACTS, PLAYERS_FACT)))
    yield from staff(_codes(facts.get(name) for name in STAFF_FACTS))
    yield from players(each.player for each in Outcome.read_all(facts.get("outcomes")))


def named_facts(facts: Mapping[str, Any], directory: Directory) -> dict[str, Any]:
    """Return the facts of a finding with its persons as a page shows them."""
    of_player = {name: directory.player(facts[name]) for name in PLAYER_FACTS if isinstance(facts.get(name), str)}
    of_staff = {name: directory.staff(facts[name]) for name in STAFF_FACTS if isinstance(facts.get(name), str)}
    named = {**facts, **of_player, **of_staff}
    if isinstance(several := facts.get(PLAYERS_FACT), list):
        named[PLAYERS_FACT] = [directory.player(each) if isinstance(each, str) else each for each in several]
    if outcomes := Outcome.read_all(facts.get("outcomes")):
        of_players = (replace(each, player=each.player and directory.player(each.player)) for each in outcomes)
        named["outcomes"] = [value for each in of_players for value in each.written()]
    return named
