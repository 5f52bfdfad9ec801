"""How a queue is grouped: by deadline, night, croupier or pattern, or not at all; and the order that this asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Count, F, QuerySet, Window
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.casework.priority import LATE, URGENCY
from audit.casework.urgency import group_of
from audit.models import Finding
from audit.presentation import finding_title, labelled, night_of, short_name

DUE_GROUPS: tuple[str | Promise, ...] = (
    _("First of all"),
    _("Late"),
    _("Within 6 hours"),
    _("Within a day"),
    _("Within 3 days"),
    _("Later"),
)
"""The titles of the groups by deadline, by ``due_group``."""

WITHIN = (F("priority").desc(nulls_last=True), "case__deadline", "-pk")
"""The order within a group: first things first."""

Key = tuple[Any, ...]


def _largest_of(*fields: str) -> tuple[Any, ...]:
    """Return the order of groups by ``fields``: that with the most incidents first."""
    return Window(Count("pk"), partition_by=[F(each) for each in fields]).desc(), *fields


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to group a queue: its name in URLs, what an officer reads, what findings of a group share, its order.

    ``folds`` is whether a pattern is one line of it.
    """

    name: str
    title: Promise
    fields: tuple[str, ...]
    order: tuple[Any, ...]
    folds: bool = False

    def key_of(self, finding: Finding) -> Key:
        return tuple(group_of(finding) if each == "due_group" else getattr(finding, each) for each in self.fields)

    def heading(self, finding: Finding) -> str | Promise:
        """Return the title of the group of ``finding``, whose persons are named; "" for that of everything."""
        match self.name:
            case "deadline":
                return DUE_GROUPS[group_of(finding)]
            case "night":
                return night_of(finding.gaming_day)
            case "croupier":
                return _croupier(finding)
            case "pattern":
                return labelled(_croupier(finding), finding_title(finding.rule))
            case _:
                return ""

    def is_late(self, finding: Finding) -> bool:
        """Return whether the group of ``finding`` is of what is late."""
        return self.name == "deadline" and group_of(finding) == LATE


def _croupier(finding: Finding) -> str:
    if not finding.croupier:
        return gettext("No croupier")
    return short_name(finding.named.get("croupier", ""), finding.croupier)


GROUPINGS: Mapping[str, Grouping] = {
    each.name: each
    for each in (
        Grouping("deadline", _("Deadline"), ("due_group",), URGENCY, folds=True),
        Grouping("night", _("Night"), ("gaming_day",), ("-gaming_day", *WITHIN)),
        Grouping(
            "croupier", _("Croupier"), ("casino_id", "croupier"), (*_largest_of("casino_id", "croupier"), *WITHIN)
        ),
        Grouping(
            "pattern",
            _("Pattern"),
            ("casino_id", "croupier", "rule"),
            (*_largest_of("casino_id", "croupier", "rule"), *WITHIN),
        ),
        Grouping("nothing", _("Nothing"), (), WITHIN, folds=True),
    )
}


def grouping_of(request: HttpRequest) -> Grouping:
    """Return how the list of a request is grouped: patterns by what is repeated, and everything else by deadline."""
    usual = "pattern" if request.GET.get("queue") == "patterns" else "deadline"
    return GROUPINGS.get(request.GET.get(GroupedBy.parameter_name, ""), GROUPINGS[usual])


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to group the list that is shown, as a link."""

    title: Promise
    address: str
    is_current: bool


def choices_of(request: HttpRequest, changelist: Any) -> Sequence[Choice]:
    """Return the ways to group a list; that by pattern only where patterns are listed."""
    current = grouping_of(request)
    offered = [each for each in GROUPINGS.values() if each.name != "pattern" or request.GET.get("queue") == "patterns"]
    return [
        Choice(
            each.title,
            changelist.get_query_string({GroupedBy.parameter_name: each.name}, ["p"]),
            each is current,
        )
        for each in offered
    ]


class GroupedBy(admin.SimpleListFilter):
    """How the list is grouped. It leaves nothing out, and is chosen above the list."""

    title = _("grouped by")
    parameter_name = "by"
    template = "admin/audit/parts/empty.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(each.name, each.title) for each in GROUPINGS.values()]

    def choices(self, changelist: Any) -> Iterator[Any]:
        return (choice for choice in super().choices(changelist) if choice["selected"])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset
