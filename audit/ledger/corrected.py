"""What a process would be, had its sessions been fed as they read now: description, never evidence.

A correction does not rewind a process, because whoever decides about corrections may know the draws. What its wealth
would be is shown beside it.
"""

from __future__ import annotations

from django.db.models import F, OuterRef, Subquery

from audit.ledger.feeding import batches_of
from audit.models import BatchKind, LedgerPoint, LedgerProcess, StreamEvidence
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import name_of
from settlement.eprocess.process import Process


def would_be(process: LedgerProcess) -> Process | None:
    """Return what ``process`` would be by the newest reading of each of its sessions; None if none reads otherwise."""
    newest = StreamEvidence.objects.filter(stream=OuterRef("batch__stream")).order_by("-last_seq", "-pk")
    points = LedgerPoint.objects.filter(process=process).select_related("batch").order_by("batch__number")
    read_now = points.annotate(newest=Subquery(newest.values("observations")[:1]))
    otherwise = read_now.filter(batch__kind=BatchKind.DRAWS, newest__isnull=False).exclude(newest=F("batch__content"))
    if not otherwise.exists():
        return None
    pure = Process(process.kind, process.subject, process.variant)
    mixture = KINDS[process.kind].mixture(process.variant)
    for point in read_now.iterator(chunk_size=100):
        batch = point.batch
        pure.batches = 0 if batch.year != pure.year else pure.batches
        pure.year = batch.year
        content = bytes(batch.content)
        if batch.kind == BatchKind.DRAWS and point.newest is not None:
            content = bytes(point.newest)
        for fed in batches_of(batch, content):
            if name_of(fed) == process.name:
                pure.feed(mixture, fed.seen, draws=fed.draws, session="")
    return pure
