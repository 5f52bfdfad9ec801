"""The list of persons in the order of their incidents or of their money: the largest first, or last.

    findings that stand ──► one sum for each id they name ──► persons whom the directory has, in the order of the sums
                            (one query for players, one for staff)       then everybody else, by id

Persons whom no finding names are never read to be ordered: a directory may have far more of them than findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from django.db.models import Count, F, QuerySet, Sum
from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.debts import AMOUNT, owing
from audit.desk.findings.queues import HEADS
from audit.desk.persons.tallies import Key
from audit.desk.scoped_admin import OfChosenCasino, scope_of
from audit.models import Finding, Person
from audit.persons.directory import Family, family_of
from audit.presentation import units

ORDERS: Mapping[str, str | None] = {"by_incidents": None, "by_owed": "house", "by_overpaid": "player"}
"""What the list may be ordered by, and by whom the money is owed; None for the number of incidents."""

SOME = 100
"""How many more ids are looked up at once than are needed: the directory does not know every one."""

FEW = 200
"""Persons of whom the findings are looked up, and not those of everybody."""

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
        scope = scope_of(request, Capability.SEE_RECORD)
        if self.result_count <= FEW:
            persons = list(self.queryset.order_by(*REST))
            sums = sums_of(order, scope, {each.code for each in persons})
            self.result_list = _in_order(persons, sums, is_descending)[start:stop]
        else:
            self.result_list = _slice(self.queryset, sums_of(order, scope), is_descending, start, stop)


def sums_of(order: str, scope: Scope, codes: Collection[str] | None = None) -> Mapping[Key, Decimal]:
    """Return what ``order`` orders by, more than zero, for each id that standing findings of the scope name.

    With ``codes``, for these ids alone.

    Money is in units of its currency. Units of several currencies are added without a rate: none is known.
    """
    return {
        **_sums("player", Family.PLAYER, order, scope, codes),
        **_sums("croupier", Family.STAFF, order, scope, codes),
    }


def _sums(role: str, family: Family, order: str, scope: Scope, codes: Collection[str] | None) -> dict[Key, Decimal]:
    theirs = scope.rows(Finding.objects.standing()).exclude(**{role: ""}).order_by()
    if codes is not None:
        theirs = theirs.filter(**{f"{role}__in": codes})
    by = ORDERS[order]
    if by is None:
        counted = theirs.filter(HEADS).values_list("casino", role).annotate(number=Count("pk"))
        return {(casino, family, code): Decimal(number) for casino, code, number in counted}
    owed = owing(theirs, by).values_list("casino", role, "currency").annotate(owed=Sum(AMOUNT))
    sums: defaultdict[Key, Decimal] = defaultdict(Decimal)
    for casino, code, currency, minor in owed:
        sums[casino, family, code] += units(minor, currency)
    return dict(sums)


def _in_order(persons: Sequence[Person], sums: Mapping[Key, Decimal], is_descending: bool) -> list[Person]:
    """Return all of ``persons``, which are in the order of ``REST``, as ``_slice`` orders them."""
    positions = {key: position for position, key in enumerate(_ranked(sums))}
    by_key = {(each.casino_id, family_of(each.kind), each.code): each for each in persons}
    known = sorted((key for key in by_key if key in positions), key=positions.__getitem__, reverse=not is_descending)
    first, rest = [by_key[key] for key in known], [each for key, each in by_key.items() if key not in positions]
    return first + rest if is_descending else rest + first


def _ranked(sums: Mapping[Key, Decimal]) -> list[Key]:
    return sorted(sums, key=lambda key: (-sums[key], key[0], key[2], key[1]))


def _slice(
    persons: QuerySet[Person], sums: Mapping[Key, Decimal], is_descending: bool, start: int, stop: int
) -> list[Person]:
    """Return the persons from ``start`` to before ``stop`` in the order of ``sums``, all others at its end."""
    in_order = _ranked(sums)
    if is_descending:
        ranked = _known(persons, in_order, stop)
        if len(ranked) >= stop:
            return _by_pk(persons, ranked[start:stop])
        rest = persons.exclude(pk__in=ranked).order_by(*REST)
        return [*_by_pk(persons, ranked[start:stop]), *rest[max(0, start - len(ranked)) : stop - len(ranked)]]
    ranked = _known(persons, in_order, len(in_order))[::-1]
    rest = persons.exclude(pk__in=ranked).order_by(*REST)
    others = persons.order_by().count() - len(ranked)
    before = list(rest[start : min(stop, others)]) if start < others else []
    return [*before, *_by_pk(persons, ranked[max(0, start - others) : max(0, stop - others)])]


def _known(persons: QuerySet[Person], in_order: Sequence[Key], enough: int) -> list[int]:
    """Return the primary keys of those ids that ``persons`` have, in their order: of ``enough`` of them or all."""
    pks: list[int] = []
    size = enough + SOME
    for low in range(0, len(in_order), size):
        if len(pks) >= enough:
            break
        keys = in_order[low : low + size]
        found = persons.order_by().filter(code__in={code for _casino, _family, code in keys})
        by_key = {
            (casino, family_of(kind), code): pk
            for pk, casino, kind, code in found.values_list("pk", "casino_id", "kind", "code")
        }
        pks += [by_key[key] for key in keys if key in by_key]
    return pks


def _by_pk(persons: QuerySet[Person], pks: list[int]) -> list[Person]:
    found = persons.order_by().in_bulk(pks)
    return [found[pk] for pk in pks]
