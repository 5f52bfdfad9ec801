"""When an account last signed in and from where, said to whoever signs in next: a stranger's sign-in is noticed.

One row an account is kept, in the table that ``axes`` has for it, with name, time and address alone; the next sign-in
replaces it. The audit trail has every sign-in and no address: an entry is never deleted, and an address is personal.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from axes.models import AccessLog
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.client_address import network_address
from audit.desk.scoped_admin import scope_of
from audit.models import Officer
from audit.presentation import date_time

SAME_SIGN_IN = timedelta(minutes=1)
"""How far apart the times of one sign-in may be in the account and in its row."""


class SignIn(NamedTuple):
    """An earlier sign-in. ``address`` is an IPv4 address or the /64 of an IPv6 one, "" if it was not kept."""

    at: datetime
    address: str


def before(officer: Officer) -> SignIn | None:
    """Return the last sign-in of an account, to be asked for before the next; None for its first."""
    if officer.last_login is None:
        return None
    kept = AccessLog.objects.filter(username=officer.get_username()).order_by("-attempt_time").first()
    # Of a sign-in that kept no address, as one of an earlier version, there is an older row or none.
    is_known = kept is not None and kept.attempt_time > officer.last_login - SAME_SIGN_IN
    return SignIn(officer.last_login, (kept.ip_address or "") if kept is not None and is_known else "")


def keep(request: HttpRequest, officer: Officer) -> None:
    """Keep this sign-in in place of the one before."""
    with transaction.atomic():
        AccessLog.objects.filter(username=officer.get_username()).delete()
        AccessLog.objects.create(username=officer.get_username(), ip_address=network_address(request) or None)


def say(request: HttpRequest, earlier: SignIn | None) -> None:
    """Say on the next page when the account last signed in, and from which address; nothing after its first."""
    if earlier is None:
        return
    casinos = list(scope_of(request, *Capability).casinos()[:2])
    when = date_time(earlier.at, casinos[0] if len(casinos) == 1 else None)
    if earlier.address:
        address = f"{earlier.address}/64" if ":" in earlier.address else earlier.address
        text = _("You last signed in on %(when)s, from %(address)s.") % {"when": when, "address": address}
    else:
        text = _("You last signed in on %(when)s.") % {"when": when}
    messages.info(request, f"{text} {_('If that was not you, tell an administrator.')}")
