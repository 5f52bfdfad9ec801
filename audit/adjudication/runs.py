"""Runs: which reads a stream now, whose findings stand, and which have failed.

    begin ─► step by step ─► complete: its findings stand, those that it has not found are superseded
      │            │
      │            └─ fails: set aside, and tried again after growing pauses
      └─ overtaken before it was complete: what it alone has found never stands

The findings of a stream's first run stand as they are found, unless it knows corrections, of which it finds only on its
way whether they wait. While a run replaces another, its new findings are pending, and those of the other stand.
``audit.adjudication.transitions`` has every change of state.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Max
from django.utils import timezone
from psycopg import errors

from audit import task_queue
from audit.corrections.decisions import approved_in
from audit.event_store import audit_trail, cluster
from audit.models import Adjudication, AdjudicationRun, Finding, FindingStatus, LoggedStream, RunCause, RunState
from audit.models.adjudication import not_before_found
from audit.register.in_force import newest_version
from audit.transparency import finding_numbers

PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(days=1),
)
"""How long a stream is set aside after each try that failed; the last pause goes on."""

MAX_ERROR = 2_000
"""Characters of a reason."""


def judging(stream_id: int, what_if_id: int | None = None) -> int | None:
    """Return the run that judges a stream, None if none does: ``sql/judging.sql`` says which it is."""
    with connection.cursor() as cursor:
        cursor.execute("select audit_judging_run(%s, %s)", [stream_id, what_if_id])
        [found] = cursor.fetchone()
    return None if found is None else int(found)


def is_newest(run: AdjudicationRun) -> bool:
    """Return whether no other run of the stream has begun since."""
    judge = judging(run.stream_id, run.what_if_id)
    return judge is None or judge <= run.pk


_BEGINS = "pg_try_advisory_xact_lock(hashtextextended(concat('audit.run.begin', %(what_if)s), %(stream)s))"

BEGIN_FIRST = f"""
with fresh as (
  select s.stream_id, s.casino_id from log.stream s
  where s.stream_id = %(stream)s
    and not exists (select from audit_adjudication a
                    where a.stream_id = s.stream_id and a.what_if_id is not distinct from %(what_if)s)
    and not exists (select from audit_adjudicationrun r
                    where r.stream_id = s.stream_id and r.what_if_id is not distinct from %(what_if)s)
    and {_BEGINS}),
run as (
  insert into audit_adjudicationrun (stream_id, casino_id, what_if_id, number, cause, engine_version,
    register_version, corrections_through, approved, state, began_at, tries, error_type, error)
  select stream_id, casino_id, %(what_if)s, 1, 'first', %(engine)s,
    coalesce((select max(e.version) from audit_registerentry e where e.casino_id = fresh.casino_id), 0),
    0, array(select d.seq from audit_correctiondecision d
             where d.stream_id = fresh.stream_id and d.verdict = 'countersigned' and d.number = 2 order by 1),
    'running', clock_timestamp(), 0, '', ''
  from fresh on conflict do nothing returning id, stream_id)
insert into audit_adjudication (stream_id, engine_version, what_if_id, ruleset, readings_digest, run_id, known_ids,
  cursor, next_seq, events, state, closed, updated_at)
select stream_id, %(engine)s, %(what_if)s, '', '', id, '{{}}', 0, 1, 0, '', false, clock_timestamp() from run
returning run_id
"""


def begin_first(stream_id: int, engine_version: str, what_if_id: int | None) -> bool:
    """Begin the first run of a stream that nobody has read, in one statement; return whether that is done.

    Of two workers that begin it at once, one does nothing: it does not wait for the transaction of the other, which
    may go on with the first step. If that step fails the run is gone with it, until ``record_failure`` begins it anew.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            cluster.readable(BEGIN_FIRST), {"stream": stream_id, "engine": engine_version, "what_if": what_if_id}
        )
        return cursor.fetchone() is not None


