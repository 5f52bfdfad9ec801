"""A table between two events, and a stretch of such instants: what the engine's own state says stood where.

A stream is folded from its beginning to the stretch: what stands at an event is what all before it left. The state at
the beginning of a stretch is kept in the cache for a while, for whoever moves along the same session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.core.cache import cache

from audit.adjudication import stream_reader
from audit.event_store import read
from settlement import Event, State, decode
from settlement.engine import mentioned
from settlement.events import BallSettled, DiceThrown, NoMoreBets, ThrowVoided, WagerPlaced
from settlement.state import UNDECIDED, Table, Wager

MAX_MOMENTS = 400
"""Events of one stretch."""

KEPT_S = 600
"""How long the state at the beginning of a stretch is kept."""

MAX_KEPT_BYTES = 4 * 1024 * 1024

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Stake:
    """A wager at an instant, as ``state`` shows it: ``on``, ``jail`` (in prison), ``won`` (to be paid), ``paid``,
    ``lost``, ``off`` (no longer there). Amounts are in minor units."""

    wager: Wager
    state: str
    number: int | None  # on which it stands, odds on that of the wager they belong to


@dataclass(frozen=True, slots=True)
class Moment:
    """The table just after an event."""

    event: Event
    point: int | None
    pocket: str | None  # in which the ball rests, until new stakes are placed
    faces: tuple[int, int] | None
    stakes: dict[str, Stake]  # by the wager's id


@dataclass(frozen=True, slots=True)
class Replay:
    """A stretch of a stream: the instants after each of its events, and the table's session."""

    game: str | None
    ruleset: str | None
    currency: str
    moments: list[Moment] = field(default_factory=list)

    def place_of(self, seq: int) -> int:
        """Return the place of the last moment that is not after ``seq``, 0 where all are."""
        before = [place for place, moment in enumerate(self.moments) if moment.event.seq <= seq]
        return before[-1] if before else 0


def table_at(stream_id: int, seq: int) -> dict[str, Any] | None:
    """Return the table just after event ``seq``, or after the last before it, as the interface says it.

    None before the first.
    """
    state = _state_before(stream_id, seq + 1)
    table = state.table
    if not table.events:
        return None
    session = table.session
    return {
        "at": table.last_seq,
        "occurred_at": table.clock.isoformat() if table.clock else None,
        "game": session.game if session else None,
        "ruleset": table.ruleset,
        "currency": session.currency if session else None,
        "closed": bool(table.closed_by),
        "bets_open": not table.call and not table.closed_by,
        "point": table.point,
        "result": table.result or None,
        "shooter": table.dice.shooter,
        "dice": list(table.dice.selected),
        "wagers": [_said(table, table.wagers[wager_id]) for wager_id in (*table.live, *table.due)],
    }


def _said(table: Table, wager: Wager) -> dict[str, Any]:
    return {
        "wager": wager.id,
        "bet": wager.bet,
        "player": wager.player,
        "seat": wager.seat,
        "status": wager.status,
        "stake": wager.stake,
        "standing": wager.standing,
        "number": _number_of(table, wager),
        "numbers": list(wager.pockets),
        "which": list(wager.which),
        "zeros": wager.zeros,
        "working": wager.working,
        "winnings_due": wager.winnings_due,
        "stake_due": wager.stake_due,
        "placed_by": wager.placed_by,
        "decided_by": wager.decided_by,
    }


