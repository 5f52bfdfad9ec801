"""Scopes: the casinos, and tables of them, at which an officer or an API key may do something.

``Scope.of`` is the only way from a request, a key or a task to rows: a page, a list, a choice in a form, a filter, a
file and a background job all begin with it. For the user, nothing exists that it leaves out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from audit.access.capabilities import Capability, roles_with
from audit.models import ApiKey, Casino, KeyScope, Membership, Officer
from audit.models.officers import is_active_account

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Scope:
    """Casinos by id, None for every casino; and tables by id, None for every table and the count room."""

    casino_ids: frozenset[int] | None = frozenset()
    table_ids: frozenset[int] | None = None

    @classmethod
    def of(cls, who: Officer | ApiKey, *needed: Capability | KeyScope) -> Scope:
        """Return where ``who`` has one of the capabilities, or for a key of the key's scopes, ``needed``.

        An officer who has left has none; a superuser has every capability at every casino.
        """
        if isinstance(who, ApiKey):
            has_scope = any(scope in who.scopes for scope in needed)
            return cls(frozenset({who.casino_id}), who.own_tables or None) if has_scope else cls()
        if not who.is_active:
            return cls()
        if who.is_superuser:
            return cls(None)
        roles = roles_with(*(each for each in needed if isinstance(each, Capability)))
        return cls(frozenset(casino_id for casino_id, role in who.roles_by_casino.items() if role in roles))

    def __bool__(self) -> bool:
        """Whether there is any casino in it; for a scope of every casino, whether or not one is registered yet."""
        return self.is_everywhere or bool(self.casino_ids)

    @property
    def is_everywhere(self) -> bool:
        """Whether it is every casino, and the installation itself."""
        return self.casino_ids is None

    def includes(self, casino_id: int | None, table_id: int | None = None) -> bool:
        """Return whether a row of that casino and table is in it. ``casino_id`` None is the installation itself."""
        if self.casino_ids is None:
            return True
        return casino_id in self.casino_ids and (self.table_ids is None or table_id in self.table_ids)

    def casinos(self) -> QuerySet[Casino]:
        """Return the casinos, in the order of their codes."""
        return self.rows(Casino.objects.all(), casino="pk")

    def rows(self, rows: QuerySet[Row], *, casino: str = "casino", table: str = "table") -> QuerySet[Row]:
        """Return those of ``rows`` that are in it. ``casino`` and ``table`` are the lookups from a row to its own."""
        if self.casino_ids is None:
            return rows
        found = rows.filter(Q(**{f"{casino}__in": self.casino_ids}))
        return found if self.table_ids is None else found.filter(Q(**{f"{table}__in": self.table_ids}))


def officers_with(capability: Capability, casino_ids: Collection[int] | None) -> QuerySet[Officer]:
    """Return the active officers who have a capability at one of the casinos, None for any; without superusers."""
    memberships = Membership.objects.filter(role__in=roles_with(capability))
    if casino_ids is not None:
        memberships = memberships.filter(casino__in=casino_ids)
    return Officer.objects.filter(is_active_account(), pk__in=memberships.values("officer"))
