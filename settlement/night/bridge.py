"""The bridge: from the theoretical win to what was counted, in five steps that add up.

     TW                  what the bets taken should have brought: Σ stake × exact edge
   + luck                W_adj − TW        dice and ball did otherwise
   + unadjudicated       N                 the money of bets that no ruleset here decides, as it was recorded
   + payout errors       W_rec − W_adj − N the table paid, returned or charged otherwise than the rules say
   + accounting variance W_acct − W_rec    the rack and the box hold otherwise than was recorded
   = accounting win      W_acct = K + C + D − O − F

A win is lost stakes L + halves taken at zero Z + commissions V − winnings G, once as the rules give it (W_adj) and
once as it was recorded (W_rec). A bet outside the text has the second alone, N: no draw that is adjudicated explains
its money, so it is no luck, and no rule says what was due, so it is no error. Every wager has its own five figures, and
the bridge is their sum, so each line drills down to its wagers. A positive amount is in the house's favour.

Where each irregularity lands, on the line *payout errors* unless another is named:

    winnings over- or underpaid, paid twice, paid on a loss     due − paid, less what was recovered
    a stake that plays on as another wager, a press             nothing: it counts as handed back, as paid
    a stake not returned, a half or release of another value    due − returned, + for the house
    not paid at all, winnings and stake                         + both, until a late payment takes it back to 0
    paid while nothing was decided                              − what was paid, though the wager ends well later
    paid on a wager that was never placed                       − what was paid, less what came back, under that id
    a commission other than 5 %                                 paid − due
    a void stake that the croupier swept                        + the stake
    void, withdrawn, pushed                                     nothing: no stake was decided
    a bet outside the text                                      nothing: what was paid on it is unadjudicated
    a winner of whom no payout is seen, as none is there        nothing: what is due counts as paid
    freed from prison and handed back to nobody                 nothing: lifted, or kept for its owner at the cash desk
    more than was free, or a lost stake, at the cash desk       − what was no longer its owner's
    a stake handed back, and withdrawn in the same coup         nothing: it is one and the same
    a part withdrawn and handed back, in whichever order        nothing: at the cash desk it is no longer the player's
    withdrawn, all or a part, another amount handed back        what is due − handed back, + for the house
    more left up than was there                                 nothing: the chips are the player's, or a variance
    goodwill, a dispute settled                                 − what the house paid, + what the player paid
    a tip                                                       nothing: it is not the house's money
    a withdrawn wager's commission, kept or refunded            no error; V has it or not, as the session reads it
    a rack, fill, credit or drop that is wrong                  accounting variance

Undecided stakes U and stakes in prison I are in neither win. They are listed, those in prison with their zeros, their
refund and their present value; ``carried`` is the luck they have had.

Only TW and luck are fractions, and their sum is whole. Rounding is for print only. The theoretical win of a night is
rounded once, divided among its sessions and theirs among their wagers by ``in_minor_units``, which keeps sums; luck is
what it leaves. So printed tables add up in both directions, to the minor unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor
from operator import add
from typing import NamedTuple

from msgspec import Struct

from settlement.accounts import NO_ACCOUNT, is_his_to_take
from settlement.night.chances import Readings, chances_of
from settlement.night.value import commission_due, luck_carried, present_value, theoretical_win
from settlement.state import GAINS_NOTHING, Session, Wager
from settlement.sums import Sum

NOTHING = Fraction(0)

REFUNDED = ("released", "refunded_half", "refunded_last_coup")
"""The statuses of a simple chance that a zero has hit and that ended without losing the whole stake."""


PAID = ("won", "refunded_half", "refunded_last_coup")
"""The statuses of a wager that a payout settles."""


class Bank(Struct, frozen=True, kw_only=True):
    """The money of one session apart from its wagers, in minor units of ``currency``.

    O ``opening_float``, F ``fills``, C ``credits``, K ``closing_float``, D ``drop``, B ``buy_ins``. K is None while the
    session is open, D until the count room has counted: there is no accounting win before both are known.
    """

    currency: str
    opening_float: int
    fills: int = 0
    credits: int = 0
    closing_float: int | None = None
    drop: int | None = None
    buy_ins: int = 0

    @property
    def accounting_win(self) -> int | None:
        """W_acct = K + C + D − O − F; None until both K and D are counted."""
        if self.closing_float is None or self.drop is None:
            return None
        return self.closing_float + self.credits + self.drop - self.opening_float - self.fills

    def __add__(self, other: Bank) -> Bank:
        assert self.currency == other.currency, "no sum in two currencies"
        return Bank(
            currency=self.currency,
            opening_float=self.opening_float + other.opening_float,
            fills=self.fills + other.fills,
            credits=self.credits + other.credits,
            closing_float=_sum_if_known(self.closing_float, other.closing_float),
            drop=_sum_if_known(self.drop, other.drop),
            buy_ins=self.buy_ins + other.buy_ins,
        )


def _sum_if_known(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


class Win(NamedTuple):
    """L lost stakes, Z halves taken at zero, V commissions, G winnings: L + Z + V − G."""

    lost: int = 0
    halves: int = 0
    commissions: int = 0
    winnings: int = 0

    @property
    def total(self) -> int:
        lost, halves, commissions, winnings = self
        return lost + halves + commissions - winnings

    def plus(self, other: Win) -> Win:
        return Win(*map(add, self, other))


class WagerLine(Struct, frozen=True, kw_only=True, gc=False):
    """One wager in the bridge.

    ``decided`` is the stake that was decided (S), ``undecided`` (U) and ``imprisoned`` (I) the part still in play, all
    in minor units. Of the part in play, ``carried`` is the luck so far, ``present_value`` what the player can expect
    back, and ``refund`` what he is due should the session end: S/2^k in prison, else 0. ``unadjudicated`` is the whole
    recorded win of a bet outside the text, 0 of any other.
    """

    wager: str
    bet: str
    status: str
    decided: int
    theoretical: Fraction
    adjudicated: Win
    recorded: Win
    unadjudicated: int = 0
    undecided: int = 0
    imprisoned: int = 0
    zeros: int = 0
    carried: Fraction = NOTHING
    present_value: Fraction = NOTHING
    refund: int = 0

    @property
    def luck(self) -> Fraction:
        return self.adjudicated.total - self.theoretical

    @property
    def payout_error(self) -> int:
        if self.recorded is self.adjudicated:  # as nearly always
            return 0
        return self.recorded.total - self.adjudicated.total - self.unadjudicated


def wager_line(session: Session, wager: Wager, debt: int | None = None) -> WagerLine:
    """Return the bridge of one wager, as it is after the last event of its stream.

    ``debt`` is what the coup under way leaves of its account, in minor units; None: what its account says.
    """
    decided = 0
    undecided = imprisoned = refunded = 0
    carried = present = NOTHING
    if wager.status not in GAINS_NOTHING:
        decided = wager.standing
    elif wager.undecided:
        if wager.status == "open":
            undecided = wager.standing
        else:
            imprisoned = wager.standing
            chances = chances_of(session.ruleset)
            refunded = int(chances.refund(Readings.of(session), wager.standing, wager.zeros))
        carried, present = luck_carried(session, wager), present_value(session, wager)
    adjudicated = _by_the_rules(wager, commission_due(session, wager))
    recorded = _as_recorded(session, wager, adjudicated, debt)
    return WagerLine(
        wager=wager.id,
        bet=wager.bet,
        status=wager.status,
        decided=decided,
        theoretical=theoretical_win(session, wager, adjudicated.commissions),
        adjudicated=adjudicated,
        recorded=recorded,
        unadjudicated=recorded.total if wager.status == "out_of_scope" else 0,
        undecided=undecided,
        imprisoned=imprisoned,
        zeros=wager.zeros,
        carried=carried,
        present_value=present,
        refund=refunded,
    )


def _by_the_rules(wager: Wager, commission: int) -> Win:
    if wager.status == "lost":
        return Win(wager.standing, 0, commission, 0)
    if wager.status in REFUNDED:
        return Win(0, wager.standing - wager.stake_due, commission, 0)
    return Win(0, 0, commission, wager.winnings_due)


def _as_recorded(session: Session, wager: Wager, by_rules: Win, debt: int | None) -> Win:
    """Return the win by what was recorded: by the rules, less the debt of the account and what was rounded up.

    Winnings are as they were paid, and what else differs is in the stakes.
    """
    refunds = wager.status == "withdrawn" and session.commission_refunded_on_withdrawal
    commission = 0 if refunds else wager.commission
    if wager.status == "out_of_scope":
        returned = wager.stake_paid
        return Win(-min(0, returned) - max(0, returned - wager.stake), 0, commission, wager.winnings_paid)
    account = wager.account
    if account is None and debt is None:
        is_due = wager.status in PAID and not is_his_to_take(wager)
        if wager.winnings_paid + wager.stake_paid or "payouts" not in session.observes or not is_due:
            return by_rules if by_rules.commissions == commission else by_rules._replace(commissions=commission)
        debt = -wager.winnings_due - wager.stake_due  # the coup has not ended that would find it missing
    account = account or NO_ACCOUNT
    less = (account.debt if debt is None else debt) + account.gift + account.beyond
    winnings = wager.winnings_paid + account.pressed + account.settled
    stakes = by_rules.lost + by_rules.halves - by_rules.winnings - less + winnings
    if wager.status in REFUNDED:
        return Win(0, stakes, commission, winnings)
    return Win(stakes, 0, commission, winnings)


class LineSum:
    """The sum of some lines, field by field: amounts are minor units, ``adjudicated`` and ``recorded`` L, Z, V and G.

    ``lines`` is how many, ``returned`` what was decided and not lost.
    """

    __slots__ = (
        "adjudicated",
        "carried",
        "imprisoned",
        "lines",
        "recorded",
        "returned",
        "stakes",
        "theoretical",
        "unadjudicated",
        "undecided",
    )

    def __init__(self) -> None:
        self.lines = self.stakes = self.returned = self.unadjudicated = self.undecided = self.imprisoned = 0
        self.theoretical, self.carried = Sum(), Sum()
        self.adjudicated: tuple[int, int, int, int] = Win()
        self.recorded: tuple[int, int, int, int] = Win()

    def add(self, line: WagerLine, won: int) -> None:
        """Add a line that ``won`` this for the house, as it was recorded."""
        self.lines += 1
        decided = line.decided
        self.stakes += decided
        self.returned += decided - won if won > 0 else decided
        if line.unadjudicated:
            self.unadjudicated += line.unadjudicated
        if line.undecided or line.imprisoned:
            self.undecided += line.undecided
            self.imprisoned += line.imprisoned
            self.carried.add(*line.carried.as_integer_ratio())
        self.theoretical.add(*line.theoretical.as_integer_ratio())
        lost, halves, commissions, winnings = line.adjudicated
        own = self.adjudicated
        self.adjudicated = (own[0] + lost, own[1] + halves, own[2] + commissions, own[3] + winnings)
        lost, halves, commissions, winnings = line.recorded
        own = self.recorded
        self.recorded = (own[0] + lost, own[1] + halves, own[2] + commissions, own[3] + winnings)

    def add_all(self, other: LineSum) -> None:
        """Add the lines that ``other`` is a sum of."""
        self.lines += other.lines
        self.stakes += other.stakes
        self.returned += other.returned
        self.unadjudicated += other.unadjudicated
        self.undecided += other.undecided
        self.imprisoned += other.imprisoned
        self.theoretical.add_all(other.theoretical)
        self.carried.add_all(other.carried)
        self.adjudicated = Win(*self.adjudicated).plus(Win(*other.adjudicated))
        self.recorded = Win(*self.recorded).plus(Win(*other.recorded))


def concession_line(name: str, kind: str, amount: int) -> WagerLine:
    """Return the line of money that the house gave without a wager, ``amount`` in minor units, below zero if it got.

    ``kind`` is "goodwill", "dispute", or "unknown" for payouts on a wager that was never placed, less recoveries.
    """
    return WagerLine(
        wager=name,
        bet="",
        status=kind,
        decided=0,
        theoretical=NOTHING,
        adjudicated=Win(),
        recorded=Win(winnings=amount),
    )


class Bridge(Struct, frozen=True, kw_only=True):
    """The bridge of one session, or the sum of several in one currency. Amounts are minor units.

    S ``stakes`` decided, U ``undecided``, I ``imprisoned``; ``theoretical`` TW; N ``unadjudicated``; ``carried`` the
    luck of U and I.
    """

    bank: Bank
    stakes: int
    theoretical: Fraction
    adjudicated: Win
    recorded: Win
    unadjudicated: int = 0
    undecided: int = 0
    imprisoned: int = 0
    carried: Fraction = NOTHING

    @classmethod
    def of(cls, bank: Bank, sums: Iterable[LineSum]) -> Bridge:
        """Return what ``sums`` of lines add up to, with the session's ``bank``."""
        whole = LineSum()
        for each in sums:
            whole.add_all(each)
        return cls(
            bank=bank,
            stakes=whole.stakes,
            theoretical=whole.theoretical.value(),
            adjudicated=Win(*whole.adjudicated),
            recorded=Win(*whole.recorded),
            unadjudicated=whole.unadjudicated,
            undecided=whole.undecided,
            imprisoned=whole.imprisoned,
            carried=whole.carried.value(),
        )

    def __add__(self, other: Bridge) -> Bridge:
        return Bridge(
            bank=self.bank + other.bank,
            stakes=self.stakes + other.stakes,
            theoretical=self.theoretical + other.theoretical,
            adjudicated=self.adjudicated.plus(other.adjudicated),
            recorded=self.recorded.plus(other.recorded),
            unadjudicated=self.unadjudicated + other.unadjudicated,
            undecided=self.undecided + other.undecided,
            imprisoned=self.imprisoned + other.imprisoned,
            carried=self.carried + other.carried,
        )

    @property
    def luck(self) -> Fraction:
        """W_adj − TW."""
        return self.adjudicated.total - self.theoretical

    @property
    def payout_errors(self) -> int:
        """W_rec − W_adj − N: positive if the house paid too little."""
        return self.recorded.total - self.adjudicated.total - self.unadjudicated

    @property
    def accounting_variance(self) -> int | None:
        """W_acct − W_rec: positive if more was counted than recorded. None until all is counted."""
        win = self.bank.accounting_win
        return None if win is None else win - self.recorded.total

    @property
    def hold(self) -> Fraction | None:
        """W_acct / D, the share of the drop that was won; None without a count or a drop."""
        win = self.bank.accounting_win
        return Fraction(win, self.bank.drop) if win is not None and self.bank.drop else None

    @property
    def edge(self) -> Fraction | None:
        """W_adj / S, the share of the stakes decided; None if none was. Never compare it with ``hold``."""
        return Fraction(self.adjudicated.total, self.stakes) if self.stakes else None

    def printed(self, theoretical: int | None = None) -> list[tuple[str, int]]:
        """Return the lines as they are printed: names and whole minor units, the last being the sum of the others.

        ``theoretical`` is the theoretical win as it is printed, less than a unit from the exact one: rounded to the
        nearest unless a larger table says otherwise. Luck is what it leaves of the adjudicated win. Bets no ruleset
        decides have a line where their money is not 0. The last line is the accounting win, or the recorded win until
        all is counted.
        """
        if theoretical is None:
            (theoretical,) = in_minor_units([self.theoretical])
        lines = {
            "theoretical": theoretical,
            "luck": self.adjudicated.total - theoretical,
        }
        if self.unadjudicated:
            lines["unadjudicated"] = self.unadjudicated
        lines["payout_errors"] = self.payout_errors
        if self.accounting_variance is not None:
            lines["accounting_variance"] = self.accounting_variance
        win = self.bank.accounting_win
        total = self.recorded.total if win is None else win
        assert sum(lines.values()) == total, "the bridge closes"
        lines["recorded_win" if win is None else "accounting_win"] = total
        return list(lines.items())


def in_minor_units(amounts: Sequence[Fraction | int], total: int | None = None) -> list[int]:
    """Return ``amounts`` in whole minor units, each less than one unit away, which add up to ``total``.

    ``total`` is their sum as it is printed, less than one unit away from it; None: the nearest unit, a half up. Largest
    remainder (Hamilton): all are rounded down, and the missing units go to the largest fractions, to the earlier of two
    equal ones.
    """
    whole = [floor(amount) for amount in amounts]
    exact = sum((Fraction(amount) for amount in amounts), NOTHING)
    if total is None:
        total = floor(exact + Fraction(1, 2))
    assert abs(total - exact) < 1, "a total is rounded, and no more"
    missing = total - sum(whole)
    by_remainder = sorted(range(len(whole)), key=lambda index: (whole[index] - amounts[index], index))
    for index in by_remainder[:missing]:
        whole[index] += 1
    return whole
