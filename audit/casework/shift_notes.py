"""Hand-over notes: an officer tells the next shift of a casino what it must know. Each is an entry of the trail, too.

Nobody can take a note back or erase it from the trail: persons stand in it by their ids.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.actions import MAX_REASON, ActionRefused
from audit.event_store import audit_trail
from audit.models import Casino, Officer, ShiftNote

HANDED_OVER = "shift.handed_over"

SHOWN_FOR = timedelta(days=2)
"""How long a note is shown: over a day without a shift, too."""

WRITERS = (Capability.WORK_CASES, Capability.APPROVE_CASES)
"""Who hands over, and who reads it: each officer with one of these at the casino."""


def hand_over(officer: Officer, casino: Casino, text: str) -> ShiftNote:
    """Leave a note for the next shift. Raise ``ActionRefused`` where the officer may not, or without text."""
    if not Scope.of(officer, *WRITERS).includes(casino.pk):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    text = audit_trail.cleaned(text, most=MAX_REASON)
    if not text:
        raise ActionRefused(_("Write the note."))
    with transaction.atomic():
        note = ShiftNote.objects.create(casino=casino, officer=officer, text=text)
        data = {"shift_note": note.pk}
        audit_trail.record(officer.get_username(), HANDED_OVER, casino_id=casino.pk, data=data, reason=text)
    return note


def recent(notes: QuerySet[ShiftNote], now: datetime) -> QuerySet[ShiftNote]:
    """Return those of ``notes`` that the next shift still reads, the newest first."""
    return notes.filter(at__gt=now - SHOWN_FOR).select_related("officer", "casino").order_by("-at", "-pk")
