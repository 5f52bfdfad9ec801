"""What the head makes of the cases of a migrated record: the late ones, and a complaint. Prints it as JSON."""

# ruff: noqa: E402 - Django is set up before its models are imported

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from django.core import mail
from django.test.utils import override_settings
from django.utils import timezone

from audit.casework import complaints, escalation
from audit.event_store import read
from audit.models import Case, CaseContacts, Complaint, EscalationNotice, LoggedStream, Officer, VideoRequest
from audit.models.cases import State
from audit.notifications import case_mail


def late() -> dict[str, Any]:
    """Sweep twice, mail what is due, and return what came of it."""
    empty = [model.objects.count() for model in (CaseContacts, VideoRequest, EscalationNotice, Complaint)]
    for officer in Officer.objects.all():
        Officer.objects.filter(pk=officer.pk).update(email=f"{officer.pk}@casino.example")
    now = timezone.now()
    is_late = Case.objects.exclude(state=State.CLOSED).filter(deadline__lt=now, findings__status="standing")
    swept = [escalation.escalate_late(now), escalation.escalate_late(now)]
    with override_settings(EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend"):
        mail.outbox = []
        to_mail = escalation.officers_to_mail(now)
        listed = [case_mail.send_notices(officer, casino) for officer, casino in to_mail]
        again = escalation.officers_to_mail(now)
    return {
        "empty": empty,
        "late": is_late.distinct().count(),
        "swept": swept,
        "notices": EscalationNotice.objects.count(),
        "listed": listed,
        "messages": [[*each.to, each.subject] for each in mail.outbox],
        "again": again,
    }


def complaint() -> dict[str, Any]:
    """Enter a complaint about the first event of a session of 0.1.0, and answer it."""
    stream = LoggedStream.objects.exclude(table=None).order_by("pk")[0]
    officer = Officer.objects.filter(memberships__casino=stream.casino_id, memberships__role="second")[0]
    seq = read.slice_of(stream.pk, after=0, limit=1)[0][0]
    clock = timezone.now().time().replace(second=0, microsecond=0)
    entered = complaints.enter(officer, complaints.Entered(stream, seq, clock, "letter", "I was not paid"))
    answered = complaints.answer(entered.pk, officer, "unfounded", "the camera shows it")
    return {"stream": stream.name, "outcome": answered.outcome, "hours": entered.deadline > entered.entered_at}


if __name__ == "__main__":
    json.dump({"late": late(), "complaint": complaint()}, sys.stdout)
