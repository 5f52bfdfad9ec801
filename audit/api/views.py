"""What every view of the interface shares: keys, scopes, rates, and problems instead of stack traces."""

from __future__ import annotations

from typing import Any

from django.db import InterfaceError, OperationalError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.api.authentication import HasScope, KeyAuthentication, KeyThrottle
from audit.api.problems import Problem, handle
from audit.models import Scope


class KeyedView(APIView):
    """A view for table systems: authenticated by key, throttled by key, answering problems."""

    authentication_classes = (KeyAuthentication,)
    permission_classes = (HasScope,)
    throttle_classes = (KeyThrottle,)
    scope: str = Scope.STREAMS_READ

    def get_exception_handler(self) -> Any:
        return handle

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, (OperationalError, InterfaceError)):
            exc = Problem(503, "unavailable", "The record cannot be reached now; send the request again.")
        response = super().handle_exception(exc)
        if response.status_code == 503:
            response["Retry-After"] = "2"
        return response

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(request, "rate_headers", {}).items():
            final[name] = value
        return final
