"""Authentication by API key (``Authorization: Bearer``), its scopes, and its rate limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from audit.access.client_address import client_address
from audit.api.key_lookup import FOUND_KEY, find_key
from audit.api.rate_limit import RateLimit, Usage
from audit.models import ApiKey

if TYPE_CHECKING:
    from rest_framework.views import APIView


class KeyHolder:
    """The table system that sent a request, as the ``request.user`` that DRF requires."""

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def __init__(self, key: ApiKey) -> None:
        self.pk = f"key:{key.pk}"


class KeyAuthentication(BaseAuthentication):
    """Reads the key of a request. A request without one is answered 401."""

    def authenticate(self, request: Request) -> tuple[KeyHolder, ApiKey] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise AuthenticationFailed(
                "The header Authorization is not 'Bearer KEY'. Send one key and nothing after it."
            )
        secret = parts[1].decode("latin-1")
        found_for, key = request.META.get(FOUND_KEY, (None, None))
        if found_for != secret:
            key = find_key(secret, client_address(request.META))
        if key is None:
            raise AuthenticationFailed(
                "There is no such key, or it is revoked or has expired. Check that all of it was sent, 'cab_' and what"
                " follows; have an administrator of the casino make a new one, at the desk or by 'manage.py createkey'."
            )
        return KeyHolder(key), key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """The key has the scope that the view's ``scope`` names, or one of several."""

    message = ""

    def has_permission(self, request: Request, view: APIView) -> bool:
        scope = getattr(view, "scope", None)
        needed = scope if isinstance(scope, tuple) else (scope,)
        self.message = (
            f"This address needs a key with the scope {' or '.join(map(str, needed))}. Have an administrator of the"
            " casino make one with it, at the desk or by 'manage.py createkey --scope'; GET /api/v1/key says which"
            " scopes a key has."
        )
        return isinstance(request.auth, ApiKey) and any(each in request.auth.scopes for each in needed)


class KeyThrottle(SimpleRateThrottle):
    """The rate limit of a key: so many requests in each period of the clock (``CABOCHON_RATE``)."""

    scope = "key"
    num_requests: int | None
    duration: int | None
    usage: Usage | None = None

    def limit(self) -> RateLimit | None:
        """Return the limit that the settings give, None for no limit."""
        if self.num_requests is None or self.duration is None:
            return None
        return RateLimit(self.num_requests, self.duration)

    def allow_request(self, request: Request, view: APIView) -> bool:
        limit = self.limit()
        if limit is None or not isinstance(request.auth, ApiKey):
            return True
        self.usage = limit.count(request.auth.pk)
        return not self.usage.is_exceeded

    def count_more(self, key: ApiKey, requests: int) -> None:
        """Count what a request costs beyond one: the limit then holds for those that follow."""
        limit = self.limit()
        if limit is not None and requests > 0:
            self.usage = limit.count(key.pk, requests)

    def wait(self) -> float | None:
        return self.usage.left_s if self.usage else None


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the authentication."""

    target_class = "audit.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
