"""The answer to what no view answers: an error of a middleware, an address that does not exist, a refused host.

Below ``/api/`` it is a problem document, whatever went wrong. A database that does not answer is 503 everywhere; the
desk has a page of its own for it. Django calls these functions by name (``handler500`` and others of ``casino.urls``).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from audit.api.problems import FAILED, FRAMEWORK_CODES, Problem, answer, problem_of_database
from audit.desk.database_unavailable import unavailable_page

_DETAILS = {
    400: "The request cannot be read. Check its host, address and headers, and send it again.",
    403: "The request is refused. Ask the operator which hosts and addresses may send it.",
    404: "There is nothing at this address. /api/v1/schema/ lists the addresses there are.",
}


def _is_of_api(request: HttpRequest) -> bool:
    return (request.path_info + "/").startswith("/api/")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a request in which something failed: 503 or 507 if it was the database, 500 otherwise."""
    error = sys.exc_info()[1]
    problem = problem_of_database(error) if error is not None else None
    if _is_of_api(request):
        return answer(problem or Problem(500, "failed", FAILED))
    if problem is not None and error is not None:
        return unavailable_page(request, error)
    return defaults.server_error(request)


def _client_error(status: int, request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_of_api(request):
        return answer(Problem(status, FRAMEWORK_CODES[status], _DETAILS[status]))
    page: dict[int, Any] = {400: defaults.bad_request, 403: defaults.permission_denied, 404: defaults.page_not_found}
    response: HttpResponse = page[status](request, exception)
    return response


bad_request = partial(_client_error, 400)
permission_denied = partial(_client_error, 403)
not_found = partial(_client_error, 404)
