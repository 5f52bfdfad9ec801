"""Middleware for every request: refuse NUL characters, set the Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from audit.api.problems import Problem, answer


class RefuseNul:
    """Answers 400 to a URL with the character NUL, which no text column can hold."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return answer(Problem(400, "malformed", "The address has the character NUL."))
        return self.get_response(request)


class ContentSecurityPolicy:
    """Sets the ``Content-Security-Policy`` of every response that has none: nothing external, nothing inline."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response
