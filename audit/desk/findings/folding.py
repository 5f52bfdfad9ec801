"""How patterns fold in a queue: one line for what the same croupier repeats, the others of it beneath.

    by deadline            ☰ Payout missing   pattern     €180.00  overpaid
                             F-26-0151  and 8 like it
                               F-26-0153  19 Nov, 22:04 CET  €20.00 …

The line is the pattern's most urgent incident, and stands where that stands. Each incident keeps its own case, deadline
and place in every other list; what is done to several at once, and which case is taken next, is asked of the whole
list. Nothing folds where a list is grouped by night, croupier or pattern: there each incident is to be seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, Max, Min, QuerySet, Sum, TextField, Value, When, Window
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat, RowNumber
from django.http import HttpRequest

from audit.desk.findings.grouping import Grouping, Key, grouping_of
from audit.desk.findings.person_filters import OWED
from audit.desk.findings.queues import OPEN_QUEUES
from audit.models import Finding

FOLDED_SHOWN = 4
"""Incidents that have a line beneath that of their pattern; the queue of patterns has all."""

_PATTERN = Concat(Cast("casino", TextField()), Value(" "), "rule", Value(" "), "croupier")
_FOLD = Case(When(priority_repeated=True, then=_PATTERN), default=Value(""), output_field=TextField())
"""What incidents of one pattern have in common; "" of one that is of none."""


@dataclass(slots=True)
class Amounts:
    """Some incidents of one pattern or of none: how many, and what is owed, by who owes it and in which currency.

    ``players`` are the first and the last of those concerned, in the order of their ids.
    """

    count: int = 0
    owed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    players: set[str] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        self.count += row["count"]
        self.players |= {row["first_player"], row["last_player"]}
        if row["by"] and row["total"]:
            self.owed[row["by"], row["currency"]] += row["total"]


@dataclass(slots=True)
class Summed:
    """What a queue is about: the incidents of no pattern by the group they are in, and each pattern with its group."""

    single: dict[Key, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    patterns: dict[str, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    group_of: dict[str, Key] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many incidents the queue has."""
        return sum(each.count for each in (*self.single.values(), *self.patterns.values()))

    @property
    def lines(self) -> int:
        """How many lines the queue has: one for an incident of no pattern, one for a pattern."""
        return sum(each.count for each in self.single.values()) + len(self.patterns)

    def groups(self) -> Iterable[tuple[Key, Amounts]]:
        """Yield what each group is made of: a pattern is in that of its most urgent incident."""
        yield from self.single.items()
        for pattern, amounts in self.patterns.items():
            yield self.group_of[pattern], amounts


def is_queue(request: HttpRequest) -> bool:
    """Return whether a list is a queue of open cases in the order of its groups."""
    return request.GET.get("queue") in OPEN_QUEUES and not request.GET.get("o")


def is_folded(request: HttpRequest) -> bool:
    """Return whether patterns fold in the list of a request."""
    return is_queue(request) and request.GET.get("owed") not in OWED and grouping_of(request).folds


def summed(everything: QuerySet[Any], grouping: Grouping, *, folds: bool) -> Summed:
    """Return what a queue is about: one query. An incident counts once, with what its cause owes."""
    found = (
        everything.order_by()
        .annotate(fold=_FOLD if folds else Value(""))
        .values(*grouping.fields, "currency", "fold", by=KT("owed__by"))
        .annotate(
            count=Count("pk"),
            total=Sum(Cast(KT("owed__amount"), BigIntegerField())),
            first_player=Min("player"),
            last_player=Max("player"),
        )
    )
    of_all = Summed()
    for row in found:
        key, pattern = tuple(row[each] for each in grouping.fields), row["fold"]
        if not pattern:
            of_all.single[key].add(row)
            continue
        of_all.patterns[pattern].add(row)
        of_all.group_of[pattern] = min(key, of_all.group_of.get(pattern, key))
    return of_all


def folded(everything: QuerySet[Any], grouping: Grouping) -> QuerySet[Any]:
    """Return the incidents that have a line: those of no pattern, and the first of each pattern."""
    return _numbered(everything, grouping).filter(nth=1)


def beneath(everything: QuerySet[Any], grouping: Grouping, lines: Sequence[Finding]) -> Mapping[str, list[Finding]]:
    """Return the first incidents beneath each pattern among ``lines``: one query, none without a pattern."""
    patterns: Collection[str] = {each.fold for each in lines} - {""}  # type: ignore[attr-defined]  # annotated
    if not patterns:
        return {}
    # By columns first: whether an incident is repeated is asked of those alone that may be.
    near = everything.filter(rule__in={each.rule for each in lines}, croupier__in={each.croupier for each in lines})
    rows = _numbered(near, grouping).filter(fold__in=patterns, nth__gt=1, nth__lte=1 + FOLDED_SHOWN)
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in rows.order_by("nth"):
        found[finding.fold].append(finding)
    return found


def _numbered(everything: QuerySet[Any], grouping: Grouping) -> QuerySet[Any]:
    """Return incidents with their place within their pattern, 1 for the most urgent and for one that is of none."""
    alone = Case(When(fold="", then=F("pk")))
    place = Window(RowNumber(), partition_by=[F("fold"), alone], order_by=grouping.order)
    numbered: QuerySet[Any] = everything.annotate(fold=_FOLD).annotate(nth=place)
    return numbered
