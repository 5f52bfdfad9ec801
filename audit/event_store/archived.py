"""Months whose events are not in the database: in an archive, or destroyed after their retention.

``manage.py archive`` takes the events of a month out, of tables and counts; batches, leaves and the audit trail stay.
A reader of such a stream gets ``StreamArchived``, and not an empty stream.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from audit.event_store import binary_copy

AWAY = "archived", "destroyed"
"""The states in which the events of a month are not in the database."""

_COLUMNS = (
    "m.month, m.low, m.high, m.state, m.file, m.digest, m.batches, m.events, m.note, m.archived_at, m.entry_stream,"
    " m.entry_seq, m.destruction_note"
)
"""Of a month ``m``, as ``Month`` takes them."""

NOT_ARCHIVED = (
    "not exists (select from audit_archivedmonth m where s.stream_id >= m.low and s.stream_id < m.high"
    " and not s.is_of_desk)"
)
"""Of a stream ``s``, as a condition: it is of no month that was archived, whether or not that is attached now."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month that was archived, and its stream ids from ``low`` to before ``high``; state, file and newest entry.

    ``batches`` and ``events`` count what was taken out. ``digest`` is the SHA-256 of the file, as hex.
    """

    month: date
    low: int
    high: int
    state: str
    file: str
    digest: str
    batches: int
    events: int
    note: str
    archived_at: datetime
    desk: str
    entry: int
    destruction_note: str

    @property
    def name(self) -> str:
        """The month as ``2026-01``."""
        return f"{self.month:%Y-%m}"

    @property
    def is_away(self) -> bool:
        """Whether the events are not in the database."""
        return self.state in AWAY

    @property
    def where(self) -> str:
        """Where the events are: in a file, or nowhere any more and by which entry of the audit trail."""
        if self.state == "destroyed":
            return f"destroyed under entry {self.entry} of {self.desk}"
        return f"archived in {self.file}"


class StreamArchived(Exception):
    """The events of a stream are not in the database; ``month`` says where they are."""

    def __init__(self, month: Month) -> None:
        remedy = "" if month.state == "destroyed" else f"; manage.py archive --attach {month.name} opens it again"
        super().__init__(f"The events of {month.name} are {month.where}{remedy}.")
        self.month = month


def months() -> list[Month]:
    """Return the months that were archived, in order."""
    rows = binary_copy.execute(f"select {_COLUMNS} from audit_archivedmonth m order by m.low", ())
    return [Month(*row) for row in rows]


class Away:
    """Which streams are not in the database, by id: the months as they were when it was made."""

    def __init__(self) -> None:
        self.months = [month for month in months() if month.is_away]
        self._lows = [month.low for month in self.months]

    def month_of(self, stream_id: int) -> Month | None:
        """Return the month whose archive holds a stream of a table or count; None if its events are here.

        Streams of the audit trail are always here: do not ask of them.
        """
        at = bisect_right(self._lows, stream_id) - 1
        return self.months[at] if at >= 0 and stream_id < self.months[at].high else None


def month_of(stream_id: int) -> Month | None:
    """Return the month whose archive holds the events of a stream, None if they are in the database."""
    rows = binary_copy.execute(
        f"select {_COLUMNS} from log.stream s join audit_archivedmonth m"
        " on s.stream_id >= m.low and s.stream_id < m.high"
        " where s.stream_id = %b::bigint and not s.is_of_desk and m.state = any(%b::text[])",
        (stream_id, list(AWAY)),
    )
    return Month(*rows[0]) if rows else None


def demand_here(stream_id: int) -> None:
    """Raise ``StreamArchived`` if the events of a stream are not in the database."""
    if (month := month_of(stream_id)) is not None:
        raise StreamArchived(month)


def demand_all_here(stream_ids: Collection[int]) -> None:
    """Raise ``StreamArchived`` if the events of one of some streams of tables or counts are not in the database."""
    if stream_ids:
        away = Away()
        month = next(filter(None, map(away.month_of, sorted(stream_ids))), None)
        if month is not None:
            raise StreamArchived(month)
