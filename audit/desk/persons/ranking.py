"""The list of persons in the order of their incidents or of their money: the largest first, or last.

    findings that stand ──► one sum for each id they name ──► persons whom the directory has, in the order of the sums
                            (one query for players, one for staff)       then everybody else, by id

Persons whom no finding names are never read to be ordered: a directory may have far more of them than findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from django.db.models import BigIntegerField, Count, F, QuerySet, Sum, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Abs, Coalesce
from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.findings.queues import HEADS
from audit.desk.persons.tallies import Key
from audit.desk.scoped_admin import OfChosenCasino, scope_of
from audit.models import Finding, Person
from audit.persons.directory import Family, family_of
from audit.presentation import units

ORDERS: Mapping[str, str | None] = MappingProxyType({"by_incidents": None, "by_owed": "house", "by_overpaid": "player"})
"""What the list may be ordered by, and by whom the money is owed; None for the number of incidents."""

REST = ("casino", "code", "kind")
"""The order of those of whom nothing is to be said."""


def orderable(persons: QuerySet[Person]) -> QuerySet[Person]:
    """Return ``persons`` with names that Django's list may order by; what the order is, ``InOrder`` says."""
    return persons.alias(**dict.fromkeys(ORDERS, F("pk")))


class InOrder(OfChosenCasino):
    """The list of persons, which orders itself where a column of ``ORDERS`` is chosen."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        chosen = str(self.queryset.query.order_by[0])
        order, is_descending = chosen.removeprefix("-"), chosen.startswith("-")
        if order not in ORDERS:
            return
        is_whole = (self.show_all and self.can_show_all) or not self.multi_page
        start = 0 if is_whole else (self.page_num - 1) * self.list_per_page
        stop = self.result_count if is_whole else min(start + self.list_per_page, self.result_count)
        sums = sums_of(order, scope_of(request, Capability.SEE_RECORD))
        self.result_list = _slice(self.queryset, sums, is_descending, start, stop)


def sums_of(order: str, scope: Scope) -> Mapping[Key, Decimal]:
    """Return what ``order`` orders by, more than zero, for each id that standing findings of the scope name.

    Money is in units of its currency. Units of several currencies are added without a rate: none is known.
    """
    return {
        **_sums("player", Family.PLAYER, order, scope),
        **_sums("croupier", Family.STAFF, order, scope),
    }


def _sums(role: str, family: Family, order: str, scope: Scope) -> dict[Key, Decimal]:
    theirs = scope.rows(Finding.objects.standing()).filter(HEADS).exclude(**{role: ""}).order_by()
    by = ORDERS[order]
    if by is None:
        counted = theirs.values_list("casino", role).annotate(number=Count("pk"))
        return {(casino, family, code): Decimal(number) for casino, code, number in counted}
    owed = theirs.alias(by=KT("owed__by")).filter(by=by).exclude(difference=0)
    lost = Coalesce(Sum(Abs("difference")), Value(0), output_field=BigIntegerField())
    sums: defaultdict[Key, Decimal] = defaultdict(Decimal)
    for casino, code, currency, minor in owed.values_list("casino", role, "currency").annotate(lost=lost):
        sums[casino, family, code] += units(minor, currency)
    return dict(sums)


def _slice(
    persons: QuerySet[Person], sums: Mapping[Key, Decimal], is_descending: bool, start: int, stop: int
) -> list[Person]:
    """Return the persons from ``start`` to before ``stop`` in the order of ``sums``, all others at its end."""
    codes = {code for _casino, _family, code in sums}
    known = persons.order_by().filter(code__in=codes).values_list("pk", "casino_id", "kind", "code")
    ranked: list[tuple[Any, ...]] = [
        (sum_, casino, code, kind, pk)
        for pk, casino, kind, code in known
        if (sum_ := sums.get((casino, family_of(kind), code)))
    ]
    ranked.sort(key=lambda each: (-each[0] if is_descending else each[0], *each[1:]))
    pks = [pk for *_key, pk in ranked]
    rest = persons.exclude(pk__in=pks).order_by(*REST)
    if is_descending:
        first, others = pks[start:stop], (max(0, start - len(pks)), max(0, stop - len(pks)))
        chosen = _by_pk(persons, first)
        return [*chosen, *rest[slice(*others)]]
    others_count = persons.order_by().count() - len(pks)
    before = list(rest[start : min(stop, others_count)]) if start < others_count else []
    return [*before, *_by_pk(persons, pks[max(0, start - others_count) : max(0, stop - others_count)])]


def _by_pk(persons: QuerySet[Person], pks: list[int]) -> list[Person]:
    found = persons.order_by().in_bulk(pks)
    return [found[pk] for pk in pks]
