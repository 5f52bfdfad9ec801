"""One night in one currency, gathered: its sessions with their counts, and the sums of their bridges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from msgspec.structs import replace

from audit.adjudication import stream_reader
from audit.event_store import read
from audit.models import Casino, Finding, LoggedStream, SessionFigures
from audit.reconciliation import sessions
from audit.reconciliation.counts import Counts, counts_of
from audit.transparency import tree
from settlement import ENGINE_VERSION, decode
from settlement.corrections import as_corrected
from settlement.events import SessionClosed
from settlement.night.bridge import Bank, Bridge
from settlement.night.fairness import DiceFairness, Fairness, WheelFairness
from settlement.night.figures import Figures
from settlement.rulesets import RULESETS

QUESTION = Fraction(1, 1000)
"""Level of every statistical question of a session or a table: its rate of false alarms."""

ONE_SIDED = Fraction(1, 100)
"""Level of the question whether a croupier's errors lean one way, a night."""

INTERVAL = Fraction(1, 20)
"""What the intervals of error rates leave out."""

FALSE_NAMES = Fraction(1, 10)
"""Expected share of false names among the croupiers that are named."""


@dataclass(frozen=True, slots=True)
class Closer:
    """How a table was closed the time before: by which session, with what in the rack, in minor units."""

    stream: str
    amount: int


@dataclass(slots=True)
class SessionResult:
    """One session with what others say of it. ``drop`` is None while it is not counted."""

    stream: LoggedStream
    figures: Figures
    faults: int
    is_sealed: bool
    drop: int | None
    before: Closer | None

    @property
    def bridge(self) -> Bridge:
        bridge = self.figures.bridge
        return replace(bridge, bank=replace(bridge.bank, drop=self.drop))

    @property
    def end(self) -> int:
        """The event that ends the session, or the last there is."""
        return self.figures.closed_by or self.figures.last_seq


@dataclass(slots=True)
class Total:
    """The sum of some sessions: their bridge, the luck of their draws and its variance."""

    bridge: Bridge
    luck: Fraction
    variance: Fraction
    sessions: int
    uncounted: int
    """Sessions that are not closed or not counted, so that the sum has no accounting win."""


@dataclass(slots=True)
class TableTest:
    """The fairness of a table's dice or wheel since the first of the month; where it first asked."""

    table: str
    kind: str
    fairness: Fairness
    asked_in: str | None = None
    asked_at: int = 0


@dataclass(slots=True)
class Night:
    """Everything one report rests on."""

    casino: Casino
    day: date
    currency: str
    sittings: list[SessionResult]
    counts: Counts
    tests: list[TableTest] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    through: dict[int, int] = field(default_factory=dict)
    head: tree.StoredCheckpoint | None = None  # the watermark

    @property
    def streams(self) -> list[int]:
        return [sitting.stream.stream_id for sitting in self.sittings]


def session_streams(casino: Casino, day: date) -> list[LoggedStream]:
    """Return the sessions of a gaming day, in the order they were opened."""
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
    """Return a night in a currency. Every session of ``streams`` that ``through`` names has its figures already."""
    counted = counts_of(counts, day, currency, through)
    head = tree.newest_checkpoint()
    size = head.size if head else 0
    sittings = []
    for stream in streams:
        if stream.currency != currency or stream.stream_id not in through:
            continue
        last = through[stream.stream_id]
        row = sessions.make(stream.stream_id, last)
        sittings.append(
            SessionResult(
                stream=stream,
                figures=sessions.read_figures(row),
                faults=row.faults,
                is_sealed=sessions.is_sealed(stream.stream_id, last, size),
                drop=counted.drop(stream.name),
                before=closer_before(stream),
            )
        )
    of_night = {sitting.stream.stream_id for sitting in sittings}
    used = of_night | {entry.stream_id for listed in counted.by_session.values() for entry in listed}
    night = Night(casino, day, currency, sittings, counted)
    night.head = head
    night.through = {stream_id: last for stream_id, last in through.items() if stream_id in used | counted.of_day}
    night.tests = tests_of(sittings, day)
    return night


def closer_before(stream: LoggedStream) -> Closer | None:
    """Return how the table was closed before this session; None where it is the first, or the one before is open."""
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


def total_of(sittings: Sequence[SessionResult], currency: str) -> Total:
    """Return the sum of sessions; of none, too."""
    bridges = [sitting.bridge for sitting in sittings]
    bridge = Bridge.of(Bank(currency=currency, opening_float=0, closing_float=0, drop=0), ())
    for each in bridges:
        bridge = bridge + each
    return Total(
        bridge=bridge,
        luck=sum((sitting.figures.luck for sitting in sittings), Fraction(0)),
        variance=sum((sitting.figures.variance for sitting in sittings), Fraction(0)),
        sessions=len(sittings),
        uncounted=sum(each.bank.accounting_win is None for each in bridges),
    )


def grouped(sittings: Iterable[SessionResult], key: Callable[[SessionResult], str]) -> dict[str, list[SessionResult]]:
    """Return sessions by what ``key`` says of them, in the order of its words."""
    groups: dict[str, list[SessionResult]] = {}
    for sitting in sittings:
        groups.setdefault(key(sitting), []).append(sitting)
    return dict(sorted(groups.items()))


# Dice and wheels, through the month


def tests_of(sittings: Sequence[SessionResult], day: date) -> list[TableTest]:
    """Return the fairness test of every table that played, from the first of the month through this night."""
    found = []
    for (table_id, game), played in sorted(_by_table(sittings).items()):
        ruleset = played[0].figures.ruleset
        book = RULESETS.get(ruleset)
        if book is None:
            continue
        fairness: Fairness = WheelFairness(book.layout) if book.layout else DiceFairness()
        test = TableTest(played[0].figures.table, "wheel" if book.layout else "dice", fairness)
        for figures in _earlier(table_id, game, day):
            _watch(test, figures)
        for sitting in played:
            _watch(test, sitting.figures)
        found.append(test)
    return found


def _by_table(sittings: Iterable[SessionResult]) -> dict[tuple[int, str], list[SessionResult]]:
    tables: dict[tuple[int, str], list[SessionResult]] = {}
    for sitting in sittings:
        if sitting.figures.is_adjudicated:
            assert sitting.stream.table_id is not None
            tables.setdefault((sitting.stream.table_id, sitting.figures.ruleset), []).append(sitting)
    return tables


def _earlier(table_id: int, ruleset: str, day: date) -> Iterable[Figures]:
    """Yield the sessions of a table since the first of the month and before ``day``, as last reconciled."""
    streams = LoggedStream.objects.filter(
        table=table_id, ruleset=ruleset, gaming_day__gte=day.replace(day=1), gaming_day__lt=day, is_of_desk=False
    ).order_by("stream_id")
    for stream_id in streams.values_list("stream_id", flat=True):
        rows = SessionFigures.objects.filter(stream=stream_id, engine_version=ENGINE_VERSION)
        newest = rows.order_by("-last_seq").first()
        if newest is not None:
            yield sessions.read_figures(newest)


def _watch(test: TableTest, figures: Figures) -> None:
    fairness = test.fairness
    for seq, *came in figures.draws:
        if isinstance(fairness, WheelFairness):
            fairness.spin(str(came[0]))
        else:
            assert isinstance(fairness, DiceFairness)
            fairness.throw([int(face) for face in came[:2]], [str(die) for die in came[2:]])
        if test.asked_in is None and fairness.alarms(QUESTION):
            test.asked_in, test.asked_at = figures.stream, int(seq)
