"""The filters beside the list of findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from audit.desk.findings.queues import queues
from audit.desk.scoped_admin import in_record, officer_of
from audit.models import Finding, FindingStatus, GamingTable
from audit.presentation import day, finding_title
from settlement.catalogue import RULES

MAX_DAYS = 30

HAS_CASE: Mapping[str, Any] = MappingProxyType({"case__weight__gte": 0})
"""True of every finding that stands or has stood. PostgreSQL reads the list in the order of an index once it knows."""


class QueueFilter(admin.SimpleListFilter):
    """By queue. The queues are tabs above the list, so the sidebar shows nothing."""

    title = _("queue")
    parameter_name = "queue"
    template = "admin/audit/parts/empty.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _where) in queues(officer_of(request)).items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        queue = queues(officer_of(request)).get(self.value() or "")
        return queryset.filter(queue[1]) if queue is not None else queryset


class RuleFilter(admin.SimpleListFilter):
    """By rule, under its title, in the order of the catalogue. Rules without a finding are left out."""

    title = _("rule")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        used = set(in_record(Finding.objects.order_by(), request).values_list("rule", flat=True).distinct())
        return [(name, finding_title(name)) for name in RULES if name in used]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset.filter(rule=self.value()) if self.value() else queryset


class TableFilter(admin.SimpleListFilter):
    """By table, of the officer's own casinos."""

    title = _("table")
    parameter_name = "table"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tables = in_record(GamingTable.objects.all(), request)
        return [(str(table.pk), f"{table.casino.code} · {table.code}") for table in tables.select_related("casino")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(table_id=int(value)) if value and value.isdigit() else queryset


class DayFilter(admin.SimpleListFilter):
    """By gaming day: the last thirty that have findings."""

    title = _("gaming day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = in_record(Finding.objects.order_by("-gaming_day"), request)
        days = newest.values_list("gaming_day", flat=True).distinct()
        return [(each.isoformat(), day(each, with_weekday=True)) for each in days[:MAX_DAYS]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        chosen = self.value()
        if chosen is None or chosen not in {known for known, _label in self.lookup_choices}:
            return queryset
        return queryset.filter(gaming_day=chosen)


class StandingFilter(admin.SimpleListFilter):
    """Standing findings, unless the officer asks for others: superseded ones, or those that do not stand yet or never
    did. Those two have no case, and are in no other list.
    """

    title = _("validity")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("superseded", _("superseded")),
            ("pending", _("pending")),
            ("never", _("never stood")),
            ("all", _("all")),
        ]

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Name the choice without a parameter “standing”; Django would call it “All”."""
        for choice in super().choices(changelist):
            is_default = "standing=" not in choice["query_string"]
            yield {**choice, "display": _("standing")} if is_default else choice

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        match self.value():
            case "pending":
                return queryset.filter(status=FindingStatus.PENDING)
            case "never":
                return queryset.filter(status=FindingStatus.SUPERSEDED, stood_at=None)
            case "all":
                return queryset.filter(**HAS_CASE)
            case "superseded":
                return queryset.filter(**HAS_CASE, status=FindingStatus.SUPERSEDED)
            case _:
                return queryset.filter(**HAS_CASE, status=FindingStatus.STANDING)
