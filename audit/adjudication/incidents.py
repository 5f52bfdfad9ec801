"""Incidents in the record: which stored findings are consequences of which, as ``settlement.incidents`` has it."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from audit.models import Finding
from settlement.finding import FindingRef


def look_up_consequences(findings: Collection[Finding]) -> None:
    """Set ``consequences`` of each of ``findings``, in memory: those that stand, in order. One query."""
    sought = {(finding.stream_id, finding.ref): finding for finding in findings}
    if not sought:
        return
    is_caused = Q()
    for stream_id, ref in sought:
        is_caused |= Q(stream_id=stream_id, causes__contains=[ref.as_dict()])
    rows = Finding.objects.standing().filter(is_caused).exclude(causes=[])
    found: dict[tuple[int, FindingRef], list[FindingRef]] = {}
    for row in rows:
        for cause in row.causes:
            found.setdefault((row.stream_id, FindingRef(**cause)), []).append(row.ref)
    for key, finding in sought.items():
        finding.consequences = tuple(sorted(found.get(key, ()), key=lambda ref: ref.order))


def incident_of(finding: Finding) -> list[Finding]:
    """Return the other standing findings of the case of ``finding``, in order: its cause, and what follows from it."""
    if finding.case_id is None:
        return []
    others = Finding.objects.standing().filter(case_id=finding.case_id).exclude(pk=finding.pk)
    return list(others.order_by("seq", "rule", "wager", "pk"))
