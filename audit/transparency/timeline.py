"""The checkpoints of the last hours and what witnesses cosigned of them, thinned by time: for a drawing of few dots.

A log has a checkpoint every second, and none says when it was signed. The newest batch in it dates it, which was
received a moment before. These dates go up with the checkpoints' numbers, but for what ``received_order`` allows, so
the last checkpoint before an instant is found by halving: a few look-ups by key an instant, however long the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from audit.event_store import binary_copy, cluster
from audit.transparency.received_order import INSTANT

DOTS = 60
"""Checkpoints at most, each the last of its part of the time."""

_CHECKPOINTS = f"""
with recursive ends as (
  select part, %b::timestamptz + part * (%b::timestamptz - %b::timestamptz) / {DOTS} as at
  from generate_series(0, {DOTS}) part),
halved(part, at, low, high) as (
  select part, at, 0::bigint, coalesce((select max(number) from log.checkpoint), 0) from ends
  union all
  select h.part, h.at, case when m.received_at <= h.at then h.middle else h.low end,
         case when m.received_at <= h.at then h.high else h.middle - 1 end
  from (select part, at, low, high, (low + high + 1) / 2 as middle from halved where low < high) h
  left join lateral (
    select {INSTANT} as received_at
    from log.checkpoint c join log.leaf l on l.log_index = c.size - 1
    join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
    where c.number = h.middle) m on true),
found as (
  select part, low as number, lag(low) over (order by part) as before from halved where low = high),
dots as (
  select f.part, c.size, coalesce(p.size, 0) as before, {INSTANT} as received_at
  from found f join log.checkpoint c on c.number = f.number left join log.checkpoint p on p.number = f.before
  left join log.leaf l on l.log_index = c.size - 1
  left join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
  where f.number > f.before)
select d.size, d.received_at, w.vkey, s.size, s.received_at
from dots d left join unnest(%b::text[]) w(vkey) on true
left join lateral (
  select a.size, a.received_at from audit_cosignature a
  where a.vkey = w.vkey and a.size > d.before and a.size <= d.size order by a.size desc limit 1) s on true
order by d.part
"""


@dataclass(frozen=True, slots=True)
class Cosigned:
    """The newest cosignature of a witness in a part of the time: leaves of its tree, and when it came here."""

    size: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class SealedAt:
    """The last checkpoint of a part of the time: its leaves, when the newest batch in it was received, and by the
    witnesses' keys what they cosigned after the one before it, as far as they did.
    """

    size: int
    received_at: datetime
    cosigned: dict[str, Cosigned]


def checkpoints(since: datetime, until: datetime, vkeys: Sequence[str]) -> list[SealedAt]:
    """Return the checkpoints from ``since`` to ``until``, ``DOTS`` at most, and the cosignatures of ``vkeys``."""
    found: dict[int, SealedAt] = {}
    for size, received_at, vkey, cosigned, cosigned_at in binary_copy.execute(
        cluster.readable(_CHECKPOINTS), (since, until, since, list(vkeys))
    ):
        if received_at is None:  # somebody else has written its date
            continue
        each = found.setdefault(size, SealedAt(size, received_at, {}))
        if cosigned is not None:
            each.cosigned[vkey] = Cosigned(cosigned, cosigned_at)
    return list(found.values())
