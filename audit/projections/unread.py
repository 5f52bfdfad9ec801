"""How far sessions were read, held against the log: whoever says that a session was read keeps it from being judged.

    head of the session ─────────────────────────────────────────┐
    adjudications of it, of every engine version ────────────────┤ read no further than it goes, or a fault
    that of the run that judges it ──────────────────────────────┤
    session.adjudicated, the newest, of what closed and was read ┤ there is one, or a fault
    its last batch, or that entry if it is later ────────────────┘ read to the end a day after, or a fault

A cursor inside a session that says too much is not seen here: what is then not found, ``deep`` finds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from django.utils import timezone

from audit.event_store import archived, binary_copy, cluster
from audit.event_store.read import before
from audit.projections.entries import Entry
from audit.projections.faults import WrongRow
from audit.transparency.received_order import HEAD_INSTANT

READ_WITHIN = timedelta(days=1)
"""How long after its last batch, or after a run began anew, a session is to have been read to its end."""

_READ = f"""
select h.stream_id, s.name, h.next_seq, {HEAD_INSTANT}, coalesce(max(a.next_seq), 1),
  coalesce(max(a.next_seq) filter (where a.run_id = audit_judging_run(h.stream_id, null)), 1)
from log.stream_head h join log.stream s using (stream_id)
left join audit_adjudication a on a.stream_id = h.stream_id and a.what_if_id is null
where h.stream_id = any (%b::bigint[]) and {archived.NOT_ARCHIVED}
group by h.stream_id, s.name, h.next_seq, h.received_at
order by h.stream_id
"""


class _Type(msgspec.Struct):
    type: str


_type_of = msgspec.json.Decoder(_Type).decode


def unread_sessions(stream_ids: Collection[int], adjudicated: Mapping[int, Entry]) -> Iterator[WrongRow]:
    """Yield what does not hold about how far sessions were read. ``adjudicated`` has the newest entry of each."""
    rows = binary_copy.execute(cluster.readable(_READ), (sorted(stream_ids),))
    now = timezone.now()
    for stream_id, name, end, received_at, reached, judged in rows:
        entry = adjudicated.get(stream_id)
        if reached > end:
            what = f"it is said to be adjudicated to event {reached - 1}, and ends at event {end - 1}"
            yield WrongRow("session", what, name, end - 1)
        elif judged < end and _is_overdue(received_at, entry, now):
            yield WrongRow("session", "nobody has adjudicated it from here on, for more than a day", name, judged)
        elif reached == end and entry is None and _is_closed(stream_id, end):
            yield WrongRow("session", "it is said to be adjudicated to its end, and no entry says so", name, end - 1)


def _is_overdue(received_at: datetime | None, entry: Entry | None, now: datetime) -> bool:
    """Whether a session should have been read: a correction or the register has it read anew, and enters that."""
    if received_at is None:
        return False
    return max(received_at, entry.at) + READ_WITHIN < now if entry else received_at + READ_WITHIN < now


def _is_closed(stream_id: int, end: int) -> bool:
    """Whether the last event of a session closes it; one that comes after that has a finding, and so an entry."""
    try:
        return any(_type_of(envelope).type == "session.closed" for _, envelope in before(stream_id, seq=end, limit=1))
    except msgspec.DecodeError:
        return False  # verification of the log names it
