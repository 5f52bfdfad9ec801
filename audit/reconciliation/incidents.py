"""The open incidents of a night that owe most: each by its cause, with what all of its findings owe."""

from __future__ import annotations

from typing import Any, TypeAlias

from audit.casework.debts import Debt, debt_of
from audit.models import Finding
from audit.models.cases import State
from audit.presentation import reference
from audit.reconciliation.night import Night
from settlement.differences import PAID
from settlement.finding import FindingRef

LARGEST = 4
"""Open incidents of one rule that a report names: as many as the page of a director has room for."""

Incidents: TypeAlias = dict[tuple[Any, ...], list[Finding]]


def largest_open(night: Night, incidents: Incidents, kind: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the open incidents of a severity and rule that owe most, the largest first.

    ``by`` is who owes ("house" or "player"), "" where nobody does. A consequence is not among them: its cause is, with
    what the incident owes.
    """
    of_kind = (each for each in night.findings if (each.severity, each.rule) == kind and _is_head(each))
    still_open = [(each, debt_of(incidents[_incident(each)])) for each in of_kind if not is_closed(each)]
    in_order = sorted(still_open, key=_by_size)
    return [
        {
            "table": each.table.code if each.table is not None else "",
            "player": next((claim.player for claim in debt.claims if claim.by == debt.by), each.player),
            "by": debt.by,
            "amount": debt.larger,
            "is_overpaid": debt.by == "player" and PAID.issuperset(claim.rule for claim in debt.claims),
            "reference": reference(each),
            "second": each.case is not None and each.case.state == State.SECOND,
        }
        for each, debt in in_order[:LARGEST]
    ]


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


def _by_size(incident: tuple[Finding, Debt]) -> tuple[Any, ...]:
    """Return what puts the largest first, and those of one size in an order that the log alone decides."""
    finding, debt = incident
    return -debt.larger, finding.occurred_at, finding.stream_id, finding.seq, finding.wager


def is_closed(finding: Finding) -> bool:
    """Whether two officers have closed the case of a finding."""
    return finding.case is not None and finding.case.state == State.CLOSED
