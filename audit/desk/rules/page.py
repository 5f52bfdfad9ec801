"""*Rules and law*: every rule with how often it found something, and the page of one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.casework.debts import sums_owed
from audit.casework.stakes import stake_of
from audit.charts.months import MonthColumn, draw_months
from audit.charts.share import draw_share
from audit.desk import parts
from audit.desk.findings.queues import OPEN
from audit.desk.names import directory_for
from audit.desk.overview.waits import losses
from audit.desk.rules import catalogue, counts
from audit.desk.rules.examples import shown_of
from audit.desk.scoped_admin import demands, in_record
from audit.models import Finding, RegisterEntry
from audit.models.adjudication import Severity
from audit.models.cases import Outcome
from audit.persons.directory import Directory, PersonId, players, staff
from audit.presentation import (
    FAMILY_NAMES,
    duration,
    finding_title,
    language,
    money,
    month_of,
    provision,
    reference,
)
from audit.register.currency import currency_of
from audit.register.readings import KINDS, written
from settlement.catalogue import RULES, Rule
from settlement.law import LAW_TEXTS
from settlement.law_coverage.families import looked_at
from settlement.readings import READINGS

LAST_FINDINGS = 8

ENTRIES_SHOWN = 40
"""Entries of the register on the page of a rule, the last that were approved first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A rule of the list."""

    name: str
    title: str
    severity: SafeString
    found: int


@dataclass(frozen=True, slots=True)
class Last:
    """One of the last findings of a rule."""

    finding: Finding
    reference: str
    money: SafeString
    state: SafeString
    player: SafeString
    croupier: SafeString
    is_mistaken: bool


@demands(Capability.SEE_RECORD)
def rules_view(request: HttpRequest) -> HttpResponse:
    """Show every rule under its text, with its findings of the last month."""
    found = counts.in_last_month(in_record(Finding.objects.standing(), request), timezone.localdate())
    context = {
        **admin.site.each_context(request),
        "title": _("Rules and law"),
        "groups": [
            (group, [_line(rule, found.get(rule.name, 0)) for rule in group.rules]) for group in catalogue.groups()
        ],
        "texts": LAW_TEXTS.values(),
        "number": len(RULES),
        "found": sum(found.values()),
    }
    return TemplateResponse(request, "admin/audit/rules/rules.html", context)


@demands(Capability.SEE_RECORD)
def rule_view(request: HttpRequest, name: str) -> HttpResponse:
    """Show one rule: its clauses, its findings of a year at the officer's casinos, and the readings it hangs on."""
    rule = RULES.get(name)
    if rule is None:
        raise Http404
    today = timezone.localdate()
    since = counts.first_month(today)
    year = in_record(Finding.objects.standing(), request).filter(gaming_day__gte=since)
    own = year.filter(rule=name)
    months = counts.by_month(own, today)
    closed, of_all = counts.closed_cases(year, name)
    last = list(own.select_related("casino", "table", "case")[:LAST_FINDINGS])
    croupiers = counts.by_croupier(own)
    names = _names(request, last, croupiers)
    tables = counts.by_table(own)
    before, after = catalogue.around(rule)
    context = {
        **admin.site.each_context(request),
        "title": finding_title(name),
        "rule": rule,
        "severity": parts.severity(rule.severity),
        "exceptional": str(Severity(rule.exceptional_severity).label) if rule.exceptional_severity else "",
        "families": [FAMILY_NAMES[family] for family in sorted(looked_at(name))],
        "near": [(each.name, finding_title(each.name)) for each in catalogue.near(rule)],
        "before": before,
        "after": after,
        "explanation": rule.explanation.in_language(language()),
        "reason": rule.reason.in_language(language()) if rule.reason is not None else "",
        "texts": [LAW_TEXTS[text] for text in catalogue.texts_of()[name]],
        "clauses": catalogue.clauses_of(rule, language()),
        "clauses_of_the_bet": catalogue.clauses_of_the_bet(rule, language()),
        "rests_on_the_bet": catalogue.rests_on_the_bet(rule),
        "findings": f"{reverse('admin:audit_finding_changelist')}?{urlencode({'rule': name})}",
        "months": months,
        "since": since,
        "found": sum(month.found for month in months),
        "open": own.filter(case__state__in=OPEN).count(),
        "columns": _columns(name, months),
        "examples": shown_of(name),
        "in_a_month": months[-1],
        "losses": losses(sums_owed(own)),
        "closed": closed,
        "stood": closed.closed - closed.mistaken,
        "mistaken_bar": mark_safe(draw_share(closed.closed - closed.mistaken, closed.closed, kind="stood")),
        "half_within": duration(closed.half_within.total_seconds()) if closed.half_within is not None else "",
        "of_all": of_all,
        "tables": _with_bars(tables),
        "several_casinos": len({casino for _id, _code, casino, _number in tables}) > 1,
        "croupiers": _with_bars(
            [
                (parts.person("croupier", casino, code, names[casino].staff(code)), number)
                for casino, code, number in croupiers
            ]
        ),
        "readings": _readings(request, rule, today),
        "has_fixed_readings": any(name not in KINDS for name in catalogue.readings_of(rule)),
        "last": [_last(each, names[each.casino_id]) for each in last],
    }
    return TemplateResponse(request, "admin/audit/rules/rule.html", context)


