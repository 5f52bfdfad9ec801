"""The filters beside the list of findings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework.priority import units_of_currency
from audit.desk.findings.person_filters import owing_in, with_size
from audit.desk.findings.queues import queues
from audit.desk.scoped_admin import chosen_casino, in_record, is_of_sandbox, officer_of, scope_of
from audit.event_store import binary_copy
from audit.models import Finding, FindingStatus, GamingTable
from audit.presentation import count, day, finding_title, provision, ruleset_label
from settlement.catalogue import RULES
from settlement.law import LAW_TEXTS
from settlement.ruleset import RULESETS

MAX_DAYS = 30

AMOUNTS = (10, 100, 1_000)
"""From how many units of its currency an amount may be asked for."""

HAS_CASE = Q(case__isnull=False)
"""True of every finding that stands or has stood."""

HAS_WEIGHT = Q(case__weight__gte=0)
"""True of every finding with a case: PostgreSQL reads a page in the order of an index of cases once it knows."""


_CHOSEN = "unnest(%b::bigint[])"
_THEIRS = (
    "unnest((select array_agg(id) from audit_casino"
    " where not is_sandbox and id = any (coalesce(%b::bigint[], array[id]))))"
)
"""The casinos of a parameter: the chosen one; else all of them, or where it is null every one, but the sandboxes."""


def _casinos(request: HttpRequest) -> tuple[str, list[int] | None]:
    """Return the casinos that a list of findings shows: their SQL and its parameter."""
    chosen = chosen_casino(request)
    if chosen is not None:
        return _CHOSEN, [chosen]
    ids = scope_of(request, Capability.SEE_RECORD).casino_ids
    return _THEIRS, None if ids is None else list(ids)


def used_rules(request: HttpRequest) -> frozenset[str]:
    """Return the rules that have findings at the officer's casinos: one look into the index for each."""
    casinos, ids = _casinos(request)
    rows = binary_copy.execute(
        f"select r from unnest(%b::text[]) r where exists (select from {casinos} c cross join lateral ("
        "select from audit_finding f where f.casino_id = c and f.rule = r limit 1) found)",
        (list(RULES), ids),
    )
    return frozenset(rule for (rule,) in rows)


def newest_days(request: HttpRequest) -> list[date]:
    """Return the last gaming days that have findings at the officer's casinos: one look into the index for each."""
    casinos, ids = _casinos(request)
    rows = binary_copy.execute(
        "with recursive days (day) as ("
        f" select max(newest.day) from {casinos} c cross join lateral ("
        "  select max(f.gaming_day) as day from audit_finding f where f.casino_id = c) newest"
        " union all"
        f" select (select max(newest.day) from {casinos} c cross join lateral ("
        "  select max(f.gaming_day) as day from audit_finding f"
        "  where f.casino_id = c and f.gaming_day < days.day) newest)"
        " from days where days.day is not null"
        ") select day from days where day is not null limit %b::int",
        (ids, ids, MAX_DAYS),
    )
    return [day for (day,) in rows]


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
    """By article, or by rule under its title in the order of the catalogue. Rules without a finding are left out."""

    title = _("rule or article")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        used = used_rules(request)
        articles = [(name, f"{capfirst(provision(text.article))} · {text.title}") for name, text in LAW_TEXTS.items()]
        return articles + [(name, finding_title(name)) for name in RULES if name in used]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        value = self.value() or ""
        if value in LAW_TEXTS:
            article = LAW_TEXTS[value].article
            return queryset.filter(Q(provision=article) | Q(provision__startswith=f"{article} "))
        return queryset.filter(rule=value) if value else queryset


class TableFilter(admin.SimpleListFilter):
    """By table, of the officer's own casinos."""

    title = _("table")
    parameter_name = "table"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tables = in_record(GamingTable.objects.all(), request).values_list("pk", "casino__code", "code")
        return [(str(pk), f"{casino} · {code}") for pk, casino, code in tables]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(table_id=int(value)) if value and value.isdigit() else queryset


class TableOrGameFilter(TableFilter):
    """By game, or by table."""

    title = _("table or game")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        games = [(name, capfirst(ruleset_label(name))) for name in RULESETS]
        return games + super().lookups(request, model_admin)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(ruleset=value) if value in RULESETS else super().queryset(request, queryset)


class DayFilter(admin.SimpleListFilter):
    """By gaming day: the last thirty that have findings."""

    title = _("gaming day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(each.isoformat(), day(each, with_weekday=True)) for each in newest_days(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        chosen = self.value()
        if chosen is None or chosen not in {known for known, _label in self.lookup_choices}:
            return queryset
        return queryset.filter(gaming_day=chosen)


class AmountFilter(admin.SimpleListFilter):
    """By the money that is owed now, in units of its currency, whoever loses it: of an incident where a list has one
    line for it, else of a finding."""

    title = _("amount")
    parameter_name = "amount"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        least = [(str(units), _("%(number)s or more") % {"number": count(units)}) for units in AMOUNTS]
        return [*least, ("none", _("no amount"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        value = self.value() or ""
        if value != "none" and value not in map(str, AMOUNTS):
            return queryset
        findings = with_size(queryset, request)
        if value == "none":
            return findings.filter(size=None)
        return findings.filter(size__gte=Value(int(value)) * units_of_currency())


class LosesFilter(admin.SimpleListFilter):
    """By who loses: the players or the house. Unlike ``OwedFilter``, it leaves the order as it is."""

    title = _("who loses")
    parameter_name = "loses"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("players", _("players")), ("house", _("the house")), ("nobody", _("nobody"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        match self.value():
            case "players":
                return owing_in(queryset, request, "house")
            case "house":
                return owing_in(queryset, request, "player")
            case "nobody":
                return with_size(queryset, request).filter(Q(size=None) | Q(size=0))
            case _:
                return queryset


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

    @staticmethod
    def leaves_cases(request: HttpRequest) -> bool:
        """Return whether every finding that this filter leaves has a case."""
        return request.GET.get("standing") not in ("pending", "never") and not is_of_sandbox(request)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        # Those of a sandbox stand without a case.
        stood = Q(stood_at__isnull=False) if is_of_sandbox(request) else HAS_CASE
        match self.value():
            case "pending":
                return queryset.filter(status=FindingStatus.PENDING)
            case "never":
                return queryset.filter(status=FindingStatus.SUPERSEDED, stood_at=None)
            case "all":
                return queryset.filter(stood)
            case "superseded":
                return queryset.filter(stood, status=FindingStatus.SUPERSEDED)
            case _:
                return queryset.filter(stood, status=FindingStatus.STANDING)
