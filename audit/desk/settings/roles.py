"""The roles of an officer in words: each role once, with the casinos where it is theirs."""

from __future__ import annotations

from django.utils.translation import ngettext

from audit.models import Officer, Role
from audit.presentation import count


def roles_in_words(officer: Officer, *, named: int | None = None) -> str:
    """Return the roles of an officer, "" for none: “second officer (Casino de Deauville, Casino d’Enghien)”.

    Of a role at more than ``named`` casinos it says at how many. The memberships and their casinos are read already.
    """
    casinos: dict[str, list[str]] = {}
    for each in officer.memberships.all():
        casinos.setdefault(str(Role(each.role).label), []).append(str(each.casino))
    return "; ".join(f"{role} ({_places(names, named)})" for role, names in casinos.items())


def _places(casinos: list[str], named: int | None) -> str:
    if named is None or len(casinos) <= named:
        return ", ".join(casinos)
    return ngettext("%(number)s casino", "%(number)s casinos", len(casinos)) % {"number": count(len(casinos))}
