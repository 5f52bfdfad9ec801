"""The verdict on the money of one wager in one coup: see ``verdicts``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from settlement.accounts import (
    Sums,
    amounts,
    evidence_of,
    is_between,
    is_part,
    left_owing,
    less,
    made_good,
    net,
    settlement_of,
    stake_due_of,
    still_owing,
)
from settlement.finding import Finding
from settlement.kinds import Split
from settlement.money import EVEN, Odds, halved, is_rounded_up, share
from settlement.other_readings import soften
from settlement.payouts import find_unsettled
from settlement.ruleset import kind_of
from settlement.state import Account, Move, Table, Wager, find

STAKE_RULES = {
    "won": "stake-not-returned",
    "void": "stake-not-returned",
    "withdrawn": "stake-not-returned",
    "released": "imprisoned-value-not-halved",
    "refunded_half": "half-refund-mismatch",
    "refunded_last_coup": "last-coup-refund-mismatch",
}
"""The rule that a wrong stake breaks, by status."""

LIFTED = ("void", "withdrawn", "released")
"""The statuses of a stake that its player may take without any event."""

SWEPT = frozenset({"winning-wager-collected", "void-stake-kept"})
OF_THE_STAKE = frozenset({*STAKE_RULES.values(), *SWEPT})
OF_THE_WINNINGS = frozenset({"payout-overpaid", "payout-underpaid", "imprisoned-stake-paid-winnings"})


class Verdict(NamedTuple):
    """What a coup leaves of one wager's money: findings on earlier coups that it put right, and what went aside."""

    completed: frozenset[int] = frozenset()  # indexes in Account.verdicts
    aside: tuple[int, int] = (0, 0)
    astray: tuple[int, int] = (0, 0)  # part of ``aside``; below zero if it came back
    handed_back: int = 0  # of the parts withdrawn
    owing: int = 0  # of them, what is left when less was handed back; below zero if it was made good


NOTHING = Verdict()


def judge(table: Table, wager: Wager, sums: Sums) -> Verdict:
    """Report what is wrong with the money of ``wager`` in this coup."""
    account = wager.account or Account()
    _check_announced(table, wager, account.moves)
    if wager.undecided or was_paid_before_it_was_taken(wager, account):
        return _judge_undecided(table, wager, account)
    _report_breakage(table, wager)
    return _judge_decided(table, wager, account, sums)


def is_plain(wager: Wager, sums: Sums) -> bool:
    """Whether a winner was paid what was due, but for what plays on, at once and with nothing left of earlier coups.

    Then ``judge`` has nothing to report: so ends every coup that leaves a winning stake up.
    """
    if wager.status != "won" or wager.announced is not None:
        return False
    account = wager.account
    if account is not None and (len(account.moves) > 1 or account != Account(moves=account.moves)):
        return False
    return (
        wager.winnings_paid == wager.winnings_due - sums.pressed and wager.stake_paid == wager.stake_due - sums.plays_on
    )


def was_paid_before_it_was_taken(wager: Wager, account: Account) -> bool:
    """Whether winnings were paid on a stake that the player took back afterwards: nothing had decided it then."""
    return wager.status == "withdrawn" and any(move.rule for move in account.moves) and net(account.moves)[0] != 0


def _open(account: Account) -> list[int]:
    return [index for index, found in enumerate(account.verdicts) if found.put_right_by is None]


def _judge_undecided(table: Table, wager: Wager, account: Account) -> Verdict:
    """Judge money of a wager that nothing has decided: only a part that was withdrawn is due."""
    moves = account.moves
    if not moves:
        return NOTHING
    winnings, stake = net(moves)
    is_of_part = bool(account.taken) and not winnings and stake > 0
    if is_of_part and is_part(account, stake):
        _find_put_right(table, wager, moves, stake)
        return _handed_back(account, stake)
    if (winnings, stake) == (0, wager.standing) and (wager.id in table.taken or _was_swept(account)):
        return Verdict(frozenset(_open(account)), aside=(0, stake))  # it was swept, and is back on the layout
    if is_of_part:
        if stake > account.owing:
            _find_undue(table, wager, account, winnings, stake)
        return _handed_back(account, stake)
    total = winnings + stake
    open_, before = _open(account), account.astray_winnings + account.astray_stake
    if not total:
        _find_put_right(table, wager, moves, 0)
    elif open_ and not before + total:
        return Verdict(frozenset(open_), (winnings, stake), (winnings, stake))
    elif not (open_ and is_between(before + total, before)):
        _find_undue(table, wager, account, winnings, stake)
    return Verdict(aside=(winnings, stake), astray=(winnings, stake))


