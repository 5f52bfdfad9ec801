"""Corrected entries: the original stays; beside it what it was corrected to, by whom and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from audit.adjudication.stream_reader import corrections_in_effect
from audit.desk.tables.event_sentences import sentence
from audit.persons.directory import Directory, PersonId, mentioned_in
from audit.presentation import language
from settlement import Event
from settlement.events import EntryAnnulled, EntryCorrected


@dataclass(frozen=True, slots=True)
class Approval:
    """One correction or annulment: its seq, who approved it at the table, why; whether it has an effect."""

    seq: int
    approved_by: str
    reason: str
    annuls: bool
    is_in_effect: bool


@dataclass(frozen=True, slots=True)
class Correction:
    """What an entry reads as now. ``text`` is None if no correction made to it has an effect. The latest approval
    comes first."""

    text: str | None
    approvals: list[Approval]
    is_annulled: bool


@dataclass(frozen=True, slots=True)
class CorrectedEntry:
    """An entry with the corrections that name it, the latest first. ``event`` is None if none of them has an effect.

    ``held`` are the corrections of the session without effect: those that wait for officers, or were refused.
    ``annulled_by`` is the seq of the annulment in effect, 0 if there is none.
    """

    event: Event | None
    corrections: list[EntryCorrected | EntryAnnulled]
    held: Collection[int]
    annulled_by: int

    def persons(self) -> Iterator[PersonId]:
        """Yield the persons whom its description names."""
        yield from mentioned_in(self.corrections)
        yield from mentioned_in([self.event] if self.event is not None else [])

    def described(self, currency: str, directory: Directory) -> Correction:
        """Return what a page shows of it. ``currency`` is the ISO 4217 code of its session."""
        approvals = [
            Approval(
                seq=each.seq,
                approved_by=directory.staff(each.data.approved_by),
                reason=each.data.reason,
                annuls=isinstance(each, EntryAnnulled),
                is_in_effect=self._is_in_effect(each),
            )
            for each in self.corrections
        ]
        text = sentence(self.event, language(), currency, directory) if self.event is not None else None
        return Correction(text, approvals, bool(self.annulled_by))

    def _is_in_effect(self, change: EntryCorrected | EntryAnnulled) -> bool:
        if isinstance(change, EntryAnnulled):
            return change.seq == self.annulled_by
        return self.event is not None and change.seq not in self.held


def corrections_to(stream_id: int, events: Iterable[Event]) -> Mapping[int, CorrectedEntry]:
    """Return the corrections of ``events`` by seq; entries that nobody corrected are left out."""
    known = corrections_in_effect(stream_id)
    corrections: dict[int, CorrectedEntry] = {}
    for event in events if known.changes else ():
        corrected = known.corrected(event)
        named_by = [change for change in known.naming(event) if isinstance(change, EntryCorrected | EntryAnnulled)]
        if named_by:
            in_effect = corrected if corrected is not event else None
            corrections[event.seq] = CorrectedEntry(in_effect, named_by, known.held, known.removed_by(event))
    return corrections
