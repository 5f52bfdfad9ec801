"""One night in one currency: its sessions with their counts, the sums of their bridges, and its fairness tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from audit.adjudication import stream_reader
from audit.event_store import read
from audit.models import Casino, Finding, LoggedStream, SessionFigures
from audit.reconciliation import sessions
from audit.reconciliation.counts import Counts, read_counts
from audit.transparency import tree
from settlement import ENGINE_VERSION, decode
from settlement.corrections import as_corrected
from settlement.events import SessionClosed
from settlement.night.bridge import Bank, Bridge
from settlement.night.fairness import DiceFairness, Fairness, WheelFairness
from settlement.night.figures import Figures
from settlement.night.variance import Interval, hold_interval
from settlement.rulesets import RULESETS

QUESTION = Fraction(1, 1000)
"""Level of a statistical question about a session, or a table and month: its rate of false alarms."""

ONE_SIDED = Fraction(1, 100)
"""Level of the question whether a croupier's errors of a night favour one side."""

INTERVAL = Fraction(1, 20)
"""α of the intervals of error rates: they have confidence 1 − α."""

FALSE_NAMES = Fraction(1, 10)
"""False discovery rate among the croupiers that are named."""


@dataclass(frozen=True, slots=True)
class Closer:
    """How the previous session of a table was closed: its stream, and its closing float in minor units."""

    stream: str
    amount: int


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
class FairnessTest:
    """The fairness of a table's dice or wheel since the first of the month, and the event that raised the question.

    ``raised_in`` is the name of a session, None while there is no question.
    """

    table: str
    kind: Literal["dice", "wheel"]
    fairness: Fairness
    raised_in: str | None = None
    raised_at: int = 0


@dataclass(slots=True)
class Night:
    """Everything that one report is computed from.

    ``through`` is the last event read of each stream, by stream id; ``head`` the signed tree, None before the first.
    """

    casino: Casino
    day: date
    currency: str
    sessions: list[SessionResult]
    counts: Counts
    tests: list[FairnessTest] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    through: dict[int, int] = field(default_factory=dict)
    head: tree.StoredCheckpoint | None = None

    @property
    def stream_ids(self) -> list[int]:
        return [session.stream.stream_id for session in self.sessions]


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
    results = []
    for stream in streams:
        if stream.currency != currency or stream.stream_id not in through:
            continue
        last = through[stream.stream_id]
        row = sessions.compute_figures(stream.stream_id, last)
        results.append(
            SessionResult(
                stream=stream,
                figures=sessions.decode_figures(row),
                faults=row.faults,
                is_sealed=sessions.is_sealed(stream.stream_id, last, head.size if head else 0),
                drop=counted.drop(stream.name),
                previous=previous_closer(stream),
            )
        )
    night = Night(casino, day, currency, results, counted)
    night.head = head
    count_ids = {entry.stream_id for entries in counted.by_session.values() for entry in entries}
    used = {*night.stream_ids, *count_ids, *counted.of_day}
    night.through = {stream_id: last for stream_id, last in through.items() if stream_id in used}
    night.tests = fairness_tests(results, day)
    return night


def previous_closer(stream: LoggedStream) -> Closer | None:
    """Return how the table was closed before this session, or None if this is its first or the previous one is open."""
    earlier = LoggedStream.objects.filter(
        table=stream.table_id, currency=stream.currency, is_of_desk=False, stream_id__lt=stream.stream_id
    )
    previous = earlier.order_by("-stream_id").first()
    raw = read.last_of_type(previous.stream_id, "session.closed") if previous else None
    if previous is None or raw is None:
        return None
    event, _corrected_by = as_corrected(decode(raw), stream_reader.corrections_of(previous.stream_id))
    assert isinstance(event, SessionClosed)
    return Closer(previous.name, event.data.float)


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


# Fairness of dice and wheels through the month


def fairness_tests(results: Sequence[SessionResult], day: date) -> list[FairnessTest]:
    """Return the fairness test of every table that played, from the first of the month through this night."""
    tests = []
    for (table_id, name), played in sorted(_by_table(results).items()):
        ruleset = RULESETS.get(name)
        if ruleset is None:
            continue
        fairness: Fairness = WheelFairness(ruleset.layout) if ruleset.layout else DiceFairness()
        test = FairnessTest(played[0].figures.table, "wheel" if ruleset.layout else "dice", fairness)
        for figures in _earlier_this_month(table_id, name, day):
            _feed(test, figures)
        for result in played:
            _feed(test, result.figures)
        tests.append(test)
    return tests


def _by_table(results: Iterable[SessionResult]) -> dict[tuple[int, str], list[SessionResult]]:
    tables: dict[tuple[int, str], list[SessionResult]] = {}
    for result in results:
        if result.figures.is_adjudicated:
            assert result.stream.table_id is not None
            tables.setdefault((result.stream.table_id, result.figures.ruleset), []).append(result)
    return tables


def _earlier_this_month(table_id: int, ruleset: str, day: date) -> Iterable[Figures]:
    """Yield the figures of a table's sessions from the first of the month to before ``day``, as last reconciled."""
    streams = LoggedStream.objects.filter(
        table=table_id, ruleset=ruleset, gaming_day__gte=day.replace(day=1), gaming_day__lt=day, is_of_desk=False
    ).order_by("stream_id")
    for stream_id in streams.values_list("stream_id", flat=True):
        rows = SessionFigures.objects.filter(stream=stream_id, engine_version=ENGINE_VERSION)
        newest = rows.order_by("-last_seq").first()
        if newest is not None:
            yield sessions.decode_figures(newest)


def _feed(test: FairnessTest, figures: Figures) -> None:
    fairness = test.fairness
    for seq, *draw in figures.draws:
        if isinstance(fairness, WheelFairness):
            fairness.spin(str(draw[0]))
        else:
            assert isinstance(fairness, DiceFairness)
            fairness.throw([int(face) for face in draw[:2]], [str(die) for die in draw[2:]])
        if test.raised_in is None and fairness.alarms(QUESTION):
            test.raised_in, test.raised_at = figures.stream, int(seq)
