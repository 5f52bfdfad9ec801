"""The registry of ordered consumers: everything that follows the record, how far it is behind, what it has set aside.

    the record ─► adjudication ─► ledger, nights, alerts, the feed ─► webhooks, the exchange, mail
        └───────► sealing ─► exports, witnesses, archive

Each is measured from the tables, by whoever asks: ``/metrics``, ``/health/ready``, the alert rules and *Record and
proofs* go through ``REGISTRY`` and name no consumer themselves. A consumer *stalls* when its oldest item has waited for
longer than its limit and it has moved nothing for as long: a long queue that moves is slow, not stuck. An item that it
cannot take is *set aside*: kept with its error and tried again after growing pauses, while the others go on.

Ages are in seconds; None is "nothing waits". ``casinos`` are the ids of the casinos that count, None for all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import structlog
from django.conf import settings
from django.db import connection
from django.db.models import Max, Model, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit import monitoring, task_queue
from audit.casework import escalation
from audit.event_store import audit_trail, cluster
from audit.ledger import order
from audit.models import (
    FIRST_SANDBOX_ID,
    AdjudicationRun,
    AlertMessage,
    AlertNotice,
    ArchivedMonth,
    Casino,
    EscalationNotice,
    LedgerBatch,
    LedgerCursor,
    LedgerSetAside,
    NightRun,
    RunState,
    TaskFailure,
    VideoRequest,
)
from audit.notifications import alert_mail, broker_feed, mail
from audit.reconciliation.gaming_days import bounds
from audit.reconciliation.runs import LOOKBACK

Casinos: TypeAlias = Collection[int] | None

NAMED = 5
"""Errors of a consumer that are named; the others are counted."""

EXPORTS_S = 900.0
"""Age in seconds from which a checkpoint that was not exported is late."""

TRIES = 3
"""Failures after which a message counts as set aside: a mail server that is restarted is no news."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a consumer is behind.

    ``items`` wait for it, the oldest for ``oldest_s``. ``moved_s`` is how long ago it last moved one, None where the
    age alone says that it stands still. ``set_aside`` counts what it could not take; ``errors`` says why of the first,
    to officers of the casinos alone. ``of_log`` is about the whole log, and shows no data of a casino.
    """

    items: int = 0
    oldest_s: float | None = None
    moved_s: float | None = None
    set_aside: int = 0
    errors: tuple[str, ...] = ()
    of_log: str = ""


@dataclass(frozen=True, slots=True)
class Consumer:
    """An ordered consumer. ``name`` is its name in metrics and health checks, ``label`` at the desk.

    ``limit_s`` is the age from which it stalls. ``is_urgent``: the record or its findings stand still with it, so
    ``/health/ready`` fails and somebody is called; of another one somebody looks in the morning. ``try_again`` ends the
    pauses of what is set aside, and returns of how many items by casino; ``task`` then tries them.
    """

    name: str
    label: str | Promise
    measure: Callable[[Casinos], Lag]
    limit_s: Callable[[], float]
    is_urgent: bool = True
    try_again: Callable[[Casinos], dict[int, int]] | None = None
    task: str = ""

    @property
    def severity(self) -> str:
        """Whether somebody is called for it at night ("page") or looks in the morning ("ticket")."""
        return "page" if self.is_urgent else "ticket"


@dataclass(frozen=True, slots=True)
class State:
    """A consumer as it was measured; ``failure`` is the exception that kept it from being measured, else ""."""

    consumer: Consumer
    lag: Lag
    failure: str = ""

    @property
    def is_stalled(self) -> bool:
        limit_s = self.consumer.limit_s()
        if self.failure:
            return True
        has_moved = self.lag.moved_s is not None and self.lag.moved_s <= limit_s
        return self.lag.oldest_s is not None and self.lag.oldest_s > limit_s and not has_moved

    @property
    def is_well(self) -> bool:
        return not self.is_stalled and not self.lag.set_aside

    @property
    def detail(self) -> str:
        """The faults in words, "" if there are none. Anybody may read them, so they show no data of a casino."""
        if self.failure:
            return f"cannot be measured: {self.failure}"
        parts = [f"{self.lag.items} wait"] if self.is_stalled else []
        if self.lag.set_aside:
            parts.append(f"{self.lag.set_aside} set aside")
        return "; ".join([*parts, *([self.lag.of_log] if self.lag.of_log else [])])


def states(*, within_s: float, casinos: Casinos = None) -> list[State]:
    """Measure every consumer, each query within a limit of time. One that cannot be measured hides no other."""
    found: list[State] = []
    while len(found) < len(REGISTRY):
        try:
            with monitoring.statement_limit(within_s):
                for consumer in REGISTRY[len(found) :]:
                    found.append(State(consumer, consumer.measure(casinos)))
        except Exception as error:  # whatever it is: a consumer that cannot be measured is not known to move
            if not connection.in_atomic_block and not connection.is_usable():
                connection.close()
            failed = REGISTRY[len(found)]
            log.warning("consumer not measured", consumer=failed.name, error=f"{type(error).__name__}: {error}")
            found.append(State(failed, Lag(), failure=type(error).__name__))
    return found


def try_again(consumer: Consumer, actor: str, casinos: Casinos) -> int:
    """Have what a consumer has set aside tried again now, with an entry of each casino's trail. Return of how many."""
    again = consumer.try_again(casinos) if consumer.try_again is not None else {}
    for casino_id, number in again.items():
        data = {"consumer": consumer.name, "items": number}
        audit_trail.record(actor, "consumer.tried_again", casino_id=casino_id, data=data)
    if again:
        task_queue.send_soon(consumer.task)
    return sum(again.values())


