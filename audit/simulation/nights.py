"""A simulated night of a casino: several tables, each with its own random generator derived from one seed."""

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
"""The games of the tables of a night, repeated."""

QUEBEC_ENDED = date(2011, 10, 13)
"""When the Québec by-law ceased to be in force: from this day on, its tables play in 2010 instead."""


@dataclass(frozen=True, slots=True)
class Night:
    """One played session: its events and its irregularities, by name and seq.

    ``missed`` are the requested irregularities that had no occasion: not every night has a stake in prison.
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
    for index in range(number):
        game = ruleset or MIX[index % len(MIX)]
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
    return Night(code, ruleset, session.writer.stream, events, session.injected, session.irregularities)


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
    """Play a night of several tables. Each requested irregularity is assigned to one table where it can happen."""
    codes = tables_for(tables, ruleset)
    games = [next(game for game, letter in LETTERS.items() if code.startswith(letter)) for code in codes]
    assigned: dict[int, list[str]] = {}
    for number, name in enumerate(irregularities):
        eligible = [index for index, game in enumerate(games) if game in IRREGULARITIES[name].rulesets]
        if eligible:
            assigned.setdefault(eligible[number % len(eligible)], []).append(name)
    return [
        play(
            game,
            casino=casino,
            code=code,
            gaming_day=gaming_day,
            seed=seed,
            coups=coups,
            irregularities=assigned.get(index, ()),
        )
        for index, (code, game) in enumerate(zip(codes, games, strict=True))
    ]
