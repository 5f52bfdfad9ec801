"""The page of a one-time link, on which an officer who has not signed in chooses a password."""

from __future__ import annotations

import structlog
from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters

from audit.access import accounts
from audit.access.client_address import network_address
from audit.desk.sign_in import gate
from audit.models import Officer

INVALID_AN_HOUR = 30
"""Requests for invalid links that one address may send in an hour."""

HOUR_S = 3600

log = structlog.get_logger(__name__)


@sensitive_post_parameters()
@csrf_exempt  # the token is the authority; without a referrer a browser sends the origin “null”, which Django refuses
@never_cache
def access_link_view(request: HttpRequest, token: str) -> HttpResponse:
    """Show the form to choose a password; by POST, set it and use up the link."""
    address = network_address(request)
    if _invalid_links(address) >= INVALID_AN_HOUR:
        return _page(request, 429, title=_("Too many invalid links"), is_limited=True)
    link = accounts.link_of(token)
    if link is None:
        _count_invalid_link(address)
        return _page(request, 404, title=_("This link cannot be used"))
    form: SetPasswordForm[Officer] = SetPasswordForm(link.officer, request.POST or None)
    if request.method == "POST" and form.is_valid():
        if accounts.choose_password(token, form.cleaned_data["new_password1"]) is None:
            return _page(request, 404, title=_("This link cannot be used"))  # used at the same moment
        messages.success(request, _("Your password has been set. Sign in with it."))
        return _private(redirect("admin:login"))
    return _page(request, 200, title=_("Choose your password"), form=form, officer=link.officer)


def _invalid_links(address: str) -> int:
    """Return how many invalid links an address has sent since the first of this hour; 0 without the cache."""
    try:
        return int(cache.get(_counter(address), 0))
    except Exception as error:  # whatever the cache's client raises: nobody guesses a token of 256 bits
        log.warning("invalid links not counted", error=str(error))
        return 0


def _count_invalid_link(address: str) -> None:
    try:
        cache.add(_counter(address), 0, timeout=HOUR_S)
        cache.incr(_counter(address))
    except Exception as error:
        log.warning("invalid links not counted", error=str(error))


def _counter(address: str) -> str:
    return f"invalid-links:{address}"


def _page(request: HttpRequest, status: int, **context: object) -> HttpResponse:
    context = {**gate.context_of(request, title=str(context.pop("title"))), **context}
    return _private(TemplateResponse(request, "admin/audit/sign_in/access_link.html", context, status=status))


def _private(response: HttpResponse) -> HttpResponse:
    """Let neither a cache nor another site have the address."""
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
