"""The wagers of a session on the page of a night: what each adds to a figure of play."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy

from audit.desk.nights.tables import build_table, events_address
from audit.event_store import archived, read
from audit.models import LoggedStream
from audit.presentation import MISSING, payment_error
from audit.reconciliation import kept, sessions, wording
from audit.reconciliation.columns import Column
from audit.reconciliation.content import UNADJUDICATED
from settlement.night.bridge import WagerLine, in_minor_units
from settlement.state import Wager

PAGE_ROWS = 100
"""Wagers, or events of the bank, on one page."""

WORTH: dict[str, Callable[[WagerLine], int | Fraction]] = {
    "theoretical": lambda line: line.theoretical,
    "luck": lambda line: line.luck,
    UNADJUDICATED: lambda line: line.unadjudicated,
    "payout_errors": lambda line: line.payout_error,
    "W_rec": lambda line: line.recorded.total,
    "W_adj": lambda line: line.adjudicated.total,
    "S": lambda line: line.decided,
    "L": lambda line: line.recorded.lost,
    "Z": lambda line: line.recorded.halves,
    "V": lambda line: line.recorded.commissions,
    "G": lambda line: line.recorded.winnings,
    "U": lambda line: line.undecided,
    "I": lambda line: line.imprisoned,
}
"""What a wager adds to each figure of play, in minor units."""

SESSIONS_KEPT = 4
"""Sessions whose wagers a process keeps, some megabytes each: whoever opens one turns its pages."""

WAGER_COLUMNS = (
    Column("wager", gettext_lazy("Wager"), "name"),
    Column("bet", gettext_lazy("Bet"), "bet"),
    Column("status", gettext_lazy("Status"), "status"),
    Column("placed", gettext_lazy("Placed"), "formatted"),
    Column("stake", gettext_lazy("Stake"), "money"),
    Column("theoretical", gettext_lazy("Theoretical win"), "money"),
    Column("luck", gettext_lazy("Luck"), "signed_money"),
    Column("error", gettext_lazy("Payout error"), "formatted"),
    Column("recorded", gettext_lazy("Recorded win"), "money"),
)


def wagers_detail(session: Mapping[str, Any], line: str, currency: str, after: int) -> dict[str, Any]:
    """Return the wagers of a session in order of placement; with a figure of play, those that add to it."""
    stream_id, worth = session["stream_id"], WORTH.get(line)
    under = Under(
        kept.keys_of({stream_id: session["last_seq"]})[stream_id],
        read.chain_of(stream_id),
        archived.month_of(stream_id) is not None,
    )
    listed = [
        (wager_line, wager, units, _amount_in(line, wager_line, units))
        for wager_line, wager, units in _wagers_of(stream_id, under, session["bridge"]["theoretical"])
        if worth is None or worth(wager_line)
    ]
    rows = [
        {**_wager_row(session, wager_line, wager, units, currency), "worth": amount}
        for wager_line, wager, units, amount in listed[after : after + PAGE_ROWS]
    ]
    columns = [*WAGER_COLUMNS, *([Column("worth", wording.FIGURES[line], "money")] if worth else [])]
    table = build_table(columns, rows, currency, {"placed": lambda row: row["address"]})
    return {
        "kind": "wagers",
        "table": table,
        "count": len(listed),
        "sum": wording.figure(line, sum(amount for *_row, amount in listed), currency) if worth else "",
        "later": later(after, len(listed)),
    }


def _amount_in(figure: str, line: WagerLine, theoretical: int) -> int:
    """Return what a wager adds to a figure of play, as it is printed; 0 for another figure."""
    match figure:
        case "theoretical":
            return theoretical
        case "luck":
            return line.adjudicated.total - theoretical
    return int(WORTH[figure](line)) if figure in WORTH else 0


class Under(NamedTuple):
    """What the wagers of a session depend on: readings and corrections, all its events, and whether they are here."""

    key: kept.Key
    chain: bytes
    is_away: bool


@lru_cache(maxsize=SESSIONS_KEPT)
def _wagers_of(stream_id: int, under: Under, total: int) -> tuple[tuple[WagerLine, Wager | None, int], ...]:
    """Return the wagers of a session in order of placement, each with its theoretical win as it is printed.

    ``total`` is the theoretical win of the session, in minor units. Raise ``StreamArchived``.
    """
    wagers = list(sessions.wager_lines(LoggedStream.objects.get(pk=stream_id), under.key.last_seq))
    theoretical = _printed_theoretical([wager_line for wager_line, _wager in wagers], total)
    return tuple((line, wager, units) for (line, wager), units in zip(wagers, theoretical, strict=True))


def _printed_theoretical(lines: Sequence[WagerLine], total: int) -> list[int]:
    """Return the theoretical win of each wager of a session as it is printed: the session's, divided among them.

    A report of another version of the engine has a figure of its own, which these wagers do not add up to.
    """
    exact = [line.theoretical for line in lines]
    return in_minor_units(exact, total if abs(total - sum(exact, Fraction(0))) < 1 else None)


def _wager_row(
    session: Mapping[str, Any], line: WagerLine, wager: Wager | None, theoretical: int, currency: str
) -> dict[str, Any]:
    seq = wager.placed_by if wager else wording.seq_of_concession(line.wager)
    is_concession = wording.is_concession(line.wager)
    return {
        "wager": wording.concession(line.status) if is_concession else line.wager,
        "bet": line.bet,
        "ruleset": session["ruleset"],
        "status": "" if is_concession else line.status,
        "placed": f"#{seq}" if seq else MISSING,
        "address": events_address(session["stream_id"], seq) if seq else "",
        "stake": line.decided or line.undecided or line.imprisoned,
        "theoretical": theoretical,
        "luck": line.adjudicated.total - theoretical,
        "error": payment_error(-line.payout_error, currency) if line.payout_error else "",
        "recorded": line.recorded.total,
    }


def later(after: int, count: int) -> int | None:
    """Return where the next page begins, or None on the last."""
    return after + PAGE_ROWS if after + PAGE_ROWS < count else None
