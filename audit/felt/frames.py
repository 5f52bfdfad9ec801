"""The state of a table just after an event (a frame), and frames over a range of events (a playback).

Frames are read off the engine's own state: the stream is folded from its beginning. The state at the beginning of a
range is cached for a while, for an officer who moves along the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.core.cache import cache
from msgspec import UNSET

from audit.adjudication import stream_reader, table_state
from audit.adjudication.results import standing_readings
from audit.event_store import read
from audit.persons.directory import Directory
from audit.register.in_force import digest_of
from settlement import RULESETS, Event, State
from settlement.codec import decode_one_stored
from settlement.engine import mentioned
from settlement.events import VOIDS, NoMoreBets, WagerPlaced
from settlement.state import UNDECIDED, Session, Table, Wager

MAX_FRAMES = 400
"""Most events of one playback."""

MAX_FOLDED = 50_000
"""Most events that ``table_at`` folds: it answers clients, in a thread of the web server."""

CACHED_S = 600
"""How long the state at the beginning of a range is cached."""

MAX_CACHED_BYTES = 4 * 1024 * 1024

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Stake:
    """A wager in a frame. Amounts are in minor units.

    ``state`` is ``on``, ``jail`` (in prison), ``won`` (to be paid, or not paid at all), ``paid``, ``lost`` or ``off``
    (off the table). ``is_collected`` if it is lost and no longer lies on the felt.
    """

    wager: Wager
    state: str
    number: int | None  # that it is placed on; for odds, that of the wager they belong to
    is_collected: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The table just after an event.

    ``result`` is the last, as ``Table.result`` has it, "17" or "3-4"; None once new stakes are placed, unless it stays.
    ``reads`` is the event as the corrections in effect leave it; None if it was annulled.
    """

    event: Event
    point: int | None
    result: str | None
    stakes: dict[str, Stake]  # by the wager's id
    reads: Event | None


@dataclass(frozen=True, slots=True)
class Playback:
    """The frames of a range of events, with the table's session; None where it has not been opened."""

    game: str | None
    ruleset: str | None
    currency: str
    frames: list[Frame] = field(default_factory=list)
    session: Session | None = None

    def index_of(self, seq: int) -> int:
        """Return the index of the last frame that is not after ``seq``, 0 if all are."""
        before = [index for index, frame in enumerate(self.frames) if frame.event.seq <= seq]
        return before[-1] if before else 0


def table_at(stream_id: int, seq: int) -> dict[str, Any] | None:
    """Return the table just after event ``seq``, or after the last event before it, as the API has it.

    None before the first event. Raise as ``table_state.state_after``.
    """
    table = table_state.state_after(stream_id, seq, max_events=MAX_FOLDED).table
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
        "wagers": [_wager_json(table, table.wagers[wager_id]) for wager_id in (*table.live, *table.due)],
    }


def _wager_json(table: Table, wager: Wager) -> dict[str, Any]:
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


def playback_of(stream_id: int, first_seq: int, last_seq: int, *, known_through: int | None = None) -> Playback:
    """Return the frames of events ``first_seq`` to ``last_seq``, both included; the first ``MAX_FRAMES`` of them.

    ``known_through`` is the last event that counts: later events and corrections are left out.
    """
    last_seq = min(last_seq, known_through or last_seq)
    events = _events_of(stream_id, first_seq, last_seq)
    return playback_of_events(_state_before(stream_id, first_seq, events, known_through), events)


def playback_from(state: State, stream_id: int, first_seq: int, last_seq: int) -> Playback:
    """Return the frames as ``playback_of`` does, from ``state``, which is that before event ``first_seq`` and goes on.

    Events are as the corrections of the state leave them.
    """
    return playback_of_events(state, _events_of(stream_id, first_seq, last_seq))


def _events_of(stream_id: int, first_seq: int, last_seq: int) -> list[Event]:
    raw = read.slice_of(stream_id, after=first_seq - 1, limit=MAX_FRAMES)
    return [decode_one_stored(envelope) for seq, envelope in raw if seq <= last_seq]


def playback_of_events(state: State, events: Sequence[Event]) -> Playback:
    """Return the frames of ``events`` from ``state``, which is that before the first of them and goes on."""
    table = state.table
    shown = dict.fromkeys((*table.live, *table.due, *table.swept))
    shown.update(dict.fromkeys(sorted(mentioned(events))))
    frames: list[Frame] = []
    result = table.result if table.result and not table.call else None
    previous: dict[str, Stake] = {}
    for event in events:
        if isinstance(event, WagerPlaced):  # a new coup: decided wagers are taken off the table
            for wager_id in [each for each in shown if _is_done(table, each)]:
                del shown[wager_id]
        state.feed(event)
        corrected, removed_by = state.corrected(event), state.corrections.removed_by(event)
        if not removed_by:
            result = _result_after(table, corrected, result)
        is_annulled = bool(removed_by) and not state.corrections.voids(removed_by)
        previous = {
            wager_id: _stake(table, wager, previous.get(wager_id))
            for wager_id, wager in ((each, table.wagers.get(each)) for each in shown)
            if wager is not None
        }
        frames.append(Frame(event, table.point, result, previous, None if is_annulled else corrected))
    session = table.session
    game, currency = (session.game, session.currency) if session else (None, "")
    return Playback(game, table.ruleset, currency, frames, session)


