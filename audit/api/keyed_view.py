"""What every view of the API shares: keys, scopes, rate limits, and problem documents instead of stack traces."""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import BadRequest, DisallowedHost, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from audit.api.authentication import HasScope, KeyAuthentication, KeyThrottle
from audit.api.problems import FAILED, FOREIGN_HOST, Problem, answer, handle, problem_of_database
from audit.models import ApiKey

log = structlog.get_logger(__name__)


def key_of(request: Request) -> ApiKey:
    """Return the key that a request was authenticated with."""
    key = request.auth
    assert isinstance(key, ApiKey), "a KeyedView authenticates by key"
    return key


class KeyedView(APIView):
    """A view for table systems: authenticated by key, rate limited by key, answering with problem documents.

    ``scope`` is the scope that the key must have, one of them if there are several; a system check refuses a view
    without one. ``parameters`` are the query parameters that the view knows; any other is refused.
    """

    authentication_classes: tuple[type[BaseAuthentication], ...] = (KeyAuthentication,)
    permission_classes: tuple[type[BasePermission], ...] = (HasScope,)
    scope: str | tuple[str, ...] = ""
    parameters: frozenset[str] = frozenset()
    _throttle: KeyThrottle | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a method that there is not, whoever asks, and an unknown parameter: ignoring it would answer another
        question than was asked."""
        if request.method not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        for name, values in request.query_params.lists():
            if name not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                raise Problem(422, "invalid", f"'{name}' is not a parameter of this address, which takes {known}.")
            if "" in values:
                raise Problem(422, "invalid", f"'{name}' has no value: give it one, or leave it out.")

    def get_throttles(self) -> list[BaseThrottle]:
        self._throttle = KeyThrottle()
        return [self._throttle]

    def count_more(self, request: Request, requests: int) -> None:
        """Count what a request costs beyond one in the rate limit of its key."""
        assert self._throttle is not None, "a throttle is made before a view is called"
        self._throttle.count_more(key_of(request), requests)

    def get_exception_handler(self) -> Any:
        return handle

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # any response will do
        if (unavailable := problem_of_database(exc)) is not None:
            log.warning("database unavailable", exc_info=exc)
            exc = unavailable
        elif isinstance(exc, (SuspiciousOperation, BadRequest)):  # too many parameters, a foreign host
            detail = "The request cannot be read. Check its host and parameters, and send it again."
            exc = Problem(400, "malformed", FOREIGN_HOST if isinstance(exc, DisallowedHost) else detail)
        try:
            response: HttpResponse = super().handle_exception(exc)
        except Exception as unforeseen:
            if settings.DEBUG:
                raise
            got_request_exception.send(sender=type(self), request=self.request)
            log.error("request failed", exc_info=unforeseen)
            response = answer(Problem(500, "failed", FAILED))
        return response

    def finalize_response(  # type: ignore[override]  # any response will do
        self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        final: HttpResponse = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]
        if self._throttle is not None and self._throttle.usage is not None:
            for name, value in self._throttle.usage.headers().items():
                final[name] = value
        return final


class NoSuchAddress(APIView):
    """Every address below ``/api/v1/`` that no other view serves: 404 as a problem document."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise Problem(404, "not-found", "There is no such address. /api/v1/schema/ lists those there are.")

    def get_exception_handler(self) -> Any:
        return handle
