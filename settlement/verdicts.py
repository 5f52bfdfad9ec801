"""The verdict on a coup's money, which falls when the coup ends.

A *coup* runs from one counted result to the next, or to the close. The money of a wager is judged *net*: its payouts
less what was recovered. A croupier who puts a mistake right before the next result has made none.

    net right by one payout       nothing
    net right after several       `payout-put-right`
    net wrong                     each part, winnings and stake, by its own rule; `payout-duplicated` in place of both
    nothing paid                  `payout-missing`
    made good in a later coup     the finding stands, with ``put_right_by``

Of the stake, what was handed back counts and what plays on as another wager; of the winnings, what was handed over and
what was staked on top of such a stake: a *press*. Nothing is persisted of a coup that has not ended; an answer in its
midst gives wrong nets as they stand (``as_it_stands``), and nothing that is only missing.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from settlement import acts
from settlement.account_findings import LYING, added, share_debt, with_findings
from settlement.accounts import NO_ACCOUNT, LeftUpSums, handed_back, known_sums, left_up_sums, require_commission
from settlement.finding import Finding
from settlement.findings import find
from settlement.incidents import caused_anew, forget_coup
from settlement.judging import is_plain, judge
from settlement.payouts import account_of, enter
from settlement.state import Account, Move, Table, Wager

STRANGERS_REMEMBERED = 100
"""The ids under which nothing was placed whose debts are remembered."""


class UnderWay(NamedTuple):
    """The coup under way as it stands: its findings, those of earlier coups that read otherwise now, debts by wager."""

    found: list[Finding]
    amended: list[Finding]
    debts: dict[str, int]


def end_coup(table: Table, seq: int) -> None:
    """Judge the coup that event ``seq``, a counted result or the close, ends. Called before it decides anything."""
    if table.acts:
        acts.end(table)
    if table.moved or table.due or table.left_up or table.taken or table.strangers:
        _end_unusual_coup(table, seq)
    if table.swept:
        _find_stakes_left(table, seq)
    if table.first_of:
        forget_coup(table)
    table.coup_began = seq


def settle(table: Table, wager: Wager, seq: int, amount: int, *, approver_is_party: bool) -> None:
    """Enter what a dispute gave the player, in minor units, below zero if he gave it."""
    enter(table, wager.id, Move(seq, settled=amount))
    account = account_of(table, wager)
    account.settled_by, account.approver_is_party = seq, approver_is_party
    if table.closed_by:  # no result comes any more that would end the coup
        end_coup(table, seq)


def as_it_stands(table: Table) -> UnderWay:
    """Return what would be found and owed if the coup under way ended now, but for what is only missing."""
    before, first_of, at_once = len(table.findings), dict(table.first_of), list(table.found_at_once)
    void_by = acts.give(table)
    amended: list[Finding] = []
    debts: dict[str, int] = {}
    left_up = left_up_sums(table)
    for wager_id in _unusual(table, left_up):
        wager = table.wagers[wager_id]
        sums = left_up.get(wager_id) or known_sums(wager)
        judged = judge(table, wager, sums, table.last_seq, is_over=False)
        if wager_id not in table.due:  # what is due is not missing before the coup has ended
            debts[wager_id] = judged.debt
        amended += _amended(wager.account or NO_ACCOUNT, judged)
    for wager_id, account in table.strangers.items():
        amended += _amended(account, _judge_stranger(table, wager_id, account))
    amended += caused_anew(table, amended)
    found_now = table.findings[before:]
    del table.findings[before:]
    table.first_of, table.found_at_once = first_of, at_once
    acts.take_away(void_by)
    return UnderWay(found_now, amended, debts)


def _end_unusual_coup(table: Table, seq: int) -> None:
    for wager_id, link in table.left_up.items():
        if link.continues and not link.described:
            require_commission(table, table.wagers[wager_id])
    left_up = left_up_sums(table)
    for wager_id in dict.fromkeys([*_unusual(table, left_up), *table.due]):
        wager = table.wagers[wager_id]
        _end_account(table, wager, left_up.get(wager_id) or known_sums(wager), seq)
        if wager.account is not None and wager.account == NO_ACCOUNT:
            wager.account = None
    for wager_id in [stranger for stranger, account in table.strangers.items() if account.moves]:
        _end_stranger(table, wager_id)
    table.amended += caused_anew(table, table.amended)
    for unusual in (table.moved, table.due, table.left_up, table.taken):
        unusual.clear()


def _end_account(table: Table, wager: Wager, sums: LeftUpSums, seq: int) -> None:
    """Judge the account of ``wager``, and keep of the coup what its account comes to."""
    if wager.id not in table.taken and is_plain(wager, sums):
        if wager.account is None and not sums.plays_on and not sums.pressed:
            return
        account = account_of(table, wager)
    else:
        before = account_of(table, wager)
        account = wager.account = judge(table, wager, sums, seq)
        table.amended += _amended(before, account)
        if wager.undecided:
            account.early = handed_back(wager, account)
    account.plays_on, account.pressed = sums.plays_on, sums.pressed
    account.moves = ()
    account.acts = ()
    account.before_half = ""
    wager.changed_by = seq


def _amended(account: Account, judged: Account) -> list[Finding]:
    """Return earlier findings of an account that read otherwise now."""
    return [now for before, now in zip(account.claims, judged.claims, strict=False) if before != now]


def _unusual(table: Table, left_up: dict[str, LeftUpSums]) -> list[str]:
    """Return the ids of the wagers whose money of this coup is more than one payout that is right.

    Those whose money moved last come last, as their findings do: the first is a cause of the others.
    """
    ids = list(dict.fromkeys([*table.moved, *left_up, *table.taken]))
    return ids if len(ids) < 2 else sorted(ids, key=lambda wager_id: _first_verdict(table, wager_id))


def _first_verdict(table: Table, wager_id: str) -> int:
    account = table.wagers[wager_id].account or NO_ACCOUNT
    moved = account.moves[-1].seq if account.moves else 0
    swept = table.taken.get(wager_id, 0)
    return min(moved or swept, swept or moved)


# Losers left lying, wagers never placed


def _find_stakes_left(table: Table, seq: int) -> None:
    if table.open_session().collections:
        for wager_id in table.swept:
            wager = table.wagers[wager_id]
            account = wager.account
            if account is not None and (wager.is_swept or account.debt > 0):
                continue  # it is in the bank, or the player has it: then that is the claim
            raised, decided = len(table.findings), wager.decided_by
            ending = table.coups_end_by
            facts = {"decided_seq": decided, "result": wager.result, "ending": ending, "lay_at": ending}
            find(table, LYING, decided or 0, seq, wager=wager, **cast(dict[str, Any], facts))
            if len(table.findings) > raised:
                wager.account = with_findings(account_of(table, wager), table, raised)
                wager.changed_by = seq
    table.swept.clear()


def _judge_stranger(table: Table, wager_id: str, before: Account) -> Account:
    """Report money for a wager that was never placed, which the player owes or is owed. Return its account after it."""
    moves, start = before.moves, len(table.findings)
    if not moves:
        return before
    debt = before.debt + sum(move.money for move in moves)
    seqs, part = [move.seq for move in moves], added(before.debt, debt)
    claims = share_debt(before.claims, debt - part, seqs[-1])
    if part:
        rule = "payout-without-result" if part > 0 else "payout-underpaid"
        facts: dict[str, Any] = {"croupier": moves[-1].payer, "status": "unknown"}
        find(table, rule, *seqs, wager_id=wager_id, expected=0, recorded=debt, difference=part, **facts)
    elif not before.debt and len(moves) > 1:
        find(table, "payout-put-right", *seqs, wager_id=wager_id, expected=0, recorded=0, movements=len(moves))
    return with_findings(replace(before, debt=debt, claims=tuple(claims)), table, start)


def _end_stranger(table: Table, wager_id: str) -> None:
    before = table.strangers.pop(wager_id)
    account = _judge_stranger(table, wager_id, before)
    table.amended += _amended(before, account)
    account.moves = ()
    if account.debt:
        table.strangers[wager_id] = account  # the last to change is the last to be forgotten
        if len(table.strangers) > STRANGERS_REMEMBERED:
            del table.strangers[next(iter(table.strangers))]
