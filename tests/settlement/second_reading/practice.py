"""What both games take from the event contract and from practice, not from an article: the clock and the rounding."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

Events = list[dict[str, Any]]

TOLERANCE = timedelta(milliseconds=500)


class Due(NamedTuple):
    """What a wager has come to: its status, and winnings and stake that are due, in minor units."""

    status: str
    winnings: int
    stake: int


def parameter(events: Events, name: str, default: Any) -> Any:
    """Return a reading that the opener declares. Without a register a session's own params count."""
    opener = events[0]["data"]
    return opener.get("params", {}).get(name, default)


def floored(amount: int, divisor: int, unit: int) -> int:
    """Return ``amount / divisor`` rounded down to the payout unit: "winnings and halves are floored to it"."""
    return amount // (divisor * unit) * unit


class Stake(Protocol):
    stake: int
    laid: int
    status: str
    stake_due: int


def take_back(wager: Stake, amount: int) -> None:
    """Give ``amount`` of an open stake back to its player."""
    if amount < wager.stake:
        # What is left of it plays on.
        wager.stake -= amount
    else:
        # The contract: "withdrawn … → 0 and the stake", in how many parts soever it was taken back.
        wager.status = "withdrawn"
        wager.stake_due = wager.laid


def late_seqs(events: Events, ends_betting: set[int]) -> set[int]:
    """Return the seqs of events that came after the call, by their clock.

    "A wager or withdrawal is late when its occurred_at is after the call by more than call_tolerance_ms (500)."
    "At or before the call: in time, whatever its seq", which holds "both ways, within a coup: a wager numbered after
    the result plays the next coup". "A voided throw or spin lifts the call."

    ``ends_betting`` has the seqs of counted results, and of voided throws and spins: a call binds what lies between
    two of them.
    """
    late = set()
    between: Events = []
    for event in events:
        if event["seq"] in ends_betting:
            late |= _late_among(between)
            between = []
        else:
            between.append(event)
    return late | _late_among(between)


def _late_among(between: Events) -> set[int]:
    calls = [instant(event) for event in between if event["type"] == "no_more_bets"]
    return {event["seq"] for event in between if calls and instant(event) - calls[0] > TOLERANCE}


def instant(event: dict[str, Any]) -> datetime:
    """Return when the table's clock says that it happened."""
    return datetime.fromisoformat(event["occurred_at"])