# The measure of each consumer


def _adjudication(casinos: Casinos) -> Lag:
    dirty = monitoring.dirty(casinos)
    failed = _of(AdjudicationRun.objects.filter(state=RunState.FAILED, what_if=None), casinos).order_by("failed_at")
    number, errors = _named(failed.select_related("stream"), lambda run: f"{run.stream.name}: {run.error_type}")
    return Lag(dirty.count, dirty.oldest_s, monitoring.last_step_s() if dirty.count else None, number, errors)


def _sealing(casinos: Casinos) -> Lag:
    unsealed, fork = monitoring.unsealed(casinos), monitoring.fork()
    left, number = monitoring.left_batches(casinos)
    of_log = "manage.py verify" if number else ""
    if fork is not None:
        sizes = f"{fork.leaves} leaves are here, and {fork.signed_size} were signed"
        of_log = f"the log forked: {sizes}; manage.py recover"
    errors = tuple(f"{each}: {each.get_cause_display()}" for each in left)
    return Lag(unsealed.count, unsealed.oldest_s, None, number + (fork is not None), errors, of_log)


def _ledger(casinos: Casinos) -> Lag:
    """Measure from the first close of each casino that was neither fed nor set aside; ``items`` are leaves from it."""
    rows = _of(Casino.objects.filter(is_sandbox=False), casinos, "pk")
    cursors = dict(LedgerCursor.objects.values_list("casino_id", "next_leaf"))
    found = [order.next_close(pk, cursors.get(pk, 0)) for pk in rows.values_list("pk", flat=True)]
    closes = [close for close, _leaf in found if close is not None]
    checkpoint = monitoring.last_checkpoint() if closes else None
    size = checkpoint.size if checkpoint is not None else 0
    items = max([size - close.log_index for close in closes], default=0)
    fed_at = _of(LedgerBatch.objects, casinos).aggregate(at=Max("fed_at"))["at"] if closes else None
    aside = _of(LedgerSetAside.objects.order_by("pk").defer("content"), casinos).select_related("stream")
    number, errors = _named(aside, lambda row: f"{row.about}: {row.error}")
    return Lag(items, _oldest(close.received_at for close in closes), _age(fed_at), number, errors)


_NOT_REPORTED = """
select s.casino_id, s.gaming_day, max(h.received_at)
from log.stream s join log.stream_head h using (stream_id)
where not s.is_of_desk and s.stream_id < %(sandboxes)s
  and s.stream_id >= (%(first)s::date - date '2020-01-01')::bigint << 32
  and not exists (select from audit_nightreport n where n.casino_id = s.casino_id and n.gaming_day = s.gaming_day)
group by 1, 2
"""


