"""The answer to what no view answers: an error of a middleware, an address that does not exist, a refused host.

Below ``/api/`` it is a problem document, whatever went wrong; elsewhere a page in the officer's language. A database
that does not answer is 503 everywhere; the desk has a page of its own for it. Django calls these functions by name
(``handler500`` and others of ``casino.urls``).
"""

from __future__ import annotations

import sys
from functools import partial

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from audit.api.problems import FAILED, FOREIGN_HOST, FRAMEWORK_CODES, Problem, answer, problem_of_database
from audit.desk.database_unavailable import unavailable_page

_DETAILS = {
    400: "The request cannot be read. Check its host, address and headers, and send it again.",
    403: "The request is refused. Ask the operator which hosts and addresses may send it.",
    404: "There is nothing at this address. /api/v1/schema/ lists the addresses there are.",
}

_PAGES = {
    400: (_("The request cannot be read"), _("Go back, load the page again, and send it again.")),
    403: (
        _("You do not have access to this"),
        _("Your role does not give access to this page, or does not let you do this."),
    ),
    413: (
        _("This is too large"),
        _("A form has at most 2 MB, a file of a case at most %(number)s MB. Nothing of it was kept."),
    ),
    404: (_("There is no such page"), _("What was here is gone, or belongs to a casino where you have no role.")),
    500: (_("Something went wrong"), _("The error is recorded. Try again; if it fails again, tell an administrator.")),
}
_FOREIGN_HOST = _(
    "The desk does not go by this name. Use its own address, or have the operator add this name to "
    "CABOCHON_ALLOWED_HOSTS of the web servers."
)
_FORM_REFUSED = _("The form is older than your sign-in. Go back, load the page again, and send it again.")


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
    return _page(500, None)


def _client_error(status: int, request: HttpRequest, exception: Exception) -> HttpResponse:
    is_foreign = isinstance(exception, DisallowedHost)
    if _is_of_api(request):
        return answer(Problem(status, FRAMEWORK_CODES[status], FOREIGN_HOST if is_foreign else _DETAILS[status]))
    if is_foreign:
        context = {"title": _PAGES[400][0], "why": _FOREIGN_HOST}
        return HttpResponse(render_to_string("admin/error.html", context), status=400)
    return _page(status, None if status == 400 else request)


def _page(status: int, request: HttpRequest | None) -> HttpResponse:
    """Return the page of an error; without a request, of which nothing may be believed, it has no form."""
    title, why = _PAGES[status]
    return HttpResponse(render_to_string("admin/error.html", {"title": title, "why": why}, request), status=status)


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without the token of the officer's session; Django calls this by ``CSRF_FAILURE_VIEW``.

    A form that the web server did not read, because it is too large (``casino.asgi.TOO_LARGE``), has none either.
    """
    if request.META.get("cabochon.too_large"):
        title, why = _PAGES[413]
        context = {"title": title, "why": why % {"number": settings.CABOCHON_ATTACHMENT_MB}}
        return HttpResponse(render_to_string("admin/error.html", context), status=413)
    context = {"title": _PAGES[403][0], "why": _FORM_REFUSED}
    return HttpResponse(render_to_string("admin/error.html", context), status=403)


bad_request = partial(_client_error, 400)
permission_denied = partial(_client_error, 403)
not_found = partial(_client_error, 404)
