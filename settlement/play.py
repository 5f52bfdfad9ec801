"""What every ruleset does with the events that every game knows: stakes, payouts, disputes, who is there, the close."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from settlement import acts, claims, payouts, wagers
from settlement.calls import call_no_more_bets
from settlement.events import (
    DisputeOpened,
    DisputeSettled,
    Envelope,
    GoodwillPaid,
    NoMoreBets,
    OrphanRecorded,
    PayoutMade,
    PayoutRecovered,
    PlayerLeft,
    PlayerSeated,
    SessionClosed,
    StaffAssigned,
    StaffRelieved,
    StakesCollected,
    WagerPlaced,
    WagerWithdrawn,
)
from settlement.findings import find
from settlement.kinds import Kind
from settlement.ruleset import Handler
from settlement.seats import leave_seat, take_seat
from settlement.staff import change_staff
from settlement.state import Table
from settlement.verdicts import end_coup


def stakes(kinds: Mapping[str, Kind], *, is_closed_list: bool = True) -> dict[type[Envelope], Handler]:
    """Return the handlers of the events that every game knows, but for the close, where ``kinds`` are played."""

    def withdraw(table: Table, event: WagerWithdrawn) -> None:
        wagers.withdraw(table, event, kinds)
        if table.acts:
            acts.note_withdrawal(table, event)

    return {
        WagerPlaced: wagers.place_on(kinds, is_closed_list=is_closed_list),
        WagerWithdrawn: withdraw,
        StakesCollected: payouts.collect,
        PayoutMade: payouts.pay_on(kinds),
        PayoutRecovered: payouts.recover,
        GoodwillPaid: claims.pay_goodwill,
        DisputeOpened: claims.open_dispute,
        DisputeSettled: _settle_dispute,
        OrphanRecorded: claims.note_orphan,
        NoMoreBets: call_no_more_bets,
        StaffAssigned: change_staff,
        StaffRelieved: change_staff,
        PlayerSeated: take_seat,
        PlayerLeft: leave_seat,
    }


def _settle_dispute(table: Table, event: DisputeSettled) -> None:
    if table.acts:
        acts.note_settlement(table, event)
    claims.settle_dispute(table, event)


def closing(*checks: Callable[[Table, int], object]) -> Handler:
    """Return the handler of the close. ``checks`` look at the table, with its seq, once the coup's money is judged."""

    def close(table: Table, event: SessionClosed) -> None:
        """Find what the session leaves open: unpaid, uncollected, undecided; and check the ledger."""
        seq = event.seq
        table.coups_end_by = "close"
        end_coup(table, seq)
        for check in checks:
            check(table, seq)
        standing = 0
        for wager_id in table.live:
            wager = table.wagers[wager_id]
            standing += wager.standing
            if wager.status == "imprisoned":
                find(table, "imprisoned-at-close", wager.placed_by, wager.zero_by, seq, wager=wager, zeros=wager.zeros)
            else:
                find(table, "wager-left-open", wager.placed_by, wager.zero_by, seq, wager=wager, status=wager.status)
        imbalance = table.ledger.imbalance(standing)
        if imbalance:
            find(table, "ledger-imbalance", seq, expected=0, recorded=imbalance)
        table.last_result = seq
        table.closed_by = seq

    return close


def nothing_of_play(table: Table) -> dict[str, Any]:
    """Return what an answer says of a table whose play has no state between two coups."""
    return {}
