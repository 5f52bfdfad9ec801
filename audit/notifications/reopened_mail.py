"""Mail about a night that was reopened: to the officers who had signed it, what changed and how much. Each once a
version, subscribers of the night or not."""

from __future__ import annotations

from functools import partial
from typing import cast

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.models import NightReport, NightSubscriber, Officer, ReopenedNotice
from audit.notifications import delivery
from audit.reconciliation.reopened import change_in_words, signed_before, signers_of
from settlement.catalogue import Language


def send(report: NightReport) -> int:
    """Mail the officers who had signed an earlier version of a night. Return how many are mailed now. Idempotent."""
    return sum(
        delivery.send_night(
            report,
            officer,
            "night.reopened_mailed",
            partial(ReopenedNotice.objects.get_or_create, report=report, officer=officer),
            partial(message, report, officer),
        )
        for officer in receivers(report)
    )


def receivers(report: NightReport) -> list[Officer]:
    """Return the officers to mail: with an address, who still see the record of the casino, and were not mailed."""
    mailed = ReopenedNotice.objects.filter(report=report).values("officer")
    signers = signers_of(report).exclude(email="").exclude(pk__in=mailed).order_by("pk")
    return [each for each in signers if Scope.of(each, Capability.SEE_RECORD).includes(report.casino_id)]


def message(report: NightReport, officer: Officer) -> EmailMessage:
    """Return the mail to one officer, in the language of their subscription, else in that of the installation."""
    chosen = NightSubscriber.objects.filter(casino=report.casino_id, officer=officer).values_list("language", flat=True)
    with translation.override(cast(Language, chosen.first() or settings.LANGUAGE_CODE)):
        words = _("Reopened after your signature: night of %(day)s at %(casino)s, %(currency)s")
        subject = words % delivery.night_facts(report)
        body = "\n".join([change_in_words(report), signed_before(report), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[officer.email])
