"""The instants of findings: when the events that they are at occurred, credibly, for many at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from audit.event_store import read
from audit.models import Finding
from settlement.codec import decode_one_stored


def dated(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return ``findings``, each with the instant of its event; one whose event is not stored keeps what it has."""
    events = read.claimed_and_received({(finding.stream_id, finding.seq) for finding in findings}) if findings else []
    instants = {
        (stream_id, seq): read.credible(decode_one_stored(envelope).occurred_at, received)
        for stream_id, seq, envelope, received in events
    }
    for finding in findings:
        occurred_at = instants.get((finding.stream_id, finding.seq), finding.occurred_at)
        finding.occurred_at = occurred_at.astimezone(UTC)
    return findings
