"""Runs: one reconciliation of one gaming day, in pieces that any worker may do, any number of times.

    begin ─► a piece a session (adjudicate, verify, read) ─► finish: gather, find, make a version of each currency

The pieces are kept as they are done, so a run that died goes on where it was: what is done is not done again. Which
nights are due is read off the log, so a night that nobody started is caught up with, and one that late events or a
count have changed is restated.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from audit.event_store import audit_trail, read
from audit.models import Casino, Finding, LoggedStream, NightReport, NightRun, SessionFigures
from audit.reconciliation import sessions
from audit.reconciliation.counts import count_streams
from audit.reconciliation.findings import raise_findings
from audit.reconciliation.gaming_days import has_ended, last_ended
from audit.reconciliation.night import gather, session_streams
from audit.reconciliation.versions import version_of
from settlement import ENGINE_VERSION

log = structlog.get_logger(__name__)

NO_CURRENCY = "XXX"
"""ISO 4217 for none: the report of a casino that has never played."""

QUIET_FOR = timedelta(minutes=10)
"""How long no event of a reported night has come before it is restated by itself: batches come in dozens."""

LOOKED_BACK = timedelta(days=35)
"""How far back a reported night is looked at again by itself; by hand, any day."""

CAUGHT_UP_AT_ONCE = 31


def begin(casino: Casino, day: date, *, actor: str) -> NightRun:
    """Return the run of a gaming day: the one that goes on, or a new one over everything there is by now."""
    with transaction.atomic():
        Casino.objects.select_for_update(no_key=True).get(pk=casino.pk)
        run = NightRun.objects.filter(casino=casino, gaming_day=day, ended_at=None).first()
        if run is not None:
            return run
        streams = [*session_streams(casino, day), *count_streams(casino, day)]
        heads = read.last_seqs([stream.stream_id for stream in streams])
        run = NightRun.objects.create(
            casino=casino,
            gaming_day=day,
            started_by=actor,
            through={str(stream_id): last for stream_id, last in sorted(heads.items()) if last > 0},
        )
        audit_trail.record(
            actor, "night.started", casino_id=casino.pk, data={"gaming_day": day.isoformat(), "run": run.pk}
        )
    return run


def through_of(run: NightRun) -> dict[int, int]:
    return {int(stream_id): last for stream_id, last in run.through.items()}


def pieces(run: NightRun) -> list[tuple[int, int]]:
    """Return the sessions of a run that have no figures yet, each with the last event to read."""
    through = through_of(run)
    wanted = {
        stream.stream_id: through[stream.stream_id]
        for stream in session_streams(run.casino, run.gaming_day)
        if stream.stream_id in through
    }
    done = set(
        SessionFigures.objects.filter(stream__in=wanted, engine_version=ENGINE_VERSION).values_list(
            "stream_id", "last_seq"
        )
    )
    return [piece for piece in wanted.items() if piece not in done]


def progress(run: NightRun) -> tuple[int, int]:
    """Return how many sessions of a run have their figures, and how many it has."""
    through = through_of(run)
    every = sum(stream.stream_id in through for stream in session_streams(run.casino, run.gaming_day))
    return every - len(pieces(run)), every


def finish(run: NightRun, *, now: datetime | None = None) -> list[NightReport]:
    """Make the reports of a run whose pieces are all done; return them, none where somebody else finished it."""
    now = now or timezone.now()
    made: list[NightReport] = []
    with transaction.atomic():
        locked = NightRun.objects.select_for_update(of=("self",)).select_related("casino").get(pk=run.pk)
        if locked.ended_at is not None:
            return []
        casino, day, through = locked.casino, locked.gaming_day, through_of(locked)
        streams, counts = session_streams(casino, day), count_streams(casino, day)
        for currency in currencies(casino, day, streams, counts):
            night = gather(casino, day, currency, streams=streams, counts=counts, through=through)
            raise_findings(night, now)
            night.findings = list(
                Finding.objects.filter(stream_id__in=[*night.streams, *night.counts.of_day], superseded_at=None)
            )
            report, is_new = version_of(night, actor=locked.started_by, now=now)
            made.append(report)
            log.info("reconciled", casino=casino.code, day=str(day), currency=currency, new=is_new)
        locked.ended_at = now
        locked.save(update_fields=["ended_at"])
    return made


def reconcile(
    casino: Casino,
    day: date,
    *,
    actor: str,
    now: datetime | None = None,
    tell: Callable[[int, int], None] = lambda done, every: None,
) -> list[NightReport]:
    """Reconcile a gaming day here and now and return the newest report of each currency. Raise ``StreamLocked``."""
    run = begin(casino, day, actor=actor)
    left = pieces(run)
    for done, (stream_id, last_seq) in enumerate(left):
        tell(done, len(left))
        sessions.make(stream_id, last_seq)
    tell(len(left), len(left))
    return finish(run, now=now)


def currencies(casino: Casino, day: date, streams: list[LoggedStream], counts: list[LoggedStream]) -> list[str]:
    """Return the currencies of a night: those it was played or counted in; of an empty one, those played before."""
    found = {stream.currency for stream in streams}
    found |= {stream.currency for stream in counts if stream.gaming_day == day}
    if not found:
        played = LoggedStream.objects.filter(casino=casino, is_of_desk=False, gaming_day__lt=day)
        before = played.filter(gaming_day__gte=day - LOOKED_BACK)
        found = set(before.values_list("currency", flat=True).distinct())
    return sorted(found) or [NO_CURRENCY]


def due(now: datetime) -> list[tuple[Casino, date]]:
    """Return the nights to reconcile: ended and never reported, or reported and changed since."""
    found: list[tuple[Casino, date]] = []
    for casino in Casino.objects.order_by("pk"):
        days = {*_never_reported(casino, now), *_changed(casino, now)}
        days |= set(NightRun.objects.filter(casino=casino, ended_at=None).values_list("gaming_day", flat=True))
        found += [(casino, day) for day in sorted(days)[:CAUGHT_UP_AT_ONCE]]
    return found


def _never_reported(casino: Casino, now: datetime) -> set[date]:
    """Return the days that were played and have no report, and after a report of the last weeks the empty ones, too."""
    last = last_ended(casino, now)
    played = set(
        LoggedStream.objects.filter(casino=casino, is_of_desk=False, gaming_day__lte=last)
        .values_list("gaming_day", flat=True)
        .distinct()
    )
    reported = NightReport.objects.filter(casino=casino)
    days = set(played)
    # A casino that has not been looked at for weeks, or begins anew, is owed no report of every day it was shut.
    first = reported.filter(gaming_day__gte=last - LOOKED_BACK).aggregate(first=Min("gaming_day"))["first"]
    if first is not None:
        days |= {first + timedelta(days=number) for number in range((last - first).days + 1)}
    return days - set(reported.values_list("gaming_day", flat=True))


def _changed(casino: Casino, now: datetime) -> set[date]:
    """Return the reported days of the last weeks for which something has come, and nothing more for a while."""
    newest: dict[tuple[date, str], NightReport] = {}
    recent = NightReport.objects.filter(casino=casino, gaming_day__gte=last_ended(casino, now) - LOOKED_BACK)
    for report in recent.order_by("version").defer("content", "sheet"):
        newest[report.gaming_day, report.currency] = report
    days = set()
    for (day, currency), report in newest.items():
        streams = [s for s in [*session_streams(casino, day), *count_streams(casino, day)] if s.currency == currency]
        ids = [s.stream_id for s in streams if s.gaming_day == day or str(s.stream_id) in report.through]
        heads = read.last_seqs(ids)
        if {str(stream_id): last for stream_id, last in heads.items()} == report.through:
            continue
        received = read.last_received(ids)
        if has_ended(casino, day, now) and received is not None and now - received >= QUIET_FOR:
            days.add(day)
    return days
