"""Runs: one reconciliation of one gaming day, as a background job of one task per session.

    begin ─► a task per session (adjudicate, verify, read) ─► finish: join, find, create a version per currency

The figures of a session are stored once computed, so a run that died resumes where it stopped. Which nights are due
is read from the event store: a night that nobody started is caught up with, and one whose streams have changed is
restated.
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
from audit.reconciliation.versions import create_version
from settlement import ENGINE_VERSION

log = structlog.get_logger(__name__)

NO_CURRENCY = "XXX"
"""ISO 4217 code for no currency: of a casino that has never played."""

QUIET_FOR = timedelta(minutes=10)
"""How long a reported night must be quiet before it is restated automatically: batches arrive in bursts."""

LOOKBACK = timedelta(days=35)
"""How far back reported nights are checked for changes automatically. ``manage.py reconcile`` takes any day."""

MAX_DUE_DAYS = 31
"""Days of one casino that one sweep starts."""


def begin(casino: Casino, day: date, *, actor: str) -> NightRun:
    """Return the unfinished run of a gaming day, or start one over every event stored by now."""
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


def pending_sessions(run: NightRun) -> list[tuple[int, int]]:
    """Return the sessions of a run whose figures are not stored yet: stream id, and the last seq to read."""
    last_seqs = _last_seqs(run)
    sessions_of_run = {
        stream.stream_id: last_seqs[stream.stream_id]
        for stream in session_streams(run.casino, run.gaming_day)
        if stream.stream_id in last_seqs
    }
    stored = SessionFigures.objects.filter(stream__in=sessions_of_run, engine_version=ENGINE_VERSION)
    done = set(stored.values_list("stream_id", "last_seq"))
    return [session for session in sessions_of_run.items() if session not in done]


def progress(run: NightRun) -> tuple[int, int]:
    """Return how many sessions of a run are done, and how many it has."""
    last_seqs = _last_seqs(run)
    total = sum(stream.stream_id in last_seqs for stream in session_streams(run.casino, run.gaming_day))
    return total - len(pending_sessions(run)), total


def finish(run: NightRun, *, now: datetime | None = None) -> list[NightReport]:
    """Create the reports of a run whose sessions are all done. Return them, or [] if the run had ended already."""
    now = now or timezone.now()
    reports: list[NightReport] = []
    with transaction.atomic():
        locked = NightRun.objects.select_for_update(of=("self",)).select_related("casino").get(pk=run.pk)
        if locked.ended_at is not None:
            return []
        casino, day, last_seqs = locked.casino, locked.gaming_day, _last_seqs(locked)
        streams, counts = session_streams(casino, day), count_streams(casino, day)
        for currency in currencies(casino, day, streams, counts):
            night = gather(casino, day, currency, streams=streams, counts=counts, through=last_seqs)
            raise_findings(night, now)
            night.findings = list(
                Finding.objects.standing().filter(stream_id__in=[*night.stream_ids, *night.counts.of_day])
            )
            report, is_new = create_version(night, actor=locked.started_by, now=now)
            reports.append(report)
            log.info("reconciled", casino=casino.code, day=str(day), currency=currency, new=is_new)
        locked.ended_at = now
        locked.save(update_fields=["ended_at"])
    return reports


def reconcile(
    casino: Casino,
    day: date,
    *,
    actor: str,
    now: datetime | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[NightReport]:
    """Reconcile a gaming day in this process and return the newest report of each currency.

    ``on_progress`` receives how many sessions are done and how many there are. Raise ``StreamLocked``.
    """
    run = begin(casino, day, actor=actor)
    pending = pending_sessions(run)
    for done, (stream_id, last_seq) in enumerate(pending):
        on_progress(done, len(pending))
        sessions.compute_figures(stream_id, last_seq)
    on_progress(len(pending), len(pending))
    return finish(run, now=now)


def _last_seqs(run: NightRun) -> dict[int, int]:
    """Return the last event to read of each stream of a run, by stream id."""
    return {int(stream_id): last for stream_id, last in run.through.items()}


def currencies(casino: Casino, day: date, streams: list[LoggedStream], counts: list[LoggedStream]) -> list[str]:
    """Return the currencies a day was played or counted in; for an empty day, those of the weeks before."""
    codes = {stream.currency for stream in streams}
    codes |= {stream.currency for stream in counts if stream.gaming_day == day}
    if not codes:
        recent = LoggedStream.objects.filter(
            casino=casino, is_of_desk=False, gaming_day__lt=day, gaming_day__gte=day - LOOKBACK
        )
        codes = set(recent.values_list("currency", flat=True).distinct())
    return sorted(codes) or [NO_CURRENCY]


def due(now: datetime) -> list[tuple[Casino, date]]:
    """Return the nights to reconcile: never reported, changed since their report, or begun and not finished."""
    nights: list[tuple[Casino, date]] = []
    for casino in Casino.objects.order_by("pk"):
        days = {*_never_reported(casino, now), *_changed(casino, now)}
        days |= set(NightRun.objects.filter(casino=casino, ended_at=None).values_list("gaming_day", flat=True))
        nights += [(casino, day) for day in sorted(days)[:MAX_DUE_DAYS]]
    return nights


def _never_reported(casino: Casino, now: datetime) -> set[date]:
    """Return the ended days without a report: those that were played, and the empty ones since a recent report."""
    last = last_ended(casino, now)
    played = set(
        LoggedStream.objects.filter(casino=casino, is_of_desk=False, gaming_day__lte=last)
        .values_list("gaming_day", flat=True)
        .distinct()
    )
    reported = NightReport.objects.filter(casino=casino)
    days = set(played)
    # Without a recent report the casino was closed, or is new: its empty days get none.
    first = reported.filter(gaming_day__gte=last - LOOKBACK).aggregate(first=Min("gaming_day"))["first"]
    if first is not None:
        days |= {first + timedelta(days=number) for number in range((last - first).days + 1)}
    return days - set(reported.values_list("gaming_day", flat=True))


def _changed(casino: Casino, now: datetime) -> set[date]:
    """Return the recently reported days whose streams have changed since, and are quiet now."""
    newest: dict[tuple[date, str], NightReport] = {}
    recent = NightReport.objects.filter(casino=casino, gaming_day__gte=last_ended(casino, now) - LOOKBACK)
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
