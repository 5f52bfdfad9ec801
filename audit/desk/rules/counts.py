"""How often rules found something: grouped in the database, so that a page costs the same with any number of findings.

The gaming day bounds what is read: ``finding_by_day`` has casino, day and rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Aggregate, Count, DurationField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf, TruncMonth

from audit.models import Finding
from audit.models.cases import Outcome, State
from audit.reconciliation.month import month_after

DAYS = 31
"""The last month, in gaming days."""

MONTHS = 12

MISTAKEN = Q(case__outcome=Outcome.MISTAKEN, case__state=State.CLOSED)


@dataclass(frozen=True, slots=True)
class Month:
    """The findings of a rule in one month, and how many of them officers closed as mistaken."""

    first: date
    found: int
    mistaken: int


CROUPIERS = 10
"""Croupiers named on the page of a rule, those with the most findings."""


class Median(Aggregate):
    """The least value that half of them do not exceed."""

    function = "percentile_disc"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"


@dataclass(frozen=True, slots=True)
class Closed:
    """How many cases are closed, how many of them as mistaken, and in which time half of them were."""

    closed: int
    mistaken: int
    half_within: timedelta | None = None

    @property
    def percent(self) -> int:
        return round(100 * self.mistaken / self.closed) if self.closed else 0


def in_last_month(standing: QuerySet[Finding], today: date) -> dict[str, int]:
    """Return how many findings with a case each rule has in the last month, by its name: one query.

    Information without a case was only noted, and is on the list of its night.
    """
    recent = standing.filter(case__isnull=False, gaming_day__gt=today - timedelta(days=DAYS)).order_by()
    return dict(recent.values_list("rule").annotate(count=Count("pk")))


def first_month(today: date) -> date:
    """Return the first day of the earliest month that a page counts."""
    months = today.year * 12 + today.month - MONTHS
    return date(months // 12, months % 12 + 1, 1)


def by_month(findings: QuerySet[Finding], today: date) -> list[Month]:
    """Return the last twelve months in order, those without a finding included: one query."""
    first = first_month(today)
    rows = (
        findings.order_by()
        .values_list(TruncMonth("gaming_day"))
        .annotate(found=Count("pk"), mistaken=Count("pk", filter=MISTAKEN))
    )
    counted = {month: (found, mistaken) for month, found, mistaken in rows}
    starts = [first]
    while len(starts) < MONTHS:
        starts.append(month_after(starts[-1]))
    return [Month(start, *counted.get(start, (0, 0))) for start in starts]


def by_table(findings: QuerySet[Finding]) -> Sequence[tuple[int | None, str | None, str, int]]:
    """Return id and code of each table, the name of its casino and its number of findings, most first: one query."""
    return list(
        findings.order_by()
        .values_list("table_id", "table__code", Coalesce(NullIf("casino__name", Value("")), "casino__code"))
        .annotate(count=Count("pk"))
        .order_by("-count", "casino__code", "table__code")
    )


def closed_cases(findings: QuerySet[Finding], rule: str) -> tuple[Closed, Closed]:
    """Return the closed cases of a rule and those of all rules: one query. A case counts once."""
    counts = findings.order_by().aggregate(
        closed=Count("case", distinct=True, filter=Q(case__state=State.CLOSED, rule=rule)),
        mistaken=Count("case", distinct=True, filter=MISTAKEN & Q(rule=rule)),
        all_closed=Count("case", distinct=True, filter=Q(case__state=State.CLOSED)),
        all_mistaken=Count("case", distinct=True, filter=MISTAKEN),
        half_within=Median(
            F("case__closed_at") - F("occurred_at"),
            filter=Q(case__state=State.CLOSED, rule=rule, heads_case=True),
            output_field=DurationField(),
        ),
    )
    own = Closed(counts["closed"], counts["mistaken"], counts["half_within"])
    return own, Closed(counts["all_closed"], counts["all_mistaken"])


def by_croupier(findings: QuerySet[Finding]) -> Sequence[tuple[int, str, int]]:
    """Return the casino, the id and the number of findings of the croupiers with the most: one query."""
    named = findings.exclude(croupier="").order_by().values_list("casino_id", "croupier")
    return list(named.annotate(count=Count("pk")).order_by("-count", "croupier")[:CROUPIERS])
