"""The cash desk: the exchanges of a count-room stream, read once and in order, with its corrections applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from settlement.corrections import Change, Corrections
from settlement.events import CashDeskRecorded, CountClosed, CountOpened, Event
from settlement.persons.exchanges import Exchange, of_cash_desk
from settlement.persons.stream_money import StreamMoney


class CashDesk:
    """Reads one count-room stream, fed page by page in order of ``seq``.

    ``corrections`` are all its changes on earlier events, ``held`` those of them without effect.
    """

    def __init__(self, corrections: Iterable[Change] = (), *, held: Collection[int] = ()) -> None:
        self._corrections = Corrections(corrections, held)
        self._opener: CountOpened | None = None
        self._closed_by = 0
        self._exchanges: list[Exchange] = []

    def feed(self, page: Iterable[Event]) -> None:
        """Read the next events of the stream; those that are not of the cash desk change nothing."""
        for event in page:
            if self._corrections.removed_by(event):
                continue
            match self._corrections.corrected(event):
                case CountOpened() as opener if self._opener is None:
                    self._opener = opener
                case CountClosed():
                    self._closed_by = event.seq
                case CashDeskRecorded() as entry:
                    self._exchanges.append(of_cash_desk(entry))

    def money(self) -> StreamMoney:
        """Return what is kept of the stream, through the last event fed."""
        if self._opener is None:
            return StreamMoney(stream="")
        data = self._opener.data
        return StreamMoney(
            stream=self._opener.stream,
            casino=data.casino,
            gaming_day=data.gaming_day.isoformat(),
            currency=data.currency,
            opened_at=self._opener.occurred_at.isoformat(),
            closed_by=self._closed_by,
            exchanges=list(self._exchanges),
        )
