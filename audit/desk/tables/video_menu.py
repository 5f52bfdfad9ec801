"""Asking for the video of a moment: an act of a case, so an officer chooses one of the open cases of the session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.functional import Promise

from audit.casework import video
from audit.casework.state_machine import TRANSITIONS
from audit.desk.findings.queues import HEADS
from audit.desk.scoped_admin import scope_of
from audit.models import CaseContacts, Finding, LoggedStream, VideoRequest
from audit.presentation import finding_title, reference

CASES_SHOWN = 8
"""Open cases of the session, those nearest to the moment: the others are in the queue."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An open case. ``is_requested``: a recording was asked for in it that shows the moment."""

    finding: Finding
    reference: str
    title: str | Promise
    is_requested: bool


@dataclass(frozen=True, slots=True)
class VideoMenu:
    """The cases in which the video of a moment can be asked for; ``lacking`` says why it cannot be, "" if it can."""

    cases: list[Choice]
    lacking: str | Promise


def video_menu(request: HttpRequest, stream: LoggedStream, instant: datetime) -> VideoMenu | None:
    """Return what an officer chooses from, in one query; None for one who does not work on cases of the casino."""
    transition = TRANSITIONS["ask_video"]
    if not scope_of(request, transition.capability).includes(stream.casino_id):
        return None
    rooms = CaseContacts.objects.filter(casino=OuterRef("casino")).values("video_room")
    requested = VideoRequest.objects.filter(video.shows(instant), case=OuterRef("case"))
    rows: QuerySet[Any] = (
        Finding.objects.standing()
        .filter(HEADS, stream_id=stream.pk, case__state__in=transition.sources)
        .select_related("case")
        .annotate(room=Subquery(rooms[:1]), is_requested=Exists(requested))
    )
    nearest = sorted(rows, key=lambda row: (abs(row.occurred_at - instant), row.pk))[:CASES_SHOWN]
    choices = [Choice(row, reference(row), finding_title(row.rule), row.is_requested) for row in nearest]
    return VideoMenu(choices, "" if not nearest or nearest[0].room else video.NO_ROOM)
