"""The bridge: from the theoretical win to what was counted, in four steps that add up.

     TW                  what the bets taken should have brought: Σ stake × exact edge
   + luck                W_adj − TW       dice and ball did otherwise
   + payout errors       W_rec − W_adj    the table paid, returned or charged otherwise than the rules say
   + accounting variance W_acct − W_rec   the rack and the box hold otherwise than was recorded
   = accounting win      W_acct = K + C + D − O − F

A win is lost stakes L + halves taken at zero Z + commissions V − winnings G, once as the rules give it (W_adj) and
once as it was recorded (W_rec). Every wager has its own four figures, and the bridge is their sum, so each line drills
down to its wagers. A positive amount is in the house's favour.

Where each irregularity lands, on the line *payout errors* unless another is named:

    winnings over- or underpaid, paid twice, paid on a loss     due − paid
    a stake not returned, a half or release of another value    due − returned, + for the house
    not paid at all, winnings and stake                         + both, until a late payment takes it back to 0
    paid while nothing was decided                              − what was paid, though the wager ends well later
    paid on a wager that was never placed                       − what was paid, under the id that the payout names
    a commission other than 5 %                                 paid − due
    a void stake that the croupier swept                        + the stake
    void, withdrawn, pushed                                     nothing: no stake was decided
    a withdrawn wager's commission, kept or refunded            no error; V has it or not, as the session reads it
    a rack, fill, credit or drop that is wrong                  accounting variance

Undecided stakes U and stakes in prison I are in neither win. They are listed, those in prison with their zeros, their
refund and their present value; ``carried`` is the luck they have had.

Only TW and luck are fractions, and their sum is whole. Rounding is for print only, by ``in_minor_units``, which keeps
sums; so a printed bridge adds up to the minor unit, and so does a printed list of its wagers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from msgspec import Struct

from settlement.finding import Finding
from settlement.night.edges import Readings, refund
from settlement.night.value import commission_due, luck_carried, present_value, theoretical_win
from settlement.state import Session, Wager

REFUNDED = ("released", "refunded_half", "refunded_last_coup")
"""The statuses of a simple chance that a zero has hit and that ended without losing the whole stake."""


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
        return self.lost + self.halves + self.commissions - self.winnings

    def plus(self, other: Win) -> Win:
        return Win(*(one + another for one, another in zip(self, other, strict=True)))


class WagerLine(Struct, frozen=True, kw_only=True, gc=False):
    """One wager in the bridge.

    ``decided`` is the stake that was decided (S), ``undecided`` (U) and ``imprisoned`` (I) the part still in play, all
    in minor units. Of the part in play, ``carried`` is the luck so far, ``present_value`` what the player can expect
    back, and ``refund`` what he is due should the session end: S/2^k in prison, else 0.
    """

    wager: str
    bet: str
    status: str
    decided: int
    theoretical: Fraction
    adjudicated: Win
    recorded: Win
    undecided: int = 0
    imprisoned: int = 0
    zeros: int = 0
    carried: Fraction = Fraction(0)
    present_value: Fraction = Fraction(0)
    refund: int = 0

    @property
    def luck(self) -> Fraction:
        return self.adjudicated.total - self.theoretical

    @property
    def payout_error(self) -> int:
        return self.recorded.total - self.adjudicated.total


def wager_line(session: Session, wager: Wager, *, swept_void: bool = False) -> WagerLine:
    """Return the bridge of one wager, as it is after the last event of its stream.

    ``swept_void``: the croupier collected it, if it is void; a wager that is not void shows that itself.
    """
    decided = 0
    undecided = imprisoned = refunded = 0
    carried = present = Fraction(0)
    if wager.undecided:
        if wager.status == "open":
            undecided = wager.standing
        else:
            imprisoned = wager.standing
            refunded = int(refund(Readings.of(session), wager.standing, wager.zeros))
        carried, present = luck_carried(session, wager), present_value(session, wager)
    elif wager.status not in ("void", "withdrawn"):
        decided = wager.standing
    return WagerLine(
        wager=wager.id,
        bet=wager.bet,
        status=wager.status,
        decided=decided,
        theoretical=theoretical_win(session, wager),
        adjudicated=_by_the_rules(session, wager),
        recorded=_as_recorded(session, wager, swept_void),
        undecided=undecided,
        imprisoned=imprisoned,
        zeros=wager.zeros,
        carried=carried,
        present_value=present,
        refund=refunded,
    )


def _by_the_rules(session: Session, wager: Wager) -> Win:
    commission = commission_due(session, wager)
    if wager.status == "lost":
        return Win(wager.standing, 0, commission, 0)
    if wager.status in REFUNDED:
        return Win(0, wager.standing - wager.stake_due, commission, 0)
    return Win(0, 0, commission, wager.winnings_due)


def _as_recorded(session: Session, wager: Wager, swept_void: bool) -> Win:
    """Return the win by what was recorded as paid and returned.

    A void stake that no payout names was pushed back, unless it was swept. A withdrawn stake went back with the
    withdrawal; a payout of the same stake afterwards returns nothing more.
    """
    paid, returned = wager.winnings_paid, wager.stake_paid
    refunds = wager.status == "withdrawn" and session.commission_refunded_on_withdrawal
    commission = 0 if refunds else wager.commission
    if wager.undecided:
        return Win(-max(0, returned - wager.standing), 0, commission, paid)
    match wager.status:
        case "void":
            lost = wager.stake - returned if returned or swept_void else 0
        case "withdrawn":
            already_back = wager.stake_due if wager.paid_by else 0
            lost = -max(0, returned - already_back)
        case _:
            lost = wager.standing - returned
    if wager.status in REFUNDED:
        return Win(0, lost, commission, paid)
    return Win(lost, 0, commission, paid)


def unplaced_wager_line(finding: Finding) -> WagerLine | None:
    """Return the line of a payout on a wager that was never placed; None if ``finding`` is about something else."""
    if finding.rule != "payout-without-result" or finding.facts.get("status") != "unknown":
        return None
    assert isinstance(finding.recorded, int)
    return WagerLine(
        wager=finding.wager or "",
        bet="",
        status="unknown",
        decided=0,
        theoretical=Fraction(0),
        adjudicated=Win(),
        recorded=Win(winnings=finding.recorded),
    )


def wager_lines(session: Session, wagers: Iterable[Wager], findings: Iterable[Finding] = ()) -> list[WagerLine]:
    """Return the line of every wager of a session, then those of payouts on wagers that were never placed.

    ``findings`` are those of the stream: they alone know of those payouts, and of void wagers that were swept.
    """
    unplaced = []
    swept = set()
    for finding in findings:
        line = unplaced_wager_line(finding)
        if line is not None:
            unplaced.append(line)
        if is_sweep(session, finding):
            swept.add(finding.wager)
    return [wager_line(session, wager, swept_void=wager.id in swept) for wager in wagers] + unplaced


def is_sweep(session: Session, finding: Finding) -> bool:
    """Whether ``finding`` is that the croupier collected a stake which may be void: nothing in a void wager shows it.

    Without the family ``collections`` no sweep is observed.
    """
    if finding.rule == "void-throw-settled":
        return session.collections and finding.facts.get("event_type") == "stakes.collected"
    return finding.rule == "winning-wager-collected" and finding.facts.get("status") == "void"


class Bridge(Struct, frozen=True, kw_only=True):
    """The bridge of one session, or the sum of several in one currency. Amounts are minor units.

    S ``stakes`` decided, U ``undecided``, I ``imprisoned``; ``theoretical`` TW; ``carried`` the luck of U and I.
    """

    bank: Bank
    stakes: int
    theoretical: Fraction
    adjudicated: Win
    recorded: Win
    undecided: int = 0
    imprisoned: int = 0
    carried: Fraction = Fraction(0)

    @classmethod
    def of(cls, bank: Bank, lines: Iterable[WagerLine]) -> Bridge:
        """Return the sum of ``lines``, with the session's ``bank``."""
        stakes = undecided = imprisoned = 0
        theoretical = carried = Fraction(0)
        adjudicated = recorded = Win()
        for line in lines:
            stakes += line.decided
            undecided += line.undecided
            imprisoned += line.imprisoned
            theoretical += line.theoretical
            carried += line.carried
            adjudicated = adjudicated.plus(line.adjudicated)
            recorded = recorded.plus(line.recorded)
        return cls(
            bank=bank,
            stakes=stakes,
            theoretical=theoretical,
            adjudicated=adjudicated,
            recorded=recorded,
            undecided=undecided,
            imprisoned=imprisoned,
            carried=carried,
        )

    def __add__(self, other: Bridge) -> Bridge:
        return Bridge(
            bank=self.bank + other.bank,
            stakes=self.stakes + other.stakes,
            theoretical=self.theoretical + other.theoretical,
            adjudicated=self.adjudicated.plus(other.adjudicated),
            recorded=self.recorded.plus(other.recorded),
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
        """W_rec − W_adj: positive if the house paid too little."""
        return self.recorded.total - self.adjudicated.total

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

    def printed(self) -> list[tuple[str, int]]:
        """Return the lines as they are printed: names and whole minor units, the last being the sum of the others.

        The last is the accounting win, or the recorded win until all is counted.
        """
        names = ["theoretical", "luck", "payout_errors"]
        amounts: list[Fraction | int] = [self.theoretical, self.luck, self.payout_errors]
        if self.accounting_variance is not None:
            names.append("accounting_variance")
            amounts.append(self.accounting_variance)
        win = self.bank.accounting_win
        total = self.recorded.total if win is None else win
        lines = in_minor_units(amounts)
        assert sum(lines) == total, "the bridge closes"
        names.append("recorded_win" if win is None else "accounting_win")
        return list(zip(names, [*lines, total], strict=True))


def in_minor_units(amounts: Sequence[Fraction | int]) -> list[int]:
    """Return ``amounts`` in whole minor units, each less than one unit away, with the same sum.

    Largest remainder (Hamilton): all are rounded down, and the missing units go to the largest fractions, to the
    earlier of two equal ones. A sum that is not whole is rounded to the nearest unit, a half up.
    """
    whole = [floor(amount) for amount in amounts]
    exact = sum((Fraction(amount) for amount in amounts), Fraction(0))
    missing = floor(exact + Fraction(1, 2)) - sum(whole)
    by_remainder = sorted(range(len(whole)), key=lambda index: (whole[index] - amounts[index], index))
    for index in by_remainder[:missing]:
        whole[index] += 1
    return whole
