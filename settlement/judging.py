"""The verdict on the account of one wager when a coup ends: which finding carries its debt, and what the others say.

    the debt did not change             nothing; `payout-put-right`, `payout-parts-mixed`, `rounded-in-players-favour`
    it came nearer to zero              earlier findings owe less, at zero they are put right
    it went away from zero, or through  one finding, with that part alone

The new part is carried by the payment of this coup, if there was one; else by the act that moved the chips; else by
`payout-missing`. Winnings and stake that are wrong the same way have a finding each. Whatever else was done against the
rules with the chips is found as well, and owes nothing. All findings of an account are one incident.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from settlement.accounts import (
    NO_ACCOUNT,
    Balance,
    LeftUpSums,
    balance,
    net,
    part_of_stake,
    stake_due_of,
)
from settlement.differences import owed_by
from settlement.finding import Finding, FindingRef
from settlement.kinds import Split
from settlement.money import share
from settlement.other_readings import soften
from settlement.payouts import find_unsettled
from settlement.ruleset import kind_of
from settlement.state import Account, Move, Table, Wager, find

RULE_OF_STAKE: Mapping[str, str] = MappingProxyType(
    {
        "won": "stake-not-returned",
        "void": "stake-not-returned",
        "withdrawn": "stake-not-returned",
        "released": "imprisoned-value-not-halved",
        "refunded_half": "half-refund-mismatch",
        "refunded_last_coup": "last-coup-refund-mismatch",
    }
)
"""The rule that a wrong stake breaks, by status."""

OF_STAKE = frozenset({*RULE_OF_STAKE.values(), "winning-wager-collected", "void-stake-kept"})
OF_WINNINGS = frozenset({"payout-overpaid", "payout-underpaid", "imprisoned-stake-paid-winnings"})

NO_CLAIM = frozenset(
    {
        "act-put-right",
        "indivisible-stake",
        "payment-not-as-announced",
        "payout-parts-mixed",
        "payout-put-right",
        "rounded-in-players-favour",
    }
)
"""Rules of this module whose findings are no question of money: nothing puts them right."""


class Judged(NamedTuple):
    """What a coup leaves of an account: debt, what was rounded up, findings as they read now, and the first of them."""

    debt: int
    gift: int
    claims: tuple[Finding, ...]
    head: FindingRef | None


class _Coup(NamedTuple):
    """The money of one wager in one coup. ``part`` is what it adds to the debt, ``before`` the debt it found."""

    table: Table
    wager: Wager
    account: Account
    sums: LeftUpSums
    balance: Balance
    payments: tuple[Move, ...]
    before: int
    part: int

    @property
    def due(self) -> tuple[int, int]:
        """The winnings and the stake due, but for what plays on."""
        return self.wager.winnings_due - self.sums.pressed, stake_due_of(self.wager) - self.sums.plays_on

    @property
    def seqs(self) -> list[int]:
        """The decision, if it came before the last movement of money, and all movements, that one last."""
        seqs = [move.seq for move in self.payments] or [self.sums.seq]
        decided = self.wager.decided_by or 0
        return [decided, *seqs] if decided < seqs[-1] else seqs

    @property
    def split(self) -> Split | None:
        """How the bet is paid where it is mistaken for several."""
        kind = kind_of(self.table, self.wager)
        return None if kind is None else kind.split

    @property
    def split_rule(self) -> str:
        return "" if self.split is None else self.split.rule


def judge(table: Table, wager: Wager, sums: LeftUpSums, seq: int, *, is_over: bool = True) -> Judged:
    """Report what the coup that event ``seq`` ends adds to the account of ``wager``.

    ``is_over``: it has ended. In its midst nothing is missing.
    """
    account = wager.account or NO_ACCOUNT
    start = len(table.findings)
    payments = tuple(move for move in account.moves if move.is_payment)
    _check_announced(table, wager, payments)
    if not wager.undecided:
        _report_breakage(table, wager)
    found = balance(table, wager, sums)
    debt, before = found.debt, account.debt
    if not is_over and wager.id in table.due:
        debt = before
    is_nearer = 0 <= debt <= before or before <= debt <= 0
    part = 0 if is_nearer else debt - before if debt * before > 0 else debt
    coup = _Coup(table, wager, account, sums, found, payments, before, part)
    carrier = _find_claim(coup, seq) if part else None
    if payments and not part and not before:
        _inform(coup)
    _find_acts(coup, part if carrier == "act" else 0)
    if wager.id in table.taken:
        _find_sweep(coup, part if carrier == "sweep" else 0, is_over=is_over)
    head = as_one_incident(table, start, account.head)
    moved = max([move.seq for move in account.moves] + [sums.seq]) or seq
    claims = _as_they_read(coup, debt, before if debt * before > 0 else 0, moved, is_carried=carrier is not None)
    new = [each for each in table.findings[start:] if each.rule not in NO_CLAIM]
    return Judged(debt, sum(found.rounded), (*claims, *new), head)


def is_plain(wager: Wager, sums: LeftUpSums) -> bool:
    """Whether a winner was paid what was due, but for what plays on, at once and with nothing left of earlier coups.

    Then ``judge`` has nothing to report: so ends every coup that leaves a winning stake up.
    """
    if wager.status != "won" or wager.announced is not None:
        return False
    account = wager.account
    if account is not None and (
        len(account.moves) > 1
        or account.debt
        or account.claims
        or account.acts
        or account.lifted
        or account.settled
        or account.early
        or account.put_back
        or account.recovered
    ):
        return False
    return (
        wager.winnings_paid == wager.winnings_due - sums.pressed and wager.stake_paid == wager.stake_due - sums.plays_on
    )


# The finding that carries the new part


def _find_claim(coup: _Coup, seq: int) -> str | None:
    """Report the new part of the debt. Return what carries it; None if only earlier findings can."""
    table, wager = coup.table, coup.wager
    if coup.payments or (coup.sums.seq and coup.part > 0):
        _find_payment(coup)
        return "payment"
    if coup.part > 0:
        return "act" if coup.account.acts else None
    if wager.id in table.due and wager.status != "released":
        winnings, stake = coup.due
        find(
            table,
            "payout-missing",
            wager.decided_by or 0,
            seq,
            wager=wager,
            expected=winnings + stake,
            recorded=winnings + stake + coup.balance.debt,
            difference=coup.part,
            decided_seq=wager.decided_by,
            winnings_due=winnings,
            stake_due=stake,
        )
        return "missing"
    return "sweep" if wager.id in table.taken else None


def _find_payment(coup: _Coup) -> None:
    table, wager, found = coup.table, coup.wager, coup.balance
    before = len(table.findings)
    if wager.undecided or _was_paid_before_it_was_taken(coup):
        _find_undue(coup)
        return
    if wager.status == "lost":
        _find_on_loser(coup)
    elif (first := _first_of_duplicates(coup)) > 0:
        due = sum(coup.due)
        find(
            table,
            "payout-duplicated",
            first,
            *coup.seqs,
            wager=wager,
            expected=due,
            recorded=due + found.debt,
            difference=coup.part,
            paid_seq=first,
        )
    elif coup.before or coup.account.settled or found.winnings * found.stake < 0:
        _find_in_all(coup)
    else:
        _find_parts(coup)
    handed = wager.winnings_paid + coup.sums.pressed, wager.stake_paid + coup.sums.plays_on
    table.findings[before:] = soften(table, wager, *handed, table.findings[before:])


def _was_paid_before_it_was_taken(coup: _Coup) -> bool:
    """Whether winnings were paid on a stake that the player took back afterwards: nothing had decided it then."""
    moves = coup.payments
    return coup.wager.status == "withdrawn" and any(move.rule for move in moves) and net(moves)[0] != 0


def _find_undue(coup: _Coup) -> None:
    """Report money that nothing made due."""
    table, wager, moves = coup.table, coup.wager, coup.payments
    seqs = coup.seqs if not moves else [move.seq for move in moves]
    due = sum(coup.due) if not wager.undecided else stake_due_of(wager)
    amounts: dict[str, Any] = {
        "expected": due,
        "recorded": due + coup.balance.debt,
        "difference": coup.part,
    }
    unexplained = Move(seqs[-1], rule="payout-without-result", by=wager.placed_by)
    last = next((move for move in reversed(moves) if move.rule), unexplained)
    if coup.account.withdrawn and not coup.balance.winnings and not coup.account.settled:
        find(table, "stake-not-returned", *seqs, wager=wager, status=wager.status, **amounts)
    elif coup.part < 0:
        find(table, "payout-underpaid", *seqs, wager=wager, status=wager.status, **amounts)
    elif last.rule == "push-paid":
        find(table, last.rule, last.by, *seqs, wager=wager, result_seq=last.by, result=last.result, **amounts)
    elif last.rule == "payout-without-result":
        find(table, last.rule, last.by, *seqs, wager=wager, status=wager.status, **amounts)
    else:
        find_unsettled(
            table,
            wager,
            last.rule,
            last.by,
            *seqs,
            event_type="payout.made",
            amount=amounts["recorded"],
            difference=coup.part,
            result=last.result,
        )


def _find_on_loser(coup: _Coup) -> None:
    wager = coup.wager
    is_paid = coup.part > 0
    facts: dict[str, Any] = {"result": wager.result} if is_paid else {"status": wager.status}
    due = stake_due_of(wager)
    find(
        coup.table,
        "losing-wager-paid" if is_paid else "payout-underpaid",
        *coup.seqs,
        wager=wager,
        expected=due,
        recorded=due + coup.balance.debt,
        difference=coup.part,
        decided_seq=wager.decided_by,
        **facts,
    )


def _first_of_duplicates(coup: _Coup) -> int:
    """Return the first of at least two payments that were each all that is due; 0 if they were not."""
    wager, due = coup.wager, coup.due
    payouts = [move for move in coup.payments if move.winnings >= 0 and move.stake >= 0]
    if not any(due) or not payouts or coup.part < 0:
        return 0
    firsts = [move.seq for move in payouts]
    if not coup.balance.debt - sum(move.winnings + move.stake + move.settled for move in coup.payments):
        firsts.insert(0, wager.paid_by if 0 < wager.paid_by < firsts[0] else coup.account.settled_by)
    is_each_due = all(
        (move.winnings, move.stake) == due or (move.settled and move.settled == sum(due)) for move in payouts
    )
    return firsts[0] if is_each_due and len(firsts) > 1 and firsts[0] else 0


def _find_in_all(coup: _Coup) -> None:
    """Report winnings and stake in one: what is wrong the one way is more than what is wrong the other."""
    wager, found = coup.wager, coup.balance
    due = sum(coup.due)
    is_of_winnings = coup.account.settled or abs(found.winnings) >= abs(found.stake)
    if is_of_winnings:
        rule, facts = _rule_of_winnings(coup)
        if coup.before or coup.account.settled:
            rule = "payout-overpaid" if coup.part > 0 else "payout-underpaid"
        facts = {name: fact for name, fact in facts.items() if name != "odds"}  # they say nothing of a stake
    else:
        rule, facts = _rule_of_stake(wager)
    find(
        coup.table,
        rule,
        *coup.seqs,
        wager=wager,
        expected=due,
        recorded=due + found.debt,
        difference=coup.part,
        **facts,
    )


def _find_parts(coup: _Coup) -> None:
    """Report each part that is wrong, winnings and stake."""
    wager, found = coup.wager, coup.balance
    winnings_due, stake_due = coup.due
    if found.winnings:
        rule, facts = _rule_of_winnings(coup)
        paid = winnings_due + found.winnings
        find(coup.table, rule, *coup.seqs, wager=wager, expected=winnings_due, recorded=paid, **facts)
    if found.stake:
        rule, facts = _rule_of_stake(wager)
        paid = stake_due + found.stake
        find(coup.table, rule, *coup.seqs, wager=wager, expected=stake_due, recorded=paid, **facts)
    _find_rounded(coup)


def _rule_of_winnings(coup: _Coup) -> tuple[str, dict[str, Any]]:
    wager = coup.wager
    split = coup.split
    if split is not None and wager.status == "won" and split.is_paid(wager.winnings_paid, wager.standing):
        return split.rule, {"odds": wager.odds, "result": wager.result}
    if wager.status == "released" and coup.balance.winnings > 0:
        return "imprisoned-stake-paid-winnings", {"zeros": wager.zeros}
    rule = "payout-overpaid" if coup.balance.winnings > 0 else "payout-underpaid"
    return rule, {"odds": wager.odds, "status": wager.status, "decided_seq": wager.decided_by}


def _rule_of_stake(wager: Wager) -> tuple[str, dict[str, Any]]:
    rule = RULE_OF_STAKE[wager.status]
    if rule == "stake-not-returned":
        return rule, {"decided_seq": wager.decided_by, "status": wager.status}
    return rule, {"zeros": wager.zeros}


# Payments that come to what is due


def _inform(coup: _Coup) -> None:
    """Report what is worth knowing of payments that left no debt."""
    moves, found = coup.payments, coup.balance
    _find_rounded(coup)
    if len(moves) == 1:
        if found.winnings:
            find(
                coup.table,
                "payout-parts-mixed",
                *coup.seqs,
                wager=coup.wager,
                expected=sum(coup.due),
                recorded=sum(coup.due),
                winnings_due=coup.due[0],
                winnings_paid=coup.due[0] + found.winnings,
            )
        return
    parts = {(move.winnings > 0, move.stake > 0) for move in moves}
    if len(moves) == 2 and parts == {(True, False), (False, True)} and not any(move.settled for move in moves):
        return  # winnings and stake apart are one payment
    due = sum(coup.due) if not coup.wager.undecided else stake_due_of(coup.wager)
    find(
        coup.table,
        "payout-put-right",
        *coup.seqs,
        wager=coup.wager,
        expected=due,
        recorded=due,
        movements=len(moves),
    )


def _find_rounded(coup: _Coup) -> None:
    wager, sums = coup.wager, coup.sums
    paid = wager.winnings_paid, wager.stake_paid
    for index, is_rounded in enumerate(coup.balance.rounded):
        if is_rounded and net(coup.payments)[index]:
            find(
                coup.table,
                "rounded-in-players-favour",
                *coup.seqs,
                wager=wager,
                expected=(wager.winnings_due - sums.pressed, wager.stake_due - sums.plays_on)[index],
                recorded=paid[index],
                unit=coup.table.open_session().payout_unit,
            )


def _report_breakage(table: Table, wager: Wager) -> None:
    """Report a half that does not divide, when the choice that made it due can no longer change."""
    if wager.status != "refunded_half" or wager.decided_by == wager.zero_by:
        return
    part = part_of_stake(table, wager)
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
    payouts = [move.winnings for move in moves if move.winnings >= 0 and move.stake >= 0 and not move.settled]
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


# Acts on the chips


def _find_acts(coup: _Coup, carried: int) -> None:
    """Report withdrawals that the rules forbid; the last one owes ``carried``."""
    account, wager = coup.account, coup.wager
    acts = [act for act in account.acts if not (act.is_lifting and not carried)]
    if wager.status == "refunded_half":  # what he took is the half, and his choice
        acts = [act for act in acts if act.rule != "imprisoned-stake-withdrawn"]
    for act in acts:
        back = sum(-move.stake for move in coup.payments if move.stake < 0 and move.seq > act.evidence[-1])
        if not account.lifted or back >= act.amount:
            find(coup.table, "act-put-right", *act.evidence, wager=wager, act=act.rule)
            continue
        find(
            coup.table,
            act.rule,
            *act.evidence,
            wager=wager,
            severity=act.severity,
            recorded=act.amount,
            difference=carried if act is acts[-1] and carried else None,
            **cast(dict[str, Any], act.facts),
        )


def _find_sweep(coup: _Coup, carried: int, *, is_over: bool) -> None:
    """Report a stake that was swept without being lost, unless it was handed back in the same coup.

    ``is_over``: the coup has ended. Until then the sweep of a winner stands.
    """
    table, wager = coup.table, coup.wager
    is_back = not coup.wager.is_swept
    if not wager.undecided:
        is_back |= coup.balance.stake >= 0 or not coup.balance.debt
    if is_back and (is_over or wager.status != "won"):
        return
    find(
        table,
        "void-stake-kept" if wager.status == "void" else "winning-wager-collected",
        wager.placed_by,
        wager.decided_by or 0,
        table.taken[wager.id],
        wager=wager,
        difference=carried or None,
        status=wager.status,
        decided_seq=wager.decided_by,
    )


# The incident, and what earlier findings say now


def as_one_incident(table: Table, start: int, head: FindingRef | None) -> FindingRef | None:
    """Let the findings from ``start`` on be consequences of the first of the account; return that one."""
    new = sorted(table.findings[start:], key=lambda each: each.order)
    for index, found in enumerate(new):
        if head is None:
            head = found.ref if found.rule not in NO_CLAIM else None
        elif head.order < found.order:
            causes = tuple(sorted({*found.causes, head}, key=lambda cause: cause.order))
            new[index] = replace(found, causes=causes)
    table.findings[start:] = new
    return head


def _as_they_read(coup: _Coup, debt: int, left: int, seq: int, *, is_carried: bool) -> tuple[Finding, ...]:
    """Return earlier findings of the account as they read when event ``seq`` has moved its debt.

    ``left`` is the part of the debt that is theirs; with nothing else to carry it, all of it.
    """
    account = coup.account
    target = left if is_carried else debt
    claims = list(account.claims)
    open_ = [index for index, each in enumerate(claims) if each.put_right_by is None]
    if not debt and (coup.before or (coup.payments and not (coup.wager.undecided and coup.wager.is_swept))):
        for index in open_:
            if claims[index].rule != "losing-wager-not-collected":
                claims[index] = _made_right(claims[index], coup, seq)
        return tuple(claims)
    if not target and coup.before:
        return tuple(
            each.put_right(seq) if index in open_ and each.owed is not None else each
            for index, each in enumerate(claims)
        )
    of_right_part = [
        index
        for index in open_
        if (claims[index].rule in OF_STAKE and not coup.balance.stake)
        or (claims[index].rule in {*OF_WINNINGS, coup.split_rule} and not coup.balance.winnings)
    ]
    if not account.settled and abs(target) < abs(coup.before) and len(of_right_part) < len(open_):
        for index in of_right_part:
            if claims[index].owed:
                claims[index] = claims[index].put_right(seq)
    share_debt(claims, [index for index in open_ if claims[index].put_right_by is None], target, seq)
    return tuple(claims)


def _made_right(found: Finding, coup: _Coup, seq: int) -> Finding:
    """Return a finding that nothing is owed on any more; one that a settlement made right is information.

    Where a party to it approved the settlement, the finding keeps what it says.
    """
    if not any(move.settled for move in coup.payments):
        return found.put_right(seq)
    if coup.account.approver_is_party:
        return replace(found, put_right_by=seq, owed=None)
    return replace(found.put_right(seq), severity="info")


def share_debt(claims: list[Finding], open_: Sequence[int], target: int, seq: int) -> None:
    """Let the ``open_`` findings owe ``target``: what is paid goes to the earliest, what is added to the last."""
    signed = {index: _signed(claims[index]) for index in open_}
    excess = sum(signed.values()) - target
    for index in open_:
        taken = max(0, min(excess, signed[index])) if excess > 0 else min(0, max(excess, signed[index]))
        if taken:
            signed[index] -= taken
            excess -= taken
    if excess and open_:
        signed[open_[-1]] -= excess
    for index in open_:
        now, found = signed[index], claims[index]
        if now == _signed(found):
            continue
        claims[index] = found.put_right(seq) if not now else replace(found, owed=owed_by(found.rule, now, found.player))


def _signed(found: Finding) -> int:
    if found.owed is None:
        return 0
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount
