"""The list that a finding's page was opened from: where the finding is in it, what is before and after it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Protocol

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest, QueryDict
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.desk.findings.queues import queues
from audit.desk.findings.saved_views import NARROWING
from audit.desk.findings.shown_findings import most_urgent
from audit.desk.scoped_admin import officer_of
from audit.models import Finding

LISTED = "_changelist_filters"
"""The parameter in which Django's admin keeps the list that a page was opened from."""

DEFAULT = "queue=open"

MOST = 2_000
"""Findings of a list that are counted: in a longer one, a finding further on has no position."""


class HasList(Protocol):
    def get_changelist_instance(self, request: HttpRequest) -> ChangeList: ...


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The position of a finding in a list, from 1, 0 if it is not in it; the ids before and after, None at an end."""

    title: str | Promise
    query: str  # of the list
    position: int
    of: int
    previous: int | None
    next: int | None

    @property
    def kept(self) -> str:
        """The query that a link to another page of a finding keeps."""
        return urlencode({LISTED: self.query})


def list_kept(request: HttpRequest) -> str:
    """Return the query by which another page keeps the list that the request came from, "" for none."""
    return f"?{urlencode({LISTED: request.GET[LISTED]})}" if LISTED in request.GET else ""


def neighbours_of(request: HttpRequest, lists: HasList, finding: Finding) -> Neighbours:
    """Return the neighbours of ``finding`` in the list that the request names, else in the open queue.

    A finding that is not in the list, as one whose case was just closed, is followed by the first of it.
    """
    query = request.GET.get(LISTED, "") or DEFAULT
    found = _ids(request, lists, query)
    if found is None:
        query, found = DEFAULT, _ids(request, lists, DEFAULT) or []
    parameters = QueryDict(query)
    name = parameters.get("queue", "")
    known = queues(officer_of(request))
    title: str | Promise = known[name][0] if name in known else _("All")
    if any(parameters.get(each) for each in NARROWING):
        title = gettext("%(queue)s, filtered") % {"queue": title}
    if finding.pk not in found:
        return Neighbours(title, query, 0, len(found), None, found[0] if found else None)
    at = found.index(finding.pk)
    return Neighbours(
        title,
        query,
        at + 1,
        len(found),
        found[at - 1] if at else None,
        found[at + 1] if at + 1 < len(found) else None,
    )


def _ids(request: HttpRequest, lists: HasList, query: str) -> list[int] | None:
    """Return the ids of a list in its order; None if the query is none of a list."""
    if query == DEFAULT:
        return most_urgent(request, MOST)
    listing = copy(request)
    listing.GET, listing.resolver_match = QueryDict(query), None  # a list, not the page of a row
    try:
        listed = lists.get_changelist_instance(listing).queryset
    except IncorrectLookupParameters:
        return None
    return list(listed.values_list("pk", flat=True)[:MOST])
