"""What a verification of the log found: numbers, and what does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from audit.event_store.archived import Month
from audit.transparency.epochs import Epoch

MAX_FAULTS = 1_000
"""Faults listed; further ones are only counted."""


class Phase(StrEnum):
    """The phases of a verification, in their order. The last is of the job at the desk, after the log itself."""

    EVENTS = "events"  # with their batches and the chains of their streams
    DECISIONS = "decisions"
    SIGNATURES = "signatures"  # of checkpoints and of witnesses
    TREE = "tree"
    TABLES = "tables"  # what follows from the log


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not hold.

    ``part`` is ``event``, ``batch``, ``head``, ``stream``, ``leaf``, ``checkpoint`` or ``decision``, or what a row is
    of that follows from the log (``audit.projections.faults``); the rest says where, as far as known.
    """

    part: str
    what: str
    stream: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    batch: int | None = None  # the index of its leaf

    def __str__(self) -> str:
        where = self.part
        if self.stream:
            where += f" of {self.stream}"
        if self.first_seq is not None:
            where += f", event {self.first_seq}"
            if self.last_seq not in (None, self.first_seq):
                where += f" to {self.last_seq}"
        if self.batch is not None:
            where += f", leaf {self.batch}"
        return f"{where}: {self.what}"


@dataclass(slots=True)
class Archived:
    """What was verified of a month whose events are not in the database: its streams, their batches and chains.

    ``events`` is what the batches say. ``has_file`` is whether the archive's file was read, too.
    """

    month: Month
    streams: int = 0
    batches: int = 0
    events: int = 0
    has_file: bool = False


@dataclass(slots=True)
class Outcome:
    """What was verified, in numbers, and what did not hold, in the order of the log. ``phase`` is what it is at."""

    streams: int = 0
    batches: int = 0
    events: int = 0
    leaves: int = 0
    checkpoints: int = 0
    lost: int = 0  # exported and cosigned checkpoints of leaves that an epoch's note says were lost
    epochs: list[Epoch] = field(default_factory=list)
    archived: dict[int, Archived] = field(default_factory=dict)  # by the first stream id of the month
    faults: list[Fault] = field(default_factory=list)
    unlisted: int = 0
    phase: Phase = Phase.EVENTS

    def add(self, fault: Fault) -> None:
        """List a fault, or count it as ``unlisted`` if there are too many."""
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)
        else:
            self.unlisted += 1


Progress: TypeAlias = Callable[[Outcome], None]
