"""How findings of a whole day are stored: what its last run no longer raises is superseded, what it does stands.

An entry of the log has the changes of a session: ``audit.transparency.kept_findings``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import task_queue
from audit.adjudication.findings import IDENTITY
from audit.models import Finding, FindingStatus, LoggedStream
from audit.models.adjudication import not_before_found
from audit.transparency import finding_numbers, kept_findings

UPDATED_FIELDS = ("severity", "evidence", "expected", "recorded", "facts", "currency", "occurred_at", "player")
"""What a finding that is raised again takes from the new run."""


def replace_findings(findings: Iterable[Finding], *, streams: Collection[int], rules: Collection[str]) -> int:
    """Store findings, supersede those of ``rules`` on ``streams`` that are not among them; return how many stand.

    What stands already and says the same is not written again.
    """
    current = {_identity(finding): finding for finding in findings}
    casino_ids = LoggedStream.objects.filter(pk__in=streams).values_list("casino_id", flat=True)
    with transaction.atomic():
        finding_numbers.hold(casino_ids)
        before = kept_findings.roots_of(streams, rules)
        stored = Finding.objects.filter(stream_id__in=streams, rule__in=rules).select_for_update()
        standing = list(stored.standing())
        outdated = [row.pk for row in standing if _identity(row) not in current]
        same = {each for row in standing if _is_same(row, current.get(each := _identity(row)))}
        written = [finding for each, finding in current.items() if each not in same]
        now = not_before_found(timezone.now())
        Finding.objects.filter(pk__in=outdated).update(status=FindingStatus.SUPERSEDED, superseded_at=now)
        finding_numbers.number(written)
        Finding.objects.bulk_create(
            written,
            update_conflicts=True,
            unique_fields=IDENTITY,
            update_fields=[*UPDATED_FIELDS, "status", "superseded_at"],
            batch_size=1_000,
        )
        kept_findings.keep(before, streams, rules)
        for casino_id in {finding.casino_id for finding in current.values()}:
            task_queue.notify_on_commit(casino_id)
    return len(current)


def _is_same(stored: Finding, finding: Finding | None) -> bool:
    return finding is not None and all(getattr(stored, name) == getattr(finding, name) for name in UPDATED_FIELDS)


def _identity(row: Finding) -> tuple[Any, ...]:
    return (row.stream_id, row.seq, row.rule, row.wager, row.ruleset, row.engine_version)
