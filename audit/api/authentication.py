"""Who is asking: a key in ``Authorization: Bearer``, its scopes, and how often it may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from audit.api.key_lookup import find_key
from audit.api.rate_limit import rate_counter, rate_headers
from audit.models import ApiKey

if TYPE_CHECKING:
    from rest_framework.views import APIView


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
        key = find_key(words[1].decode("latin-1"), request.META.get("REMOTE_ADDR", ""))
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
    """So many requests a minute for each key, counted by the clock's minutes; the setting is ``CABOCHON_RATE``."""

    scope = "key"

    def allow_request(self, request: Request, view: APIView) -> bool:
        if self.rate is None or not isinstance(request.auth, ApiKey):
            return True
        rates = rate_counter(self.duration)
        used = rates.add(request.auth.pk)
        self.left_s = rates.left_s()
        request.rate_headers = rate_headers(self.num_requests, used, self.left_s)
        return used <= self.num_requests

    def wait(self) -> float:
        return float(self.left_s)


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document says it."""

    target_class = "audit.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
