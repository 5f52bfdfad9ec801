"""The verdict on the account of one wager when a coup ends: which finding carries its debt, and what the others say.

    the debt did not change             nothing; `payout-put-right`, `payout-parts-mixed`, `rounded-in-players-favour`
    it came nearer to zero              earlier findings owe less, at zero they are put right
    it went away from zero, or through  one finding, with that part alone

The new part is carried by the payment of this coup, if there was one; else by the act that moved the chips; else by
`payout-missing`. Winnings and stake that are wrong the same way have a finding each. Any other breach with the chips
is a finding as well, and owes nothing. All findings of an account are one incident.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from settlement.account_findings import RULE_OF_STAKE, Coup, as_it_lies, as_they_read, with_findings
from settlement.accounts import NO_ACCOUNT, LeftUpSums, balance, net, part_of_stake
from settlement.acts import PUT_RIGHT, facts_of
from settlement.catalogue.groups import WITHDRAWALS_FORBIDDEN
from settlement.findings import find
from settlement.money import share
from settlement.other_readings import soften
from settlement.state import Account, Act, Move, Table, Wager


def judge(table: Table, wager: Wager, sums: LeftUpSums, seq: int, *, is_over: bool = True) -> Account:
    """Report what the coup that event ``seq`` ends adds to the account of ``wager``, and return it as it is then.

    ``is_over``: it has ended. In its midst nothing is missing.
    """
    account = wager.account or NO_ACCOUNT
    start = len(table.findings)
    payments = tuple(move for move in account.moves if move.is_payment)
    _check_announced(table, wager, payments)
    if not wager.undecided:
        _report_breakage(table, wager)
    found = balance(table, wager, sums)
    debt = account.debt if not is_over and wager.id in table.due else found.debt
    coup = Coup(table, wager, account, sums, found, payments, debt)
    carrier = _find_claim(coup, seq) if coup.part else None
    if payments and not coup.part and not account.debt:
        _inform(coup)
    _find_acts(coup, coup.part if carrier == "act" else 0)
    if wager.id in table.taken:
        _find_sweep(coup, coup.part if carrier == "sweep" else 0, is_over=is_over)
    moved = max([move.seq for move in account.moves] + [sums.seq]) or seq
    claims = [as_it_lies(each, coup, moved) for each in as_they_read(coup, moved, is_carried=carrier is not None)]
    account = replace(account, debt=debt, gift=sum(found.rounded), claims=tuple(claims))
    return with_findings(account, table, start)


_of_plain = attrgetter("debt", "claims", "acts", "lifted", "settled", "early", "put_back", "recovered")
"""The fields of an account that are all empty where the money of its wager is plain."""


def is_plain(wager: Wager, sums: LeftUpSums) -> bool:
    """Whether a wager was paid what was due, but for what plays on, at once and with nothing left of earlier coups.

    Then ``judge`` has nothing to report: so ends every coup that leaves a winning stake up, or sweeps what was left of
    a stake that was withdrawn in part.
    """
    if wager.status not in ("won", "lost") or wager.announced is not None:
        return False
    if wager.account is not None and (len(wager.account.moves) > 1 or any(_of_plain(wager.account))):
        return False
    return (
        wager.winnings_paid == wager.winnings_due - sums.pressed and wager.stake_paid == wager.stake_due - sums.plays_on
    )


# The finding that carries the new part


def _find_claim(coup: Coup, seq: int) -> str | None:
    """Report the new part of the debt. Return what carries it; None if only earlier findings can."""
    table, wager, acts = coup.table, coup.wager, coup.account.acts
    is_paid = any(move.money > 0 for move in coup.payments)
    if coup.part > 0 and any(act.rule in WITHDRAWALS_FORBIDDEN for act in acts) and not (is_paid or coup.sums.seq):
        return "act"  # what is taken back of it is no payment
    if coup.payments or (coup.sums.seq and coup.part > 0):
        _find_payment(coup)
        return "payment"
    if coup.part > 0:
        return None
    is_known = wager.status == "released" and any(each.put_right_by is None for each in coup.account.claims)
    if (wager.id in table.due or coup.sums.seq) and not is_known:
        facts = {"decided_seq": wager.decided_by, "winnings_due": coup.due[0], "stake_due": coup.due[1]}
        _claim(coup, "payout-missing", wager.decided_by or 0, seq, **facts, ending=table.coups_end_by)
        return "missing"
    return "sweep" if wager.id in table.taken else None


def _claim(coup: Coup, rule: str, *evidence: int, **facts: Any) -> None:
    """Report what carries the new part: all that is due, and what the player has had in its place."""
    due = sum(coup.due)
    paid = due + coup.balance.debt
    find(coup.table, rule, *evidence, wager=coup.wager, expected=due, recorded=paid, difference=coup.part, **facts)


def _find_payment(coup: Coup) -> None:
    table, wager, found = coup.table, coup.wager, coup.balance
    before = len(table.findings)
    if wager.undecided or _was_paid_before_it_was_taken(coup):
        _find_undue(coup)
        return
    if wager.status == "lost":
        _find_on_loser(coup)
    elif (first := _first_of_duplicates(coup)) > 0:
        _claim(coup, "payout-duplicated", first, *coup.seqs, paid_seq=first)
    elif coup.account.debt or coup.account.settled or found.winnings * found.stake < 0:
        _find_in_all(coup)
    else:
        _find_parts(coup)
    handed = wager.winnings_paid + coup.sums.pressed, wager.stake_paid + coup.sums.plays_on
    table.findings[before:] = soften(table, wager, *handed, table.findings[before:])


def _was_paid_before_it_was_taken(coup: Coup) -> bool:
    """Whether winnings were paid on a stake that the player took back afterwards: nothing had decided it then."""
    moves = coup.payments
    return coup.wager.status == "withdrawn" and any(move.rule for move in moves) and net(moves)[0] != 0


def _find_undue(coup: Coup) -> None:
    """Report money that nothing made due."""
    wager, seqs = coup.wager, [move.seq for move in coup.payments]
    if coup.account.withdrawn and not coup.balance.winnings and not coup.account.settled:
        _claim(coup, "stake-not-returned", *seqs, status=wager.status, part="stake")
    elif coup.part < 0:
        _claim(coup, "payout-underpaid", *seqs, status=wager.status, part="all")
    else:
        unexplained = Move(seqs[-1], rule="payout-without-result", by=wager.placed_by)
        last = next((move for move in reversed(coup.payments) if move.rule), unexplained)
        facts = last.facts if isinstance(last.facts, dict) else {"result": last.facts}
        _claim(coup, last.rule, last.by, *seqs, **(facts or {"status": wager.status}))


def _find_on_loser(coup: Coup) -> None:
    wager, is_paid = coup.wager, coup.part > 0
    rule = "losing-wager-paid" if is_paid else "payout-underpaid"
    facts: dict[str, Any] = {"result": wager.result} if is_paid else {"status": wager.status, "part": "all"}
    _claim(coup, rule, *coup.seqs, decided_seq=wager.decided_by, **facts)


def _first_of_duplicates(coup: Coup) -> int:
    """Return the first of at least two payments that were each all that is due; 0 if they were not."""
    wager, due = coup.wager, coup.due
    payouts = [move for move in coup.payments if move.winnings >= 0 and move.stake >= 0]
    if not any(due) or not payouts or coup.part < 0:
        return 0
    firsts = [move.seq for move in payouts]
    if not coup.balance.debt - sum(move.money for move in coup.payments):
        firsts.insert(0, wager.paid_by if 0 < wager.paid_by < firsts[0] else coup.account.settled_by)
    is_each_due = all(
        (move.winnings, move.stake) == due or (move.settled and move.settled == sum(due)) for move in payouts
    )
    return firsts[0] if is_each_due and len(firsts) > 1 and firsts[0] else 0


def _find_in_all(coup: Coup) -> None:
    """Report winnings and stake in one: what is wrong the one way is more than what is wrong the other."""
    found = coup.balance
    if not coup.account.settled and abs(found.winnings) < abs(found.stake):
        rule, facts = _rule_of_stake(coup)
    else:
        rule, facts = _rule_of_winnings(coup)
        if coup.account.debt or coup.account.settled:
            rule = "payout-overpaid" if coup.part > 0 else "payout-underpaid"
        facts.pop("odds", None)  # they say nothing of a stake
    _claim(coup, rule, *coup.seqs, part="all", **facts)


def _find_parts(coup: Coup) -> None:
    """Report each part that is wrong, winnings and stake."""
    parts = (
        ("winnings", coup.balance.winnings, coup.due[0], _rule_of_winnings),
        ("stake", coup.balance.stake, coup.due[1], _rule_of_stake),
    )
    for part, wrong, due, rule_of in parts:
        if wrong:
            rule, facts = rule_of(coup)
            find(coup.table, rule, *coup.seqs, wager=coup.wager, expected=due, recorded=due + wrong, part=part, **facts)
    _find_rounded(coup)


def _rule_of_winnings(coup: Coup) -> tuple[str, dict[str, Any]]:
    wager = coup.wager
    split = coup.split
    if split is not None and wager.status == "won" and split.is_paid(wager.winnings_paid, wager.standing):
        return split.rule, {"odds": wager.odds, "result": wager.result}
    if wager.status == "released" and coup.balance.winnings > 0:
        return "imprisoned-stake-paid-winnings", {"zeros": wager.zeros}
    rule = "payout-overpaid" if coup.balance.winnings > 0 else "payout-underpaid"
    odds = None if coup.sums.pressed else wager.odds  # of what was staked anew the odds say nothing
    return rule, {"odds": odds, "status": wager.status, "decided_seq": wager.decided_by}


def _rule_of_stake(coup: Coup) -> tuple[str, dict[str, Any]]:
    wager = coup.wager
    rule = RULE_OF_STAKE[wager.status]
    if rule == "stake-not-returned":
        return rule, {"decided_seq": wager.decided_by, "status": wager.status}
    return rule, {"zeros": wager.zeros}


# Payments that come to what is due


def _inform(coup: Coup) -> None:
    """Report what is worth knowing of payments that left no debt."""
    moves, found = [move for move in coup.payments if not move.put_back], coup.balance
    _find_rounded(coup)
    if len(moves) == 1:
        if found.winnings and not moves[0].settled:  # a settlement tells no winnings from a stake
            facts = {"winnings_due": coup.due[0], "winnings_paid": coup.due[0] + found.winnings}
            _claim(coup, "payout-parts-mixed", *coup.seqs, **facts)
        return
    parts = {(move.winnings > 0, move.stake > 0) for move in moves}
    is_one = len(moves) == 2 and parts == {(True, False), (False, True)} and not any(move.settled for move in moves)
    if moves and not is_one:  # winnings and stake apart are one payment
        _claim(coup, "payout-put-right", *coup.seqs, movements=len(moves))


def _find_rounded(coup: Coup) -> None:
    wager, sums, unit = coup.wager, coup.sums, coup.table.open_session().payout_unit
    dues = wager.winnings_due - sums.pressed, wager.stake_due - sums.plays_on
    parts = zip(dues, (wager.winnings_paid, wager.stake_paid), coup.balance.rounded, net(coup.payments), strict=True)
    for due, paid, rounded, moved in parts:
        if rounded and moved:
            rule = "rounded-in-players-favour"
            find(coup.table, rule, *coup.seqs, wager=wager, expected=due, recorded=paid, unit=unit)


def _report_breakage(table: Table, wager: Wager) -> None:
    """Report a half that does not divide, when the choice that made it due can no longer change."""
    if wager.status != "refunded_half" or wager.decided_by == wager.zero_by:
        return
    part = part_of_stake(table, wager)
    unit = table.open_session().payout_unit
    seqs = wager.placed_by, wager.decided_by or 0
    if seqs[1] > table.coup_began and not share(wager.standing, part, unit)[1]:
        find(table, "indivisible-stake", *seqs, wager=wager, expected=wager.stake_due, odds=str(part), unit=unit)


def _check_announced(table: Table, wager: Wager, moves: Sequence[Move]) -> None:
    """Art. 57-1 al. 8: find winnings, won and paid in this coup, other than were announced."""
    if wager.announced is None or (wager.decided_by or table.coup_began) < table.coup_began:
        return
    if not moves and wager.paid_by > table.coup_began:
        moves = (Move(wager.paid_by, wager.winnings_due, wager.stake_due),)
    payouts = [move.winnings for move in moves if move.winnings >= 0 and move.stake >= 0 and not move.settled]
    amount, paid, by = wager.announced, net(moves)[0], wager.announced_by
    if payouts and paid != amount and any(each != amount for each in payouts):
        seqs = by, *(move.seq for move in moves)
        rule = "payment-not-as-announced"
        find(table, rule, *seqs, wager=wager, expected=amount, recorded=paid, announced_seq=by)


# Acts on the chips


def _find_acts(coup: Coup, carried: int) -> None:
    """Report withdrawals that the rules forbid; the last one owes ``carried``."""
    account, wager = coup.account, coup.wager
    acts = [act for act in account.acts if act.rule in WITHDRAWALS_FORBIDDEN and (carried or not act.is_lifting)]
    if wager.status == "refunded_half" and not carried:  # what he took is the half, and his choice
        acts = [act for act in acts if act.rule != "imprisoned-stake-withdrawn"]
    for act in acts:
        seq = act.evidence[-1]
        back = [move for move in coup.payments if move.stake < 0 and move.seq > seq]
        is_carrier = carried and act is acts[-1]
        if not is_carrier and (not account.lifted or -sum(move.stake for move in back) >= act.amount):
            _find_put_right(coup, act, "wager.withdrawn", back[-1].seq if back else wager.changed_by)  # the sweep
            continue
        facts = dict[str, Any](act.facts)
        if not wager.undecided and wager.status != "withdrawn":
            facts = {"decided_seq": wager.decided_by, "status": wager.status} | facts
        facts |= {"recorded": act.amount, "difference": carried if is_carrier else None}
        find(coup.table, act.rule, *act.evidence, wager=wager, severity=act.severity, **facts)


def _find_put_right(coup: Coup, act: Act, event_type: str, right_by: int) -> None:
    facts = dict[str, Any](facts_of(event_type, act.rule, act.amount or None, act.evidence[-1], right_by))
    find(coup.table, PUT_RIGHT, *act.evidence, right_by, wager=coup.wager, cites=act.rule, **facts)


def _find_sweep(coup: Coup, carried: int, *, is_over: bool) -> None:
    """Report a stake that was swept without being lost, unless it was handed back in the same coup.

    Where it lies again where it lay, that is an act put right. ``is_over``: the coup has ended. Until then the sweep of
    a winner stands.
    """
    wager, is_back = coup.wager, not coup.wager.is_swept
    if not wager.undecided:
        is_back |= coup.balance.stake >= 0 or not coup.balance.debt
    sweeps = [act for act in coup.account.acts if act.rule not in WITHDRAWALS_FORBIDDEN]  # on no decision
    stands = bool(sweeps or carried or not is_back or (wager.status == "won" and not is_over))
    rule = "void-stake-kept" if wager.status == "void" else "winning-wager-collected"
    evidence = wager.placed_by, wager.decided_by or 0, coup.table.taken[wager.id]
    for sweep in sweeps or [Act(rule, 0, evidence, {"status": wager.status, "decided_seq": wager.decided_by})]:
        owes = carried if sweep.evidence[-1] == evidence[-1] else 0
        back = next((move.seq for move in coup.payments if move.put_back and move.seq > sweep.evidence[-1]), 0)
        if back and not owes:
            _find_put_right(coup, sweep, "stakes.collected", back)
        elif stands:
            facts = dict[str, Any](sweep.facts | {"difference": owes or None})
            find(coup.table, sweep.rule, *sweep.evidence, wager=wager, **facts)
