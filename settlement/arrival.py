"""Events as they arrive, decoded or as raw JSON, in any order and some of them twice: made one stream."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import cast

from settlement.codec import ShapeError, canonical, decode, decode_all, in_bytes
from settlement.events import Event


class NeedsReplay(Exception):
    """The event changes what was folded before it: the stream must be replayed from ``from_seq``.

    ``held`` are the changes that were found to have no effect, all of them: ``State`` takes them. Empty for an event
    that was not known in advance.
    """

    def __init__(self, from_seq: int = 1, held: Collection[int] = ()) -> None:
        super().__init__(f"the stream must be replayed from seq {from_seq}")
        self.from_seq = from_seq
        self.held = frozenset(held)


class AnotherStream(ValueError):
    """Events of more than one stream were fed to one state."""

    def __init__(self, stream: str, other: str) -> None:
        super().__init__(f"an event of stream '{other}' came among those of '{stream}'")
        self.stream = stream
        self.other = other


def as_stream(events: Iterable[Event | bytes | str]) -> tuple[list[Event], list[int]]:
    """Return the events of one stream by ``seq``, each once, and the numbers that came with two contents.

    Of two contents the first counts. Raise ``ShapeError`` for raw JSON that is not a well-shaped event,
    ``AnotherStream`` for events of several streams.
    """
    items = [in_bytes(item) if isinstance(item, str) else item for item in events]
    stream = _decoded(items)
    seqs = [event.seq for event in stream]
    if seqs == list(range(1, len(seqs) + 1)):
        return stream, []  # the fold refuses the first event of another stream
    names = {event.stream for event in stream}
    if len(names) > 1:
        name = stream[0].stream
        raise AnotherStream(name, next(event.stream for event in stream if event.stream != name))
    return _in_order(stream, items) if seqs != sorted(set(seqs)) else (stream, [])


def _decoded(items: list[Event | bytes]) -> list[Event]:
    if set(map(type, items)) == {bytes}:
        return decode_all(cast(list[bytes], items))
    return [decode(item) if isinstance(item, bytes) else item for item in items]


def _in_order(stream: list[Event], items: list[Event | bytes]) -> tuple[list[Event], list[int]]:
    """Return ``stream``, decoded from ``items``, by ``seq``, each once, and the numbers that came with two contents."""
    first: dict[int, int] = {}
    conflicts: set[int] = set()
    for index, event in enumerate(stream):
        earlier = first.setdefault(event.seq, index)
        if earlier != index and not _same(items[earlier], items[index], stream[earlier], event):
            conflicts.add(event.seq)
    return [stream[first[seq]] for seq in sorted(first)], sorted(conflicts)


def _same(first: Event | bytes, again: Event | bytes, event: Event, other: Event) -> bool:
    """Whether two items under one ``seq`` are the same event: raw ones by their canonical form."""
    if isinstance(first, bytes) and isinstance(again, bytes):
        try:
            return first == again or canonical(first) == canonical(again)
        except ShapeError:  # an object that gives a name twice has no canonical form
            return False
    return event == other
