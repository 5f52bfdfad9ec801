"""Filters of the findings list that other pages lead to: by person, whose id or name can be typed too, by month and who
is owed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from audit.casework.debts import AMOUNT, SIDES, incidents_owing, owed_at_finding, owed_by_incident, owing
from audit.desk.findings.queues import QUEUES
from audit.desk.findings.search import MAX_TERM, persons_named
from audit.models import Finding, PersonKind
from audit.presentation import month_of
from audit.reconciliation.month import month_after


class _LedTo(admin.SimpleListFilter):
    """A filter that only a link sets: its one choice is what the address says."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        value = request.GET.get(self.parameter_name or "", "")
        return [(value, self.words(value))] if value else []

    def words(self, value: str) -> str:
        """Return what the filter says of its value."""
        return value


class _Typed(_LedTo):
    """By somebody whose id, or a part of whose name, is typed; a name only where the officer sees names.

    An id of the directory is that person alone. Without somebody in it, what is typed is an id.
    """

    template = "admin/audit/findings/typed_filter.html"
    kinds: Q
    shown = ""
    """Who is chosen, as the page names them."""

    def has_output(self) -> bool:
        return True

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        typed = _text(self.value()).strip()[:MAX_TERM]
        if not typed:
            return queryset
        role = str(self.parameter_name)
        named = persons_named(request, self.kinds & Q(code=typed))
        where = Q(**{role: typed})
        self.shown = named[0].name if named else typed
        for each in [] if named else persons_named(request, self.kinds & Q(name__icontains=typed)):
            where |= Q(casino=each.casino_id, **{role: each.code})
        return queryset.filter(where)

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Yield that everybody is chosen, whoever is typed, and what of the address the form keeps."""
        yield {
            "selected": not self.shown,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": _("All"),
            "kept": [
                (name, value)
                for name, values in changelist.filter_params.items()
                for value in values
                if name not in ("p", self.parameter_name)
            ],
        }
        if self.shown:
            yield {"selected": True, "query_string": "", "display": self.shown}


class CroupierFilter(_Typed):
    title = _("croupier")
    parameter_name = "croupier"
    kinds = ~Q(kind=PersonKind.PLAYER)


class PlayerFilter(_Typed):
    title = _("player")
    parameter_name = "player"
    kinds = Q(kind=PersonKind.PLAYER)


class MonthFilter(_LedTo):
    """By the month of the gaming day, ``2026-11``."""

    title = _("month")
    parameter_name = "month"

    def words(self, value: str) -> str:
        first = first_of(value)
        return month_of(first) if first is not None else value

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        first = first_of(self.value() or "")
        if first is None:
            return queryset
        return queryset.filter(gaming_day__gte=first, gaming_day__lt=month_after(first))


class OwedFilter(_LedTo):
    """By who is owed money: "player" or "bank". The list is then in the order of the amounts, the largest first."""

    parameter_name = "owed"
    title = _("owed")

    def words(self, value: str) -> str:
        return str(OWED.get(value, value))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        by = SIDES.get(self.value() or "")
        return owing_in(queryset, request, by).alias(owed_now=_owed(request, by)) if by else queryset


OWED = {"player": _("Owed to players, the largest sum first"), "bank": _("Paid too much, the largest sum first")}
"""What the list says that is narrowed to money owed to one side."""

LARGEST_FIRST = (F("owed_now").desc(nulls_last=True), "-pk")
"""The order of a list that ``OwedFilter`` narrows."""


def is_of_incidents(request: HttpRequest) -> bool:
    """Return whether a list has one line for an incident, which then has the money of all its findings."""
    return request.GET.get("queue") in QUEUES


def with_size(findings: QuerySet[Any], request: HttpRequest) -> QuerySet[Any]:
    """Return the findings of a list with ``size``, what is owed now by each line of it: null where no money is."""
    size = owed_by_incident() if is_of_incidents(request) else owed_at_finding()
    described: QuerySet[Any] = findings.annotate(size=size)
    return described


def owing_in(findings: QuerySet[Any], request: HttpRequest, by: str) -> QuerySet[Any]:
    """Return the findings of a list by whose lines ``by``, "house" or "player", owes money."""
    return incidents_owing(findings, by) if is_of_incidents(request) else owing(findings, by)


def _owed(request: HttpRequest, by: str) -> Combinable:
    return owed_by_incident(by) if is_of_incidents(request) else AMOUNT


def first_of(month: str) -> date | None:
    """Return the first day of a month as an address has it, ``2026-11``; None for anything else."""
    try:
        first = date.fromisoformat(f"{month}-01")
    except ValueError:
        return None
    return first if 1970 <= first.year < 9999 and len(month) == 7 else None


def findings_address(**query: str) -> str:
    """Return the address of the findings list with some filters; those that are "" are left out."""
    chosen = {name: value for name, value in query.items() if value}
    return f"{reverse('admin:audit_finding_changelist')}?{urlencode(chosen)}"


def _text(value: str | None) -> str:
    return (value or "").replace("\0", "")
