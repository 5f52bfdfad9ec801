"""What every view of the interface shares: keys, scopes, rates, and problems instead of stack traces."""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from audit.api.authentication import HasScope, KeyAuthentication, KeyThrottle
from audit.api.problems import Problem, answer, handle
from audit.models import Scope

log = structlog.get_logger(__name__)

RETRY_AFTER_S = 2


class KeyedView(APIView):
    """A view for table systems: authenticated by key, throttled by key, answering problems."""

    authentication_classes = (KeyAuthentication,)
    permission_classes = (HasScope,)
    throttle_classes = (KeyThrottle,)
    scope: str = Scope.STREAMS_READ
    parameters: frozenset[str] = frozenset()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a parameter that means nothing here: to pass over one would answer another question than was asked."""
        super().initial(request, *args, **kwargs)
        for name, values in request.query_params.lists():
            if name not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                raise Problem(422, "invalid", f"'{name}' is no parameter here; there is {known}.")
            if "" in values:
                raise Problem(422, "invalid", f"'{name}' has no value.")

    def get_exception_handler(self) -> Any:
        return handle

    def handle_exception(self, exc: Exception) -> HttpResponse:
        if isinstance(exc, (OperationalError, InterfaceError)):
            log.warning("unavailable", exc_info=exc)
            exc = Problem(503, "unavailable", "The record cannot be reached now; send the request again.")
        try:
            response: HttpResponse = super().handle_exception(exc)
        except Exception as unforeseen:
            if settings.DEBUG:
                raise
            got_request_exception.send(sender=type(self), request=self.request)
            log.error("failed", exc_info=unforeseen)
            response = answer(Problem(500, "failed", "Something failed here. Nothing of the request was stored."))
        if response.status_code == 503:
            response["Retry-After"] = str(RETRY_AFTER_S)
        return response

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> HttpResponse:
        final: HttpResponse = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(request, "rate_headers", {}).items():
            final[name] = value
        return final


class Nowhere(APIView):
    """Every address that nothing else answers."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise Http404

    def get_exception_handler(self) -> Any:
        return handle
