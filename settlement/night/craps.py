"""Craps: what each throw can do to a wager, and so its value and its edge.

Nothing of the law is coded here a second time: the functions that adjudicate (``CrapsKind.resolve``) are run on a table
that holds one wager. So a slip in one entry of an odds table moves an edge, a value and a bridge at once, and the tests
notice.

The 36 throws fall into 15 classes that no wager can tell apart further: a total, and whether the dice are a double.

A wager moves between few states: a throw leaves it in its state, moves it to another, or ends it. Throws that leave it
can be ignored, so over the others, the *deciding* ones,

    V(state) = Σ over the deciding throws of (what it pays, or V of the next state) / the number of deciding throws

and no state is entered twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple, cast

from settlement.engine import State
from settlement.events import DiceThrown, SessionOpened
from settlement.events.session import SessionOpenedData
from settlement.fr.art_55_8_wagers import LINE, CrapsKind
from settlement.money import EVEN, Odds
from settlement.night.chances import CACHE_SIZE, Chances, Outlook, Priced, Readings, outlook_of, part_of
from settlement.night.edges import commission_rate
from settlement.qc.s_95_17_place_bets import LAY_BET, OFF_ON_COME_OUT
from settlement.ruleset import RULESETS
from settlement.state import Session, Table, Wager


class Throw(NamedTuple):
    """One class of throws, and how many of the 36 are of it."""

    total: int
    double: bool
    ways: int


_WAYS = Counter((first + second, first == second) for first, second in product(range(1, 7), repeat=2))
THROWS = tuple(Throw(total, double, ways) for (total, double), ways in sorted(_WAYS.items()))

THROW_INDEX: Mapping[str, int] = MappingProxyType(
    {
        f"{first}-{second}": [throw[:2] for throw in THROWS].index((first + second, first == second))
        for first, second in product(range(1, 7), repeat=2)
    }
)
"""The index in ``THROWS`` of each throw; the throw as ``Table.result`` names it, "3-4"."""


class Fate(NamedTuple):
    """What a throw does to a wager.

    ``decided``: whether the wager is over. ``odds``: those it wins at, None if it does not win. ``number``: the number
    it is on afterwards, None in the come box or on the line.
    """

    decided: bool
    odds: Odds | None
    number: int | None


@cache
def fates(ruleset: str, bet: str, number: int | None) -> tuple[Fate, ...]:
    """Return what each of ``THROWS`` does to a ``bet`` on ``number`` that is not off; None: the line, the come box."""
    kind = cast(CrapsKind, RULESETS[ruleset].kinds[bet])
    result = []
    table = _empty_table(ruleset)
    for throw in THROWS:
        wager = Wager("w", bet, 1, 1, 1, number=number)
        table.wagers[wager.id] = wager
        table.live[wager.id] = None
        kind.resolve(table, wager, 2, throw.total, throw.double)
        odds = Odds.read(wager.odds) if wager.odds else None
        result.append(Fate(not wager.undecided, odds, wager.number))
    return tuple(result)


def _empty_table(ruleset: str) -> Table:
    """Return a table just opened, with no wager on it."""
    opened = SessionOpenedData(
        casino="-",
        table="-",
        gaming_day=date(2010, 1, 1),
        game=RULESETS[ruleset].game,
        ruleset=ruleset,
        currency="XXX",
        float=0,
        observes=[],
    )
    state = State()
    state.feed(SessionOpened(stream="-", seq=1, occurred_at=datetime(2010, 1, 1, tzinfo=UTC), data=opened))
    return state.table


@lru_cache(CACHE_SIZE)
def value_at_craps(readings: Readings, bet: str, number: int | None, stake: int) -> Fraction:
    """Return the value of ``stake`` minor units on a bet on ``number``, before the throws that will decide it.

    ``number`` is None on the line and in the come box.
    """
    total = Fraction(0)
    deciding = 0
    for throw, fate in zip(THROWS, fates(readings.ruleset, bet, number), strict=True):
        if fate.odds is not None:
            total += throw.ways * (stake + part_of(stake, fate.odds, readings.payout_unit))
        elif not fate.decided and fate.number != number:
            total += throw.ways * value_at_craps(readings, bet, fate.number, stake)
        elif not fate.decided:
            continue
        deciding += throw.ways
    # Odds are fair: those whose number was not seen are worth what they cost.
    return total / deciding if deciding else Fraction(stake)


def edge_at_craps(ruleset: str, bet: str, number: int | None = None) -> Fraction:
    """Return the edge of the text, commission included, per unit staked.

    ``number`` is the one the bet is placed on, None on the line and in the come box.
    """
    return 1 + commission_rate(ruleset, bet, number) - value_at_craps(Readings(ruleset), bet, number, 1)


@lru_cache(CACHE_SIZE)
def _charged_at_craps(readings: Readings, bet: str, number: int | None, stake: int) -> Fraction:
    return stake - value_at_craps(readings, bet, number, stake)


WAYS = tuple(throw.ways for throw in THROWS)


@lru_cache(CACHE_SIZE)
def _outlook_at_craps(readings: Readings, bet: str, number: int | None, stake: int) -> Outlook:
    """Return how each of ``THROWS`` changes the house's position on a stake that is not off."""
    now = value_at_craps(readings, bet, number, stake)
    changes = []
    for fate in fates(readings.ruleset, bet, number):
        if fate.odds is not None:
            changes.append(now - stake - part_of(stake, fate.odds, readings.payout_unit))
        elif fate.decided:
            changes.append(now)
        elif fate.number != number:
            changes.append(now - value_at_craps(readings, bet, fate.number, stake))
        else:
            changes.append(Fraction(0))
    return outlook_of(changes, WAYS)


