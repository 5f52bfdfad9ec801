"""What the log keeps of findings: entries of the desk stream with the root of those of one session.

    session.adjudicated   a run has read a session that is closed, or has taken the place of another: the run, and the
                          root of everything that runs have found in the session
    findings.kept         others that replay does not make, of some rules in one session: of a night, of persons' money,
                          of the ledger, of ingestion

The leaf of a finding is the hash of its canonical JSON: all that it says, since when it stands or no longer does, and
what its case was opened with. The root is that of RFC 6962 over the leaves, in the order of ``ORDER``; of none, the
hash of nothing. An entry also names its rows, with the first bytes of each leaf, so that one that differs can be named.

A row that nobody changes has the leaf that its entry says: ``audit.projections`` compares. To add, alter or take away
a row in the database unseen, one would have to write into the log, which keeps who wrote what and when.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
from django.db.models import F

from audit.event_store import audit_trail, merkle
from audit.models import FIRST_SANDBOX_ID, AdjudicationRun, Finding, LoggedStream
from audit.models.adjudication import FindingQuerySet

ADJUDICATED = "session.adjudicated"
KEPT = "findings.kept"

MAX_ROWS = 500
"""Rows that an entry names; of a session with more, the root alone says that something differs."""

MARK_BYTES = 8
"""Bytes of a leaf by which an entry names it."""

_STATED = (
    *("seq", "rule", "wager", "ruleset", "engine_version", "readings_digest", "casino_id", "table_id", "gaming_day"),
    *("severity", "evidence", "expected", "recorded", "provision", "facts", "currency", "after_loss", "occurred_at"),
    *("player", "croupier", "provisions", "causes", "difference", "owed", "put_right_by"),
    *("status", "opened_at", "stood_at", "superseded_at"),
)

_NUMBERED = ("year", "number", "reference_code")
"""What a leaf also has, each where the finding has it: entries from before there were numbers and codes stay true."""

_OF_OTHERS = {
    "run_number": F("run__number"),
    "run_stream": F("run__stream_id"),
    "superseded_by": F("superseded_by_run__number"),
    "case_casino_id": F("case__casino_id"),
    "case_stream_id": F("case__stream_id"),
    "case_seq": F("case__seq"),
    "case_rule": F("case__rule"),
    "case_wager": F("case__wager"),
    "case_weight": F("case__weight"),
    "case_opened_at": F("case__opened_at"),
    "case_deadline": F("case__deadline"),
}
"""What a leaf has beside the finding's own columns: the runs, and what its case was opened with."""

ORDER = ("seq", "rule", "wager", "engine_version", "readings_digest", "opened_at", "pk")

_canonical = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A finding as the log keeps it: what names it, its status, whether a run has found it, and its leaf."""

    stream_id: int
    seq: int
    rule: str
    wager: str
    status: str
    is_of_run: bool
    leaf: bytes

    @property
    def text(self) -> str:
        """What an entry says of the row: number, rule, status, mark and wager, with a space between."""
        return f"{self.seq} {self.rule} {self.status} {self.leaf[:MARK_BYTES].hex()} {self.wager}".rstrip()


def rows_of(findings: FindingQuerySet) -> Iterable[KeptRow]:
    """Yield findings, session by session, in the order of their leaves."""
    for stream_id, row, content in _contents(findings):
        is_of_run = row["run_number"] is not None
        leaf = merkle.leaf(content)
        yield KeptRow(stream_id, row["seq"], row["rule"], row["wager"], row["status"], is_of_run, leaf)


def contents_of(findings: FindingQuerySet) -> Iterable[bytes]:
    """Yield the canonical JSON of findings, of which the leaves are the hashes, in their order."""
    return (content for _stream_id, _row, content in _contents(findings))


def _contents(findings: FindingQuerySet) -> Iterable[tuple[int, dict[str, Any], bytes]]:
    found = findings.order_by("stream_id", *ORDER).annotate(**_OF_OTHERS)
    names = ("stream_id", *_STATED, *_NUMBERED, *_OF_OTHERS)
    for values in found.values_list(*names).iterator(chunk_size=2_000):
        row = dict(zip(names, values, strict=True))
        stream_id = row.pop("stream_id")
        for name in _NUMBERED:
            if row[name] in (None, ""):
                del row[name]
        yield stream_id, row, _canonical({name: _plain(value) for name, value in row.items()})


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def root_of(rows: Collection[KeptRow]) -> str:
    """Return the root of rows in the order of their leaves, as hex; of none, the SHA-256 of nothing."""
    return (merkle.root(row.leaf for row in rows) if rows else sha256().digest()).hex()


def root_in(stream_id: int) -> str:
    """Return the root of what runs have found in a session, as hex; "" for a sandbox's, of which nothing is kept."""
    if stream_id >= FIRST_SANDBOX_ID:
        return ""
    return root_of(_rows_in(stream_id))


