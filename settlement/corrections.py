"""Changes to earlier events: which correction, annulment or voiding takes effect, how grave it is, how it is reported.

    entry.corrected   brings the data of an earlier event anew, whole; of several, the last that fits counts
    entry.annulled    says that an earlier event never happened
    with ``voids``    one that voids a throw or a spin: says that the result just counted was none, «Coup nul»

Nothing is erased, and nobody corrects himself unseen: every correction and annulment is a finding, for information in
its coup and before money moved on it, graver after. A change that ``approved`` leaves out has no effect while it is
more than information; whether it is can be told only when it comes, so such a change is *held* when the stream is read
again: the first that is found each time, because without its effect a later one may be more grave or less. So the steps
in which a stream is read do not matter. A change never changes on a change: whoever errs in a correction corrects the
same event once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias, cast

import msgspec

from settlement.codec import ShapeError, read_data
from settlement.events import (
    OPENERS,
    VOIDS,
    EntryAnnulled,
    EntryCorrected,
    Envelope,
    Event,
    Voiding,
)

Change: TypeAlias = EntryCorrected | EntryAnnulled | Voiding
"""An event that changes an earlier one; one that voids a throw or a spin only with ``voids``."""

MOST_HELD = 16
"""The changes that are held one after the other; the next one takes every later change without approval with it."""

Fault: TypeAlias = Literal["unknown_seq", "other_shape", "of_correction", "of_annulled", "opener", "not_last_result"]


def target_of(event: Event | Change) -> int | None:
    """Return the seq of the earlier event that ``event`` changes on; None if it is no change."""
    match event:
        case EntryCorrected():
            return event.data.corrects
        case EntryAnnulled():
            return event.data.annuls
        case _ if type(event) in VOIDS:
            voids = cast(Voiding, event).data.voids
            return voids if isinstance(voids, int) else None
        case _:
            return None


def changes_in(events: Iterable[Event]) -> list[Change]:
    """Return the changes to earlier events among ``events``."""
    types = {EntryCorrected, EntryAnnulled, *VOIDS}  # by type, looked up for every event of a stream
    may_change = [event for event in events if type(event) in types]
    return [cast(Change, event) for event in may_change if target_of(event) is not None]


def still_held(held: Collection[int], changes: Iterable[Change], *, known_through: int) -> frozenset[int]:
    """Return with which of ``held`` to begin again now that ``changes`` are known, and not only those before.

    What was held stays so where the changes after ``known_through`` leave alone what lies before it, by which it was
    judged. Otherwise what is held is found anew, from none.
    """
    new = [cast(int, target_of(change)) for change in changes if change.seq > known_through]
    is_unmoved = len(held) <= MOST_HELD and max(held, default=0) < min(new, default=0)
    return frozenset(held if is_unmoved or not new else ())


class Corrections:
    """The changes of a stream, and what each event is after them.

    ``held`` are the changes that are known to have no effect, by seq.
    """

    __slots__ = ("_by_target", "_changes", "_faults", "held", "targets")

    def __init__(self, changes: Iterable[Change], held: Collection[int] = ()) -> None:
        self._changes: dict[int, Change] = {
            change.seq: change for change in sorted(changes, key=lambda change: change.seq)
        }
        self.held = frozenset(held)
        """The changes that have no effect, by seq."""
        self._faults: dict[int, Fault] = {}
        self._by_target: dict[int, list[Change]] = {}
        for seq, change in self._changes.items():
            target = cast(int, target_of(change))
            if target >= seq:
                self._faults[seq] = "unknown_seq"
            elif target in self._changes:
                self._faults[seq] = "of_correction"
            else:
                self._by_target.setdefault(target, []).append(change)
        self.targets = frozenset(self._by_target)
        """The ``seq`` of every event that a change may change on."""

    @property
    def last(self) -> int:
        """The seq of the last change; 0 if there is none."""
        return max(self._changes, default=0)

    @property
    def changes(self) -> list[Change]:
        """The changes, in order."""
        return list(self._changes.values())

    def knows(self, event: Event) -> bool:
        """Whether ``event`` is among the changes."""
        return event.seq in self._changes

    def naming(self, event: Event) -> list[Change]:
        """Return the changes that name ``event``, the last first."""
        return self._by_target.get(event.seq, [])[::-1]

    def fault(self, seq: int) -> Fault | None:
        """Return why change ``seq`` can have no effect, as far as the changes tell; None if they do not."""
        return self._faults.get(seq)

    def held_with(self, seq: int, approved: Collection[int] | None) -> frozenset[int]:
        """Return what is held once change ``seq`` is found to have no effect; ``approved`` None: every one is."""
        held = self.held | {seq}
        if len(self.held) < MOST_HELD or approved is None:
            return held
        return held | {later for later in self._changes if later > seq and later not in approved}

    def without(self, seq: int) -> Corrections:
        """Return these changes with ``seq`` the other way round: held if it is in effect, in effect if held."""
        return Corrections(self._changes.values(), self.held ^ {seq})

    def removed_by(self, event: Event) -> int:
        """Return the change by which ``event`` never happened or was void; 0 if it stands."""
        for change in self._by_target.get(event.seq, ()):
            if change.seq not in self.held and can_remove(change, event):
                return change.seq
        return 0

    def voids(self, seq: int) -> bool:
        """Whether change ``seq`` voids a result, rather than to say that it never happened."""
        return type(self._changes[seq]) in VOIDS

    def corrected(self, event: Event) -> Event:
        """Return ``event`` with the data of its last fitting correction in effect; itself if there is none."""
        for change in self.naming(event):
            if change.seq not in self.held and (data := fitting(change, event)) is not None:
                return data
        return event


def can_remove(change: Change, event: Event) -> bool:
    """Whether ``change`` can annul or void ``event``: not the opener, and only a result is voided."""
    match change:
        case EntryAnnulled():
            return not isinstance(event, OPENERS)
        case EntryCorrected():
            return False
        case _:
            return type(event) is change.voids_result


def fitting(change: Change, event: Event) -> Event | None:
    """Return ``event`` with the data that ``change`` brings; None if it brings none or of another shape."""
    if not isinstance(change, EntryCorrected):
        return None
    try:
        data = read_data(event, change.data.data)
    except ShapeError:
        return None
    return cast(Event, msgspec.structs.replace(cast(Envelope, event), data=data))


def as_corrected(event: Event, changes: Iterable[Change]) -> tuple[Event, list[Change]]:
    """Return ``event`` as it reads after ``changes``, and those of them that name it, the last first.

    ``changes`` are all those of the stream. The event itself is returned if none of them fits its type.
    """
    known = Corrections(changes)
    return known.corrected(event), known.naming(event)
