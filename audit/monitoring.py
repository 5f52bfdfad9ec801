"""Monitoring: what waits, what stands still, what failed. Read from the tables, by whoever asks.

``/metrics``, ``/health/ready`` and the desk's page *Record and proofs* show the same figures. Ages are in seconds;
None is "never", or nothing that could be old. ``casinos`` are the ids of the casinos that count, None for all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count

from audit.event_store import cluster, read
from audit.models import (
    FIRST_SANDBOX_ID,
    Alert,
    AlertKind,
    Casino,
    LeftBatch,
    LogFork,
    LoggedStream,
    TaskFailure,
)
from audit.transparency.signed_notes import BadNote
from audit.transparency.witnesses import configured
from settlement import ENGINE_VERSION

PROCESSES = ("beat", "replay", "night", "notify", "sequencer")
"""The processes that have a heartbeat.

``export`` says when a checkpoint was exported last, ``exported`` when its newest batch was received.
"""

MAX_REFUSALS = 100
"""Rows of refusals by key and code; the keys beyond are summed up."""

MAX_LEFT = 5
"""Batches that are not sealed and are named; the others are counted."""

PERIODS, PERIOD_S = 24, 300
"""The periods of time in which arriving events are counted: of the last two hours."""

SILENT_S = 3_600
"""How long nothing may come of an open session before its table is marked, at a casino that says no other time."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many wait, and for how long the oldest of them has."""

    count: int
    oldest_s: float | None


@dataclass(frozen=True, slots=True)
class Refused:
    """Refused requests in quarantine, by the prefix of the key and the code of the refusal."""

    key: str
    code: str
    count: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """The newest checkpoint: leaves of its tree, and the age of the newest batch in it."""

    size: int
    newest_batch_s: float | None


@dataclass(frozen=True, slots=True)
class WitnessSeen:
    """A witness: leaves of the newest tree that it has cosigned, how long ago; None and 0 before the first.

    ``is_refused``: it says that the log does not extend what it has cosigned. ``error``: why it gave nothing last.
    """

    name: str
    size: int
    cosigned_s: float | None
    is_refused: bool
    error: str
    vkey: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether it has cosigned nothing for ``CABOCHON_WITNESS_STALE_S``, or never."""
        return self.cosigned_s is None or self.cosigned_s > settings.CABOCHON_WITNESS_STALE_S


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes of the database, whether the write-ahead log was archived at the last try, and the age of the last backup.

    ``backup_s`` is None where no base backup was noted: docs/recovery.md says who notes it.
    """

    size: int
    is_failing: bool
    backup_s: float | None


@dataclass(frozen=True, slots=True)
class TableState:
    """The last event of a table: when it came, in which stream, under which number. None for a table without one."""

    casino_id: int
    table: str
    stream_id: int | None
    stream: str | None
    last_seq: int | None
    received_at: datetime | None
    is_open: bool
    table_id: int
    ruleset: str = ""
    """What that stream plays; "" for a table without one, and where it does not say."""
    expected_since: datetime | None = None
    """The beginning of the hours in which it is expected to report; None out of them, and of an exempt table."""
    silent_since: datetime | None = None
    """Since when it is silent; None if it is not: see ``silent_since``."""

    @property
    def is_silent(self) -> bool:
        return self.silent_since is not None


@dataclass(frozen=True, slots=True)
class MonthOfStreams:
    """A month of gaming days with streams of tables or counts, by its first day, and the events that they took."""

    first: date
    events: int


@dataclass(frozen=True, slots=True)
class StreamBehind:
    """A stream that is not adjudicated to its end: the events that wait, and since when."""

    casino_id: int
    stream_id: int
    stream: str
    events: int
    since: datetime | None


_BEHIND_OF_CASINOS = f"""
{read.DIRTY} and r.next_try_at is null
  and (%(casinos)s::bigint[] is null or s.casino_id = any (%(casinos)s::bigint[]))
"""
"""Streams whose last try failed count as failed runs, whether or not their pause is over."""

_DIRTY = f"""
with dirty as (
  select h.stream_id, s.casino_id,
         greatest(coalesce(a.next_seq, 1), case when r.state = 'running' and r.replaces_id is not null
                                                then r.corrections_through else 1 end) as unread
  from {_BEHIND_OF_CASINOS}),
looked_at as (select * from dirty order by stream_id limit 5000)
select (select count(*) from dirty),
       extract(epoch from clock_timestamp() - min(
         (select b.received_at from log.batch b where b.stream_id = d.stream_id and b.next_seq > d.unread
          order by b.first_seq limit 1)))
from looked_at d
"""

