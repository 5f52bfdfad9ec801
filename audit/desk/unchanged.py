"""Answers of the database that a process keeps while nothing that they are made of has changed.

    a page asks ─► which tables have changed since this process looked? (one short query a request)
                   none of the answer's ─► the answer as it is kept
                   one of them, or too old ─► it is asked again, and kept

Triggers note the transactions that change the tables of ``NOTED``, each in itself. A process looks with the snapshot of
PostgreSQL that it saw last: a transaction that this snapshot does not see, and a later one does, has been committed
since. Nothing is missed by when a row was written, as it would be by a time or a number.

Only a request that reads asks for what is kept, and none within a transaction: it may have changed something itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from threading import Lock
from typing import Any, TypeVar, cast

from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from audit.casework.priority import next_due
from audit.models import NOTED

Answer = TypeVar("Answer")

KEPT_FOR = timedelta(minutes=1)
"""How long an answer is kept at most: what else it is made of, as which day it is, changes seldom."""

MOST = 500
"""Answers that a process keeps: beyond that it begins anew."""

_LOOKED = "_looked_for_changes"
_TABLE = re.compile(r'\b(?:audit|auth|axes|django|otp)_[a-z_]+|"?\blog"?\."?[a-z_]+"?')

_CHANGES = """
select pg_current_snapshot()::text, array(
  select distinct relation from audit_change
  where xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot)::text::bigint
    and not pg_visible_in_snapshot(xid::text::xid8, %(seen)s::pg_snapshot))
"""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, and what it holds for: the changes of its tables that were known before it was asked for."""

    answer: Any
    changes: Mapping[str, int]
    since: datetime
    until: datetime


@dataclass(slots=True)
class _Known:
    """What a process knows of one database."""

    database: str = ""
    seen: str = ""
    """The snapshot that it looked with last; "" if it never did."""
    looked_at: datetime | None = None
    changes: dict[str, int] = field(default_factory=dict)
    """By table, a number that is another one after each change."""
    kept: dict[Hashable, _Kept] = field(default_factory=dict)


_known = _Known()
_lock = Lock()
_numbers = count(1)


def while_unchanged(
    request: HttpRequest, key: Hashable, ask: Callable[[], tuple[Answer, Collection[str]]], *, is_of_now: bool = True
) -> Answer:
    """Return what ``ask`` returns first; next are the tables that it read, which decide how long that holds.

    ``key`` says what the answer depends on beside the tables. ``is_of_now``: it depends on which cases are late, too,
    and holds until the next one is. Raise what ``ask`` raises, and Django's database errors.
    """
    if request.method not in ("GET", "HEAD") or connection.in_atomic_block:
        return ask()[0]
    now = _look(request)
    kept = _held(key, now)
    if kept is not None:
        return cast(Answer, kept.answer)
    before = _known.changes.copy()
    answer, tables = ask()
    if tables and set(tables) <= set(NOTED):
        until = min(now + KEPT_FOR, _next_due(before, now)) if is_of_now else now + KEPT_FOR
        _keep(key, _Kept(answer, {table: before[table] for table in tables}, now, until))
    return answer


def tables_of(statement: str) -> Collection[str]:
    """Return the tables that a statement names."""
    return frozenset(_TABLE.findall(statement))


def forget() -> None:
    """Forget everything that this process keeps."""
    with _lock:
        _forget()


def _look(request: HttpRequest) -> datetime:
    """Find out which tables have changed since this process looked last: once for a request. Return when it did.

    All that is kept for the request is of that moment: what is asked later, of a query that was put together before a
    case became late, holds no longer than until it did.
    """
    looked_at: datetime | None = request.__dict__.get(_LOOKED)
    if looked_at is not None:
        return looked_at
    now = timezone.now()
    # Under the lock, so that who looked later is also who has the say: the other way round, a change could be missed.
    with _lock:
        database = str(connection.settings_dict["NAME"])
        # Rows are forgotten after a day: who has not looked for long would miss them.
        is_long_ago = _known.looked_at is None or not timedelta(0) <= now - _known.looked_at < timedelta(hours=1)
        is_anew = not _known.seen or _known.database != database or is_long_ago
        with connection.cursor() as cursor:
            if is_anew:
                cursor.execute("select pg_current_snapshot()::text, array[]::text[]")
            else:
                cursor.execute(_CHANGES, {"seen": _known.seen})
            ((seen, changed),) = cursor.fetchall()
        if is_anew:  # after the snapshot: what another request has read before it may lack what it sees
            _forget()
        _known.database, _known.seen, _known.looked_at = database, seen, now
        for table in changed:
            _known.changes[table] = next(_numbers)
    request.__dict__[_LOOKED] = now
    return now


def _forget() -> None:
    _known.kept.clear()
    _known.seen, _known.looked_at = "", None
    _known.changes = {table: next(_numbers) for table in NOTED}


def _held(key: Hashable, now: datetime) -> _Kept | None:
    """Return what is kept if it holds: at this moment, and after the changes that are known."""
    kept = _known.kept.get(key)
    if kept is None or not kept.since <= now < kept.until:
        return None
    return kept if all(_known.changes[table] == number for table, number in kept.changes.items()) else None


def _keep(key: Hashable, kept: _Kept) -> None:
    if len(_known.kept) >= MOST:
        _known.kept.clear()
    _known.kept[key] = kept


def _next_due(before: Mapping[str, int], now: datetime) -> datetime:
    """Return when the next case comes into another group by its deadline, a minute from now where none is to.

    It is asked for once a change of cases.
    """
    key = "next due"
    kept = _held(key, now)
    if kept is None:
        due = next_due(now) or now + KEPT_FOR
        kept = _Kept(due, {"audit_case": before["audit_case"]}, now, due)
        _keep(key, kept)
    return cast(datetime, kept.answer)