def _nights(casinos: Casinos) -> Lag:
    """Measure from the days that ended and have no report, of the last weeks, and from the runs that have not ended."""
    now = timezone.now()
    by_id = {each.pk: each for each in _of(Casino.objects.filter(is_sandbox=False), casinos, "pk")}
    due: dict[tuple[int, Any], datetime] = {}
    first = (now - LOOKBACK).date()
    for casino_id, day, received in _rows(_NOT_REPORTED, {"sandboxes": FIRST_SANDBOX_ID, "first": first}):
        if casino_id in by_id and (end := bounds(by_id[casino_id], day).end) <= now:
            due[casino_id, day] = max(end, received or end)
    under_way = _of(NightRun.objects.filter(ended_at=None), casinos)
    for run in under_way:
        begun = run.casino_id, run.gaming_day
        due[begun] = min(run.started_at, due.get(begun, run.started_at))
    number, errors = _named(
        under_way.exclude(error="").select_related("casino").order_by("pk"),
        lambda run: f"{run.casino.code} {run.gaming_day}: {run.error}",
    )
    ended_at = _of(NightRun.objects, casinos).aggregate(at=Max("ended_at"))["at"] if due else None
    return Lag(len(due), _oldest(due.values()), _age(ended_at), number, errors)


_FEED = """
select count(*), extract(epoch from clock_timestamp() - min(at)) from (
  select at from audit_findingchange
  where position is null and (%(casinos)s::bigint[] is null or casino_id = any (%(casinos)s::bigint[]))
  union all
  select c.at from audit_publishedfeed p
  join audit_findingchange c on c.casino_id = p.casino_id and c.position > p.position
  where %(is_published)s and (%(casinos)s::bigint[] is null or p.casino_id = any (%(casinos)s::bigint[]))) w
"""


def _feed(casinos: Casinos) -> Lag:
    [(count, oldest)] = _rows(_FEED, {**_listed(casinos), "is_published": broker_feed.is_published()})
    return Lag(int(count), None if oldest is None else max(0.0, float(oldest)), of_log=_failure("feed", count, oldest))


_WEBHOOKS = """
select w.name, w.next_try_at is not null, w.error, greatest(coalesce(c.newest, 0) - w.position, 0),
       (select at from audit_findingchange where casino_id = w.casino_id and position = w.position + 1),
       (select count(*) from audit_deadletter d where d.webhook_id = w.id and d.sent_at is null)
from audit_webhook w
left join lateral (select position as newest from audit_findingchange
                   where casino_id = w.casino_id and position is not null order by position desc limit 1) c on true
where w.is_active and (%(casinos)s::bigint[] is null or w.casino_id = any (%(casinos)s::bigint[]))
order by w.id
"""


def _webhooks(casinos: Casinos) -> Lag:
    """Measure those that do not wait out the failure of their receiver; of the others, what they lack is set aside."""
    items, aside, waiting, errors = 0, 0, [], []
    for name, is_paused, error, lacks, since, dead in _rows(_WEBHOOKS, _listed(casinos)):
        items += lacks
        aside += dead + (lacks if is_paused else 0)
        if is_paused or dead:
            errors.append(f"{name}: {error or f'{dead} failed deliveries'}")
        if since is not None and not is_paused:
            waiting.append(since)
    return Lag(items, _oldest(waiting), None, aside, tuple(errors[:NAMED]))


def _unsent_alerts(casinos: Casinos) -> QuerySet[AlertMessage]:
    unsent: QuerySet[AlertMessage] = _of(
        AlertMessage.objects.filter(sent_at=None, given_up_at=None), casinos, "alert__casino"
    ).exclude(webhook__is_active=False)
    return unsent if broker_feed.is_published() else unsent.exclude(webhook=None)


def _alerts(casinos: Casinos) -> Lag:
    now = timezone.now()
    unsent = _unsent_alerts(casinos)
    due = unsent.filter(escalation.is_due(now)).select_related("alert")
    number, errors = _named(_paused(unsent, now).order_by("pk"), lambda each: each.error)
    has_mail_server = "console" not in settings.EMAIL_BACKEND
    unheard = _of(alert_mail.without_receiver(has_mail_server=has_mail_server), casinos, "pk")
    silent = [f"{each.code}: neither an officer with mail nor a webhook receives its alerts" for each in unheard]
    instants = [each.next_try_at or each.alert.ended_at or each.alert.opened_at for each in due]
    return Lag(len(instants), _oldest(instants), None, number + len(silent), (*silent[:NAMED], *errors))


