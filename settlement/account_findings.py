"""The money of one wager in one coup, and what the findings of its account say as its debt moves.

Earlier findings owe less as the debt comes nearer to zero, and are put right at zero. All findings of an account are
one incident: the first is the cause of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from settlement.accounts import Balance, LeftUpSums, stake_due_of
from settlement.differences import owed_by
from settlement.finding import Finding, FindingRef
from settlement.kinds import Split
from settlement.ruleset import kind_of
from settlement.state import Account, Move, Table, Wager

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

LYING = "losing-wager-not-collected"
"""The rule on a loser that lies on the felt: that is no debt."""

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


class Coup(NamedTuple):
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


def as_they_read(coup: Coup, debt: int, left: int, seq: int, *, is_carried: bool) -> tuple[Finding, ...]:
    """Return earlier findings of the account as they read when event ``seq`` has moved its debt.

    ``left`` is the part of the debt that is theirs; with nothing else to carry it, all of it.
    """
    account = coup.account
    target = left if is_carried else debt
    claims = list(account.claims)
    # A loser that lies on the felt is no debt.
    open_ = [index for index, each in enumerate(claims) if each.put_right_by is None and each.rule != LYING]
    is_at_zero = not debt and coup.payments and not (coup.wager.undecided and coup.wager.is_swept)
    if (not target and coup.before) or is_at_zero:  # at zero, or through it
        for index in open_:
            claims[index] = _made_right(claims[index], coup, seq) if not debt else claims[index].put_right(seq)
        return tuple(claims)
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


def _made_right(found: Finding, coup: Coup, seq: int) -> Finding:
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
    if excess and open_:  # one claim in a coup: what owes already owes more
        owing = [index for index in open_ if claims[index].owed is not None]
        signed[(owing or open_)[-1]] -= excess
    for index in open_:
        now, found = signed[index], claims[index]
        if now == _signed(found):
            continue
        claims[index] = found.put_right(seq) if not now else replace(found, owed=owed_by(found.rule, now, found.player))


def _signed(found: Finding) -> int:
    if found.owed is None:
        return 0
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount
