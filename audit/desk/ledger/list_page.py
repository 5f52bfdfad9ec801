"""What the page of questions shows of a casino above its list: what was raised, what is watched, what is allowed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.utils.formats import number_format
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from audit.charts.evidence import draw_evidence_line
from audit.desk.ledger import page
from audit.ledger import listing
from audit.models import Casino, Finding, LedgerPoint, LedgerProcess, LedgerQuestion
from audit.presentation import count, finding_title, language, reference
from settlement.catalogue import RULES
from settlement.eprocess.kinds import KINDS

SHOWN = 20
"""Processes shown in full, of those that raised a question and of those that are watched; the list below has all."""


def casino_context(casino: Casino) -> dict[str, Any] | None:
    """Return what the page shows of a casino; None before its ledger was fed. Its queries do not grow with it."""
    budget = listing.budget_of(casino)
    if budget is None:
        return None
    of_year = LedgerQuestion.objects.filter(process__casino=casino, year=budget.year)
    questions = {each.process_id: each for each in of_year.select_related("process", "batch").defer("process__state")}
    raised = sorted((each.process for each in questions.values()), key=lambda process: -process.e_value)
    watched = listing.watched(casino)
    processes = listing.processes_of(casino).filter(year=budget.year).count()
    going_on = sum(process.ended_at is None for process in raised)
    rows = _rows(casino, [*raised[:SHOWN], *watched[:SHOWN]], questions)
    return {
        "casino": casino,
        "year": budget.year,
        "allowed": number_format(float(budget.allowed), 1),
        "spent": number_format(float(budget.spent), 2),
        "raised": [row for row in rows if row["question"]],
        "raised_count": len(raised),
        "watched": [row for row in rows if not row["question"]],
        "watched_count": len(watched),
        "quiet": count(processes - going_on - len(watched)),
        "processes": count(processes),
    }


def _rows(
    casino: Casino, processes: Collection[LedgerProcess], questions: dict[int, LedgerQuestion]
) -> list[dict[str, Any]]:
    """Return processes as the page shows them in full, each with the line of its evidence."""
    logs: dict[int, list[float]] = defaultdict(list)
    points = LedgerPoint.objects.filter(process__in=processes).order_by("process_id", "batch__number")
    for point in points.only("process_id", "wealth"):
        logs[point.process_id].append(listing.log_wealth(point.wealth_over_start))
    raised_by = [questions[each.pk].finding_id for each in processes if each.pk in questions]
    findings = Finding.objects.in_bulk(raised_by)
    rows = page.rows_of(casino, processes)
    for row in rows:
        process: LedgerProcess = row["process"]
        question = questions.get(process.pk)
        rule = RULES[KINDS[process.kind].question]
        level = listing.log_wealth(process.threshold * process.wealth_over_start / process.e_value)
        spoken = _("Evidence %(evidence)s, level %(level)s") % {"evidence": row["of_the_year"], "level": row["asks_at"]}
        row["question"] = question
        row["finding"] = findings[question.finding_id] if question else None
        row["reference"] = reference(findings[question.finding_id]) if question else ""
        row["asks"] = finding_title(rule.name)
        row["explanation"] = rule.explanation.in_language(language())
        row["line"] = mark_safe(
            draw_evidence_line(
                logs[process.pk], level, is_raised=question is not None, title=str(row["title"]), description=spoken
            )
        )
    return rows
