"""Mail about cases: what the video room is asked for, and which case is late. No message has a person's name in it."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.models import EscalationNotice, Finding, NightSubscriber, VideoRequest
from audit.models.cases import State
from audit.presentation import date_time, day, finding_title, labelled, officer_name, reference
from settlement.catalogue import Language


def send_video_request(request_id: int) -> bool:
    """Mail a request to the video room, unless that was done. If sending fails, the next call tries again."""
    with transaction.atomic():
        waiting = VideoRequest.objects.select_for_update(skip_locked=True, of=("self",)).filter(sent_at=None)
        about = waiting.select_related("finding__casino", "finding__table", "finding__stream", "requested_by")
        found = about.filter(pk=request_id).first()
        if found is None:
            return False
        found.sent_at = timezone.now()
        found.save(update_fields=["sent_at"])
        audit_trail.record(
            "system",
            "case.video_mailed",
            casino_id=found.finding.casino_id,
            data={"case": found.case_id, "request": found.pk, "to": found.address},
        )
        video_message(found).send()
    return True


def video_message(request: VideoRequest) -> EmailMessage:
    """Return a request as a message. It names persons by their ids alone: nobody knows who reads the address."""
    finding, casino = request.finding, request.finding.casino
    with translation.override(request.language):
        named = casino.name or casino.code
        persons = [code for code in (finding.croupier, finding.player) if code]
        facts = [
            (_("Casino"), named),
            (_("Table"), finding.table.code if finding.table is not None else ""),
            (_("Session"), finding.stream.name),
            (_("Reference"), reference(finding)),
            (_("Gaming day"), day(finding.gaming_day, with_weekday=True, with_year=True)),
            (_("Video from"), date_time(request.begins_at, casino, seconds=True, with_year=True)),
            (_("Video to"), date_time(request.ends_at, casino, seconds=True, with_year=True)),
            (_("Persons, by their ids alone"), ", ".join(persons)),
            (_("Asked for by"), officer_name(request.requested_by)),
            (_("Video kept until"), date_time(request.kept_until, casino, with_year=True)),
        ]
        subject = _("Video asked for: %(reference)s, %(casino)s") % {"reference": reference(finding), "casino": named}
        asks = _("Please keep and hand over the video of this table:")
        body = "\n".join([asks, "", *(labelled(label, text) for label, text in facts if text), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[request.address])


def send_notice(notice_id: int) -> bool:
    """Mail an officer that a case is late, unless that was done, it is closed, or there is no address to mail to."""
    with transaction.atomic():
        waiting = EscalationNotice.objects.select_for_update(skip_locked=True, of=("self",)).filter(sent_at=None)
        notice = waiting.select_related("escalation__case__casino", "officer").filter(pk=notice_id).first()
        if notice is None or notice.escalation.case.state == State.CLOSED:
            return False
        if not notice.officer.email or not notice.officer.is_active:
            return False
        message = late_message(notice)
        if message is None:
            return False
        notice.sent_at = timezone.now()
        notice.save(update_fields=["sent_at"])
        message.send()
    return True


def late_message(notice: EscalationNotice) -> EmailMessage | None:
    """Return what an officer is told of a late case; None if they have no role at its casino any more.

    Who does not see the record, as an administrator, gets the reference and the deadline alone.
    """
    case, officer = notice.escalation.case, notice.officer
    if not Scope.of(officer, *Capability).includes(case.casino_id):
        return None
    finding = Finding.objects.standing().filter(case=case).select_related("table").order_by("pk").first()
    if finding is None:
        return None
    casino = case.casino
    with translation.override(_language_of(notice)):
        facts = [
            (_("Casino"), casino.name or casino.code),
            (_("Reference"), reference(finding)),
            (_("Deadline"), date_time(notice.escalation.deadline, casino, with_year=True)),
        ]
        if Scope.of(officer, Capability.SEE_RECORD).includes(case.casino_id):
            facts += [
                (_("Finding"), finding_title(finding.rule)),
                (_("Table"), finding.table.code if finding.table is not None else ""),
                (_("Gaming day"), day(finding.gaming_day, with_weekday=True, with_year=True)),
                (_("Officer"), officer_name(case.assigned_to)),
            ]
        deputy = notice.escalation.deputy
        passed = _("The deputy may take it over: %(officer)s") % {"officer": officer_name(deputy)}
        if deputy is None:
            passed = _("No deputy for late cases is named: it passed to the administrators of the casino.")
        subject = _("Late: %(reference)s, %(casino)s") % {"reference": reference(finding), "casino": facts[0][1]}
        says = _("This case is open after its deadline.")
        body = "\n".join([says, passed, "", *(labelled(label, text) for label, text in facts if text), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[officer.email])


def _language_of(notice: EscalationNotice) -> Language:
    """Return the language in which the officer receives the nights of the casino, else the installation's."""
    chosen = NightSubscriber.objects.filter(casino=notice.escalation.case.casino_id, officer=notice.officer)
    return cast(Language, chosen.values_list("language", flat=True).first() or settings.LANGUAGE_CODE)
