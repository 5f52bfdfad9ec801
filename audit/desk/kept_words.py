"""What an officer wrote that was not saved: the session had ended, or another officer was first. The form has it again.

A form with text names itself and its officer in a signed field. Its text is kept in the session until the same officer
sends a form with text again. Another officer who signs in there never sees it. The field proves nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from audit.event_store.audit_trail import as_typed

FIELD = "written_in"
"""The signed field of a form: the id of its officer, and its name."""

TEXTS = ("reason", "outcome", "text", "words", "answer")
"""The fields that are kept; no other is, as a password or a code."""

REASON_OF = "reason-"
"""How the fields begin that are each a reason for something of its own; they are kept, too."""

MOST = 4_000
"""Characters of a text that are kept."""

_KEPT = "kept_words"
_SALT = "written-in"
_GOOD_FOR = timedelta(days=2)


def signed(officer_pk: int, form: str) -> str:
    """Return the value of ``FIELD`` for a form of an officer."""
    return signing.dumps([officer_pk, form], salt=_SALT)


def keep(request: HttpRequest, page: str) -> bool:
    """Keep what the form of a POST says for the page at the path ``page``; return whether there was anything."""
    form = _form_of(request)
    sent = (name for name in request.POST if name in TEXTS or name.startswith(REASON_OF))
    texts = {name: text[:MOST] for name in sent if (text := as_typed(request.POST[name])).strip()}
    if form is None or not texts:
        return False
    request.session[_KEPT] = {"officer": form[0], "form": form[1], "page": page, "texts": texts}
    return True


def keep_for(request: HttpRequest, answer: HttpResponseRedirect) -> HttpResponse:
    """Keep the text of a refused form for the page that ``answer`` leads to, and return ``answer``."""
    keep(request, urlsplit(answer.url).path)
    return answer


def forget(request: HttpRequest) -> None:
    """Forget what was kept, once its officer sends another form with text: what that says counts."""
    form, found = _form_of(request), request.session.get(_KEPT)
    if found and form is not None and found.get("officer") == form[0]:
        del request.session[_KEPT]


def kept(request: HttpRequest) -> Mapping[str, Any] | None:
    """Return what is kept for the page of a request and its officer: ``form`` and ``texts``; None for nothing."""
    found = request.session.get(_KEPT) if hasattr(request, "session") else None
    if not found or found.get("page") != request.path or found.get("officer") != getattr(request.user, "pk", None):
        return None
    return {"form": found["form"], "texts": found["texts"]}


def texts_of(request: HttpRequest, form: str) -> dict[str, str]:
    """Return the texts that are kept for a form of the page of a request, by the names of its fields."""
    found = kept(request)
    return dict(found["texts"]) if found is not None and found["form"] == form else {}


def sign_in_again(request: HttpRequest) -> HttpResponse | None:
    """Keep what a POST without a session says, and lead to the sign-in and from there to the page of the form.

    Return None for a POST that has nothing to keep.
    """
    before = urlsplit(request.headers.get("referer", ""))
    is_ours = url_has_allowed_host_and_scheme(before.geturl(), {request.get_host()}, require_https=request.is_secure())
    page = before.path if is_ours and before.path else reverse("admin:index")
    if not keep(request, page):
        return None
    onward = f"{page}?{before.query}" if is_ours and before.query else page
    return redirect_to_login(onward, reverse("admin:login"))


def _form_of(request: HttpRequest) -> list[Any] | None:
    """Return the officer's id and the name of the form of a POST; None without a field that we signed."""
    try:
        officer, form = signing.loads(request.POST.get(FIELD, ""), salt=_SALT, max_age=_GOOD_FOR)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return [officer, form]
