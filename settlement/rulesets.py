"""The rulesets: where they are found and registered, and the one place that imports them.

A ruleset is an instrument of law applied to a game. Another instrument is another ruleset, never an edit of one, so
that what was adjudicated under it keeps its answer. ``docs/adding-a-ruleset.md`` builds one.

    entry point "module:object" ──► load, once everything else is imported ──► register ──► the tables of ``registries``
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points

from settlement import registries
from settlement.catalogue import add_rules
from settlement.catalogue.rule import name_ruleset
from settlement.catalogue.words import name_bet, name_game, title_ruleset
from settlement.codec import ShapeError
from settlement.events import Envelope, Event, add_type
from settlement.law import add_text
from settlement.persons.opaque_ids import note_persons
from settlement.provisions import add_provisions, cite_bets, govern
from settlement.readings import add_readings
from settlement.ruleset import RULESETS, Handler, Ruleset, add_ruleset, resolved

__all__ = ["RULESETS", "Handler", "Ruleset", "load", "refuse_foreign", "register", "registered"]

GROUP = "cabochon.rulesets"
"""The group of entry points in which a package names its rulesets."""

# Ours go through the same ``load`` as those of other packages. They are written here, and not in pyproject.toml, since
# a checkout runs without being installed: it has no metadata that would name them.
OURS = tuple(
    EntryPoint(name, value, GROUP)
    for name, value in (
        ("fr-craps", "settlement.fr.craps:FR_CRAPS"),
        ("qc-craps", "settlement.qc.craps:QC_CRAPS"),
        ("fr-roulette", "settlement.fr.roulette:FR_ROULETTE"),
        ("fr-american-roulette", "settlement.fr.roulette:FR_AMERICAN_ROULETTE"),
        ("fr-boule", "settlement.fr.boule:FR_BOULE"),
    )
)


class RulesetNotLoaded(Exception):
    """A ruleset that an installed package names cannot be had: nothing is adjudicated until the package is mended."""


def load() -> None:
    """Register every ruleset that an entry point names: ours, then those of other packages in order of their names.

    ``settlement`` calls it when its own modules are imported. Raise ``RulesetNotLoaded`` for the first that cannot be
    imported or registered.
    """
    others = sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value))
    for each in (*OURS, *others):
        try:
            ruleset = each.load()
            if not isinstance(ruleset, Ruleset) or ruleset.name != each.name:
                raise ValueError(f"{each.value} is not the ruleset {each.name!r}")
            register(ruleset)
        except Exception as error:
            package = f" of {each.dist.name}" if each.dist is not None else ""
            raise RulesetNotLoaded(f"entry point {each.name!r}{package} ({each.value}): {error}") from error


def register(ruleset: Ruleset) -> None:
    """Take a ruleset, with its bets, rules, texts and events.

    Raise ``ValueError`` where it brings what another has brought already; then nothing of it is taken.
    """
    with registries.changed():
        add_ruleset(ruleset)
        name_ruleset(ruleset.name)
        title_ruleset(ruleset.name, ruleset.title.en, ruleset.title.fr)
        name_game(ruleset.game, ruleset.game_name.en, ruleset.game_name.fr)
        for text, quotations in ruleset.texts:
            add_text(text)
            add_provisions(text, quotations)
        for kind in ruleset.kinds.values():
            name_bet(ruleset.name, kind.bet, kind.word, kind.usual)
        govern(ruleset.name, ruleset.game, lambda: frozenset(resolved(each).text.id for each in ruleset.articles))
        cite_bets(ruleset.name, ruleset.closed_list, ruleset.kinds.values())
        add_rules(ruleset.name, ruleset.rules, ruleset.clauses, ruleset.equipment)
        add_readings(ruleset.readings)
        for event in ruleset.events:
            add_type(event, ruleset.name)
            note_persons(event)


def refuse_foreign(events: Collection[Event], ruleset: str | None) -> None:
    """Raise ``ShapeError`` for the first of ``events`` that is of another ruleset's own, not of ``ruleset``."""
    kinds: set[type[Envelope]] = set(map(type, events))
    foreign = {kind for kind in kinds if kind.ruleset not in (None, ruleset)}
    if foreign:
        event = next(event for event in events if type(event) in foreign)
        raise ShapeError(f"'{event.type}' is an event of {type(event).ruleset} alone", "/type")


@contextmanager
def registered(ruleset: Ruleset) -> Iterator[None]:
    """Have a ruleset for a while: for tests, and to try one out."""
    with registries.undone():
        register(ruleset)
        yield
