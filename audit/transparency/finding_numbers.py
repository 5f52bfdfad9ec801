"""Numbers of findings: given once, counted for each casino and year, one update of a counter for all of a batch.

The functions that count are in ``audit/adjudication/sql/findings.sql``. A trigger numbers a row that is stored
without a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.db import connection

from audit.models import AdjudicationRun, Finding


def hold(casino_ids: Iterable[int]) -> None:
    """Have nobody else number findings of these casinos until the transaction ends.

    Whoever numbers findings also writes into the casino's desk stream, and in this order: a transaction that does so
    more than once begins with this, or two of them would wait for each other.
    """
    with connection.cursor() as cursor:
        for casino_id in sorted(set(casino_ids)):
            cursor.execute("select pg_advisory_xact_lock(hashtextextended('audit.findings.numbered', %s))", [casino_id])


def number(findings: Collection[Finding]) -> None:
    """Number findings that are about to be stored and stand, in their order. A finding that continues another has its
    number."""
    rows = list(findings)
    if not rows:
        return
    columns: list[Any] = [
        [row.casino_id for row in rows],
        [row.gaming_day.year for row in rows],
        [row.stream_id for row in rows],
        [row.seq for row in rows],
        [row.rule for row in rows],
        [row.wager for row in rows],
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "select year, number from audit_number_findings("
            "%s::bigint[], %s::integer[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])",
            columns,
        )
        numbers = cursor.fetchall()
    for row, (year, number_in_year) in zip(rows, numbers, strict=True):
        row.year, row.number = year, number_in_year


def number_run(run: AdjudicationRun) -> None:
    """Number what a run has found and is about to have stand."""
    with connection.cursor() as cursor:
        cursor.execute("select audit_number_run(%s, %s)", [run.stream_id, run.pk])
