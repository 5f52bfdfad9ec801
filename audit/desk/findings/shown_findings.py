"""The findings of a page of a list, with what their lines show.

A list finds out which findings are on a page, in what order; what their lines show is read of these alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from audit.casework.debts import with_money
from audit.casework.priority import by_urgency, with_priority
from audit.casework.recurrence import came_back
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.prepared import key_of, prepared
from audit.desk.scoped_admin import in_record
from audit.models import Finding

OF_A_LINE = ("table", "casino", "case__assigned_to")
OF_A_PAGE = ("stream", *OF_A_LINE, "case__proposed_by", "case__approved_by")
"""What a line, and the page of one finding, show of other rows, read with it."""

BRIEF = (
    "casino", "rule", "severity", "player", "croupier", "currency", "expected", "recorded", "facts", "difference",
    "owed", "cleared", "put_right_by",
    "number", "year", "reference_code", "opened_at", "stood_at", "status", "heads_case",
    "case", "case__deadline", "case__opened_at",
)  # fmt: skip
"""What a dot of a drawing shows, whose priority and table are not shown."""


def lines(ids: Iterable[int]) -> list[Finding]:
    """Return the findings with these ids, in this order, with their ``urgency``, ``has_come_back`` and the
    money of their incidents: one query, none without ids. An id that is not there any more is left out."""
    return _in_order(_described(OF_A_LINE), list(ids))


def in_brief(ids: Iterable[int]) -> list[Finding]:
    """Return the findings with these ids, in this order, with their cases, and of both ``BRIEF`` alone: one query."""
    return _in_order(with_money(Finding.objects.select_related("case").only(*BRIEF)).order_by(), list(ids))


def in_full(pk: int) -> Finding | None:
    """Return a finding with what its page shows, None if there is none: one query."""
    found: Finding | None = _described(OF_A_PAGE).filter(pk=pk).first()
    return found


def most_urgent(request: HttpRequest, most: int) -> list[int]:
    """Return the ids of the open incidents of the chosen casino, or of all of the officer's: at most ``most``, in the
    order of the queue. One query."""
    found = prepared(f"the {most} most urgent", key_of(request), lambda now: _waiting(request, now)[:most])
    return [pk for (pk,) in found]


def _waiting(request: HttpRequest, now: datetime) -> QuerySet[Any]:
    waiting = in_record(Finding.objects.standing(), request).filter(HEADS, case__state__in=OPEN)
    return by_urgency(waiting, now).values_list("pk")


def _in_order(findings: QuerySet[Any], ids: Sequence[int]) -> list[Finding]:
    found = {each.pk: each for each in findings.filter(pk__in=ids)}
    return [found[pk] for pk in ids if pk in found]


def _described(related: Sequence[str]) -> QuerySet[Any]:
    findings: QuerySet[Any] = Finding.objects.select_related(*related).annotate(has_come_back=came_back())
    return with_money(with_priority(findings)).order_by()
