"""What a verification of the log found: numbers, and what does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from audit.event_store.archived import Month
from audit.transparency.epochs import Epoch

MAX_OF_A_PART = 200
"""Faults listed of each part; further ones are counted, so that a flood in one part hides no other."""

POWER = ("unreadable", "officer", "role", "key", "link", "group", "request", "epoch", "clock")
"""The parts that say what was not read, who may do what, and what the log is: they are listed first."""


class Phase(StrEnum):
    """The phases of a verification, in their order. The last belongs to the job at the desk, after the log itself."""

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
    """What was verified, in numbers, and what did not hold, in the order of the log. ``phase`` is what it is at.

    ``counts`` has how many faults each part has, ``tampered`` every batch that is not what was accepted, as session and
    first number.
    """

    streams: int = 0
    batches: int = 0
    events: int = 0
    leaves: int = 0
    checkpoints: int = 0
    lost: int = 0  # exported and cosigned checkpoints of leaves that an epoch's note says were lost
    epochs: list[Epoch] = field(default_factory=list)
    archived: dict[int, Archived] = field(default_factory=dict)  # by the first stream id of the month
    faults: list[Fault] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    tampered: set[tuple[str, int]] = field(default_factory=set)
    phase: Phase = Phase.EVENTS

    @property
    def unlisted(self) -> int:
        """Return how many faults are counted and not listed."""
        return sum(self.counts.values()) - len(self.faults)

    def add(self, fault: Fault) -> None:
        """List a fault, or only count it if its part has too many."""
        self.counts[fault.part] = self.counts.get(fault.part, 0) + 1
        if self.counts[fault.part] <= MAX_OF_A_PART:
            self.faults.append(fault)
        if fault.part == "batch" and fault.first_seq is not None:
            self.tampered.add((fault.stream, fault.first_seq))

    def listed(self, *, of_a_part: int = MAX_OF_A_PART) -> list[Fault]:
        """Return the first faults of each part, those of the parts that give power first."""
        taken: dict[str, int] = {}
        found: list[Fault] = []
        for fault in self.faults:
            taken[fault.part] = taken.get(fault.part, 0) + 1
            if taken[fault.part] <= of_a_part:
                found.append(fault)
        return sorted(found, key=_rank)


def _rank(fault: Fault) -> int:
    return POWER.index(fault.part) if fault.part in POWER else len(POWER)


Progress: TypeAlias = Callable[[Outcome], None]
