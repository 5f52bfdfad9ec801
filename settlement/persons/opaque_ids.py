"""Persons are opaque ids in the record, never names: who is meant stands in the directory of the house.

A new event that names a person otherwise is refused at the interface (``codec.decode``, ingestion). Events stored
before this rule are read as ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from settlement import registries
from settlement.events import DATA_OF, Data, EntryCorrected, Envelope, Event

OPAQUE_ID = re.compile(r"[A-Za-z0-9._:-]{1,40}")

PERSON_FIELDS = ("player", "person", "croupier", "approved_by", "counted_by", "staff")
"""The fields of events that name persons: by an id, a list of ids, or a list of objects that have one."""

NOT_OPAQUE = (
    "is not an opaque id (1 to 40 of A-Z a-z 0-9 . _ : -): persons are never named in the record; "
    "their names belong in the directory of the house"
)


def _persons_of(data: type[Data]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(data) if field.name in PERSON_FIELDS)


_persons: dict[type[Envelope], tuple[str, ...]] = registries.table(
    {kind: fields for kind, data in DATA_OF.items() if (fields := _persons_of(data))}
)
PERSONS_OF: Mapping[type[Envelope], tuple[str, ...]] = MappingProxyType(_persons)
"""The person fields of each event type that has any. Who recorded an event, its ``actor``, is one of every type."""


NAMES_A_PLAYER = frozenset(kind for kind, fields in PERSONS_OF.items() if fields == ("player",))
"""The event types whose only person is their player: stakes and throws, of which a stream mostly consists."""


def note_persons(kind: type[Envelope]) -> None:
    """Note the person fields of a type of a ruleset's own, if it has any: it is looked at closely in any case."""
    registries.add(_persons, kind, _persons_of(DATA_OF[kind]), "an event type")


def is_opaque(person: object) -> bool:
    """Whether ``person`` is an opaque id, or nobody."""
    return not isinstance(person, str) or OPAQUE_ID.fullmatch(person) is not None


def pointer_to_name(event: Event) -> str | None:
    """Return the JSON Pointer of the first person in ``event`` who is not an opaque id; None if there is none."""
    for pointer, value in _persons_in(event):
        if not is_opaque(value):
            return pointer
    return None


def _persons_in(event: Event) -> Iterator[tuple[str, object]]:
    yield "/actor", event.actor
    for name in PERSONS_OF.get(type(event), ()):
        yield from _in_field(f"/data/{name}", getattr(event.data, name))
    if isinstance(event, EntryCorrected):
        yield from _in_right_data("/data/data", event.data.data)


def _in_right_data(pointer: str, data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the persons in the data of a correction, which may itself correct a correction."""
    for name in PERSON_FIELDS:
        yield from _in_field(f"{pointer}/{name}", data.get(name))
    if isinstance(inner := data.get("data"), dict):
        yield from _in_right_data(f"{pointer}/data", inner)


def _in_field(pointer: str, value: Any) -> Iterator[tuple[str, object]]:
    if not isinstance(value, list):
        yield pointer, value
        return
    for index, item in enumerate(value):
        if isinstance(item, str):
            yield f"{pointer}/{index}", item
        else:
            person = item.get("person") if isinstance(item, dict) else getattr(item, "person", None)
            yield f"{pointer}/{index}/person", person
