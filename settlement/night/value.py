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
every zero that did not end a stake in prison the player chose prison. Only the draws need the stream.

Amounts are minor units, exact fractions; a positive amount is in the house's favour.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from settlement.engine import State
from settlement.events import BallSettled, DiceThrown, Event
from settlement.fr.art_54_roulette import ODDS
from settlement.fr.art_55_8_wagers import LINE
from settlement.money import five_per_cent
from settlement.night.draws import THROW_INDEX, THROWS, covered, fates, is_simple, layout_of
from settlement.night.edges import (
    CACHE_SIZE,
    Readings,
    commission_base,
    on_zero,
    part_of,
    refund,
    release,
    value_at_craps,
    value_at_roulette,
    value_in_prison,
)
from settlement.qc.s_95_17_place_bets import OFF_ON_COME_OUT
from settlement.state import Session, Table, Wager

# What a wager was charged


def commission_due(session: Session, wager: Wager) -> int:
    """Return the commission that the rules give the house on ``wager``, in minor units.

    The commission paid on a void wager is the house's: no text says otherwise, and the engine's ledger counts it so.
    """
    if wager.status == "void":
        return wager.commission
    if wager.status == "withdrawn" and session.commission_refunded_on_withdrawal:
        return 0
    base = commission_base(wager.bet, wager.number)
    return 0 if base is None else five_per_cent(wager.stake, base, session.commission_rounding)


def theoretical_win(session: Session, wager: Wager) -> Fraction:
    """Return what the house could expect to win on ``wager``: the sum of its charges.

    For a stake that was decided that is stake × edge, with its expected breakage, its commission and the price of the
    player's choices; for one that is void, withdrawn or undecided, the commission alone.
    """
    commission = Fraction(commission_due(session, wager))
    if wager.undecided or wager.status in ("void", "withdrawn"):
        return commission
    return commission + _charged_on_stake(session, wager)


def _charged_on_stake(session: Session, wager: Wager) -> Fraction:
    readings = Readings.of(session)
    stake = wager.standing
    if session.game == "craps":
        placed_on = None if wager.bet in LINE else wager.number
        return stake - value_at_craps(readings, wager.bet, placed_on, stake)
    ways = _ways(session, wager)
    charged = stake - value_at_roulette(readings, wager.bet, ways, stake)
    for zeros in range(1, _times_in_prison(wager) + 1):
        charged += refund(readings, stake, zeros) - value_in_prison(readings, ways, stake, zeros)
    return charged


def _times_in_prison(wager: Wager) -> int:
    """Return at how many zeros the player chose prison: all but one that ended the wager, or awaits his choice."""
    ended_or_waits = wager.status in ("refunded_half", "refunded_last_coup", "awaiting_decision")
    return wager.zeros - 1 if ended_or_waits else wager.zeros


def _ways(session: Session, wager: Wager) -> int:
    return len(covered(session.ruleset, wager.bet, wager.pockets, wager.which))


# Undecided stakes


def present_value(session: Session, wager: Wager) -> Fraction:
    """Return what the player can expect back from an undecided wager."""
    readings = Readings.of(session)
    stake = wager.standing
    if session.game == "craps":
        return value_at_craps(readings, wager.bet, wager.number, stake)
    match wager.status:
        case "imprisoned":
            return value_in_prison(readings, _ways(session, wager), stake, wager.zeros)
        case "awaiting_decision":
            return refund(readings, stake, wager.zeros)
    return value_at_roulette(readings, wager.bet, _ways(session, wager), stake)


def luck_carried(session: Session, wager: Wager) -> Fraction:
    """Return the luck that an undecided wager has had so far: the value process has it, the bridge not yet."""
    return wager.standing - present_value(session, wager) - _charged_on_stake(session, wager)


# Draws


class Outlook(NamedTuple):
    """The next draw, in advance: how the house's position changes with each outcome.

    ``changes`` are in minor units × ``scale``, one for each outcome; ``ways`` is how many of the equally likely draws
    give it. At craps the outcomes are those of ``draws.THROWS``, at roulette the pockets in the order of the wheel.
    """

    changes: tuple[int, ...]
    ways: tuple[int, ...]
    scale: int

    @property
    def mean(self) -> Fraction:
        total = sum(ways * change for ways, change in zip(self.ways, self.changes, strict=True))
        return Fraction(total, sum(self.ways) * self.scale)

    @property
    def variance(self) -> Fraction:
        """In squared minor units."""
        squares = sum(ways * change * change for ways, change in zip(self.ways, self.changes, strict=True))
        return Fraction(squares, sum(self.ways) * self.scale**2) - self.mean**2


def outlook(table: Table) -> Outlook:
    """Return what the next draw can do to the stakes on ``table``."""
    session = table.open_session()
    ahead = _outlook_at_craps(table, session) if session.game == "craps" else _outlook_at_roulette(table, session)
    assert ahead.mean == 0, "a fair draw moves no expectation"
    return ahead


