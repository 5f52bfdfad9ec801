"""Notifications by mail: each version of a report once to a casino's subscribers, in their language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import cast

from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.models import NightDelivery, NightReport, NightSubscriber
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
        for subscriber in _receivers([report])[report.pk]
    )


def _message_to(subscriber: NightSubscriber, report: NightReport) -> EmailMessage:
    officer, language = subscriber.officer, cast(Language, subscriber.language)
    with_names = Scope.of(officer, Capability.SEE_NAMES).includes(report.casino_id)
    return message(report, officer.email, language, with_names=with_names)


def waiting(now: datetime) -> list[NightReport]:
    """Return the newest reports of the last days that a subscriber, or an officer who had signed, has not received."""
    night = ("casino_id", "gaming_day", "currency")
    recent = NightReport.objects.filter(made_at__gt=now - GIVEN_UP_AFTER).order_by(*night, "-version")
    newest = list(recent.distinct(*night).select_related("casino").defer("content", "sheet"))
    receivers = _receivers(newest)
    return [report for report in newest if receivers[report.pk] or reopened_mail.receivers(report)]


def _receivers(reports: Sequence[NightReport]) -> dict[int, list[NightSubscriber]]:
    """Return the subscribers who may receive each of ``reports`` and have not, by its id: two queries for all."""
    theirs = NightSubscriber.objects.filter(casino__in={each.casino_id for each in reports}, receives_reports=True)
    subscribers = list(theirs.exclude(officer__email="").select_related("officer").order_by("pk"))
    delivered = NightDelivery.objects.filter(subscriber__in=subscribers, report__in=reports)
    done = set(delivered.values_list("subscriber_id", "report_id"))
    return {
        report.pk: [
            each
            for each in subscribers
            if each.casino_id == report.casino_id
            and (each.pk, report.pk) not in done
            and Scope.of(each.officer, Capability.RECEIVE_REPORTS).includes(report.casino_id)
        ]
        for report in reports
    }


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
