"""Corrected entries at the desk: what was entered stays, and beside it what it was corrected to, by whom and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audit.adjudication.stream_reader import corrections_of
from audit.desk.tables.event_sentences import Language, sentence
from settlement import Event, as_corrected


@dataclass(frozen=True, slots=True)
class Approval:
    """One ``entry.corrected``: its number, who approved it, why."""

    seq: int
    approved_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """What an entry reads as now; ``words`` is None where no correction made to it has effect. The last comes first."""

    words: str | None
    approvals: list[Approval]


def corrections_to(stream_id: int, events: Iterable[Event], language: Language, currency: str) -> dict[int, Corrected]:
    """Return what corrections made of ``events``, by seq; nothing for those that none names."""
    known = corrections_of(stream_id)
    found: dict[int, Corrected] = {}
    for event in events if known else ():
        right, made = as_corrected(event, known)
        if made:
            approvals = [Approval(each.seq, each.data.approved_by, each.data.reason) for each in made]
            words = sentence(right, language, currency) if right is not event else None
            found[event.seq] = Corrected(words, approvals)
    return found
