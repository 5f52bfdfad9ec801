"""What the interface refuses of *new* events, beyond their shape: names for persons, words of bets in capitals,
misspelt rulesets, and events of another ruleset.

An event that is stored already is compared and read as it is, so a table system may send it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from settlement import registries
from settlement.codec import refuse_names
from settlement.events import Event, SessionOpened, WagerPlaced
from settlement.persons.opaque_ids import NAMES_A_PLAYER, PERSONS_OF, is_opaque
from settlement.ruleset import RULESETS
from settlement.rulesets import refuse_foreign
from settlement.spelling import refuse_capitals, refuse_misspelt


def refuse_unless_admitted(event: Event, ruleset: str | None) -> None:
    """Raise ``ShapeError`` for a new event that the interface refuses. ``ruleset`` is that of its stream."""
    refuse_names(event)
    refuse_foreign((event,), ruleset)
    if isinstance(event, SessionOpened):
        refuse_misspelt(event, {name: each.game for name, each in RULESETS.items()})
    known = RULESETS.get(ruleset or "")
    if known is not None and isinstance(event, WagerPlaced):
        refuse_capitals((event,), known.kinds)


def are_surely_admitted(events: Sequence[Event]) -> bool:
    """Whether all of ``events`` are admitted whatever their ruleset: a quick look that says no too often, if at all."""
    persons: set[object] = {event.actor for event in events}
    for event in events:
        kind = type(event)
        if kind in NAMES_A_PLAYER:
            persons.add(event.data.player)  # type: ignore[union-attr]
        elif kind in PERSONS_OF:
            return False
    bets = {event.data.bet for event in events if isinstance(event, WagerPlaced)}
    return all(map(is_opaque, persons)) and not any(bet.lower() in _every_bet() for bet in bets if bet != bet.lower())


@cache
def _every_bet() -> frozenset[str]:
    """Return the bets of all rulesets: one of another in capitals may be a bet here, which is looked at closely."""
    return frozenset(bet for ruleset in RULESETS.values() for bet in ruleset.kinds)


registries.forgets(_every_bet.cache_clear)
