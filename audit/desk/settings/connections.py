"""*Connections*: what is set for mail, single sign-on, the video room and the cage, where, and whether it works.

mail              CABOCHON_EMAIL_URL      a test mail to the officer
single sign-on    CABOCHON_OIDC_ISSUER    the provider is asked for what it publishes
the video room    the case contacts       a test mail to the address of the casino
the cage          the casino's threshold  nothing: it is given paper
"""

from __future__ import annotations

import smtplib

from django.conf import settings
from django.contrib import admin, messages
from django.core.mail import EmailMessage, get_connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.audited_admin import record_entry
from audit.desk.scoped_admin import demands, officer_of, scope_of
from audit.desk.sign_in import provider
from audit.event_store.audit_trail import INSTALLATION
from audit.models import CaseContacts, Casino

MAIL_TIMEOUT_S = 10
"""Seconds for which the mail server is waited for, while the officer waits for the page."""

NO_SERVER = "console"
"""What the backend has in its name that writes mail to the log."""

MAX_ERROR = 200
"""Characters of an error of another server that the page shows."""


@demands(Capability.KEEP_EQUIPMENT)
def connections_view(request: HttpRequest) -> HttpResponse:
    """Show what is set for each connection, and where."""
    casinos = scope_of(request, Capability.KEEP_EQUIPMENT).casinos().filter(is_sandbox=False).order_by("code")
    contacts = {each.casino_id: each for each in CaseContacts.objects.filter(casino__in=casinos)}
    context = {
        **admin.site.each_context(request),
        "title": _("Connections"),
        "has_mail": has_mail_server(),
        "mail_server": _mail_server(),
        "sender": settings.DEFAULT_FROM_EMAIL,
        "own_address": officer_of(request).email,
        "issuer": settings.CABOCHON_OIDC_ISSUER,
        "provider": settings.CABOCHON_OIDC_NAME if provider.is_configured() else "",
        "local_sign_in": settings.CABOCHON_LOCAL_SIGN_IN,
        "casinos": [(casino, contacts.get(casino.pk)) for casino in casinos],
    }
    return TemplateResponse(request, "admin/audit/settings/connections.html", context)


def has_mail_server() -> bool:
    return NO_SERVER not in settings.EMAIL_BACKEND


def _mail_server() -> str:
    """Return the host and port to which mail goes."""
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"


@demands(Capability.KEEP_EQUIPMENT)
def try_view(request: HttpRequest, name: str) -> HttpResponse:
    """Try a connection, by POST: ``mail``, ``sign-on`` or ``video``, the latter of the casino that is sent."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    match name:
        case "mail":
            _try_mail(request, officer_of(request).email)
        case "sign-on" if provider.is_configured():
            _try_sign_on(request)
        case "video":
            contacts = _contacts(request)
            _try_mail(request, contacts.video_room, contacts.casino)
        case _:
            raise Http404
    return redirect("admin:connections")


def _contacts(request: HttpRequest) -> CaseContacts:
    """Return the contacts of the casino that the form names. Raise ``Http404`` for one that is not the officer's."""
    rows = scope_of(request, Capability.KEEP_EQUIPMENT).rows(CaseContacts.objects.exclude(video_room=""))
    sent = request.POST.get("casino", "")
    found = rows.select_related("casino").filter(casino=int(sent)).first() if _is_id(sent) else None
    if found is None:
        raise Http404
    return found


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _try_mail(request: HttpRequest, address: str, casino: Casino | None = None) -> None:
    """Send a test mail to an address, and say whether the mail server accepted it."""
    if not address:
        messages.error(request, _("Your account has no e-mail address: an administrator enters it."))
        return
    if not has_mail_server():
        messages.error(request, _("There is no mail server: messages go to the log of the worker."))
        return
    officer = request.user.get_username()
    body = _("%(officer)s has sent this message to try the connection. Nothing is to be done.") % {"officer": officer}
    record_entry(request, "casecontacts.tried", casino_id=casino.pk if casino is not None else INSTALLATION)
    subject = " ".join(_("Test of Cabochon’s mail").split())
    try:
        connection = get_connection(timeout=MAIL_TIMEOUT_S)
        EmailMessage(subject, body + "\n", to=[address], connection=connection).send()
    except (OSError, smtplib.SMTPException) as error:
        text = _("The mail server did not accept the message: %(error)s") % {"error": str(error)[:MAX_ERROR]}
        messages.error(request, text)
        return
    messages.success(request, _("The mail server accepted a test mail to %(address)s.") % {"address": address})


def _try_sign_on(request: HttpRequest) -> None:
    """Ask the provider for what it publishes, and say whether it answers."""
    try:
        provider.metadata()
    except provider.ProviderFailed as failed:
        text = _("The provider does not answer as it should: %(error)s") % {"error": str(failed)[:MAX_ERROR]}
        messages.error(request, text)
        return
    messages.success(request, _("The provider answers. Sign out to try a sign-in."))
