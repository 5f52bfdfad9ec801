"""To win, to lose, to give back: what decides a wager, and what is then due, which is rounded here and nowhere else."""

from __future__ import annotations

from msgspec.structs import replace

from settlement.catalogue.groups import WITHDRAWALS_FORBIDDEN
from settlement.entries import Account
from settlement.finding import Fact
from settlement.findings import find
from settlement.money import EVEN, Odds, share, written
from settlement.state import Status, Table, Wager


def win(table: Table, wager: Wager, seq: int, odds: Odds) -> None:
    """Let ``wager`` win at ``odds``: its winnings and what is left of its stake are due."""
    session, stake = table.session, wager.standing
    assert session is not None, "only the opener comes before it"
    unit = session.payout_unit
    winnings, exact = share(stake, odds, unit)
    wager.odds = written(odds)
    _decide(table, wager, seq, "won", winnings, stake)
    if not exact:
        find(
            table, "indivisible-stake", wager.placed_by, seq, wager=wager, expected=winnings, odds=wager.odds, unit=unit
        )


def lose(table: Table, wager: Wager, seq: int) -> None:
    """Let ``wager`` lose what is left of its stake."""
    wager.status = "lost"
    wager.decided_by = wager.changed_by = seq
    wager.result = table.result
    table.ledger.collected += wager.standing
    wager_id = wager.id
    del table.live[wager_id]
    table.swept[wager_id] = None
    if table.travelling:
        table.travelling.pop(wager_id, None)
    if wager.account is not None and wager.account.claims:
        _note_loss(table, wager, wager.account)


def _note_loss(table: Table, wager: Wager, account: Account) -> None:
    """Let the findings of what the player took of an undecided stake say that it lost: the house is short of it."""
    facts: dict[str, Fact] = {"decided_seq": wager.decided_by, "status": wager.status}
    claims = tuple(
        replace(each, facts=each.facts | facts) if each.rule in WITHDRAWALS_FORBIDDEN and each.owed else each
        for each in account.claims
    )
    table.amended += (now for before, now in zip(account.claims, claims, strict=True) if before != now)
    account.claims = claims


def give_back(table: Table, wager: Wager, seq: int, status: Status, part: Odds, *, may_change: bool = False) -> None:
    """End ``wager`` without winnings and with ``part`` of its stake due; the house collects the rest.

    A whole stake is due to the minor unit, although no multiple of the payout unit: only parts are rounded.
    ``may_change``: the player may still say otherwise, so what does not divide is reported when the coup ends.
    """
    unit = table.open_session().payout_unit
    stake, exact = share(wager.standing, part, unit)
    if part == EVEN:
        stake = wager.standing
    _decide(table, wager, seq, status, 0, stake)
    if may_change:
        table.moved[wager.id] = None
    elif not exact:
        find(table, "indivisible-stake", wager.placed_by, seq, wager=wager, expected=stake, odds=str(part), unit=unit)


def _decide(table: Table, wager: Wager, seq: int, status: Status, winnings: int, stake: int) -> None:
    wager.status = status
    wager.decided_by = wager.changed_by = seq
    wager.result = table.result
    wager.winnings_due = winnings
    wager.stake_due = stake
    ledger = table.ledger
    if winnings:
        ledger.winnings_of_bank += winnings
        ledger.winnings_to_players += winnings
    ledger.returned += stake
    if stake != wager.standing:
        ledger.collected += wager.standing - stake
    wager_id = wager.id
    del table.live[wager_id]
    # Of a part that is rounded to nothing, what was paid too early may be no more than rounded up.
    if winnings or stake or (status != "lost" and wager.account is not None):
        table.due[wager_id] = None
    if table.travelling:
        table.travelling.pop(wager_id, None)


def take_back_refund(table: Table, wager: Wager) -> None:
    """Undo ``give_back``: the player says otherwise before anything was paid, and the stake is in play again."""
    ledger = table.ledger
    ledger.returned -= wager.stake_due
    ledger.collected -= wager.standing - wager.stake_due
    wager.status = "awaiting_decision"
    wager.decided_by = wager.result = None
    wager.stake_due = 0
    table.live[wager.id] = None
    table.due.pop(wager.id, None)
