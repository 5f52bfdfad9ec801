"""Middleware for every request: refuse NUL characters and TRACE, set the Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from audit.api.problems import Problem, answer


class RefuseNul:
    """Answers 400 to a URL with the character NUL, which no text column can hold."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return answer(Problem(400, "malformed", "The address has the character NUL."))
        return self.get_response(request)


class RefuseTrace:
    """Answers 405 to TRACE, which nothing here takes and which views without a list of methods would take for GET."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "TRACE" and not request.path_info.startswith("/api/"):
            return HttpResponseNotAllowed(["GET", "HEAD", "POST", "OPTIONS"])
        return self.get_response(request)


class ContentSecurityPolicy:
    """Sets the ``Content-Security-Policy`` of every response that has none: nothing external, nothing inline."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response