def _handed_back(account: Account, stake: int) -> Verdict:
    """Return what a ``stake`` leaves of the parts withdrawn: less of them, and aside what is beyond them."""
    part = min(stake, account.taken)
    beyond = (0, stake - part)
    completed = _on_parts(account) if account.owing and made_good(account, stake) == account.owing else frozenset()
    return Verdict(completed, (0, stake), beyond, part, left_owing(account, stake) - account.owing)


def _on_parts(account: Account) -> frozenset[int]:
    """Return the findings that less than a part was handed back, as indexes in the account's verdicts."""
    found = account.verdicts
    return frozenset(index for index in _open(account) if found[index].rule == "stake-not-returned")


def _was_swept(account: Account) -> bool:
    return any(account.verdicts[index].rule in SWEPT for index in _open(account))


def _find_undue(table: Table, wager: Wager, account: Account, winnings: int, stake: int) -> None:
    """Report money that nothing made due."""
    moves = account.moves
    seqs = [move.seq for move in moves]
    total = winnings + stake
    unexplained = Move(moves[-1].seq, 0, 0, "payout-without-result", wager.placed_by)
    last = next((move for move in reversed(moves) if move.rule), unexplained)
    if total < 0:
        find(table, "payout-underpaid", *seqs, wager=wager, expected=0, recorded=total, status=wager.status)
    elif account.taken and not winnings:
        find(
            table,
            "stake-not-returned",
            *seqs,
            wager=wager,
            expected=account.taken,
            recorded=stake,
            status=wager.status,
        )
    elif last.rule == "push-paid":
        find(
            table,
            "push-paid",
            last.by,
            *seqs,
            wager=wager,
            expected=0,
            recorded=total,
            result_seq=last.by,
            result=last.result,
        )
    elif last.rule == "payout-without-result":
        find(table, last.rule, last.by, *seqs, wager=wager, expected=0, recorded=total, status=wager.status)
    else:
        find_unsettled(
            table, wager, last.rule, last.by, *seqs, event_type="payout.made", amount=total, result=last.result
        )


def _judge_decided(table: Table, wager: Wager, account: Account, sums: Sums) -> Verdict:
    moves = account.moves
    winnings_due = wager.winnings_due - sums.pressed
    paid = settlement_of(wager)
    stake_due = stake_due_of(wager, account, paid[1], sums.plays_on) - sums.plays_on
    handed_back = owing = 0
    completed_astray = (0, 0)
    due = (winnings_due, stake_due)
    astray = (account.astray_winnings, account.astray_stake)
    part = (0, account.taken)
    if paid == due:
        pass
    elif astray != (0, 0) and _is_due_or_lifted(wager, less(paid, (-astray[0], -astray[1])), due):
        # What had been paid too early was taken back in this coup, before the stake was decided or withdrawn.
        paid, completed_astray = due, (-astray[0], -astray[1])
    elif wager.status != "withdrawn" and account.owing and less(paid, (0, account.owing)) == due:
        paid, handed_back, owing = due, account.owing, account.owing
    elif wager.status != "withdrawn" and account.taken and less(paid, part) == due and part in map(amounts, moves):
        paid, handed_back, owing = due, account.taken, account.owing
    verdict = Verdict(
        aside=(completed_astray[0], completed_astray[1] + handed_back),
        astray=completed_astray,
        handed_back=handed_back,
        owing=-owing,
    )
    if not moves and not sums.seq:
        return verdict
    is_made_good = owing == account.owing
    if wager.status == "withdrawn":
        is_made_good = not still_owing(wager, account, paid[1], sums.plays_on)
    on_parts = _on_parts(account) if account.owing and is_made_good else frozenset()
    is_early_right = completed_astray != (0, 0) or bool(on_parts and paid == due)
    return verdict._replace(
        completed=on_parts | _judge_parts(table, wager, account, paid, (winnings_due, stake_due), sums, is_early_right)
    )


def _is_due_or_lifted(wager: Wager, paid: tuple[int, int], due: tuple[int, int]) -> bool:
    """Whether ``paid`` is what is due, or nothing of a withdrawn stake, which the player took himself."""
    return paid == due or (wager.status == "withdrawn" and paid == (due[0], 0))


