"""What a replay writes: findings by their identity, wagers by their id. Writing the same again changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC

import msgspec
from django.db.models import Q
from django.utils import timezone

from audit.models import Finding as FindingRow
from audit.models import LoggedStream, WagerOutcome
from settlement import ENGINE_VERSION, Event, Finding, State
from settlement.provisions import wager_provision
from settlement.rulebooks import RULEBOOKS

OUTCOME_FIELDS = ("status", "winnings_due", "stake_due", "winnings_paid", "stake_paid", "decided_by")


def known_ruleset(state: State) -> str:
    """Return the ruleset that a stream is adjudicated under, "" where it names none that is known."""
    ruleset = state.table.ruleset
    return ruleset if ruleset in RULEBOOKS else ""


def add_findings(stream: LoggedStream, state: State, found: Iterable[Finding], events: Iterable[Event]) -> set[int]:
    """Store ``found`` and return the ids of their rows; one that was superseded and is found again stands again."""
    # In UTC: a table's offset may be one that the database does not know.
    moments = {event.seq: event.occurred_at.astimezone(UTC) for event in events}
    rows = [
        FindingRow(
            stream_id=stream.stream_id,
            seq=finding.seq,
            rule=finding.rule,
            wager=finding.wager or "",
            ruleset=known_ruleset(state),
            engine_version=ENGINE_VERSION,
            readings_digest=state.readings_digest,
            casino=stream.casino,
            table=stream.table,
            gaming_day=stream.gaming_day,
            occurred_at=moments[finding.seq],
            severity=finding.severity,
            evidence=list(finding.evidence),
            expected=finding.expected,
            recorded=finding.recorded,
            provision=finding.provision or "",
            facts=msgspec.to_builtins(finding.facts),
            currency=finding.currency,
            after_loss=finding.after_loss,
        )
        for finding in found
    ]
    if not rows:
        return set()
    FindingRow.objects.bulk_create(rows, ignore_conflicts=True)
    same = Q()
    for row in rows:
        same |= Q(seq=row.seq, rule=row.rule, wager=row.wager)
    standing = FindingRow.objects.filter(
        same,
        stream_id=stream.stream_id,
        ruleset=known_ruleset(state),
        engine_version=ENGINE_VERSION,
        readings_digest=state.readings_digest,
    )
    ids = set(standing.values_list("pk", flat=True))
    FindingRow.objects.filter(pk__in=ids).exclude(superseded_at=None).update(superseded_at=None)
    return ids


def supersede_findings(stream_id: int, state: State, kept: set[int]) -> None:
    """Mark what an earlier replay found and this one does not. `sequence-conflict` is the record's, and stays."""
    FindingRow.objects.filter(stream_id=stream_id, engine_version=ENGINE_VERSION, superseded_at=None).exclude(
        Q(pk__in=kept) | Q(rule="sequence-conflict")
    ).update(superseded_at=timezone.now())


def write_outcomes(stream_id: int, state: State, *, since: int) -> None:
    """Store the wagers that changed after event ``since``."""
    ruleset = known_ruleset(state)
    if not ruleset:
        return
    WagerOutcome.objects.bulk_create(
        [
            WagerOutcome(
                stream_id=stream_id,
                engine_version=ENGINE_VERSION,
                wager=wager.id,
                bet=wager.bet[:200],
                player=wager.player or "",
                stake=wager.stake,
                placed_by=wager.placed_by,
                provision=wager_provision(ruleset, wager.bet),
                **{field: getattr(wager, field) for field in OUTCOME_FIELDS},
            )
            for wager in state.table.wagers.values()
            if wager.changed_by > since
        ],
        update_conflicts=True,
        unique_fields=["stream", "engine_version", "wager"],
        update_fields=OUTCOME_FIELDS,
        batch_size=1_000,
    )
