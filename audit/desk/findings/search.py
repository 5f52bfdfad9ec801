"""The search of the findings list: by a reference, a table, a person, or the exact id of a wager or of a stream."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.scoped_admin import scope_of
from audit.models import Finding, GamingTable, LoggedStream, Person, PersonKind
from audit.presentation import REFERENCE, count, referred_to

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
    for person in persons_named(request, Q(name__icontains=term)):
        field = "player" if person.kind == PersonKind.PLAYER else "croupier"
        named |= Q(casino_id=person.casino_id, **{field: person.code})
    return findings.filter(named)


def persons_named(request: HttpRequest, named: Q) -> list[Person]:
    """Return whom the directory names so, where the officer sees names: ``MAX_PERSONS`` at most, and then says so."""
    persons = scope_of(request, Capability.SEE_NAMES).rows(Person.objects.filter(named))
    found = list(persons.order_by("pk")[: MAX_PERSONS + 1])
    if len(found) > MAX_PERSONS:
        text = _("More than %(number)s people have such a name. The list has the findings of some: type more of it.")
        messages.warning(request, text % {"number": count(MAX_PERSONS)})
    return found[:MAX_PERSONS]
