"""The queues of findings: open, unassigned, mine, for a second officer, overdue, closed."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.desk.scoped_admin import in_record, officer_of, scope_of
from audit.models import Finding, Officer
from audit.models.cases import State

HEADS = Q(heads_case=True)
"""True of the finding that a case is of: the cause of its incident. Its consequences have no line of their own."""

OPEN = (State.NEW, State.INVESTIGATING, State.SECOND)

OPEN_QUEUES = ("open", "unassigned", "mine", "second", "overdue")
"""The queues of open cases: they are in the order of urgency."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One queue above the list: its name in URLs, its title, how many findings are in it."""

    name: str
    title: str | Promise
    count: int
    is_current: bool
    address: str


def queues(officer: Officer) -> dict[str, tuple[Promise, Q]]:
    """Return the queues of an officer by name: the title, and the condition on findings. One line for an incident."""
    return {
        "open": (_("Open"), HEADS & Q(case__state__in=OPEN)),
        "unassigned": (_("Unassigned"), HEADS & Q(case__state=State.NEW)),
        "mine": (_("Mine"), HEADS & Q(case__assigned_to=officer, case__state__in=OPEN)),
        "second": (_("Second officer"), HEADS & Q(case__state=State.SECOND)),
        "overdue": (_("Overdue"), HEADS & Q(case__state__in=OPEN, case__deadline__lt=timezone.now())),
        "closed": (_("Closed"), HEADS & Q(case__state=State.CLOSED)),
    }


def tabs(request: HttpRequest) -> list[Tab]:
    """Return the queues with the number of standing findings in each, at the officer's own casinos: one query."""
    known = queues(officer_of(request))
    standing = in_record(Finding.objects.standing().filter(HEADS), request)
    counts = standing.aggregate(**{name: Count("pk", filter=where) for name, (_title, where) in known.items()})
    current = request.GET.get("queue")
    return [
        Tab(name, title, counts[name], name == current, f"?queue={name}") for name, (title, _where) in known.items()
    ]


def can_work_cases(request: HttpRequest) -> bool:
    """Return whether the officer's role at some casino lets them work on cases."""
    return bool(scope_of(request, Capability.WORK_CASES))
