"""What the ledger of a casino says now: its processes, the watch list, the budget and what is spent of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import log10

from django.db.models import QuerySet

from audit.models import Casino, LedgerCursor, LedgerProcess, LedgerQuestion
from settlement.eprocess.budget import watch_list
from settlement.eprocess.kinds import KINDS, Kind

HEAVY = ("state",)
"""What a list of processes does not need."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many false questions a casino allows in a year, and the sum of the levels that were given in it."""

    year: int
    allowed: Fraction
    spent: Fraction


def budget_of(casino: Casino) -> Budget | None:
    """Return the budget of the year that the ledger is in; None before it was fed for the first time."""
    cursor = LedgerCursor.objects.filter(casino=casino, year__gt=0).first()
    if cursor is None:
        return None
    alphas = LedgerProcess.objects.filter(casino=casino, year=cursor.year).values_list("alpha", flat=True)
    return Budget(cursor.year, Fraction(cursor.budget), sum(map(Fraction, alphas), Fraction(0)))


def processes_of(casino: Casino) -> QuerySet[LedgerProcess]:
    """Return the processes of a casino that go on, in the order of their kinds and subjects."""
    return LedgerProcess.objects.filter(casino=casino, ended_at=None).defer(*HEAVY)


def watched(casino: Casino) -> list[LedgerProcess]:
    """Return the processes of the year that e-BH selects by their wealth now and that have not asked in it."""
    budget = budget_of(casino)
    if budget is None:
        return []
    of_year = {str(row.pk): row for row in processes_of(casino).filter(year=budget.year)}
    raised = set(
        LedgerQuestion.objects.filter(process__in=of_year.values(), year=budget.year).values_list(
            "process_id", flat=True
        )
    )
    listed = watch_list({key: row.e_value for key, row in of_year.items()})
    return [of_year[key] for key in listed if of_year[key].pk not in raised]


def kind_of(process: LedgerProcess) -> Kind:
    return KINDS[process.kind]


def times(wealth: Fraction) -> str:
    """Return how many times a stake has become, as a list shows it: two digits, or a power of ten far from 1."""
    if wealth <= 0:
        return "0"
    exponent = _log10(wealth)
    if -3 <= exponent < 6:
        value = Decimal(wealth.numerator) / Decimal(wealth.denominator)
        return f"{value:,.0f}" if exponent >= 3 else f"{value:.3g}"
    return f"10^{exponent:.1f}"


def _log10(wealth: Fraction) -> float:
    return log10(wealth.numerator) - log10(wealth.denominator)


def log_wealth(wealth: Fraction) -> float:
    """Return the decimal logarithm of a wealth, for a curve; −40 at least."""
    return max(-40.0, _log10(wealth)) if wealth > 0 else -40.0
