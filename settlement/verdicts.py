"""The verdict on a coup's money, which falls when the coup ends.

A *coup* runs from one counted result to the next, or to the close. What changed hands for a wager is judged *net*: its
payouts less what was recovered. A croupier who puts a mistake right before the next result has made none.

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

from collections.abc import Sequence

from msgspec.structs import replace

from settlement.accounts import (
    Sums,
    is_between,
    known_sums,
    left_up_sums,
    net,
    require_commission,
    settlement_of,
    stake_due_of,
)
from settlement.finding import Finding
from settlement.incidents import caused_anew, forget_coup
from settlement.judging import Verdict, is_plain, judge, judge_sweep
from settlement.payouts import account_of
from settlement.state import Account, Move, Table, Wager, find

INFORMATION = frozenset({"payout-put-right", "rounded-in-players-favour", "indivisible-stake"})
"""Rules of this module whose findings are no question of money: nothing puts them right."""

NOTHING_UNUSUAL = Account()

STRANGERS_REMEMBERED = 100
"""Findings on wagers that were never placed, which a later recovery may still put right."""


def end_coup(table: Table, seq: int) -> None:
    """Judge the coup that event ``seq``, a counted result or the close, ends. Called before it decides anything."""
    left_up: dict[str, Sums] = {}
    if table.moved or table.left_up or table.taken or table.strangers:
        left_up = _end_unusual_coup(table, seq)
    if table.due:
        _find_missing(table, seq, left_up)
    if table.swept:
        _find_stakes_left(table, seq)
    if table.first_of:
        forget_coup(table)
    table.coup_began = seq


def as_it_stands(table: Table) -> tuple[list[Finding], list[Finding]]:
    """Return the findings of the coup under way, as they stand, and those of earlier coups that read otherwise now."""
    before, first_of, at_once = len(table.findings), dict(table.first_of), list(table.found_at_once)
    amended: list[Finding] = []
    left_up = left_up_sums(table)
    for wager_id in _unusual(table, left_up):
        wager = table.wagers[wager_id]
        start = len(table.findings)
        sums = left_up.get(wager_id) or known_sums(wager)
        verdict = judge(table, wager, sums)
        if wager_id in table.taken and wager.status != "awaiting_decision":
            judge_sweep(table, wager, sums, is_over=False)
        amended += _amended(table, wager, verdict, sums, start)
    for wager_id, moves in table.strangers.items():
        found = _judge_stranger(table, wager_id, moves)
        if found is not None and found.put_right_by is not None:
            amended.append(found)
    amended += caused_anew(table)
    found_now = table.findings[before:]
    del table.findings[before:]
    table.first_of, table.found_at_once = first_of, at_once
    return found_now, amended


def sums_as_they_stand(table: Table) -> dict[str, tuple[Sums, Verdict]]:
    """Return what the coup under way would leave of the money of its wagers, were it to end now.

    That is, by wager, what plays on of it, and what its payouts of this coup gave apart from its settlement.
    """
    before, first_of, at_once = len(table.findings), dict(table.first_of), list(table.found_at_once)
    left_up = left_up_sums(table)
    standing: dict[str, tuple[Sums, Verdict]] = {}
    for wager_id in _unusual(table, left_up):
        wager = table.wagers[wager_id]
        sums = left_up.get(wager_id) or known_sums(wager)
        standing[wager_id] = sums, judge(table, wager, sums)
    del table.findings[before:]
    table.first_of, table.found_at_once = first_of, at_once
    return standing


def _end_unusual_coup(table: Table, seq: int) -> dict[str, Sums]:
    for wager_id, link in table.left_up.items():
        if link.continues and not link.described:
            require_commission(table, table.wagers[wager_id])
    left_up = left_up_sums(table)
    for wager_id in _unusual(table, left_up):
        wager = table.wagers[wager_id]
        sums = left_up.get(wager_id) or known_sums(wager)
        if wager_id in table.taken or not is_plain(wager, sums):
            _judge_and_commit(table, wager, sums)
        elif wager.account is not None or sums.plays_on or sums.pressed:
            _keep(account_of(table, wager), sums)
        if wager.account is not None and wager.account == NOTHING_UNUSUAL:
            wager.account = None
        wager.changed_by = seq
    for wager_id, moves in table.strangers.items():
        of_stranger = _judge_stranger(table, wager_id, moves)
        if of_stranger is not None:
            _remember(table, wager_id, of_stranger)
    table.amended += caused_anew(table)
    for unusual in (table.moved, table.left_up, table.taken, table.strangers):
        unusual.clear()
    return left_up


def _judge_and_commit(table: Table, wager: Wager, sums: Sums) -> None:
    account = account_of(table, wager)
    start = len(table.findings)
    verdict = judge(table, wager, sums)
    if wager.id in table.taken:
        judge_sweep(table, wager, sums)
    found = table.findings[start:]
    table.amended += _amended(table, wager, verdict, sums, start)
    _commit(wager, account, verdict, sums, found)


def _unusual(table: Table, left_up: dict[str, Sums]) -> list[str]:
    """Return the ids of the wagers whose money of this coup is more than one payout that is right.

    Those whose money moved last come last, as their findings do: the first is a cause of the others.
    """
    ids = list(dict.fromkeys([*table.moved, *left_up, *table.taken]))
    if len(ids) > 1:
        ids.sort(key=lambda wager_id: _last_move(table.wagers[wager_id]))
    return ids


def _last_move(wager: Wager) -> int:
    account = wager.account
    return account.moves[-1].seq if account is not None and account.moves else 0


# Missing payments, wagers never placed


def _find_missing(table: Table, seq: int, left_up: dict[str, Sums]) -> None:
    for wager_id in table.due:
        wager = table.wagers[wager_id]
        if wager.status == "released":  # lifted by the player, or left where it lay
            continue
        sums = left_up.get(wager_id) or known_sums(wager)
        winnings, stake = wager.winnings_due - sums.pressed, wager.stake_due - sums.plays_on
        if not winnings + stake:
            continue
        raised = len(table.findings)
        find(
            table,
            "payout-missing",
            wager.decided_by or 0,
            seq,
            wager=wager,
            expected=winnings + stake,
            recorded=0,
            decided_seq=wager.decided_by,
            winnings_due=winnings,
            stake_due=stake,
        )
        if len(table.findings) == raised:  # payouts are not observed
            continue
        account = account_of(table, wager)
        account.is_settled = is_settled(wager, account, sums)
        account.verdicts = (*account.verdicts, table.findings[-1])
        table.findings[-1] = _as_it_reads(table.findings[-1], account.is_settled)
        wager.changed_by = seq
    table.due.clear()


def _find_stakes_left(table: Table, seq: int) -> None:
    if table.open_session().collections:
        for wager_id in table.swept:
            wager = table.wagers[wager_id]
            decided = wager.decided_by or 0
            find(
                table,
                "losing-wager-not-collected",
                decided,
                seq,
                wager=wager,
                decided_seq=wager.decided_by,
                result=wager.result,
            )
    table.swept.clear()


def _judge_stranger(table: Table, wager_id: str, moves: Sequence[Move]) -> Finding | None:
    """Report money for a wager that was never placed. Return the finding that a recovery may put right."""
    total = sum(net(moves))
    seqs = [move.seq for move in moves]
    earlier = table.stranger_findings.get(wager_id)
    if (
        earlier is not None
        and isinstance(earlier.recorded, int)
        and is_between(earlier.recorded + total, earlier.recorded)
    ):
        return earlier.put_right(seqs[-1]) if earlier.recorded + total == 0 else None
    if total:
        rule = "payout-without-result" if total > 0 else "payout-underpaid"
        raised = len(table.findings)
        find(
            table,
            rule,
            *seqs,
            wager_id=wager_id,
            expected=0,
            recorded=total,
            croupier=moves[-1].payer,
            status="unknown",
        )
        return table.findings[-1] if len(table.findings) > raised else None
    if len(moves) > 1:
        find(table, "payout-put-right", *seqs, wager_id=wager_id, expected=0, recorded=0, movements=len(moves))
    return None


def _remember(table: Table, wager_id: str, found: Finding) -> None:
    known = table.stranger_findings
    known.pop(wager_id, None)
    if found.put_right_by is not None:
        table.amended.append(found)
        return
    known[wager_id] = found
    if len(known) > STRANGERS_REMEMBERED:
        del known[next(iter(known))]


# What the account keeps


def _amended(table: Table, wager: Wager, verdict: Verdict, sums: Sums, start: int) -> list[Finding]:
    """Return earlier findings on ``wager`` that read otherwise now; let those from ``start`` on read as they should."""
    account = wager.account
    if account is None:
        return []
    settled = is_settled(wager, account, sums)
    if settled:
        for index in range(start, len(table.findings)):
            if table.findings[index].rule != "payment-not-as-announced":
                table.findings[index] = _as_it_reads(table.findings[index], settled)
    seq = max([move.seq for move in account.moves] + [sums.seq])
    return [
        _as_it_reads(found.put_right(seq) if index in verdict.completed else found, settled)
        for index, found in enumerate(account.verdicts)
        if index in verdict.completed or settled != account.is_settled
    ]


def _commit(wager: Wager, account: Account, verdict: Verdict, sums: Sums, found: Sequence[Finding]) -> None:
    seq = max([move.seq for move in account.moves] + [sums.seq])
    kept = [each.put_right(seq) if index in verdict.completed else each for index, each in enumerate(account.verdicts)]
    kept += [each for each in found if each.rule not in INFORMATION and each.rule != "payment-not-as-announced"]
    account.is_settled = is_settled(wager, account, sums)
    account.verdicts = tuple(kept)
    _keep(account, sums)
    account.aside_winnings += verdict.aside[0]
    account.aside_stake += verdict.aside[1]
    account.astray_winnings += verdict.astray[0]
    account.astray_stake += verdict.astray[1]
    account.taken -= verdict.handed_back
    account.owing += verdict.owing
    if verdict.handed_back:
        account.last_taken = account.taken  # the parts that are left are one


def _keep(account: Account, sums: Sums) -> None:
    """Keep of the money of an ended coup what plays on."""
    account.plays_on, account.pressed = sums.plays_on, sums.pressed
    account.moves = ()


def is_settled(wager: Wager, account: Account, sums: Sums) -> bool:
    """Whether a dispute was settled so that all that changed hands, settlements included, is what the rules give."""
    if not account.settled:
        return False
    due = 0
    if not wager.undecided and wager.status != "lost":
        due = wager.winnings_due + stake_due_of(wager, account, settlement_of(wager)[1], sums.plays_on)
    parts = account.aside_winnings + account.aside_stake - account.astray_winnings - account.astray_stake
    paid = wager.winnings_paid + wager.stake_paid - parts + sums.plays_on + sums.pressed
    return paid + account.settled == due


def settle(table: Table, wager: Wager, amount: int) -> None:
    """Count a dispute that was settled: ``amount`` in minor units, below zero if the player paid."""
    account = account_of(table, wager)
    account.settled += amount
    settled = is_settled(wager, account, known_sums(wager))
    if settled != account.is_settled:
        account.is_settled = settled
        table.amended += [_as_it_reads(found, settled) for found in account.verdicts]


def _as_it_reads(found: Finding, settled: bool) -> Finding:
    """Return a finding on money as it is given: for information, as long as a settlement makes the sum right."""
    return replace(found, severity="info", owed=None) if settled else found
