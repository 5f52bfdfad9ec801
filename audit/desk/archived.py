"""The page an officer gets, with status 410, for what reads the events of a month that is in the archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from audit.event_store.archived import StreamArchived


class ArchivedStreams:
    """Middleware that says where the events are, in place of a page that needs them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, StreamArchived) or not request.path_info.startswith(reverse("admin:index")):
            return None
        return HttpResponse(render_to_string("admin/audit/archived/page.html", where_words(error)), status=410)


def where_words(error: StreamArchived) -> dict[str, Any]:
    """Return what ``archived/where.html`` says: the month, its file, and by which entry it was destroyed, if it was."""
    return {"archive": error.month}