_UNSEALED = """
select count(*), extract(epoch from clock_timestamp() - min(b.received_at))
from log.outbox o join log.batch b using (stream_id, first_seq) join log.stream s using (stream_id)
where not exists (select from audit_leftbatch l where l.stream_id = b.stream_id and l.first_seq = b.first_seq)
  and (%(casinos)s::bigint[] is null or s.casino_id = any (%(casinos)s::bigint[]))
"""

_CHECKPOINT = """
select c.size, extract(epoch from clock_timestamp() - b.received_at)
from (select size from log.checkpoint order by size desc limit 1) c
left join log.leaf l on l.log_index = c.size - 1
left join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
"""

_WITNESSES = """
select vkey, size, extract(epoch from clock_timestamp() - cosigned_at), refused_at is not null, error
from audit_witnessstate where vkey = any (%(vkeys)s)
"""

# One that is yet to come is as far from now as one that is as old.
_HEARTBEATS = "select name, abs(extract(epoch from clock_timestamp() - beat_at)) from audit_heartbeat"

_RUNNING_JOB = """
select extract(epoch from clock_timestamp() - max(heartbeat_at)) from audit_job where state = 'running'
"""

_LAST_STEP = """
select extract(epoch from clock_timestamp() - max(updated_at)) from audit_adjudication where what_if_id is null
"""

_STORAGE = """
select pg_database_size(current_database()),
       coalesce(last_failed_time > last_archived_time, last_failed_time is not null),
       (select extract(epoch from clock_timestamp() - beat_at) from audit_heartbeat where name = 'backup')
from pg_stat_archiver
"""

_REFUSED = """
with counted as (
  select k.prefix, q.code, count(*) as refused from audit_quarantined q join audit_apikey k on k.id = q.key_id
  group by 1, 2),
ranked as (select *, row_number() over (order by refused desc, prefix, code) as rank from counted)
select case when rank <= %(most)s then prefix else 'other' end, code, sum(refused)::bigint from ranked
group by 1, 2 order by 1, 2
"""


_TABLES = """
select t.casino_id, t.code, s.stream_id, s.name, nullif(h.next_seq - 1, 0), b.received_at,
       s.stream_id is not null and not exists (
         select from audit_adjudication a where a.stream_id = s.stream_id and a.what_if_id is null and a.closed),
       t.id, t.does_not_report, c.time_zone, c.reports_from, c.reports_until, c.silent_after_min,
       coalesce(s.ruleset, ''), clock_timestamp()
from audit_gamingtable t join audit_casino c on c.id = t.casino_id
left join lateral (
  select stream_id, name, ruleset from log.stream where casino_id = t.casino_id and table_id = t.id
  order by gaming_day desc, stream_id desc limit 1) s on true
left join log.stream_head h on h.stream_id = s.stream_id
left join lateral (
  select received_at from log.batch where stream_id = s.stream_id order by first_seq desc limit 1) b on true
where %(casinos)s::bigint[] is null or t.casino_id = any (%(casinos)s::bigint[])
order by c.code, t.code
"""

_ARRIVALS = """
select b.stream_id, floor(extract(epoch from clock_timestamp() - b.received_at) / %(period)s)::int as ago,
       sum(b.next_seq - b.first_seq)::bigint
from log.batch b
where b.stream_id = any (%(streams)s) and b.received_at > clock_timestamp() - make_interval(secs => %(within)s)
group by 1, 2
"""

_BEHIND = f"""
select s.casino_id, h.stream_id, s.name, h.next_seq - coalesce(a.next_seq, 1),
       (select b.received_at from log.batch b where b.stream_id = h.stream_id and b.next_seq > coalesce(a.next_seq, 1)
        order by b.first_seq limit 1) as since
from {_BEHIND_OF_CASINOS}
order by since nulls last, h.stream_id limit %(limit)s
"""

# From the newest stream to that before its month, and so on: the ids of streams begin with their gaming day.
_MONTHS = """
with recursive of_casinos as (
  select s.stream_id, s.gaming_day from log.stream s
  where not s.is_of_desk and s.stream_id < %(sandboxes)s
    and (%(casinos)s::bigint[] is null or s.casino_id = any (%(casinos)s::bigint[]))),
month (first) as (
  (select date_trunc('month', gaming_day)::date from of_casinos order by stream_id desc limit 1)
  union all
  select (select date_trunc('month', o.gaming_day)::date from of_casinos o
          where o.stream_id < (m.first - date '2020-01-01')::bigint << 32 order by o.stream_id desc limit 1)
  from month m where m.first is not null)
select first from month where first is not null limit %(limit)s
"""

