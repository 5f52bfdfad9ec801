"""What speaks for which of the two readings of a correction: the record's own traces, unweighed. The officer decides.

the money     how many stakes were paid as each reading asks
the camera    whether the video of that instant was asked for, and until when it is kept
the sender    how many corrections came from that table within a year
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.adjudication.both_readings import BothReadings, WagerReading
from audit.casework import video
from audit.desk.approve.note import Note
from audit.models import CORRECTION_RULES, Finding, VideoRequest
from audit.models.adjudication import Severity
from audit.presentation import count, date_time, day

WITHIN = timedelta(days=365)
"""How far back corrections of the table are counted."""


def notes_of(finding: Finding, both: BothReadings | None, at: datetime | None) -> Iterator[Note]:
    """Yield what speaks for a correction or against it; ``at`` is the instant of what is corrected. Three queries."""
    if both is not None and both.wagers:
        yield from _money(both)
    if at is not None and finding.table_id is not None:
        yield _video(finding, at)
    number = _others(finding)
    if number:
        words = ngettext(
            "%(number)s other correction came from this table within a year",
            "%(number)s other corrections came from this table within a year",
            number,
        )
        yield Note(
            count(number),
            "",
            words % {"number": count(number)},
            _("A number that raises a question, and proves nothing by itself."),
        )


def _others(finding: Finding) -> int:
    """Return how many other corrections that two officers decide came from the table within a year before this one."""
    if finding.table_id is None:
        return 0
    within = (finding.occurred_at - WITHIN, finding.occurred_at)
    of_table = Finding.objects.filter(casino=finding.casino_id, table=finding.table_id, occurred_at__range=within)
    others = (
        of_table.filter(rule__in=CORRECTION_RULES)
        .exclude(severity=Severity.INFO)
        .exclude(stream=finding.stream_id, seq=finding.seq)
    )
    return others.order_by().values("stream_id", "seq").distinct().count()  # a replay may have found one again


def _money(both: BothReadings) -> Iterator[Note]:
    """Yield how many of the stakes that turn out otherwise were paid as each reading asks."""
    all_ = len(both.wagers)
    titles = {
        "without": (_("recorded"), _("%(number)s of %(all)s stakes were paid in line with what was recorded")),
        "with_it": (_("corrected"), _("%(number)s of %(all)s stakes were paid in line with the correction")),
    }
    for side, (mark, title) in titles.items():
        number = sum(_agrees(getattr(each, side)) for each in both.wagers)
        kind = "ok" if number == all_ else "gold" if number else ""
        detail = _("Of the stakes that turn out differently: what each would be due, and what it was paid.")
        yield Note(mark, kind, title % {"number": count(number), "all": count(all_)}, detail)


def _agrees(reading: WagerReading | None) -> bool:
    """Whether what a wager was paid is what it is due by a reading; one that there is not is due nothing."""
    if reading is None:
        return False
    return reading.winnings_paid + reading.stake_paid == reading.winnings_due + reading.stake_due


def _video(finding: Finding, at: datetime) -> Note:
    """Return whether the video of an instant was asked for in a case of its session."""
    requests = VideoRequest.objects.filter(video.shows(at), case__stream_id=finding.stream_id)
    request = requests.order_by("requested_at").first()
    until = (at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)).date()
    is_kept = until >= datetime.now(UTC).date()
    kept = (_("Kept until %(day)s.") if is_kept else _("It was kept until %(day)s.")) % {"day": day(until)}
    if request is None:
        return Note("?", "", _("The video of that instant was not asked for"), kept)
    words = _("The video of that instant was asked for, %(at)s")
    return Note(_("video"), "ok", words % {"at": date_time(request.requested_at, finding.casino)}, kept)
