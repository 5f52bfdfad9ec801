"""Notifications by mail: each version of a report once to a casino's subscribers, in their language."""

from __future__ import annotations

from typing import cast

from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.models import NightReport, NightSubscriber
from audit.presentation import day
from audit.reconciliation.pdf import as_pdf
from audit.reconciliation.presentation import boxes
from settlement.catalogue import Language

MAILED = ("W_acct", "unadjudicated", "payout_errors", "accounting_variance")
"""The headline figures in the text of a message, as far as a report has them."""


DIFFERENCES = ("payout_errors", "accounting_variance")
"""Those that have a sign: of what they are the difference, and whose the plus is, stands after them."""


def send(report: NightReport) -> int:
    """Send a report to the subscribers who may receive it and have not. Return how many receive it now. Idempotent.

    Each delivery is recorded in the audit trail. If sending fails, its record is rolled back, and the next call tries
    again.
    """
    sent = 0
    subscribers = NightSubscriber.objects.select_related("officer").filter(casino=report.casino, receives_reports=True)
    for subscriber in subscribers.exclude(delivered__report=report).order_by("pk"):
        officer = subscriber.officer
        if not officer.email or not Scope.of(officer, Capability.RECEIVE_REPORTS).includes(report.casino_id):
            continue
        language = cast(Language, subscriber.language)
        with transaction.atomic():
            subscriber.delivered.create(report=report)
            audit_trail.record(
                "system",
                "night.mailed",
                casino_id=report.casino_id,
                data={"report": report.pk, "digest": report.digest, "to": officer.get_username()},
            )
            with_names = Scope.of(officer, Capability.SEE_NAMES).includes(report.casino_id)
            message(report, officer.email, language, with_names=with_names).send()
        sent += 1
    return sent


def message(report: NightReport, address: str, language: Language, *, with_names: bool = False) -> EmailMessage:
    """Return a report as a message: its headline amounts as text, and the PDF attached.

    ``with_names`` is whether the receiver may see the names of croupiers.
    """
    with translation.override(language):
        subject = _("Night of %(day)s at %(casino)s, %(currency)s: version %(version)s") % {
            "day": day(report.gaming_day, with_weekday=True, with_year=True),
            "casino": report.casino.name or report.casino.code,
            "currency": report.currency,
            "version": report.version,
        }
        by_key = {box.key: box for box in boxes(report.parsed_content())}
        listed = [by_key[key] for key in MAILED if key in by_key]
        figures = [(box.label, f"{box.text} ({box.remark})" if box.key in DIFFERENCES else box.text) for box in listed]
        written = [_("%(filter)s: %(value)s") % {"filter": label, "value": text} for label, text in figures]
        digest = _("%(filter)s: %(value)s") % {"filter": _("Digest of the report"), "value": report.digest}
        body = "\n".join([*written, "", _("The report is attached as a PDF."), digest, ""])
    mail = EmailMessage(" ".join(subject.split()), body, to=[address])
    name = f"night-{report.casino.code}-{report.gaming_day}-{report.currency}-{report.version}.pdf"
    mail.attach(name, as_pdf(report, language, with_names=with_names), "application/pdf")
    return mail
