"""Runs: one reconciliation of one gaming day, as a background job of one task per session.

    begin ─► a task per session (adjudicate, verify, read) ─► finish: join, find, create a version per currency

The figures of a session are stored once computed, so a run that died resumes where it stopped. Which nights are due
is read from the event store: a night that nobody started is caught up with, and one whose streams have changed is
restated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import date, datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from audit.casework.priority import with_priority
from audit.event_store import audit_trail, cluster, read
from audit.models import (
    AdjudicationRun,
    Casino,
    CorrectionDecision,
    Finding,
    LoggedStream,
    NightReport,
    NightRun,
    RunCause,
    RunState,
    Verdict,
)
from audit.reconciliation import kept, persons, sessions
from audit.reconciliation.content import canonical_json
from audit.reconciliation.counts import count_streams
from audit.reconciliation.findings import raise_findings
from audit.reconciliation.gaming_days import has_ended, last_ended
from audit.reconciliation.night import Night, gather, session_streams
from audit.reconciliation.previous import followers, previous_closers
from audit.reconciliation.slip_uses import keep
from audit.reconciliation.versions import create_version

log = structlog.get_logger(__name__)

NO_CURRENCY = "XXX"
"""ISO 4217 code for no currency: of a casino that has never played."""

QUIET_FOR = timedelta(minutes=10)
"""How long a reported night must be quiet before it is restated automatically: batches arrive in bursts."""

LOOKBACK = timedelta(days=35)
"""How far back reported nights are checked for changes automatically. ``manage.py reconcile`` takes any day."""

MAX_DUE_DAYS = 31
"""Days of one casino that one sweep starts."""


class NoNights(Exception):
    """The casino is a sandbox: nothing of it is reconciled."""


def begin(casino: Casino, day: date, *, actor: str) -> NightRun:
    """Return the unfinished run of a gaming day, or start one over every event stored by now. Raise ``NoNights``."""
    if casino.is_sandbox:
        raise NoNights(f"{casino.code} is a sandbox, and has no nights.")
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
        reads = {"gaming_day": day.isoformat(), "run": run.pk, "through": through_digest(run)}
        audit_trail.record(actor, "night.started", casino_id=casino.pk, data=reads)
    return run


def through_digest(run: NightRun) -> str:
    """Return the SHA-256 of what a run reads, as hex: the log keeps it."""
    return hashlib.sha256(canonical_json(run.through)).hexdigest()


def pending_sessions(run: NightRun) -> list[tuple[int, int]]:
    """Return the sessions of a run whose figures are not stored yet: stream id, and the last seq to read."""
    last_seqs = _last_seqs(run)
    sessions_of_run = {
        stream.stream_id: last_seqs[stream.stream_id]
        for stream in session_streams(run.casino, run.gaming_day)
        if stream.stream_id in last_seqs
    }
    return [(stream_id, sessions_of_run[stream_id]) for stream_id in kept.missing(sessions_of_run)]


def progress(run: NightRun) -> tuple[int, int]:
    """Return how many sessions of a run are done, and how many it has."""
    last_seqs = _last_seqs(run)
    total = sum(stream.stream_id in last_seqs for stream in session_streams(run.casino, run.gaming_day))
    return total - len(pending_sessions(run)), total


def finish(run: NightRun, *, now: datetime | None = None) -> list[NightReport]:
    """Create the reports of a run whose sessions are all done. Return them, or [] if the run had ended already.

    Raise ``StreamLocked``.
    """
    now = now or timezone.now()
    reports: list[NightReport] = []
    # The report has the findings of the day's counts; and a recount is a correction: whether it waits is found first.
    for stream in count_streams(run.casino, run.gaming_day):
        is_of_day = stream.gaming_day == run.gaming_day
        if str(stream.stream_id) in run.through and (is_of_day or read.corrections_of(stream.stream_id)):
            sessions.bring_up_to_date(stream.stream_id)
    with transaction.atomic(), cluster.reading_what_it_wrote():
        locked = NightRun.objects.select_for_update(of=("self",)).select_related("casino").get(pk=run.pk)
        if locked.ended_at is not None:
            return []
        casino, day, last_seqs = locked.casino, locked.gaming_day, _last_seqs(locked)
        streams, counts = session_streams(casino, day), count_streams(casino, day)
        for currency in currencies(casino, day, streams, counts):
            night = gather(casino, day, currency, streams=streams, counts=counts, through=last_seqs)
            raise_findings(night, now)
            persons.raise_findings(casino, day, currency, last_seqs)
            standing = Finding.objects.standing().filter(stream_id__in=[*night.stream_ids, *night.counts.of_day])
            night.findings = list(with_priority(standing.select_related("case", "table")))
            report, is_new = create_version(night, actor=locked.started_by, now=now)
            reports.append(report)
            log.info("reconciled", casino=casino.code, day=str(day), currency=currency, new=is_new)
            outdated = _opened_otherwise(night)
            outdated |= _reported(
                casino, currency, keep(casino, day, currency, [each.stream for each in night.sessions], night.slips)
            )
            for each in sorted(outdated):
                begin(casino, each, actor=locked.started_by)
        locked.ended_at, locked.error = timezone.now(), ""
        locked.save(update_fields=["ended_at", "error"])
        read_now = {"gaming_day": day.isoformat(), "run": locked.pk}
        audit_trail.record(locked.started_by, "night.ended", casino_id=casino.pk, data=read_now)
    return reports


def _opened_otherwise(night: Night) -> set[date]:
    """Return every later night that was reported with another closing float than a table has now.

    The closer of this night is the opener's other side in the next one, which nothing else makes due: its own streams
    are as they were.
    """
    following = [
        stream
        for stream in followers([result.stream for result in night.sessions]).values()
        if stream.gaming_day != night.day
    ]
    closers = previous_closers(following)
    reports = {
        day: NightReport.newest(night.casino, day, night.currency) for day in {each.gaming_day for each in following}
    }
    outdated: set[date] = set()
    for stream in following:
        report, closer = reports[stream.gaming_day], closers.get(stream.stream_id)
        if report is not None and closer is not None and _opener_row(report, stream.name) != closer.amount:
            outdated.add(stream.gaming_day)
    return outdated


def _reported(casino: Casino, currency: str, days: set[date]) -> set[date]:
    return {day for day in days if NightReport.newest(casino, day, currency) is not None}


def _opener_row(report: NightReport, stream: str) -> int | None:
    """Return the closing float that a report holds the opener of ``stream`` against; None if it knew of none."""
    line = next(line for line in report.parsed_content()["lines"] if line["code"] == "opener")
    return next((row["expected"] for row in line["rows"] if row["stream"] == stream), None)


def reconcile(
    casino: Casino,
    day: date,
    *,
    actor: str,
    now: datetime | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    before_reports: Callable[[], object] = lambda: None,
) -> list[NightReport]:
    """Reconcile a gaming day in this process and return the newest report of each currency.

    ``on_progress`` receives how many sessions are done and how many there are; ``before_reports`` is called when all
    are done. Raise ``StreamLocked``.
    """
    run = begin(casino, day, actor=actor)
    pending = pending_sessions(run)
    for done, (stream_id, last_seq) in enumerate(pending):
        on_progress(done, len(pending))
        sessions.compute_figures(stream_id, last_seq)
    on_progress(len(pending), len(pending))
    before_reports()
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
    """Return the nights to reconcile: never reported, changed since their report, or begun and not finished.

    A casino of which that cannot be said keeps no other from its reports.
    """
    nights: list[tuple[Casino, date]] = []
    for casino in Casino.objects.filter(is_sandbox=False).order_by("pk"):
        try:
            with transaction.atomic():
                nights += _due_at(casino, now)
        except Exception:
            log.exception("nights not looked for", casino=casino.code)
    return nights


def _due_at(casino: Casino, now: datetime) -> list[tuple[Casino, date]]:
    days = {*_never_reported(casino, now), *_changed(casino, now), *_read_again(casino, now)}
    days |= set(NightRun.objects.filter(casino=casino, ended_at=None).values_list("gaming_day", flat=True))
    return [(casino, day) for day in sorted(days)[:MAX_DUE_DAYS]]


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


def _read_again(casino: Casino, now: datetime) -> set[date]:
    """Return the reported days that read otherwise since: a stream was read again because of a change of the register
    or the approval of a correction, or a correction was refused and waits no more.

    However far back: a change may be in force from any day, and a correction may wait for long.
    """
    since = now - LOOKBACK
    causes = (RunCause.REGISTER, RunCause.APPROVAL)
    again = AdjudicationRun.objects.filter(
        casino=casino, what_if=None, cause__in=causes, state=RunState.COMPLETE, completed_at__gte=since
    )
    refused = CorrectionDecision.objects.filter(casino=casino, verdict=Verdict.REFUSED, decided_at__gte=since)
    read_at: dict[date, datetime] = {}
    for day, at in (
        *again.values_list("stream__gaming_day", "completed_at"),
        *refused.values_list("stream__gaming_day", "decided_at"),
    ):
        assert at is not None, "a complete run has been completed"
        read_at[day] = max(read_at.get(day, at), at)
    reported = NightReport.objects.filter(casino=casino, gaming_day__in=read_at)
    made_at = dict(reported.values_list("gaming_day").annotate(Max("made_at")))
    reconciled = NightRun.objects.filter(casino=casino, gaming_day__in=read_at, ended_at__isnull=False)
    for day, ended_at in reconciled.values_list("gaming_day").annotate(Max("ended_at")):
        if day in made_at:
            made_at[day] = max(made_at[day], ended_at)
    return {day for day, at in made_at.items() if at < read_at[day]}


def _changed(casino: Casino, now: datetime) -> set[date]:
    """Return the recently reported days whose streams have changed since they were reconciled, and are quiet now.

    What the last run of a day read is held against what is stored, and not what its report was made of: events that
    leave a report as it is make no new version.
    """
    since = last_ended(casino, now) - LOOKBACK
    reported: dict[date, set[str]] = {}
    for report in NightReport.objects.filter(casino=casino, gaming_day__gte=since).defer("content", "sheet"):
        reported.setdefault(report.gaming_day, set()).update(report.through)
    ended = NightRun.objects.filter(casino=casino, gaming_day__in=reported, ended_at__isnull=False)
    read_through = dict(ended.order_by("pk").values_list("gaming_day", "through"))
    changed: dict[date, list[int]] = {}
    elsewhere: dict[date, list[int]] = {}  # counts of other days: they matter if they name a session of the day
    for day, in_report in reported.items():
        before = read_through.get(day, {})
        streams = [*session_streams(casino, day), *count_streams(casino, day)]
        heads = read.last_seqs([stream.stream_id for stream in streams])
        for stream in streams:
            key = str(stream.stream_id)
            if heads.get(stream.stream_id, 0) != before.get(key, 0):
                is_own = stream.gaming_day == day or key in in_report
                (changed if is_own else elsewhere).setdefault(day, []).append(stream.stream_id)
    counted = read.sessions_counted(sorted({stream_id for ids in elsewhere.values() for stream_id in ids}))
    for day, ids in elsewhere.items():
        names = {stream.name for stream in session_streams(casino, day)}
        changed.setdefault(day, []).extend(each for each in ids if counted.get(each, set()) & names)
    return {day for day, ids in changed.items() if ids and has_ended(casino, day, now) and _are_quiet(ids, now)}


def _are_quiet(stream_ids: list[int], now: datetime) -> bool:
    received = read.last_received(stream_ids)
    return received is not None and now - received >= QUIET_FOR
