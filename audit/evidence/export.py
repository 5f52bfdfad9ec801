"""Exporting a bundle, which the audit trail records: who has which finding's evidence, and its digest."""

from __future__ import annotations

from audit.event_store import audit_trail
from audit.evidence.gather import Bundle, evidence_of
from audit.models import Finding

EXPORTED = "evidence.exported"
"""The type of the audit-trail entry."""


def export(finding: Finding, *, actor: str, reason: str = "") -> Bundle:
    """Return the bundle of a finding and record the export. Raise as ``evidence_of``."""
    bundle = evidence_of(finding)
    record(finding, bundle, actor=actor, reason=reason)
    return bundle


def record(finding: Finding, bundle: Bundle, *, actor: str, reason: str = "") -> None:
    """Record in the audit trail that ``actor`` received the bundle of a finding; ``reason`` may be ""."""
    data = {
        "id": finding.pk,
        "rule": finding.rule,
        "seq": finding.seq,
        "sha256": bundle.digest,
        "stream": finding.stream.name,
    }
    audit_trail.record(actor, EXPORTED, casino_id=finding.casino_id, data=data, reason=reason)