def _line(rule: Rule, found: int) -> Line:
    return Line(rule.name, finding_title(rule.name), parts.severity(rule.severity), found)


def _columns(name: str, months: list[counts.Month]) -> SafeString:
    columns = []
    for month in months:
        label = f"{month_of(month.first)}: {month.found}"
        if month.mistaken:
            label += f", {_('closed as mistaken')}: {month.mistaken}"
        columns.append(MonthColumn(month_of(month.first).rpartition(" ")[0], month.found, month.mistaken, label))
    spoken = "; ".join(each.label for each in columns)
    return mark_safe(draw_months(columns, title=finding_title(name), description=spoken))  # our own drawing


def _names(
    request: HttpRequest, findings: Iterable[Finding], croupiers: Iterable[tuple[int, str, int]]
) -> Mapping[int, Directory]:
    """Return by casino the names of the persons of a page, where the officer sees names: one query a casino."""
    persons: dict[int, list[PersonId]] = {}
    for each in findings:
        persons.setdefault(each.casino_id, []).extend([*players([each.player]), *staff([each.croupier])])
    for casino, code, _number in croupiers:
        persons.setdefault(casino, []).extend(staff([code]))
    return {casino: directory_for(request, casino, ids) for casino, ids in persons.items()}


def _with_bars(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return rows that end with their number, each with a bar of it; the first, which has the most, is darker."""
    most = max((row[-1] for row in rows), default=1)
    return [
        {"row": row, "number": row[-1], "bar": mark_safe(draw_share(row[-1], most, kind="of" if index else "most"))}
        for index, row in enumerate(rows)
    ]


def _last(finding: Finding, names: Directory) -> Last:
    stake = stake_of(finding, finding.player and names.player(finding.player), money)
    state = parts.state_pie(finding.case) if finding.case is not None else SafeString("")
    is_mistaken = finding.case is not None and finding.case.outcome == Outcome.MISTAKEN and bool(finding.case.closed_at)
    return Last(
        finding,
        reference(finding),
        parts.who(stake, with_amount=bool(stake.amount)),
        state,
        _person("player", finding, finding.player, names.player),
        _person("croupier", finding, finding.croupier, names.staff),
        is_mistaken,
    )


def _person(role: str, finding: Finding, code: str, named: Callable[[str], str]) -> SafeString:
    return parts.person(role, finding.casino_id, code, named(code)) if code else SafeString("")


def _readings(request: HttpRequest, rule: Rule, today: date) -> list[dict[str, Any]]:
    """Return the readings that a rule hangs on, with the entries of the register that are in force: one query."""
    names = catalogue.readings_of(rule)
    if not names:
        return []
    in_force = in_record(RegisterEntry.objects.filter(version__isnull=False, reading__in=names), request)
    in_force = in_force.filter(Q(last_day=None) | Q(last_day__gte=today), first_day__lte=today, value__isnull=False)
    entries = list(
        in_force.select_related("casino", "table", "proposed_by", "decided_by").order_by("-version")[:ENTRIES_SHOWN]
    )
    return [
        {
            # What the register cannot decide has no title of its own: it is named by the clauses that leave it open.
            "title": KINDS[name].title if name in KINDS else ", ".join(map(provision, READINGS[name].leaves_open)),
            "is_decidable": name in KINDS,
            "decision": READINGS[name].decision.in_language(language()),
            "entries": [
                {"entry": entry, "value": written(name, entry.value, currency_of(entry.casino))}
                for entry in entries
                if entry.reading == name
            ],
        }
        for name in names
    ]
