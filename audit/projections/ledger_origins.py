"""The origins of the ledger's batches, held against the log and the reports: a session, evening or night is fed once.

    draws of a session     the event that closed it, and the leaf with that event ─┐
    an evening             the draws of its day that no other had ─────────────────┤ the same, or a fault
    payouts of a night     those of its sessions, in its first counted report ─────┤
    the count of a session its accounting variance there ──────────────────────────┘

A batch that is set aside is held in the same way, and is tried again within a day. The team, the shift and the counts
before, with which a count is compared, are taken as they are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

import msgspec

from audit.event_store import binary_copy, cluster
from audit.event_store.archived import NOT_ARCHIVED
from audit.event_store.readable import is_of_type
from audit.ledger.nights import COUNTED, CountedSession
from audit.ledger.set_aside import latest_try
from audit.models import BatchKind, Casino, LedgerBatch, LedgerSetAside, NightReport, SessionFigures, StreamEvidence
from audit.models.ledger import BY_PERSON
from audit.reconciliation.sessions import decode_figures
from settlement.eprocess.ledger import EDITION
from settlement.eprocess.observations import Payout, decode

_LEAVES = f"""
select l.log_index, l.stream_id, l.first_seq from log.leaf l join log.stream s using (stream_id)
where l.log_index = any (%b::bigint[]) and {NOT_ARCHIVED}
"""
_CLOSED_AT = f"""
select b.stream_id, b.first_seq, min(e.seq)
from log.batch b
join unnest(%(streams)b::bigint[], %(firsts)b::bigint[]) as l (stream_id, first_seq)
  on b.stream_id = l.stream_id and b.first_seq = l.first_seq
