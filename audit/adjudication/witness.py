"""Who is shown how a step folds a session whole: one fold then serves what is found and what is added up of it.

    advance(stream_id, witness=…) ─► begins ─► the fold, event by event ─► ends ─► findings … commit

Findings wait for no sum that a witness makes of it: he adds up after ``advance`` has returned. A step that fails is
tried again without him.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from settlement import State
from settlement.interceptors import Interceptors


@dataclass(frozen=True, slots=True)
class WholeSession:
    """What a step is about to fold: every event of a stream, one of them a close.

    ``last_seq`` is the last number of the stream, declared losses included. The run reads it by ``readings`` of the
    house register, and with the corrections ``approved``, by seq, in effect of those that wait for officers.
    """

    stream_id: int
    last_seq: int
    readings: Mapping[str, Any]
    approved: tuple[int, ...]


class Witness(Protocol):
    """Who reads along while a standing adjudication folds a session whole."""

    def begins(self, session: WholeSession, state: State) -> Interceptors:
        """Return what to call in place of folding the events of some types into ``state``, which is still empty.

        What was begun before is over: the step was given up, to begin again with other corrections.
        """
        ...

    def ends(self) -> None:
        """The state has folded the last event, and the session is closed. It still has its findings and wagers.

        The step is not committed yet.
        """
        ...
