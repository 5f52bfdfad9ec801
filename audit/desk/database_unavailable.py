"""The page an officer gets, with status 503, if the database is down or a query ran into its time limit."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from psycopg.errors import QueryCanceled

RETRY_AFTER_S = 10

log = structlog.get_logger(__name__)


class DatabaseUnavailable:
    """Middleware that answers 503 with a page of the desk if the database did not answer a request.

    The page is rendered without the request: to know the signed-in officer would take a query.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, (OperationalError, InterfaceError)):
            return None
        if not request.path_info.startswith(reverse("admin:index")):
            return None
        return unavailable_page(request, error)


def unavailable_page(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Return the page. A view's errors come here through the middleware, a middleware's own as ``handler500``."""
    log.warning("database unavailable", path=request.path_info, error=str(error))
    page = render_to_string(
        "admin/database_unavailable.html", {"took_too_long": isinstance(error.__cause__, QueryCanceled)}
    )
    return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})
