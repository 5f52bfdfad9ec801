"""An exchange: money for chips (``in``) or chips for money (``out``), by one player or by nobody known."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from settlement.events import BuyInRecorded, CashDeskRecorded, WagerPlaced
from settlement.events.envelope import Means

Direction: TypeAlias = Literal["in", "out"]

NOBODY = ""
"""In place of a player: the event names none, and no seat or colour says who it was."""


class Exchange(Struct, frozen=True, kw_only=True, gc=False):
    """One exchange, ``amount`` in minor units, at the instant ``at`` (UTC) by the clock of its table or desk.

    ``where`` is the table, or the cash desk: who recorded it there, else its stream. ``is_stake``: no chips were
    bought, banknotes were staked as they were; that is cash received, and no exchange.
    """

    stream: str
    seq: int
    at: datetime
    where: str
    direction: Direction
    amount: int
    means: Means
    player: str = NOBODY
    is_of_desk: bool = False
    is_stake: bool = False

    @property
    def order(self) -> tuple[datetime, str, int]:
        """The sort key of exchanges: by the clock, then by stream and seq."""
        return (self.at, self.stream, self.seq)

    @property
    def written(self) -> str:
        """The event as a fact of a finding: its stream and its seq."""
        return f"{self.stream}#{self.seq}"


def of_buy_in(event: BuyInRecorded, table: str) -> Exchange:
    """Return a buy-in at a table as an exchange."""
    return Exchange(
        stream=event.stream,
        seq=event.seq,
        at=event.occurred_at.astimezone(UTC),
        where=table,
        direction="in",
        amount=event.data.amount,
        means=event.data.means,
        player=event.data.player or NOBODY,
    )


def of_cash_stake(event: WagerPlaced, table: str, player: str) -> Exchange:
    """Return a stake of banknotes as cash that the table received."""
    return Exchange(
        stream=event.stream,
        seq=event.seq,
        at=event.occurred_at.astimezone(UTC),
        where=table,
        direction="in",
        amount=event.data.stake,
        means="cash",
        player=player,
        is_stake=True,
    )


def of_cash_desk(event: CashDeskRecorded) -> Exchange:
    """Return an entry of the cash desk as an exchange."""
    return Exchange(
        stream=event.stream,
        seq=event.seq,
        at=event.occurred_at.astimezone(UTC),
        where=event.actor or event.stream,
        direction=event.data.direction,
        amount=event.data.amount,
        means=event.data.means,
        player=event.data.player or NOBODY,
        is_of_desk=True,
    )