def _mail(casinos: Casinos) -> Lag:
    """Measure the messages about cases and alerts, and the reports of nights, to officers who may receive them."""
    now = timezone.now()
    instants = [each.made_at for each in mail.waiting(now) if casinos is None or each.casino_id in casinos]
    paused: list[Any] = []
    if any(_rows(_UNSENT)[0]):  # in most installations nothing is, at most moments: then nothing is asked of it
        instants += [*escalation.waiting_since(now, casinos), *alert_mail.waiting_since(now, casinos)]
        paused = [each for rows in _paused_mail(casinos, now) for each in rows.order_by("pk")]
    errors = tuple(dict.fromkeys(each.error for each in paused))
    return Lag(len(instants), _oldest(instants), None, len(paused), errors[:NAMED])


def _paused_mail(casinos: Casinos, now: datetime) -> Iterator[QuerySet[Any]]:
    for model, field in _CASINO_OF_MAIL.items():
        yield _paused(_of(model._default_manager.filter(sent_at=None, given_up_at=None), casinos, field), now)


_CASINO_OF_MAIL: dict[type[Model], str] = {
    VideoRequest: "case__casino",
    EscalationNotice: "escalation__case__casino",
    AlertNotice: "alert__casino",
}

_UNSENT = "select " + ", ".join(
    f"exists (select from {model._meta.db_table} where sent_at is null and given_up_at is null)"
    for model in _CASINO_OF_MAIL
)
_JOBS = """
with job as (
  select *, state = 'running' and heartbeat_at > clock_timestamp() - interval '30 s' as is_held from audit_job
  where %(casinos)s::bigint[] is null or casino_id = any (%(casinos)s::bigint[]))
select count(*) filter (where state in ('waiting', 'running') and not is_held),
       extract(epoch from clock_timestamp() - min(coalesce(heartbeat_at, requested_at))
         filter (where state in ('waiting', 'running') and not is_held)),
       extract(epoch from clock_timestamp() - max(heartbeat_at) filter (where is_held)),
       count(*) filter (where has_failed),
       (array_agg(kind || ': ' || split_part(error, ':', 1) order by ended_at desc)
          filter (where has_failed))[:%(named)s]
from (select *, state = 'failed' and ended_at > clock_timestamp() - interval '1 day' as has_failed from job) j
"""


def _jobs(casinos: Casinos) -> Lag:
    """Measure the jobs that no worker holds; of those that failed, the ones of the last day."""
    [(count, oldest, moved, failed, errors)] = _rows(_JOBS, {**_listed(casinos), "named": NAMED})
    return Lag(int(count), oldest and float(oldest), moved and float(moved), int(failed), tuple(errors or ()))


# Of the newest leaves: an older one that waits as well makes the age no shorter.
_EXPORTS = """
select count(*), extract(epoch from clock_timestamp() - min(b.received_at))
from (select stream_id, first_seq from log.leaf
      where log_index < (select max(size) from log.checkpoint) order by log_index desc limit 200) l
join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
where b.received_at > coalesce(
  (select beat_at from audit_heartbeat where name = 'exported' and beat_at <= clock_timestamp()), '-infinity')
"""


def _exports(casinos: Casinos) -> Lag:
    [(count, oldest)] = _rows(_EXPORTS)
    error = _failure("exports", count, oldest)
    return Lag(int(count), None if oldest is None else max(0.0, float(oldest)), of_log=error)


def _witnesses(casinos: Casinos) -> Lag:
    seen = monitoring.witnesses()
    bad = [each for each in seen if each.is_refused or each.is_silent]
    errors = tuple(
        f"{each.name}: {each.error or ('refuses this log' if each.is_refused else 'is silent')}" for each in bad
    )
    oldest = max((math.inf if each.cosigned_s is None else each.cosigned_s for each in seen), default=None)
    refused = sum(each.is_refused for each in seen)
    return Lag(sum(each.is_silent for each in seen), oldest, None, refused, (), "; ".join(errors))


def _failure(name: str, waiting: int, oldest_s: float | None) -> str:
    """Return the error with which a consumer failed last, "" if nothing has waited since then."""
    failed = TaskFailure.objects.filter(name=name).first() if waiting else None
    since = timezone.now() - timedelta(seconds=float(oldest_s or 0))
    return failed.error if failed is not None and failed.failed_at >= since else ""


def _archive(casinos: Casinos) -> Lag:
    """Measure the months that are over since the newest archived one. A person archives, so there is no limit."""
    newest, today = ArchivedMonth.objects.aggregate(month=Max("month"))["month"], timezone.now()
    return Lag() if newest is None else Lag(max(0, (today.year - newest.year) * 12 + today.month - newest.month - 1))


# Parts of these


