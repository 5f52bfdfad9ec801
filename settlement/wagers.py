"""Wagers at every game: placed, withdrawn, collected, paid.

A wager is decided once:

    wager.placed ──► open ──► won, lost                              by a throw or a spin
               │      │  └──► withdrawn                              by the player, where the article lets him
               │      └─────► awaiting_decision, imprisoned, …       by a zero: see ``fr.art_54_roulette``
               └────────────► void                                   never in play; its stake is due back

The articles decide what is due. Whether it was paid, in time and to the minor unit, is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from settlement.catalogue import RULES
from settlement.events import PayoutMade, StakesCollected, WagerPlaced, WagerWithdrawn
from settlement.state import Table, Wager, find

Withdrawal: TypeAlias = Literal["free", "after_throw", "one_roll", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One bet of a closed list.

    ``accept`` checks the placement alone: it reports what is irregular and returns whether the stake is in play.
    ``withdrawal`` is when the player may take it back: at will, after an indecisive throw, before its one throw (which
    the text does not allow, but which takes effect), or never.
    """

    bet: str
    withdrawal: Withdrawal
    accept: Callable[[Table, WagerPlaced, Wager], bool]


def accept_any(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    """Accept a bet that may be placed at any moment and needs nothing but a stake."""
    return True


def place(table: Table, event: WagerPlaced, kinds: Mapping[str, Kind]) -> Wager | None:
    """Place a wager. Return it, or None if its id is in use already: then the event is ignored."""
    data = event.data
    seq = event.seq
    known = table.wagers.get(data.wager)
    if known is not None:
        find(
            table,
            "wager-id-reused",
            known.placed_by,
            seq,
            wager_id=data.wager,
            bet=data.bet,
            stake=data.stake,
            placed_seq=known.placed_by,
        )
        return None
    wager = Wager(
        data.wager,
        data.bet,
        data.stake,
        data.stake,
        seq,
        data.player or None,
        data.seat or None,
        changed_by=seq,
        throws_before=table.throws,
        call_before=table.last_call,
        left_up_from=data.left_up_from or None,
        colour=data.colour or None,
    )
    table.wagers[data.wager] = wager
    table.ledger.stakes += data.stake
    kind = kinds.get(data.bet)
    if kind is None:
        find(table, "wager-not-permitted", seq, wager=wager)
        in_play = False
    else:
        in_play = kind.accept(table, event, wager)
    if table.call:
        find(table, "wager-after-no-more-bets", table.call, seq, wager=wager, call_seq=table.call)
        in_play = False
    session, stake = table.session, data.stake
    assert session is not None, "only the opener comes before it"
    # A usual stake needs nothing more; for any other ``_check_stake`` decides what to report.
    if (
        stake < session.minimum
        or data.medium != "chips"
        or (session.maximum and stake > session.maximum.get(data.bet, stake))
    ):
        _check_stake(table, event, wager)
    if in_play:
        table.live[data.wager] = None
    else:
        wager.status = "void"
        wager.stake_due = data.stake
        table.ledger.returned += data.stake
    return wager


def _check_stake(table: Table, event: WagerPlaced, wager: Wager) -> None:
    session = table.open_session()
    data = event.data
    if data.stake < session.minimum:
        _find_out_of_limits(table, event, wager, "minimum", session.minimum)
    elif session.maximum and data.stake > session.maximum.get(data.bet, data.stake):
        _find_out_of_limits(table, event, wager, "maximum", session.maximum[data.bet])
    if data.medium != "chips" and data.medium != "plaques":
        find(table, "non-chip-stake", event.seq, wager=wager, medium=data.medium)


def _find_out_of_limits(table: Table, event: WagerPlaced, wager: Wager, bound: str, limit: int) -> None:
    find(table, "stake-out-of-limits", event.seq, wager=wager, expected=limit, recorded=event.data.stake, bound=bound)


def withdraw(table: Table, event: WagerWithdrawn, kinds: Mapping[str, Kind]) -> None:
    """Withdraw a stake or a part of it, unless the withdrawal has no effect; report it if it is irregular."""
    wager = table.wagers.get(event.data.wager)
    if wager is None or wager.status in ("void", "withdrawn"):
        return
    seq = event.seq
    placed = wager.placed_by
    requested = event.data.amount
    amount = requested if isinstance(requested, int) else wager.standing
    if table.call:
        find(
            table,
            "withdrawal-after-no-more-bets",
            placed,
            table.call,
            seq,
            wager=wager,
            recorded=amount,
            call_seq=table.call,
        )
    if wager.status in ("imprisoned", "awaiting_decision"):
        find(
            table,
            "imprisoned-stake-withdrawn",
            placed,
            wager.zero_by,
            seq,
            wager=wager,
            recorded=amount,
            zeros=wager.zeros,
        )
    elif wager.status != "open":
        find(
            table,
            "withdrawal-of-decided-wager",
            placed,
            wager.decided_by or 0,
            seq,
            wager=wager,
            recorded=amount,
            decided_seq=wager.decided_by,
            status=wager.status,
        )
    elif _may_be_withdrawn(table, seq, wager, kinds[wager.bet].withdrawal, amount) and not table.call:
        _take_back(table, wager, seq, amount)


def _may_be_withdrawn(table: Table, seq: int, wager: Wager, withdrawal: Withdrawal, amount: int) -> bool:
    """Report what the article has against withdrawing ``wager`` now. Return whether the withdrawal takes effect."""
    placed = wager.placed_by
    match withdrawal:
        case "never":
            is_immediate = wager.throws_before == table.throws and wager.call_before == table.last_call
            severity = RULES["contract-wager-withdrawn"].exceptional_severity if is_immediate else None
            find(table, "contract-wager-withdrawn", placed, seq, wager=wager, severity=severity, recorded=amount)
            return False
        case "one_roll":
            find(table, "one-roll-wager-withdrawn", placed, seq, wager=wager, recorded=amount)
        case "after_throw" if wager.throws_before == table.throws:
            find(table, "withdrawal-not-after-indecisive-roll", placed, seq, wager=wager, recorded=amount)
    return True


def _take_back(table: Table, wager: Wager, seq: int, amount: int) -> None:
    amount = min(amount, wager.standing)
    wager.standing -= amount
    wager.changed_by = seq
    table.ledger.returned += amount
    if wager.standing:
        return
    wager.status = "withdrawn"
    wager.decided_by = seq
    wager.stake_due = wager.stake
    del table.live[wager.id]
    table.travelling.pop(wager.id, None)
    if wager.commission and table.open_session().commission_refunded_on_withdrawal:
        table.ledger.commissions_kept -= wager.commission
        table.ledger.returned += wager.commission


def collect(table: Table, event: StakesCollected) -> None:
    """Sweep the stakes that the croupier collects as lost."""
    seq = event.seq
    collections = table.open_session().collections
    for wager_id in dict.fromkeys(event.data.wagers):
        wager = table.wagers.get(wager_id)
        if wager is None:
            if collections:
                find(table, "winning-wager-collected", seq, wager_id=wager_id, status="unknown")
        elif wager.status == "lost":
            # A stake lost in an earlier coup does not show that this coup was collected.
            if wager_id in table.swept:
                del table.swept[wager_id]
                table.wheel.collected = True
        elif not _settled_undecided(table, event, wager, None) and collections:
            find(
                table,
                "winning-wager-collected",
                wager.placed_by,
                wager.decided_by or 0,
                seq,
                wager=wager,
                status=wager.status,
                decided_seq=wager.decided_by,
            )


def _settled_undecided(table: Table, event: StakesCollected | PayoutMade, wager: Wager, recorded: int | None) -> bool:
    """Report that ``wager`` was collected or paid on a throw that decides nothing for it. Return whether it was."""
    seq, event_type = event.seq, event.type
    still_open = wager.status == "open"
    if table.voided_by:
        find(
            table,
            "void-throw-settled",
            table.voided_by,
            seq,
            wager=wager,
            voided_seq=table.voided_by,
            event_type=event_type,
        )
    elif still_open and wager.barred_by and wager.barred_by == table.last_result:
        find(
            table,
            "barred-number-settled",
            wager.barred_by,
            seq,
            wager=wager,
            recorded=recorded,
            barred_seq=wager.barred_by,
            event_type=event_type,
        )
    elif still_open and wager.off_by and wager.off_by == table.last_result:
        find(
            table,
            "inactive-wager-settled",
            wager.off_by,
            seq,
            wager=wager,
            recorded=recorded,
            come_out_seq=wager.off_by,
            result=table.result,
            event_type=event_type,
        )
    else:
        return False
    return True


def pay(table: Table, event: PayoutMade) -> Wager | None:
    """Check one payout against what is due. Return the wager it names, None if there is none of that id."""
    data = event.data
    seq = event.seq
    wager = table.wagers.get(data.wager)
    if wager is None:
        recorded = data.winnings + data.stake_returned
        find(table, "payout-without-result", seq, wager_id=data.wager, recorded=recorded, status="unknown")
        return None
    wager.winnings_paid += data.winnings
    wager.stake_paid += data.stake_returned
    wager.changed_by = seq
    if wager.undecided:
        _paid_undecided(table, event, wager)
        return wager
    table.due.pop(data.wager, None)
    decided = wager.decided_by or 0
    if wager.paid_by:
        find(
            table,
            "payout-duplicated",
            decided,
            wager.paid_by,
            seq,
            wager=wager,
            expected=0,
            recorded=data.winnings + data.stake_returned,
            paid_seq=wager.paid_by,
        )
        return wager
    wager.paid_by = seq
    if wager.status == "lost":
        find(
            table,
            "losing-wager-paid",
            decided,
            seq,
            wager=wager,
            expected=0,
            recorded=data.winnings + data.stake_returned,
            decided_seq=wager.decided_by,
            result=wager.result,
        )
    elif data.winnings != wager.winnings_due or data.stake_returned != wager.stake_due:
        _check_amounts(table, event, wager)
    return wager


def _paid_undecided(table: Table, event: PayoutMade, wager: Wager) -> None:
    """Report why nothing was due yet. Such a payout settles nothing."""
    seq = event.seq
    recorded = event.data.winnings + event.data.stake_returned
    if wager.status == "open" and _settled_undecided(table, event, wager, recorded):
        return
    if wager.status == "open" and table.last_result > wager.placed_by:
        find(
            table,
            "push-paid",
            table.last_result,
            seq,
            wager=wager,
            recorded=recorded,
            result_seq=table.last_result,
            result=table.result,
        )
    else:
        find(
            table,
            "payout-without-result",
            wager.placed_by,
            seq,
            wager=wager,
            recorded=recorded,
            status=wager.status,
        )


STAKE_RULES = {
    "won": "stake-not-returned",
    "released": "imprisoned-value-not-halved",
    "refunded_half": "half-refund-mismatch",
    "refunded_last_coup": "last-coup-refund-mismatch",
}
"""The rule that a wrong ``stake_returned`` breaks, by status. There is none for a void or a withdrawn stake."""


def _check_amounts(table: Table, event: PayoutMade, wager: Wager) -> None:
    decided = wager.decided_by or 0
    paid, due = event.data.winnings, wager.winnings_due
    facts: dict[str, Any]
    if paid != due:
        facts = {"odds": wager.odds, "status": wager.status, "decided_seq": wager.decided_by}
        if wager.bet == "horn" and wager.status == "won" and _horn_split(paid, wager.standing):
            rule, facts = "horn-paid-split", {"odds": wager.odds, "result": wager.result}
        elif wager.status == "released":
            rule, facts = "imprisoned-stake-paid-winnings", {"zeros": wager.zeros}
        else:
            rule = "payout-overpaid" if paid > due else "payout-underpaid"
        find(table, rule, decided, event.seq, wager=wager, expected=due, recorded=paid, **facts)
    returned, due = event.data.stake_returned, wager.stake_due
    stake_rule = STAKE_RULES.get(wager.status)
    if stake_rule and returned != due:
        facts = {"zeros": wager.zeros}
        if stake_rule == "stake-not-returned":
            facts = {"decided_seq": wager.decided_by, "status": wager.status}
        find(table, stake_rule, decided, event.seq, wager=wager, expected=due, recorded=returned, **facts)


def _horn_split(paid: int, stake: int) -> bool:
    """Whether ``paid`` is what four quarter bets would have won: 27/4 of the stake on 2 or 12, 3 times on 3 or 11."""
    return paid in (stake * 27 // 4, stake * 3)


def find_unsettled_wagers(table: Table, seq: int) -> None:
    """Find winners not paid and losers not collected, when event ``seq`` brings the next result or the close."""
    if table.due:
        for wager_id in table.due:
            wager = table.wagers[wager_id]
            find(
                table,
                "payout-missing",
                wager.decided_by or 0,
                seq,
                wager=wager,
                expected=wager.winnings_due + wager.stake_due,
                recorded=0,
                decided_seq=wager.decided_by,
                winnings_due=wager.winnings_due,
                stake_due=wager.stake_due,
            )
        table.due.clear()
    if table.swept:
        if table.open_session().collections:
            for wager_id in table.swept:
                wager = table.wagers[wager_id]
                find(
                    table,
                    "losing-wager-not-collected",
                    wager.decided_by or 0,
                    seq,
                    wager=wager,
                    decided_seq=wager.decided_by,
                    result=wager.result,
                )
        table.swept.clear()
