"""Changes to earlier events: which correction, annulment or voiding takes effect, how grave it is, how it is reported.

    entry.corrected   brings the data of an earlier event anew, whole; of several, the last that fits counts
    entry.annulled    says that an earlier event never happened; of the last correction of an event: that it reads as
                      it did before that
    with ``voids``    one that voids a throw or a spin: says that the result just counted was none, «Coup nul»

The *entry* of a change is the event that reads otherwise by it: the one it names, or, where it annuls a correction, the
one that was corrected.

Nothing is erased, and nobody corrects himself unseen: every correction and annulment is a finding; ``changes`` says
how grave. A change that ``approved`` leaves out has no effect while it is more than information; only its arrival
shows whether it is, so such changes are *held* when the stream is read again:

    first reading   each has its effect; those that are more than information are held in the next
    second          without them another may be more than information: then every change without approval is held
    third           nothing is left to be found

So any number of changes costs three readings at most, and the steps in which a stream is read do not matter.
A change never corrects a change: whoever errs in a correction corrects the same event once more, or annuls it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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

Reading: TypeAlias = tuple[int, Event]
"""How an event reads: the change by which it never happened or is void, 0 if it stands; and its data."""

Fault: TypeAlias = Literal[
    "unknown_seq",
    "other_shape",
    "of_correction",
    "of_annulled",
    "of_ineffective",
    "opener",
    "not_last_result",
]


def target_of(event: Event | Change) -> int | None:
    """Return the seq of the earlier event that ``event`` names to change it; None if it is no change."""
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


class Corrections:
    """The changes of a stream, and what each event is after them.

    ``held`` are the changes that are known to have no effect, by seq.
    """

    __slots__ = ("_by_entry", "_changes", "_entry_of", "_faults", "_undone_by", "held", "last", "targets")

    def __init__(self, changes: Iterable[Change], held: Collection[int] = ()) -> None:
        self._changes: dict[int, Change] = {
            change.seq: change for change in sorted(changes, key=lambda change: change.seq)
        }
        self.held = frozenset(held)
        """The changes that have no effect, by seq."""
        self._faults: dict[int, Fault] = {}
        self._entry_of: dict[int, int] = {}
        self._undone_by: dict[int, int] = {}  # a correction -> its annulment
        self._by_entry: dict[int, list[Change]] = {}
        corrections_of: dict[int, list[int]] = {}  # by entry, in order, without those annulled
        for seq, change in self._changes.items():
            target = cast(int, target_of(change))
            entry = target
            if target >= seq:
                self._faults[seq] = "unknown_seq"
                continue
            if target in self._changes:
                entry = self._entry_of.get(target, 0)
                if target in self._undone_by:
                    self._faults[seq] = "of_annulled"
                    continue
                if not isinstance(change, EntryAnnulled) or corrections_of.get(entry, [])[-1:] != [target]:
                    self._faults[seq] = "of_correction"
                    continue
                self._undone_by[corrections_of[entry].pop()] = seq
            elif isinstance(change, EntryCorrected):
                corrections_of.setdefault(entry, []).append(seq)
            self._entry_of[seq] = entry
            self._by_entry.setdefault(entry, []).append(change)
        self.targets = frozenset(self._by_entry)
        """The ``seq`` of every event that a change may change on."""
        self.last = max(self._changes, default=0)
        """The seq of the last change; 0 if there is none."""

    @property
    def changes(self) -> list[Change]:
        """The changes, in order."""
        return list(self._changes.values())

    def knows(self, event: Event) -> bool:
        """Whether ``event`` is among the changes."""
        return event.seq in self._changes

    def naming(self, event: Event) -> list[Change]:
        """Return the changes whose entry is ``event``, the last first."""
        return self._by_entry.get(event.seq, [])[::-1]

    def entry_of(self, seq: int) -> int:
        """Return the entry of change ``seq``; the event that it names, if it can have no effect."""
        return self._entry_of.get(seq) or cast(int, target_of(self._changes[seq]))

    def annulled_by(self, change: Change) -> int:
        """Return the correction that ``change`` annuls; 0 if it annuls none."""
        target = cast(int, target_of(change))
        return target if self._undone_by.get(target) == change.seq else 0

    def fault(self, seq: int) -> Fault | None:
        """Return why change ``seq`` can have no effect, as far as the changes tell; None if they do not."""
        return self._faults.get(seq)

    def held_with(self, found: Iterable[int], approved: Collection[int] | None) -> frozenset[int]:
        """Return what to hold after a reading that ``found`` changes without effect; ``approved`` None: each is."""
        if approved is None or not self.held:
            return self.held.union(found)
        return self.held.union(found, self._changes.keys() - approved)

    def without(self, seq: int) -> Corrections:
        """Return these changes with ``seq`` the other way round: held if it is in effect, in effect if held.

        Later changes of its entry are held with it: what it did is seen beside what stood when it came.
        """
        entry = self._entry_of.get(seq, 0)
        later = {change.seq for change in self._by_entry.get(entry, ()) if change.seq > seq}
        return Corrections(self._changes.values(), (self.held ^ {seq}) | later)

    def steps(self, event: Event) -> Iterator[tuple[Change, Reading, Reading]]:
        """Yield the changes whose entry is ``event``, in order, each with how that read when it came, and by it."""
        readings: list[tuple[int, Event]] = [(0, event)]
        removed = 0
        for change in self._by_entry.get(event.seq, ()):
            now, removed_now = readings, removed
            if (data := fitting(change, event)) is not None:
                now = [*readings, (change.seq, data)]
            elif annulled := self.annulled_by(change):
                now = [each for each in readings if each[0] != annulled]
            elif not removed and can_remove(change, event):
                removed_now = change.seq
            yield change, (removed, readings[-1][1]), (removed_now, now[-1][1])
            if change.seq not in self.held:
                readings, removed = now, removed_now

    def removed_by(self, event: Event) -> int:
        """Return the change by which ``event`` never happened or was void; 0 if it stands."""
        for change in self._by_entry.get(event.seq, ()):
            if change.seq not in self.held and can_remove(change, event):
                return change.seq
        return 0

    def kept(self, event: Event) -> Event | None:
        """Return ``event`` as the changes leave it, ``corrected``; None if one of them removed it."""
        if event.seq not in self.targets:
            return event
        return None if self.removed_by(event) else self.corrected(event)

    def voids(self, seq: int) -> bool:
        """Whether change ``seq`` voids a result, rather than to say that it never happened."""
        return type(self._changes[seq]) in VOIDS

    def corrected(self, event: Event) -> Event:
        """Return ``event`` with the data of its last fitting correction in effect; itself if there is none."""
        for change in self.naming(event):
            if self.stands(change.seq) and (data := fitting(change, event)) is not None:
                return data
        return event

    def stands(self, seq: int) -> bool:
        """Whether change ``seq`` is not held, and no annulment of it is in effect."""
        annulment = self._undone_by.get(seq)
        return seq not in self.held and (annulment is None or annulment in self.held)


def can_remove(change: Change, event: Event) -> bool:
    """Whether ``change`` can annul or void ``event``: not the opener, and only a result is voided."""
    match change:
        case EntryAnnulled():
            return change.data.annuls == event.seq and not isinstance(event, OPENERS)
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
