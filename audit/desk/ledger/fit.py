"""What fits best of a process about a wheel: its pockets as they came, and the explanations that were bet on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10, sqrt
from types import MappingProxyType

import msgspec
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.charts.rivals import Rival, draw_rivals
from audit.charts.wheel import Pocket, draw_wheel
from audit.desk.ledger import page
from audit.ledger import listing
from audit.models import LedgerProcess
from audit.presentation import count
from audit.reconciliation.wording import share
from settlement.eprocess.explanations import best_arc, counts_of, explanations_of
from settlement.eprocess.process import Process
from settlement.layouts import NUMBERS, RED, WHEEL_37, WHEEL_38

WHEELS: Mapping[int, Sequence[str]] = MappingProxyType({37: WHEEL_37, 38: WHEEL_38})

OF_POCKETS: Mapping[str, Promise] = MappingProxyType(
    {
        "one": gettext_lazy("One pocket"),
        "sector": gettext_lazy("A sector of 3 or 5 pockets"),
        "wide": gettext_lazy("An arc of 9 to 18 pockets"),
        "wave": gettext_lazy("A bowl out of level"),
        "any": gettext_lazy("Any other pattern"),
    }
)
OF_DISTANCES: Mapping[str, Promise] = MappingProxyType(
    {
        "one": gettext_lazy("One distance"),
        "sector": gettext_lazy("3 or 5 distances in a row"),
        "wide": gettext_lazy("9 to 18 distances in a row"),
        "any": gettext_lazy("Any other pattern"),
    }
)

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
    """The drawing of a wheel and of the rival explanations, with what is said of them."""

    wheel: SafeString
    rivals: SafeString
    is_of_distances: bool
    cells: Sequence[Cell]
    best: Sequence[Cell]
    best_words: str
    expected: str
    amounts: Sequence[tuple[str, str]]


def fit_of(process: LedgerProcess) -> Fit | None:
    """Return what fits best; None of a process about no wheel, or that has seen nothing. No query.

    None too where the stored state is none: the page shows the rest, and ``verify`` names it.
    """
    names = WHEELS.get(process.variant)
    try:
        state = msgspec.json.decode(bytes(process.state), type=Process)
    except msgspec.DecodeError:
        return None
    counts, arc = counts_of(state), best_arc(state)
    if names is None or arc is None or not sum(counts):
        return None
    by_distance = process.kind != "wheel"
    chosen = arc.cells(len(counts))
    cells = [
        Cell(str(index) if by_distance else names[index], _colour(names[index]), times, index in chosen)
        for index, times in enumerate(counts)
    ]
    in_best = [Cell(names[index], _colour(names[index]), counts[index], is_best=True) for index in chosen]
    draws, expected = sum(counts), sum(counts) / len(counts)
    seen, by_chance = sum(each.times for each in in_best), len(chosen) / len(counts)
    middle = (
        share(MILLIONTHS * seen // draws, 1),
        _("in gold"),
        _("chance: %(share)s") % {"share": share(round(MILLIONTHS * by_chance), 1)},
    )
    best_words = _("%(seen)s of %(draws)s; chance expects %(expected)s") % {
        "seen": count(seen),
        "draws": count(draws),
        "expected": decimal(draws * by_chance),
    }
    rivals = [
        Rival(str(_words(process.kind, each.name)), listing.log_wealth(each.evidence), page.times(each.evidence))
        for each in explanations_of(state)
    ]
    return Fit(
        _wheel(names, counts, chosen, middle, best_words, by_distance=by_distance),
        _rivals(process, rivals),
        by_distance,
        cells,
        in_best,
        best_words,
        decimal(expected),
        [(each.words, each.amount) for each in rivals],
    )


def _wheel(
    names: Sequence[str],
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
        Pocket(name, _colour(name), times, words % {"cell": index if by_distance else name, "times": count(times)})
        for index, (name, times) in enumerate(zip(names, counts, strict=True))
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


def _rivals(process: LedgerProcess, rivals: Sequence[Rival]) -> SafeString:
    level = log10(process.threshold) + listing.log_wealth(process.wealth_over_start / process.e_value)
    drawn = draw_rivals(
        rivals,
        level,
        chance=_("chance"),
        at_level=_("its level"),
        title=_("Against other explanations"),
        description=_("What each would hold, had it been the only one that was bet on."),
    )
    return mark_safe(drawn)


def _words(kind: str, name: str) -> Promise:
    return (OF_POCKETS if kind == "wheel" else OF_DISTANCES)[name]


def _colour(pocket: str) -> str:
    return "r" if pocket in RED else "n" if pocket in NUMBERS else "z"


def decimal(number: float) -> str:
    """Return a number with one decimal, rounded: Django would cut it off."""
    return number_format(round(number, 1), 1, use_l10n=True, force_grouping=True)
