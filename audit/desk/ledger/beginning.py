"""Since when: what the page of a process that has asked says of the beginning, and how often it came since then.

counts of each batch up to the question ─► settlement.eprocess.change ─► days, and the interval of the share
a process that counts nothing ───────────► the batch after which its evidence grew, and no earliest day
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from django.utils.translation import gettext as _

from audit.ledger import listing
from audit.models import LedgerPoint, LedgerProcess, LedgerQuestion
from audit.presentation import count
from settlement.eprocess.change import Counted, beginning_of, best_of
from settlement.eprocess.confidence import Interval
from settlement.eprocess.explanations import OF_DICE, arcs_of, best_arc, tally_of
from settlement.eprocess.process import Process

CERTAIN = Fraction(1, 20)
"""What an interval may miss at most; a level below it is the process's own."""


class Watched(NamedTuple):
    """Cells that a process counts, chosen among so many, the share that chance gives them, and what a page says."""

    cells: Sequence[int]
    chance: Fraction
    chosen_of: int
    words: str


@dataclass(frozen=True, slots=True)
class Began:
    """The likeliest batch of the beginning, the first and the last that are possible, and the share since then.

    ``first`` and ``share`` are None of a process that counts nothing.
    """

    best: LedgerPoint
    last: LedgerPoint
    first: LedgerPoint | None = None
    share: Interval | None = None

    @property
    def best_day(self) -> date:
        return self.best.batch.gaming_day

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day that are possible; sessions that closed late may be of an earlier one."""
        if self.first is None:
            return None
        return min(self.first.batch.gaming_day, self.best_day), max(self.last.batch.gaming_day, self.best_day)


def watched_of(state: Process) -> Watched | None:
    """Return what fits best of a process that counts: an arc, a face or a total, sevens; None of another."""
    arc = best_arc(state)
    if arc is not None:
        of = arcs_of(state)
        words = _("What is in gold above, chosen among %(of)s arcs") % {"of": count(of)}
        return Watched(arc.cells(state.variant), Fraction(arc.width, state.variant), of, words)
    tally = tally_of(state)
    if tally is not None and any(tally.counts):
        ways = sum(tally.ways)
        excess = [Fraction(times * ways, own) for times, own in zip(tally.counts, tally.ways, strict=True)]
        best = excess.index(max(excess))
        lowest = 1 if OF_DICE[state.kind] == "face" else 2
        words = _("The %(cell)s, chosen among %(of)s") % {"cell": best + lowest, "of": len(excess)}
        return Watched((best,), Fraction(tally.ways[best], ways), len(excess), words)
    return Watched((0,), Fraction(1, 6), 1, _("Sevens")) if state.kind == "shooter" else None


def began_of(
    process: LedgerProcess, state: Process | None, points: Sequence[LedgerPoint], question: LedgerQuestion | None
) -> Began | None:
    """Return since when what a process asks about happens; None before it has asked. ``points`` are its batches, in
    order. No query."""
    until = [each for each in points if question is not None and each.batch.number <= question.batch.number]
    if question is None or not until:
        return None
    watched = watched_of(state) if state is not None else None
    if watched is None or not all(each.counts for each in until):
        best = best_of([listing.log_wealth(each.wealth_over_start) for each in until])
        return Began(until[best], until[-1])
    counted = [Counted(sum(each.counts[cell] for cell in watched.cells), sum(each.counts)) for each in until]
    alpha = min(CERTAIN, Fraction(question.alpha))
    found = beginning_of(counted, watched.chance, alpha, chosen_of=watched.chosen_of)
    return Began(until[found.best], until[found.last], until[found.first], found.share)
