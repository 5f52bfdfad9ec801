"""What a process would be, had its sessions been fed as they read now: description, never evidence.

A correction does not rewind a process, because whoever decides about corrections may know the draws. The page shows
beside it what its wealth would be.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F, OuterRef, QuerySet, Subquery

from audit.ledger import evenings
from audit.ledger.feeding import batches_of
from audit.models import BatchKind, LedgerBatch, LedgerProcess, StreamEvidence
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import name_of
from settlement.eprocess.process import Process


def would_be(process: LedgerProcess) -> Process | None:
    """Return what ``process`` would be by the newest reading of each of its sessions; None if none reads otherwise."""
    if process.is_of_earlier_edition:
        return None
    batches = LedgerBatch.objects.filter(points__process=process).order_by("number")
    instead = _read_otherwise(evenings.sessions_of(_without_draws(batches)))
    if not instead:
        return None
    pure = Process(process.kind, process.subject, process.variant)
    mixture = KINDS[process.kind].mixture(process.variant)
    for batch in batches.iterator(chunk_size=100):
        pure.batches = 0 if batch.year != pure.year else pure.batches
        pure.year = batch.year
        for fed in batches_of(batch, instead):
            if name_of(fed) == process.name:
                pure.feed(mixture, fed.seen, draws=fed.draws, session="")
    return pure


def _without_draws(batches: QuerySet[LedgerBatch]) -> Iterator[LedgerBatch]:
    """Yield batches, those of draws without their content: much, and nothing of it is looked at."""
    yield from batches.exclude(kind=BatchKind.DRAWS)
    yield from batches.filter(kind=BatchKind.DRAWS).defer("content")


def _read_otherwise(draws: list[LedgerBatch]) -> dict[int, bytes]:
    """Return the newest reading of each session that reads otherwise than it was fed, by its stream."""
    newest = StreamEvidence.objects.filter(stream=OuterRef("stream")).order_by("-last_seq", "-pk")
    of_draws = LedgerBatch.objects.filter(pk__in=[each.pk for each in draws if each.kind == BatchKind.DRAWS])
    read_now = of_draws.annotate(newest=Subquery(newest.values("observations")[:1]))
    otherwise = read_now.filter(newest__isnull=False).exclude(newest=F("content"))
    return {each.stream_id: bytes(each.newest) for each in otherwise if each.stream_id is not None}
