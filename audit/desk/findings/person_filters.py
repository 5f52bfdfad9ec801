"""Filters of the findings list that other pages lead to: by person, month and who is owed. Without a sidebar."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.contrib import admin
from django.db.models import BigIntegerField, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from audit.models import Finding
from audit.presentation import month_of
from audit.reconciliation.month import month_after


class _LedTo(admin.SimpleListFilter):
    """A filter that only a link sets: its one choice is what the address says."""

    template = "admin/audit/parts/empty.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        value = request.GET.get(self.parameter_name or "", "")
        return [(value, self.words(value))] if value else []

    def words(self, value: str) -> str:
        """Return what the filter says of its value."""
        return value


class CroupierFilter(_LedTo):
    title = _("croupier")
    parameter_name = "croupier"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset.filter(croupier=_text(self.value())) if self.value() else queryset


class PlayerFilter(_LedTo):
    title = _("player")
    parameter_name = "player"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset.filter(player=_text(self.value())) if self.value() else queryset


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
        by = {"player": "house", "bank": "player"}.get(self.value() or "")
        return queryset.filter(owed__by=by).exclude(difference=0) if by else queryset


OWED = {"player": _("Owed to players, the largest sum first"), "bank": _("Paid too much, the largest sum first")}
"""What the list says that is narrowed to money owed to one side."""

LARGEST_FIRST = (Cast(KT("owed__amount"), BigIntegerField()).desc(nulls_last=True), "-pk")


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