@lru_cache(CACHE_SIZE)
def _changes_at_craps(
    readings: Readings, bet: str, number: int | None, stake: int
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return a scale, and the indexes in ``THROWS`` of the throws that change the position, each with its change."""
    now = value_at_craps(readings, bet, number, stake)
    changes = []
    for index, fate in enumerate(fates(readings.ruleset, bet, number)):
        if fate.odds is not None:
            changes.append((index, now - stake - part_of(stake, fate.odds, readings.payout_unit)))
        elif fate.decided:
            changes.append((index, now))
        elif fate.number != number:
            changes.append((index, now - value_at_craps(readings, bet, fate.number, stake)))
    scale = lcm(*(change.denominator for _index, change in changes))
    return scale, tuple((index, int(change * scale)) for index, change in changes)


def _outlook_at_craps(table: Table, session: Session) -> Outlook:
    readings = Readings.of(session)
    by_scale: dict[int, list[int]] = {}
    for wager_id in table.live:
        wager = table.wagers[wager_id]
        if _is_off(table, session, wager):
            continue
        scale, changes = _changes_at_craps(readings, wager.bet, wager.number, wager.standing)
        sums = by_scale.setdefault(scale, [0] * len(THROWS))
        for index, change in changes:
            sums[index] += change
    common = lcm(*by_scale)
    total = [0] * len(THROWS)
    for scale, sums in by_scale.items():
        for index, change in enumerate(sums):
            total[index] += change * (common // scale)
    return Outlook(tuple(total), tuple(throw.ways for throw in THROWS), common)


def _is_off(table: Table, session: Session, wager: Wager) -> bool:
    """Whether the next throw does not touch ``wager``: s. 95.17 (1), (2)."""
    return session.ruleset == "qc-craps" and table.point is None and wager.bet in OFF_ON_COME_OUT and not wager.working


def _outlook_at_roulette(table: Table, session: Session) -> Outlook:
    readings = Readings.of(session)
    layout = layout_of(session.ruleset)
    wheel = layout.wheel
    now = Fraction(0)
    # What is given back is a whole number, as sessions pay it; adding integers takes a fifth of the time of fractions.
    given_back: dict[str, int | Fraction] = dict.fromkeys(wheel, 0)
    for wager_id in table.live:
        wager = table.wagers[wager_id]
        stake, zeros = wager.standing, wager.zeros
        pockets = covered(session.ruleset, wager.bet, wager.pockets, wager.which)
        if wager.status == "open":
            now += value_at_roulette(readings, wager.bet, len(pockets), stake)
            on_number = stake + part_of(stake, ODDS[wager.bet], readings.payout_unit)
        else:
            # A stake that still awaits its decision goes on as in prison.
            now += value_in_prison(readings, len(pockets), stake, zeros)
            on_number = release(readings, stake, zeros)
        whole = _whole(on_number)
        for pocket in pockets:
            given_back[pocket] += whole
        if is_simple(wager.bet):
            at_zero = _whole(on_zero(readings, stake, zeros + 1))
            for pocket in layout.zeros:
                given_back[pocket] += at_zero
    scale = now.denominator
    changes = tuple(now.numerator - int(given_back[pocket] * scale) for pocket in wheel)
    return Outlook(changes, (1,) * len(wheel), scale)


def _whole(amount: Fraction) -> int | Fraction:
    return amount.numerator if amount.denominator == 1 else amount


class Draw(NamedTuple):
    """One draw: its event, the luck that the house had in it, and the variance that this luck could have."""

    seq: int
    luck: Fraction
    variance: Fraction


NO_DRAW = frozenset({"invalid-dice-values", "invalid-pocket"})
"""Rules that find a throw or a spin that cannot have happened: it decides nothing."""


class ValueProcess:
    """The luck of one stream so far, with its variance: both are sums over its draws."""

    __slots__ = ("draws", "luck", "variance")

    def __init__(self) -> None:
        self.luck = Fraction(0)
        self.variance = Fraction(0)
        self.draws = 0

    def feed(self, state: State, event: Event) -> Draw | None:
        """Feed ``event`` to ``state`` and return the draw that it was, None if it was none or decides nothing.

        Raise what ``State.feed`` raises.
        """
        table = state.table
        if table.session is None or not isinstance(event, (DiceThrown, BallSettled)):
            state.feed(event)
            return None
        ahead = outlook(table)
        findings = state.feed(event)
        is_throw = isinstance(event, DiceThrown)
        if is_throw != (table.session.game == "craps") or any(finding.rule in NO_DRAW for finding in findings):
            return None  # dice at a wheel, a ball at a craps table, a face or a pocket that does not exist
        index = THROW_INDEX[table.result] if is_throw else layout_of(table.session.ruleset).wheel.index(table.result)
        draw = Draw(event.seq, Fraction(ahead.changes[index], ahead.scale), ahead.variance)
        self.luck += draw.luck
        self.variance += draw.variance
        self.draws += 1
        return draw
