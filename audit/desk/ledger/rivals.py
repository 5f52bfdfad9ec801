"""What speaks for which: the evidence of each explanation that a process's gamblers bet on, and how sure its share is.

explanations (settlement.eprocess.explanations) ─► bars, the largest first
counts, the best of them ─────────────────────────► its share, and the interval that holds whenever one looks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log10

from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.charts.interval import draw_share_interval
from audit.charts.rivals import Rival, draw_rivals
from audit.desk.ledger import page
from audit.desk.ledger.beginning import CERTAIN, Began, watched_of
from audit.ledger import listing
from audit.models import LedgerProcess
from audit.presentation import day
from audit.reconciliation.wording import share
from settlement.eprocess.confidence import Interval, interval_of_share
from settlement.eprocess.explanations import counts_of, explanations_of, tally_of
from settlement.eprocess.process import Process

OF_POCKETS: Mapping[str, Promise] = {
    "one": gettext_lazy("One pocket"),
    "sector": gettext_lazy("A sector of 3 or 5 pockets"),
    "wide": gettext_lazy("An arc of 9 to 18 pockets"),
    "wave": gettext_lazy("A bowl out of level"),
    "any": gettext_lazy("Any other pattern"),
}
OF_DISTANCES: Mapping[str, Promise] = {
    "twice": gettext_lazy("Recorded twice, or the same pocket again"),
    "one": gettext_lazy("One distance"),
    "sector": gettext_lazy("3 or 5 adjacent distances"),
    "wide": gettext_lazy("9 to 18 adjacent distances"),
    "any": gettext_lazy("Any other pattern"),
}
OTHERS: Mapping[str, Promise] = {
    "face": gettext_lazy("One face more often"),
    "pair": gettext_lazy("One die keeps its face"),
    "any": gettext_lazy("Any other pattern"),
    "double": gettext_lazy("Doubles"),
    "seven": gettext_lazy("Sevens"),
    "total": gettext_lazy("Any pattern of totals"),
    "after-double": gettext_lazy("What follows a double"),
    "after-seven": gettext_lazy("What follows a seven"),
    "after-other": gettext_lazy("What follows another throw"),
    "displacement-2": gettext_lazy("A distance from two spins ago"),
    "displacement-3": gettext_lazy("A distance from three spins ago"),
    "pair-1": gettext_lazy("The last pocket decides"),
    "pair-2": gettext_lazy("The pocket before it decides"),
    "pair-3": gettext_lazy("The third-last pocket decides"),
    "calls": gettext_lazy("More coups called void"),
    "variance": gettext_lazy("How much is missing"),
    "below": gettext_lazy("How often some is missing"),
    "luck": gettext_lazy("What it would have changed in money"),
    "late": gettext_lazy("What late wagers won or lost"),
    "errors": gettext_lazy("More errors one way"),
    "money": gettext_lazy("More money one way"),
}

MILLION = 10**6


@dataclass(frozen=True, slots=True)
class Rivals:
    """The drawing of the explanations, and the same in words."""

    chart: SafeString
    amounts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Certain:
    """The drawing of the interval of a share, and the same in words."""

    chart: SafeString
    words: str


def rivals_of(process: LedgerProcess, state: Process) -> Rivals | None:
    """Return what each explanation of a process holds; None where all its gamblers bet on the same. No query."""
    rivals = [
        Rival(str(_words(process.kind, each.name)), listing.log_wealth(each.evidence), page.times(each.evidence))
        for each in explanations_of(state)
    ]
    if not rivals:
        return None
    level = log10(process.threshold) + listing.log_wealth(process.wealth_over_start / process.e_value)
    drawn = draw_rivals(
        rivals,
        level,
        chance=_("chance"),
        at_level=_("threshold"),
        title=_("Against other explanations"),
        description=_("The evidence for each explanation alone."),
    )
    return Rivals(mark_safe(drawn), [(each.words, each.amount) for each in rivals])  # our own drawing


def _words(kind: str, name: str) -> Promise:
    if kind == "wheel":
        return OF_POCKETS[name]
    return OF_DISTANCES[name] if kind in ("wheel-displacement", "croupier-displacement") else OTHERS[name]


def interval_of(state: Process, began: Began | None) -> Certain | None:
    """Return how sure the share of what fits best is: since it ``began``, or over all draws of one that has not asked.

    None of a process that keeps no counts. No query.
    """
    watched = watched_of(state)
    counts = counts_of(state) or getattr(tally_of(state), "counts", ())
    if watched is None or not counts or not sum(counts) or (began is not None and began.share is None):
        return None
    if began is not None and began.share is not None:
        what = _("%(what)s, since %(day)s") % {"what": watched.words, "day": day(began.best_day, with_year=True)}
        return _certain(began.share, watched.chance, what)
    times = sum(counts[cell] for cell in watched.cells)
    found = interval_of_share(times, sum(counts), CERTAIN, chosen_of=watched.chosen_of)
    return _certain(found, watched.chance, watched.words)


def _certain(found: Interval, chance: Fraction, what: str) -> Certain:
    low, middle, high, by_chance = (_in_millionths(each) for each in (found.low, found.share, found.high, chance))
    texts = {"low": share(low, 1), "high": share(high, 1), "chance": share(by_chance, 1), "what": what}
    words = _("%(what)s: its true share lies between %(low)s and %(high)s; chance gives %(chance)s.") % texts
    drawn = draw_share_interval(
        low,
        high,
        middle,
        chance=by_chance,
        value_in_words=share(middle, 1),
        at_chance=_("chance: %(share)s") % {"share": share(by_chance, 1)},
        tick=lambda amount: share(amount, 1),
        title=_("How certain"),
        description=words,
    )
    return Certain(mark_safe(drawn), words)  # our own drawing


def _in_millionths(number: Fraction) -> int:
    return round(number * MILLION)
