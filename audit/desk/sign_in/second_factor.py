"""Signing in with a second factor: a code of an authenticator, or one of ten written down once.

Who has one is asked for it. Where ``CABOCHON_SECOND_FACTOR`` is ``required``, who has none sees nothing but the page on
which to make one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp import login as verified_login
from django_otp import match_token, user_has_device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.desk.audited_admin import record_act

CODES = 10
"""Codes to be written down, each good once."""


class SignIn(AdminAuthenticationForm):
    """Name, password, and the second factor of who has one."""

    code = forms.CharField(
        label=gettext_lazy("Second factor, if you have one"),
        required=False,
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        officer = self.get_user()
        if officer is not None and user_has_device(officer):
            code = cleaned.get("code", "").replace(" ", "")
            device = match_token(officer, code) if code else None
            if device is None:
                named = {"username": officer.get_username()}
                user_login_failed.send(sender=__name__, credentials=named, request=self.request)
                raise forms.ValidationError(_("The code of your second factor is missing or wrong."), code="code")
            officer.otp_device = device  # type: ignore[attr-defined]
        return cleaned


def urls() -> list[Any]:
    return [path("second-factor/", admin.site.admin_view(page), name="audit_second_factor")]


def page(request: HttpRequest) -> HttpResponse:
    """Show whether the officer has a second factor, and make one."""
    device = TOTPDevice.objects.filter(user=request.user, confirmed=True).first()
    codes: list[str] = []
    if request.method == "POST" and device is None:
        waiting = _waiting(request)
        if waiting.verify_token(request.POST.get("code", "").replace(" ", "")):
            codes = _confirm(request, waiting)
            device = waiting
            verified_login(request, device)
            messages.success(request, _("Your second factor is set up."))
        else:
            messages.error(request, _("That code is not right. The clock of the phone may be off."))
    context = {
        **admin.site.each_context(request),
        "title": _("Second factor"),
        "has_one": device is not None,
        "codes": codes,
        "is_required": settings.CABOCHON_SECOND_FACTOR == "required",
    }
    if device is None:
        waiting = _waiting(request)
        picture = segno.make(waiting.config_url, error="m").svg_inline(scale=5, border=3, svgclass="qr", lineclass=None)
        context |= {"picture": mark_safe(picture), "secret": _grouped(waiting)}
    response = TemplateResponse(request, "admin/audit/second_factor.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _waiting(request: HttpRequest) -> TOTPDevice:
    """Return the officer's factor that waits for its first code."""
    device, _is_new = TOTPDevice.objects.get_or_create(user=request.user, confirmed=False, defaults={"name": "phone"})
    return device


@transaction.atomic
def _confirm(request: HttpRequest, device: TOTPDevice) -> list[str]:
    """Take a factor into use and return the codes to write down."""
    device.confirmed = True
    device.save()
    StaticDevice.objects.filter(user=request.user).delete()
    kept = StaticDevice.objects.create(user=request.user, name="paper")
    codes = [StaticToken.random_token() for _ in range(CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=kept, token=code) for code in codes)
    record_act(request, "officer.second_factor", named=str(request.user))
    return codes


def _grouped(device: TOTPDevice) -> str:
    """Return the secret as a person types it: base 32, in fours."""
    from base64 import b32encode

    written = b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(written[at : at + 4] for at in range(0, len(written), 4))


class SecondFactorRequired:
    """Sends an officer without a second factor to the page that makes one, where one is required."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.CABOCHON_SECOND_FACTOR == "required" and request.path_info.startswith(reverse("admin:index")):
            officer = request.user
            free = {reverse(f"admin:{name}") for name in ("login", "logout", "jsi18n", "audit_second_factor")}
            is_verified = getattr(officer, "is_verified", lambda: False)()
            if officer.is_authenticated and not is_verified and request.path_info not in free:
                return redirect("admin:audit_second_factor")
        return self.get_response(request)


admin.site.login_form = SignIn
admin.site.site_url = None  # the desk is the site
