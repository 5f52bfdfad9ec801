"""The bank of a session: the events that each of its letters adds up.

O session.opened   F bank.filled   C bank.credited   K session.closed   B buy_in.recorded   D drop.counted
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.adjudication.stream_reader import corrected_events
from audit.models import NightReport
from audit.reconciliation.counts import count_streams, read_counts
from settlement import Event
from settlement.events import BankCredited, BankFilled, BuyInRecorded, SessionClosed, SessionOpened


@dataclass(frozen=True, slots=True)
class BankEntry:
    """One event of a letter, with corrections applied, and its amount in minor units."""

    stream: str
    stream_id: int
    event: Event
    amount: int


def bank_entries(report: NightReport, session: Mapping[str, Any], letter: str) -> list[BankEntry]:
    """Return what a letter of a session adds up, read as far as the report did. ``session`` is a row of its content.

    The amounts add up to the letter. Empty where the letter is zero, or not known yet.
    """
    if letter == "D":
        return _drop_entries(report, session["stream"])
    entries = [
        BankEntry(session["stream"], session["stream_id"], event, amount)
        for of, event, amount in _movements(session["stream_id"], session["last_seq"])
        if of == letter
    ]
    return entries[-1:] if letter == "K" else entries  # a session may be closed again


def _movements(stream_id: int, last_seq: int) -> Iterator[tuple[str, Event, int]]:
    for event in corrected_events(stream_id, last_seq):
        match event:
            case SessionOpened() if event.seq == 1:
                yield "O", event, event.data.float
            case BankFilled():
                yield "F", event, event.data.amount
            case BankCredited():
                yield "C", event, event.data.amount
            case SessionClosed():
                yield "K", event, event.data.float
            case BuyInRecorded():
                yield "B", event, event.data.amount
            case _:
                continue


def _drop_entries(report: NightReport, session: str) -> list[BankEntry]:
    through = {int(stream_id): last for stream_id, last in report.through.items()}
    streams = count_streams(report.casino, report.gaming_day)
    counts = read_counts(streams, report.gaming_day, report.currency, through)
    return [
        BankEntry(entry.count, entry.stream_id, entry.event, entry.amount)
        for entry in counts.by_session.get(session, [])
    ]
