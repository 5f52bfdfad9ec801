"""Published spins of a wheel as evidence: one process each, over all of them and anew for each block.

The text has a run of consecutive spins on each line, separated by commas, as pockets ("0", "00", "17"). A displacement
is taken within a run only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from settlement.eprocess.channels import of_spins
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Process
from settlement.layouts import Layout

BATCH = 300
"""Spins after which wealth is looked at: about a session. A run is not divided."""


LONGEST_LINE = 1 << 20
"""Characters of a line: a longer one is no run of one table, and would have to be held in memory."""


class NotASpin(ValueError):
    """A line has something else than pockets of the wheel, or never ends."""


class Block(NamedTuple):
    """A block of spins under one process: its wealth at the end and the highest, in 2⁻¹²⁸."""

    kind: str
    first: int
    last: int
    evidence: int
    highest: int

    def reaches(self, wealth: int) -> bool:
        """Whether the process reached ``wealth`` in this block."""
        return self.highest >= wealth * UNIT


def runs_of(lines: Iterable[str], layout: Layout) -> Iterator[list[int]]:
    """Yield the runs as indexes of pockets on the wheel. Raise ``NotASpin``."""
    index_of = {pocket: index for index, pocket in enumerate(layout.wheel)}
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise NotASpin(f"Line {number}: more than {LONGEST_LINE} characters.")
        if line.strip():
            try:
                yield [index_of[pocket.strip()] for pocket in line.split(",")]
            except KeyError as unknown:
                raise NotASpin(f"Line {number}: {unknown} is no pocket of a wheel with {len(index_of)}.") from None


def batches_of(runs: Iterable[list[int]], spins: int = BATCH) -> Iterator[list[list[int]]]:
    """Yield the runs together as soon as they are ``spins`` or more."""
    batch: list[list[int]] = []
    size = 0
    for run in runs:
        batch.append(run)
        size += len(run)
        if size >= spins:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def blocks_of(runs: Iterable[list[int]], layout: Layout, *, block: int) -> Iterator[Block]:
    """Yield for each block of ``block`` spins or slightly more, in order, what each kind of process made of it.

    The last one may be shorter. With ``block`` 0 all spins are one block.
    """
    cells = len(layout.wheel)
    processes: dict[str, Process] = {}
    first = last = 1
    for batch in batches_of(runs):
        for fed in of_spins("wheel", cells, batch):
            process = processes.setdefault(fed.kind, Process(fed.kind, fed.subject, cells))
            process.feed(KINDS[fed.kind].mixture(cells), fed.seen, draws=fed.draws, session="")
        last += sum(map(len, batch))
        if block and last - first >= block:
            yield from _ended(processes, first, last - 1)
            processes, first = {}, last
    yield from _ended(processes, first, last - 1)


def _ended(processes: dict[str, Process], first: int, last: int) -> Iterator[Block]:
    for kind, process in processes.items():
        yield Block(kind, first, last, process.evidence, process.highest)
