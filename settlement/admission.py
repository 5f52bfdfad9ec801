"""What the interface refuses of *new* events, beyond their shape: names for persons, words of bets in capitals,
misspelt rulesets, currencies that there are not, and events of another ruleset; of a sandbox every unknown ruleset.

An event that is stored already is compared and read as it is, so a table system may send it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from settlement import registries
from settlement.codec import ShapeError, refuse_names
from settlement.currencies import CURRENCIES
from settlement.events import OPENERS, Event, SessionOpened, WagerPlaced
from settlement.persons.opaque_ids import NAMES_A_PLAYER, PERSONS_OF, is_opaque
from settlement.ruleset import RULESETS
from settlement.rulesets import refuse_foreign
from settlement.spelling import meant, refuse_capitals, refuse_misspelt, refuse_unknown


def refuse_unless_admitted(event: Event, ruleset: str | None, *, is_of_sandbox: bool = False) -> None:
    """Raise ``ShapeError`` for a new event that the interface refuses. ``ruleset`` is that of its stream.

    A casino may record what nobody adjudicates. In a sandbox that is a mistake of whoever tries a table system.
    """
    refuse_names(event)
    refuse_foreign((event,), ruleset)
    if isinstance(event, OPENERS):
        _refuse_other_currency(event.data.currency)
    if isinstance(event, SessionOpened):
        games = {name: each.game for name, each in RULESETS.items()}
        refuse_misspelt(event, games)
        if is_of_sandbox:
            refuse_unknown(event, games)
    known = RULESETS.get(ruleset or "")
    if known is not None and isinstance(event, WagerPlaced):
        refuse_capitals((event,), known.kinds)


def _refuse_other_currency(sent: str) -> None:
    if sent not in CURRENCIES:
        hint = meant(sent, CURRENCIES)
        raise ShapeError(f"'{sent}' is no currency of ISO 4217" + (f"; {hint}" if hint else ""), "/data/currency")


def to_look_at(events: Sequence[Event]) -> Sequence[int]:
    """Return the indexes of those of ``events`` that need a close look: a quick one names too many, if at all.

    Any other is admitted, whatever the ruleset. Few name more persons than a player; where one of those is a name, or a
    bet is in capitals, all are looked at.
    """
    persons: set[object] = {event.actor for event in events}
    closely = []
    for index, event in enumerate(events):
        kind = type(event)
        if kind in NAMES_A_PLAYER:
            persons.add(event.data.player)  # type: ignore[union-attr]
        elif kind in PERSONS_OF or kind in OPENERS:
            closely.append(index)
    bets = {event.data.bet for event in events if isinstance(event, WagerPlaced)}
    is_dubious = any(bet.lower() in _every_bet() for bet in bets if bet != bet.lower())
    return range(len(events)) if is_dubious or not all(map(is_opaque, persons)) else closely


@cache
def _every_bet() -> frozenset[str]:
    """Return the bets of all rulesets: one of another in capitals may be a bet here, which is looked at closely."""
    return frozenset(bet for ruleset in RULESETS.values() for bet in ruleset.kinds)


registries.forgets(_every_bet.cache_clear)
