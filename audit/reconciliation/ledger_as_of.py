"""What the evidence ledger of a casino had to say when the last session of a night was fed to it.

The ledger goes on: the next sessions move the same processes. So a report has it as it was after the batch of its own
last session, in the order of the tree, which is the same whenever the report is computed. The payouts and counts of a
night are fed after its first report; the questions that they raise are in its next version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from django.db.models import Q

from audit.models import (
    BatchKind,
    Casino,
    Finding,
    LedgerBatch,
    LedgerLevel,
    LedgerPoint,
    LedgerProcess,
    LedgerQuestion,
    LedgerSetAside,
    LedgerYear,
)
from audit.models.ledger import BY_PERSON
from settlement.eprocess.budget import near_threshold


@dataclass(slots=True)
class Evidence:
    """A process as it was: its wealth over that when the year began, rounded down, and its level, "n/d".

    ``day`` is the gaming day after which it asked, None if it has not asked in the year; ``stream`` and ``seq`` are the
    event at which its question is.
    """

    kind: str
    subject: str
    wealth: int
    alpha: str
    day: date | None = None
    stream: str = ""
    seq: int = 0


@dataclass(slots=True)
class LedgerAsOf:
    """The ledger after the batch ``number``, that of the last session of a night; 0 if none of them was fed.

    ``fed`` of the night's sessions were fed, and ``left_out`` because they could not be read. ``budget`` and ``spent``
    are of false questions in ``year``; None in a year whose levels were not kept yet. ``crossed`` are the questions of
    this night, ``earlier`` the others of the year until then.
    """

    fed: int = 0
    left_out: int = 0
    number: int = 0
    year: int = 0
    budget: Fraction | None = None
    spent: Fraction | None = None
    crossed: list[Evidence] = field(default_factory=list)
    earlier: list[Evidence] = field(default_factory=list)
    near_threshold: list[Evidence] = field(default_factory=list)


def ledger_as_of(casino: Casino, day: date, currency: str, stream_ids: Sequence[int]) -> LedgerAsOf:
    """Return the ledger as it was after the last of a night's sessions, in a currency."""
    of_sessions = Q(kind__in=(BatchKind.DRAWS, BatchKind.LATE), stream__in=stream_ids)
    evening = Q(kind=BatchKind.EVENING, gaming_day=day)
    of_night = LedgerBatch.objects.filter(of_sessions | evening, casino=casino)
    in_order = list(of_night.order_by("number").only("number", "year", "error", "fed_at", "kind", "edition"))
    batches = [batch for batch in in_order if batch.kind == BatchKind.DRAWS]
    set_aside = LedgerSetAside.objects.filter(casino=casino, kind=BatchKind.DRAWS, stream__in=stream_ids)
    found = LedgerAsOf(
        fed=sum(not batch.error for batch in batches),
        left_out=sum(bool(batch.error) for batch in batches) + set_aside.count(),
    )
    if not batches:
        return found
    last = in_order[-1]  # of a night of two currencies the evening is the same
    found.number, found.year = last.number, last.year
    is_of_night = Q(batch__gaming_day=day, batch__currency=currency) | Q(
        batch__gaming_day=day, batch__kind__in=BY_PERSON
    )
    questions = LedgerQuestion.objects.filter(process__casino=casino).select_related("process", "batch")
    until_then = questions.filter(year=last.year, batch__number__lte=last.number)
    by_batch = ("batch__number", "process__name")
    found.crossed = _questions(questions.filter(is_of_night).order_by(*by_batch))
    found.earlier = _questions(until_then.exclude(is_of_night).order_by(*by_batch))
    year = LedgerYear.objects.filter(casino=casino, year=last.year).order_by("edition").last()
    if year is not None:
        of_year = _of_year(casino, last)
        have_raised = set(until_then.values_list("process_id", flat=True))
        found.budget = Fraction(year.budget)
        found.spent = sum((Fraction(level.alpha) for level, _wealth in of_year.values()), Fraction(0))
        going_on = {str(pk): each for pk, each in of_year.items() if not _has_ended(each[0].process, last)}
        listed = near_threshold({key: wealth for key, (_level, wealth) in going_on.items()})
        found.near_threshold = [
            Evidence(level.process.kind, level.process.subject, int(wealth), level.alpha)
            for level, wealth in (going_on[key] for key in listed)
            if level.process_id not in have_raised
        ]
    return found


def _questions(questions: Iterable[LedgerQuestion]) -> list[Evidence]:
    listed = list(questions)
    findings = Finding.objects.select_related("stream").in_bulk([each.finding_id for each in listed])
    return [
        Evidence(
            each.process.kind,
            each.process.subject,
            int(each.evidence),
            each.alpha,
            each.batch.gaming_day,
            findings[each.finding_id].stream.name,
            findings[each.finding_id].seq,
        )
        for each in listed
    ]


def _of_year(casino: Casino, last: LedgerBatch) -> dict[int, tuple[LedgerLevel, Fraction]]:
    """Return the levels of the year of ``last``, of what was fed in it until then, each with its e-value then.

    What was not fed since is as its row has it; of the others the point of their last batch until then.
    """
    levels = LedgerLevel.objects.filter(process__casino=casino, year=last.year)
    levels = levels.filter(process__edition=last.edition)
    of_year = {level.process_id: level for level in levels.select_related("process").defer("process__state")}
    points = LedgerPoint.objects.filter(process__in=levels.values("process"))
    later = LedgerBatch.objects.filter(casino=casino, number__gt=last.number)
    moved = set(points.filter(batch__in=later).values_list("process_id", flat=True)) if later.exists() else set()
    before = points.filter(process__in=moved, batch__number__lte=last.number, batch__year=last.year)
    newest = before.order_by("process_id", "-batch__number").distinct("process_id")
    wealth = dict(newest.values_list("process_id", "wealth"))
    as_of = {}
    for pk, level in of_year.items():
        then = wealth.get(pk) if pk in moved else level.process.wealth
        if then is not None:
            as_of[pk] = (level, Fraction(int(then), int(level.opening)))
    return as_of


def _has_ended(process: LedgerProcess, last: LedgerBatch) -> bool:
    """Whether a process had ended, its wheel or dice having been taken apart, before ``last`` was fed."""
    return process.ended_at is not None and process.ended_at <= last.fed_at
