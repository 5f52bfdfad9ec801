"""What a ruleset is: one object with everything that the rest of the product knows of a game under its law.

Shared code names no game: it asks the ruleset. A part that needs the engine, or belongs to another package, is named
here instead of being imported, and looked up at its first use (``resolved``): the mathematics of the night, the felt,
the simulator. They are the object itself, or a text "module:name".
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from settlement import registries
from settlement.catalogue import RULES
from settlement.catalogue.rule import Equipment, Rule, Wording
from settlement.events import Envelope
from settlement.families import families_of
from settlement.finding import Finding
from settlement.kinds import Kind
from settlement.law import Instrument, LawText
from settlement.layouts import Layout
from settlement.quotations import Quotations
from settlement.readings import Reading
from settlement.state import Table, Wager

Handler: TypeAlias = Callable[[Table, Any], object]

Named: TypeAlias = Any
"""An object, or the text "module:name" of one."""


WHEEL = Wording("wheel", "cylindre")


@dataclass(frozen=True, kw_only=True)
class Ruleset:
    """One ruleset: an instrument of law applied to a game.

    Names. ``game`` is what a session's opener says. ``title`` is the ruleset as screens list it, ``game_title`` the
    game alone, ``game_name`` the game in a sentence, in French with its article.

    Law. ``kinds`` is the closed list of bets and ``closed_list`` the label of the clause that closes it;
    ``is_closed`` is False where the text lists some bets of the game only: any other is then out of scope. ``rules``
    are those of its own, ``clauses`` the labels under which it has the rules of every game where they are not the
    usual ones, None for a rule that it has not. ``texts`` are law texts with their quotations, and ``articles`` the
    sentences of the texts that govern it (``law_coverage.sentence.Article``). ``readings`` are those of its own.

    Play. ``handlers`` maps each event type to what it does; an event of any other type does nothing. ``events`` are the
    types of its own, which no other ruleset takes. ``result`` is the type of event that decides a coup. ``opening``
    finds, with the seq of the opener, what an answer says of a table that has not played yet. ``state_of_play`` is what
    an answer says of the table, apart from wagers. ``has_decisions``: players decide something in mid-coup. ``layout``
    is that of the wheel, None without one, and ``wheel_name`` is how people call it. ``equipment`` is what draws the
    results, where that is tested for fairness. ``opposites`` are the chances with two sides, each side by its bets, the
    first of which names the chance: stakes on both sides lose little together. Each number is a chance of its own.

    Readings. ``zero_rule`` is the default of that reading, ``fixed`` the values that the text itself gives to readings.
    ``seat_limit`` and ``seat_limit_doubled`` are those of art. 57-1 al. 3, None without one.

    Elsewhere. ``chances`` values stakes and draws (``night.chances.Chances``), ``felt`` draws the table
    (``audit.felt.layouts.Felt``), ``simulator`` plays it (``audit.simulation.session.Session``).
    """

    name: str
    game: str
    title: Wording
    game_title: Wording
    game_name: Wording
    instrument: Instrument

    kinds: Mapping[str, Kind]
    closed_list: str
    is_closed: bool = True
    rules: tuple[Rule, ...] = ()
    clauses: Mapping[str, tuple[str, ...] | None] = field(default_factory=lambda: MappingProxyType({}))
    texts: tuple[tuple[LawText, Quotations], ...] = ()
    articles: tuple[Named, ...]
    readings: tuple[Reading, ...] = ()

    handlers: Mapping[type[Envelope], Handler]
    events: tuple[type[Envelope], ...] = ()
    result: type[Envelope]
    opening: Callable[[Table, int], object] | None = None
    state_of_play: Callable[[Table], dict[str, Any]]
    has_decisions: bool = False
    layout: Layout | None = None
    wheel_name: Wording = WHEEL
    equipment: Equipment | None = None
    opposites: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    zero_rule: str = "choice"
    fixed: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    seat_limit: int | None = None
    seat_limit_doubled: int | None = None

    chances: Named
    felt: Named
    simulator: Named

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of events that rules of this ruleset need."""
        own = (rule for rule in RULES.values() if rule.raised_by == "engine" and self.name in rule.rulesets)
        needed = frozenset(family for rule in own for family in families_of(rule))
        return needed if self.has_decisions else needed - {"decisions"}


_rulesets: dict[str, Ruleset] = registries.table({})
RULESETS: Mapping[str, Ruleset] = MappingProxyType(_rulesets)
"""Every ruleset by its name: ``rulesets`` lists them."""


def add_ruleset(ruleset: Ruleset) -> None:
    """Take a ruleset by its name. Raise ``ValueError`` if that is taken."""
    registries.add(_rulesets, ruleset.name, ruleset, "a ruleset")


def kind_of(table: Table, wager: Wager) -> Kind | None:
    """Return the record of the bet of ``wager``; None for a bet that the table's ruleset has not."""
    ruleset = RULESETS.get(table.ruleset or "")
    return None if ruleset is None else ruleset.kinds.get(wager.bet)


def as_opened(table: Table) -> list[Finding]:
    """Return what is wrong with a table that has not played yet, as it stands: it may be put right before it plays."""
    ruleset = RULESETS.get(table.ruleset or "")
    if table.session is None or ruleset is None or ruleset.opening is None:
        return []
    before = len(table.findings)
    ruleset.opening(table, table.opened_by)
    found = table.findings[before:]
    del table.findings[before:]
    return found


def resolved(named: Named) -> Any:
    """Return the object that ``named`` is, or names."""
    return pkgutil.resolve_name(named) if isinstance(named, str) else named