def _judge_parts(
    table: Table,
    wager: Wager,
    account: Account,
    paid: tuple[int, int],
    due: tuple[int, int],
    sums: Sums,
    astray_is_back: bool,
) -> frozenset[int]:
    """Report each part that is wrong. Return which findings of earlier coups are put right."""
    moves = account.moves
    decided = wager.decided_by or 0
    early = {index for index in _open(account) if account.verdicts[index].seq < decided}
    open_ = set(_open(account)) - early
    unit = table.open_session().payout_unit
    part_due = _part_of_stake(table, wager)
    rounded = (
        wager.status == "won" and is_rounded_up(paid[0] + sums.pressed, wager.standing, _odds_of(wager), unit),
        part_due != EVEN and is_rounded_up(paid[1] + sums.plays_on, wager.standing, part_due, unit),
    )
    # A void, withdrawn or released stake of which nothing was handed back was lifted by its player, or swept.
    is_lifted = not paid[1] and wager.status in LIFTED and not _was_swept(account)
    wrong = (paid[0] != due[0] and not rounded[0], paid[1] != due[1] and not rounded[1] and not is_lifted)
    balance = paid[0] + paid[1] - due[0] - due[1]
    is_right = not any(wrong) or (wager.status == "lost" and not balance)
    completed = early if astray_is_back else set()
    if open_:
        of_winnings = _rules_of_winnings(table, wager)
        completed |= {
            index for index in open_ if _is_completed(account.verdicts[index], of_winnings, wrong, balance, is_right)
        }
        moved = sum(net(moves)) + sums.plays_on - account.plays_on + sums.pressed - account.pressed
        if is_right or not moves or is_between(balance, balance - moved):
            return frozenset(completed)
    if astray_is_back:
        return frozenset(completed)
    if is_right:
        for part in (0, 1):
            if rounded[part] and paid[part] != due[part] and net(moves)[part]:
                _find_rounded(table, wager, moves, due[part], paid[part])
        _find_put_right(table, wager, moves, sum(due))
        return frozenset()
    if not moves:
        return frozenset()
    before = len(table.findings)
    _find_wrong(table, wager, account, paid, due, wrong, rounded)
    handed = paid[0] + sums.pressed, paid[1] + sums.plays_on
    table.findings[before:] = soften(table, wager, *handed, table.findings[before:])
    return frozenset(completed)


def _rules_of_winnings(table: Table, wager: Wager) -> frozenset[str]:
    """Return the rules that wrong winnings of ``wager`` break."""
    split = _split_of(table, wager)
    return OF_THE_WINNINGS if split is None else OF_THE_WINNINGS | {split.rule}


def _split_of(table: Table, wager: Wager) -> Split | None:
    kind = kind_of(table, wager)
    return None if kind is None else kind.split


def _is_completed(
    found: Finding, of_winnings: frozenset[str], wrong: Sequence[bool], balance: int, is_right: bool
) -> bool:
    if is_right or not balance:
        return True
    if found.rule in of_winnings:
        return not wrong[0]
    return found.rule in OF_THE_STAKE and not wrong[1]


def _find_wrong(
    table: Table,
    wager: Wager,
    account: Account,
    paid: tuple[int, int],
    due: tuple[int, int],
    wrong: Sequence[bool],
    rounded: Sequence[bool],
) -> None:
    moves = account.moves
    seqs = evidence_of(wager, moves)
    total = sum(paid)
    if wager.status == "lost":
        rule = "losing-wager-paid" if total > 0 else "payout-underpaid"
        facts: dict[str, Any] = {"result": wager.result} if total > 0 else {"status": wager.status}
        find(table, rule, *seqs, wager=wager, expected=0, recorded=total, decided_seq=wager.decided_by, **facts)
        return
    first = _first_of_duplicates(wager, moves, paid, due)
    if first:
        find(
            table,
            "payout-duplicated",
            first,
            *seqs,
            wager=wager,
            expected=sum(due),
            recorded=total,
            paid_seq=first,
        )
        return
    if wrong[0]:
        _find_wrong_winnings(table, wager, seqs, paid[0], due[0])
    elif rounded[0] and paid[0] != due[0]:
        _find_rounded(table, wager, moves, due[0], paid[0])
    if wrong[1]:
        rule = STAKE_RULES[wager.status]
        facts = {"zeros": wager.zeros}
        if rule == "stake-not-returned":
            facts = {"decided_seq": wager.decided_by, "status": wager.status}
        find(table, rule, *seqs, wager=wager, expected=due[1], recorded=paid[1], **facts)
    elif rounded[1] and paid[1] != due[1]:
        _find_rounded(table, wager, moves, due[1], paid[1])


def _find_wrong_winnings(table: Table, wager: Wager, seqs: Sequence[int], paid: int, due: int) -> None:
    facts: dict[str, Any] = {"odds": wager.odds, "status": wager.status, "decided_seq": wager.decided_by}
    split = _split_of(table, wager)
    if split is not None and wager.status == "won" and split.is_paid(paid, wager.standing):
        rule, facts = split.rule, {"odds": wager.odds, "result": wager.result}
    elif wager.status == "released" and paid > due:
        rule, facts = "imprisoned-stake-paid-winnings", {"zeros": wager.zeros}
    else:
        rule = "payout-overpaid" if paid > due else "payout-underpaid"
    find(table, rule, *seqs, wager=wager, expected=due, recorded=paid, **facts)


