"""Events as they are spooled, sent and hashed: canonical JSON (RFC 8785), with ``v`` and ``data`` written out.

The record hashes these very bytes, so that a receipt can be compared with what is in the spool. Only what every event
has is checked here: names of streams, numbers, sizes. Whether a type has the right fields, the record says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

MAX_EVENT_BYTES = 32 * 1024
"""Largest event that the record takes."""

MAX_EXT_BYTES = 4096
MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1
LOST = "events.lost"

NUMBERS = frozenset({"annuls", "corrects", "opened", "through", "voids"})
"""Fields of ``data`` that are the number of an event of the same stream."""

_STREAM = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_FIELDS = frozenset({"stream", "seq", "type", "v", "occurred_at", "actor", "data", "ext"})
_REQUIRED = ("stream", "seq", "type", "occurred_at")


class EventError(ValueError):
    """An event that the record could not take: the message says where the fault is and what to write instead."""


def canonical(event: Mapping[str, Any]) -> bytes:
    """Return an event in canonical form. Raise ``EventError``."""
    envelope: dict[str, Any] = {"v": 1, "data": {}, **event}
    _check_envelope(envelope)
    _check_value(envelope, "", MAX_DEPTH)
    encoded = canonical_json(envelope)
    if len(encoded) > MAX_EVENT_BYTES:
        raise EventError(f"the event is {len(encoded)} bytes, more than {MAX_EVENT_BYTES}")
    if "ext" in envelope and len(canonical_json(envelope["ext"])) > MAX_EXT_BYTES:
        raise EventError(f"/ext: is more than {MAX_EXT_BYTES} bytes")
    return encoded


def canonical_json(value: object) -> bytes:
    """Return JSON with sorted names and no spaces. It is RFC 8785 for what ``canonical`` lets pass."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def next_seq_after(event: Mapping[str, Any]) -> int:
    """Return the number of the event after this one: after ``events.lost``, the first that is not lost."""
    seq = int(event["seq"])
    if event["type"] == LOST:
        return max(seq, int(event["data"]["through"])) + 1
    return seq + 1


def one_higher(event: Mapping[str, Any], first: int, last: float = math.inf) -> dict[str, Any]:
    """Return an event in which each number of an event from ``first`` to ``last`` is one higher, its own too."""

    def raised(name: str, value: Any) -> Any:
        if name in NUMBERS and type(value) is int and first <= value <= last:
            return value + 1
        return in_data(value) if isinstance(value, Mapping) else value  # the data that entry.corrected puts right

    def in_data(data: Mapping[str, Any]) -> dict[str, Any]:
        return {name: raised(name, value) for name, value in data.items()}

    seq = event["seq"]
    seq += first <= seq <= last
    higher = {**event, "seq": seq}
    return higher | {"data": in_data(event["data"])} if isinstance(event.get("data"), Mapping) else higher


def in_rfc_3339(instant: datetime | None) -> str:
    """Return an instant, now by default, with its offset. Raise ``EventError`` for one without an offset."""
    instant = instant or datetime.now().astimezone()
    if instant.utcoffset() is None:
        raise EventError("/occurred_at: has no offset; use datetime.now().astimezone() or give it a tzinfo")
    return instant.isoformat()


def check_stream(stream: str) -> str:
    """Return the name of a stream. Raise ``EventError`` if it is none."""
    if not isinstance(stream, str) or not _STREAM.fullmatch(stream):
        raise EventError(f"/stream: '{stream}' is not 1 to 100 of A-Z a-z 0-9 . _ : -")
    return stream


def _check_envelope(envelope: Mapping[str, Any]) -> None:
    missing = [name for name in _REQUIRED if name not in envelope]
    unknown = sorted(set(envelope) - _FIELDS)
    if missing or unknown:
        raise EventError(f"/{(missing or unknown)[0]}: is {'missing' if missing else 'no field of an event'}")
    check_stream(envelope["stream"])
    seq = envelope["seq"]
    if type(seq) is not int or seq < 1:
        raise EventError("/seq: is not an integer from 1")
    for name in ("type", "occurred_at"):
        if not isinstance(envelope[name], str):
            raise EventError(f"/{name}: is not text")
    for name in ("data", "ext"):
        if not isinstance(envelope.get(name, {}), Mapping):
            raise EventError(f"/{name}: is not an object")
    if envelope["type"] == LOST:
        through = envelope["data"].get("through")
        if type(through) is not int or through < seq:
            raise EventError("/data/through: is not the number of the last lost event, from seq on")


def _check_value(value: object, pointer: str, depth: int) -> None:
    """Raise ``EventError`` for what has no canonical form, or what the record does not take in any field."""
    if depth < 0:
        raise EventError(f"{pointer}: is more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        for name, each in value.items():
            if not isinstance(name, str):
                raise EventError(f"{pointer}: the name {name!r} is not text")
            if any(character > "\uffff" for character in name):
                raise EventError(f"{pointer}: the name {name!r} has a character beyond U+FFFF")
            _check_text(name, pointer)
            _check_value(each, f"{pointer}/{name}", depth - 1)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            _check_value(each, f"{pointer}/{index}", depth - 1)
    elif isinstance(value, str):
        _check_text(value, pointer)
    elif isinstance(value, float):
        raise EventError(f"{pointer}: {value!r} is not an integer; amounts are in minor units, 12.50 is 1250")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise EventError(f"{pointer}: {value} is beyond ±(2^53 − 1); give it as text")
    elif value is not None:
        raise EventError(f"{pointer}: {type(value).__name__} is not JSON")


def _check_text(text: str, pointer: str) -> None:
    if "\0" in text:
        raise EventError(f"{pointer}: has the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EventError(f"{pointer}: is not valid Unicode") from None
