"""The ledger of one casino: its processes, their levels, and the questions they raise.

It takes batches in the order in which finished sessions become known to the record, each once. That order and the level
of a process are fixed before its draws are looked at. A later correction does not rewind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from settlement.eprocess.budget import AT_ONE_TABLE, as_stated, expected_after, level, near_threshold
from settlement.eprocess.channels import Fed
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import Crossing, Process

EDITION = 6
"""Of what processes see and how they bet. A process is of one edition: its wealth is no evidence under another."""

NOTHING: Mapping[str, int] = {}


class Question(NamedTuple):
    """A process that has reached its level of the year, for the first time in it. ``rule`` is the rule that asks."""

    rule: str
    process: Process
    crossing: Crossing


def name_of(process: Fed | Process) -> str:
    """Return the name of a process in a ledger: its kind, variant and subject."""
    variant = f" {process.variant}" if process.variant else ""
    return f"{process.kind}{variant}: {process.subject}"


def level_of(budget: str, expected: Mapping[str, int], kind: str, rank: int) -> Fraction:
    """Return the level of the subject of number ``rank``, from 1, of a kind in a year."""
    return level(Fraction(budget), KINDS[kind], rank, expected.get(kind, AT_ONE_TABLE[kind]))


class Ledger(Struct):
    """All processes of a casino, by kind and subject. ``budget`` counts false questions a year, "n/d".

    ``ranks`` is how many subjects of each kind have appeared in ``year``, ``expected`` how many were expected to.
    """

    year: int
    budget: str = "1"
    processes: dict[str, Process] = {}
    ranks: dict[str, int] = {}
    expected: dict[str, int] = field(default_factory=lambda: dict(AT_ONE_TABLE))

    @staticmethod
    def from_bytes(saved: bytes) -> Ledger:
        """Return the ledger that ``to_bytes`` saved."""
        return msgspec.json.decode(saved, type=Ledger)

    def to_bytes(self) -> bytes:
        """Return the ledger as canonical JSON."""
        return msgspec.json.encode(self, order="sorted")

    def begin_year(self, year: int, stated: Mapping[str, int] = NOTHING) -> None:
        """Begin a year: a new budget, and as many subjects expected as the casino has ``stated`` of it, by subject.

        Where it says nothing, as many as the last year had, if it had any. Wealth goes on; each process gets its level
        when it is next fed.
        """
        assert year > self.year
        self.year = year
        self.expected = as_stated(expected_after(self.expected, self.ranks), stated)
        self.ranks = {}

    def feed(self, batches: Iterable[Fed], *, session: str) -> list[Question]:
        """Settle what a finished ``session``, or night, gives, and return the questions that it raises.

        Subjects that appear in it together get their levels in the order of their names, so that levels do not depend
        on how the session was written down.
        """
        questions = []
        for batch in sorted(batches, key=name_of):
            process = self._process(batch)
            kind = KINDS[batch.kind]
            crossing = process.feed(kind.mixture(batch.variant), batch.seen, draws=batch.draws, session=session)
            if crossing is not None:
                questions.append(Question(kind.question, process, crossing))
        return questions

    def _process(self, batch: Fed) -> Process:
        """Return the process of a batch, at its level of the year."""
        key = name_of(batch)
        process = self.processes.get(key)
        if process is None:
            process = self.processes[key] = Process(batch.kind, batch.subject, batch.variant)
        if process.year != self.year:
            rank = self.ranks[batch.kind] = self.ranks.get(batch.kind, 0) + 1
            process.begin_year(self.year, level_of(self.budget, self.expected, batch.kind, rank))
        return process

    @property
    def of_this_year(self) -> dict[str, Process]:
        """The processes fed this year, by name."""
        return {name: process for name, process in self.processes.items() if process.year == self.year}

    @property
    def spent(self) -> Fraction:
        """The sum of all levels given this year: at most the budget."""
        return sum((Fraction(process.alpha) for process in self.of_this_year.values()), Fraction(0))

    def near_threshold(self) -> list[str]:
        """Return the names near the threshold that have not asked this year."""
        of_this_year = self.of_this_year
        listed = near_threshold({name: process.e_value for name, process in of_this_year.items()})
        return [name for name in listed if not of_this_year[name].asks()]
