"""Hints: telling the workers which streams are dirty, while nobody waits.

A request is answered when its events are stored; whether the broker is there, slow or gone is none of its business.
So a thread of this process hands the hints on, and a stream that is hinted at again before its turn is told once.
Nothing depends on a hint: what a broker or a dying process loses, the sweep finds.
"""

from __future__ import annotations

import threading
import time

import structlog

from audit.tasks import replay_stream

PAUSE_S = 5.0
"""How long nothing is tried after the broker failed."""

GATHER_S = 0.1
"""How long hints are gathered before they are handed on: a table that sends each event by itself is told of once."""

log = structlog.get_logger(__name__)

_dirty: set[int] = set()
_change = threading.Condition()
_messenger: threading.Thread | None = None


def hint(stream_id: int) -> None:
    """Have the workers told, soon, that a stream is dirty."""
    global _messenger
    with _change:
        _dirty.add(stream_id)
        # A process that was forked has the name of the thread, but not the thread.
        if _messenger is None or not _messenger.is_alive():
            _messenger = threading.Thread(target=_hand_on, name="hints", daemon=True)
            _messenger.start()
        _change.notify()


def _hand_on() -> None:
    while True:
        with _change:
            _change.wait_for(lambda: _dirty)
        time.sleep(GATHER_S)
        with _change:
            taken = sorted(_dirty)
            _dirty.clear()
        try:
            for stream_id in taken:
                replay_stream.apply_async(kwargs={"stream_id": stream_id}, retry=False)
        except Exception as error:
            log.warning("hints lost", streams=len(taken), error=str(error))
            threading.Event().wait(PAUSE_S)
