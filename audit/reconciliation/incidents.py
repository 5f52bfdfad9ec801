"""The most urgent open incidents of a night: each by its cause, with what all of its findings owe."""

from __future__ import annotations

from typing import Any, TypeAlias

from audit.casework.debts import Debt, debt_of
from audit.casework.priority import QUESTIONS
from audit.casework.urgency import facts_of, priority_of
from audit.models import Finding
from audit.models.cases import State
from audit.presentation import reference
from audit.reconciliation.night import Night
from settlement.differences import PAID
from settlement.finding import FindingRef

LARGEST = 4
"""Open incidents of one rule that a report names: as many as the page of a director has room for."""

PLAYED = ("nights", "staked", "won", "lost")
"""The facts of a question that its title says."""

Incidents: TypeAlias = dict[tuple[Any, ...], list[Finding]]


def largest_open(night: Night, incidents: Incidents, kind: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the open incidents of a severity and rule by priority, those that owe most first within one.

    ``by`` is who owes ("house" or "player"), "" where nobody does. A consequence is not among them: its cause is, with
    what the incident owes. The findings of the night are those of ``with_priority``.
    """
    of_kind = (each for each in night.findings if (each.severity, each.rule) == kind and _is_head(each))
    still_open = [(each, debt_of(incidents[_incident(each)])) for each in of_kind if not is_closed(each)]
    in_order = sorted(still_open, key=_by_urgency)
    return [
        {
            "table": each.table.code if each.table is not None else "",
            "player": next((claim.player for claim in debt.claims if claim.by == debt.by), each.player),
            "by": debt.by,
            "amount": debt.larger,
            "is_overpaid": debt.by == "player" and PAID.issuperset(claim.rule for claim in debt.claims),
            "reference": reference(each),
            **({"priority": level} if (level := priority_of(each)) is not None else {}),
            **_question(each),
            "second": each.case is not None and each.case.state == State.SECOND,
        }
        for each, debt in in_order[:LARGEST]
    ]


def open_cases(night: Night, kind: tuple[str, str]) -> int:
    """Return how many open cases the findings of a severity and rule have."""
    of_kind = (each for each in night.findings if (each.severity, each.rule) == kind)
    return len({each.case_id for each in of_kind if each.case_id is not None and not is_closed(each)})


def by_incident(night: Night) -> Incidents:
    """Return the findings of a night by incident."""
    incidents: Incidents = {}
    for each in night.findings:
        incidents.setdefault(_incident(each), []).append(each)
    return incidents


def _incident(finding: Finding) -> tuple[Any, ...]:
    """Return what the findings of an incident share: their case, or in a sandbox, which has none, their cause."""
    if finding.case_id is not None:
        return (finding.case_id,)
    cause = FindingRef(**finding.causes[0]) if finding.causes else finding.ref
    return (finding.stream_id, cause.seq, cause.rule, cause.wager)


def _is_head(finding: Finding) -> bool:
    """Whether an incident is named by this finding: the one that its case is of, or in a sandbox its cause."""
    return finding.heads_case if finding.case_id is not None else not finding.causes


def _question(finding: Finding) -> dict[str, Any]:
    """Return what the title of a question about a person says; of any other incident nothing."""
    if finding.rule not in QUESTIONS:
        return {}
    facts = facts_of(finding)
    return {"croupier": finding.croupier, "played": {name: facts[name] for name in PLAYED if name in facts}}


def _by_urgency(incident: tuple[Finding, Debt]) -> tuple[Any, ...]:
    """Return what puts the most urgent and then the largest first, else an order that the log alone decides."""
    finding, debt = incident
    return (
        -(priority_of(finding) or 0),
        -debt.larger,
        finding.occurred_at,
        finding.stream_id,
        finding.seq,
        finding.wager,
    )


def is_closed(finding: Finding) -> bool:
    """Whether two officers have closed the case of a finding."""
    return finding.case is not None and finding.case.state == State.CLOSED