def begins_alone(stream_id: int, what_if_id: int | None) -> bool:
    """Return whether no other worker is beginning a run of the stream; none will until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(f"select {_BEGINS}", {"stream": stream_id, "what_if": what_if_id})
        return bool(cursor.fetchone()[0])


def begin(adjudication: Adjudication, cause: RunCause, *, corrections_through: int = 0) -> None:
    """Begin a run of ``adjudication`` in place of the current one, if there is one. The caller saves the adjudication.

    The caller holds every adjudication of the stream, so that no step is under way.
    """
    of_stream = AdjudicationRun.objects.filter(stream_id=adjudication.stream_id, what_if=adjudication.what_if_id)
    overtaken = of_stream.filter(pk=judging(adjudication.stream_id, adjudication.what_if_id) or 0).first()
    replaced = None
    if overtaken is not None:
        replaced = _what_stands(overtaken)
        _set_down(overtaken)
    largest = of_stream.aggregate(largest=Max("number"))["largest"] or 0
    casino_id = LoggedStream.objects.values_list("casino_id", flat=True).get(pk=adjudication.stream_id)
    adjudication.run = AdjudicationRun.objects.create(
        stream_id=adjudication.stream_id,
        casino_id=casino_id,
        what_if_id=adjudication.what_if_id,
        number=largest + 1,
        cause=cause,
        engine_version=adjudication.engine_version,
        register_version=newest_version(casino_id),
        corrections_through=corrections_through,
        approved=approved_in(adjudication.stream_id),
        replaces=replaced,
    )
    if overtaken is not None:
        _drop_pending(overtaken, adjudication.run)


def _what_stands(run: AdjudicationRun) -> AdjudicationRun | None:
    """Return the run whose findings stand while ``run`` is the current one; None if none has read anything yet."""
    if not run.stands:
        return run.replaces
    has_read = Adjudication.objects.filter(run=run, cursor__gt=0).exists()
    return run if has_read or run.completed_at is not None else None


def _set_down(run: AdjudicationRun) -> None:
    """Take a run out of the way of another that begins. One that was complete stays so until the other is."""
    run.clear_failure()
    if run.completed_at is not None:
        run.state = RunState.COMPLETE
    else:
        run.state, run.ended_at = RunState.SUPERSEDED, timezone.now()
    run.save()


def _drop_pending(overtaken: AdjudicationRun, by: AdjudicationRun) -> None:
    """Supersede what a run found that was overtaken before it was complete: it never stood."""
    if overtaken.completed_at is not None:
        return
    AdjudicationRun.objects.filter(pk=overtaken.pk).update(superseded_by=by)
    pending = Finding.objects.filter(stream_id=by.stream_id, run=overtaken, status=FindingStatus.PENDING)
    now = not_before_found(timezone.now())
    pending.update(status=FindingStatus.SUPERSEDED, superseded_at=now, superseded_by_run=by)
    found_again = Finding.objects.filter(stream_id=by.stream_id, run=overtaken, status=FindingStatus.SUPERSEDED)
    found_again.filter(superseded_by_run=None).update(superseded_by_run=by)


def step_done(run: AdjudicationRun, *, at_end: bool) -> None:
    """Note that a step of a run succeeded; ``at_end`` if it has caught up with the stream. The first time, promote it.

    What a run already is costs no statement.
    """
    target = RunState.COMPLETE if at_end or run.completed_at is not None else RunState.RUNNING
    if run.state == target and not run.tries:
        return
    if at_end and run.completed_at is None:
        if not run.stands and run.what_if_id is None:
            promote_run(run)
        run.completed_at = timezone.now()
    run.clear_failure()
    run.state = target
    run.save(update_fields=["state", "completed_at", "tries", "failed_at", "next_try_at", "error_type", "error"])


def promote_run(run: AdjudicationRun) -> None:
    """Have the findings of a complete run stand, and supersede those that stood before it and that it has not found."""
    now = timezone.now()
    of_stream = Finding.objects.filter(stream_id=run.stream_id).of_runs()
    not_found = of_stream.standing().exclude(run=run)
    not_found.update(status=FindingStatus.SUPERSEDED, superseded_at=not_before_found(now), superseded_by_run=run)
    # What reads otherwise since a later step of the run is superseded by the run itself.
    finding_numbers.number_run(run)
    of_run = of_stream.filter(run=run).exclude(status=FindingStatus.STANDING).exclude(superseded_by_run=run)
    of_run.update(status=FindingStatus.STANDING, stood_at=now, superseded_at=None, superseded_by_run=None)
    before = AdjudicationRun.objects.filter(stream_id=run.stream_id, what_if=None, state=RunState.COMPLETE)
    before.exclude(pk=run.pk).update(state=RunState.SUPERSEDED, superseded_by=run, ended_at=now)
    task_queue.notify_on_commit(run.casino_id)


# Runs that fail


def is_passing(error: Exception) -> bool:
    """Return whether an error may be gone at once: the database was away, full or busy. A time limit is none of it."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return not isinstance(error.__cause__, errors.QueryCanceled)


def record_failure(stream_id: int, engine_version: str, error: Exception, *, now: datetime | None = None) -> bool:
    """Set a stream aside whose replay raised ``error``; return whether that is done.

    An error of the database that may pass is only counted the first time. Nothing is done if another worker holds the
    run. Raise Django's database errors, where the database cannot take this down either.
    """
    now = now or timezone.now()
    with transaction.atomic():
        begin_first(stream_id, engine_version, None)
        run = AdjudicationRun.objects.select_for_update(skip_locked=True).filter(pk=judging(stream_id) or 0).first()
        if run is None or run.engine_version != engine_version:
            return False
        run.tries += 1
        run.error_type = type(error).__name__
        run.error = str(error).replace("\0", "").strip()[:MAX_ERROR]
        is_set_aside = run.state == RunState.FAILED or run.tries > 1 or not is_passing(error)
        if is_set_aside:
            run.state = RunState.FAILED
            run.failed_at = run.failed_at or now
            run.next_try_at = now + PAUSES[min(run.tries, len(PAUSES)) - 1]
        run.save()
    return is_set_aside


def try_again(run: AdjudicationRun, actor: str) -> bool:
    """End the pause of a failed run, recorded in the audit trail. Return False if it has not failed any more."""
    with transaction.atomic():
        failed = AdjudicationRun.objects.filter(pk=run.pk, state=RunState.FAILED)
        if not failed.update(next_try_at=timezone.now()):
            return False
        data = {"stream": run.stream.name, "run": run.number, "tries": run.tries}
        audit_trail.record(actor, "run.tried_again", casino_id=run.casino_id, data=data)
    return True