def _first_of_duplicates(wager: Wager, moves: Sequence[Move], paid: tuple[int, int], due: tuple[int, int]) -> int:
    """Return the first of at least two payouts that were each all that is due; 0 if they were not."""
    payouts = [move for move in moves if move.winnings >= 0 and move.stake >= 0]
    firsts = [move.seq for move in payouts]
    if less(paid, net(moves)) == due and wager.paid_by < (firsts[0] if firsts else 0):
        firsts.insert(0, wager.paid_by)
    is_each_due = all((move.winnings, move.stake) == due for move in payouts)
    return firsts[0] if any(due) and is_each_due and len(firsts) > 1 else 0


def _find_rounded(table: Table, wager: Wager, moves: Sequence[Move], due: int, paid: int) -> None:
    find(
        table,
        "rounded-in-players-favour",
        *evidence_of(wager, moves),
        wager=wager,
        expected=due,
        recorded=paid,
        unit=table.open_session().payout_unit,
    )


def _find_put_right(table: Table, wager: Wager, moves: Sequence[Move], due: int) -> None:
    """Report several movements of money that come to what is due. Winnings and stake apart are one payment."""
    if len(moves) < 2:
        return
    if len(moves) == 2:
        parts = {(move.winnings > 0, move.stake > 0) for move in moves}
        if parts == {(True, False), (False, True)} and all(move.winnings >= 0 and move.stake >= 0 for move in moves):
            return
    find(
        table,
        "payout-put-right",
        *evidence_of(wager, moves),
        wager=wager,
        expected=due,
        recorded=due,
        movements=len(moves),
    )


def _odds_of(wager: Wager) -> Odds:
    pays, _colon, per = (wager.odds or "1:1").partition(":")
    return Odds(int(pays), int(per))


def _part_of_stake(table: Table, wager: Wager) -> Odds:
    """Return the part of the stake that is due back: what a zero leaves of it, else all."""
    if wager.status in ("refunded_half", "refunded_last_coup"):
        return halved(wager.zeros)
    if wager.status == "released" and table.open_session().release_value == "halving":
        return halved(wager.zeros - 1)
    return EVEN


def _report_breakage(table: Table, wager: Wager) -> None:
    """Report a half that does not divide, when the choice that made it due can no longer change."""
    if wager.status != "refunded_half" or wager.decided_by == wager.zero_by:
        return
    part = halved(wager.zeros)
    unit = table.open_session().payout_unit
    if (wager.decided_by or 0) > table.coup_began and not share(wager.standing, part, unit)[1]:
        find(
            table,
            "indivisible-stake",
            wager.placed_by,
            wager.decided_by or 0,
            wager=wager,
            expected=wager.stake_due,
            odds=str(part),
            unit=unit,
        )


def _check_announced(table: Table, wager: Wager, moves: Sequence[Move]) -> None:
    """Art. 57-1 al. 8: find winnings, won and paid in this coup, other than were announced."""
    if wager.announced is None or (wager.decided_by or table.coup_began) < table.coup_began:
        return
    if not moves and wager.paid_by > table.coup_began:
        moves = (Move(wager.paid_by, wager.winnings_due, wager.stake_due),)
    payouts = [move.winnings for move in moves if move.winnings >= 0 and move.stake >= 0]
    if not payouts or net(moves)[0] == wager.announced or all(paid == wager.announced for paid in payouts):
        return
    find(
        table,
        "payment-not-as-announced",
        wager.announced_by,
        *(move.seq for move in moves),
        wager=wager,
        expected=wager.announced,
        recorded=net(moves)[0],
        announced_seq=wager.announced_by,
    )


def judge_sweep(table: Table, wager: Wager, sums: Sums, *, is_over: bool = True) -> None:
    """Report a stake that was swept without being lost, unless it was handed back in the same coup.

    ``is_over``: the coup has ended. Until then the sweep of a winner stands, whatever was paid since.
    """
    account = wager.account or Account()
    if wager.undecided:
        is_back = net(account.moves)[1] >= wager.standing
    else:
        stake = settlement_of(wager)[1]
        is_back = stake + sums.plays_on >= stake_due_of(wager, account, stake, sums.plays_on)
    if is_back and (is_over or wager.status != "won"):
        return
    find(
        table,
        "void-stake-kept" if wager.status == "void" else "winning-wager-collected",
        wager.placed_by,
        wager.decided_by or 0,
        table.taken[wager.id],
        wager=wager,
        status=wager.status,
        decided_seq=wager.decided_by,
    )
