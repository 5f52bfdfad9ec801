"""Links that open an account, by mail, if a mail server is set up."""

from __future__ import annotations

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from audit.models import Officer

CONSOLE = "django.core.mail.backends.console.EmailBackend"


def can_mail(officer: Officer) -> bool:
    """Return whether a link can be mailed to an officer."""
    return bool(officer.email) and settings.EMAIL_BACKEND != CONSOLE


def send(officer: Officer, address: str, *, hours: int) -> None:
    """Mail the address of a link, in the language of the request. Raise ``OSError`` if the mail server refuses."""
    body = _(
        "Hello,\n\nChoose a password for your account %(name)s on this page:\n\n%(address)s\n\nThe link "
        "works once and expires after %(hours)s hours. If you did not expect this message, tell your "
        "administrator.\n"
    ) % {"name": officer.get_username(), "address": address, "hours": hours}
    EmailMessage(_("Your Cabochon account"), body, to=[officer.email]).send()