_EVENTS_OF_MONTHS = """
select date_trunc('month', s.gaming_day)::date, sum(h.next_seq - 1)
from log.stream s join log.stream_head h using (stream_id)
where not s.is_of_desk and s.stream_id < %(sandboxes)s
  and s.stream_id >= (%(first)s::date - date '2020-01-01')::bigint << 32
  and (%(casinos)s::bigint[] is null or s.casino_id = any (%(casinos)s::bigint[]))
group by 1 order by 1
"""


_EVENTS_OF_DAYS = """
select s.casino_id, s.gaming_day, sum(h.next_seq - 1)
from log.stream s join log.stream_head h using (stream_id)
where not s.is_of_desk and s.casino_id = any (%(casinos)s::bigint[])
  and s.stream_id >= (%(first)s::date - date '2020-01-01')::bigint << 32
group by 1, 2
"""


@contextmanager
def statement_limit(seconds: float) -> Iterator[None]:
    """Run queries under a limit of time each. Where the block ends, the limit does."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select set_config('statement_timeout', %s, true)", (str(round(seconds * 1000)),))
        yield


def dirty(casinos: Collection[int] | None = None) -> Waiting:
    """Return the streams that are not adjudicated to their end."""
    return _waiting(_DIRTY, casinos)


def unsealed(casinos: Collection[int] | None = None) -> Waiting:
    """Return the accepted batches that are in no tree yet, without those that the sequencer leaves."""
    return _waiting(_UNSEALED, casinos)


def heartbeats() -> dict[str, float]:
    """Return the age of each process's last heartbeat. A night worker that runs a job has the job's."""
    ages = {name: float(age) for name, age in _rows(_HEARTBEATS)}
    [(job,)] = _rows(_RUNNING_JOB)
    if job is not None:
        ages["night"] = min(float(job), ages.get("night", float("inf")))
    return ages


def last_step_s() -> float | None:
    """Return how long ago a step of a replay was committed."""
    [(age,)] = _rows(_LAST_STEP)
    return _seconds(age)


def last_checkpoint() -> Sealed | None:
    """Return the newest checkpoint, None before the first."""
    rows = _rows(_CHECKPOINT)
    return Sealed(int(rows[0][0]), _seconds(rows[0][1])) if rows else None


def witnesses() -> list[WitnessSeen]:
    """Return the witnesses that are set up, in their order; the setting itself, as one that is away, if it is wrong."""
    try:
        names = {str(each.key): each.key.name for each in configured()}
    except BadNote as error:
        return [WitnessSeen("CABOCHON_WITNESSES", 0, None, False, str(error))]
    seen = {row[0]: row[1:] for row in _rows(_WITNESSES, {"vkeys": list(names)})}
    nothing = (0, None, False, "")
    rows = [(vkey, name, *seen.get(vkey, nothing)) for vkey, name in names.items()]
    return [
        WitnessSeen(name, size, _seconds(age), refused, error, vkey) for vkey, name, size, age, refused, error in rows
    ]


def fork() -> LogFork | None:
    """Return what the sequencer says of a log that is not the one that was signed; None if it signs."""
    return LogFork.objects.first()


def left_batches(casinos: Collection[int] | None = None) -> tuple[list[LeftBatch], int]:
    """Return the first batches that the sequencer does not seal, up to ``MAX_LEFT``, and how many they are in all."""
    left = LeftBatch.objects.all()
    if casinos is not None:
        left = left.filter(stream_id__in=LoggedStream.objects.filter(casino__in=casinos).values("stream_id"))
    first = list(left[:MAX_LEFT])
    return first, len(first) if len(first) < MAX_LEFT else left.count()


def task_failures() -> dict[str, int]:
    """Return how often each task has failed, by its name; one that never did is left out."""
    return dict(TaskFailure.objects.values_list("name", "failures"))


def storage() -> Storage:
    """Return the size of the database, and how its backups are."""
    [(size, is_failing, backup_s)] = _rows(_STORAGE)
    return Storage(int(size), bool(is_failing), _seconds(backup_s))


def refused() -> list[Refused]:
    """Return the requests in quarantine by key and code; the rarest, beyond ``MAX_REFUSALS``, under the key "other"."""
    return [Refused(*row) for row in _rows(_REFUSED, {"most": MAX_REFUSALS})]


def tables(casinos: Collection[int] | None = None, *, now: datetime | None = None) -> list[TableState]:
    """Return every table with its last event, by casino and code. ``now``: None is now, by the database.

    A session is open until some version of the engine has read that it was closed.
    """
    found = _rows(_TABLES, {"casinos": list(casinos) if casinos is not None else None})
    return [_table(row, now or row[-1]) for row in found]


def _table(row: tuple[Any, ...], now: datetime) -> TableState:
    state, does_not_report = TableState(*row[:8]), row[8]
    hours = dict(zip(("time_zone", "reports_from", "reports_until", "silent_after_min"), row[9:13], strict=True))
    casino = Casino(pk=state.casino_id, **hours)  # without a query: pages have one for all tables
    state = replace(state, ruleset=row[13], expected_since=None if does_not_report else casino.reports_since(now))
    return replace(state, silent_since=silent_since(state, casino, now))


def silent_since(table: TableState, casino: Casino, now: datetime) -> datetime | None:
    """Return since when a table is silent at an instant; None if it is not. This is the rule, for pages and alerts.

    It is silent if a session is open, it is expected to report, and nothing has come of it for as long as its casino
    says (``SILENT_S`` if that says nothing). What was before the hours in which it is to report does not count.
    """
    if not table.is_open or table.received_at is None or table.expected_since is None:
        return None
    since = max(table.received_at, table.expected_since)
    return since if since < now - silent_after(casino) else None


def silent_after(casino: Casino) -> timedelta:
    """Return how long nothing may come of an open session of a casino."""
    minutes = casino.silent_after_min
    return timedelta(seconds=SILENT_S) if minutes is None else timedelta(minutes=minutes)


def open_alerts() -> dict[str, int]:
    """Return how many alerts last, of all casinos, by kind: each kind is there."""
    counted = Alert.objects.filter(ended_at=None).order_by().values_list("kind").annotate(Count("pk"))
    return dict.fromkeys(AlertKind.values, 0) | dict(counted)


def arrivals(stream_ids: Collection[int]) -> dict[int, list[int]]:
    """Return how many events of each stream came in each of the last ``PERIODS``, the oldest first."""
    params = {"streams": list(stream_ids), "period": PERIOD_S, "within": PERIODS * PERIOD_S}
    counts = {stream_id: [0] * PERIODS for stream_id in stream_ids}
    for stream_id, ago, events in _rows(_ARRIVALS, params):
        counts[stream_id][PERIODS - 1 - min(max(ago, 0), PERIODS - 1)] += events
    return counts


def months(casinos: Collection[int] | None = None, *, limit: int) -> list[MonthOfStreams]:
    """Return the newest months that have streams, in order, at most ``limit``, archived ones too: two queries.

    Events are counted by the streams, which stay when the events of their month leave the database.
    """
    params = {"sandboxes": FIRST_SANDBOX_ID, "casinos": list(casinos) if casinos is not None else None}
    found = [first for (first,) in _rows(_MONTHS, {**params, "limit": limit})]
    if not found:
        return []
    return [MonthOfStreams(first, int(n)) for first, n in _rows(_EVENTS_OF_MONTHS, {**params, "first": found[-1]})]


def events_of(days: Mapping[int, date]) -> int:
    """Return the events of the gaming days that begin with these, each at the casino of that id: one query."""
    if not days:
        return 0
    params = {"casinos": list(days), "first": min(days.values())}
    return sum(int(events) for casino_id, day, events in _rows(_EVENTS_OF_DAYS, params) if day >= days[casino_id])


def behind(casinos: Collection[int] | None = None, *, limit: int) -> list[StreamBehind]:
    """Return up to ``limit`` streams that are not adjudicated to their end, the longest waiting first."""
    return [StreamBehind(*row) for row in _rows(_BEHIND, {**_params(casinos), "limit": limit})]


def _waiting(query: str, casinos: Collection[int] | None) -> Waiting:
    [(count, oldest)] = _rows(query, _params(casinos))
    return Waiting(int(count), _seconds(oldest))


def _params(casinos: Collection[int] | None) -> dict[str, Any]:
    return {**read.dirty_params(ENGINE_VERSION), "casinos": list(casinos) if casinos is not None else None}


def _seconds(age: Any) -> float | None:
    return None if age is None else max(0.0, float(age))


def _rows(query: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(query), params)
        return list(cursor.fetchall())