def _of(rows: Any, casinos: Casinos, field: str = "casino") -> Any:
    return rows.all() if casinos is None else rows.filter(**{f"{field}__in": list(casinos)})


def _paused(rows: Any, now: datetime) -> Any:
    return rows.filter(failures__gte=TRIES, next_try_at__gt=now)


def _named(rows: Any, named: Callable[[Any], str]) -> tuple[int, tuple[str, ...]]:
    """Return how many rows there are, and the first of them by name."""
    first = tuple(named(row) for row in rows[:NAMED])
    return len(first) if len(first) < NAMED else rows.count(), first


def _listed(casinos: Casinos) -> dict[str, Any]:
    return {"casinos": None if casinos is None else list(casinos)}


def _oldest(instants: Any) -> float | None:
    return _age(min(instants, default=None))


def _age(instant: datetime | None) -> float | None:
    return None if instant is None else max(0.0, (timezone.now() - instant).total_seconds())


def _rows(query: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(query), params)
        return list(cursor.fetchall())


def _again(rows: Any, field: str) -> dict[int, int]:
    """End the pauses of rows, and return how many they are by casino."""
    numbers = Counter(rows.values_list(field, flat=True))
    rows.update(next_try_at=timezone.now())
    return dict(numbers)


def _ledger_again(casinos: Casinos) -> dict[int, int]:
    return _again(_of(LedgerSetAside.objects, casinos), "casino")


def _nights_again(casinos: Casinos) -> dict[int, int]:
    """Return the nights that stopped on an error: the sweep begins them anew, and there is no pause to end."""
    stopped = _of(NightRun.objects.filter(ended_at=None).exclude(error=""), casinos)
    return dict(Counter(stopped.values_list("casino", flat=True)))


def _replay_s() -> float:
    return float(settings.CABOCHON_REPLAY_STALE_S)


def _notify_s() -> float:
    return float(settings.CABOCHON_NOTIFY_STALE_S)


def _night_s() -> float:
    return float(settings.CABOCHON_NIGHT_STALE_S)


def _night_sweep_s() -> float:
    """The limit of what the sweep of the nights catches up with."""
    return 2 * float(settings.CELERY_BEAT_SCHEDULE["nights"]["schedule"]) + _night_s()


def _alerts_again(casinos: Casinos) -> dict[int, int]:
    return _again(_paused(_unsent_alerts(casinos), timezone.now()), "alert__casino")


def _mail_again(casinos: Casinos) -> dict[int, int]:
    numbers: Counter[int] = Counter()
    for rows, field in zip(_paused_mail(casinos, timezone.now()), _CASINO_OF_MAIL.values(), strict=True):
        numbers.update(_again(rows, field))
    return dict(numbers)


REGISTRY: tuple[Consumer, ...] = (
    Consumer("adjudication", _("adjudication"), _adjudication, _replay_s),
    Consumer("sealing", _("sealing"), _sealing, lambda: float(settings.CABOCHON_SEQUENCER_STALE_S)),
    Consumer(
        *("ledger", _("evidence ledger"), _ledger, _night_sweep_s),
        try_again=_ledger_again,
        task=task_queue.NIGHT_SWEEP,
    ),
    Consumer(
        *("nights", _("nights"), _nights, _night_sweep_s),
        try_again=_nights_again,
        task=task_queue.NIGHT_SWEEP,
    ),
    Consumer("witnesses", _("witnesses"), _witnesses, lambda: float(settings.CABOCHON_WITNESS_STALE_S)),
    Consumer("exports", _("exported checkpoints"), _exports, lambda: EXPORTS_S, is_urgent=False),
    Consumer("feed", _("feed of findings"), _feed, _notify_s, is_urgent=False),
    Consumer("webhooks", _("webhooks"), _webhooks, _notify_s, is_urgent=False),
    Consumer(
        *("alerts", _("alerts to programs"), _alerts, _notify_s),
        is_urgent=False,
        try_again=_alerts_again,
        task=task_queue.NOTIFY_ALERTS,
    ),
    Consumer(
        *("mail", _("mail"), _mail, _night_sweep_s),
        is_urgent=False,
        try_again=_mail_again,
        task=task_queue.SWEEP_CASES,
    ),
    Consumer("jobs", _("background jobs"), _jobs, _night_s, is_urgent=False),
    Consumer("archive", _("archive"), _archive, lambda: math.inf, is_urgent=False),
)
"""Every ordered consumer of the record. One that is added here is measured, shown, watched and tried again."""
