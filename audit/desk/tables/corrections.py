"""Corrected entries: the original stays; beside it what it was corrected to, by whom and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from audit.adjudication.stream_reader import corrections_in_effect
from audit.desk.tables.event_sentences import sentence
from audit.persons.directory import Directory, PersonId, mentioned_in
from audit.presentation import language
from settlement import Event
from settlement.corrections import Corrections, fitting
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

    ``in_effect`` are those that have an effect: that neither wait for officers, nor were refused, nor are annulled.
    ``annulled_by`` is the seq of the annulment in effect, 0 if there is none.
    """

    event: Event | None
    corrections: list[EntryCorrected | EntryAnnulled]
    in_effect: Collection[int]
    annulled_by: int

    def persons(self) -> Iterator[PersonId]:
        """Yield the persons whom its description names."""
        yield from mentioned_in(self.corrections)
        yield from mentioned_in([self.event] if self.event is not None else [])

    def described(self, currency: str, ruleset: str | None, directory: Directory) -> Correction:
        """Return what a page shows of it. ``currency`` and ``ruleset`` are those of its session."""
        approvals = [
            Approval(
                seq=each.seq,
                approved_by=directory.staff(each.data.approved_by),
                reason=each.data.reason,
                annuls=each.seq == self.annulled_by,
                is_in_effect=each.seq in self.in_effect,
            )
            for each in self.corrections
        ]
        text = sentence(self.event, language(), currency, ruleset, directory) if self.event is not None else None
        return Correction(text, approvals, bool(self.annulled_by))


def corrections_to(stream_id: int, events: Iterable[Event]) -> Mapping[int, CorrectedEntry]:
    """Return the corrections of ``events`` by seq; entries that nobody corrected are left out."""
    known = corrections_in_effect(stream_id)
    corrections: dict[int, CorrectedEntry] = {}
    for event in events if known.changes else ():
        corrected = known.corrected(event)
        named_by = [change for change in known.naming(event) if isinstance(change, EntryCorrected | EntryAnnulled)]
        if named_by:
            now = corrected if corrected is not event else None
            removed_by = known.removed_by(event)
            in_effect = {change.seq for change in named_by if _has_effect(known, change, event)} | {removed_by}
            corrections[event.seq] = CorrectedEntry(now, named_by, in_effect, removed_by)
    return corrections


def _has_effect(known: Corrections, change: EntryCorrected | EntryAnnulled, event: Event) -> bool:
    """Whether ``change`` has an effect on the data of ``event``."""
    if isinstance(change, EntryAnnulled):
        return known.annulled_by(change) > 0 and known.stands(change.seq)
    return known.stands(change.seq) and fitting(change, event) is not None
