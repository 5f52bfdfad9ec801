"""Which corrections wait for officers: the findings that say so, less those that were refused."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from audit.models import CORRECTION_RULES, CorrectionDecision, Finding, Verdict


def of_corrections(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Return the findings that something was corrected, annulled or declared void afterwards."""
    return findings.filter(rule__in=CORRECTION_RULES)


def waiting(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Return the standing findings of corrections that wait for a decision."""
    return of_corrections(findings.filter(status="standing", facts__waits="waits")).exclude(_refused())


def refused(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Return the standing findings of corrections that were refused."""
    return of_corrections(findings.filter(status="standing", facts__waits="waits")).filter(_refused())


def approved(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Return the standing findings of corrections that two officers approved, and that took effect."""
    decided = CorrectionDecision.objects.filter(
        stream=OuterRef("stream_id"), seq=OuterRef("seq"), verdict=Verdict.COUNTERSIGNED, number=2
    )
    standing = of_corrections(findings.filter(status="standing"))
    return standing.exclude(facts__waits="waits").filter(Exists(decided))


def waiting_in(stream_id: int, last_seq: int) -> list[int]:
    """Return the corrections of a stream through an event that wait, by seq."""
    rows = waiting(Finding.objects.filter(stream=stream_id, seq__lte=last_seq))
    return sorted(set(rows.values_list("seq", flat=True)))


def _refused() -> Exists:
    decisions = CorrectionDecision.objects.filter(stream=OuterRef("stream_id"), seq=OuterRef("seq"))
    return Exists(decisions.filter(verdict=Verdict.REFUSED))
