"""Entries of a wager's account, and acts that wait for the end of their coup: plain data of the state of a table."""

from __future__ import annotations

from msgspec import Struct

from settlement.finding import Fact, Finding, FindingRef


class Move(Struct, frozen=True, array_like=True, gc=False):
    """One entry of this coup in the account of a wager. Amounts in minor units, below zero what the player gave back.

    ``lifted`` is what he took himself, ``settled`` what a dispute gave him, ``put_back`` what of ``stake`` had been
    swept and lies again where it lay. ``rule`` is what a payout breaks if nothing has decided the wager when the coup
    ends, ``by`` the event that shows it, ``facts`` what its finding says of it; a snapshot of an earlier release has a
    result there.
    """

    seq: int
    winnings: int = 0
    stake: int = 0
    lifted: int = 0
    settled: int = 0
    rule: str = ""
    by: int = 0
    facts: dict[str, Fact] | str = {}
    payer: str = ""
    put_back: int = 0

    @property
    def money(self) -> int:
        """What the house gave, in minor units."""
        return self.winnings + self.stake + self.settled

    @property
    def is_payment(self) -> bool:
        """Whether money changed hands, and not only chips that the player took himself."""
        return not self.lifted


class Act(Struct, frozen=True, array_like=True, gc=False):
    """A withdrawal that ``rule`` forbids, judged when its coup ends. ``amount`` in minor units.

    Or the sweep of a stake on a throw that decides nothing for it: of the whole, with ``amount`` 0.

    ``is_lifting``: the stake was the player's, so that only what he took beyond it is irregular.
    """

    rule: str
    amount: int
    evidence: tuple[int, ...]
    facts: dict[str, Fact]
    severity: str | None = None
    is_lifting: bool = False


class Account(Struct, array_like=True, gc=False):
    """What is unusual about a wager's money; all amounts in minor units. A wager that one payout settles has none.

    Entries of this coup are ``moves`` and ``acts``; those of ended coups are sums. ``accounts`` says what they come to.
    """

    moves: tuple[Move, ...] = ()
    acts: tuple[Act, ...] = ()
    withdrawn: int = 0  # parts that the player may take while the wager is undecided, and took
    lifted: int = 0  # what else he took
    recovered: int = 0  # of the stake, to the house; what is laid where it lay is taken off ``stake_paid`` alone
    put_back: int = 0  # of stakes handed back: had been swept, and lie where they lay
    before_half: str = ""  # the status from which the chips were read as the half at a zero
    early: int = 0  # of the stake handed back: before anything decided the wager
    plays_on: int = 0  # as another wager
    pressed: int = 0  # of the winnings due: was staked on top of that
    settled: int = 0  # by disputes: above zero if the house paid
    settled_by: int = 0
    approver_is_party: bool = False  # to the last settlement
    orphaned: int = 0  # taken to the cash desk
    beyond: int = 0  # of that: was not the player's
    debt: int = 0  # when the last coup ended: above zero the player owes it
    gift: int = 0  # of what was paid: was rounded up in the player's favour
    claims: tuple[Finding, ...] = ()  # on the money and the chips of ended coups, as they read now
    head: FindingRef | None = None  # the first finding on them, of which the others are consequences
    laid_again: int = 0  # of what was recovered: he had taken it, and it lies where it lay


class PendingAct(Struct, array_like=True, gc=False):
    """An act that was wrong, and may be put right until its coup ends, or its throw: see ``acts``.

    ``found`` is what it is found to be unless it is put right, ``first`` what stood first. ``right_by`` is the event
    that put it right, 0 while none has. ``back`` is what still has to go back before it is right, in minor units.
    ``is_closed``: nothing changes how it stands any more.
    """

    found: list[Finding]
    first: Finding
    right_by: int = 0
    back: int = 0
    is_closed: bool = False
