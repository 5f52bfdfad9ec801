"""The clock of the log, held against the audit trail: since which leaf batches are held to the order they came in.

    settings.taken_over, the first ─► since, began_at ─► log.clock: the same, or a fault

Where there is no such entry the leaves say it themselves: those from ``since`` on were received after the clock began,
and those before it were not. ``LATE`` is allowed for a host whose clock was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from audit.event_store import binary_copy
from audit.event_store.audit_trail import INSTALLATION
from audit.projections.casinos import SETTINGS_KEPT
from audit.projections.entries import entries
from audit.projections.faults import WrongRow
from audit.transparency.pending import LATE

_CLOCK = "select since, began_at from log.clock where isfinite(began_at)"

_AROUND = """
select b.received_at from log.leaf l join log.batch b using (stream_id, first_seq)
where l.log_index = %b::bigint and b.received_at > '2000-01-01' and b.received_at < '3000-01-01'
"""


def clock() -> tuple[int, datetime] | None:
    """Return since which leaf the log's clock holds, and when it began; None if the log has no clock."""
    rows = binary_copy.execute(_CLOCK, ())
    return (rows[0][0], rows[0][1]) if rows else None


def wrong_clock() -> Iterator[WrongRow]:
    """Yield what does not hold about the beginning of the log's clock."""
    kept = clock()
    if kept is None:
        return  # verification of the log says so
    since, began_at = kept
    stating = next(iter(entries(INSTALLATION, (SETTINGS_KEPT,))), None)
    if stating is not None:
        if (since, began_at.isoformat()) != (stating.number("since"), stating.text("began_at")):
            yield WrongRow("clock", f"the log’s clock did not begin at the leaf and the time that {stating.name} says")
        return
    if since and (before := _received(since - 1)) is not None and before > began_at + LATE:
        yield WrongRow("clock", f"the log’s clock begins at leaf {since}, and the one before it came after it began")
    if (first := _received(since)) is not None and first < began_at - LATE:
        yield WrongRow("clock", f"the log’s clock begins at leaf {since}, which came before it began")


def _received(index: int) -> datetime | None:
    rows = binary_copy.execute(_AROUND, (index,))
    return rows[0][0] if rows else None
