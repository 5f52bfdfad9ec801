"""The value process: how lucky the house was in each draw, and how lucky it could have been.

The house's *position* on a wager is what it has taken, less what it has given back, less the value of the stake that is
undecided. A position changes in two ways, and only two:

    by a decision     a stake is placed, withdrawn, left in prison: the change is *charged*, and is not luck.
                      The charges of a wager add up to its theoretical win.
    by a draw         dice or ball: the change is *luck*. Under fair dice and a fair wheel its mean is exactly 0, given
                      the stakes on the layout.

So luck is a martingale: its increments are uncorrelated, and the sum of their conditional variances (the predictable
quadratic variation; D. Williams, *Probability with Martingales*, 1991, 12.12) is the variance that the night's luck is
compared with. All stakes of a draw are added before anything is squared, so that correlation counts: red and black on
one spin nearly cancel, twenty stakes on one pocket do not average out.

A wager's charges need only its final state, because they telescope: a bet that may be withdrawn has no memory, and at
every zero that did not end a stake in prison the player chose prison. Only the draws need the stream:
``eprocess.observations.Recorder`` follows them.

Amounts are minor units, exact fractions; a positive amount is in the house's favour.
"""

from __future__ import annotations

from fractions import Fraction

from settlement.money import five_per_cent
from settlement.night.chances import chances_of
from settlement.state import GAINS_NOTHING, Session, Wager

# What a wager was charged


def commission_due(session: Session, wager: Wager) -> int:
    """Return the commission that the rules give the house on ``wager``, in minor units.

    The commission paid on a void wager is the house's: no text says otherwise, and the engine's ledger counts it so.
    """
    if wager.status in ("void", "out_of_scope"):
        return wager.commission
    if wager.status == "withdrawn" and session.commission_refunded_on_withdrawal:
        return 0
    base = chances_of(session.ruleset).commission_base(wager.bet, wager.number)
    return 0 if base is None else five_per_cent(wager.stake, base, session.commission_rounding, session.commission_unit)


def theoretical_win(session: Session, wager: Wager, commission: int | None = None) -> Fraction:
    """Return what the house could expect to win on ``wager``: the sum of its charges.

    For a stake that was decided that is stake × edge, with its expected breakage, its commission and the price of the
    player's choices; for one that is void, withdrawn, undecided or not adjudicated, the commission alone.
    ``commission`` is its ``commission_due``, where that is known.
    """
    if commission is None:
        commission = commission_due(session, wager)
    if wager.status in GAINS_NOTHING:
        return Fraction(commission)
    charged = chances_of(session.ruleset).charged(session, wager)
    return charged + commission if commission else charged


# Undecided stakes


def present_value(session: Session, wager: Wager) -> Fraction:
    """Return what the player can expect back from an undecided wager."""
    return chances_of(session.ruleset).present_value(session, wager)


def luck_carried(session: Session, wager: Wager) -> Fraction:
    """Return the luck that an undecided wager has had so far: the value process has it, the bridge not yet."""
    chances = chances_of(session.ruleset)
    return wager.standing - chances.present_value(session, wager) - chances.charged(session, wager)
