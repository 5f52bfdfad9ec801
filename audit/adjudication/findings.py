"""Storing what a step found, by its identity: once, however many runs find the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC

import msgspec
from django.utils import timezone

from audit.event_store import read
from audit.models import Adjudication, FindingStatus, LoggedStream, WhatIf, WhatIfFinding
from audit.models import Finding as FindingRow
from settlement import Event, Finding, State
from settlement.rulesets import RULESETS

IDENTITY = ("stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest", "content")

WHAT_IF_FIELDS = (
    "severity",
    "evidence",
    "expected",
    "recorded",
    "provision",
    "facts",
    "after_loss",
    "occurred_at",
)
"""What a later step may change in a finding of a what-if run."""

STANDING_AGAIN = ("run", "status", "stood_at", "superseded_at", "superseded_by_run")
"""What changes in a finding that the run that stands finds again."""


def known_ruleset(state: State) -> str:
    """Return the ruleset that a stream is adjudicated under, "" if it names no known one."""
    ruleset = state.table.ruleset
    return ruleset if ruleset is not None and ruleset in RULESETS else ""


def add_findings(
    adjudication: Adjudication, state: State, findings: Sequence[Finding], events: Iterable[Event]
) -> None:
    """Store ``findings``. New ones stand, or are pending while those of another run stand.

    One that an earlier run has found, the same in all that it says, is taken over and keeps its status until this run
    is complete.
    """
    if not findings:
        return
    stream = LoggedStream.objects.get(pk=adjudication.stream_id)
    seqs = {finding.seq for finding in findings}
    # In UTC: a table's offset may be one that the database does not know.
    claimed = {event.seq: event.occurred_at.astimezone(UTC) for event in events if event.seq in seqs}
    occurred_at = read.credible_instants(stream.stream_id, claimed)
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
        }
        for finding in findings
    ]
    if adjudication.what_if_id is not None:
        WhatIfFinding.objects.bulk_create(
            [WhatIfFinding(what_if_id=adjudication.what_if_id, **each) for each in fields],
            update_conflicts=True,
            unique_fields=["what_if", "stream", "seq", "rule", "wager"],
            update_fields=WHAT_IF_FIELDS,
            batch_size=1_000,
        )
        return
    run = adjudication.run
    assert run is not None, "a step belongs to a run"
    status, stood_at = (FindingStatus.STANDING, now) if run.stands else (FindingStatus.PENDING, None)
    FindingRow.objects.bulk_create(
        [FindingRow(run=run, status=status, stood_at=stood_at, **each) for each in fields],
        update_conflicts=True,
        unique_fields=IDENTITY,
        update_fields=STANDING_AGAIN if run.stands else ("run",),
        batch_size=1_000,
    )


def delete_what_if_findings(what_if: WhatIf, stream_id: int) -> None:
    """Delete the findings of a what-if run in a stream that it has to read again."""
    WhatIfFinding.objects.filter(what_if=what_if, stream_id=stream_id).delete()
