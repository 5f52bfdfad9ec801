"""The ruler of a session: its coups in equal times, who dealt, its findings, and the instant of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.casework.stakes import stake_of
from audit.charts.ruler import Band, Bar, Tick, draw_ruler
from audit.desk.tables.course import Course
from audit.desk.tables.moment import Span
from audit.models import Finding, LoggedStream
from audit.persons.directory import Directory
from audit.presentation import (
    finding_title,
    initials,
    local,
    short_name,
    zone,
)

STEPS_MIN = (1, 2, 5, 10, 15, 30, 60)
"""The lengths of time that coups are counted in: the first that makes no more than ``BARS`` of a session."""

BARS = 110

HOURS = 24
"""Hours named on the ruler, at most."""


def bar_minutes(span: Span) -> int:
    """Return in how many minutes each the coups of a session are counted."""
    minutes = (span.last_at - span.first_at).total_seconds() / 60
    return next((step for step in STEPS_MIN if minutes / step <= BARS), STEPS_MIN[-1])


def night_ruler(
    stream: LoggedStream,
    span: Span,
    course: Course,
    findings: Sequence[Finding],
    directory: Directory,
    now: datetime,
) -> SafeString:
    """Draw the session with the instant ``now`` of the page."""
    # The clock of a table may run back a little: what is drawn is then outside of its first and last event.
    first, end = min(now, span.first_at, span.last_at), max(now, span.first_at, span.last_at)
    length = max((end - first).total_seconds(), 60.0)

    def share(instant: datetime) -> float:
        return (instant - first).total_seconds() / length

    page = reverse("admin:audit_loggedstream_table", args=(stream.pk,))
    ticks = [
        Tick(share(each.occurred_at), stake_of(each).side or "none", f"{page}?at={each.seq}", finding_title(each.rule))
        for each in findings
    ]
    described = ngettext(
        "%(coups)d coups, and %(number)d finding on the session’s clock, which leads to its event",
        "%(coups)d coups, and %(number)d findings on the session’s clock; each leads to its event",
        len(ticks),
    ) % {"number": len(ticks), "coups": len(course.coups)}
    bands = [
        Band(
            share(each.begin),
            share(each.end),
            ", ".join(short_name(directory.staff(code), code) for code in each.croupiers),
            ", ".join(initials(short_name(directory.staff(code), code)) for code in each.croupiers),
            each.covers(now),
        )
        for each in course.duties(end)
    ]
    svg = draw_ruler(
        ticks,
        list(_hours(stream, first, end, share)),
        list(_bars(stream, page, course, first, bar_minutes(span), share, now)),
        bands,
        here=share(now),
        clock=f"{local(now, stream.casino):%H:%M} {zone(now, stream.casino)}",
        title=_("The session: its coups, who dealt, and its findings"),
        description=described,
    )
    return mark_safe(svg)  # our own drawing


def _bars(
    stream: LoggedStream,
    page: str,
    course: Course,
    first: datetime,
    minutes: int,
    share: Callable[[datetime], float],
    now: datetime,
) -> Iterator[Bar]:
    step = timedelta(minutes=minutes)
    coups = sorted(course.coups, key=lambda coup: coup.at)
    for number, group in groupby(coups, key=lambda coup: max(0, (coup.at - first) // step)):
        inside = list(group)
        begin = first + number * step
        words = ngettext("%(number)d coup from %(clock)s", "%(number)d coups from %(clock)s", len(inside))
        yield Bar(
            share(begin),
            share(begin + step),
            len(inside),
            f"{page}?at={inside[0].seq}",
            words % {"number": len(inside), "clock": f"{local(begin, stream.casino):%H:%M}"},
            begin <= now < begin + step,
        )


def _hours(
    stream: LoggedStream, first: datetime, end: datetime, share: Callable[[datetime], float]
) -> Iterator[tuple[float, str]]:
    is_long = end - first > timedelta(hours=2)
    step = timedelta(hours=1) if is_long else timedelta(minutes=15)
    hour = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for number in range(4 * HOURS):
        at = hour + number * step
        if at > end or number >= HOURS + 4:
            break
        if at >= first:
            yield share(at), f"{local(at, stream.casino):%H:%M}"
