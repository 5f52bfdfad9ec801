"""The rulesets: the one place that lists them.

A ruleset is an instrument of law applied to a game. Another instrument is another ruleset, never an edit of one, so
that what was adjudicated under it keeps its answer. ``docs/adding-a-ruleset.md`` builds one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from settlement import registries
from settlement.catalogue import add_rules
from settlement.catalogue.rule import name_ruleset
from settlement.catalogue.words import name_bet, name_game, title_ruleset
from settlement.codec import ShapeError
from settlement.events import Envelope, Event, add_type
from settlement.fr.craps import FR_CRAPS
from settlement.fr.roulette import FR_AMERICAN_ROULETTE, FR_ROULETTE
from settlement.law import add_text
from settlement.persons.opaque_ids import note_persons
from settlement.provisions import add_provisions, cite_bets, govern
from settlement.qc.craps import QC_CRAPS
from settlement.ruleset import RULESETS, Handler, Ruleset, add_ruleset, resolved

__all__ = ["RULESETS", "Handler", "Ruleset", "refuse_foreign", "register", "registered"]


def register(ruleset: Ruleset) -> None:
    """Take a ruleset, with its bets, rules, texts and events. Raise ``ValueError`` if its name is taken."""
    add_ruleset(ruleset)
    name_ruleset(ruleset.name)
    title_ruleset(ruleset.name, ruleset.title.en, ruleset.title.fr)
    name_game(ruleset.game, ruleset.game_name.en, ruleset.game_name.fr)
    for text, quotations in ruleset.texts:
        add_text(text)
        add_provisions(text, quotations)
    for kind in ruleset.kinds.values():
        name_bet(kind.bet, kind.word, kind.usual)
    govern(ruleset.name, ruleset.game, lambda: frozenset(resolved(each).text.id for each in ruleset.articles))
    cite_bets(ruleset.name, ruleset.closed_list, ruleset.kinds.values())
    add_rules(ruleset.name, ruleset.rules, ruleset.clauses, ruleset.equipment)
    for event in ruleset.events:
        add_type(event, ruleset.name)
        note_persons(event)
    registries.forget()


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


for _ruleset in (FR_CRAPS, QC_CRAPS, FR_ROULETTE, FR_AMERICAN_ROULETTE):
    register(_ruleset)
del _ruleset
