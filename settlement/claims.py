"""Money that is no payout: goodwill, disputes, stakes without an owner. A tip changes nothing at all."""

from __future__ import annotations

from settlement.events import DisputeOpened, DisputeSettled, GoodwillPaid, OrphanRecorded
from settlement.payouts import account_of
from settlement.state import Account, Table, Wager, find
from settlement.verdicts import settle


def pay_goodwill(table: Table, event: GoodwillPaid) -> None:
    """Report what the house gave without owing it: for review, or as a breach where nobody approved it."""
    data = event.data
    find(
        table,
        "goodwill-paid",
        event.seq,
        recorded=data.amount,
        severity=None if data.approved_by else "major",
        player=data.player or None,
        approved_by=data.approved_by or None,
        reason=data.reason,
    )


def open_dispute(table: Table, event: DisputeOpened) -> None:
    """Remember which wager a dispute is about."""
    table.disputes[event.seq] = event.data.wager or None


def settle_dispute(table: Table, event: DisputeSettled) -> None:
    """Count a settlement for the wager that its dispute names. One that nobody approved has no effect."""
    data = event.data
    wager = table.wagers.get(table.disputes.get(data.opened) or "")
    if wager is None or not data.approved_by:
        return
    settle(table, wager, data.amount if data.by == "house" else -data.amount)
    wager.changed_by = event.seq


def record_orphan(table: Table, event: OrphanRecorded) -> None:
    """Art. 54 B 2°: check that what goes to the cash desk is a released stake that nobody took."""
    data, seq = event.data, event.seq
    if not data.wager:
        return
    wager = table.wagers.get(data.wager)
    if wager is None or wager.status != "released":
        find(
            table,
            "orphan-mismatch",
            wager.placed_by if wager else 0,
            seq,
            wager=wager,
            wager_id=data.wager,
            expected=0,
            recorded=data.amount,
            status=wager.status if wager else "unknown",
        )
        return
    left = _left_lying(table, wager)
    if data.amount != left:
        find(
            table,
            "orphan-mismatch",
            wager.decided_by or 0,
            seq,
            wager=wager,
            expected=left,
            recorded=data.amount,
            status=wager.status,
        )
    account_of(table, wager).orphaned += data.amount
    wager.changed_by = seq


def _left_lying(table: Table, wager: Wager) -> int:
    """Return what is left of a released stake, in minor units: not handed back, playing on or taken away so far."""
    account = wager.account or Account()
    plays_on = sum(table.wagers[left].stake for left, link in table.left_up.items() if link.source == wager.id)
    handed = wager.stake_paid - account.aside_stake
    return max(0, wager.stake_due - handed - account.plays_on - plays_on - account.orphaned)
