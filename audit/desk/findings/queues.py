"""The queues of findings: the open ones, by who has them and by what they have in common, and the closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework.priority import is_repeated
from audit.casework.recurrence import came_back
from audit.desk.prepared import Rows, key_of, prepared
from audit.desk.scoped_admin import in_record, officer_of, scope_of
from audit.models import Finding, Officer
from audit.models.cases import State

HEADS = Q(heads_case=True)
"""True of the finding that a case is of: the cause of its incident. Its consequences have no line of their own."""

OPEN = (State.NEW, State.INVESTIGATING, State.SECOND)

RECURRING = ("patterns", "returned")
"""The queues of what has happened before. Each finding of them is compared with others, so they are counted apart."""

OPEN_QUEUES = ("open", "mine", "unassigned", "second", "overdue", *RECURRING)
"""The queues of open cases: they are in the order of urgency."""

QUEUES = (*OPEN_QUEUES, "closed")
"""All of them: each has one line for an incident."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One queue above the list: its name in URLs, its title, how many findings are in it."""

    name: str
    title: str | Promise
    count: int
    is_current: bool
    address: str


def queues(officer: Officer, now: datetime | None = None) -> dict[str, tuple[Promise, Q]]:
    """Return the queues of an officer by name: the title, and the condition on findings. One line for an incident."""
    now = now or timezone.now()
    return {
        "open": (_("Open"), HEADS & Q(case__state__in=OPEN)),
        "mine": (_("Mine"), HEADS & Q(case__assigned_to=officer, case__state__in=OPEN)),
        "unassigned": (_("No officer"), HEADS & Q(case__state=State.NEW)),
        "second": (_("Second officer"), HEADS & Q(case__state=State.SECOND)),
        "overdue": (_("Late"), HEADS & Q(case__state__in=OPEN, case__deadline__lt=now)),
        "patterns": (_("Patterns"), HEADS & Q(case__state__in=OPEN) & Q(is_repeated())),
        "returned": (_("Came back"), HEADS & Q(case__state__in=OPEN) & Q(came_back())),
        "closed": (_("Closed"), HEADS & Q(case__state=State.CLOSED)),
    }


def tabs(request: HttpRequest) -> list[Tab]:
    """Return the queues with the number of standing findings in each, at the officer's own casinos: one query."""
    known = queues(officer_of(request))
    rows = prepared("queues", key_of(request), lambda now: _numbers(request, now))
    numbers = rows[0] if rows else (0,) * len(known)
    counts = dict(zip(known, numbers, strict=True))
    current = request.GET.get("queue")
    return [
        Tab(name, title, counts[name], name == current, f"?queue={name}") for name, (title, _where) in known.items()
    ]


def _numbers(request: HttpRequest, now: datetime) -> QuerySet[Any]:
    """Return the query of how many standing findings are in each queue: one row, in the order of ``queues``; none
    without a finding."""
    standing = in_record(Finding.objects.standing().filter(HEADS), request).order_by()
    wanted = queues(officer_of(request), now)
    counts = {f"in_{name}": Count("pk", filter=wanted[name][1]) for name in wanted if name not in RECURRING}
    # As queries of their own: those that compare, PostgreSQL may then answer by a join and not row by row.
    compared = {f"in_{name}": Rows(standing.filter(wanted[name][1]).values("pk")) for name in RECURRING}
    # Of one group of all rows: without a group, Django would count at once.
    grouped = standing.annotate(all=Value(1)).values("all").annotate(**counts).annotate(**compared)
    return grouped.values_list(*(f"in_{name}" for name in wanted))


def can_work_cases(request: HttpRequest) -> bool:
    """Return whether the officer's role at some casino lets them work on cases."""
    return bool(scope_of(request, Capability.WORK_CASES))
