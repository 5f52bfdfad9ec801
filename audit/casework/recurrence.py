"""What comes back: an incident of a rule at a table where one of the same rule had been closed before."""

from __future__ import annotations

from functools import cache

from django.db.models import Exists, OuterRef

from audit.models import Finding
from audit.models.cases import State


@cache
def came_back() -> Exists:
    """Return the condition that another case of the finding's rule at its table was closed before its own was opened.

    A finding of no table never comes back.
    """
    before = Finding.objects.standing().filter(
        casino=OuterRef("casino"),
        rule=OuterRef("rule"),
        table=OuterRef("table"),
        case__state=State.CLOSED,
        case__closed_at__lt=OuterRef("case__opened_at"),
    )
    return Exists(before.exclude(case=OuterRef("case")).order_by())
