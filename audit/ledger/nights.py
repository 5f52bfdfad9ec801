"""What a counted night gives the ledger: the payouts of its croupiers, and the accounting variance of each session.

A night is fed once in each currency, when its first report is there with every session counted. Payouts are compared
within the night, so those of all its sessions are one batch.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from audit.ledger.shifts import shifts_of
from audit.models import BatchKind, Casino, LedgerBatch, NightReport, NightState
from audit.reconciliation import sessions
from audit.reconciliation.counts import Counts, count_streams
from audit.reconciliation.night import Night, SessionResult, gather, session_streams
from settlement import ENGINE_VERSION
from settlement.eprocess.observations import Payout, decode

COUNTED = (NightState.PROVISIONAL, NightState.REVIEWED, NightState.CLOSED)
"""The states of a report whose sessions are all counted."""


class CountedSession(Struct, frozen=True):
    """The accounting variance of one session in minor units, its table, who counted, and the shift in which it closed.

    "" for a team or shift that is not known.
    """

    table: str
    team: str
    shift: str
    variance: int


def unfed(casino: Casino) -> Iterator[LedgerBatch]:
    """Yield what the counted nights of a casino give that was not fed, in the order of their first such reports."""
    fed = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.PAYOUTS)
    done = set(fed.values_list("gaming_day", "currency"))
    reports = NightReport.objects.filter(casino=casino, state__in=COUNTED).order_by("pk").defer("content", "sheet")
    for report in reports:
        if (report.gaming_day, report.currency) not in done:
            done.add((report.gaming_day, report.currency))
            night = _night(casino, report)
            yield from _counts(night)
            yield _payouts(night)  # the last, because it says that the night is done


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


def _counts(night: Night) -> Iterator[LedgerBatch]:
    shifts = shifts_of(night)
    for result in night.sessions:
        if result.drop is not None and result.figures.is_money_seen and result.figures.closed_by:
            shift = shifts.get(result.stream.stream_id, "")
            row = _batch(night, BatchKind.COUNT, _counted(result, night.counts, shift))
            row.stream, row.last_seq = result.stream, result.end
            yield row


def _counted(result: SessionResult, counts: Counts, shift: str) -> CountedSession:
    entries = counts.by_session.get(result.stream.name, [])
    team = sorted({person for entry in entries for person in entry.event.data.counted_by})
    return CountedSession(result.figures.table, " + ".join(team), shift, result.bridge.accounting_variance or 0)


def _payouts(night: Night) -> LedgerBatch:
    payouts: list[Payout] = []
    for stream_id in night.stream_ids:
        payouts += decode(sessions.evidence_of(stream_id, night.through[stream_id])).payouts
    return _batch(night, BatchKind.PAYOUTS, payouts)


def _batch(night: Night, kind: BatchKind, content: object) -> LedgerBatch:
    return LedgerBatch(
        casino=night.casino,
        kind=kind,
        gaming_day=night.day,
        currency=night.currency,
        engine_version=ENGINE_VERSION,
        content=msgspec.json.encode(content, order="sorted"),
    )
