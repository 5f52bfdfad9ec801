"""The sightings of listed players, held against the audit trail.

listing.seen, listing.dismissed ─► each sighting ─► the same, row by row, or a fault
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from audit.models import Sighting
from audit.persons import listings, sightings
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

Key = tuple[int, int, str, str]
"""The id of a casino, the number of an entry of its lists, a gaming day, and the name of a session."""


@dataclass(slots=True)
class _Sighting:
    """What the audit trail says of a sighting, or a row; the officer by name."""

    outcome: str = ""
    dismissal: str = ""
    dismissed_by: str = ""
    dismissed_at: datetime | None = None


def wrong_sightings(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the sightings at a casino, at every casino for None."""
    expected: dict[Key, _Sighting] = {}
    for entry in entries(casino_id, (sightings.SEEN, listings.DISMISSED)):
        key = (entry.casino_id, entry.number("listing"), entry.text("gaming_day"), entry.text("session"))
        if entry.type == sightings.SEEN:
            expected[key] = _Sighting()
        elif (dismissed := _dismissed_by(key, expected)) is not None:
            _dismiss(dismissed, entry)
        else:
            yield WrongRow("sighting", f"{entry.name} dismisses what nobody saw: {_named(key)}")
    yield from _against_the_rows(casino_id, expected)


def _dismissed_by(key: Key, seen: Mapping[Key, _Sighting]) -> _Sighting | None:
    """Return the sighting that an entry dismisses. One from before a day could have several names no session."""
    *day, session = key
    return seen.get(key) if session else next((each for own, each in seen.items() if [*own[:3]] == day), None)


def _dismiss(sighting: _Sighting, entry: Entry) -> None:
    sighting.outcome, sighting.dismissal = entry.text("outcome"), entry.text("reason").strip()
    sighting.dismissed_by, sighting.dismissed_at = entry.actor, entry.at


def _against_the_rows(casino_id: int | None, expected: dict[Key, _Sighting]) -> Iterator[WrongRow]:
    names = officer_names()
    rows = Sighting.objects.select_related("listing", "stream").order_by("pk")
    for row in rows if casino_id is None else rows.filter(listing__casino=casino_id):
        key = (row.listing.casino_id, row.listing.number, row.gaming_day.isoformat(), row.stream.name)
        stored = _Sighting(
            row.outcome,
            row.dismissal,
            names.get(row.dismissed_by_id, f"account {row.dismissed_by_id}") if row.dismissed_by_id else "",
            row.dismissed_at,
        )
        if (stated := expected.pop(key, None)) is None:
            yield _wrong(key, "is stored, and the audit trail does not say so")
        elif stored != stated:
            says = asdict(stated)
            altered = [name for name, value in asdict(stored).items() if value != says[name]]
            yield _wrong(key, f"is not what the audit trail says: {', '.join(altered)}")
    for key in expected:
        yield _wrong(key, "is missing")


def _wrong(key: Key, what: str) -> WrongRow:
    return WrongRow("sighting", f"{_named(key)} {what}")


def _named(key: Key) -> str:
    casino, number, day, _session = key
    return f"the sighting of {day} of entry {number} on the lists of casino {casino}"
