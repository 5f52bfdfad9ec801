"""What the ledger of a casino says now: its processes, those near the threshold, the budget and what is spent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor, log10
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from audit.models import Casino, LedgerCursor, LedgerLevel, LedgerProcess, LedgerQuestion
from audit.presentation import power_of_ten
from settlement.eprocess import budget
from settlement.eprocess.kinds import KINDS, Kind
from settlement.eprocess.ledger import EDITION

PERSONS = "persons"
"""The half of the kinds that are about persons."""

HAS_QUESTION = Exists(LedgerQuestion.objects.filter(process=OuterRef("pk")))
"""That a process has raised a question."""

HEAVY = ("state",)
"""What a list of processes does not need."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many false questions a casino allows in a year, and the sum of the levels that were given in it."""

    year: int
    allowed: Fraction
    spent: Fraction


@dataclass(frozen=True, slots=True)
class Given:
    """The processes of one kind that a year has, and the sum of their levels, rounded: a list shows two digits."""

    kind: str
    processes: int
    given: float


class Evidence(NamedTuple):
    """What a picture and the list of those near the threshold need of each process.

    Objects of a thousand processes are most of the work of a page.

    ``wealth`` is now, and ``opening`` when the year began, in ``settlement.eprocess.process.UNIT``.
    """

    pk: int
    kind: str
    alpha: str
    wealth: int
    opening: int


def budget_of(casino: Casino) -> Budget | None:
    """Return the budget of the year that the ledger is in; None before it was fed for the first time."""
    cursor = cursor_of(casino)
    if cursor is None:
        return None
    of_year = LedgerProcess.objects.filter(casino=casino, year=cursor.year, edition=EDITION)
    alphas = of_year.values_list("alpha", flat=True)
    return Budget(cursor.year, Fraction(cursor.budget), sum(map(Fraction, alphas), Fraction(0)))


def cursor_of(casino: Casino) -> LedgerCursor | None:
    """Return how far the ledger of a casino is; None before it was fed for the first time."""
    return LedgerCursor.objects.filter(casino=casino, year__gt=0).first()


def given_in(casino: Casino, year: int) -> list[Given]:
    """Return what was given of a year's budget to each kind of process, in the order of the kinds: one query."""
    rows = LedgerProcess.objects.filter(casino=casino, year=year, edition=EDITION).values_list("kind", "alpha")
    count, given = Counter[str](), defaultdict[str, float](float)
    for kind, alpha in rows:
        numerator, _, denominator = alpha.partition("/")
        count[kind] += 1
        given[kind] += int(numerator) / int(denominator or 1)
    return [Given(kind, count[kind], given[kind]) for kind in KINDS if count[kind]]


def counted_before(casino: Casino, year: int) -> frozenset[str]:
    """Return the kinds of which a year before ``year`` had subjects: one query."""
    levels = LedgerLevel.objects.filter(process__casino=casino, process__edition=EDITION, year__lt=year)
    return frozenset(levels.values_list("process__kind", flat=True).distinct())


def processes_of(casino: Casino) -> QuerySet[LedgerProcess]:
    """Return the processes of a casino that go on, in the order of their kinds and subjects."""
    return LedgerProcess.objects.going_on().filter(casino=casino).defer(*HEAVY)


def with_question(processes: QuerySet[LedgerProcess]) -> QuerySet[LedgerProcess]:
    """Return those that have raised a question. Of a person whom no question is about, no page shows a number."""
    return processes.filter(HAS_QUESTION)


def has_number(process: LedgerProcess, *, has_question: bool) -> bool:
    """Whether a list shows the evidence of a process: of tables and dice always, of persons once it is a question."""
    return has_question or KINDS[process.kind].half != PERSONS


def evidence_of(casino: Casino, year: int) -> list[Evidence]:
    """Return the evidence of each process of a casino's year that goes on: one query."""
    rows = LedgerProcess.objects.going_on().filter(casino=casino, year=year)
    found = rows.order_by("kind", "pk").values_list("pk", "kind", "alpha", "wealth", "opening")
    return [Evidence(pk, kind, alpha, int(wealth), int(opening)) for pk, kind, alpha, wealth, opening in found]


def in_full(order: Sequence[int]) -> list[LedgerProcess]:
    """Return the processes with these primary keys, in the same order: one query, none without any."""
    rows = LedgerProcess.objects.defer(*HEAVY).in_bulk(order) if order else {}
    return [rows[pk] for pk in order]


def near_threshold(casino: Casino) -> list[LedgerProcess]:
    """Return the processes of the year that e-BH selects by their wealth now and that have raised no question in it."""
    cursor = cursor_of(casino)
    if cursor is None:
        return []
    raised = LedgerQuestion.objects.filter(process__casino=casino, year=cursor.year).values_list("process", flat=True)
    return in_full(near_threshold_among(evidence_of(casino, cursor.year), frozenset(raised)))


def questions_of(casino: Casino, year: int) -> dict[int, LedgerQuestion]:
    """Return the questions of a year, each with its process, by the primary key of that."""
    of_year = LedgerQuestion.objects.filter(process__casino=casino, year=year)
    return {
        each.process_id: each
        for each in of_year.select_related("process", "batch").defer("process__state", "batch__content")
    }


def near_threshold_among(processes: Iterable[Evidence], raised: Container[int]) -> list[int]:
    """Return the primary keys of what e-BH selects among all ``processes`` that go on, without those of ``raised``."""
    # Nothing that has lost is selected, and most have: a fraction of large numbers costs more than to compare them.
    e_values = {
        str(each.pk): Fraction(each.wealth, each.opening) if each.wealth >= each.opening else LOST for each in processes
    }
    return [int(key) for key in budget.near_threshold(e_values) if int(key) not in raised]


LOST = Fraction(0)
"""Stands for the e-value of a process that has lost: any below one."""


def kind_of(process: LedgerProcess) -> Kind:
    return KINDS[process.kind]


def times(wealth: Fraction) -> str:
    """Return how many times a stake has become, as a list shows it: three digits; far from 1, ``2 × 10¹⁵``."""
    if wealth <= 0:
        return "0"
    exponent = _log10(wealth)
    if -3 <= exponent < 6:
        value = Decimal(wealth.numerator) / Decimal(wealth.denominator)
        return f"{value:,.0f}" if exponent >= 3 else f"{value:.3g}"
    whole = floor(exponent)
    first = round(10 ** (exponent - whole))
    if first == 10:
        first, whole = 1, whole + 1
    return f"{first}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{power_of_ten(whole)}"


def _log10(wealth: Fraction) -> float:
    return log10(wealth.numerator) - log10(wealth.denominator)


def log_e_value(process: Evidence | LedgerProcess) -> float:
    """Return the decimal logarithm of a process's e-value, for a picture of all of them; −40 at least."""
    wealth = int(process.wealth)
    return max(-40.0, log10(wealth) - log10(int(process.opening))) if wealth > 0 else -40.0


@lru_cache(maxsize=10_000)
def log_threshold(alpha: str) -> float:
    """Return the decimal logarithm of the e-value at which a process of this level asks."""
    return -_log10(Fraction(alpha))


def log_wealth(wealth: Fraction) -> float:
    """Return the decimal logarithm of a wealth, for a curve; −40 at least."""
    return max(-40.0, _log10(wealth)) if wealth > 0 else -40.0
