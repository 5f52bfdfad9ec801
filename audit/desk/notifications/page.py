"""Notifications: the browsers that an officer lets notify him, and the script that shows what they are sent.

A browser asks for permission on a click alone, and hands the form what a message to it takes. An open
session lets nobody subscribe a browser of his own: this takes a fresh proof; to end it does not.
"""

from __future__ import annotations

from pathlib import Path

from django.contrib import admin, messages
from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from audit.access.capabilities import Capability
from audit.desk.scoped_admin import demands, officer_of
from audit.desk.sign_in.proof import ask_for_proof, proved
from audit.notifications import push_subscriptions

WORKER = "audit/push-worker.js"
"""The static file of the script that a browser keeps."""

_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iOS",
    "iPad": "iOS",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "Linux": "Linux",
}
_BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}


@demands(*Capability)
def notifications_view(request: HttpRequest) -> HttpResponse:
    """Show an officer's browsers. POST subscribes this one, or ends the one of the field ``end``."""
    if request.method == "POST":
        if "end" in request.POST:
            _end(request, request.POST["end"])
        elif (answer := ask_for_proof(request)) is not None:
            return answer
        else:
            _subscribe(request)
        return redirect("admin:notifications")
    context = {
        **admin.site.each_context(request),
        "title": _("Notifications"),
        "browsers": push_subscriptions.of_officer(officer_of(request)),
        "public_key": push_subscriptions.public_key(),
    }
    return TemplateResponse(request, "admin/audit/notifications/page.html", context)


def _subscribe(request: HttpRequest) -> None:
    """Subscribe the browser of a request, and say so, or why not."""
    sent = {name: request.POST.get(name, "") for name in ("endpoint", "public_key", "auth")}
    language, browser = (get_language() or "en")[:2], browser_of(request.headers.get("User-Agent", ""))
    try:
        push_subscriptions.subscribe(proved(request), **sent, language=language, browser=browser)
    except push_subscriptions.NotSubscribed as refused:
        if refused.is_too_many:
            messages.error(request, _("You already have ten browsers here. End one first."))
        else:
            messages.error(request, _("The browser gave no address to which notifications can be sent."))
    else:
        messages.success(request, _("This browser shows notifications from now on."))


def _end(request: HttpRequest, sent: str) -> None:
    """End the notifications of one of the officer's own browsers. Raise ``Http404`` for any other."""
    officer = officer_of(request)
    found = {str(each.pk): each for each in push_subscriptions.of_officer(officer)}
    if sent not in found:
        raise Http404
    push_subscriptions.end(officer, found[sent])
    messages.success(request, _("The browser shows no notifications any more."))


def browser_of(agent: str) -> str:
    """Return how a page names a browser, by what it says of itself: “Firefox, Windows”."""
    names = [next((name for part, name in known.items() if part in agent), "") for known in (_BROWSERS, _SYSTEMS)]
    return ", ".join(filter(None, names)) or _("Browser")


@require_safe
def worker_view(request: HttpRequest) -> HttpResponse:
    """Serve the script that a browser keeps and runs for a notification: its folder is what it may open pages of.

    It is no secret, and a browser fetches it again without a session.
    """
    file = finders.find(WORKER)
    if not isinstance(file, str):
        raise Http404
    response = HttpResponse(Path(file).read_bytes(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response