join log.event e on e.stream_id = b.stream_id and e.seq between b.first_seq and b.last_seq
where b.stream_id = any (%(streams)b::bigint[]) and {is_of_type("e.envelope", "session.closed")}
group by b.stream_id, b.first_seq
"""
_ARCHIVED = f"select s.stream_id from log.stream s where s.stream_id = any (%b::bigint[]) and not {NOT_ARCHIVED}"

Row = LedgerBatch | LedgerSetAside


class _Counted(NamedTuple):
    """What the first counted report of a night has of its sessions, by stream id, and how far it read them."""

    sessions: dict[int, dict[str, Any]]
    through: dict[str, int]


@dataclass(slots=True)
class Origins:
    """The origins that batches of a casino may have. ``closes`` has each close: leaf, stream and event."""

    casino: Casino
    closes: set[tuple[int, int, int]] = field(default_factory=set)
    archived: set[int] = field(default_factory=set)
    waiting: dict[date, list[LedgerBatch]] = field(default_factory=lambda: defaultdict(list))
    evenings: set[date] = field(default_factory=set)
    reports: dict[tuple[date, str], _Counted | None] = field(default_factory=dict)
    edition: int = 0

    def __post_init__(self) -> None:
        rows = [
            origin
            for model in (LedgerBatch, LedgerSetAside)
            for origin in model._default_manager.filter(casino=self.casino, kind=BatchKind.DRAWS).values_list(
                "log_index", "stream_id"
            )
        ]
        self.closes = _closes_at([leaf for leaf, _stream in rows if leaf is not None])
        streams = sorted({stream for _leaf, stream in rows if stream is not None})
        self.archived = {stream for (stream,) in binary_copy.execute(_ARCHIVED, (streams,))}

    def wrong(self, row: LedgerBatch) -> Iterator[str]:
        """Yield what does not hold about where a batch comes from; they are asked about in their order."""
        if not self.edition <= row.edition <= EDITION:
            yield f"batch {row.number} has edition {row.edition}, and follows one with {self.edition}"
        self.edition = max(self.edition, row.edition)
        if row.kind in BY_PERSON:
            is_right = self._is_evening(row) or row.edition < EDITION
        elif row.edition == EDITION and row.kind == BatchKind.PAYOUTS:
            is_right = self._is_night(row) and _are_payouts(row, self._report(row))
        elif row.edition == EDITION and row.kind == BatchKind.COUNT:
            is_right = self._is_of_session(row) and _is_variance(row, self._report(row))
        else:
            is_right = row.kind != BatchKind.DRAWS or self._is_close(row)
        if row.kind == BatchKind.DRAWS and not row.error:
            self.waiting[row.gaming_day].append(row)
        if not is_right:
            yield f"batch {row.number} does not come from the session, evening or night that it names"

    def wrong_aside(self, row: LedgerSetAside, now: datetime) -> Iterator[str]:
        """Yield what does not hold about a batch that is set aside."""
        match row.kind:
            case BatchKind.DRAWS:
                is_right = self._is_close(row)
            case BatchKind.PAYOUTS:
                is_right = self._is_night(row)
            case BatchKind.COUNT:
                is_right = self._is_of_session(row)
            case _:
                is_right = bool(self.waiting.get(row.gaming_day))
        if not is_right:
            yield f"what is set aside of {row.about} does not come from the session, evening or night that it names"
        if row.next_try_at > latest_try(now):
            yield f"what is set aside of {row.about} is said to wait until {row.next_try_at}"

    def _is_of_session(self, row: Row) -> bool:
        stream = row.stream
        return (
            stream is not None
            and (stream.casino_id, stream.gaming_day, stream.currency) == (self.casino.pk, row.gaming_day, row.currency)
            and stream.table_id is not None
            and not stream.is_of_desk
        )

    def _is_close(self, row: Row) -> bool:
        origin = (row.log_index, row.stream_id, row.last_seq)
        return self._is_of_session(row) and (origin in self.closes or row.stream_id in self.archived)

    def _is_evening(self, row: LedgerBatch) -> bool:
        draws = [each for each in self.waiting.pop(row.gaming_day, []) if each.edition == row.edition]
        is_first = row.gaming_day not in self.evenings
        self.evenings.add(row.gaming_day)
        if is_first:
            is_kind = (row.kind, row.stream_id, row.last_seq) == (BatchKind.EVENING, None, 0)
        else:
            ends = {(each.stream_id, each.last_seq) for each in draws}
            is_kind = row.kind == BatchKind.LATE and (row.stream_id, row.last_seq) in ends
        numbers = msgspec.json.encode([each.number for each in draws])
        return is_kind and (row.currency, row.log_index, bytes(row.content)) == ("", None, numbers)

    def _is_night(self, row: Row) -> bool:
        of_no_session = (row.stream_id, row.last_seq, row.log_index) == (None, 0, None)
        return of_no_session and self._report(row) is not None

    def _report(self, row: Row) -> _Counted | None:
        key = (row.gaming_day, row.currency)
        if key not in self.reports:
            reports = NightReport.objects.filter(casino=self.casino, gaming_day=key[0], currency=key[1])
            first = reports.filter(state__in=COUNTED).order_by("pk").defer("sheet").first()
            sessions = first.parsed_content()["sessions"] if first is not None else []
            by_stream = {each["stream_id"]: each for each in sessions}
            self.reports[key] = _Counted(by_stream, first.through) if first is not None else None
        return self.reports[key]


def _closes_at(leaves: list[int]) -> set[tuple[int, int, int]]:
    """Return the first close of a session in each of some leaves: the leaf, the stream and the event."""
    found = binary_copy.execute(_LEAVES, (sorted(leaves),))
    at = {(stream_id, first): leaf for leaf, stream_id, first in found}
    streams, firsts = ([origin[number] for origin in at] for number in (0, 1))
    closed = binary_copy.execute(cluster.readable(_CLOSED_AT), {"streams": streams, "firsts": firsts}) if at else []
    return {(at[stream_id, first], stream_id, seq) for stream_id, first, seq in closed}


def _are_payouts(row: LedgerBatch, report: _Counted | None) -> bool:
    """Whether a batch has the payouts of a night's sessions, one after the other, as they were read at some time."""
    stored = msgspec.json.decode(bytes(row.content), type=list[Payout])
    ends = {0}
    if report is None:
        return False
    for stream_id in report.sessions:
        kept = StreamEvidence.objects.filter(stream=stream_id, last_seq=report.through.get(str(stream_id), 0))
        readings = [decode(bytes(each)).payouts for each in kept.values_list("observations", flat=True)]
        ends = {
            end + len(payouts)
            for end in ends
            for payouts in readings
            if stored[end : end + len(payouts)] == list(payouts)
        }
    return len(stored) in ends


def _is_variance(row: LedgerBatch, report: _Counted | None) -> bool:
    """Whether a batch has the accounting variance of a session as the first counted report of its night has it."""
    session = report.sessions.get(row.stream_id or 0) if report is not None else None
    if report is None or session is None:
        return False
    count = msgspec.json.decode(bytes(row.content), type=CountedSession)
    figures = SessionFigures.objects.filter(stream=row.stream_id, last_seq=report.through.get(str(row.stream_id), 0))
    ends = {decoded.closed_by or decoded.last_seq for decoded in map(decode_figures, figures.only("figures"))}
    stated = (session["table"], session["bridge"].get("accounting_variance") or 0)
    return (count.table, count.variance) == stated and row.last_seq in ends and row.log_index is None
