"""Alerts of tables that should report: a sweep opens one for each table and kind, and ends it when it is over.

    table-silent    a session is open, and nothing has come of it for the minutes that its casino says
    feed-behind     the newest event of the last batch occurred as many minutes before it was received, or an event
                    that was received has waited as long for the law

Both concern tables that are expected to report: within the hours of their casino, and not exempt. A casino that says
no minutes has no alerts, and neither has a sandbox. ``audit.monitoring.silent_since`` defines silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from audit import monitoring
from audit.event_store import audit_trail, cluster
from audit.event_store.readable import is_dated
from audit.models import Alert, AlertEnd, AlertKind, AlertNotice, Casino, NightSubscriber
from audit.notifications import alert_messages

BEHIND_AT_MOST = 5_000
"""Streams that wait for the law and are looked at, the longest waiting first."""

_NEWEST = f"""
select b.stream_id, b.received_at, (
  select max(e.occurred_at) from log.event e
  where e.stream_id = b.stream_id and e.seq >= b.first_seq and e.seq < b.next_seq and {is_dated("e.occurred_at")})
from unnest(%(streams)s::bigint[]) s (stream_id)
join lateral (select * from log.batch b where b.stream_id = s.stream_id order by b.first_seq desc limit 1) b on true
"""


class Wrong(NamedTuple):
    """What is wrong with the feed of a table."""

    table_id: int
    kind: AlertKind


def sweep(now: datetime) -> tuple[int, int]:
    """Open and end alerts. Return how many of each. Idempotent; two sweeps at once open an alert once."""
    casinos = Casino.objects.filter(is_sandbox=False).exclude(silent_after_min=None).in_bulk()
    tables = {each.table_id: each for each in monitoring.tables(casinos, now=now)}
    found = dict(_found(tables, casinos, now))
    lasting = {Wrong(each.table_id, AlertKind(each.kind)): each for each in Alert.objects.filter(ended_at=None)}
    opened = [wrong for wrong in found if wrong not in lasting and _open(wrong, tables[wrong.table_id], found, now)]
    over = [each for wrong, each in lasting.items() if wrong not in found]
    ended = [each for each in over if _end(each, tables.get(each.table_id), now)]
    return len(opened), len(ended)


def _found(
    tables: Mapping[int, monitoring.TableState], casinos: Mapping[int, Casino], now: datetime
) -> Iterator[tuple[Wrong, datetime]]:
    """Yield what is wrong now, and since when."""
    reporting = {
        each.stream_id: each
        for each in tables.values()
        if each.is_open and each.expected_since is not None and each.stream_id is not None
    }
    behind = _behind(reporting, casinos, now)
    for stream_id, table in reporting.items():
        if table.silent_since is not None:
            yield Wrong(table.table_id, AlertKind.TABLE_SILENT), table.silent_since
        if stream_id in behind:
            yield Wrong(table.table_id, AlertKind.FEED_BEHIND), behind[stream_id]


def _behind(
    reporting: Mapping[int, monitoring.TableState], casinos: Mapping[int, Casino], now: datetime
) -> dict[int, datetime]:
    """Return since when the streams that are behind are: what the record knows of their tables is of then."""
    found: dict[int, datetime] = {}
    if not reporting:
        return found
    for waiting in monitoring.behind(casinos, limit=BEHIND_AT_MOST):
        table, since = reporting.get(waiting.stream_id), waiting.since
        if table is None or since is None:
            continue
        if now - since > monitoring.silent_after(casinos[table.casino_id]):
            found[waiting.stream_id] = since
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(_NEWEST), {"streams": list(reporting)})
        rows = cursor.fetchall()
    for stream_id, received_at, occurred_at in rows:
        after = monitoring.silent_after(casinos[reporting[stream_id].casino_id])
        if occurred_at is not None and received_at - occurred_at > after:
            found[stream_id] = min(occurred_at, found.get(stream_id, occurred_at))
    return found


def _open(wrong: Wrong, table: monitoring.TableState, found: Mapping[Wrong, datetime], now: datetime) -> bool:
    """Open an alert. Return False if another sweep has."""
    with transaction.atomic():
        alert, is_new = Alert.objects.get_or_create(
            table_id=wrong.table_id,
            kind=wrong.kind,
            ended_at=None,
            defaults={"casino_id": table.casino_id, "since": found[wrong], "opened_at": now},
        )
        if is_new:
            _announce(alert, "alert.opened", is_of_end=False)
    return is_new


def _end(alert: Alert, table: monitoring.TableState | None, now: datetime) -> bool:
    """End an alert; ``table`` is None if its casino has no alerts any more. Return False if another sweep has."""
    reason = _reason(alert, table)
    with transaction.atomic():
        if not Alert.objects.filter(pk=alert.pk, ended_at=None).update(ended_at=now, ended_by=reason):
            return False
        alert.ended_at, alert.ended_by = now, reason
        _announce(alert, "alert.ended", is_of_end=True)
    return True


def _reason(alert: Alert, table: monitoring.TableState | None) -> AlertEnd:
    if table is None:
        return AlertEnd.NOT_EXPECTED
    has_come = table.received_at is not None and table.received_at > alert.since
    if not table.is_open:
        return AlertEnd.CLOSED
    if table.expected_since is None or (alert.kind == AlertKind.TABLE_SILENT and not has_come):
        return AlertEnd.NOT_EXPECTED
    return AlertEnd.EVENTS


def _announce(alert: Alert, entry: str, *, is_of_end: bool) -> None:
    """Record an alert in the audit trail, and have its casino's subscribers mailed and its webhooks called."""
    subscribers = NightSubscriber.objects.filter(casino=alert.casino_id, receives_alerts=True).order_by("pk")
    AlertNotice.objects.bulk_create(
        AlertNotice(alert=alert, officer_id=officer_id, is_of_end=is_of_end)
        for officer_id in subscribers.values_list("officer", flat=True)
    )
    alert_messages.enqueue(alert, is_of_end=is_of_end)
    data = {"alert": alert.pk, "table": alert.table.code, "kind": alert.kind, "since": alert.since.isoformat()}
    if is_of_end:
        data["ended_by"] = alert.ended_by
    audit_trail.record("system", entry, casino_id=alert.casino_id, data=data)
