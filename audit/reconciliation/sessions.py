"""Figures of one session: adjudicated up to date, verified, read once, and stored.

They depend on nothing but the stream through its last event, so they are stored under that event and computed once.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction

from audit.adjudication import stream_reader
from audit.adjudication.replay import advance
from audit.event_store import read
from audit.models import LoggedStream, SessionFigures
from audit.transparency import tree
from audit.transparency.verify import verify
from settlement import ENGINE_VERSION
from settlement.night import figures as night
from settlement.night.bridge import WagerLine
from settlement.night.figures import Figures, SessionProjection
from settlement.state import Wager


class StreamLocked(Exception):
    """Another worker is adjudicating the stream. Try again later."""


def compute_figures(stream_id: int, last_seq: int) -> SessionFigures:
    """Return the figures of a stream through ``last_seq``, computed unless they are stored. Raise ``StreamLocked``."""
    stored = stored_figures(stream_id, last_seq)
    if stored is not None:
        return stored
    while (progress := advance(stream_id)) is not None and progress.behind:
        continue
    if progress is None:
        raise StreamLocked(str(stream_id))
    outcome = verify([], "", streams=[stream_id], with_tree=False)
    encoded = night.encode(_read(stream_id, last_seq, follows_luck=True).figures())
    faults = len(outcome.faults) + outcome.unlisted
    with transaction.atomic():
        row, _is_new = SessionFigures.objects.get_or_create(
            stream_id=stream_id,
            last_seq=last_seq,
            engine_version=ENGINE_VERSION,
            defaults={"figures": encoded, "faults": faults},
        )
    return row


def stored_figures(stream_id: int, last_seq: int) -> SessionFigures | None:
    """Return the figures of a stream through an event, or None if this engine version has not computed them."""
    return SessionFigures.objects.filter(stream_id=stream_id, last_seq=last_seq, engine_version=ENGINE_VERSION).first()


def decode_figures(row: SessionFigures) -> Figures:
    return night.decode(bytes(row.figures))


def wager_lines(stream: LoggedStream, last_seq: int) -> Iterator[tuple[WagerLine, Wager | None]]:
    """Yield the bridge of every wager of a session through an event. A payout on no known wager has none."""
    return _read(stream.stream_id, last_seq, follows_luck=False).lines()


def is_sealed(stream_id: int, last_seq: int, tree_size: int) -> bool:
    """Whether every batch of a stream through an event is in the signed tree of that size."""
    indexes = tree.indexes_of(stream_id)
    batches = read.batches_through(stream_id, last_seq)
    return all(indexes.get(batch.first_seq, tree_size) < tree_size for batch in batches)


def _read(stream_id: int, last_seq: int, *, follows_luck: bool) -> SessionProjection:
    corrections = stream_reader.corrections_of(stream_id, known_through=last_seq)
    projection = SessionProjection(corrections, follows_luck=follows_luck)
    with stream_reader.gc_paused():
        for page in stream_reader.pages(stream_id, 1, last_seq):
            projection.feed(page)
    return projection
