"""Handing a bundle out, which is an act of whoever asks for it."""

from __future__ import annotations

from audit.event_store import audit_trail
from audit.evidence.gather import Bundle, evidence_of
from audit.models import Finding

ACT = "evidence.exported"


def export(finding: Finding, *, actor: str, reason: str = "") -> Bundle:
    """Return the bundle of a finding, and record who has it, and its digest. Raise as ``evidence_of``."""
    bundle = evidence_of(finding)
    record(finding, bundle, actor=actor, reason=reason)
    return bundle


def record(finding: Finding, bundle: Bundle, *, actor: str, reason: str = "") -> None:
    """Record that ``actor`` was handed the bundle of a finding."""
    data = {
        "id": finding.pk,
        "rule": finding.rule,
        "seq": finding.seq,
        "sha256": bundle.digest,
        "stream": finding.stream.name,
    }
    audit_trail.record(actor, ACT, casino_id=finding.casino_id, data=data, reason=reason)
