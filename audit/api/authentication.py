"""Who is asking: a key in ``Authorization: Bearer``, its scopes, and how often it may ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import structlog
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from audit.models import ApiKey

if TYPE_CHECKING:
    from rest_framework.views import APIView

log = structlog.get_logger(__name__)

UNCOUNTED_S = 30.0
"""How long requests are let through uncounted when the cache has failed: to ask it may cost each of them seconds."""


class KeyHolder:
    """The table system behind a request."""

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def __init__(self, key: ApiKey) -> None:
        self.pk = f"key:{key.pk}"


class KeyAuthentication(BaseAuthentication):
    """Reads the key of a request. A request without one is nobody's and is answered 401."""

    def authenticate(self, request: Request) -> tuple[KeyHolder, ApiKey] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header is not 'Bearer KEY'.")
        key = ApiKey.of_secret(words[1].decode("latin-1"))
        if key is None:
            raise AuthenticationFailed("There is no such key, or it is no longer valid.")
        return KeyHolder(key), key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """The key has the scope that the view's ``scope`` names."""

    message = "The key does not have the scope this asks for."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey) and getattr(view, "scope", None) in request.auth.scopes


class KeyThrottle(SimpleRateThrottle):
    """So many requests a minute for each key, counted by the clock's minutes; the setting is ``CABOCHON_RATE``.

    One number a key in the cache, and not a list of moments: at a hundred requests a second the list would cost more
    than the requests. Where the cache cannot be reached nobody is held up.
    """

    scope = "key"
    uncounted_until = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        if self.rate is None or not isinstance(request.auth, ApiKey):
            return True
        now = self.timer()
        self.left_s = self.duration - now % self.duration
        used = self._count(f"rate:{request.auth.pk}:{now // self.duration:.0f}")
        request.rate_headers = {
            "RateLimit-Limit": str(self.num_requests),
            "RateLimit-Remaining": str(max(0, self.num_requests - used)),
            "RateLimit-Reset": str(math.ceil(self.left_s)),
        }
        return used <= self.num_requests

    def wait(self) -> float:
        return float(self.left_s)

    def _count(self, name: str) -> int:
        """Count a request and return how many there were, 0 while the cache cannot be reached."""
        if self.timer() < KeyThrottle.uncounted_until:
            return 0
        try:
            self.cache.add(name, 0, timeout=self.duration + 1)
            return int(self.cache.incr(name))
        except Exception as error:
            log.warning("rates not counted", error=str(error))
            KeyThrottle.uncounted_until = self.timer() + UNCOUNTED_S
            return 0


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document says it."""

    target_class = "audit.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
