"""What a session gives the ledger: its draws, noted while its stream is folded for other reasons.

    state.feed_all(page, recorder.interceptors(state))        as often as there are pages
    recorder.observations                                     when the session closes

``Recorder.feed`` does what ``night.value.ValueProcess.feed`` does and has the same ``luck``, ``variance`` and
``draws``, so that one fold serves the night and the ledger. Of each draw it keeps how far the expectation of the table
and of every known player changed, and the least and the most it could have changed: with these three numbers a bet at
fair odds is settled later, without the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Struct

from settlement.engine import Interceptors, State
from settlement.eprocess.bets import Change
from settlement.events import (
    TYPES,
    VOIDS,
    DiceSetIntroduced,
    DiceThrown,
    Envelope,
    Event,
    SessionClosed,
    SessionOpened,
    ThrowVoided,
    WagerPlaced,
)
from settlement.night.chances import Changes, Outlook, added, chances_of
from settlement.night.craps import THROW_INDEX
from settlement.night.value import Draw
from settlement.ruleset import RULESETS
from settlement.state import Table, Wager

NEAR_CALL = timedelta(seconds=2)
"""A wager is late if it is placed within this time before «Rien ne va plus», or after it."""


NEITHER = -1


class Observation(Struct, frozen=True, array_like=True):
    """One draw. ``result`` is the index of the pocket on the wheel, or of the throw: 6 × (first − 1) + second − 1.

    ``luck`` is the house's; ``players`` and ``late`` have that of the house against each player, with all his wagers
    and with the late ones; ``late_luck`` that against all late wagers, whoever laid them. None or left out where
    nothing could change. ``dice`` names each die, or is empty.
    """

    seq: int
    result: int
    luck: Change | None = None
    croupier: str = ""
    shooter: str = ""
    dice_set: str = ""
    dice: tuple[str, ...] = ()
    players: dict[str, Change] = {}
    late: dict[str, Change] = {}
    late_luck: Change | None = None


class Mark(Struct, frozen=True, array_like=True, order=True):
    """A finding that names a croupier: its event, its rule, the croupier, and the player concerned ("" if nobody)."""

    seq: int
    rule: str
    croupier: str
    player: str = ""


class VoidCall(Struct, frozen=True, array_like=True, order=True):
    """A coup called void, whatever it showed, at the event of its result or else of the call; and who dealt."""

    seq: int
    croupier: str


class Payout(Struct, frozen=True, array_like=True, order=True):
    """What one croupier paid in one coup ("" if not known): the sum of W_rec − W_adj in minor units.

    ``coup`` is different for each coup of the night, whatever the table: the name of the session, "#", and its event.
    """

    coup: str
    croupier: str
    error: int


class Observations(Struct):
    """The draws of a session. ``cells`` is the number of pockets, 0 at craps; ``wheel`` its id, else that of the table.

    ``cells`` is ``NEITHER`` where neither a ball nor dice draw: ``result`` is then the index of an outcome.

    ``voided`` are the throws and spins called void whose result is known: ``luck`` and ``players`` are what they would
    have changed. ``void_calls`` are all that were called void. ``closer`` is who closed the table first.
    ``payouts`` feed the processes of the croupiers, with those of the whole night. ``marks`` are the findings of the
    session that name a croupier.
    """

    session: str = ""
    table: str = ""
    wheel: str = ""
    cells: int = 0
    drawn: list[Observation] = []
    voided: list[Observation] = []
    payouts: list[Payout] = []
    marks: list[Mark] = []
    void_calls: list[VoidCall] = []
    closer: str = ""


def encode(observations: Observations) -> bytes:
    """Return what a session gives the ledger as canonical JSON."""
    return msgspec.json.encode(observations, order="sorted")


def decode(encoded: bytes) -> Observations:
    """Return what ``encode`` encoded."""
    return msgspec.json.decode(encoded, type=Observations)


class Recorder:
    """Folds the draws of one stream, and notes them. ``luck`` and ``variance`` are sums over the ``draws``.

    ``look`` is what was seen before the last draw.
    """

    __slots__ = ("_dice_set", "_placed_at", "draws", "look", "luck", "observations", "variance")

    def __init__(self) -> None:
        self.observations = Observations()
        self.luck = Fraction(0)
        self.variance = Fraction(0)
        self.draws = 0
        self.look: Look | None = None
        self._dice_set = ""
        self._placed_at: dict[str, datetime] = {}

    def interceptors(self, state: State) -> Interceptors:
        """Return what ``state.feed_all`` needs so that everything is noted."""

        def noting(note: Callable[[Any], None]) -> Callable[[Event], None]:
            def intercept(event: Event) -> None:
                if not state.corrections.removed_by(event):
                    note(state.corrected(event))
                state.feed(event)

            return intercept

        def draw(event: Event) -> None:
            self.feed(state, event)

        return {
            **{kind: noting(note) for kind, note in self.noters.items()},
            **{kind: lambda event: self.void(state, event) for kind in VOIDS},
            **{kind: draw for kind in TYPES.values() if kind.is_result},
        }

    @property
    def noters(self) -> dict[type[Envelope], Callable[[Any], None]]:
        """What notes an event, as corrected, before it is fed, by the event's type."""
        return {
            SessionOpened: self.note_opener,
            DiceSetIntroduced: self.note_set,
            WagerPlaced: self.note_wager,
            SessionClosed: self.note_closer,
        }

    def feed(self, state: State, event: Event) -> Draw | None:
        """Feed ``event`` to ``state`` and return the draw that it was, None if it was none or decides nothing.

        Raise what ``State.feed`` raises.
        """
        table = state.table
        if table.session is None or not event.is_result:
            state.feed(event)
            return None
        voider = state.corrections.removed_by(event)
        if voider:
            if state.corrections.voids(voider):
                self._note_call(table, event.seq)
                if isinstance(event, DiceThrown) and table.session.game == "craps":
                    self._note_void(table, event.seq, event.data.faces)
                else:
                    self._note_void_spin(table, event)
            state.feed(event)
            return None
        before = self._look(table)
        state.feed(event)
        if table.coup_began != event.seq:
            return None  # of another game, or one that cannot be: it decides nothing
        self.look = before
        return self._note_draw(table, state.corrected(event), before)

    # What is seen before a draw

    def _look(self, table: Table) -> Look:
        session = table.open_session()
        chances = chances_of(session.ruleset)
        ways = chances.ways(session.ruleset)
        by_player: dict[str, list[Changes]] = {}
        late: dict[str, list[Changes]] = {}
        for wager_id in table.live:
            wager = table.wagers[wager_id]
            changes = chances.changes(table, session, wager)
            if changes is not None:
                player = wager.player or ""
                by_player.setdefault(player, []).append(changes)
                if self._is_late(table, wager):
                    late.setdefault(player, []).append(changes)

        def outlook(changes: Changes) -> Outlook:
            return Outlook(changes.by_outcome, ways, changes.scale)

        sums = {player: added(each, len(ways)) for player, each in by_player.items()}
        everything = outlook(added(sums.values(), len(ways)))
        sums.pop("", None)
        late_sums = {player: added(each, len(ways)) for player, each in late.items()}
        all_late = outlook(added(late_sums.values(), len(ways))) if late else None
        late_sums.pop("", None)
        dice = table.dice
        return Look(
            everything,
            {player: outlook(changes) for player, changes in sums.items()},
            {player: outlook(changes) for player, changes in late_sums.items()},
            all_late,
            table.on_duty or "",
            dice.player or dice.shooter or "",
        )

    def _is_late(self, table: Table, wager: Wager) -> bool:
        if table.called_at is None:
            return False
        placed_at = self._placed_at.get(wager.id)
        return placed_at is not None and placed_at >= table.called_at - NEAR_CALL

    # What is kept of it

    def _note_draw(self, table: Table, event: Event, look: Look) -> Draw:
        session = table.open_session()
        index = chances_of(session.ruleset).outcome_of(session.ruleset, table.result)
        shooter = ""
        dice: tuple[str, ...] = ()
        if isinstance(event, DiceThrown):
            result = _throw(event.data.faces)
            shooter = event.data.player if isinstance(event.data.player, str) else look.shooter
            dice = tuple(event.data.dice) if isinstance(event.data.dice, list) else ()
        elif (layout := RULESETS[session.ruleset].layout) is not None:
            result = layout.wheel.index(table.result)
            self.observations.cells = len(layout.wheel)
        else:
            result = index
            self.observations.cells = NEITHER
        self.observations.drawn.append(
            Observation(
                event.seq,
                result,
                _change(look.table, index),
                look.croupier,
                shooter,
                self._dice_set,
                dice if len(set(dice)) == 2 else (),
                _changes(look.players, index),
                _changes(look.late, index),
                _change(look.all_late, index) if look.all_late is not None else None,
            )
        )
        draw = Draw(event.seq, Fraction(look.table.changes[index], look.table.scale), look.table.variance)
        self.luck += draw.luck
        self.variance += draw.variance
        self.draws += 1
        return draw

    def void(self, state: State, event: Event) -> None:
        """Note a coup that was called void before its result counted, and feed the call to ``state``."""
        table, is_kept = state.table, not state.corrections.removed_by(event)
        data: Any = event.data
        if table.session is not None and is_kept and not isinstance(data.voids, int):
            self._note_call(table, event.seq)
            if isinstance(event, ThrowVoided) and table.session.game == "craps" and isinstance(data.faces, tuple):
                self._note_void(table, event.seq, data.faces)
        state.feed(event)

    def _note_call(self, table: Table, seq: int) -> None:
        self.observations.void_calls.append(VoidCall(seq, table.on_duty or ""))

    def _note_void(self, table: Table, seq: int, faces: Collection[int]) -> None:
        if all(1 <= face <= 6 for face in faces):
            result = _throw(faces)
            self._note_voided(table, seq, result, THROW_INDEX[f"{result // 6 + 1}-{result % 6 + 1}"])

    def _note_void_spin(self, table: Table, event: Event) -> None:
        layout = RULESETS[table.open_session().ruleset].layout
        pocket = str(getattr(event.data, event.shows or "", ""))
        if layout is not None and pocket in layout.wheel:
            self.observations.cells = len(layout.wheel)
            index = layout.wheel.index(pocket)
            self._note_voided(table, event.seq, index, index)

    def _note_voided(self, table: Table, seq: int, result: int, index: int) -> None:
        look = self._look(table)
        luck, players = _change(look.table, index), _changes(look.players, index)
        self.observations.voided.append(Observation(seq, result, luck, look.croupier, players=players))

    def note_opener(self, event: SessionOpened) -> None:
        data = event.data
        self.observations.session = event.stream
        self.observations.table = data.table
        self.observations.wheel = data.wheel if isinstance(data.wheel, str) else data.table
        self._dice_set = data.dice_set if isinstance(data.dice_set, str) else ""

    def note_set(self, event: DiceSetIntroduced) -> None:
        self._dice_set = event.data.set if isinstance(event.data.set, str) else ""

    def note_closer(self, event: SessionClosed) -> None:
        self.observations.closer = self.observations.closer or event.actor or ""

    def note_wager(self, event: WagerPlaced) -> None:
        self._placed_at[event.data.wager] = event.occurred_at


class Look(Struct, frozen=True):
    """The next draw in advance: of the table, of each player, of his late wagers, of all such; and who is there."""

    table: Outlook
    players: dict[str, Outlook]
    late: dict[str, Outlook]
    all_late: Outlook | None
    croupier: str
    shooter: str


def _throw(faces: Collection[int]) -> int:
    first, second = faces
    return 6 * (first - 1) + second - 1


def _change(ahead: Outlook, index: int) -> Change | None:
    changes = ahead.changes
    lowest, highest = min(changes), max(changes)
    return Change(changes[index], lowest, highest) if lowest < highest else None


def _changes(by_player: dict[str, Outlook], index: int) -> dict[str, Change]:
    changes = {player: _change(ahead, index) for player, ahead in by_player.items()}
    return {player: change for player, change in changes.items() if change is not None}
