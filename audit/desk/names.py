"""Names on the pages of the desk: for officers who may see them at that casino; ids alone for the others."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.desk.scoped_admin import scope_of
from audit.persons.directory import NO_NAMES, Directory, PersonId


def sees_names(request: HttpRequest, casino_id: int) -> bool:
    """Return whether the signed-in officer may see the names of a casino's players and staff."""
    return scope_of(request, Capability.SEE_NAMES).includes(casino_id)


def directory_for(request: HttpRequest, casino_id: int, persons: Iterable[PersonId]) -> Directory:
    """Return the names that a page shows the signed-in officer: one query, or none."""
    return Directory.of(casino_id, persons) if sees_names(request, casino_id) else NO_NAMES
