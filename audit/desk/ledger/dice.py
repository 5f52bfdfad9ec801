"""The drawing of a process about dice: its faces, or the totals of two dice, counted against what chance expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.charts.columns import Column, draw_columns
from audit.desk.ledger.fit import BAND, decimal
from audit.models import LedgerProcess
from audit.presentation import count
from settlement.eprocess.explanations import OF_DICE, tally_of
from settlement.eprocess.process import Process

LOWEST = {"face": 1, "total": 2}
"""The first face, and the smallest total of two dice."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One face or total, as the table beside the drawing has it."""

    name: str
    times: str
    expected: str
    is_outside: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """The drawing of what dice showed, and its table. ``draws`` are faces or throws, as many as were counted."""

    chart: SafeString
    is_of_totals: bool
    draws: str
    cells: Sequence[Cell]


def counted_of(process: LedgerProcess, state: Process) -> Counted | None:
    """Return what the dice of a process showed; None of one that counts no faces, or has seen nothing. No query."""
    channel = OF_DICE.get(process.kind)
    tally = tally_of(state) if channel is not None else None
    if channel is None or tally is None or not sum(tally.counts):
        return None
    draws, ways = sum(tally.counts), sum(tally.ways)
    words = _("%(cell)s: %(times)s times; %(expected)s expected by chance")
    columns = []
    for index, (times, of) in enumerate(zip(tally.counts, tally.ways, strict=True)):
        share = of / ways
        expected, spread = draws * share, BAND * sqrt(draws * share * (1 - share))
        name = str(LOWEST[channel] + index)
        label = words % {"cell": name, "times": count(times), "expected": decimal(expected)}
        columns.append(Column(name, times, expected, max(0.0, expected - spread), expected + spread, label))
    is_of_totals = channel == "total"
    outside = [each.name for each in columns if each.is_outside]
    chart = draw_columns(
        columns,
        title=_("How often each total came up") if is_of_totals else _("How often each face came up"),
        description=_("Outside the band: %(names)s.") % {"names": ", ".join(outside)}
        if outside
        else _("All are inside the band."),
    )
    cells = [Cell(each.name, count(each.times), decimal(each.expected), each.is_outside) for each in columns]
    return Counted(mark_safe(chart), is_of_totals, count(draws), cells)
