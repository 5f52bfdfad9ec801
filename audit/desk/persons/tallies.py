"""What the list of persons says of each: incidents, money and nights, of all findings that stand.

Two queries for a page, one for its players and one for its staff, however many persons and findings there are. An
incident counts once, by its cause, and money by its claims, as on the pages of persons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q, Sum, Value
from django.db.models.fields.json import KT

from audit.access.scope import Scope
from audit.casework.debts import AMOUNT, IS_CLAIM, LOSERS
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.persons.concerning import in_words
from audit.models import Finding, Person, PersonKind
from audit.persons.directory import Family, family_of

Key = tuple[int, Family, str]
"""A casino, and an id as its events use it."""


@dataclass(slots=True)
class Tally:
    """The incidents of one person, how many of them are open, the nights they are of, and the money by who loses it."""

    incidents: int = 0
    open: int = 0
    days: set[date] = field(default_factory=set)
    sums: Counter[tuple[str, str]] = field(default_factory=Counter)

    def amount_of(self, side: str) -> str:
        """Return what players, or the bank, have lost; "" for nothing."""
        return in_words({key: total for key, total in self.sums.items() if key[0] == side and total})


def key_of(person: Person) -> Key:
    return person.casino_id, family_of(person.kind), person.code


def tallies_of(persons: Iterable[Person], scope: Scope) -> Mapping[Key, Tally]:
    """Return the tallies of those persons whose casinos are in the scope, by casino and id."""
    listed = [each for each in persons if scope.includes(each.casino_id)]
    players = [each for each in listed if each.kind == PersonKind.PLAYER]
    staff = [each for each in listed if each.kind != PersonKind.PLAYER]
    return {
        **_tallies("player", Family.PLAYER, players),
        **_tallies("croupier", Family.STAFF, staff),
    }


def _tallies(role: str, family: Family, persons: Sequence[Person]) -> dict[Key, Tally]:
    """Return the tallies of persons whom findings name in the field ``role``: one query, none for nobody."""
    if not persons:
        return {}
    tallies = {key_of(each): Tally() for each in persons}
    theirs = Finding.objects.standing().filter(
        HEADS | IS_CLAIM,
        casino__in={each.casino_id for each in persons},
        **{f"{role}__in": {each.code for each in persons}},
    )
    rows = (
        theirs.order_by()
        .values("casino", role, "currency", by=KT("owed__by"))
        .annotate(
            incidents=Count("pk", filter=HEADS),
            open=Count("pk", filter=HEADS & Q(case__state__in=OPEN)),
            days=ArrayAgg("gaming_day", distinct=True, filter=HEADS, default=Value([])),
            owed=Sum(AMOUNT, filter=IS_CLAIM),
        )
    )
    for row in rows:
        tally = tallies.get((row["casino"], family, row[role]))
        if tally is None:
            continue  # the same id at another casino of the page
        tally.incidents += row["incidents"]
        tally.open += row["open"]
        tally.days.update(row["days"])
        if row["by"]:
            tally.sums[LOSERS[row["by"]], row["currency"]] += row["owed"] or 0
    return tallies
