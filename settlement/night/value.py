"""The value process: what is settled, plus the expected value of what stands.

The house's *position* on a wager is what it has taken, less what it has given back, less the value of what stands. A
position changes in two ways, and only two:

    by a decision     a stake is placed, withdrawn, left in prison: the change is *charged*, and is no luck.
                      The charges of a wager add up to its theoretical win.
    by a draw         dice or ball: the change is *luck*. Under fair dice and a fair wheel its mean is 0, exactly, given
                      everything that stands.

So luck is a martingale: its increments are uncorrelated, and the sum of their conditional variances (the predictable
quadratic variation; D. Williams, *Probability with Martingales*, 1991, 12.12) is the variance that the night's luck is
held against. All stakes of a draw are added before anything is squared, so correlation is respected: red and black on
one spin nearly cancel, twenty stakes on one pocket do not average out.

A wager's charges can be read off its end, because they telescope: what may be withdrawn has no memory, and every zero
that did not end a prisoner was answered by prison. Nothing but the draws needs the stream.

Amounts are minor units, exact fractions; positive is the house's.
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
from settlement.night.draws import PLACE_OF_THROW, THROWS, covered, fates, is_simple, layout_of
from settlement.night.edges import (
    REMEMBERED,
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

    What was paid on a void wager stays paid: no text says otherwise, and the ledger of the engine keeps it.
    """
    if wager.status == "void":
        return wager.commission
    if wager.status == "withdrawn" and session.commission_refunded_on_withdrawal:
        return 0
    base = commission_base(wager.bet, wager.number)
    return 0 if base is None else five_per_cent(wager.stake, base, session.commission_rounding)


def theoretical_win(session: Session, wager: Wager) -> Fraction:
    """Return what the house could expect of ``wager``: the sum of its charges, decisions of the player included.

    That is stake × edge for a stake that was decided, its expected breakage and the commission counted; the commission
    alone for one that is void, withdrawn or undecided.
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
    """Return how many zeros were answered by prison: all but one that ended the wager, or waits for its answer."""
    answered_otherwise = wager.status in ("refunded_half", "refunded_last_coup", "awaiting_decision")
    return wager.zeros - 1 if answered_otherwise else wager.zeros


def _ways(session: Session, wager: Wager) -> int:
    return len(covered(session.ruleset, wager.bet, wager.pockets, wager.which))


# What stands


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
    """Return the luck that an undecided wager has had so far: in no win yet, and in the value process already."""
    return wager.standing - present_value(session, wager) - _charged_on_stake(session, wager)


# What a draw may do


class Outlook(NamedTuple):
    """The next draw, before it: how the house's position changes with each outcome.

    ``changes`` are in minor units × ``scale``, one for each outcome; ``ways`` how many of the equally likely draws give
    it. At craps the outcomes are those of ``draws.THROWS``, at roulette the pockets in the order of the wheel.
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
        squares = sum(ways * change * change for ways, change in zip(self.ways, self.changes, strict=True))
        return Fraction(squares, sum(self.ways) * self.scale**2) - self.mean**2


def outlook(table: Table) -> Outlook:
    """Return what the next draw may do to what stands on ``table``."""
    session = table.open_session()
    ahead = _outlook_at_craps(table, session) if session.game == "craps" else _outlook_at_roulette(table, session)
    assert ahead.mean == 0, "a fair draw moves no expectation"
    return ahead


