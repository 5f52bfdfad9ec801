"""In which shift each table of a night closed: whose accounting variance the ledger takes it for.

The shift is that of the session's first close, as the register divided the day at that time. So it is fixed before the
drop is counted: neither an entry that is approved later, nor a close that is recorded later, chooses whose it is.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from zoneinfo import ZoneInfo

from audit.event_store import binary_copy, cluster
from audit.event_store.binary_copy import BinaryArray
from audit.event_store.readable import is_dated, is_of_type
from audit.models import RegisterEntry
from audit.reconciliation.night import Night
from audit.register import in_force
from audit.register.shifts import SHIFTS, shift_at

_CLOSES = f"""
select c.stream_id, least(case when {is_dated("e.occurred_at")} then e.occurred_at end, (
    select b.received_at from log.batch b
    where b.stream_id = c.stream_id and b.first_seq <= c.seq order by b.first_seq desc limit 1))
from (
  select s.stream_id, coalesce(
    (select f.last_seq from audit_ledgerbatch f where f.stream_id = s.stream_id and f.kind = 'draws'),
    (select min(e.seq) from log.event e
     where e.stream_id = s.stream_id and {is_of_type("e.envelope", "session.closed")})
  ) as seq
  from unnest(%b::bigint[]) as s (stream_id)) c
join log.event e on e.stream_id = c.stream_id and e.seq = c.seq
"""


def shifts_of(night: Night) -> dict[int, str]:
    """Return the shift of each session of a night by its stream id; a session has none where the register names none.

    Only entries of the whole casino and of every ruleset say so: a shift works at all tables.
    """
    entries = in_force.approved(night.casino.pk).filter(reading=SHIFTS, table=None, ruleset="")
    covering = [entry for entry in entries if entry.covers(night.day)]
    if not covering:
        return {}
    zone = ZoneInfo(night.casino.time_zone)
    found = {}
    for stream_id, closed_at in _closes(night.stream_ids).items():
        in_force_then = [entry for entry in covering if _was_approved(entry, closed_at)]
        if in_force_then and in_force_then[-1].value is not None:
            found[stream_id] = shift_at(in_force_then[-1].value, closed_at, zone)
    return found


def _was_approved(entry: RegisterEntry, by: datetime) -> bool:
    return entry.decided_at is not None and entry.decided_at < by


def _closes(stream_ids: Collection[int]) -> dict[int, datetime]:
    """Return when each session closed first: by its table's clock, and no later than the record received it."""
    return dict(
        binary_copy.execute(cluster.readable(_CLOSES), (BinaryArray.from_integers("int8", sorted(stream_ids)),))
    )
