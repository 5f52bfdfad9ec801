"""What the page of a process shows: its question, how its evidence grew, what moved it, what else is about the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import log10
from typing import Any

import msgspec
from django.db.models import OuterRef, Q, Subquery
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.charts.evidence import Level, Session, draw_evidence
from audit.charts.share import draw_share
from audit.desk.ledger import page
from audit.desk.ledger.beginning import Began, began_of
from audit.desk.ledger.certainty import certainty_of
from audit.desk.ledger.coups import Coup, coups_of
from audit.desk.ledger.dice import counted_of
from audit.desk.ledger.fit import fit_of
from audit.desk.ledger.rivals import interval_of, rivals_of
from audit.desk.ledger.subjects import Names, links_of, persons_in, subjects_of
from audit.ledger import listing
from audit.ledger.corrected import would_be
from audit.ledger.equipment import equipment_of
from audit.models import Casino, Finding, LedgerLevel, LedgerPoint, LedgerProcess, LedgerQuestion, LedgerYear
from audit.persons.directory import Directory
from audit.presentation import count, day, finding_title, language, power_of_ten, reference
from settlement.catalogue import RULES
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Process

MOVES_SHOWN = 5
OTHERS_SHOWN = 8


def process_context(process: LedgerProcess, names: Names) -> dict[str, Any]:
    """Return the context of the page of a process. Its queries do not grow with its sessions.

    ``names`` looks up the persons whom it and the processes beside it are about.
    """
    points = _points_of(process)
    questions = list(
        LedgerQuestion.objects.filter(process=process).select_related("batch").defer("batch__content").order_by("year")
    )
    findings = Finding.objects.select_related("case").in_bulk([question.finding_id for question in questions])
    rule = RULES[KINDS[process.kind].question]
    ids = [link.text for link in links_of(process)]
    others = _others(process, ids)
    directory = names(persons_in([process, *others]))
    corrected = would_be(process)
    factors = _factors(points)
    state = _state_of(process)
    largest = sorted(range(len(points)), key=lambda index: -_distance(factors[index]))[:MOVES_SHOWN]
    most = _most(points, factors)
    last = questions[-1] if questions else None
    levels = _levels(process)
    of_year = last.year if last else process.year
    began = began_of(process, state, points, last)
    return {
        **page.row_of(process),
        "subject": subjects_of(process.casino, [process], directory)[process.pk],
        "null": page.null_of(process),
        "asks": finding_title(rule.name),
        "explanation": rule.explanation.in_language(language()),
        "last": last,
        "has_number": listing.has_number(process, has_question=last is not None),
        "finding": findings[last.finding_id] if last else None,
        "reference": reference(findings[last.finding_id]) if last else "",
        "one_in": one_in(last.alpha if last else process.alpha),
        "is_near_threshold": last is None
        and process.pk in {each.pk for each in listing.near_threshold(process.casino)},
        "highest": page.odds(process.highest_over_start),
        "observations": count(process.draws),
        "certain": certainty_of(process, last, next((each.budget for each in levels if each.year == of_year), None)),
        "chart": _chart(process, points, factors, set(largest), {question.batch_id for question in questions}, levels),
        "moves": [{"point": points[index], "factor": factor_text(factors[index])} for index in largest],
        "others": _rows(process.casino, others, directory),
        "corrected": page.odds(Fraction(corrected.evidence, UNIT)) if corrected is not None else None,
        "questions": [
            {
                "question": question,
                "finding": findings[question.finding_id],
                "evidence": page.odds(Fraction(int(question.evidence))),
                "level": page.times(1 / Fraction(question.alpha)),
            }
            for question in questions
        ],
        "most": most,
        "began": began,
        "is_beyond": is_beyond(process, questions),
        **_from_state(process, state, began),
        "coups": coups_of(process, state, most) if last is not None else [],
        "is_equipment": equipment_of(process) is not None,
    }


def coups_to_look_at(process: LedgerProcess) -> tuple[Finding | None, list[Coup]]:
    """Return the finding that asks a process's question, and the coups that its page shows; None and none before it
    has asked."""
    question = LedgerQuestion.objects.filter(process=process).order_by("year").last()
    if question is None:
        return None, []
    points = _points_of(process)
    finding = Finding.objects.select_related("case").get(pk=question.finding_id)
    return finding, coups_of(process, _state_of(process), _most(points, _factors(points)))


def _points_of(process: LedgerProcess) -> list[LedgerPoint]:
    """Return the sessions of a process, in order."""
    return list(
        LedgerPoint.objects.filter(process=process)
        .select_related("batch__stream__table")
        .defer("batch__content")  # all that a session had for every process: much, and nothing of it is shown
        .order_by("batch__number")
    )


def _most(points: Sequence[LedgerPoint], factors: Sequence[Fraction]) -> list[LedgerPoint]:
    """Return sessions in the order of what each added, the most first."""
    return [points[index] for index in sorted(range(len(points)), key=lambda index: -factors[index])]


def _from_state(process: LedgerProcess, state: Process | None, began: Began | None) -> dict[str, Any]:
    """Return what the stored state says. Where it is none the page shows the rest, and ``verify`` names it."""
    if state is None:
        return {}
    return {
        "fit": fit_of(process, state),
        "dice": counted_of(process, state),
        "rivals": rivals_of(process, state),
        "interval": interval_of(state, began),
    }


def _state_of(process: LedgerProcess) -> Process | None:
    """Return the stored state of a process; None where it is none, or of an earlier edition."""
    if process.is_of_earlier_edition:  # its gamblers are not those of today
        return None
    try:
        return msgspec.json.decode(bytes(process.state), type=Process)
    except msgspec.DecodeError:
        return None


def is_beyond(process: LedgerProcess, questions: Iterable[LedgerQuestion]) -> bool:
    """Whether evidence is so large that an error of the record is likelier than what is asked about."""
    return process.e_value > page.MILLION or any(each.evidence > page.MILLION for each in questions)


def one_in(alpha: str) -> str:
    """Return the whole number of years in which a fair subject asks at most once at a level, rounded down."""
    return count(int(1 / Fraction(alpha)))


def share_of_way(process: LedgerProcess) -> float:
    """Return how far the evidence of a process is on the way to its level, in tenfolds: 0 at the start, 1 at it."""
    return listing.log_wealth(process.e_value) / log10(process.threshold)


def factor_text(factor: Fraction) -> str:
    """Return what a session did to the evidence: “× 4.8”, or “÷ 6.7” where it took from it."""
    if factor >= 1 or not factor:
        return f"×\N{NO-BREAK SPACE}{page.times(factor)}"
    return f"÷\N{NO-BREAK SPACE}{page.times(1 / factor)}"


def _factors(points: Sequence[LedgerPoint]) -> list[Fraction]:
    factors, before = [], Fraction(1)
    for point in points:
        after = point.wealth_over_start
        factors.append(after / before if before else Fraction(0))
        before = after
    return factors


def _distance(factor: Fraction) -> float:
    return abs(listing.log_wealth(factor))


def _chart(
    process: LedgerProcess,
    points: Sequence[LedgerPoint],
    factors: Sequence[Fraction],
    largest: set[int],
    raised: set[int],
    levels: Iterable[LedgerLevel],
) -> SafeString:
    """Draw the evidence since the process began; empty where it has seen no session."""
    if not points:
        return SafeString("")
    latest = accumulate((point.batch.gaming_day for point in points), max)
    sessions = [
        Session(
            log=listing.log_wealth(point.wealth_over_start),
            day=day(point.batch.gaming_day),
            step=factor_text(factors[index]) if index in largest else "",
            is_raised=point.batch_id in raised,
            is_late=point.batch.gaming_day < newest,
        )
        for index, (point, newest) in enumerate(zip(points, latest, strict=True))
    ]
    description = _("From 1 to %(evidence)s in %(sessions)d sessions; threshold %(level)s.") % {
        "evidence": page.times(process.wealth_over_start),
        "sessions": len(points),
        "level": page.times(process.threshold),
    }
    drawn = draw_evidence(
        sessions,
        _drawn(levels, [point.batch.year for point in points]),
        title=_("How the evidence grew"),
        description=description,
        tick=lambda power: page.times(Fraction(10) ** power) if -3 <= power < 6 else power_of_ten(power),
    )
    return mark_safe(drawn)


def _levels(process: LedgerProcess) -> list[Any]:
    """Return the levels that a process had, by year, each with the ``budget`` of the casino in its year: one query."""
    allowed = LedgerYear.objects.filter(casino=process.casino_id, year=OuterRef("year"), edition=process.edition)
    return list(
        LedgerLevel.objects.filter(process=process).annotate(budget=Subquery(allowed.values("budget"))).order_by("year")
    )


def _drawn(levels: Iterable[LedgerLevel], years: Sequence[int]) -> list[Level]:
    """Return the level of each year in which the process saw a session, from the first session of the year."""
    drawn = []
    for each in levels:
        if each.year not in years:
            continue
        threshold = 1 / Fraction(each.alpha)
        words = _("threshold of %(year)d: %(level)s") % {"year": each.year, "level": page.times(threshold)}
        log = listing.log_wealth(Fraction(int(each.opening), UNIT) * threshold)
        drawn.append(Level(years.index(each.year), log, words))
    return drawn


def _others(process: LedgerProcess, ids: Sequence[str]) -> list[LedgerProcess]:
    """Return the other processes about the same wheel, dice, table or person: what else would explain it."""
    about = Q(subject__in=[process.subject, *ids])
    for each in ids:
        about |= Q(subject__startswith=f"{each}, ") | Q(subject__endswith=f", {each}")
    rows = listing.processes_of(process.casino).filter(about, year=process.year).exclude(pk=process.pk)
    return list(rows.annotate(has_question=listing.HAS_QUESTION).order_by("-wealth", "pk")[:OTHERS_SHOWN])


def _rows(casino: Casino, processes: Iterable[LedgerProcess], directory: Directory) -> list[dict[str, Any]]:
    """Return processes as a list shows them, with how far each is on the way to its level."""
    listed = page.rows_of(casino, processes, directory)
    for row in listed:
        row["has_number"] = listing.has_number(row["process"], has_question=row["process"].has_question)
        share = max(0.0, min(1.0, share_of_way(row["process"])))
        row["bar"] = mark_safe(draw_share(round(100 * share), 100, kind="raised" if share == 1 else "amount"))
    return listed
