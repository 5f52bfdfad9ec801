"""Envelopes as verification and the sequencer read them: is a body an envelope, and of the event that it is stored as?

An envelope is a JSON object with ``stream``, ``seq``, ``type``, ``v``, ``occurred_at`` and ``data``, an object, and the
database can read it. Table systems send others, which the interface refuses; the database keeps any JSON that somebody
else puts there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from audit.event_store.binary_copy import microseconds
from audit.event_store.readable import holds_unreadable

SHALLOW = 100
"""Brackets that JSON opens at most and is certainly read without filling the stack."""

Positions: TypeAlias = tuple[set[str], tuple[int, ...], tuple[int, ...]]
"""The streams, the numbers and the instants, in microseconds since 2000, that envelopes state."""


class _Object(msgspec.Struct, gc=False):
    """A JSON object; what is in it is parsed and not kept."""


class _Position(msgspec.Struct, gc=False):
    """Where an envelope says that its event is."""

    stream: str
    seq: int
    occurred_at: datetime
    type: str
    v: int
    data: _Object


class _Loss(msgspec.Struct):
    through: int | None = None


class _Opening(msgspec.Struct):
    gaming_day: str | None = None
    game: str | None = None
    ruleset: str | None = None
    currency: str | None = None


class _Envelope(msgspec.Struct):
    type: str
    data: msgspec.Raw


_decode_positions = msgspec.json.Decoder(list[_Position]).decode
_decode = msgspec.json.Decoder(_Envelope).decode


def positions(array: bytes) -> Positions | None:
    """Return what a JSON array of bodies says of their places; None if any is no envelope, or if there is none.

    Raise ``RecursionError`` where the caller has filled the stack: nothing is known of the bodies then.
    """
    try:
        read = _decode_positions(array)
        if not read or holds_unreadable(array):
            return None
        instants_us = tuple(microseconds([each.occurred_at for each in read]))
    except (msgspec.DecodeError, ValueError, TypeError, OverflowError):
        return None
    except RecursionError:
        if _is_shallow(array):
            raise
        return None
    return {each.stream for each in read}, tuple([each.seq for each in read]), instants_us


def misplaced(stream: str, seqs: Sequence[int], instants_us: Sequence[int], bodies: Sequence[bytes]) -> list[int]:
    """Return the numbers, of those under which bodies are stored, whose body is no envelope of that event."""
    if positions(b"[%b]" % b",".join(bodies)) == ({stream}, tuple(seqs), tuple(instants_us)):
        return []  # all at once, because as a rule every one is
    return [
        seq
        for seq, instant_us, body in zip(seqs, instants_us, bodies, strict=True)
        if positions(b"[%b]" % body) != ({stream}, (seq,), (instant_us,))
    ]


def next_seq(envelope: bytes, seq: int) -> int:
    """Return the number that follows event ``seq``: one more, or the one after the loss that it declares. -1 if bad."""
    event = _read(envelope, _Envelope)
    if event is None:
        return -1
    if event.type != "events.lost":
        return seq + 1
    loss = _read(event.data, _Loss)
    return -1 if loss is None else (loss.through or seq) + 1


def opened(envelope: bytes) -> tuple[str | None, str | None, str | None, str | None] | None:
    """Return what a stream's first event says of it: gaming day, game, ruleset, currency. None if it is malformed."""
    event = _read(envelope, _Envelope)
    opening = _read(event.data, _Opening) if event is not None else None
    return (opening.gaming_day, opening.game, opening.ruleset, opening.currency) if opening is not None else None


def _read(raw: bytes | msgspec.Raw, of: type[Any]) -> Any:
    """Return what is in ``raw``, None if it is malformed. Raise as ``positions``."""
    try:
        return _decode(raw) if of is _Envelope else msgspec.json.decode(raw, type=of)
    except msgspec.DecodeError:
        return None
    except RecursionError:
        if _is_shallow(bytes(raw)):
            raise
        return None


def _is_shallow(raw: bytes) -> bool:
    """Whether the bytes cannot be what filled the stack."""
    return raw.count(b"[") + raw.count(b"{") < SHALLOW
