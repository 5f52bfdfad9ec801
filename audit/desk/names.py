"""Names on the pages of the desk: for officers who may see them at that casino; ids alone for the others.

A name stands without its id, which the page of the person has, and what leads there says on hovering.
"""

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
    return page_directory(casino_id, persons, with_names=sees_names(request, casino_id))


def page_directory(casino_id: int, persons: Iterable[PersonId], *, with_names: bool) -> Directory:
    """Return the names that a page shows whoever may see them, ``with_names``: one query, or none."""
    return Directory.of(casino_id, persons).for_page() if with_names else NO_NAMES