@lru_cache(REMEMBERED)
def _changes_at_craps(
    readings: Readings, bet: str, number: int | None, stake: int
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return a scale, and the places in ``THROWS`` where a throw changes the position, each with its change."""
    now = value_at_craps(readings, bet, number, stake)
    changes = []
    for place, fate in enumerate(fates(readings.ruleset, bet, number)):
        if fate.odds is not None:
            changes.append((place, now - stake - part_of(stake, fate.odds, readings.payout_unit)))
        elif fate.decided:
            changes.append((place, now))
        elif fate.number != number:
            changes.append((place, now - value_at_craps(readings, bet, fate.number, stake)))
    scale = lcm(*(change.denominator for _place, change in changes))
    return scale, tuple((place, int(change * scale)) for place, change in changes)


def _outlook_at_craps(table: Table, session: Session) -> Outlook:
    readings = Readings.of(session)
    by_scale: dict[int, list[int]] = {}
    for wager_id in table.live:
        wager = table.wagers[wager_id]
        if _is_off(table, session, wager):
            continue
        scale, changes = _changes_at_craps(readings, wager.bet, wager.number, wager.standing)
        summed = by_scale.setdefault(scale, [0] * len(THROWS))
        for place, change in changes:
            summed[place] += change
    common = lcm(*by_scale)
    total = [0] * len(THROWS)
    for scale, summed in by_scale.items():
        for place, change in enumerate(summed):
            total[place] += change * (common // scale)
    return Outlook(tuple(total), tuple(throw.ways for throw in THROWS), common)


def _is_off(table: Table, session: Session, wager: Wager) -> bool:
    """Whether the next throw leaves ``wager`` alone: s. 95.17 (1), (2)."""
    return session.ruleset == "qc-craps" and table.point is None and wager.bet in OFF_ON_COME_OUT and not wager.working


def _outlook_at_roulette(table: Table, session: Session) -> Outlook:
    readings = Readings.of(session)
    layout = layout_of(session.ruleset)
    wheel = layout.wheel
    now = Fraction(0)
    # What is given back is whole, as sessions pay it; whole numbers are added in a fifth of the time of fractions.
    given_back: dict[str, int | Fraction] = dict.fromkeys(wheel, 0)
    for wager_id in table.live:
        wager = table.wagers[wager_id]
        stake, zeros = wager.standing, wager.zeros
        pockets = covered(session.ruleset, wager.bet, wager.pockets, wager.which)
        if wager.status == "open":
            now += value_at_roulette(readings, wager.bet, len(pockets), stake)
            on_number = stake + part_of(stake, ODDS[wager.bet], readings.payout_unit)
        else:
            # A stake that still waits for its answer goes on as in prison.
            now += value_in_prison(readings, len(pockets), stake, zeros)
            on_number = release(readings, stake, zeros)
        whole = _whole(on_number)
        for pocket in pockets:
            given_back[pocket] += whole
        if is_simple(wager.bet):
            kept = _whole(on_zero(readings, stake, zeros + 1))
            for pocket in layout.zeros:
                given_back[pocket] += kept
    scale = now.denominator
    changes = tuple(now.numerator - int(given_back[pocket] * scale) for pocket in wheel)
    return Outlook(changes, (1,) * len(wheel), scale)


def _whole(amount: Fraction) -> int | Fraction:
    return amount.numerator if amount.denominator == 1 else amount


class Drawn(NamedTuple):
    """One draw that was made: its event, the luck the house had in it, and the variance that luck could have."""

    seq: int
    luck: Fraction
    variance: Fraction


NO_DRAW = {"invalid-dice-values", "invalid-pocket"}
"""Rules that say of a throw or a spin that it cannot have happened: it decides nothing."""


def follow(state: State, event: Event) -> Drawn | None:
    """Feed ``event`` to ``state``, and return the draw it was; None where it was none, or one that decides nothing.

    Raise what ``State.feed`` raises.
    """
    table = state.table
    if table.session is None or not isinstance(event, (DiceThrown, BallSettled)):
        state.feed(event)
        return None
    ahead = outlook(table)
    found = state.feed(event)
    if any(finding.rule in NO_DRAW for finding in found):
        return None
    if table.session.game == "craps" and isinstance(event, DiceThrown):
        place = PLACE_OF_THROW[table.result]
    elif table.session.game != "craps" and isinstance(event, BallSettled):
        place = layout_of(table.session.ruleset).wheel.index(table.result)
    else:  # dice at a wheel, or a ball at a craps table
        return None
    return Drawn(event.seq, Fraction(ahead.changes[place], ahead.scale), ahead.variance)


class ValueProcess:
    """The luck of one stream so far, with its variance. It can be saved after any event, as plain data."""

    __slots__ = ("draws", "luck", "variance")

    def __init__(self, luck: Fraction = Fraction(0), variance: Fraction = Fraction(0), draws: int = 0) -> None:
        self.luck = luck
        self.variance = variance
        self.draws = draws

    def feed(self, state: State, event: Event) -> Drawn | None:
        """Feed ``event`` to ``state`` and note the draw it was: see ``follow``."""
        drawn = follow(state, event)
        if drawn is not None:
            self.luck += drawn.luck
            self.variance += drawn.variance
            self.draws += 1
        return drawn

    def saved(self) -> dict[str, str | int]:
        """Return everything it remembers; the fractions written ``n/d``."""
        return {"luck": str(self.luck), "variance": str(self.variance), "draws": self.draws}

    @classmethod
    def from_saved(cls, saved: dict[str, str | int]) -> ValueProcess:
        """Return the process that ``saved`` wrote."""
        return cls(Fraction(saved["luck"]), Fraction(saved["variance"]), int(saved["draws"]))
