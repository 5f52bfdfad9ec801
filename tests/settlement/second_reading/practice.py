"""What both games take from the event contract and from practice, not from an article: the clock and the rounding."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

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


@dataclass
class Wager:
    """A wager of any game."""

    bet: str
    stake: int
    """What stands: the stake laid, less what was lawfully withdrawn."""
    status: str = "open"
    winnings_due: int = 0
    stake_due: int = 0
    rounded_off: Fraction = Fraction(0)
    """What rounding down took from what is due."""
    is_chosen_half: bool = False
    """Whether the player chose, at a zero, to take half of it himself."""

    def __post_init__(self) -> None:
        self.laid = self.stake

    def owe(self, *, winnings: Fraction | int = 0, stake: Fraction | int = 0, unit: int) -> None:
        """Set what is due: "winnings and halves are floored" to the payout unit, a whole stake is not."""
        self.winnings_due = int(winnings // unit * unit)
        self.stake_due = stake if isinstance(stake, int) else int(stake // unit * unit)
        self.rounded_off = Fraction(winnings) + stake - self.winnings_due - self.stake_due


def take_back(wager: Wager, amount: int) -> None:
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
    late = set()
    calls = [event for event in between if event["type"] == "no_more_bets"]
    for event in between if calls else []:
        # A call that is given again counts for what is numbered after it.
        given = [call for call in calls if call["seq"] < event["seq"]] or calls[:1]
        if instant(event) - instant(given[-1]) > TOLERANCE:
            late.add(event["seq"])
    return late


def instant(event: dict[str, Any]) -> datetime:
    """Return when the table's clock says that it happened."""
    return datetime.fromisoformat(event["occurred_at"])
