"""The luck of a night by its definition in ``docs/night-mathematics.md``: in fractions, stake by stake, draw by draw.

Every draw that can come is played through the engine, and what it changes is the difference of two positions. Slow, and
made of nothing that adds several stakes at once.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

from msgspec.structs import replace

from settlement import Event, State, decode
from settlement.events import DiceThrown
from settlement.night.roulette import layout_of
from settlement.night.value import present_value
from settlement.state import Session, Table, Wager

Changed = dict[str, Fraction]
"""By how much a draw changes the house's position on each stake, in minor units."""


def every_change(state: State, event: Event) -> list[tuple[str, Changed]]:
    """Return the result of every draw that can come in place of ``event``, all equally likely, and what it changes.

    Empty if ``event`` is no draw of the game.
    """
    if after(state, event).coup_began != event.seq:
        return []
    session = state.table.open_session()
    before = {wager: _position(session, _chosen(state.table.wagers[wager])) for wager in state.table.live}
    changes = []
    for drawn in every_draw(event, session.ruleset):
        then = after(state, drawn)
        changed = {wager: _position(session, then.wagers[wager]) - was for wager, was in before.items()}
        changes.append((then.result, changed))
    return changes


def _position(session: Session, wager: Wager) -> Fraction:
    """Return what the house has taken of a stake, less what it owes, less the expected value of what stands."""
    if wager.undecided:
        return wager.standing - present_value(session, wager)
    return Fraction(wager.standing - wager.stake_due - wager.winnings_due)


def _chosen(wager: Wager) -> Wager:
    """Return a stake as it is drawn for: if no half was taken it is in prison, which is a decision and no draw."""
    return replace(wager, status="imprisoned") if wager.status == "awaiting_decision" else wager


def after(state: State, event: Event) -> Table:
    """Return the table as ``event`` would leave it."""
    then = State.from_bytes(state.to_bytes())
    then.feed(event)
    return then.table


def every_draw(event: Event, ruleset: str) -> list[Event]:
    """Return the draws that could have been instead of ``event``, all equally likely."""
    raw = {"stream": event.stream, "seq": event.seq, "occurred_at": event.occurred_at.isoformat(), "type": event.type}
    if isinstance(event, DiceThrown):
        faces = product(range(1, 7), repeat=2)
        return [decode(json.dumps(raw | {"data": {"faces": list(pair)}})) for pair in faces]
    shows = event.shows
    assert shows is not None
    as_sent = type(getattr(event.data, shows))  # a pocket is a text, a number is none
    return [decode(json.dumps(raw | {"data": {shows: as_sent(pocket)}})) for pocket in layout_of(ruleset).wheel]


def added(changed: Changed, wagers: set[str]) -> Fraction:
    """Return what a draw changes with several stakes together."""
    return sum((change for wager, change in changed.items() if wager in wagers), Fraction(0))
