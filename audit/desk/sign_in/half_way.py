"""Between the password and the code: who has given the right password in this session, for five minutes.

It is kept in the session, which gets a new key with it, and is good for nothing but the page that asks for the code. It
ends with the password it was given for, with the account, and with the second factor.
"""

from __future__ import annotations

import time

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django_otp import user_has_device

from audit.models import Officer
from audit.models.officers import is_active_account

HALF_WAY_S = 5 * 60
"""How long the code may be given after the password."""

_KEY = "half_way_in"


def begin(request: HttpRequest, officer: Officer) -> None:
    """Remember that the officer, whom ``authenticate`` returned, has given the right password."""
    request.session.cycle_key()
    request.session[_KEY] = {
        "officer": officer.pk,
        "backend": officer.backend,
        "password": officer.get_session_auth_hash(),
        "at": time.time(),
    }


def end(request: HttpRequest) -> None:
    request.session.pop(_KEY, None)


def officer_half_way(request: HttpRequest) -> Officer | None:
    """Return the officer who may give the code in this session, with the backend that let them in; None if nobody."""
    kept = request.session.get(_KEY)
    if kept is None:
        return None
    officer = Officer.objects.filter(is_active_account(), pk=kept["officer"]).first()
    is_good = (
        officer is not None
        and 0 <= time.time() - kept["at"] < HALF_WAY_S
        and constant_time_compare(kept["password"], officer.get_session_auth_hash())
        and user_has_device(officer)
    )
    if not is_good:
        end(request)
        return None
    assert officer is not None
    officer.backend = kept["backend"]
    return officer
