"""What one fair draw, a throw or a spin, can do to one wager.

Nothing of the law is coded here a second time. For a throw, the functions that adjudicate (``CrapsKind.resolve``) are
run on a table that holds one wager; for a pocket, ``art_54_roulette.covers``. So a slip in one entry of an odds table
moves an edge, a value and a bridge at once, and the tests notice.

The 36 throws fall into 15 classes that no wager can tell apart further: a total, and whether the dice are a double.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple, cast

from settlement.engine import State
from settlement.events import SessionOpened
from settlement.events.session import SessionOpenedData
from settlement.fr.art_54_roulette import covers
from settlement.fr.art_55_8_wagers import CrapsKind
from settlement.layouts import SIMPLE_CHANCES, Layout
from settlement.money import Odds
from settlement.rulesets import RULESETS
from settlement.state import Table, Wager


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
    for throw in THROWS:
        table = _empty_table(ruleset)
        wager = Wager("w", bet, 1, 1, 1, number=number)
        table.wagers[wager.id] = wager
        table.live[wager.id] = None
        kind.resolve(table, wager, 2, throw.total, throw.double)
        pays, _, per = (wager.odds or "").partition(":")
        odds = Odds(int(pays), int(per)) if wager.odds else None
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


@cache
def covered(ruleset: str, bet: str, pockets: tuple[str, ...], which: tuple[int, ...]) -> frozenset[str]:
    """Return the pockets of the wheel that a roulette wager wins on."""
    wager = Wager("w", bet, 1, 1, 1, pockets=pockets, which=which)
    return frozenset(pocket for pocket in layout_of(ruleset).wheel if covers(wager, pocket))


def layout_of(ruleset: str) -> Layout:
    """Return the wheel and layout of a roulette ruleset."""
    layout = RULESETS[ruleset].layout
    assert layout is not None, f"{ruleset} has no wheel"
    return layout


def is_simple(bet: str) -> bool:
    """Whether ``bet`` is a simple chance, to which a zero does something of its own: art. 54 B."""
    return bet in SIMPLE_CHANCES


def chance(ways: int, outcomes: int) -> Fraction:
    """Return the probability of ``ways`` out of equally likely ``outcomes``."""
    return Fraction(ways, outcomes)
