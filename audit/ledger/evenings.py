"""What the sessions of a gaming day give persons: one batch of the draws of everybody who was seen, when it has ended.

    draws of sessions, fed ─► the gaming day has ended ─► evening: all of them, by person
    a session of that day that closes later ───────────► late: a batch of its own

A person goes from table to table, and may go because of what was drawn. So a person is fed when the clock says, and not
when a table closes: docs/ledger-mathematics.md, step 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

import msgspec
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from audit.models import BatchKind, Casino, LedgerBatch, LedgerSetAside
from audit.models.ledger import BY_PERSON
from audit.reconciliation.gaming_days import last_ended
from settlement import ENGINE_VERSION
from settlement.eprocess.ledger import EDITION
from settlement.eprocess.observations import Observations, decode


def unfed(casino: Casino) -> Iterator[LedgerBatch]:
    """Yield the evenings of a casino that have ended and have draws which fed no person, in the order of their days."""
    waiting = _waiting(casino).filter(gaming_day__lte=last_ended(casino, timezone.now()))
    aside = set(LedgerSetAside.objects.filter(casino=casino, kind__in=BY_PERSON).values_list("gaming_day", flat=True))
    for day in sorted(set(waiting.values_list("gaming_day", flat=True)) - aside):
        yield of_day(casino, day)


def of_day(casino: Casino, day: date) -> LedgerBatch:
    """Return the batch of what waits of a gaming day: its evening, or a late one with the last of its sessions."""
    draws = list(_waiting(casino).filter(gaming_day=day).select_related("stream").defer("content").order_by("number"))
    row = LedgerBatch(
        casino=casino,
        kind=BatchKind.EVENING,
        gaming_day=day,
        currency="",
        engine_version=ENGINE_VERSION,
        content=msgspec.json.encode([each.number for each in draws]),
    )
    if LedgerBatch.objects.filter(casino=casino, kind=BatchKind.EVENING, gaming_day=day).exists():
        row.kind, row.stream, row.last_seq = BatchKind.LATE, draws[-1].stream, draws[-1].last_seq
    return row


def is_whole(batch: LedgerBatch) -> bool:
    """Return whether an evening that was not fed still has all that waits; the caller holds the cursor."""
    return bytes(of_day(batch.casino, batch.gaming_day).content) == bytes(batch.content)


def draws_of(batch: LedgerBatch) -> QuerySet[LedgerBatch]:
    """Return the batches whose draws an evening has, in their order."""
    numbers = msgspec.json.decode(bytes(batch.content), type=list[int])
    return LedgerBatch.objects.filter(casino=batch.casino_id, number__in=numbers).order_by("number")


def observations_of(batch: LedgerBatch, instead: Mapping[int, bytes] | None = None) -> Iterator[Observations]:
    """Yield what the sessions of an evening showed; ``instead``: another reading of a session, by its stream."""
    for each in draws_of(batch):
        yield decode((instead or {}).get(each.stream_id or 0, bytes(each.content)))


def sessions_of(batches: Iterable[LedgerBatch]) -> list[LedgerBatch]:
    """Return the batches that ``batches`` have of sessions, without their content: themselves, or those of evenings."""
    return [
        draws for each in batches for draws in (draws_of(each).defer("content") if each.kind in BY_PERSON else [each])
    ]


def _waiting(casino: Casino) -> QuerySet[LedgerBatch]:
    """Return the draws of sessions after which no evening of their day was fed: one takes all that wait."""
    later = LedgerBatch.objects.filter(
        casino=OuterRef("casino"), kind__in=BY_PERSON, gaming_day=OuterRef("gaming_day"), number__gt=OuterRef("number")
    )
    of_casino = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.DRAWS, edition=EDITION, error="")
    return of_casino.filter(~Exists(later))
