"""Dry runs: what a request would do, done and undone.

The request is recorded and adjudicated by the same code as any other, in a transaction that is rolled back: the answer
is the one that it would get, and nothing is left of it.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from audit.adjudication.replay import advance
from audit.adjudication.results import standing
from audit.api.problems import Problem
from audit.event_store import read
from audit.ingest.bodies import Body
from audit.ingest.record import record
from audit.models import ApiKey, Finding

MAX_EVENTS = 50_000
"""Most events that a dry run adjudicates: those that wait, or with a correction all of the stream."""


def would_record(key: ApiKey, stream: str, body: Body) -> tuple[int, dict[str, Any]]:
    """Return the status and the answer that a request would get, with the findings it would open.

    Raise ``Problem`` as the request itself would, and 409 ``behind`` where too much of the stream waits.
    """
    with transaction.atomic():  # a problem, too, undoes what was done
        recorded = record(key, stream, body, is_dry=True)
        answer = recorded.unsigned() | {"dry_run": True, "findings": []}
        head = read.head_of(key.casino_id, stream)
        if recorded.is_new and head is not None and head.game is not None:
            answer["findings"] = [found.as_dict() for found in _would_find(head)]
        transaction.set_rollback(True)
    return (201 if recorded.is_new else 200), answer


def _would_find(head: read.Head) -> list[Finding]:
    """Return the findings that stand when everything of a stream is adjudicated, and do not stand now."""
    found = Finding.objects.filter(stream_id=head.stream_id, superseded_at=None)
    before = set(found.values_list("pk", flat=True))
    adjudication = standing(head.stream_id)
    left = head.next_seq - (adjudication.next_seq if adjudication else 1)
    folded = 0
    while left > 0:
        if folded + left > MAX_EVENTS:
            raise Problem(409, "behind", f"{left} events of the stream wait to be adjudicated; try it again later.")
        progress = advance(head.stream_id)
        if progress is None:
            raise Problem(503, "unavailable", "The stream is being adjudicated; try it again.")
        folded += progress.folded
        adjudication = standing(head.stream_id)
        left = head.next_seq - (adjudication.next_seq if adjudication else 1)
    return list(found.exclude(pk__in=before).order_by("seq", "rule", "wager"))
