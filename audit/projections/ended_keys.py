"""Batches that were received after their key was revoked or had expired.

A web server knows a key for ``KEY_CACHE_S`` after it looked it up, and a request that has begun ends: what comes in
that time was sent by whoever had the key, and is counted and shown. A batch that came later is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from audit.access.keys import KEY_CACHE_S
from audit.event_store import binary_copy
from audit.models import FIRST_SANDBOX_ID, ApiKey
from audit.projections.faults import WrongRow
from audit.projections.found import Figures

REQUEST_S = 20.0
"""How long a request that has been let in may take until its events are stored, and the clocks of two hosts differ."""

WITHIN = timedelta(seconds=KEY_CACHE_S + REQUEST_S)

_AFTER_END = """
select s.name, b.first_seq, b.last_seq, b.key_id, b.received_at
from log.batch b join log.stream s using (stream_id)
where b.key_id = any (%b::bigint[])
  and b.received_at > (%b::timestamptz[])[array_position(%b::bigint[], b.key_id)]
  and b.stream_id < %b::bigint and (%b::bigint is null or b.stream_id = %b::bigint)
order by b.stream_id, b.first_seq
"""


@dataclass(frozen=True, slots=True)
class Late:
    """A batch that was received ``after`` its key, of this prefix, had ended."""

    stream: str
    first_seq: int
    last_seq: int
    prefix: str
    after: timedelta


def after_end(casino_id: int | None, stream_id: int | None = None) -> Iterator[Late]:
    """Yield the batches of the keys of a casino, of every one for None, that came after their key had ended.

    ``stream_id`` limits them to those of one stream.
    """
    keys = ApiKey.objects.all() if casino_id is None else ApiKey.objects.filter(casino=casino_id)
    ends: dict[int, tuple[str, datetime]] = {}
    for pk, prefix, *ending in keys.values_list("pk", "prefix", "revoked_at", "expires_at"):
        if instants := [each for each in ending if each is not None]:
            ends[pk] = (prefix, min(instants))
    instants = [at for _, at in ends.values()]
    found = binary_copy.execute(_AFTER_END, ([*ends], instants, [*ends], FIRST_SANDBOX_ID, stream_id, stream_id))
    for stream, first_seq, last_seq, key_id, received_at in found:
        prefix, ended_at = ends[key_id]
        yield Late(stream, first_seq, last_seq, prefix, received_at - ended_at)


def late_batches(casino_id: int | None, figures: Figures) -> Iterator[WrongRow]:
    """Yield the batches that came so long after the end of their key that no request explains it; count the others."""
    for late in after_end(casino_id):
        if late.after > WITHIN:
            what = f"it was received {late.after} after API key {late.prefix} was revoked or had expired"
            yield WrongRow("batch", what, late.stream, late.first_seq)
        else:
            figures.late_batches += 1
