"""Which wagers an event mentions, and wagers as bytes: what a long stream needs to let settled wagers go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import cast

import msgspec

from settlement import registries
from settlement.events import (
    DATA_OF,
    DisputeSettled,
    Envelope,
    Event,
    OrphanRecorded,
    PayoutMade,
    StakesCollected,
    WagerPlaced,
)
from settlement.state import Wager

_encode_wagers = msgspec.msgpack.Encoder().encode
_decode_wagers = msgspec.msgpack.Decoder(list[Wager]).decode


def save_wagers(wagers: list[Wager]) -> bytes:
    """Return retired wagers as bytes."""
    return _encode_wagers(wagers)


def load_wagers(saved: bytes) -> list[Wager]:
    """Return the wagers that ``save_wagers`` saved."""
    return _decode_wagers(saved)


@cache
def names_a_wager(kind: type[Envelope]) -> bool:
    """Whether events of a type name a wager: then its id is the field ``wager`` of their data, if it was sent."""
    data = DATA_OF.get(kind)
    return data is not None and "wager" in data.__struct_fields__


registries.forgets(names_a_wager.cache_clear)


def mentioned(events: Iterable[Event], disputes: Mapping[int, str | None] = MappingProxyType({})) -> set[str]:
    """Return the ids of all wagers that ``events`` mention. ``disputes`` are the wagers of those opened before."""
    ids: set[str] = set()
    add = ids.add
    for event in events:
        kind = type(event)
        if kind is WagerPlaced:
            placed = cast(WagerPlaced, event).data
            add(placed.wager)
            if placed.base:
                add(placed.base)
            if placed.left_up_from:
                add(placed.left_up_from)
        elif kind is PayoutMade:
            paid = cast(PayoutMade, event).data
            add(paid.wager)
            if paid.continues_as:
                add(paid.continues_as)
        elif kind is StakesCollected:
            ids.update(cast(StakesCollected, event).data.wagers)
        elif names_a_wager(kind):
            add(cast(OrphanRecorded, event).data.wager or "")
        elif kind is DisputeSettled:
            add(disputes.get(cast(DisputeSettled, event).data.opened) or "")
    ids.discard("")
    return ids