def replay_of(stream_id: int, first_seq: int, last_seq: int, *, known_through: int | None = None) -> Replay:
    """Return the moments of a stretch of a stream, both ends included; at most ``MAX_MOMENTS``, the first ones.

    ``known_through`` is the last event known of: corrections after it are left out.
    """
    state = _state_before(stream_id, first_seq, known_through)
    raw = read.slice_of(stream_id, after=first_seq - 1, limit=MAX_MOMENTS)
    last_seq = min(last_seq, known_through or last_seq)
    events = [decode(envelope) for seq, envelope in raw if seq <= last_seq]
    table = state.table
    shown = dict.fromkeys((*table.live, *table.due, *table.swept))
    shown.update(dict.fromkeys(sorted(mentioned(events))))
    moments: list[Moment] = []
    pocket = faces = None
    if table.result and not table.call:
        pocket, faces = _result(table)
    last: dict[str, Stake] = {}
    for event in events:
        if isinstance(event, WagerPlaced):  # a new coup: what was decided before is off the table
            pocket = None
            for wager_id in [each for each in shown if _is_done(table, each)]:
                del shown[wager_id]
        state.feed(event)
        if isinstance(event, BallSettled):
            pocket = event.data.pocket
        elif isinstance(event, DiceThrown) or (isinstance(event, ThrowVoided) and event.data.faces):
            faces = event.data.faces or None
        elif isinstance(event, NoMoreBets):
            pocket = None
        last = {
            wager_id: _stake(table, wager, last.get(wager_id))
            for wager_id, wager in ((each, table.wagers.get(each)) for each in shown)
            if wager is not None
        }
        moments.append(Moment(event, table.point, pocket, faces, last))
    session = table.session
    return Replay(session.game if session else None, table.ruleset, session.currency if session else "", moments)


def _stake(table: Table, wager: Wager, before: Stake | None) -> Stake:
    """Return a wager as it is now: the one from ``before`` where nothing of it is new, else a copy of its own."""
    state, number = _state(table, wager), _number_of(table, wager)
    if before is not None and (before.state, before.number, before.wager) == (state, number, wager):
        return before
    return Stake(copy(wager), state, number)


def _is_done(table: Table, wager_id: str) -> bool:
    wager = table.wagers.get(wager_id)
    return wager is not None and wager.status not in UNDECIDED and wager_id not in table.due


def _state(table: Table, wager: Wager) -> str:
    match wager.status:
        case "imprisoned":
            return "jail"
        case "open" | "awaiting_decision":
            return "on"
        case "lost":
            return "lost"
        case "void" | "withdrawn":
            return "off"
        case _:
            return "won" if wager.id in table.due else "paid"


def _number_of(table: Table, wager: Wager) -> int | None:
    if wager.base and wager.number is None:
        base = table.wagers.get(wager.base)
        return base.number if base is not None else None
    return wager.number


def _result(table: Table) -> tuple[str | None, tuple[int, int] | None]:
    """Return the last result as a pocket or as faces: it is kept as it is said, "17" or "3-4"."""
    first, dash, second = table.result.partition("-")
    return (None, (int(first), int(second))) if dash else (table.result, None)


def _state_before(stream_id: int, seq: int, known_through: int | None = None) -> State:
    """Return the state that the events below ``seq`` leave, with every correction there is by now, or was then."""
    last = min(seq, read.next_seq_of(stream_id)) - 1
    is_corrected = bool(stream_reader.corrections_of(stream_id, known_through=known_through))
    batch = None if is_corrected else read.batch_holding(stream_id, last)
    name = f"felt:{batch.chain.hex()}:{seq}" if batch else ""  # the chain stands for all that was before
    kept = cache.get(name) if name else None
    if kept is not None:
        return State.from_bytes(kept)
    state = stream_reader.state_at(stream_id, seq - 1, known_through=known_through)
    if name and state.table.events > MAX_MOMENTS:
        _keep(name, state)
    return state


def _keep(name: str, state: State) -> None:
    saved = state.to_bytes()
    if len(saved) > MAX_KEPT_BYTES:
        return
    try:
        cache.set(name, saved, timeout=KEPT_S)
    except Exception as error:  # a page is not worth less for a cache that is gone
        log.warning("state not kept", error=str(error))


def players_in(moments: Sequence[Moment]) -> dict[str, int]:
    """Return the colour of every player among the stakes of a stretch, in order of their stakes."""
    colours: dict[str, int] = {}
    for moment in moments:
        for stake in moment.stakes.values():
            colours.setdefault(player_of(stake.wager), len(colours) % 14)
    return colours


def player_of(wager: Wager) -> str:
    """Return who placed a wager: the player, else the seat, else nobody."""
    return wager.player or wager.seat or ""


def stretch_around(seq: int, evidence: Iterable[int], *, before: int = 60, after: int = 14) -> tuple[int, int]:
    """Return the stretch that shows how a finding came about: from its evidence, as far as that is not long ago."""
    recent = [each for each in evidence if seq - each < MAX_MOMENTS - before - after]
    return max(1, min([seq, *recent]) - before), seq + after
