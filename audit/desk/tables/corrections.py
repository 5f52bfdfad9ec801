"""Corrected entries: the original stays; beside it what it was corrected to, by whom and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audit.adjudication.stream_reader import corrections_of
from audit.desk.tables.event_sentences import sentence
from audit.presentation import language
from settlement import Event, as_corrected


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


def corrections_to(stream_id: int, events: Iterable[Event], currency: str) -> dict[int, Correction]:
    """Return the corrections of ``events`` by seq; entries that nobody corrected are left out."""
    known = corrections_of(stream_id)
    corrections: dict[int, Correction] = {}
    for event in events if known else ():
        corrected, applied = as_corrected(event, known)
        if applied:
            approvals = [Approval(each.seq, each.data.approved_by, each.data.reason) for each in applied]
            text = sentence(corrected, language(), currency) if corrected is not event else None
            corrections[event.seq] = Correction(text, approvals)
    return corrections
