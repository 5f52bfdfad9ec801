"""Dry runs: what a request would do, done and rolled back.

The request is recorded by the same code as any other, in a transaction that is rolled back, and adjudicated in memory:
the answer is the one it would get, and nothing is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from audit.adjudication.preview import TooManyEvents, Unsettled, new_findings
from audit.event_store import cluster, read
from audit.ingest.bodies import Body
from audit.ingest.record import IngestResult, RecordUnavailable, record
from audit.ingest.refusals import EventsRefused
from audit.models import ApiKey
from settlement import Finding

MAX_EVENTS = 50_000
"""Most events that a dry run adjudicates: those that wait, or with a correction the whole stream."""


class TooFarBehind(EventsRefused):
    """Too many events of the stream wait to be adjudicated."""

    def __init__(self, count: int) -> None:
        super().__init__(f"At least {count} events of the stream wait to be adjudicated; try it again later.")


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """What a request would have done: its batch, and the findings it would have opened."""

    ingested: IngestResult
    findings: list[Finding]

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt without a signature, with the findings."""
        found = [finding.as_dict() for finding in self.findings]
        return self.ingested.unsigned() | {"dry_run": True, "findings": found}


def dry_record(key: ApiKey, stream: str, body: Body, signature: str | None = None) -> DryRunResult:
    """Return what recording ``body`` would do.

    Raise ``EventsRefused`` as ``record`` would, ``TooFarBehind`` if too many events wait, ``RecordUnavailable`` if
    the stream cannot be adjudicated now.
    """
    # A refusal rolls back what it has put into quarantine.
    with transaction.atomic(), cluster.reading_what_it_wrote():
        ingested = record(key, stream, body, signature=signature, is_dry=True)
        head = read.head_of(key.casino_id, stream)
        findings: list[Finding] = []
        if ingested.is_new and head is not None and head.game is not None:
            findings = findings_of(head.stream_id, max_events=MAX_EVENTS)
        transaction.set_rollback(True)
    return DryRunResult(ingested, findings)


def findings_of(stream_id: int, *, max_events: int) -> list[Finding]:
    """Return the findings that adjudicating a stream to its end would open.

    Raise ``TooFarBehind`` if more than ``max_events`` wait, ``RecordUnavailable`` if it cannot be adjudicated now.
    """
    try:
        return new_findings(stream_id, max_events=max_events)
    except TooManyEvents as error:
        raise TooFarBehind(error.count) from error
    except Unsettled as error:
        raise RecordUnavailable("The stream is being adjudicated; try it again.") from error
