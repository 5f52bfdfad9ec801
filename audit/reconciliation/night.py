"""One night in one currency: its sessions with their counts, the sums of their bridges, and the evidence ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from audit.models import Casino, Finding, LoggedStream
from audit.reconciliation import kept, sessions
from audit.reconciliation.counts import Counts, LateCount, late_counts, read_counts
from audit.reconciliation.ledger_as_of import LedgerAsOf, ledger_as_of
from audit.reconciliation.previous import Closer, previous_closers
from audit.reconciliation.slip_uses import Earlier, earlier_than
from audit.reconciliation.slips import Use, uses
from audit.transparency import tree
from settlement.night.bridge import Bank, Bridge
from settlement.night.figures import Figures
from settlement.night.variance import Interval, hold_interval

QUESTION = Fraction(1, 1000)
"""Level of the interval that luck leaves the hold of a session in: its rate of false alarms."""

ONE_SIDED = Fraction(1, 100)
"""Level at which reports of before asked whether a croupier's errors of a night favour one side; now the ledger asks.
It stays in the content: a night that is read again has the digest that officers signed."""

INTERVAL = Fraction(1, 20)
"""α of the intervals of error rates: they have confidence 1 − α."""

FALSE_NAMES = Fraction(1, 10)
"""False discovery rate among the croupiers that are named."""


@dataclass(slots=True)
class SessionResult:
    """One session of a night: its figures, joined with its count and with the previous session of its table.

    ``drop`` is in minor units, None if the session has not been counted. ``faults`` are those of its chain.
    """

    stream: LoggedStream
    figures: Figures
    faults: int
    is_sealed: bool
    drop: int | None
    previous: Closer | None
    waiting: dict[str, Any] = field(default_factory=dict)  # sessions.waiting_of

    @property
    def bridge(self) -> Bridge:
        bridge = self.figures.bridge
        return replace(bridge, bank=replace(bridge.bank, drop=self.drop))

    @property
    def end(self) -> int:
        """The seq of the event that closed the session, or of its last event."""
        return self.figures.closed_by or self.figures.last_seq

    def hold_test(self) -> tuple[Fraction | None, Interval | None]:
        """Return the hold and the interval that luck leaves it in at level ``QUESTION``.

        Neither without a count and a drop; no interval without adjudication.
        """
        bridge = self.bridge
        hold, drop = bridge.hold, bridge.bank.drop
        if hold is None or not drop or not self.figures.is_adjudicated:
            return hold, None
        return hold, hold_interval(bridge.theoretical, self.figures.variance, drop, QUESTION)


@dataclass(slots=True)
class Total:
    """The sum of some sessions. ``uncounted`` of them are open or not counted: then there is no accounting win."""

    bridge: Bridge
    luck: Fraction
    variance: Fraction
    sessions: int
    uncounted: int


@dataclass(slots=True)
class Night:
    """Everything that one report is computed from.

    ``earlier`` is what the days before used of its slips, ``late_counts`` what its counts have of days too far away.
    ``through`` is the last event read of each stream, by stream id; ``head`` the signed tree, None before the first.
    """

    casino: Casino
    day: date
    currency: str
    sessions: list[SessionResult]
    counts: Counts
    earlier: Earlier = field(default_factory=Earlier)
    late_counts: list[LateCount] = field(default_factory=list)
    ledger: LedgerAsOf = field(default_factory=LedgerAsOf)
    findings: list[Finding] = field(default_factory=list)
    through: dict[int, int] = field(default_factory=dict)
    head: tree.StoredCheckpoint | None = None

    @property
    def stream_ids(self) -> list[int]:
        return [session.stream.stream_id for session in self.sessions]

    @property
    def slips(self) -> list[Use]:
        """The uses of slips, session by session."""
        return uses(session.figures for session in self.sessions)


def session_streams(casino: Casino, day: date) -> list[LoggedStream]:
    """Return the sessions of a gaming day in the order in which they were opened."""
    streams = LoggedStream.objects.filter(casino=casino, gaming_day=day, is_of_desk=False, table__isnull=False)
    return list(streams.select_related("table").order_by("stream_id"))


def gather(
    casino: Casino,
    day: date,
    currency: str,
    *,
    streams: Sequence[LoggedStream],
    counts: Iterable[LoggedStream],
    through: dict[int, int],
) -> Night:
    """Return a night in a currency, without its findings. ``through`` says how far to read each stream."""
    counted = read_counts(counts, day, currency, through)
    head = tree.newest_checkpoint()
    ours = [stream for stream in streams if stream.currency == currency and stream.stream_id in through]
    last_seqs = {stream.stream_id: through[stream.stream_id] for stream in ours}
    rows = kept.figures_of(last_seqs)
    for stream_id, last in last_seqs.items():
        if stream_id not in rows:
            rows[stream_id] = sessions.compute_figures(stream_id, last)
    unsealed = tree.unsealed(last_seqs, head.size if head else 0)
    closers = previous_closers(ours)
    results = [
        SessionResult(
            stream=stream,
            figures=sessions.decode_figures(rows[stream.stream_id]),
            faults=rows[stream.stream_id].faults,
            is_sealed=stream.stream_id not in unsealed,
            drop=counted.drop(stream.name),
            previous=closers.get(stream.stream_id),
            waiting=rows[stream.stream_id].waiting,
        )
        for stream in ours
    ]
    night = Night(casino, day, currency, results, counted)
    night.head = head
    count_ids = {entry.stream_id for entries in counted.by_session.values() for entry in entries}
    used = {*night.stream_ids, *count_ids, *counted.of_day}
    night.through = {stream_id: last for stream_id, last in through.items() if stream_id in used}
    night.earlier = earlier_than(casino, day, currency, night.slips)
    night.late_counts = late_counts(casino, day, counted)
    night.ledger = ledger_as_of(casino, day, currency, night.stream_ids)
    return night


def total_of(results: Sequence[SessionResult], currency: str) -> Total:
    """Return the sum of sessions, zero for none."""
    bridges = [result.bridge for result in results]
    bridge = Bridge.of(Bank(currency=currency, opening_float=0, closing_float=0, drop=0), ())
    for each in bridges:
        bridge = bridge + each
    return Total(
        bridge=bridge,
        luck=sum((result.figures.luck for result in results), Fraction(0)),
        variance=sum((result.figures.variance for result in results), Fraction(0)),
        sessions=len(results),
        uncounted=sum(each.bank.accounting_win is None for each in bridges),
    )


def grouped(results: Iterable[SessionResult], key: Callable[[SessionResult], str]) -> dict[str, list[SessionResult]]:
    """Return sessions grouped by ``key``, in the order of the keys."""
    groups: dict[str, list[SessionResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))
