"""What every refusal of events has in common."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in a body: where (a JSON Pointer, RFC 6901), what, and the index of the event in the request."""

    pointer: str
    detail: str
    index: int | None = None


class EventsRefused(Exception):
    """Events were refused, and none of their stream was stored. ``str()`` says why, for people."""

    faults: tuple[Fault, ...] = ()
