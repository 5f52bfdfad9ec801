"""Integrity findings: they rest on the stored bytes, not on the law, so no replay raises or supersedes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from audit.models import Finding, LoggedStream
from settlement import ENGINE_VERSION, RULESETS
from settlement.catalogue import RULES


def integrity_finding(
    stream: LoggedStream, rule: str, seq: int, *, occurred_at: datetime, facts: Mapping[str, Any], **amounts: Any
) -> Finding:
    """Return an unsaved finding of ``rule`` at event ``seq``. ``amounts`` are its ``expected`` and ``recorded``."""
    return Finding(
        stream_id=stream.stream_id,
        seq=seq,
        rule=rule,
        ruleset=stream.ruleset if stream.ruleset and stream.ruleset in RULESETS else "",
        engine_version=ENGINE_VERSION,
        casino_id=stream.casino_id,
        table_id=stream.table_id,
        gaming_day=stream.gaming_day,
        occurred_at=occurred_at.astimezone(UTC),
        severity=RULES[rule].severity,
        evidence=[seq],
        facts=dict(facts),
        currency=stream.currency,
        **amounts,
    )


def report(findings: Iterable[Finding]) -> None:
    """Store findings of integrity, each once, by the function that may: no role but workers inserts a finding."""
    for finding in findings:
        fields = [each for each in finding._meta.concrete_fields if not each.primary_key and not each.generated]
        row = {field.column: getattr(finding, field.attname) for field in fields}
        with connection.cursor() as cursor:
            cursor.execute("select audit_report_integrity(%s::jsonb)", [json.dumps(row, default=str)])


def report_tampering(stream_id: int, first_seq: int, *, expected: bytes, recorded: bytes) -> None:
    """Open a ``log-tampered`` finding for a batch whose stored events no longer have the root it was accepted with.

    Idempotent: one finding a batch. A desk stream opens none: findings are of tables and count rooms.
    """
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
    report([finding])


_LAST_OF_TABLES = """
select l.stream_id, l.first_seq from log.leaf l join log.stream s using (stream_id)
where l.log_index < %s and not s.is_of_desk order by l.log_index desc limit 1
"""


def report_refused_by_witness(size: int, *, expected: bytes | None, recorded: bytes | None) -> None:
    """Open a ``log-tampered`` finding at the last batch of a table that a witness, who refuses this log, has cosigned.

    ``size`` is of the tree that it has cosigned, ``expected`` the root it had then and ``recorded`` the one that the
    tree has now, each None if it is not known. Idempotent; none while no table has a batch in that tree.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LAST_OF_TABLES, [size])
        row = cursor.fetchone()
    stream = LoggedStream.objects.filter(pk=row[0]).first() if row else None
    if stream is None:
        return
    finding = integrity_finding(
        stream,
        "log-tampered",
        row[1],
        occurred_at=datetime.now(UTC),
        facts={"batch": row[1]},
        expected=expected.hex() if expected else None,
        recorded=recorded.hex() if recorded else None,
    )
    report([finding])
