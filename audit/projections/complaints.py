"""Complaints and their answers, held against the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from audit.casework.complaints import ANSWERED, ENTERED
from audit.models import Complaint
from audit.projections.cases import instant_of
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow


def wrong_complaints(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's complaints, every casino's for None."""
    entered: dict[int, list[Entry]] = {}
    answered: dict[int, list[Entry]] = {}
    for entry in entries(casino_id, (ENTERED, ANSWERED)):
        by_id = entered if entry.type == ENTERED else answered
        by_id.setdefault(entry.number("complaint"), []).append(entry)
    names = officer_names()
    rows = Complaint.objects.select_related("stream", "answer").order_by("pk")
    for complaint in rows if casino_id is None else rows.filter(casino=casino_id):
        altered = [*_altered(complaint, entered.pop(complaint.pk, []), names)]
        altered += [f"answer: {name}" for name in _altered_answer(complaint, answered.pop(complaint.pk, []), names)]
        if altered:
            what = f"complaint {complaint.pk} is not what the audit trail says: {', '.join(altered)}"
            yield WrongRow("complaint", what, seq=complaint.seq)
    for pk, of_complaint in {**answered, **entered}.items():
        yield WrongRow("complaint", f"complaint {pk} is missing, of which {of_complaint[0].name} says something")


def _altered(complaint: Complaint, of_complaint: list[Entry], names: Mapping[int, str]) -> Iterator[str]:
    """Yield the names of what differs; the table is that of the stream."""
    if len(of_complaint) != 1:
        yield "it was not entered once"
        return
    [entry] = of_complaint
    stated: dict[str, Any] = {
        "casino": entry.casino_id, "stream": entry.text("stream"), "seq": entry.number("seq"),
        "clock": entry.text("clock"), "wager": entry.text("wager"), "player": entry.text("player"),
        "came": entry.text("came"), "words": entry.text("reason"), "entered_by": entry.actor,
    }  # fmt: skip
    stored: dict[str, Any] = {
        "casino": complaint.casino_id, "stream": complaint.stream.name, "seq": complaint.seq,
        "clock": f"{complaint.clock:%H:%M}", "wager": complaint.wager, "player": complaint.player,
        "came": complaint.came, "words": complaint.words, "entered_by": names.get(complaint.entered_by_id, ""),
    }  # fmt: skip
    yield from (name for name, value in stated.items() if stored[name] != value)
    if complaint.table_id != complaint.stream.table_id or complaint.stream.casino_id != complaint.casino_id:
        yield "table"
    if complaint.clock.second or complaint.clock.microsecond:
        yield "clock"
    if not _is_at(complaint.entered_at, entry):
        yield "entered_at"
    if (deadline := entry.text("deadline")) and complaint.deadline.isoformat() != deadline:
        yield "deadline"


def _altered_answer(complaint: Complaint, of_complaint: list[Entry], names: Mapping[int, str]) -> Iterator[str]:
    answer = getattr(complaint, "answer", None)
    if answer is None or len(of_complaint) != 1:
        if answer is not None or of_complaint:
            yield "it was not given once"
        return
    [entry] = of_complaint
    stated = (entry.text("about"), entry.text("reason"), entry.actor, entry.data.get("amount"), entry.data.get("paid"))
    stored = (answer.outcome, answer.words, names.get(answer.answered_by_id, ""), answer.amount, answer.paid_seq)
    columns = ("outcome", "words", "answered_by", "amount", "paid_seq")
    yield from (name for name, one, other in zip(columns, stored, stated, strict=True) if one != other)
    if not _is_at(answer.answered_at, entry):
        yield "answered_at"


def _is_at(stored: datetime, entry: Entry) -> bool:
    return is_same_instant(stored, instant_of(entry), exactly=bool(entry.text("at")))
