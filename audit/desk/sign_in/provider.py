"""The provider of single sign-on, by OpenID Connect: its addresses, and what is believed of its answers.

``mozilla-django-oidc`` carries state, nonce and PKCE, and exchanges the code. Here are the checks that it leaves to
its user: a token comes from this provider, for this client, has one signature algorithm, and is young; an address is
believed if the provider says that it has verified it; and nobody gets an account by signing in.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jwt
import requests
import structlog
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from audit.access import sign_on
from audit.models import Officer
from audit.models.officers import is_active_account

log = structlog.get_logger(__name__)

BACKEND = "audit.desk.sign_in.provider.ProviderBackend"

TIMEOUT_S = 10
"""Seconds for which the provider is waited for, at each of its addresses."""

LEEWAY_S = 30
"""Seconds by which the clocks of provider and web server may differ."""

METADATA_S = 3_600

MAX_GROUPS = 500


class ProviderFailed(Exception):
    """The provider does not answer, or answers what cannot be believed."""


@dataclass(frozen=True, slots=True)
class SignOn:
    """Who signs in by the provider, when they proved it there (None: not stated), and whether by two factors."""

    officer: Officer
    proved_at: float | None
    has_second_factor: bool


def is_configured() -> bool:
    return bool(settings.CABOCHON_OIDC_ISSUER)


def value_of(name: str, *default: Any) -> Any:
    """Return what ``mozilla-django-oidc`` calls a setting, from ours and from what the provider publishes."""
    own = {
        "OIDC_RP_CLIENT_ID": settings.CABOCHON_OIDC_CLIENT_ID,
        "OIDC_RP_CLIENT_SECRET": settings.CABOCHON_OIDC_CLIENT_SECRET,
        "OIDC_RP_SCOPES": settings.CABOCHON_OIDC_SCOPES,
        "OIDC_RP_SIGN_ALGO": settings.CABOCHON_OIDC_ALGORITHM,
        "OIDC_USE_PKCE": True,
        "OIDC_TIMEOUT": TIMEOUT_S,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "admin:single_sign_on_callback",
    }
    if name in own:
        return own[name]
    published = {
        "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
        "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
        "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
        "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
    }
    if name in published:
        return metadata()[published[name]]
    return default[0] if default else None


def metadata() -> dict[str, Any]:
    """Return what the provider publishes of itself, at most an hour old. Raise ``ProviderFailed``."""
    return _metadata(settings.CABOCHON_OIDC_ISSUER, int(time.monotonic()) // METADATA_S)


@lru_cache(maxsize=4)
def _metadata(issuer: str, _hour: int) -> dict[str, Any]:
    try:
        answer = requests.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration", timeout=TIMEOUT_S)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        addresses = [found[name] for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise ProviderFailed(str(error)) from error
    if found.get("issuer") != issuer or not all(isinstance(each, str) for each in addresses):
        raise ProviderFailed("the provider publishes another issuer than CABOCHON_OIDC_ISSUER")
    return {"userinfo_endpoint": "", **found}


class ProviderBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # not typed
    """Sessions that the provider began, and the exchange of a code for who it is."""

    def __init__(self) -> None:
        """Read nothing: Django makes one of these at every request of a session, and the provider may be away."""

    def authenticate(self, request: HttpRequest, *, nonce: str, code_verifier: str) -> None:
        """Refuse: ``sign_on`` below is the only way, so that no password form reaches the provider's."""
        return

    def get_user(self, user_id: int) -> Officer | None:
        """Return the officer of a session; None once the account is deactivated, which ends the session."""
        return Officer.objects.filter(is_active_account(), pk=user_id).first()

    def sign_on(self, request: HttpRequest, *, nonce: str, code_verifier: str) -> SignOn:
        """Exchange the code of a callback. Raise ``ProviderFailed`` or ``SignOnRefused``."""
        if not nonce or not code_verifier:
            raise ProviderFailed("the sign-in was not begun here")
        if not settings.CABOCHON_OIDC_ALGORITHM.startswith(("RS", "ES")):
            raise ProviderFailed("CABOCHON_OIDC_ALGORITHM is none that is signed by a key of the provider's")
        try:
            super().__init__()
            claims = self._exchanged(request, nonce, code_verifier)
        except (
            requests.RequestException,
            SuspiciousOperation,
            jwt.PyJWTError,
            ValueError,
            KeyError,
            TypeError,
        ) as error:
            raise ProviderFailed(str(error)) from error
        officer = sign_on.officer_of(_identity(claims))
        officer.backend = BACKEND
        proved_at = claims.get("auth_time")
        return SignOn(officer, float(proved_at) if type(proved_at) is int else None, _has_second_factor(claims))

    def _exchanged(self, request: HttpRequest, nonce: str, code_verifier: str) -> dict[str, Any]:
        """Return the claims of the token, and of what the provider says elsewhere about the same person."""
        callback = request.build_absolute_uri(request.path)
        answer = self.get_token(
            {
                "client_id": self.OIDC_RP_CLIENT_ID,
                "client_secret": self.OIDC_RP_CLIENT_SECRET,
                "grant_type": "authorization_code",
                "code": request.GET["code"],
                "redirect_uri": callback,
                "code_verifier": code_verifier,
            }
        )
        claims: dict[str, Any] = self.verify_token(answer["id_token"], nonce=nonce)
        if not self.OIDC_OP_USER_ENDPOINT:
            return claims
        additional = self.get_userinfo(answer["access_token"], answer["id_token"], claims)
        if additional["sub"] != claims["sub"]:
            raise SuspiciousOperation("the provider speaks of two persons")
        # How and when they proved who they are is believed of the signed token alone.
        proof = {name: claims.get(name) for name in ("amr", "acr", "auth_time")}
        # An address is verified by the source that names it: one pair, of the token if that has an address.
        of_address = claims if claims.get("email") is not None else additional
        address = {name: of_address.get(name) for name in ("email", "email_verified")}
        stated = {name: value for name, value in claims.items() if value is not None}
        return {**additional, **stated, **proof, **address}

    def retrieve_matching_jwk(self, token: str) -> jwt.PyJWK:
        """Return the key that the provider publishes for a token: by its name; the only one where it has none."""
        answer = requests.get(self.OIDC_OP_JWKS_ENDPOINT, timeout=TIMEOUT_S)
        answer.raise_for_status()
        keys = [key for key in jwt.PyJWKSet.from_dict(answer.json()).keys if key.public_key_use in (None, "sig")]
        name = jwt.get_unverified_header(token).get("kid")
        matching = [key for key in keys if name is None or key.key_id == name]
        if len(matching) != 1:
            raise SuspiciousOperation("the provider publishes no such key")
        return matching[0]

    def get_payload_data(self, token: str, key: Any) -> dict[str, Any]:
        """Return the claims of a token of this provider for this client. Raise ``jwt.PyJWTError``."""
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[self.OIDC_RP_SIGN_ALGO],
            audience=self.OIDC_RP_CLIENT_ID,
            issuer=settings.CABOCHON_OIDC_ISSUER,
            leeway=LEEWAY_S,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
        if claims.get("azp", self.OIDC_RP_CLIENT_ID) != self.OIDC_RP_CLIENT_ID:
            raise SuspiciousOperation("the token was made for another client")
        return claims

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        return value_of(attr, *args)


def _identity(claims: dict[str, Any]) -> sign_on.Identity:
    email = claims.get("email")
    is_verified = claims.get("email_verified") is True and isinstance(email, str)
    name = settings.CABOCHON_OIDC_GROUPS
    return sign_on.Identity(
        issuer=settings.CABOCHON_OIDC_ISSUER,
        subject=claims["sub"],
        email=str(email).strip() if is_verified else "",
        groups=_groups(claims.get(name)) if name else None,
    )


def _groups(claim: object) -> frozenset[str]:
    """Return the groups of a claim; none where it is missing or not what a list of groups is."""
    if not isinstance(claim, list):
        return frozenset()
    return frozenset(each for each in claim[:MAX_GROUPS] if isinstance(each, str))


def _has_second_factor(claims: dict[str, Any]) -> bool:
    methods = claims.get("amr")
    stated = {each for each in methods if isinstance(each, str)} if isinstance(methods, list) else set()
    if isinstance(claims.get("acr"), str):
        stated.add(claims["acr"])
    return not stated.isdisjoint(settings.CABOCHON_OIDC_SECOND_FACTOR)
