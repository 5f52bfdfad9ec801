"""What the closes of sessions have kept, for the streams of a whole night at once: as many queries for ten as for one.

The same as ``sessions.stored_figures`` and ``sessions.stored_money`` give of one stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from audit.corrections.decisions import decided_of
from audit.models import LoggedStream, SessionFigures, StreamEvidence
from audit.models import StreamMoney as StoredMoney
from audit.register.in_force import digests_of
from settlement import ENGINE_VERSION
from settlement.persons import stream_money
from settlement.persons.stream_money import StreamMoney

_Row = TypeVar("_Row", SessionFigures, StoredMoney, StreamEvidence)


class Key(NamedTuple):
    """What a row is kept by, apart from its stream and the engine's version; both digests are "" for nothing."""

    last_seq: int
    readings: str
    corrections: str


def keys_of(last_seqs: Mapping[int, int]) -> dict[int, Key]:
    """Return what streams, each through an event, are kept by now, by stream id."""
    readings = digests_of(LoggedStream.objects.filter(pk__in=list(last_seqs)))
    decided = decided_of(last_seqs)
    return {
        stream_id: Key(last_seq, readings[stream_id], decided[stream_id].through(last_seq).key)
        for stream_id, last_seq in last_seqs.items()
    }


def missing(last_seqs: Mapping[int, int]) -> list[int]:
    """Return the sessions whose figures are not stored through an event, in the order of ``last_seqs``."""
    stored = _ids(SessionFigures, keys_of(last_seqs))
    return [stream_id for stream_id in last_seqs if stream_id not in stored]


def figures_of(last_seqs: Mapping[int, int]) -> dict[int, SessionFigures]:
    """Return the figures of sessions, each through an event, by stream id; those that are not stored are not there."""
    return _rows(SessionFigures, keys_of(last_seqs))


def win_lines_of(keys: Mapping[int, Key]) -> dict[int, list[int]]:
    """Return the points of the win line of sessions that are kept under ``keys``, by stream id; some have none."""
    found = SessionFigures.objects.filter(pk__in=_ids(SessionFigures, keys).values(), win_line__isnull=False)
    return {stream_id: points for stream_id, points in found.values_list("stream_id", "win_line") if points is not None}


def money_of(last_seqs: Mapping[int, int]) -> dict[int, StreamMoney]:
    """Return the money of the players of sessions and count rooms, as far as it is stored, by stream id."""
    rows = _rows(StoredMoney, keys_of(last_seqs))
    return {stream_id: stream_money.decode(bytes(row.money)) for stream_id, row in rows.items()}


def evidence_of(last_seqs: Mapping[int, int]) -> Iterator[tuple[int, bytes]]:
    """Yield what sessions give the ledger, encoded, as far as it is stored, each with its stream id; few at a time."""
    found = StreamEvidence.objects.filter(pk__in=_ids(StreamEvidence, keys_of(last_seqs)).values())
    for stream_id, observations in found.values_list("stream_id", "observations").iterator(chunk_size=16):
        yield stream_id, bytes(observations)


def _ids(model: type[_Row], keys: Mapping[int, Key]) -> dict[int, int]:
    """Return the primary keys of rows, by stream id: without what they hold, which of other keys may be much."""
    rows = model._default_manager.filter(stream__in=list(keys), engine_version=ENGINE_VERSION)
    found = rows.values_list("pk", "stream_id", "last_seq", "readings", "corrections")
    return {stream_id: pk for pk, stream_id, *key in found if keys[stream_id] == tuple(key)}


def _rows(model: type[_Row], keys: Mapping[int, Key]) -> dict[int, _Row]:
    rows = model._default_manager.in_bulk(list(_ids(model, keys).values()))
    return {row.stream_id: row for row in rows.values()}
