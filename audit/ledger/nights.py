"""What a counted night gives the ledger: the payouts of its croupiers, and the accounting variance of each session.

A night is fed once in each currency, when its first report is there with every session counted. Payouts are compared
within the night, so those of all its sessions are one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import msgspec
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from msgspec import Struct

from audit.adjudication.stream_reader import gc_paused
from audit.ledger.set_aside import error_of
from audit.ledger.shifts import shifts_of
from audit.models import BatchKind, Casino, GamingTable, LedgerBatch, LedgerSetAside, NightReport, NightState
from audit.reconciliation import kept, sessions
from audit.reconciliation.counts import count_streams
from audit.reconciliation.night import Night, SessionResult, gather, session_streams
from settlement import ENGINE_VERSION
from settlement.eprocess.counted import MOST_BEFORE, Counted, others_of
from settlement.eprocess.observations import Payout, decode

COUNTED = (NightState.PROVISIONAL, NightState.REVIEWED, NightState.CLOSED)
"""The states of a report whose sessions are all counted."""


class CountedSession(Struct, frozen=True):
    """The accounting variance of one session in minor units, its table, who counted, and the shift in which it closed.

    "" for a team or shift that is not known. ``closer`` closed the table, ``dealt`` are the croupiers, as far as these
    are known; ``others`` is what the variance is compared with, by kind of process and person.
    """

    table: str
    team: str
    shift: str
    variance: int
    closer: str = ""
    dealt: tuple[str, ...] = ()
    others: dict[str, dict[str, int]] = {}

    @property
    def counted(self) -> Counted:
        """The counts with which the next ones of the table are compared."""
        return Counted(self.variance, self.closer, self.dealt)


class _Seen(NamedTuple):
    """The croupiers of a session: the closer of its table, its dealers in order, and the payouts."""

    closer: str
    dealt: tuple[str, ...]
    payouts: list[Payout]

    @classmethod
    def of(cls, encoded: bytes) -> _Seen:
        seen = decode(encoded)
        return cls(seen.closer, tuple(sorted({draw.croupier for draw in seen.drawn if draw.croupier})), seen.payouts)


def unfed(casino: Casino) -> Iterator[LedgerBatch]:
    """Yield what the counted nights of a casino give that was not fed, in the order of their first such reports."""
    done: set[tuple[date, str]] = set()
    for rows in (LedgerBatch.objects, LedgerSetAside.objects):
        done |= set(rows.filter(casino=casino, kind=BatchKind.PAYOUTS).values_list("gaming_day", "currency"))
    reports = NightReport.objects.filter(casino=casino, state__in=COUNTED).order_by("pk").defer("content", "sheet")
    for report in reports:
        if (report.gaming_day, report.currency) not in done:
            done.add((report.gaming_day, report.currency))
            yield from _rows_of(casino, report)


def again(each: LedgerSetAside) -> list[LedgerBatch]:
    """Return what a night gives that could not be read when it was due. Raise ``StreamLocked``."""
    reports = NightReport.objects.filter(casino=each.casino, gaming_day=each.gaming_day, currency=each.currency)
    counted = reports.filter(state__in=COUNTED).order_by("pk").defer("content", "sheet").first()
    return _rows_of(each.casino, counted) if counted is not None else []


def _rows_of(casino: Casino, report: NightReport) -> list[LedgerBatch]:
    """Return what a night gives; its payouts are the last, because they say that it is done.

    Of a night that cannot be read there is the batch of its payouts with the error. Raise ``StreamLocked``.
    """
    try:
        with gc_paused():
            night = _night(casino, report)
            seen = _seen(night)
            return [*_counts(night, seen), _payouts(night, seen)]
    except sessions.StreamLocked:
        raise
    except Exception as failure:
        row = _batch(casino, report.gaming_day, report.currency, BatchKind.PAYOUTS, b"")
        row.error = error_of(failure)
        return [row]


def is_fed(row: LedgerBatch) -> bool:
    """Return whether a batch like this one, of a night or of a count, was fed."""
    same = LedgerBatch.objects.filter(casino=row.casino_id, kind=row.kind)
    if row.stream_id is not None:
        return same.filter(stream=row.stream_id).exists()
    return same.filter(stream=None, gaming_day=row.gaming_day, currency=row.currency).exists()


def _night(casino: Casino, report: NightReport) -> Night:
    return gather(
        casino,
        report.gaming_day,
        report.currency,
        streams=session_streams(casino, report.gaming_day),
        counts=count_streams(casino, report.gaming_day),
        through={int(stream_id): last for stream_id, last in report.through.items()},
    )


def _seen(night: Night) -> dict[int, _Seen]:
    """Return what the sessions of a night showed of croupiers, by stream id."""
    last_seqs = {stream_id: night.through[stream_id] for stream_id in night.stream_ids}
    seen = {stream_id: _Seen.of(observations) for stream_id, observations in kept.evidence_of(last_seqs)}
    for stream_id in last_seqs.keys() - seen.keys():
        seen[stream_id] = _Seen.of(sessions.evidence_of(stream_id, last_seqs[stream_id]))
    return seen


def _counts(night: Night, seen: Mapping[int, _Seen]) -> Iterator[LedgerBatch]:
    shifts = shifts_of(night)
    of_tables = _counted_before(night)
    before: dict[str, list[Counted]] = {}
    for result in night.sessions:
        if result.drop is not None and result.figures.is_money_seen and result.figures.closed_by:
            table, stream = result.figures.table, result.stream
            if table not in before:
                before[table] = of_tables[stream.table_id]
            counted = _counted(result, night, seen[stream.stream_id], shifts.get(stream.stream_id, ""), before[table])
            before[table].append(counted.counted)
            content = msgspec.json.encode(counted, order="sorted")
            row = _batch(night.casino, night.day, night.currency, BatchKind.COUNT, content)
            row.stream, row.last_seq = stream, result.end
            yield row


def _counted_before(night: Night) -> dict[int | None, list[Counted]]:
    """Return the last counts of each table of a night that were fed, in their order, by the table's id."""
    fed = LedgerBatch.objects.filter(casino=night.casino, kind=BatchKind.COUNT, currency=night.currency)
    last = fed.filter(stream__table=OuterRef("pk")).order_by("-number").values("content")[:MOST_BEFORE]
    tables = GamingTable.objects.filter(pk__in={result.stream.table_id for result in night.sessions})
    contents = tables.order_by().annotate(contents=ArraySubquery(last)).values_list("pk", "contents")
    return {
        table_id: [msgspec.json.decode(bytes(each), type=CountedSession).counted for each in of_table][::-1]
        for table_id, of_table in contents
    }


def _counted(result: SessionResult, night: Night, seen: _Seen, shift: str, before: Sequence[Counted]) -> CountedSession:
    entries = night.counts.by_session.get(result.stream.name, [])
    team = sorted({person for entry in entries for person in entry.event.data.counted_by})
    own = Counted(result.bridge.accounting_variance or 0, seen.closer, seen.dealt)
    return CountedSession(
        result.figures.table, " + ".join(team), shift, own.variance, own.closer, own.dealt, others_of(before, own)
    )


def _payouts(night: Night, seen: Mapping[int, _Seen]) -> LedgerBatch:
    payouts = [payout for stream_id in night.stream_ids for payout in seen[stream_id].payouts]
    content = msgspec.json.encode(payouts, order="sorted")
    return _batch(night.casino, night.day, night.currency, BatchKind.PAYOUTS, content)


def _batch(casino: Casino, day: date, currency: str, kind: BatchKind, content: bytes) -> LedgerBatch:
    return LedgerBatch(
        casino=casino,
        kind=kind,
        gaming_day=day,
        currency=currency,
        engine_version=ENGINE_VERSION,
        content=content,
    )
