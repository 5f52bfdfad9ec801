"""The second factor: a code of an authenticator app, or one of ten recovery codes.

An officer who has one is asked for it when signing in (``pages.py``). If ``CABOCHON_SECOND_FACTOR`` is ``required``,
an officer without one sees nothing but the page that sets one up.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable

import segno
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django_otp import login as mark_verified
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts
from audit.desk.sign_in import proof

RECOVERY_CODES = 10
"""Recovery codes of an officer, each of which is good once."""


@proof.fresh_proof
def second_factor_view(request: HttpRequest) -> HttpResponse:
    """Show whether the officer has a second factor; set one up by POST of its first code.

    Nobody who merely finds an open session sees the secret or sets one up: both need a fresh proof.
    """
    device = TOTPDevice.objects.filter(user=request.user, confirmed=True).first()
    recovery_codes: list[str] = []
    if device is None and "code" in request.POST:
        unconfirmed = _unconfirmed_device(request)
        if unconfirmed.verify_token(request.POST.get("code", "").replace(" ", "")):
            recovery_codes = _confirm(request, unconfirmed)
            device = unconfirmed
            mark_verified(request, device)
            messages.success(request, _("Your second factor has been set up."))
        else:
            messages.error(request, _("That code is wrong. Check that your phone’s clock is right."))
    context = {
        **admin.site.each_context(request),
        "title": _("Second factor"),
        "has_second_factor": device is not None,
        "recovery_codes": recovery_codes,
        "is_required": settings.CABOCHON_SECOND_FACTOR == "required",
    }
    if device is None and proof.is_fresh(request):
        unconfirmed = _unconfirmed_device(request)
        qr_code = segno.make(unconfirmed.config_url, error="m")
        svg = qr_code.svg_inline(scale=5, border=3, svgclass="qr", lineclass=None)
        context |= {"qr_code": mark_safe(svg), "secret": _secret_text(unconfirmed)}
    response = TemplateResponse(request, "admin/audit/sign_in/second_factor.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _unconfirmed_device(request: HttpRequest) -> TOTPDevice:
    """Return the officer's second factor that no code has confirmed yet; create it on the first visit."""
    device, _is_new = TOTPDevice.objects.get_or_create(user=request.user, confirmed=False, defaults={"name": "phone"})
    return device


def _confirm(request: HttpRequest, device: TOTPDevice) -> list[str]:
    """Put a second factor into use and return its recovery codes, which are not shown again."""
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    accounts.put_second_factor_into_use(proof.proved(request), device.pk, codes)
    device.confirmed = True
    return codes


def _secret_text(device: TOTPDevice) -> str:
    """Return the secret as a person types it: base 32, in groups of four."""
    secret = b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


class SecondFactorRequired:
    """Middleware that sends an officer without a second factor to the page that sets one up, if one is required."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.CABOCHON_SECOND_FACTOR == "required" and request.path_info.startswith(reverse("admin:index")):
            officer = request.user
            names = ("login", "logout", "jsi18n", "second_factor", "single_sign_on", "single_sign_on_callback")
            exempt = {reverse(f"admin:{name}") for name in names}
            is_verified = getattr(officer, "is_verified", lambda: False)() or proof.has_provider_factor(request)
            if officer.is_authenticated and not is_verified and request.path_info not in exempt:
                return redirect("admin:second_factor")
        return self.get_response(request)
