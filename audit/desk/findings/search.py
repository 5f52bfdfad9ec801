"""The search of the findings list: by a reference, a table, a person, or the exact id of a wager or of a stream."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.desk.scoped_admin import scope_of
from audit.models import Finding, GamingTable, LoggedStream, Person, PersonKind
from audit.presentation import REFERENCE, referred_to

MAX_PERSONS = 200
"""Persons whose names hold what is searched; of more, the officer types more of the name."""

MAX_TERM = 100


def search(request: HttpRequest, findings: QuerySet[Finding], term: str) -> QuerySet[Finding]:
    """Return those of ``findings`` that ``term`` names, all of them for an empty one.

    Ids are matched whole, a table's in any case of its letters, and a name by any part of it, at the casinos where the
    officer sees names.
    """
    term = term.replace("\0", "").strip()[:MAX_TERM]
    if not term:
        return findings
    streams = LoggedStream.objects.filter(name=term).values_list("stream_id", flat=True)
    tables = GamingTable.objects.filter(code__iexact=term).values_list("pk", flat=True)
    named = Q(wager=term) | Q(stream_id__in=list(streams)) | Q(table_id__in=list(tables))
    named |= Q(player=term) | Q(croupier=term)
    if (referred := REFERENCE.fullmatch(term)) is not None:
        named |= referred_to(referred)
    for person in _named(request, term):
        field = "player" if person.kind == PersonKind.PLAYER else "croupier"
        named |= Q(casino_id=person.casino_id, **{field: person.code})
    return findings.filter(named)


def _named(request: HttpRequest, term: str) -> QuerySet[Person]:
    persons = scope_of(request, Capability.SEE_NAMES).rows(Person.objects.filter(name__icontains=term))
    return persons.order_by("pk")[:MAX_PERSONS]
