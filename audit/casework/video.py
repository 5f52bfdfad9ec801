"""Asking the video room for the recording of what a case is about."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit import task_queue
from audit.event_store import read
from audit.event_store.audit_trail import address_mark
from audit.event_store.streams import instant
from audit.models import Case, CaseContacts, Finding, Officer, VideoRequest
from audit.presentation import language
from settlement.codec import decode_one_stored

AROUND = timedelta(minutes=5)
"""What is asked for before the deciding event and after the one that completes the finding, or around a moment."""

NO_ROOM = _("The video room has no address. An administrator of the casino sets it in Settings.")


def keep_days() -> None:
    """Tell the database for how many days casinos keep their video: it gives a case its deadline."""
    days = int(settings.CABOCHON_VIDEO_DAYS)
    with connection.cursor() as cursor:
        cursor.execute("select audit_video_days()")
        if cursor.fetchone() != (days,):
            cursor.execute(
                "create or replace function audit_video_days() returns integer language sql immutable parallel safe"
                f" as 'select {days}'"
            )


def video_room(casino_id: int) -> str:
    """Return the e-mail address of a casino's video room, "" if none is set."""
    return CaseContacts.objects.filter(casino=casino_id).values_list("video_room", flat=True).first() or ""


def is_of_a_table(case: Case) -> bool:
    """Return whether a case is about what happened at one table, which a camera sees."""
    finding = _head_of(case)
    return finding is not None and finding.table_id is not None


def why_not(case: Case, *, is_of_a_table: bool) -> Promise | None:
    """Return why no video can be asked for, of a case that is of a table or not; None if it can."""
    if not is_of_a_table:
        return _("This finding is not about one table: there is no video to ask for.")
    return None if video_room(case.casino_id) else NO_ROOM


def was_requested(case: Case, moment: datetime | None = None, until: datetime | None = None) -> bool:
    """Return whether the video of a case was asked for; with ``moment``, whether what was asked for shows it, and all
    from then ``until`` another."""
    requests = case.video_requests.all()
    return (requests if moment is None else requests.filter(shows(moment, until))).exists()


def shows(moment: datetime, until: datetime | None = None) -> Q:
    """Return the condition on requests that what they ask for shows a moment, and all from then ``until`` another."""
    return Q(begins_at__lte=moment, ends_at__gte=until or moment)


def ask(case: Case, officer: Officer, moment: datetime | None = None, until: datetime | None = None) -> VideoRequest:
    """Keep what is asked for, and have it mailed after the commit. The sweep mails what the hint does not.

    With ``moment``, an instant at the case's table, that is what is to be seen, with ``until`` all from one to the
    other; else what the case's finding is of.
    """
    finding = _head_of(case)
    assert finding is not None, "checked by why_not"
    begins_at, ends_at = window_of(finding) if moment is None else (moment - AROUND, (until or moment) + AROUND)
    request = VideoRequest.objects.create(
        case=case,
        finding=finding,
        requested_by=officer,
        address=video_room(case.casino_id),
        language=language(),
        begins_at=begins_at,
        ends_at=ends_at,
        kept_until=begins_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS),
    )
    transaction.on_commit(lambda: task_queue.send_soon(task_queue.MAIL_VIDEO_REQUEST, request_id=request.pk))
    return request


def window_of(finding: Finding) -> tuple[datetime, datetime]:
    """Return from when to when a finding is to be seen: ``AROUND`` before the event that decides, or that completes it
    if none before it does, to as much after the event that completes it."""
    decided = finding.facts.get("decided_seq")
    begins_at = finding.occurred_at
    if isinstance(decided, int) and 0 < decided < finding.seq:
        stored = read.events_at(finding.stream_id, [decided]).get(decided)
        if stored is not None:
            begins_at = min(begins_at, decode_one_stored(stored).occurred_at)
    return begins_at - AROUND, finding.occurred_at + AROUND


def is_deadlines_reason(case: Case, finding: Finding) -> bool:
    """Return whether a case is to be closed when it is because its video ends a day later. ``finding`` is its cause."""
    ends = finding.occurred_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)
    return finding.table_id is not None and case.deadline == ends - timedelta(days=1)


def _head_of(case: Case) -> Finding | None:
    of_stream = Finding.objects.filter(case=case, stream=case.stream_id)
    return of_stream.filter(seq=case.seq, rule=case.rule, wager=case.wager).order_by("-pk").first()


def stated_of(request: VideoRequest) -> dict[str, str | int]:
    """Return what the entry of a request says of it: which it is, the mark of the address, what is asked for."""
    return {
        "request": request.pk,
        "finding": request.finding_id,
        "address": address_mark(request.address),
        "language": request.language,
        "begins_at": instant(request.begins_at),
        "ends_at": instant(request.ends_at),
        "kept_until": instant(request.kept_until),
    }
