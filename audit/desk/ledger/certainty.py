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

LEAST = 2
"""Evidence below this says nothing: every second process in order may have it."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """What is said of the chance of being wrong: at the level, by the evidence, and of the budget ("" if not known)."""

    one_in: str
    at_evidence: str
    of_budget: str


def certainty_of(process: LedgerProcess, question: LedgerQuestion | None, budget: str | None) -> Certainty:
    """Return how certain a process is. ``question`` is its last one, None if it has none; ``budget`` counts the false
    questions in the year of its level, "n/d", None if that is not known."""
    alpha = Fraction(question.alpha if question else process.alpha)
    return Certainty(count(int(1 / alpha)), _at_evidence(process, question), _of_budget(alpha, budget))


def _at_evidence(process: LedgerProcess, question: LedgerQuestion | None) -> str:
    """Return what the evidence since the year began says, by Ville's inequality; what it was when it was asked."""
    if question is not None:
        if question.evidence > page.MILLION:
            return _("The evidence was more than a million to one when it passed the threshold.")
        evidence = page.times(Fraction(int(question.evidence)))
        return _(
            "The evidence was %(evidence)s when it passed the threshold: if everything is in order, at most "
            "1 in %(evidence)s gets this far in a year."
        ) % {"evidence": evidence}
    evidence = page.times(process.e_value)
    if process.e_value < LEAST:
        return _("The evidence is %(evidence)s, below the threshold: nothing is claimed.") % {"evidence": evidence}
    return _(
        "The evidence is %(evidence)s, below the threshold: nothing is claimed. If everything is in "
        "order, at most 1 in %(evidence)s gets this far in a year."
    ) % {"evidence": evidence}


def _of_budget(alpha: Fraction, budget: str | None) -> str:
    if budget is None or not Fraction(budget):
        return ""
    allowed = Fraction(budget)
    is_whole = allowed.denominator == 1
    text = ngettext(
        "For all its tests together, the casino allows %(budget)s false question a year on average; one "
        "part in %(parts)s of that is for this one.",
        "For all its tests together, the casino allows %(budget)s false questions a year on average; "
        "one part in %(parts)s of that is for this one.",
        int(allowed) if is_whole else 2,
    )
    budgeted = count(int(allowed)) if is_whole else number_format(round(float(allowed), 2), 2)
    return text % {"budget": budgeted, "parts": count(int(allowed / alpha))}
