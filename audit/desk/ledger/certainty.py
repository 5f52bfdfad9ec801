"""How certain a process is, in words: how often it is wrong where all is in order, and what the casino allows of that.

    level 1/1,120, evidence 1,340     at most 1 orderly wheel in 1,120 ever asks in a year, however often one looks
    budget 1 false question a year    1 part in 1,120 of it is this process's

It is never the chance that all is in order: for that one would have to know how many wheels are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.desk.ledger import page
from audit.models import LedgerProcess, LedgerQuestion
from audit.presentation import count


@dataclass(frozen=True, slots=True)
class Certainty:
    """What is said of the chance of being wrong: at the level, by the evidence, and of the budget ("" if not known)."""

    one_in: str
    at_evidence: str
    of_budget: str


def certainty_of(process: LedgerProcess, asked: LedgerQuestion | None, budget: str | None) -> Certainty:
    """Return how certain a process is. ``asked`` is its last question, None if it has none; ``budget`` is of the
    false questions in the year of its level, "n/d", None if that is not known."""
    alpha = Fraction(asked.alpha if asked else process.alpha)
    return Certainty(count(int(1 / alpha)), _at_evidence(process, asked), _of_budget(alpha, budget))


def _at_evidence(process: LedgerProcess, asked: LedgerQuestion | None) -> str:
    """Return what the evidence since the year began says, by Ville's inequality; what it was when it was asked."""
    if asked is not None:
        evidence = page.times(Fraction(int(asked.evidence)))
        return _("Its evidence was %(evidence)s when it asked: where all is in order, at most 1 in %(evidence)s gets "
                 "as far in a year.") % {"evidence": evidence}  # fmt: skip
    if process.e_value <= 1:
        return _("It has no more evidence than it began the year with: there is nothing to be certain of.")
    return _("Its evidence is %(evidence)s now, below its level: nothing is claimed. Where all is in order, at most 1 "
             "in %(evidence)s gets as far in a year.") % {"evidence": page.times(process.e_value)}  # fmt: skip


def _of_budget(alpha: Fraction, budget: str | None) -> str:
    if budget is None or not Fraction(budget):
        return ""
    allowed = Fraction(budget)
    is_whole = allowed.denominator == 1
    text = ngettext(
        "Of all its processes together, the casino allows %(budget)s false question in a year on average; one part in "
        "%(parts)s of that is for this one.",
        "Of all its processes together, the casino allows %(budget)s false questions in a year on average; one part in "
        "%(parts)s of that is for this one.",
        int(allowed) if is_whole else 2,
    )
    budgeted = count(int(allowed)) if is_whole else number_format(float(allowed), 2)
    return text % {"budget": budgeted, "parts": count(int(allowed / alpha))}
