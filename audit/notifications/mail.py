"""Notifications by mail: each version of a report once to a casino's subscribers, in their language."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import cast

from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.models import NightReport, NightSubscriber
from audit.notifications import delivery, reopened_mail
from audit.notifications.delivery import GIVEN_UP_AFTER
from audit.reconciliation.pdf import as_pdf
from audit.reconciliation.presentation import boxes
from audit.reconciliation.reopened import change_in_words, signed_before
from settlement.catalogue import Language

MAILED = ("W_acct", "unadjudicated", "payout_errors", "accounting_variance")
"""The headline figures in the text of a message, as far as a report has them."""


DIFFERENCES = ("payout_errors", "accounting_variance")
"""Those that have a sign: of what they are the difference, and whose the plus is, stands after them."""


def send(report: NightReport) -> int:
    """Send a report to the subscribers who may receive it and have not. Return how many receive it now. Idempotent."""
    return sum(
        delivery.send_night(
            report,
            subscriber.officer,
            "night.mailed",
            partial(subscriber.delivered.get_or_create, report=report),
            partial(_message_to, subscriber, report),
        )
        for subscriber in _receivers(report)
    )


def _message_to(subscriber: NightSubscriber, report: NightReport) -> EmailMessage:
    officer, language = subscriber.officer, cast(Language, subscriber.language)
    with_names = Scope.of(officer, Capability.SEE_NAMES).includes(report.casino_id)
    return message(report, officer.email, language, with_names=with_names)


def waiting(now: datetime) -> list[NightReport]:
    """Return the newest reports of the last days that a subscriber, or an officer who had signed, has not received."""
    night = ("casino_id", "gaming_day", "currency")
    recent = NightReport.objects.filter(made_at__gt=now - GIVEN_UP_AFTER).order_by(*night, "-version")
    newest = recent.distinct(*night).select_related("casino").defer("content", "sheet")
    return [report for report in newest if _receivers(report) or reopened_mail.receivers(report)]


def _receivers(report: NightReport) -> list[NightSubscriber]:
    """Return the subscribers who may receive a report and have not."""
    subscribers = NightSubscriber.objects.select_related("officer").filter(casino=report.casino, receives_reports=True)
    return [
        each
        for each in subscribers.exclude(delivered__report=report).exclude(officer__email="").order_by("pk")
        if Scope.of(each.officer, Capability.RECEIVE_REPORTS).includes(report.casino_id)
    ]


def message(report: NightReport, address: str, language: Language, *, with_names: bool = False) -> EmailMessage:
    """Return a report as a message: its headline amounts as text, and the PDF attached.

    ``with_names`` is whether the receiver may see the names of croupiers.
    """
    with translation.override(language):
        words = _("Night of %(day)s at %(casino)s, %(currency)s: version %(version)s")
        subject = words % {**delivery.night_facts(report), "version": report.version}
        by_key = {box.key: box for box in boxes(report.parsed_content())}
        listed = [by_key[key] for key in MAILED if key in by_key]
        figures = [(box.label, f"{box.text} ({box.remark})" if box.key in DIFFERENCES else box.text) for box in listed]
        written = [_("%(filter)s: %(value)s") % {"filter": label, "value": text} for label, text in figures]
        digest = _("%(filter)s: %(value)s") % {"filter": _("Digest of the report"), "value": report.digest}
        reopened = [each for each in (change_in_words(report), signed_before(report)) if each]
        body = "\n".join([*reopened, *written, "", _("The report is attached as a PDF."), digest, ""])
    mail = EmailMessage(" ".join(subject.split()), body, to=[address])
    name = f"night-{report.casino.code}-{report.gaming_day}-{report.currency}-{report.version}.pdf"
    mail.attach(name, as_pdf(report, language, with_names=with_names), "application/pdf")
    return mail
