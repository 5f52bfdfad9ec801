"""Asking again: what decides something for good needs a password, and a second factor, given minutes ago.

A session is a browser that somebody may have left open. So the views that change accounts and keys are decorated with
``fresh_proof``. Their forms show the fields with ``{% proof_fields %}`` once the proof is stale; a form that was
loaded earlier, and sent without them, is answered by a page that asks and sends the same form again.

``signature`` decorates what an officer signs: a night, the closing of a case, a correction. Its form always has the
fields, and the password is given with the act, however fresh the last proof is. An officer of single sign-on has no
password here: there the proof of the last minutes, given at the provider, is the signature.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django_otp import match_token, user_has_device

from audit.desk.sign_in import provider
from audit.models import Officer

P = ParamSpec("P")

PROOF_S = 5 * 60
"""How long a proof is fresh."""

PASSWORD, CODE = "proof_password", "proof_code"
_NOT_SENT_AGAIN = {PASSWORD, CODE, "csrfmiddlewaretoken"}
_PROVED_AT = "proved_at"
_BY_PROVIDER, _PROVIDER_FACTOR = "signed_in_by_provider", "provider_second_factor"
_HALF_WAY_AT = "provider_proved_at"
_HAS_DEVICE = "has_second_factor"


def fresh_proof(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Decorate a view, or a method that is one: a POST reaches it with a fresh proof alone."""
    return _guarded(view, is_signature=False)


def signature(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Decorate a view, or a method that is one: a POST reaches it with the password, and the code, that it carries."""
    return _guarded(view, is_signature=True)


def _guarded(view: Callable[P, HttpResponse], *, is_signature: bool) -> Callable[P, HttpResponse]:
    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        request = next(each for each in args if isinstance(each, HttpRequest))
        return ask_for_proof(request, is_signature=is_signature) or view(*args, **kwargs)

    return guarded


def ask_for_proof(request: HttpRequest, *, is_signature: bool = False) -> HttpResponse | None:
    """Return None for a POST with the proof that it needs or one that gives it, otherwise the page that asks for it.

    A wrong password or code counts as a failed sign-in.
    """
    if request.method != "POST" or not is_due(request, is_signature=is_signature):
        return None
    is_wrong = PASSWORD in request.POST
    if is_wrong and _prove(request):
        return None
    context = {
        **admin.site.each_context(request),
        "title": _("Confirm that it is you"),
        "is_wrong": is_wrong,
        "sent": [
            (name, value) for name, values in request.POST.lists() for value in values if name not in _NOT_SENT_AGAIN
        ],
        "address": request.get_full_path(),
        "is_by_provider": is_by_provider(request),
        "is_signature": is_signature,
        "has_second_factor": has_second_factor(request),
        "provider": settings.CABOCHON_OIDC_NAME,
    }
    response = TemplateResponse(request, "admin/audit/sign_in/proof.html", context, status=403)
    response["Cache-Control"] = "no-store"
    return response


def is_due(request: HttpRequest, *, is_signature: bool = False) -> bool:
    """Return whether an act needs the password, and the code, with it; a signature does wherever there is one."""
    return (is_signature and not is_by_provider(request)) or not is_fresh(request)


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the officer has signed in, or given a proof, in this session within the last ``PROOF_S``."""
    proved_at = request.session.get(_PROVED_AT)
    return isinstance(proved_at, float) and abs(time.time() - proved_at) < PROOF_S


def proved(request: HttpRequest) -> Officer:
    """Return the signed-in officer, whose proof is fresh. Raise ``PermissionDenied`` without one.

    What writes an account is done in the name of this officer, so a view that forgets to ask writes nothing:
    ``page_checks`` demands it.
    """
    if not is_fresh(request) or not isinstance(request.user, Officer):
        raise PermissionDenied
    return request.user


def note_provider(request: HttpRequest, proved_at: float | None, *, has_second_factor: bool = False) -> None:
    """Note of a session that the provider of single sign-on lets in when they proved there who they are.

    A sign-in that the provider answered by a session of its own, begun hours ago, is no fresh proof; nor is one of
    which the provider does not say when (``proved_at`` None).
    """
    request.session[_BY_PROVIDER] = True
    request.session[_PROVIDER_FACTOR] = has_second_factor
    request.session[_PROVED_AT] = proved_at


def note_half_way(request: HttpRequest, proved_at: float | None) -> None:
    """Keep the same until the code of the second factor is given, which signs in."""
    request.session[_HALF_WAY_AT] = proved_at


def is_by_provider(request: HttpRequest) -> bool:
    """Return whether the session was begun by the provider, which then gives the proof, too."""
    return request.session.get(_BY_PROVIDER) is True


def has_provider_factor(request: HttpRequest) -> bool:
    """Return whether the provider has said that the officer of this session used a second factor there."""
    return is_by_provider(request) and request.session.get(_PROVIDER_FACTOR) is True


def has_second_factor(request: HttpRequest) -> bool:
    """Return whether the signed-in officer has one, looked up once for all forms of a page."""
    found: bool | None = request.__dict__.get(_HAS_DEVICE)
    if found is None:
        found = isinstance(request.user, Officer) and user_has_device(request.user)
        request.__dict__[_HAS_DEVICE] = found
    return found


def check_password(request: HttpRequest, password: str) -> bool:
    """Return whether it is the signed-in officer's password. A wrong one counts as a failed sign-in, and may lock."""
    assert isinstance(request.user, Officer), "the admin site lets nobody else in"
    proved = authenticate(request, username=request.user.get_username(), password=password)
    return proved is not None and proved.pk == request.user.pk


def _prove(request: HttpRequest) -> bool:
    officer = request.user
    assert isinstance(officer, Officer), "the admin site lets nobody else in"
    if not check_password(request, request.POST.get(PASSWORD, "")):
        return False
    if user_has_device(officer):
        code = request.POST.get(CODE, "").replace(" ", "").replace("\0", "")
        if not code or match_token(officer, code) is None:
            credentials = {"username": officer.get_username()}
            user_login_failed.send(sender=__name__, credentials=credentials, request=request)
            return False
    _remember(request)
    return True


def _remember(request: HttpRequest) -> None:
    request.session[_PROVED_AT] = time.time()


@receiver(user_logged_in)
def _on_sign_in(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    """A password, and a code, were given just now; what the provider's answer proves is noted by who has read it."""
    if getattr(user, "backend", "") == provider.BACKEND:
        note_provider(request, request.session.pop(_HALF_WAY_AT, None))
        return
    request.session.pop(_BY_PROVIDER, None)
    _remember(request)
