"""Mail about cases: what the video room is asked for, and which case is late. No message has a person's name in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Exists, OuterRef
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.debts import with_money
from audit.casework.escalation import AT_ONCE, is_due, notices_to_mail
from audit.casework.priority import priority_in_words, with_priority
from audit.casework.titles import incident_title, second_line
from audit.event_store import audit_trail
from audit.models import EscalationNotice, Finding, NightSubscriber, Officer, VideoRequest
from audit.notifications import delivery
from audit.presentation import date_time, day, labelled, officer_name, reference
from settlement.catalogue import Language


def send_video_request(request_id: int) -> bool:
    """Mail a request to the video room, unless that was done or is not due. Return whether a server took it."""

    def find(now: datetime) -> list[VideoRequest]:
        waiting = VideoRequest.objects.select_for_update(skip_locked=True, of=("self",)).filter(is_due(now))
        about = waiting.select_related("finding", "requested_by")
        return list(about.filter(pk=request_id))

    return bool(
        delivery.send(
            find,
            lambda found: video_message(found[0]),
            given_up=lambda each: _record_request(each, "case.video_not_mailed"),
            sent=lambda each: _record_request(each, "case.video_mailed"),
        )
    )


def _record_request(request: VideoRequest, event: str) -> None:
    audit_trail.record(
        "system",
        event,
        casino_id=request.finding.casino_id,
        data={"case": request.case_id, "request": request.pk, "to": request.address},
    )


def video_message(request: VideoRequest) -> EmailMessage:
    """Return a request as a message. It names persons by their ids alone: nobody knows who reads the address."""
    about = Finding.objects.select_related("casino", "table", "stream", "case")
    finding = with_priority(about).get(pk=request.finding_id)
    casino = finding.casino
    with translation.override(request.language):
        named = casino.name or casino.code
        persons = [code for code in (finding.croupier, finding.player) if code]
        facts = [
            (_("Casino"), named),
            (_("Table"), finding.table.code if finding.table is not None else ""),
            (_("Session"), finding.stream.name),
            (_("Reference"), reference(finding)),
            (_("Priority"), priority_in_words(finding)),
            (_("Gaming day"), day(finding.gaming_day, with_weekday=True, with_year=True)),
            (_("Video from"), date_time(request.begins_at, casino, seconds=True, with_year=True)),
            (_("Video to"), date_time(request.ends_at, casino, seconds=True, with_year=True)),
            (_("People, by their ids alone"), ", ".join(persons)),
            (_("Asked for by"), officer_name(request.requested_by)),
            (_("Video kept until"), date_time(request.kept_until, casino, with_year=True)),
        ]
        subject = _("Video asked for: %(reference)s, %(casino)s") % {"reference": reference(finding), "casino": named}
        asks = _("Keep the video of this table, and hand it over:")
        body = "\n".join([asks, "", *(labelled(label, text) for label, text in facts if text), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[request.address])


def send_notices(officer_id: int, casino_id: int) -> int:
    """Mail an officer, in one message, which cases of a casino are late. Return how many it lists.

    Left out are notices that were mailed or are not due, of closed cases, and of an officer without an address or a
    role at the casino.
    """

    def given_up(notice: EscalationNotice) -> None:
        data = {"case": notice.escalation.case_id, "to": notice.officer.get_username()}
        audit_trail.record("system", "case.late_not_mailed", casino_id=casino_id, data=data)

    def write(found: Sequence[EscalationNotice]) -> EmailMessage | None:
        standing = Finding.objects.standing().filter(case=OuterRef("escalation__case"))
        theirs = notices_to_mail(timezone.now()).filter(officer=officer_id, escalation__case__casino=casino_id)
        return late_message(found, number=theirs.filter(Exists(standing)).count())

    return delivery.send(lambda now: _notices_to_mail(officer_id, casino_id, now), write, given_up=given_up)


def _notices_to_mail(officer_id: int, casino_id: int, now: datetime) -> list[EscalationNotice]:
    waiting = notices_to_mail(now).select_for_update(skip_locked=True, of=("self",))
    theirs = waiting.filter(officer=officer_id, escalation__case__casino=casino_id)
    about = theirs.select_related(
        "escalation__case__casino", "escalation__case__assigned_to", "escalation__deputy", "officer"
    )
    return list(about.order_by("escalation__deadline", "pk")[:AT_ONCE])


def late_message(notices: Sequence[EscalationNotice], *, number: int) -> EmailMessage | None:
    """Return the message to an officer about the late cases of a casino; None if they have no role there any more.

    ``number`` is how many late cases wait for the officer, with those that the message lists. An administrator, who
    does not see the record, gets the references and the deadlines alone.
    """
    casino, officer = notices[0].escalation.case.casino, notices[0].officer
    if not Scope.of(officer, *Capability).includes(casino.pk):
        return None
    standing = Finding.objects.standing().filter(case__in=[each.escalation.case_id for each in notices])
    related = standing.select_related("table", "casino", "case")
    heads = {each.case_id: each for each in with_money(with_priority(related)).order_by("heads_case", "-pk")}
    late = [(each, heads[each.escalation.case_id]) for each in notices if each.escalation.case_id in heads]
    if not late:
        return None
    sees_record = Scope.of(officer, Capability.SEE_RECORD).includes(casino.pk)
    with translation.override(_language_of(notices[0])):
        named = casino.name or casino.code
        facts = [_late_facts(notice, finding, sees_record=sees_record) for notice, finding in late]
        if number == 1:
            subject = _("Late: %(reference)s, %(casino)s") % {"reference": reference(late[0][1]), "casino": named}
            says = _("This case is still open after its deadline.")
        else:
            subject = _("%(number)s late cases, %(casino)s") % {"number": number, "casino": named}
            says = _("These cases are still open after their deadlines.")
        cases = ["\n".join(labelled(label, text) for label, text in each if text) for each in facts]
        passed = [_passed(deputy) for deputy in {each.escalation.deputy: None for each, _finding in late}]
        head = filter(None, [says, delivery.part_note(len(late), number), *passed])
        body = "\n".join([*head, "", labelled(_("Casino"), named), "\n\n".join(cases), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[officer.email])


def _late_facts(notice: EscalationNotice, finding: Finding, *, sees_record: bool) -> list[tuple[str, str]]:
    case = notice.escalation.case
    facts = [
        (_("Reference"), reference(finding)),
        (_("Deadline"), date_time(notice.escalation.deadline, case.casino, with_year=True)),
    ]
    if sees_record:
        facts += [
            (_("Finding"), title := incident_title(finding)),
            (_("Rule"), second_line(finding, title)),
            (_("Priority"), priority_in_words(finding)),
            (_("Table"), finding.table.code if finding.table is not None else ""),
            (_("Gaming day"), day(finding.gaming_day, with_weekday=True, with_year=True)),
            (_("Officer"), officer_name(case.assigned_to)),
        ]
    return facts


def _passed(deputy: Officer | None) -> str:
    if deputy is None:
        return _("No deputy for late cases is named: the case passed to the administrators of the casino.")
    return _("The deputy may take it over: %(officer)s") % {"officer": officer_name(deputy)}


def _language_of(notice: EscalationNotice) -> Language:
    """Return the language in which the officer receives the nights of the casino, else the installation's."""
    chosen = NightSubscriber.objects.filter(casino=notice.escalation.case.casino_id, officer=notice.officer)
    return cast(Language, chosen.values_list("language", flat=True).first() or settings.LANGUAGE_CODE)
