"""Several streams in one request: each is stored whole or refused by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from audit.ingest.bodies import Body
from audit.ingest.record import MAX_FAULTS
from audit.ingest.refusals import EventsRefused, Fault
from settlement.codec import STREAM_NAME

Stored = TypeVar("Stored")


class _Named(msgspec.Struct):
    stream: str


_decode_name = msgspec.json.Decoder(_Named).decode


class UnnamedStreams(EventsRefused):
    """Events do not say to which stream they belong, so no event of the request was stored."""

    def __init__(self, faults: list[Fault], count: int) -> None:
        super().__init__(f"{len(faults)} of {count} events do not say of which stream they are; none was recorded.")
        self.faults = tuple(faults[:MAX_FAULTS])


def by_stream(body: Body) -> dict[str, Body]:
    """Return the events of a request by stream, in the order in which the streams first occur.

    Raise ``UnnamedStreams`` if an event names no stream.
    """
    indexes: dict[str, list[int]] = {}
    faults: list[Fault] = []
    for index, raw in enumerate(body.events):
        pointer = f"{body.pointer}/{index}/stream"
        try:
            name = _decode_name(raw).stream
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(Fault(pointer, str(error), index))
            continue
        if STREAM_NAME.fullmatch(name):
            indexes.setdefault(name, []).append(index)
        else:
            faults.append(Fault(pointer, "is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)", index))
    if faults:
        raise UnnamedStreams(faults, len(body.events))
    return {name: _part(body, of_stream) for name, of_stream in indexes.items()}


def _part(body: Body, indexes: list[int]) -> Body:
    events = [body.events[index] for index in indexes]
    array = b"[" + b",".join(events) + b"]"
    return Body(array, events, body.pointer, array if body.array else b"", tuple(indexes))


def store_each(
    bodies: dict[str, Body], store: Callable[[str, Body], Stored]
) -> Iterator[tuple[str, Stored | EventsRefused]]:
    """Store the events of each stream; yield its name with what ``store`` returned, or with its refusal."""
    for name, body in bodies.items():
        try:
            yield name, store(name, body)
        except EventsRefused as refusal:
            yield name, refusal
