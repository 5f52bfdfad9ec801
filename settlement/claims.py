"""Money that is no payout: goodwill, disputes, stakes without an owner. A tip changes nothing at all."""

from __future__ import annotations

from settlement.accounts import NO_ACCOUNT, balance, handed_back, known_sums, stake_due_of
from settlement.events import DisputeOpened, DisputeSettled, GoodwillPaid, OrphanRecorded
from settlement.findings import find
from settlement.payouts import account_of, enter
from settlement.state import Move, Table, Wager
from settlement.verdicts import settle

PAYERS = ("croupier", "employe")
"""The roles of those who pay at a table, and so approve no payment."""


def pay_goodwill(table: Table, event: GoodwillPaid) -> None:
    """Report what the house gave without owing it: for review, or as a breach where nobody approved it."""
    data = event.data
    _find_goodwill(table, event.seq, data.amount, data.player or None, data.approved_by or None, data.reason)
    _approver_is_party(table, event, data.approved_by or None, data.player or None)


def open_dispute(table: Table, event: DisputeOpened) -> None:
    """Remember which wager a dispute is about, and whose it is."""
    table.disputes[event.seq] = event.data.wager or None
    if event.data.player:
        table.disputed_by[event.seq] = event.data.player


def settle_dispute(table: Table, event: DisputeSettled) -> None:
    """Enter what a settlement moved in the account of the wager that its dispute names; else it is goodwill.

    One that nobody approved has no effect.
    """
    data, seq = event.data, event.seq
    if not data.approved_by:
        return
    wager_id = table.disputes.get(data.opened)
    wager = table.wagers.get(wager_id or "")
    player = table.disputed_by.get(data.opened) or (wager.player if wager is not None else None)
    is_party = _approver_is_party(table, event, data.approved_by, player)
    if data.opened in table.settled:
        find(table, "dispute-settled-twice", data.opened, seq, about=wager, player=player, opened_seq=data.opened)
    elif data.opened in table.disputes:
        table.settled.append(data.opened)
    amount = data.amount if data.by == "house" else -data.amount
    if not amount:
        return
    if wager_id is None:
        if amount > 0:
            _find_goodwill(table, seq, amount, player, data.approved_by, None)
    elif wager is None:
        enter(table, wager_id, Move(seq, settled=amount))
    elif wager.status == "out_of_scope":
        wager.changed_by = seq
    else:
        settle(table, wager, seq, amount, approver_is_party=is_party)


def _find_goodwill(
    table: Table, seq: int, amount: int, player: str | None, approved_by: str | None, reason: str | None
) -> None:
    find(
        table,
        "goodwill-paid",
        seq,
        recorded=amount,
        severity=None if approved_by else "major",
        player=player,
        approved_by=approved_by,
        reason=reason,
    )


def _approver_is_party(
    table: Table, event: GoodwillPaid | DisputeSettled, approved_by: str | None, player: str | None
) -> bool:
    """Whether who approved a payment has a part in it: the player, who recorded it, or who pays at the table."""
    if approved_by is None:
        return False
    payers = {person for person, role in table.staff if role in PAYERS}
    if approved_by not in {player, event.actor or None, *payers}:
        return False
    find(table, "approved-by-a-party", event.seq, player=player, approved_by=approved_by)
    return True


def note_orphan(table: Table, event: OrphanRecorded) -> None:
    """Enter a stake that goes to the cash desk in the account of its wager."""
    data = event.data
    wager = table.wagers.get(data.wager or "")
    if wager is None or wager.status == "out_of_scope":
        return
    account = account_of(table, wager)
    account.orphaned += data.amount
    account.beyond = max(0, account.orphaned - _taken_unseen(table, wager))
    wager.changed_by = event.seq


def record_orphan(table: Table, event: OrphanRecorded) -> None:
    """Art. 54 B 2°: check that what goes to the cash desk is a released stake that nobody took."""
    data, seq = event.data, event.seq
    if not data.wager:
        return
    wager = table.wagers.get(data.wager)
    is_free = wager is not None and wager.status == "released"
    left = _left_lying(table, wager) if wager is not None and is_free else 0
    note_orphan(table, event)
    if data.amount != left or not is_free:
        find(
            table,
            "orphan-mismatch",
            0 if wager is None else (wager.decided_by or 0) if is_free else wager.placed_by,
            seq,
            wager=wager,
            wager_id=data.wager,
            expected=left,
            recorded=data.amount,
            status=wager.status if wager is not None else "unknown",
        )


def _left_lying(table: Table, wager: Wager) -> int:
    """Return what is left of a released stake, in minor units: not handed back, playing on or taken away so far."""
    account = wager.account or NO_ACCOUNT
    plays_on = sum(table.wagers[left].stake for left, link in table.left_up.items() if link.source == wager.id)
    gone = handed_back(wager, account) - account.early + account.lifted + account.plays_on + plays_on + account.orphaned
    return max(0, wager.stake_due - gone)


def _taken_unseen(table: Table, wager: Wager) -> int:
    """Return what of the stake its player is taken to have without that anybody handed it to him, in minor units."""
    if wager.undecided:
        return wager.standing
    sums = known_sums(wager)
    held = stake_due_of(wager) + balance(table, wager, sums).stake
    return max(0, held - wager.stake_paid - sums.plays_on)
