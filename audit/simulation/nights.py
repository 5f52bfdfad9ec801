"""A night of a casino: so many tables of so many games, each played from its own seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any

from audit.simulation.craps_tables import FrenchCraps, QuebecCraps
from audit.simulation.irregularities import IRREGULARITIES
from audit.simulation.roulette_tables import AmericanRoulette, FrenchRoulette
from audit.simulation.session import Session

GAMES: Mapping[str, type[Session]] = MappingProxyType(
    {each.ruleset: each for each in (FrenchCraps, FrenchRoulette, AmericanRoulette, QuebecCraps)}
)
RULESET_NAMES = tuple(GAMES)

LETTERS = MappingProxyType({"fr-craps": "C", "fr-roulette": "R", "fr-american-roulette": "A", "qc-craps": "Q"})

MIX = ("fr-craps", "fr-roulette", "fr-american-roulette", "fr-craps", "fr-roulette", "fr-american-roulette", "qc-craps")
"""The games of a night, over and over."""

QUEBEC_ENDED = date(2011, 10, 13)
"""The Québec by-law's last day: its tables play as long before it as the night is after."""


@dataclass(frozen=True, slots=True)
class Night:
    """One played session: its events, and what was done wrong on purpose, by name and seq.

    ``missed`` are the irregularities that were asked for and found no occasion: a prisoner is not had on every night.
    """

    code: str
    ruleset: str
    stream: str
    events: list[dict[str, Any]]
    irregularities: list[tuple[str, int]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def tables_for(number: int, ruleset: str | None = None) -> list[str]:
    """Return the codes of the tables of a night: C1, R1, A1, C2 …, Q for Québec."""
    counts: dict[str, int] = {}
    codes = []
    for place in range(number):
        game = ruleset or MIX[place % len(MIX)]
        counts[game] = counts.get(game, 0) + 1
        codes.append(f"{LETTERS[game]}{counts[game]}")
    return codes


def play(
    ruleset: str,
    *,
    casino: str,
    code: str,
    gaming_day: date,
    seed: int,
    coups: int,
    irregularities: Sequence[str] = (),
    zone: str = "Europe/Paris",
) -> Night:
    """Play one session of ``coups`` coups. The same arguments give the same night, to the byte."""
    if ruleset == "qc-craps" and gaming_day >= QUEBEC_ENDED:
        gaming_day = gaming_day.replace(year=2010, day=min(gaming_day.day, 28))
    chance = random.Random(f"{seed}/{casino}/{code}/{gaming_day}")
    wanted = [name for name in irregularities if ruleset in IRREGULARITIES[name].rulesets]
    session = GAMES[ruleset](
        casino=casino,
        code=code,
        gaming_day=gaming_day,
        chance=chance,
        coups=coups,
        zone=zone,
        irregularities=list(wanted),
    )
    events = session.play()
    return Night(code, ruleset, session.scribe.stream, events, session.struck, session.irregularities)


def night(
    *,
    casino: str,
    gaming_day: date,
    seed: int,
    tables: int,
    coups: int,
    ruleset: str | None = None,
    irregularities: Sequence[str] = (),
) -> list[Night]:
    """Play a night of several tables. Each irregularity asked for is given to one table where it can happen."""
    codes = tables_for(tables, ruleset)
    games = [next(game for game, letter in LETTERS.items() if code.startswith(letter)) for code in codes]
    given: dict[int, list[str]] = {}
    for number, name in enumerate(irregularities):
        able = [place for place, game in enumerate(games) if game in IRREGULARITIES[name].rulesets]
        if able:
            given.setdefault(able[number % len(able)], []).append(name)
    return [
        play(
            game,
            casino=casino,
            code=code,
            gaming_day=gaming_day,
            seed=seed,
            coups=coups,
            irregularities=given.get(place, ()),
        )
        for place, (code, game) in enumerate(zip(codes, games, strict=True))
    ]
