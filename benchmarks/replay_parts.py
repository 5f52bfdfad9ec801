"""What a replay is made of: reading and decoding the events of some streams, and folding them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any


def _events_of(stream_id: int) -> Iterator[list[Any]]:
    from audit.adjudication.stream_reader import pages  # after Django is set up
    from audit.event_store.read import next_seq_of

    yield from pages(stream_id, 1, next_seq_of(stream_id) - 1)


def counted_per_s(stream_ids: Sequence[int]) -> float:
    """Return the events a second that are read, decoded and counted: what eventsourcing's aggregate does."""
    from audit.adjudication.stream_reader import gc_paused

    counted = 0
    started = time.perf_counter()
    with gc_paused():
        for stream_id in stream_ids:
            for page in _events_of(stream_id):
                for _ in page:
                    counted += 1
    return counted / (time.perf_counter() - started)


def parts_of_replay(stream_ids: Sequence[int]) -> tuple[float, float]:
    """Return the seconds that reading and decoding take of a replay in one process, and those of folding."""
    from audit.adjudication.replay import fold
    from audit.adjudication.stream_reader import gc_paused
    from settlement import State

    decoding = folding = 0.0
    for stream_id in stream_ids:
        with gc_paused():
            started = time.perf_counter()
            events = [event for page in _events_of(stream_id) for event in page]
            decoded = time.perf_counter()
            fold(State(), events)
            decoding += decoded - started
            folding += time.perf_counter() - decoded
    return decoding, folding