def _rows_in(stream_id: int) -> list[KeptRow]:
    """Return what runs have found in a session: as a rule nothing, which is cheaper to ask than to list."""
    found = Finding.objects.filter(stream=stream_id).of_runs()
    return list(rows_of(found)) if found.exists() else []


def keep_adjudicated(run: AdjudicationRun, stream: LoggedStream, last_seq: int, before: str) -> None:
    """Enter what runs have found in a session through ``last_seq``, in the transaction in which that changed.

    ``before`` is the root of what was stored when the transaction began to change it: that of the entry before.
    Nothing is entered of a sandbox's: its findings can be deleted.
    """
    if stream.is_of_sandbox:
        return
    rows = _rows_in(stream.pk)
    data = {
        "stream": stream.name,
        "run": run.number,
        "cause": str(run.cause),
        "engine": run.engine_version,
        "register": run.register_version or 0,
        "corrections_through": run.corrections_through,
        "last_seq": last_seq,
        "approved": run.approved,
        "before": before,
        **_stated(rows),
    }
    audit_trail.record(audit_trail.account_name(), ADJUDICATED, casino_id=stream.casino_id, data=data)


def roots_of(streams: Collection[int], rules: Collection[str]) -> dict[int, list[KeptRow]]:
    """Return the findings of ``rules`` that no run makes, by session; sessions without any are left out."""
    found: dict[int, list[KeptRow]] = {}
    for row in rows_of(Finding.objects.filter(stream__in=streams, rule__in=rules, run=None)):
        found.setdefault(row.stream_id, []).append(row)
    return found


def keep(before: dict[int, list[KeptRow]], streams: Collection[int], rules: Collection[str]) -> None:
    """Enter the findings of ``rules`` in ``streams``, for each session where they are not what they were ``before``.

    In the transaction in which they changed; ``before`` is what ``roots_of`` returned at its beginning. Sandboxes are
    left out.
    """
    now = roots_of(streams, rules)
    changed = {stream_id: rows for stream_id, rows in now.items() if rows != before.get(stream_id)}
    if not changed:
        return
    by_casino: dict[int, list[dict[str, Any]]] = {}
    for stream in LoggedStream.objects.filter(pk__in=changed, pk__lt=FIRST_SANDBOX_ID).order_by("pk"):
        data = {"stream": stream.name, "rules": sorted(rules), **_stated(changed[stream.pk])}
        by_casino.setdefault(stream.casino_id, []).append(data)
    for casino_id, datas in by_casino.items():
        audit_trail.record_all(audit_trail.account_name(), KEPT, casino_id=casino_id, datas=datas)


def _stated(rows: list[KeptRow]) -> dict[str, Any]:
    stated: dict[str, Any] = {"findings": len(rows), "root": root_of(rows)}
    if 0 < len(rows) <= MAX_ROWS:
        stated["rows"] = [row.text for row in rows]
    return stated
