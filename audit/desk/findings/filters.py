"""The filters beside the list of findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from audit.models.adjudication import Severity
from audit.presentation import count, day, finding_title, provision, ruleset_label
from settlement.catalogue import RULES
from settlement.law import LAW_TEXTS
from settlement.ruleset import RULESETS

MAX_DAYS = 30

MOST_VALUES = 50
"""Values of one filter; the others of an address are left out."""

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


class SeveralValues(admin.SimpleListFilter):
    """A filter that leaves what has any of its values. Each choice adds its own value, or takes it away."""

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        sent = params.get(str(self.parameter_name), ())
        self.values = tuple(dict.fromkeys(value for value in sent if value))[:MOST_VALUES]
        super().__init__(request, params, model, model_admin)

    def choices(self, changelist: Any) -> Iterator[Any]:
        name = str(self.parameter_name)
        cleared = changelist.get_query_string(remove=[name])
        yield {"selected": not self.values, "query_string": cleared, "display": _("All")}
        for lookup, title in self.lookup_choices:
            value = str(lookup)
            others = [each for each in self.values if each != value]
            values = others if value in self.values else [*self.values, value]
            query = changelist.get_query_string({name: values}) if values else cleared
            yield {"selected": value in self.values, "query_string": query, "display": title}


class SeverityFilter(SeveralValues):
    """By severity, under the name that Django's own filter has in addresses."""

    title = _("severity")
    parameter_name = "severity__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Severity.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset.filter(severity__in=self.values) if self.values else queryset


class RuleFilter(SeveralValues):
    """By article, or by rule under its title in the order of the catalogue. Rules without a finding are left out."""

    title = _("rule or article")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        used = used_rules(request)
        articles = [(name, f"{capfirst(provision(text.article))} · {text.title}") for name, text in LAW_TEXTS.items()]
        return articles + [(name, finding_title(name)) for name in RULES if name in used]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        where = Q()
        for value in self.values:
            if value in LAW_TEXTS:
                article = LAW_TEXTS[value].article
                where |= Q(provision=article) | Q(provision__startswith=f"{article} ")
        rules = [value for value in self.values if value not in LAW_TEXTS]
        return queryset.filter(where | Q(rule__in=rules)) if self.values else queryset


class TableFilter(SeveralValues):
    """By table, of the officer's own casinos."""

    title = _("table")
    parameter_name = "table"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tables = in_record(GamingTable.objects.all(), request).values_list("pk", "casino__code", "code")
        return [(str(pk), f"{casino} · {code}") for pk, casino, code in tables]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        tables = _ids(self.values)
        return queryset.filter(table_id__in=tables) if tables else queryset


def _ids(values: Iterable[str]) -> list[int]:
    """Return those of ``values`` that can be the id of a row."""
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


class TableOrGameFilter(TableFilter):
    """By game, or by table."""

    title = _("table or game")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        games = [(name, capfirst(ruleset_label(name))) for name in RULESETS]
        return games + super().lookups(request, model_admin)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        games, tables = [value for value in self.values if value in RULESETS], _ids(self.values)
        if not games and not tables:
            return queryset
        return queryset.filter(Q(ruleset__in=games) | Q(table_id__in=tables))


class DayFilter(SeveralValues):
    """By gaming day: the last thirty that have findings."""

    title = _("gaming day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(each.isoformat(), day(each, with_weekday=True)) for each in newest_days(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        known = {day for day, _label in self.lookup_choices}
        chosen = [value for value in self.values if value in known]
        return queryset.filter(gaming_day__in=chosen) if chosen else queryset


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
