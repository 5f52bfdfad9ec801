"""Signing in: the page that asks for name and password, and the one that asks for the code of a second factor.

An officer without a second factor is signed in by the password. Wrong passwords and wrong codes are counted together,
by name and address, in a known browser by themselves, and lock alike (``AXES_*`` in the settings). The count is
forgotten when somebody has signed in, not when the password was right.
"""

from __future__ import annotations

import time
from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import login
from django.contrib.auth.signals import user_login_failed
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp import match_token, user_has_device

from audit.desk.sign_in import gate, half_way, known_browser, last_sign_in, provider
from audit.models import Officer

CODE_PERIOD_S = 30
"""Seconds after which an authenticator app shows the next code (RFC 6238)."""


class PasswordForm(AdminAuthenticationForm):
    """Name and password. Whether an account is unknown or locked, or the password wrong, the answer is the same."""

    error_messages = {  # as Django has it
        **AdminAuthenticationForm.error_messages,
        "invalid_login": gettext_lazy("The name or the password is wrong. Capital letters count."),
    }

    def clean(self) -> dict[str, Any]:
        """Refuse a name that is longer than any account's: the table of failed sign-ins cannot hold it."""
        if len(self.cleaned_data.get("username") or "") > (self.username_field.max_length or 0):
            raise self.get_invalid_login_error()
        return super().clean()

    def confirm_login_allowed(self, user: Any) -> None:
        """Refuse all but superusers where everybody else signs in with the provider."""
        super().confirm_login_allowed(user)
        if provider.is_configured() and not settings.CABOCHON_LOCAL_SIGN_IN and not user.is_superuser:
            raise self.get_invalid_login_error()


class CodeForm(forms.Form):
    """The code of the second factor, or a recovery code. The officer has given the password."""

    code = forms.CharField(
        label=gettext_lazy("Code from your device"),
        required=False,
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}),
    )
    recovery_code = forms.CharField(
        label=gettext_lazy("Recovery code"),
        required=False,
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )

    def __init__(self, request: HttpRequest, officer: Officer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.officer = request, officer

    def clean(self) -> dict[str, Any]:
        """Compare the code, unless the name is locked at this address. One that is wrong, or missing, counts."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        code = (cleaned.get("code") or cleaned.get("recovery_code") or "").replace(" ", "")
        credentials = credentials_of(self.officer)
        is_allowed = AxesProxyHandler.is_allowed(self.request, credentials)
        device = match_token(self.officer, code) if is_allowed and code else None
        if device is None:
            user_login_failed.send(sender=__name__, credentials=credentials, request=self.request)
            raise forms.ValidationError(_("The code is missing, wrong or used already."), code="code")
        self.officer.otp_device = device  # type: ignore[attr-defined]
        return cleaned


class PasswordView(LoginView):
    """Ask for name and password; sign in who has no second factor, and send who has one to the next page."""

    authentication_form = PasswordForm
    template_name = "admin/login.html"

    def get_default_redirect_url(self) -> str:
        return reverse("admin:index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = gate.context_of(self.request, title=_("Sign in"))
        context |= {"provider": settings.CABOCHON_OIDC_NAME if provider.is_configured() else ""}
        context |= {"is_local": settings.CABOCHON_LOCAL_SIGN_IN or not provider.is_configured()}
        return super().get_context_data(**context, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        officer = form.get_user()
        if not user_has_device(officer):
            half_way.end(self.request)
            return sign_in(self.request, officer, self.get_success_url())
        half_way.begin(self.request, officer)
        onward = urlencode({self.redirect_field_name: self.get_success_url()})
        return HttpResponseRedirect(f"{reverse('admin:sign_in_code')}?{onward}")


class CodeView(LoginView):
    """Ask for the code of the second factor, and sign in. Without a password given just before, ask for that."""

    authentication_form: Any = CodeForm
    template_name = "admin/audit/sign_in/code.html"

    @cached_property
    def officer(self) -> Officer | None:
        return half_way.officer_half_way(self.request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.officer is None:
            return HttpResponseRedirect(
                f"{reverse('admin:login')}?{urlencode({self.redirect_field_name: self.get_success_url()})}"
            )
        response = super().dispatch(request, *args, **kwargs)
        if getattr(request, "axes_locked_out", False):
            half_way.end(request)
        response["Cache-Control"] = "no-store"
        return response

    def get_default_redirect_url(self) -> str:
        return reverse("admin:index")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "officer": self.officer}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        assert self.officer is not None, "dispatch has sent everybody else away"
        context = gate.context_of(self.request, title=_("Your device"))
        kwargs |= {"officer": self.officer, "tries_left": _tries_left(self.request, self.officer)}
        kwargs |= {"changes_in_s": CODE_PERIOD_S - int(time.time()) % CODE_PERIOD_S, "period_s": CODE_PERIOD_S}
        kwargs |= {"lock_minutes": int(settings.AXES_COOLOFF_TIME.total_seconds()) // 60}
        return super().get_context_data(**context, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        half_way.end(self.request)
        return sign_in(self.request, form.officer, self.get_success_url())


def sign_in(request: HttpRequest, officer: Officer, onward: str) -> HttpResponse:
    """Sign in an officer who has proved who they are; the next page says when and from where they last did."""
    earlier = last_sign_in.before(officer)
    login(request, officer)
    last_sign_in.keep(request, officer)
    last_sign_in.say(request, earlier)
    response = HttpResponseRedirect(onward)
    known_browser.remember(response, officer)
    return response


def credentials_of(officer: Officer) -> dict[str, str]:
    """Return what failed attempts of this officer are counted under."""
    return {"username": officer.get_username()}


def login_view(request: HttpRequest) -> HttpResponseBase:
    """Show the page that asks for the password; who has signed in already is led to the desk."""
    if request.method == "GET" and admin.site.has_permission(request):
        return HttpResponseRedirect(reverse("admin:index"))
    return PasswordView.as_view()(request)


def code_view(request: HttpRequest) -> HttpResponseBase:
    return CodeView.as_view()(request)


def _tries_left(request: HttpRequest, officer: Officer) -> int:
    failures: int = AxesProxyHandler.get_failures(request, credentials_of(officer))
    return max(0, int(settings.AXES_FAILURE_LIMIT) - failures)
