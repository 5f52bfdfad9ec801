"""The findings of a page of a list, with what their lines show.

A list finds out which findings are on a page, in what order; what their lines show is read of these alone, by a
statement that is compiled once whatever the list leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from audit.casework.debts import with_money
from audit.casework.priority import by_urgency, with_due_group, with_priority
from audit.casework.recurrence import came_back
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.prepared import key_of, prepared, rows_by_id
from audit.desk.scoped_admin import in_record
from audit.models import Finding

OF_A_LINE = ("table", "casino", "case__assigned_to")
OF_A_PAGE = ("stream", *OF_A_LINE, "case__proposed_by", "case__approved_by")
"""What a line, and the page of one finding, show of other rows, read with it."""

BRIEF = (
    "casino", "rule", "severity", "player", "croupier", "currency", "difference", "owed", "put_right_by", "number",
    "year", "opened_at", "stood_at", "status", "heads_case", "case", "case__deadline", "case__opened_at",
)  # fmt: skip
"""What a dot of a drawing shows, whose priority and table are not shown."""


def lines(ids: Iterable[int]) -> list[Finding]:
    """Return the findings with these ids, in this order, with their priority, ``due_group``, ``has_come_back`` and the
    money of their incidents: one query, none without ids. An id that is not there any more is left out."""
    wanted = list(ids)
    found = rows_by_id("lines", lambda now: _described(OF_A_LINE, now), wanted)
    return [found[pk] for pk in wanted if pk in found]


def in_brief(ids: Iterable[int]) -> list[Finding]:
    """Return the findings with these ids, in this order, with their cases, and of both ``BRIEF`` alone: one query."""
    wanted = list(ids)
    found = rows_by_id("in brief", lambda _now: _in_brief(), wanted)
    return [found[pk] for pk in wanted if pk in found]


def in_full(pk: int) -> Finding | None:
    """Return a finding with what its page shows, None if there is none: one query."""
    found: dict[int, Finding] = rows_by_id("finding of a page", lambda now: _described(OF_A_PAGE, now), [pk])
    return found.get(pk)


def most_urgent(request: HttpRequest, most: int) -> list[int]:
    """Return the ids of the open incidents of the chosen casino, or of all of the officer's: at most ``most``, in the
    order of the queue. One query."""
    found = prepared(
        f"the {most} most urgent", key_of(request), lambda now: _waiting(request, now)[:most], kept_for=request
    )
    return [pk for (pk,) in found]


def _waiting(request: HttpRequest, now: datetime) -> QuerySet[Any]:
    waiting = in_record(Finding.objects.standing(), request).filter(HEADS, case__state__in=OPEN)
    return by_urgency(waiting, now).values_list("pk")


def _in_brief() -> QuerySet[Any]:
    return with_money(Finding.objects.select_related("case").only(*BRIEF)).order_by()


def _described(related: Sequence[str], now: datetime) -> QuerySet[Any]:
    findings: QuerySet[Any] = Finding.objects.select_related(*related).annotate(has_come_back=came_back())
    return with_money(with_due_group(with_priority(findings), now)).order_by()
