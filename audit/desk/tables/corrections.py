"""Corrected entries: the original stays; beside it what it was corrected to, by whom and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from audit.adjudication.stream_reader import corrections_of
from audit.desk.tables.event_sentences import sentence
from audit.persons.directory import Directory, PersonId, mentioned_in
from audit.presentation import language
from settlement import Event, as_corrected
from settlement.events import EntryCorrected


@dataclass(frozen=True, slots=True)
class Approval:
    """One ``entry.corrected``: its seq, who approved it, why."""

    seq: int
    approved_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Correction:
    """What an entry reads as now. ``text`` is None if no correction made to it has an effect. The latest approval
    comes first."""

    text: str | None
    approvals: list[Approval]


@dataclass(frozen=True, slots=True)
class CorrectedEntry:
    """An entry with the corrections that name it, the latest first. ``event`` is None if none of them has an effect."""

    event: Event | None
    corrections: list[EntryCorrected]

    def persons(self) -> Iterator[PersonId]:
        """Yield the persons whom its description names."""
        yield from mentioned_in(self.corrections)
        yield from mentioned_in([self.event] if self.event is not None else [])

    def described(self, currency: str, directory: Directory) -> Correction:
        """Return what a page shows of it. ``currency`` is the ISO 4217 code of its session."""
        approvals = [
            Approval(each.seq, directory.staff(each.data.approved_by), each.data.reason) for each in self.corrections
        ]
        text = sentence(self.event, language(), currency, directory) if self.event is not None else None
        return Correction(text, approvals)


def corrections_to(stream_id: int, events: Iterable[Event]) -> Mapping[int, CorrectedEntry]:
    """Return the corrections of ``events`` by seq; entries that nobody corrected are left out."""
    known = corrections_of(stream_id)
    corrections: dict[int, CorrectedEntry] = {}
    for event in events if known else ():
        corrected, applied = as_corrected(event, known)
        if applied:
            corrections[event.seq] = CorrectedEntry(corrected if corrected is not event else None, applied)
    return corrections
