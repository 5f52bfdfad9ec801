"""Browsers in which an officer has signed in: a stranger at the same address does not lock the officer out of them.

Failed sign-ins lock a name at an address, which a whole casino may share. A browser gets a signed cookie with its first
sign-in; the failures of an officer in a browser that has one are counted, and lock, by themselves. The cookie proves
nothing else, and is good for its officer alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from audit.models import Officer

KNOWN_FOR = timedelta(days=180)
"""How long a browser is known after a sign-in."""

SALT = "known-browser"


def remember(response: HttpResponse, officer: Officer) -> None:
    """Have the browser known as one of an officer who has just signed in."""
    name = officer.get_username()
    response.set_cookie(
        _cookie(name),
        signing.dumps([name, secrets.token_hex(8)], salt=SALT),
        max_age=int(KNOWN_FOR.total_seconds()),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def counted_name(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str | None:
    """Return what failures of a name are counted under: the name, and the browser if it is known."""
    name = (credentials or request.POST).get("username")
    known = _known(request, name) if name else ""
    return f"{name} {known}" if known else name


def _known(request: HttpRequest, name: str) -> str:
    """Return the number of the browser, "" for one in which the officer of that name has not signed in."""
    try:
        officer, number = signing.loads(request.COOKIES.get(_cookie(name), ""), salt=SALT, max_age=KNOWN_FOR)
    except signing.BadSignature:
        return ""
    return str(number) if officer == name else ""


def _cookie(name: str) -> str:
    return f"known_{sha256(name.encode()).hexdigest()[:16]}"
