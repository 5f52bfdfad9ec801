"""Corrected entries: which ``entry.corrected`` takes effect on which event, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import msgspec

from settlement.codec import ShapeError, read_data
from settlement.events import EntryCorrected, Envelope, Event
from settlement.state import Table, find


class Corrections:
    """The ``entry.corrected`` events of a stream, and which of them take effect.

    A correction names an earlier event and brings its data, whole. The last one whose data fits the event's type is
    the one that counts. A correction may itself be corrected.
    """

    __slots__ = ("_by_target", "_effective", "_known", "_met", "pending")

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
        self.pending = bool(self._by_target)

    def knows(self, event: EntryCorrected) -> bool:
        return event.seq in self._known

    @property
    def targets(self) -> list[int]:
        return sorted(self._by_target)

    def made_to(self, event: Event) -> list[EntryCorrected]:
        """Return the corrections that name ``event``, the last first."""
        return self._by_target.get(event.seq, [])

    def corrected(self, event: Event) -> Event:
        """Return ``event`` with the data of its last fitting correction."""
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
        """List a correction that took effect; find one that did not."""
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
            # A later event may have been met already, where what follows was looked at before it was folded.
            is_met = data.corrects < event.seq and data.corrects in self._met
            fault = "other_shape" if is_met else "unknown_seq"
            find(table, "correction-without-effect", event.seq, corrects=data.corrects, fault=fault)


def as_corrected(event: Event, corrections: Iterable[EntryCorrected]) -> tuple[Event, list[EntryCorrected]]:
    """Return ``event`` as ``corrections``, all those of its stream, leave it, and those that were made to it.

    The event itself comes back where none of them fits its type.
    """
    known = Corrections(corrections)
    return known.corrected(event), known.made_to(event)
