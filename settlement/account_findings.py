"""The money of one wager in one coup, and what the findings of its account say as its debt moves.

Earlier findings owe less as the debt comes nearer to zero, and are put right at zero. All findings of an account are
one incident: the first is the cause of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from settlement.accounts import Balance, LeftUpSums, stake_due_of
from settlement.catalogue import RULES
from settlement.differences import owed_by
from settlement.finding import Finding
from settlement.kinds import Split
from settlement.ruleset import kind_of
from settlement.state import Account, Move, Table, Wager

RULE_OF_STAKE: Mapping[str, str] = {
    **dict.fromkeys(("won", "void", "withdrawn"), "stake-not-returned"),
    "released": "imprisoned-value-not-halved",
    "refunded_half": "half-refund-mismatch",
    "refunded_last_coup": "last-coup-refund-mismatch",
}
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
    """The money of one wager in one coup, which leaves ``debt``, and what its account was before."""

    table: Table
    wager: Wager
    account: Account
    sums: LeftUpSums
    balance: Balance
    payments: tuple[Move, ...]
    debt: int

    @property
    def part(self) -> int:
        """What the coup adds to the debt."""
        return added(self.account.debt, self.debt)

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


def added(before: int, debt: int) -> int:
    """Return what of ``debt`` is new, in minor units: nothing where it came nearer to zero, all where through it."""
    if 0 <= debt <= before or before <= debt <= 0:
        return 0
    return debt - before if debt * before > 0 else debt


def with_findings(account: Account, table: Table, start: int) -> Account:
    """Return ``account`` with the findings from ``start`` on, which are consequences of its first: one incident."""
    new, head = sorted(table.findings[start:], key=lambda each: each.order), account.head
    for index, found in enumerate(new):
        if head is None:
            head = found.ref if found.rule not in NO_CLAIM else None
        elif head.order < found.order:
            causes = tuple(sorted({*found.causes, head}, key=lambda cause: cause.order))
            new[index] = replace(found, causes=causes)
    table.findings[start:] = new
    claims = (*account.claims, *(each for each in new if each.rule not in NO_CLAIM))
    return replace(account, head=head, claims=claims)


def as_they_read(coup: Coup, seq: int, *, is_carried: bool) -> list[Finding]:
    """Return earlier findings of the account as they read when event ``seq`` has moved its debt.

    They owe what of it is not new; with nothing else to carry it, all of it.
    """
    account, balance = coup.account, coup.balance
    target = coup.debt - coup.part if is_carried else coup.debt
    is_at_zero = not coup.debt and coup.payments and not (coup.wager.undecided and coup.wager.is_swept)
    if (not target and account.debt) or is_at_zero:  # at zero, or through it
        return [_made_right(each, coup, seq) if _is_open(each) else each for each in account.claims]
    if account.settled or abs(target) >= abs(account.debt):
        return share_debt(account.claims, target, seq)
    of_winnings = OF_WINNINGS if coup.split is None else OF_WINNINGS | {coup.split.rule}
    of_right_part = (frozenset() if balance.stake else OF_STAKE) | (frozenset() if balance.winnings else of_winnings)
    claims: Sequence[Finding] = account.claims
    if any(_is_open(each) and each.rule not in of_right_part for each in claims):
        claims = [
            each.put_right(seq) if each.rule in of_right_part and each.owed and _is_open(each) else each
            for each in claims
        ]
    return share_debt(claims, target, seq)


def as_it_lies(found: Finding, coup: Coup, seq: int) -> Finding:
    """Return the finding on a loser that lay on the felt as it reads when its player has the stake, or gave it back."""
    if found.rule != LYING or found.put_right_by is not None:
        return found
    if coup.balance.stake >= coup.wager.standing:
        return replace(found, facts=found.facts | {"gone_by": seq, "lay_at": "player"})
    return found.put_right(seq) if "gone_by" in found.facts and not coup.debt else found


def _is_open(found: Finding) -> bool:
    """Whether a finding is not put right. A loser that lies on the felt is no debt."""
    return found.put_right_by is None and found.rule != LYING


def _made_right(found: Finding, coup: Coup, seq: int) -> Finding:
    """Return a finding that nothing is owed on any more; one that a settlement made right is information.

    Where a party to it approved the settlement, the finding keeps what it says.
    """
    if coup.debt or not any(move.settled for move in coup.payments):
        return found.put_right(seq)
    if coup.account.approver_is_party:
        return replace(found, put_right_by=seq, owed=None)
    return replace(found.put_right(seq), severity="info")


def share_debt(claims: Sequence[Finding], target: int, seq: int) -> list[Finding]:
    """Return ``claims``, of which those that are open owe ``target``, in minor units, from event ``seq`` on.

    A payment reduces the earliest, an addition increases the last.
    """
    signed = {index: _signed(each) for index, each in enumerate(claims) if _is_open(each)}
    excess = sum(signed.values()) - target
    for index, owes in signed.items():
        taken = max(0, min(excess, owes)) if excess > 0 else min(0, max(excess, owes))
        signed[index] -= taken
        excess -= taken
    if excess and signed:  # one claim in a coup: what owes already owes more
        owing = [index for index in signed if claims[index].owed is not None]
        signed[(owing or list(signed))[-1]] -= excess
    shared = list(claims)
    for index, now in signed.items():
        found = claims[index]
        if now != _signed(found):
            shared[index] = _owing(found, now) if now else found.put_right(seq)
    return shared


def _owing(found: Finding, now: int) -> Finding:
    """Return a finding that owes ``now``. An act that owed nothing, or was put down to a correction, is a claim now."""
    severity = RULES[found.rule].severity if found.severity == "info" else found.severity
    difference = now if found.difference is None else found.difference
    return replace(found, owed=owed_by(found.rule, now, found.player), difference=difference, severity=severity)


def _signed(found: Finding) -> int:
    if found.owed is None:
        return 0
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount
