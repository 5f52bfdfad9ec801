"""How patterns fold in a queue: one line for what the same croupier repeats, the others of it beneath.

    by deadline            ☰ Payout missing   pattern     €180.00  overpaid
                             F-26-0151  and 8 like it
                               F-26-0153  19 Nov, 22:04 CET  €20.00 …

The line is the pattern's most urgent incident, and stands where that stands. Each incident keeps its own case, deadline
and place in every other list; what is done to several at once, and which case is taken next, is asked of the whole
list. Nothing folds where a list is grouped by night, croupier or pattern: there each incident is to be seen.

A queue that folds is read in its order, a few columns of each incident: what decides the order has to be found out of
each of them anyway, and is then found out once. Whole rows are read of the incidents on a page alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.db.models import BigIntegerField, Count, Max, Min, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import HttpRequest

from audit.desk.findings.grouping import Grouping, Key, grouping_of
from audit.desk.findings.person_filters import OWED
from audit.desk.findings.queues import OPEN_QUEUES
from audit.models import Finding

FOLDED_SHOWN = 4
"""Incidents that have a line beneath that of their pattern; the queue of patterns has all."""

Pattern: TypeAlias = tuple[int, str, str]
"""What the incidents of a pattern have in common: their casino, rule and croupier."""

_AMOUNT = Cast(KT("owed__amount"), BigIntegerField())


@dataclass(slots=True)
class Amounts:
    """Some incidents of one pattern or of none: how many, and what is owed, by who owes it and in which currency.

    ``players`` are the first and the last of those concerned, in the order of their ids.
    """

    count: int = 0
    owed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    players: tuple[str, str] | None = None

    def add(self, count: int, by: str | None, currency: str, total: int | None, first: str, last: str) -> None:
        """Add ``count`` incidents, for which ``by`` owes ``total``; ``first`` and ``last`` are of their players."""
        self.count += count
        self.players = (first, last) if self.players is None else (min(self.players[0], first),
                                                                   max(self.players[1], last))  # fmt: skip
        if by and total:
            self.owed[by, currency] += total


@dataclass(slots=True)
class Summed:
    """What a queue is about: the incidents of no pattern by the group they are in, and each pattern with its group.

    ``lines`` are the incidents that have a line, by primary key in the order of the queue, and ``members`` those of
    each pattern; both are empty where nothing folds.
    """

    single: dict[Key, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    patterns: dict[Pattern, Amounts] = field(default_factory=lambda: defaultdict(Amounts))
    group_of: dict[Pattern, Key] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    members: dict[Pattern, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def count(self) -> int:
        """How many incidents the queue has."""
        return sum(each.count for each in (*self.single.values(), *self.patterns.values()))

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


def summed(everything: QuerySet[Any], grouping: Grouping) -> Summed:
    """Return what a queue is about in which nothing folds: one query. An incident counts with what its cause owes."""
    found = (
        everything.order_by()
        .values_list(*grouping.fields, "currency", KT("owed__by"))
        .annotate(count=Count("pk"), total=Sum(_AMOUNT), first=Min("player"), last=Max("player"))
    )
    of_all = Summed()
    for *key, currency, by, count, total, first, last in found:
        of_all.single[tuple(key)].add(count, by, currency, total, first, last)
    return of_all


def folded(everything: QuerySet[Any], grouping: Grouping) -> Summed:
    """Return what a queue is about in which patterns fold: one query. ``everything`` is in the order of the queue."""
    found = everything.values_list(
        *grouping.fields, "pk", "currency", KT("owed__by"), _AMOUNT, "player", "priority_repeated", "casino_id", "rule",
        "croupier",
    )  # fmt: skip
    of_all = Summed()
    for *group, pk, currency, by, amount, player, is_repeated, casino_id, rule, croupier in found:
        key, pattern = tuple(group), (casino_id, rule, croupier)
        amounts = of_all.patterns[pattern] if is_repeated else of_all.single[key]
        amounts.add(1, by, currency, amount, player, player)
        if is_repeated:
            of_all.group_of.setdefault(pattern, key)
            of_all.members[pattern].append(pk)
        if not is_repeated or amounts.count == 1:
            of_all.lines.append(pk)
    return of_all


def pattern_of(finding: Finding) -> Pattern | None:
    """Return the pattern that a finding is of, None if it is of none."""
    is_repeated: bool = finding.priority_repeated  # type: ignore[attr-defined]  # annotated
    return (finding.casino_id, finding.rule, finding.croupier) if is_repeated else None


def beneath(of_all: Summed, lines: Sequence[Finding]) -> Mapping[int, Sequence[Finding]]:
    """Return the first incidents beneath each of ``lines`` that is of a pattern, by its primary key: one query at most,
    none without any."""
    wanted: dict[int, list[int]] = {}
    for finding in lines:
        pattern = pattern_of(finding)
        if pattern is not None and pattern in of_all.members:
            wanted[finding.pk] = of_all.members[pattern][1 : 1 + FOLDED_SHOWN]
    ids = [pk for below in wanted.values() for pk in below]
    rows = Finding.objects.select_related("casino").in_bulk(ids) if ids else {}
    return {line: [rows[pk] for pk in below if pk in rows] for line, below in wanted.items()}
