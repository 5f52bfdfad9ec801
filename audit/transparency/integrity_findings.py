"""Findings of the record itself: they rest on what is stored, so no replay raises or supersedes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from audit.models import Finding, LoggedStream
from settlement import ENGINE_VERSION, RULESETS
from settlement.catalogue import RULES


def integrity_finding(
    stream: LoggedStream, rule: str, seq: int, *, occurred_at: datetime, facts: Mapping[str, Any], **amounts: Any
) -> Finding:
    """Return, not stored, the finding that ``rule`` was met at ``seq``; ``amounts``: what was expected, recorded."""
    known = RULES[rule]
    return Finding(
        stream_id=stream.stream_id,
        seq=seq,
        rule=rule,
        ruleset=stream.ruleset if stream.ruleset in RULESETS else "",
        engine_version=ENGINE_VERSION,
        casino_id=stream.casino_id,
        table_id=stream.table_id,
        gaming_day=stream.gaming_day,
        occurred_at=occurred_at.astimezone(UTC),  # whatever its offset
        severity=known.severity,
        evidence=[seq],
        facts=dict(facts),
        currency=stream.currency,
        **amounts,
    )


def report_tampering(stream_id: int, first_seq: int, *, expected: bytes, recorded: bytes) -> None:
    """Open the finding that a batch no longer gives the digest it was accepted with; once for each batch."""
    stream = LoggedStream.objects.filter(pk=stream_id, is_of_desk=False).first()
    if stream is None:
        return
    finding = integrity_finding(
        stream,
        "log-tampered",
        first_seq,
        occurred_at=datetime.now(UTC),
        facts={"batch": first_seq},
        expected=expected.hex(),
        recorded=recorded.hex(),
    )
    Finding.objects.bulk_create([finding], ignore_conflicts=True)
