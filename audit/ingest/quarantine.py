"""Quarantine: refused requests are kept byte for byte, and a conflict with a stored event opens a finding.

Bytes are deleted after a retention period (``CABOCHON_QUARANTINE_DAYS``); digest, reason and stream stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils import timezone

from audit.event_store.streams import instant
from audit.models import ApiKey, Finding, LoggedStream, Quarantined
from audit.transparency import integrity_findings, kept_findings
from settlement import Event

PURGED_AT_ONCE = 1000

CONFLICT_RULES = ("sequence-conflict",)
"""The findings of ingestion; each is entered in the log, as ``audit.transparency.kept_findings`` says."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """An event sent under a number that is stored with other content: both canonical forms, and the bytes sent."""

    event: Event
    stored: bytes
    sent: bytes
    raw: bytes

    @property
    def stored_digest(self) -> str:
        """SHA-256 of the canonical form, 64 hex digits."""
        return sha256(self.stored).hexdigest()

    @property
    def sent_digest(self) -> str:
        """SHA-256 of the canonical form, 64 hex digits."""
        return sha256(self.sent).hexdigest()


def keep(key: ApiKey, stream: str, code: str, detail: str, raw: bytes, *, seq: int | None = None) -> None:
    """Keep the bytes of a refused request, as far as the key has room for it today."""
    room = _room(key)
    if room.rows < 1:
        _note_full(key)
        return
    row = _row(key, stream, code, detail, raw, seq, is_full=room.bytes <= 0)
    Quarantined.objects.bulk_create([row], ignore_conflicts=True)


def keep_conflicts(key: ApiKey, name: str, stream_id: int, conflicts: Sequence[Conflict]) -> None:
    """Keep each conflicting event and open its `sequence-conflict`. The stored content stands.

    A finding is opened for each, one an event however often it conflicts; rows are kept as far as the key has room.
    """
    stream = LoggedStream.objects.get(pk=stream_id)
    room = _room(key)
    if room.rows < len(conflicts):
        _note_full(key)
    with transaction.atomic():
        Quarantined.objects.bulk_create(
            [
                _row(
                    key,
                    name,
                    "conflict",
                    f"Event {each.event.seq} is recorded with other content.",
                    each.raw,
                    each.event.seq,
                    is_full=room.bytes <= 0,
                )
                for each in conflicts[: max(0, room.rows)]
            ],
            ignore_conflicts=True,
        )
        before = kept_findings.roots_of([stream_id], CONFLICT_RULES)
        integrity_findings.report(_finding(stream, each) for each in conflicts)
        kept_findings.keep(before, [stream_id], CONFLICT_RULES)


def _row(
    key: ApiKey, stream: str, code: str, detail: str, raw: bytes, seq: int | None, *, is_full: bool
) -> Quarantined:
    return Quarantined(
        casino_id=key.casino_id,
        key=key,
        stream=stream,
        seq=seq,
        code=code,
        detail=detail[:2_000].replace("\0", "\N{SYMBOL FOR NULL}"),  # it may quote what was sent; no text holds a NUL
        body=b"" if is_full else raw,
        digest=sha256(raw).digest(),
        size=len(raw),
        purged_at=timezone.now() if is_full else None,
    )


class _Room(NamedTuple):
    """What a key may still add to the quarantine today: a broken table system must not fill the disk."""

    bytes: int
    rows: int


def _room(key: ApiKey) -> _Room:
    today = Quarantined.objects.filter(key=key, received_at__gte=timezone.now() - timedelta(days=1))
    used = today.aggregate(bytes=Sum("size", filter=Q(purged_at=None)), rows=Count("pk"))
    limits = settings.CABOCHON_QUARANTINE_BYTES, settings.CABOCHON_QUARANTINE_ROWS
    return _Room(limits[0] - (used["bytes"] or 0), limits[1] - used["rows"])


def _note_full(key: ApiKey) -> None:
    """Say once a day and key, in the quarantine itself, that refused requests are no longer listed."""
    today = timezone.now().date()
    detail = (
        f"More than {settings.CABOCHON_QUARANTINE_ROWS} refused requests of this key in a day: the rest is not kept."
    )
    note = _row(key, "", "full", detail, f"full:{key.pk}:{today}".encode(), None, is_full=True)
    Quarantined.objects.bulk_create([note], ignore_conflicts=True)


def purge(*, before: datetime) -> int:
    """Delete the bytes of requests refused before an instant, and return how many requests that were.

    Bytes that a standing `sequence-conflict` rests on are kept.
    """
    conflicts = Finding.objects.standing().filter(
        rule="sequence-conflict",
        casino=OuterRef("casino"),
        stream__name=OuterRef("stream"),
        seq=OuterRef("seq"),
    )
    old = Quarantined.objects.filter(received_at__lt=before, purged_at=None).exclude(Exists(conflicts))
    purged = 0
    # Found first, and changed by number: a cluster changes no table of its coordinator by what a stream says.
    while numbers := list(old.values_list("pk", flat=True)[:PURGED_AT_ONCE]):
        rows = Quarantined.objects.filter(pk__in=numbers, purged_at=None)
        purged += rows.update(body=b"", purged_at=timezone.now())
    return purged


def _finding(stream: LoggedStream, conflict: Conflict) -> Finding:
    return integrity_findings.integrity_finding(
        stream,
        "sequence-conflict",
        conflict.event.seq,
        occurred_at=datetime.now(UTC),  # what the refused content claims is its own affair
        facts={
            "stored_digest": conflict.stored_digest,
            "sent_digest": conflict.sent_digest,
            "claimed_at": instant(conflict.event.occurred_at),
        },
    )
