"""Quarantine: what was refused is kept byte for byte, and what contradicts the record opens a finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from hashlib import sha256

from django.db import transaction

from audit.models import ApiKey, Finding, LoggedStream, Quarantined
from settlement import ENGINE_VERSION, RULEBOOKS, Event
from settlement.catalogue import RULES

CONFLICT = RULES["sequence-conflict"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One event sent under a number that is stored with other content: both canonical forms, and the bytes sent."""

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
    """Keep the bytes of a refused request."""
    Quarantined.objects.bulk_create([_row(key, stream, code, detail, raw, seq)], ignore_conflicts=True)


def keep_conflicts(key: ApiKey, name: str, stream_id: int, conflicts: Sequence[Conflict]) -> None:
    """Keep each contradicting event and open its finding. The first content stands."""
    stream = LoggedStream.objects.get(pk=stream_id)
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
                )
                for each in conflicts
            ],
            ignore_conflicts=True,
        )
        Finding.objects.bulk_create([_finding(stream, each) for each in conflicts], ignore_conflicts=True)


def _row(key: ApiKey, stream: str, code: str, detail: str, raw: bytes, seq: int | None) -> Quarantined:
    return Quarantined(
        casino_id=key.casino_id,
        key=key,
        stream=stream,
        seq=seq,
        code=code,
        detail=detail[:2_000],
        body=raw,
    )


def _finding(stream: LoggedStream, conflict: Conflict) -> Finding:
    """Return the finding of a conflict. It rests on the record, so it has no readings and no replay raises it."""
    return Finding(
        stream_id=stream.stream_id,
        seq=conflict.event.seq,
        rule=CONFLICT.name,
        ruleset=stream.ruleset if stream.ruleset in RULEBOOKS else "",
        engine_version=ENGINE_VERSION,
        casino_id=stream.casino_id,
        table_id=stream.table_id,
        gaming_day=stream.gaming_day,
        occurred_at=conflict.event.occurred_at.astimezone(UTC),  # whatever its offset
        severity=CONFLICT.severity,
        evidence=[conflict.event.seq],
        facts={"stored_digest": conflict.stored_digest, "sent_digest": conflict.sent_digest},
        currency=stream.currency,
    )
