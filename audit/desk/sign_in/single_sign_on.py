"""Signing in with the provider of the house: there and back. ``provider.py`` says what is believed of its answer."""

from __future__ import annotations

import time
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import logout
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django_otp import user_has_device
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from audit.access import refusals
from audit.access.client_address import network_address
from audit.access.sign_on import SignOnRefused
from audit.desk.sign_in import gate, half_way, pages, proof, provider

log = structlog.get_logger(__name__)

STATES = "oidc_states"
"""Where ``mozilla-django-oidc`` keeps in a session the states of sign-ins that have begun, with nonce and verifier."""

STATE_S = 10 * 60
"""Seconds within which the answer of the provider has to come."""


class _Begin(OIDCAuthenticationRequestView):  # type: ignore[misc]  # not typed
    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        return provider.value_of(attr, *args)

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Ask when they proved who they are; and that they prove it now, where a session has to be proved again."""
        if "again" in request.GET:
            return {"prompt": "login", "max_age": "0"}
        return {"max_age": str(settings.SESSION_COOKIE_AGE)}


def begin_view(request: HttpRequest) -> HttpResponseBase:
    """Lead to the provider."""
    if not provider.is_configured():
        raise Http404
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    try:
        response: HttpResponseBase = _Begin.as_view()(request)
    except provider.ProviderFailed as error:
        return _refused(request, error)
    response["Cache-Control"] = "no-store"
    return response


def callback_view(request: HttpRequest) -> HttpResponse:
    """Sign in whom the provider names; who has a second factor here, and showed none there, gives its code first."""
    if not provider.is_configured():
        raise Http404
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    begun = request.session.get(STATES, {}).pop(request.GET.get("state", ""), None)
    request.session.modified = True
    onward = request.session.get("oidc_login_next") or reverse("admin:index")
    try:
        if begun is None or "code" not in request.GET or not 0 <= time.time() - begun["added_on"] < STATE_S:
            raise provider.ProviderFailed(str(request.GET.get("error", "no such state"))[:100])
        found = provider.ProviderBackend().sign_on(request, nonce=begun["nonce"], code_verifier=begun["code_verifier"])
    except (provider.ProviderFailed, SignOnRefused, SuspiciousOperation) as error:
        return _refused(request, error)
    if request.user.is_authenticated and request.user.pk != found.officer.pk:
        logout(request)  # whoever left this browser open: nobody else's proof is theirs
    if user_has_device(found.officer) and not found.has_second_factor:
        half_way.begin(request, found.officer)
        proof.note_half_way(request, found.proved_at)
        return HttpResponseRedirect(f"{reverse('admin:sign_in_code')}?{urlencode({'next': onward})}")
    half_way.end(request)
    response = pages.sign_in(request, found.officer, onward)
    proof.note_provider(request, found.proved_at, has_second_factor=found.has_second_factor)
    return response


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    """Say that nobody was signed in. The web server's log says what was wrong with an answer."""
    is_unknown = isinstance(error, SignOnRefused)
    log.warning("single sign-on refused", error=type(error).__name__, detail=str(error)[:500])
    refusals.count_refusal(network_address(request), timezone.now())
    context = gate.context_of(request, title=_("Sign in"))
    context |= {"is_unknown": is_unknown, "provider": settings.CABOCHON_OIDC_NAME}
    response = TemplateResponse(request, "admin/audit/sign_in/provider_refused.html", context, status=403)
    response["Cache-Control"] = "no-store"
    return response
