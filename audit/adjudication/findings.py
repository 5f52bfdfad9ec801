"""Storing findings by their identity: idempotent, and superseded by those of a later run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC

import msgspec
from django.utils import timezone

from audit.models import Adjudication, LoggedStream, WhatIf, WhatIfFinding
from audit.models import Finding as FindingRow
from settlement import Event, Finding, State
from settlement.rulesets import RULESETS

IDENTITY = ("stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest")

UPDATED_FIELDS = (
    "severity",
    "evidence",
    "expected",
    "recorded",
    "provision",
    "facts",
    "after_loss",
    "occurred_at",
    "run",
)
"""What a later run may change in the same finding."""


def known_ruleset(state: State) -> str:
    """Return the ruleset that a stream is adjudicated under, "" if it names no known one."""
    ruleset = state.table.ruleset
    return ruleset if ruleset is not None and ruleset in RULESETS else ""


def add_findings(
    adjudication: Adjudication, state: State, findings: Sequence[Finding], events: Iterable[Event]
) -> None:
    """Store ``findings``. While those of another run stand, new ones are stored as superseded until the run ends."""
    if not findings:
        return
    stream = LoggedStream.objects.get(pk=adjudication.stream_id)
    seqs = {finding.seq for finding in findings}
    # In UTC: a table's offset may be one that the database does not know.
    occurred_at = {event.seq: event.occurred_at.astimezone(UTC) for event in events if event.seq in seqs}
    now = timezone.now()
    fields = [
        {
            "stream_id": stream.stream_id,
            "seq": finding.seq,
            "rule": finding.rule,
            "wager": finding.wager or "",
            "ruleset": known_ruleset(state),
            "engine_version": adjudication.engine_version,
            "readings_digest": state.readings_digest,
            "casino_id": stream.casino_id,
            "table_id": stream.table_id,
            "gaming_day": stream.gaming_day,
            "occurred_at": occurred_at[finding.seq],
            "severity": finding.severity,
            "evidence": list(finding.evidence),
            "expected": finding.expected,
            "recorded": finding.recorded,
            "provision": finding.provision or "",
            "facts": msgspec.to_builtins(finding.facts),
            "currency": finding.currency,
            "after_loss": finding.after_loss,
            "opened_at": now,
            "run": adjudication.run,
        }
        for finding in findings
    ]
    if adjudication.what_if_id is not None:
        WhatIfFinding.objects.bulk_create(
            [WhatIfFinding(what_if_id=adjudication.what_if_id, **each) for each in fields],
            update_conflicts=True,
            unique_fields=["what_if", "stream", "seq", "rule", "wager"],
            update_fields=UPDATED_FIELDS,
            batch_size=1_000,
        )
        return
    superseded_at = now if adjudication.replaces else None
    FindingRow.objects.bulk_create(
        [FindingRow(superseded_at=superseded_at, **each) for each in fields],
        update_conflicts=True,
        unique_fields=IDENTITY,
        update_fields=UPDATED_FIELDS,
        batch_size=1_000,
    )


def delete_what_if_findings(what_if: WhatIf, stream_id: int) -> None:
    """Delete the findings of a what-if run in a stream that it has to read again."""
    WhatIfFinding.objects.filter(what_if=what_if, stream_id=stream_id).delete()


def promote_run(adjudication: Adjudication) -> None:
    """Have the findings of a complete run stand, and supersede those that stood before it."""
    of_stream = FindingRow.objects.filter(stream_id=adjudication.stream_id).exclude(run=0)
    of_run = {"engine_version": adjudication.engine_version, "run": adjudication.run}
    of_stream.filter(**of_run).exclude(superseded_at=None).update(superseded_at=None)
    of_stream.filter(superseded_at=None).exclude(**of_run).update(superseded_at=timezone.now())


def has_standing_run(stream_id: int) -> bool:
    """Return whether findings of a run stand for a stream."""
    return FindingRow.objects.filter(stream_id=stream_id, superseded_at=None).exclude(run=0).exists()
