"""A simulated night of a casino: several tables, each with its own random generator derived from one seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any

from audit.simulation.irregularities import IRREGULARITIES, Irregularity
from audit.simulation.session import Session
from settlement import registries
from settlement.ruleset import RULESETS, resolved


def simulator_of(ruleset: str) -> type[Session]:
    """Return what plays a ruleset. Raise ``ValueError`` if two simulators have the same letter or irregularity."""
    return _simulators()[ruleset]


@cache
def _simulators() -> Mapping[str, type[Session]]:
    simulators: dict[str, type[Session]] = {name: resolved(ruleset.simulator) for name, ruleset in RULESETS.items()}
    letters: dict[str, str] = {}
    irregularities = dict(IRREGULARITIES)
    for name, simulator in simulators.items():
        assert issubclass(simulator, Session)
        registries.add(letters, simulator.letter, name, "a simulator with the letter")
        for each in simulator.own_irregularities:
            registries.share(irregularities, each.rule, each, "an irregularity")
    return simulators


registries.forgets(_simulators.cache_clear)


def irregularities_of(ruleset: str) -> Mapping[str, Irregularity]:
    """Return the irregularities that a table of ``ruleset`` can have, by name."""
    shared = {name: each for name, each in IRREGULARITIES.items() if ruleset in each.rulesets}
    return shared | {each.rule: each for each in simulator_of(ruleset).own_irregularities}


def every_irregularity() -> Mapping[str, Irregularity]:
    """Return every irregularity that can be requested, by name."""
    own = (each for ruleset in RULESETS for each in simulator_of(ruleset).own_irregularities)
    return {**IRREGULARITIES, **{each.rule: each for each in own}}


def mix() -> list[str]:
    """Return the rulesets of the tables of a night, which are repeated."""
    shares = sorted(((simulator_of(name).tables_in_mix, name) for name in RULESETS), key=lambda share: -share[0])
    most = shares[0][0]
    return [name for step in range(most, 0, -1) for tables, name in shares if tables >= step]


@dataclass(frozen=True, slots=True)
class Night:
    """One played session: its events and its irregularities, by name and seq.

    ``missed`` are the requested irregularities that had no occasion: not every night has a stake in prison. ``deeds``
    counts what people did, on a human night.
    """

    code: str
    ruleset: str
    stream: str
    events: list[dict[str, Any]]
    irregularities: list[tuple[str, int]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    deeds: Mapping[str, int] = field(default_factory=dict)


def tables_for(number: int, ruleset: str | None = None) -> list[str]:
    """Return the codes of the tables of a night: C1, R1, A1, C2 …, Q for Québec, B for la boule."""
    return [code for code, _ruleset in _tables(number, ruleset)]


def _tables(number: int, ruleset: str | None) -> list[tuple[str, str]]:
    """Return the code and the ruleset of each table of a night."""
    counts: dict[str, int] = {}
    tables = []
    repeated = [ruleset] if ruleset else mix()
    for index in range(number):
        game = repeated[index % len(repeated)]
        counts[game] = counts.get(game, 0) + 1
        tables.append((f"{simulator_of(game).letter}{counts[game]}", game))
    return tables


def day_played(ruleset: str, gaming_day: date) -> date:
    """Return the day on which a table plays: one whose text is no longer in force plays in the year before its end."""
    ended = RULESETS[ruleset].instrument.in_force_until
    if ended is None or gaming_day < ended:
        return gaming_day
    return gaming_day.replace(year=ended.year - 1, day=min(gaming_day.day, 28))


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
    human: bool = False,
    belated: bool = False,
) -> Night:
    """Play one session of ``coups`` coups. The same arguments give the same night, to the byte.

    ``human``: people err and put it right, come and go, change their minds. That gives findings for information.
    ``belated``: they put some of it right in a later coup only. That gives findings that stand, and say so.
    """
    gaming_day = day_played(ruleset, gaming_day)
    chance = random.Random(f"{seed}/{casino}/{code}/{gaming_day}")
    wanted = [name for name in irregularities if name in irregularities_of(ruleset)]
    session = simulator_of(ruleset)(
        casino=casino,
        code=code,
        gaming_day=gaming_day,
        chance=chance,
        coups=coups,
        zone=zone,
        irregularities=list(wanted),
        whims=random.Random(f"{seed}/{casino}/{code}/{gaming_day}/human") if human else None,
        is_belated=belated,
    )
    events = session.play()
    deeds = {} if session.human is None else +session.human.deeds
    return Night(code, ruleset, session.writer.stream, events, session.injected, session.irregularities, deeds)


def night(
    *,
    casino: str,
    gaming_day: date,
    seed: int,
    tables: int,
    coups: int,
    ruleset: str | None = None,
    irregularities: Sequence[str] = (),
    human: bool = False,
) -> list[Night]:
    """Play a night of several tables. Each requested irregularity is assigned to one table where it can happen."""
    played = _tables(tables, ruleset)
    games = [game for _code, game in played]
    assigned: dict[int, list[str]] = {}
    for number, name in enumerate(irregularities):
        eligible = [index for index, game in enumerate(games) if name in irregularities_of(game)]
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
            human=human,
        )
        for index, (code, game) in enumerate(played)
    ]