def _stake(table: Table, wager: Wager, before: Stake | None) -> Stake:
    """Return a wager as it is now: ``before`` itself if nothing has changed, else a copy."""
    state, number = _state(table, wager), _number_of(table, wager)
    is_collected = state == "lost" and wager.id not in table.swept
    now = (state, number, is_collected, wager)
    if before is not None and (before.state, before.number, before.is_collected, before.wager) == now:
        return before
    return Stake(copy(wager), state, number, is_collected)


def _is_done(table: Table, wager_id: str) -> bool:
    wager = table.wagers.get(wager_id)
    return wager is not None and wager.status not in UNDECIDED and wager_id not in table.due


def _state(table: Table, wager: Wager) -> str:
    match wager.status:
        case "imprisoned":
            return "jail"
        case "open" | "awaiting_decision":
            return "on"
        case "out_of_scope":
            return "paid" if wager.paid_by else "on"
        case "lost":
            return "lost"
        case "void" | "withdrawn":
            return "off"
        case _:
            # One that was never paid is no longer due once that is a finding; a released one was perhaps just lifted.
            is_unpaid = wager.winnings_due + wager.stake_due > 0 and not wager.paid_by and wager.status != "released"
            return "won" if wager.id in table.due or is_unpaid else "paid"


def _number_of(table: Table, wager: Wager) -> int | None:
    if wager.base and wager.number is None:
        base = table.wagers.get(wager.base)
        return base.number if base is not None else None
    return wager.number


def _result_after(table: Table, event: Event, before: str | None) -> str | None:
    """Return the result that is shown after ``event``, as text; ``before`` is the one that was shown before it."""
    ruleset = RULESETS.get(table.ruleset or "")
    if ruleset is None:
        return None
    kind = type(event)
    if isinstance(event, WagerPlaced | NoMoreBets):
        return before if ruleset.result.stays_shown else None
    if ruleset.result not in (kind, VOIDS.get(kind)):
        return before
    if kind.shows is None:
        return table.result if kind.is_result else before
    shown = getattr(event.data, kind.shows)  # of a throw that was voided perhaps nothing
    if shown is UNSET:
        return before
    return "-".join(map(str, shown)) if isinstance(shown, tuple) else str(shown)


def _state_before(stream_id: int, seq: int, events: Sequence[Event], known_through: int | None) -> State:
    """Return the state before event ``seq``, from the cache if it is there; see ``stream_reader.state_at``.

    It holds what is pending and what ``events``, those from ``seq`` on, mention: of a long session, a small part.
    """
    last = min(seq, read.next_seq_of(stream_id)) - 1
    is_corrected = bool(stream_reader.corrections_of(stream_id, known_through=known_through))
    batch = None if is_corrected else read.batch_holding(stream_id, last)
    readings = standing_readings(stream_id)
    # The chain is a digest of all events before.
    name = f"felt:{batch.chain.hex()}:{seq}:{len(events)}:{digest_of(readings)}" if batch else ""
    cached = cache.get(name) if name else None
    if cached is not None:
        return State.from_bytes(cached)
    state = stream_reader.state_at(stream_id, seq - 1, known_through=known_through, readings=readings)
    hold_only(state, events)
    if name and state.table.events > MAX_FRAMES:
        _cache_state(name, state)
    return state


def hold_only(state: State, events: Sequence[Event]) -> None:
    """Have ``state`` hold the wagers that something is pending on and those that ``events`` mention, and no other."""
    retired = state.retire()
    mentioned_again = state.unheld(events)
    state.recall(wager for wager in retired if wager.id in mentioned_again)


def _cache_state(name: str, state: State) -> None:
    saved = state.to_bytes()
    if len(saved) > MAX_CACHED_BYTES:
        return
    try:
        cache.set(name, saved, timeout=CACHED_S)
    except Exception as error:  # the page works without a cache
        log.warning("state not cached", error=str(error))


def players_in(frames: Sequence[Frame]) -> dict[str, int]:
    """Return the colour (0 to 13) of every player among the stakes of frames, in order of their stakes."""
    colours: dict[str, int] = {}
    for frame in frames:
        for stake in frame.stakes.values():
            colours.setdefault(player_of(stake.wager), len(colours) % 14)
    return colours


def player_label(wager: Wager, directory: Directory) -> str:
    """Return the player who placed a wager as a page shows them, else the seat, else ""."""
    return directory.player(wager.player) if wager.player else wager.seat or ""


def player_of(wager: Wager) -> str:
    """Return the player who placed a wager, else the seat, else ""."""
    return wager.player or wager.seat or ""


def range_around(seq: int, evidence: Iterable[int], *, before: int = 60, after: int = 14) -> tuple[int, int]:
    """Return the first and last seq that show how a finding arose: from its evidence, as far as it fits a playback."""
    recent = [each for each in evidence if seq - each < MAX_FRAMES - before - after]
    return max(1, min([seq, *recent]) - before), seq + after
