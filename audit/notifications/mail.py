"""Reports by mail: to a casino's subscribers, in their language, each version once."""

from __future__ import annotations

from typing import cast

from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from audit.event_store import audit_trail
from audit.models import NightReport, NightSubscriber
from audit.reconciliation.pdf import Language, as_pdf
from audit.reconciliation.wording import money


def send(report: NightReport) -> int:
    """Send a report to the subscribers who have not had it. Return how many had it now.

    Who was sent what is an act of the log. A subscriber whose act is not written, because the sending failed, is sent
    it again when this is called again.
    """
    told = 0
    subscribers = NightSubscriber.objects.select_related("officer").filter(casino=report.casino).order_by("pk")
    for subscriber in subscribers.exclude(delivered__report=report):
        officer = subscriber.officer
        if not officer.email or not officer.is_active:
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
            message(report, officer.email, language).send()
        told += 1
    return told


def message(report: NightReport, address: str, language: Language) -> EmailMessage:
    """Return a report as a message: the totals in its text, the whole attached as PDF."""
    said = report.said()
    total = said["total"]
    with translation.override(language):
        subject = _("Night of %(day)s at %(casino)s, %(currency)s: version %(version)s") % {
            "day": report.gaming_day,
            "casino": report.casino.name or report.casino.code,
            "currency": report.currency,
            "version": report.version,
        }
        rows = [
            (_("Accounting win"), total["W_acct"]),
            (_("Payout errors"), total["bridge"]["payout_errors"]),
            (_("Accounting variance"), total["bridge"].get("accounting_variance")),
        ]
        body = "\n".join(f"{label}: {money(minor, report.currency)}" for label, minor in rows)
        body += f"\n\n{_('Digest of the report')} {report.digest}\n"
    mail = EmailMessage(" ".join(subject.split()), body, to=[address])
    name = f"night-{report.casino.code}-{report.gaming_day}-{report.currency}-{report.version}.pdf"
    mail.attach(name, as_pdf(report, language), "application/pdf")
    return mail
