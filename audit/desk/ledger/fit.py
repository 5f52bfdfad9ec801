"""What fits best of a process about a wheel: its pockets as they came, and the explanations that were bet on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.charts.wheel import Pocket, draw_wheel
from audit.models import LedgerProcess
from audit.presentation import count
from audit.reconciliation.wording import share
from settlement import RULESETS
from settlement.eprocess.explanations import best_arc, counts_of
from settlement.eprocess.process import Process
from settlement.layouts import Layout
from settlement.ruleset import Ruleset

BAND = 1.96
"""Standard deviations on either side of the mean between which 19 counts in 20 fall."""

MILLIONTHS = 1_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One pocket, or one distance from the last one, as the table beside the drawing has it."""

    name: str
    colour: str
    times: int
    is_best: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """The drawing of a wheel, with what is said of it."""

    wheel: SafeString
    is_of_distances: bool
    cells: Sequence[Cell]
    best: Sequence[Cell]
    best_words: str
    expected: str


def fit_of(process: LedgerProcess, state: Process) -> Fit | None:
    """Return what fits best; None of a process about no wheel, or that has seen nothing. No query."""
    layout = layout_with(process.variant)
    counts, arc = counts_of(state), best_arc(state)
    if layout is None or arc is None or not sum(counts):
        return None
    names, colour_of = layout.wheel, layout.colour_of
    by_distance = process.kind != "wheel"
    chosen = arc.cells(len(counts))
    cells = [
        Cell(str(index) if by_distance else names[index], colour_of(names[index]), times, index in chosen)
        for index, times in enumerate(counts)
    ]
    in_best = [Cell(names[index], colour_of(names[index]), counts[index], is_best=True) for index in chosen]
    draws, expected = sum(counts), sum(counts) / len(counts)
    seen, by_chance = sum(each.times for each in in_best), len(chosen) / len(counts)
    middle = (
        share(MILLIONTHS * seen // draws, 1),
        _("in gold"),
        _("chance: %(share)s") % {"share": share(round(MILLIONTHS * by_chance), 1)},
    )
    best_words = _("%(seen)s of %(draws)s; %(expected)s expected by chance") % {
        "seen": count(seen),
        "draws": count(draws),
        "expected": decimal(draws * by_chance),
    }
    return Fit(
        _wheel(layout, counts, chosen, middle, best_words, by_distance=by_distance),
        by_distance,
        cells,
        in_best,
        best_words,
        decimal(expected),
    )


def _wheel(
    layout: Layout,
    counts: Sequence[int],
    chosen: Sequence[int],
    middle: Sequence[str],
    best_words: str,
    *,
    by_distance: bool,
) -> SafeString:
    draws = sum(counts)
    expected = draws / len(counts)
    spread = BAND * sqrt(expected * (1 - 1 / len(counts)))
    words = _("%(cell)s pockets on: %(times)s times") if by_distance else _("%(cell)s: %(times)s times")
    pockets = [
        Pocket(
            name, layout.colour_of(name), times, words % {"cell": index if by_distance else name, "times": count(times)}
        )
        for index, (name, times) in enumerate(zip(layout.wheel, counts, strict=True))
    ]
    drawn = draw_wheel(
        pockets,
        set(chosen),
        expected=expected,
        band=(max(0.0, expected - spread), expected + spread),
        middle=middle,
        title=_("What fits best"),
        description=best_words,
    )
    return mark_safe(drawn)


def ruleset_with(pockets: int) -> Ruleset | None:
    """Return a ruleset whose wheel has so many pockets; None if none plays with one."""
    return next((each for each in RULESETS.values() if each.layout and len(each.layout.wheel) == pockets), None)


def layout_with(pockets: int) -> Layout | None:
    """Return the layout whose wheel has so many pockets; None if no ruleset plays with one."""
    ruleset = ruleset_with(pockets)
    return ruleset.layout if ruleset is not None else None


def decimal(number: float) -> str:
    """Return a number with one decimal, rounded: Django would cut it off."""
    return number_format(round(number, 1), 1, use_l10n=True, force_grouping=True)