class CrapsChances(Chances):
    """The mathematics of craps, in France and in Québec."""

    def charged(self, session: Session, wager: Wager) -> Fraction:
        placed_on = None if wager.bet in LINE else wager.number
        return _charged_at_craps(Readings.of(session), wager.bet, placed_on, wager.standing)

    def present_value(self, session: Session, wager: Wager) -> Fraction:
        return value_at_craps(Readings.of(session), wager.bet, wager.number, wager.standing)

    def ways(self, ruleset: str) -> tuple[int, ...]:
        return WAYS

    def outlook(self, table: Table, readings: Readings, wager: Wager) -> Outlook | None:
        if _is_off(table, readings.ruleset, wager):
            return None
        return _outlook_at_craps(readings, wager.bet, wager.number, wager.standing)

    def outcome_of(self, ruleset: str, result: str) -> int:
        return THROW_INDEX[result]

    def edges(self, readings: Readings) -> Mapping[Priced, Fraction]:
        ruleset = readings.ruleset
        return {
            Priced(kind.bet, number): edge_at_craps(ruleset, kind.bet, number)
            for kind in RULESETS[ruleset].kinds.values()
            for number in kind.numbers or (None,)
        }

    def drawn(self, result: DiceThrown) -> list[int | str]:
        """Return the faces, then the names of the dice as far as they are known."""
        dice = result.data.dice if isinstance(result.data.dice, list) else []
        return [*result.data.faces, *dice]

    def commission_base(self, bet: str, number: int | None) -> Odds | None:
        """Return what the commission of 5 % is taken on, as odds of the stake: all of it, or what it can win.

        None for a bet without commission.
        """
        match bet:
            case "buy_bet":
                return EVEN
            case "lay_bet":
                return LAY_BET.get(number or 0)
        return None


def _is_off(table: Table, ruleset: str, wager: Wager) -> bool:
    """Whether the next throw does not touch ``wager``: s. 95.17 (1), (2)."""
    return ruleset == "qc-craps" and table.point is None and wager.bet in OFF_ON_COME_OUT and not wager.working


CHANCES = CrapsChances()
