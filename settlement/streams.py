"""A stream in memory, from its beginning to its end: folded, and answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from settlement.adjudication import Adjudication
from settlement.arrival import as_stream
from settlement.corrections import Change, changes_in
from settlement.engine import NeedsReplay, State
from settlement.events import Event, SessionOpened
from settlement.findings import find
from settlement.ruleset import RULESETS
from settlement.rulesets import refuse_foreign
from settlement.spelling import refuse_capitals

T = TypeVar("T")


def fold(
    events: Sequence[Event], readings: Mapping[str, Any] | None = None, approved: Collection[int] | None = None
) -> State:
    """Return the state after ``events``: a whole stream in order of ``seq``, each number at most once."""
    known = changes_in(events)

    def folded(held: frozenset[int]) -> State:
        state = State(known, readings, approved, held=held)
        state.feed_all(events)
        return state

    return with_held(known, folded)


def with_held(known: Sequence[Change], folded: Callable[[frozenset[int]], T]) -> T:
    """Return what ``folded`` returns once it is given every one of ``known`` that has no effect, by seq.

    Which those are is known when a fold has come to all of them: it raises ``NeedsReplay`` and is called again.
    """
    held: frozenset[int] = frozenset()
    for _ in range(len(known) + 1):
        try:
            return folded(held)
        except NeedsReplay as needed:
            held = needed.held
    raise AssertionError("each round holds one change more")


def adjudicate(
    events: Iterable[Event | bytes | str],
    *,
    readings: Mapping[str, Any] | None = None,
    approved: Collection[int] | None = None,
) -> Adjudication:
    """Return the answer to a stream.

    ``events`` are the events of one stream, decoded or as raw JSON, in any order; the same event may come again. Of two
    contents of one ``seq`` the first counts, and `sequence-conflict` is found. Raise ``ShapeError`` for raw JSON that
    is not a well-shaped event or for ``readings`` that there are not, ``AnotherStream`` for events of several streams.

    ``readings`` are the house's register; None: the session's own params decide. ``approved`` are the corrections and
    annulments that were approved, by seq; None: all.
    """
    stream, conflicts = as_stream(events)
    if stream and isinstance(stream[0], SessionOpened) and stream[0].data.ruleset in RULESETS:
        refuse_foreign(stream, stream[0].data.ruleset)
        refuse_capitals(stream, RULESETS[stream[0].data.ruleset].kinds)
    state = fold(stream, readings, approved)
    table = state.table
    losses = [finding.seq for finding in table.findings if finding.rule in ("sequence-gap", "events-lost")]
    for seq in conflicts:
        table.after_loss = any(loss <= seq for loss in losses)
        find(table, "sequence-conflict", seq)
    return state.adjudication()
