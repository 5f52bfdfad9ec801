"""Corrected entries: which ``entry.corrected`` takes effect on which event, and how the others are reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import msgspec

from settlement.codec import ShapeError, read_data
from settlement.events import EntryCorrected, Envelope, Event
from settlement.state import Table, find


class Corrections:
    """The ``entry.corrected`` events of a stream, and which of them take effect.

    A correction names an earlier event and brings its data, whole. Of several, the last one whose data fits the event's
    type counts. A correction may itself be corrected.
    """

    __slots__ = ("_by_target", "_effective", "_known", "_met", "targets")

    def __init__(self, corrections: Iterable[EntryCorrected]) -> None:
        self._known = {correction.seq: correction for correction in corrections}
        self._by_target: dict[int, list[EntryCorrected]] = {}
        self._effective: set[int] = set()
        self._met: set[int] = set()
        # From the last to the first, so that a corrected correction is read as corrected before it counts.
        for seq in sorted(self._known, reverse=True):
            correction = self._known[seq] = cast(EntryCorrected, self.corrected(self._known[seq]))
            if correction.data.corrects < seq:
                self._by_target.setdefault(correction.data.corrects, []).append(correction)
        self.targets = frozenset(self._by_target)
        """The ``seq`` of every event that a correction names."""

    def knows(self, event: EntryCorrected) -> bool:
        """Whether ``event`` is among the corrections."""
        return event.seq in self._known

    def naming(self, event: Event) -> list[EntryCorrected]:
        """Return the corrections that name ``event``, the last first."""
        return self._by_target.get(event.seq, [])

    def corrected(self, event: Event) -> Event:
        """Return ``event`` with the data of its last fitting correction; the event itself if there is none."""
        candidates = self._by_target.get(event.seq)
        if candidates is None:
            return event
        self._met.add(event.seq)
        right: Event | None = None
        for correction in candidates:
            try:
                data = read_data(event, correction.data.data)
            except ShapeError:
                continue
            self._effective.add(correction.seq)
            if right is None:
                right = cast(Event, msgspec.structs.replace(cast(Envelope, event), data=data))
        return right or event

    def report(self, table: Table, event: EntryCorrected) -> None:
        """List a correction that took effect; raise `correction-without-effect` for one that did not."""
        data = event.data
        if event.seq in self._effective:
            table.corrections.append(
                {
                    "seq": event.seq,
                    "corrects": data.corrects,
                    "reason": data.reason,
                    "approved_by": data.approved_by,
                }
            )
        else:
            # ``State.unheld`` looks ahead, so an event after the correction may have been met already.
            is_met = data.corrects < event.seq and data.corrects in self._met
            fault = "other_shape" if is_met else "unknown_seq"
            find(table, "correction-without-effect", event.seq, corrects=data.corrects, fault=fault)


def as_corrected(event: Event, corrections: Iterable[EntryCorrected]) -> tuple[Event, list[EntryCorrected]]:
    """Return ``event`` as it reads after ``corrections``, and those of them that name it, the last first.

    ``corrections`` are all those of the stream. The event itself is returned if none of them fits its type.
    """
    known = Corrections(corrections)
    return known.corrected(event), known.naming(event)
