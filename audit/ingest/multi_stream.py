"""Several streams in one request: each stored whole or not at all, and answered by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from audit.api.problems import Problem, document
from audit.ingest.bodies import Body
from audit.ingest.record import MAX_FAULTS
from settlement.codec import STREAM_NAME

Store = Callable[[str, Body], tuple[int, dict[str, Any]]]
"""What stores the events of one stream: returns the status and the receipt, raises ``Problem``."""


class _Named(msgspec.Struct):
    stream: str


_decode = msgspec.json.Decoder(_Named).decode


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request of several streams; ``status`` is 207 where theirs differ."""

    status: int
    results: list[dict[str, Any]]


def by_stream(body: Body) -> dict[str, Body]:
    """Return the events of a request by stream, in the order the streams first come.

    Raise 422 ``invalid`` where an event names none: then nobody can say where it belongs, and nothing is stored.
    """
    places: dict[str, list[int]] = {}
    faults: list[tuple[int, str]] = []
    for index, raw in enumerate(body.events):
        try:
            name = _decode(raw).stream
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append((index, str(error)))
            continue
        if STREAM_NAME.fullmatch(name):
            places.setdefault(name, []).append(index)
        else:
            faults.append((index, "is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)"))
    if faults:
        raise Problem(
            422,
            "invalid",
            f"{len(faults)} of {len(body.events)} events do not say of which stream they are; none was recorded.",
            errors=[
                {"pointer": f"{body.pointer}/{index}/stream", "detail": detail, "index": index}
                for index, detail in faults[:MAX_FAULTS]
            ],
        )
    return {name: _part(body, indexes) for name, indexes in places.items()}


def _part(body: Body, places: list[int]) -> Body:
    events = [body.events[place] for place in places]
    array = b"[" + b",".join(events) + b"]"
    return Body(array, events, body.pointer, array if body.array else b"", tuple(places))


def store_each(parts: dict[str, Body], store: Store) -> Answer:
    """Store the events of each stream by itself. What one is refused for keeps none of the others."""
    results: list[dict[str, Any]] = []
    for name, part in parts.items():
        try:
            status, receipt = store(name, part)
            results.append({"stream": name, "status": status, "receipt": receipt})
        except Problem as problem:
            results.append({"stream": name, "status": problem.status_code, "problem": document(problem)})
    statuses = {result["status"] for result in results}
    return Answer(statuses.pop() if len(statuses) == 1 else 207, results)
