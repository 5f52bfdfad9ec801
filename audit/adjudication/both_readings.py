"""Both readings of a session: without one of its corrections, and with it, every other as it is now.

An officer who decides about a correction that waits needs these: which wagers turn out otherwise, what is due and
paid on them, which findings hold in one reading alone, and the table before what is corrected, to be drawn from there
on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from audit.adjudication import stream_reader
from audit.adjudication.results import standing_readings
from audit.event_store import read
from audit.models import CORRECTION_RULES
from settlement import Finding, State
from settlement.corrections import Change, Corrections
from settlement.night.bridge import wager_line
from settlement.state import Wager

MAX_EVENTS = 60_000
"""Events that are read for a page, twice: more than any session of one day has."""

BEFORE = 60
"""Events before the one that is corrected at which both readings can be drawn: the coup, and mostly the one before."""


@dataclass(frozen=True, slots=True)
class WagerReading:
    """One wager in one reading. Amounts in minor units; ``W_rec`` and ``W_adj`` are positive for the house.

    ``decided_by`` is the seq of the event that decided it, None if none has: no difference where all else is the same.
    """

    bet: str
    stake: int
    status: str
    winnings_due: int
    stake_due: int
    winnings_paid: int
    stake_paid: int
    recorded_win: int
    adjudicated_win: int
    decided_by: int | None = field(compare=False)


@dataclass(frozen=True, slots=True)
class DifferingWager:
    """A wager that the two readings take otherwise; None in a reading in which there is no such wager."""

    wager: str
    without: WagerReading | None
    with_it: WagerReading | None


@dataclass(frozen=True, slots=True)
class BothReadings:
    """What differs through event ``through``, which is the last: wagers, and the findings of one reading alone.

    ``target`` is the event that is corrected. ``before_without`` and ``before_with`` are the states before event
    ``first``, to be fed from there on.
    """

    through: int
    target: int
    first: int
    before_without: State
    before_with: State
    wagers: list[DifferingWager]
    only_without: list[Finding]
    only_with: list[Finding]


def both_readings(stream_id: int, seq: int) -> BothReadings | None:
    """Return what correction ``seq`` of a stream changes; None if the session is too long to read for a page."""
    last_seq = read.next_seq_of(stream_id) - 1
    if read.count_from(stream_id, 1, through=last_seq, limit=MAX_EVENTS + 1) > MAX_EVENTS:
        return None
    changes = stream_reader.corrections_of(stream_id, known_through=last_seq)
    held = stream_reader.held_in(stream_id, changes)
    known = Corrections(changes, held)
    target = known.entry_of(seq) if any(change.seq == seq for change in changes) else 0
    readings = standing_readings(stream_id)
    first = max(1, target - BEFORE)
    (before_without, without), (before_with, with_it) = (
        _folded(stream_id, first, last_seq, changes, readings, each) for each in (held | {seq}, held - {seq})
    )
    wagers, others = _readings_of(without), _readings_of(with_it)
    differing = [
        DifferingWager(wager, wagers.get(wager), others.get(wager))
        for wager in dict.fromkeys([*wagers, *others])
        if wagers.get(wager) != others.get(wager)
    ]
    found, found_with = _findings_of(without), _findings_of(with_it)
    return BothReadings(
        through=last_seq,
        target=target,
        first=first,
        before_without=before_without,
        before_with=before_with,
        wagers=differing,
        only_without=[finding for ref, finding in found.items() if ref not in found_with],
        only_with=[finding for ref, finding in found_with.items() if ref not in found],
    )


def _folded(
    stream_id: int,
    first: int,
    last_seq: int,
    changes: Sequence[Change],
    readings: stream_reader.Readings,
    held: frozenset[int],
) -> tuple[State, State]:
    """Return the state before event ``first``, and the one after event ``last_seq``."""
    state = State(changes, readings, held=held, compares=False)
    _feed(state, stream_id, 1, first - 1)
    before = State.from_bytes(state.to_bytes(), changes, readings, compares=False)
    _feed(state, stream_id, first, last_seq)
    return before, state


def _feed(state: State, stream_id: int, first: int, last_seq: int) -> None:
    with stream_reader.gc_paused(), closing(stream_reader.pages(stream_id, first, last_seq)) as pages:
        for page in pages:
            state.feed_all(page)


def _readings_of(state: State) -> dict[str, WagerReading]:
    session = state.table.session
    if session is None:
        return {}

    def reading(wager: Wager) -> WagerReading:
        line = wager_line(session, wager)
        return WagerReading(
            bet=wager.bet,
            stake=wager.stake,
            status=wager.status,
            winnings_due=wager.winnings_due,
            stake_due=wager.stake_due,
            winnings_paid=wager.winnings_paid,
            stake_paid=wager.stake_paid,
            recorded_win=line.recorded.total,
            adjudicated_win=line.adjudicated.total,
            decided_by=wager.decided_by,
        )

    return {wager.id: reading(wager) for wager in state.table.wagers.values()}


def _findings_of(state: State) -> Mapping[tuple[int, str, str], Finding]:
    """Return the findings of a reading by what names them; without those that something was corrected."""
    found = sorted(state.findings(), key=lambda each: each.order)
    return {each.order: each for each in found if each.rule not in CORRECTION_RULES}
