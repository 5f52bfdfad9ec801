"""Storing what a step found, by its identity: once, however many runs find the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.utils import timezone

from audit import task_queue
from audit.event_store import read
from audit.models import Adjudication, AdjudicationRun, FindingStatus, LoggedStream, WhatIf, WhatIfFinding
from audit.models import Finding as FindingRow
from audit.models.adjudication import not_before_found
from audit.transparency import finding_numbers
from settlement import Event, Finding, State
from settlement.codec import decode_one_stored
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
    "player",
    "croupier",
    "provisions",
    "causes",
    "difference",
    "owed",
    "put_right_by",
)
"""What a later step may change in a finding of a what-if run."""

AMENDED = ("difference", "owed", "put_right_by")
"""What changes in a finding that is put right in a later coup."""

STANDING_AGAIN = ("run", "status", "stood_at", "superseded_at", "superseded_by_run", "year", "number", *AMENDED)
"""What changes in a finding that the run that stands finds again; the number, if it has never stood."""

FOUND_AGAIN = ("run", "superseded_by_run", *AMENDED)
"""What changes in a finding that a run finds again which replaces another: superseded by none, it stands in the end."""


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
    occurred_at, has_earlier = _instants(stream.stream_id, findings, events)
    of_all = _of_all(adjudication, stream, state)
    fields = [{**of_all, **as_row(finding), "occurred_at": occurred_at[finding.seq]} for finding in findings]
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
    status, stood_at = (FindingStatus.STANDING, of_all["opened_at"]) if run.stands else (FindingStatus.PENDING, None)
    found = [FindingRow(run=run, status=status, stood_at=stood_at, **each) for each in fields]
    if run.stands:
        finding_numbers.number(found)
    rows = FindingRow.objects.bulk_create(
        found,
        update_conflicts=True,
        unique_fields=IDENTITY,
        update_fields=STANDING_AGAIN if run.stands else FOUND_AGAIN,
        batch_size=1_000,
    )
    if has_earlier:
        _replace_amended(run, rows)
    task_queue.notify_on_commit(stream.casino_id)


def instants_of(stream_id: int, findings: Sequence[Finding]) -> dict[int, datetime]:
    """Return when the events occurred that ``findings`` are at, by seq, as far as that can be believed."""
    return _instants(stream_id, findings, ())[0]


def _instants(stream_id: int, findings: Sequence[Finding], events: Iterable[Event]) -> tuple[dict[int, datetime], bool]:
    """Return the same, given the events of a step, and whether any is of an earlier step."""
    seqs = {finding.seq for finding in findings}
    # In UTC: a table's offset may be one that the database does not know.
    claimed = {event.seq: event.occurred_at.astimezone(UTC) for event in events if event.seq in seqs}
    # The money of a coup is judged when it ends, and a finding may be put right later: the event was in another step.
    earlier = read.events_at(stream_id, list(seqs - claimed.keys()))
    claimed |= {seq: decode_one_stored(envelope).occurred_at.astimezone(UTC) for seq, envelope in earlier.items()}
    return read.credible_instants(stream_id, claimed), bool(earlier)


def _of_all(adjudication: Adjudication, stream: LoggedStream, state: State) -> dict[str, Any]:
    """Return the fields that the findings of a step share."""
    return {
        "stream_id": stream.stream_id,
        "casino_id": stream.casino_id,
        "table_id": stream.table_id,
        "gaming_day": stream.gaming_day,
        "ruleset": known_ruleset(state),
        "engine_version": adjudication.engine_version,
        "readings_digest": state.readings_digest,
        "opened_at": timezone.now(),
    }


def as_row(finding: Finding) -> dict[str, Any]:
    """Return the fields that say what a finding says."""
    return {
        "seq": finding.seq,
        "rule": finding.rule,
        "wager": finding.wager or "",
        "severity": finding.severity,
        "evidence": list(finding.evidence),
        "expected": finding.expected,
        "recorded": finding.recorded,
        "provision": finding.provision or "",
        "facts": msgspec.to_builtins(finding.facts),
        "currency": finding.currency,
        "after_loss": finding.after_loss,
        "player": finding.player or "",
        "croupier": finding.croupier or "",
        "provisions": list(finding.provisions),
        "causes": [cause.as_dict() for cause in finding.causes],
        "difference": finding.difference,
        "owed": None if finding.owed is None else finding.owed.as_dict(),
        "put_right_by": finding.put_right_by,
    }


def _replace_amended(run: AdjudicationRun, rows: Iterable[FindingRow]) -> None:
    """Supersede what ``run`` has found before under the identities of ``rows``, and what reads otherwise now."""
    current = {row.pk: (row.seq, row.rule, row.wager) for row in rows}
    others = FindingRow.objects.filter(run=run, seq__in={seq for seq, _rule, _wager in current.values()})
    others = others.exclude(pk__in=current).exclude(status=FindingStatus.SUPERSEDED)
    identities = set(current.values())
    outdated = [row.pk for row in others if (row.seq, row.rule, row.wager) in identities]
    FindingRow.objects.filter(pk__in=outdated).update(
        status=FindingStatus.SUPERSEDED, superseded_at=not_before_found(timezone.now()), superseded_by_run=run
    )


def delete_what_if_findings(what_if: WhatIf, stream_id: int) -> None:
    """Delete the findings of a what-if run in a stream that it has to read again."""
    WhatIfFinding.objects.filter(what_if=what_if, stream_id=stream_id).delete()
