"""The entries of the audit trail that the tables follow from, as the log has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from audit.event_store import binary_copy
from audit.event_store.readable import is_dated, is_readable, readable
from audit.models import FIRST_SANDBOX_ID, Officer
from audit.projections.faults import WrongRow

# Their ids are asked first: a join has a planner without statistics read every event of the log, for each check.
_DESKS = """
select stream_id from log.stream
where is_of_desk and stream_id < %b::bigint and (%b::bigint is null or casino_id = %b::bigint)
"""

_ENTRIES = f"""
select s.casino_id, s.name, e.seq, e.occurred_at, e.envelope::text
from log.stream s join log.event e using (stream_id)
where e.stream_id = any(%b::bigint[])
  and {readable("e.envelope")} ->> 'type' = any(%b::text[]) and {is_dated("e.occurred_at")}
order by s.casino_id, s.gaming_day, e.seq
"""


_UNREADABLE = f"""
select s.name, e.seq from log.stream s join log.event e using (stream_id)
where e.stream_id = any(%b::bigint[]) and not ({is_readable("e.envelope")} and {is_dated("e.occurred_at")})
order by s.casino_id, s.gaming_day, e.seq
"""

WRITTEN_WITHIN = timedelta(seconds=10)
"""How far the instant of a row may be from that of its entry: in 0.1.0 each had its own, in one transaction."""


def is_same_instant(stored: datetime | None, stated: datetime | None, *, exactly: bool = False) -> bool:
    """Whether a row's instant is that of its entry, to the microsecond if ``exactly``; None is that of neither."""
    if stored is None or stated is None:
        return stored is stated
    return stored == stated if exactly else abs(stored - stated) <= WRITTEN_WITHIN


class _Envelope(msgspec.Struct):
    actor: str
    type: str
    data: dict[str, Any]


_decode = msgspec.json.Decoder(_Envelope).decode


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: where it is in the log, when and by whom, and what it says."""

    casino_id: int
    desk: str
    seq: int
    at: datetime
    actor: str
    type: str
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """How a fault names the entry."""
        return f"entry {self.seq} of {self.desk}"

    def text(self, name: str) -> str:
        """Return a value of the entry as text, "" if it has none."""
        value = self.data.get(name, "")
        return value if isinstance(value, str) else str(value)

    def number(self, name: str) -> int:
        """Return a value of the entry as a number, 0 if it has none or is none."""
        value = self.data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0


def entries(casino_id: int | None, types: Collection[str]) -> Iterator[Entry]:
    """Yield the entries of some types of a casino's desk, of every casino's for None, in the order of the log.

    What is no entry is left out: ``audit.transparency.verify`` names it. So is what is among the streams of sandboxes,
    which nobody verifies.
    """
    for of_casino, desk, seq, at, envelope in binary_copy.execute(_ENTRIES, (_desks(casino_id), sorted(types))):
        try:
            decoded = _decode(envelope)
        except msgspec.DecodeError:
            continue
        yield Entry(of_casino, desk, seq, at, decoded.actor, decoded.type, decoded.data)


_known: ContextVar[dict[int | None, list[int]] | None] = ContextVar("known", default=None)


@contextmanager
def desks_read_once() -> Iterator[None]:
    """Read the streams of a casino's desk once for all checks of this block, which run in one transaction."""
    before = _known.set({})
    try:
        yield
    finally:
        _known.reset(before)


def _desks(casino_id: int | None) -> list[int]:
    known = _known.get()
    if known is not None and casino_id in known:
        return known[casino_id]
    found = [stream_id for (stream_id,) in binary_copy.execute(_DESKS, (FIRST_SANDBOX_ID, casino_id, casino_id))]
    if known is not None:
        known[casino_id] = found
    return found


def unreadable_entries(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield the entries of a casino's desk, of every casino's for None, that ``entries`` leaves out as unreadable."""
    for desk, seq in binary_copy.execute(_UNREADABLE, (_desks(casino_id),)):
        yield WrongRow("event", "the database cannot read its text, or no calendar has its instant", desk, seq)


def officer_names() -> dict[int, str]:
    """Return the name of each account, by its id: an entry names whoever acted, and a row has the id."""
    return dict(Officer.objects.values_list("pk", "username"))
