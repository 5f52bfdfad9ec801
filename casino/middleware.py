"""What holds for every request and every answer."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from audit.api.problems import Problem, answer


class RefuseNul:
    """Answers 400 to an address with the character NUL, which no text column can hold and so no filter can find."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return answer(Problem(400, "malformed", "The address has the character NUL."))
        return self.get_response(request)


class ContentSecurityPolicy:
    """What a page may load: nothing from elsewhere, no inline script, no inline style.

    Sets the ``Content-Security-Policy`` of every answer that has none of its own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response
