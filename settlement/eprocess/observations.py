"""What a session gives the ledger: its draws, noted while its stream is folded for other reasons.

    state.feed_all(page, recorder.interceptors(state))        as often as there are pages
    recorder.observations                                     when the session closes

``Recorder`` is the value process of the night (``night.value``) too, so that one fold serves the night and the ledger:
its ``luck`` and ``variance`` are sums over the draws. Of each draw it keeps how far the expectation of the table and of
every known player changed, and the least and the most it could have changed: with these three numbers a bet at fair
odds is settled later, without the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, field

from settlement.engine import State
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
from settlement.interceptors import Fold, Interceptors
from settlement.night.chances import Outlook, Readings, chances_of, together
from settlement.night.craps import THROW_INDEX
from settlement.ruleset import RULESETS
from settlement.state import Table
from settlement.sums import Sum

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
    session that name a croupier. ``corrected`` are the events of the draws whose result was corrected to another.
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
    corrected: list[int] = []


def encode(observations: Observations) -> bytes:
    """Return what a session gives the ledger as canonical JSON."""
    return msgspec.json.encode(observations, order="sorted")


def decode(encoded: bytes) -> Observations:
    """Return what ``encode`` encoded."""
    return msgspec.json.decode(encoded, type=Observations)


class Draws(Struct, omit_defaults=True):
    """What is noted of the draws of a session, in some events of it or in all.

    What is noted of later events is added to what was of those before. ``opened`` has the session, its table and its
    wheel, None where no event opened it; ``closed_by`` is who closed it first; ``luck`` and ``variance`` are sums over
    the draws. The other fields are those of ``Observations``.
    """

    opened: tuple[str, str, str] | None = None
    cells: int = 0
    drawn: list[Observation] = []
    voided: list[Observation] = []
    void_calls: list[VoidCall] = []
    closed_by: str = ""
    corrected: list[int] = []
    luck: Sum = field(default_factory=Sum)
    variance: Sum = field(default_factory=Sum)

    def add_draws(self, later: Draws) -> None:
        """Add what was noted of the events after these."""
        self.opened = later.opened or self.opened
        self.cells = later.cells or self.cells
        self.drawn += later.drawn
        self.voided += later.voided
        self.void_calls += later.void_calls
        self.closed_by = self.closed_by or later.closed_by
        self.corrected += later.corrected
        self.luck.add_all(later.luck)
        self.variance.add_all(later.variance)

    @property
    def observations(self) -> Observations:
        """What the ledger is fed of the draws: payouts and marks apart."""
        session, table, wheel = self.opened or ("", "", "")
        return Observations(
            session,
            table,
            wheel,
            self.cells,
            drawn=self.drawn,
            voided=self.voided,
            void_calls=self.void_calls,
            closer=self.closed_by,
            corrected=self.corrected,
        )


class Recorder:
    """Folds the draws of one stream, and notes them in ``draws``.

    ``dice_set`` and ``placed_at``, of each wager, are what it has to remember for the next draw.
    """

    __slots__ = ("dice_set", "draws", "placed_at")

    def __init__(self, draws: Draws | None = None) -> None:
        self.draws = Draws() if draws is None else draws
        self.dice_set = ""
        self.placed_at: dict[str, datetime] = {}

    @property
    def observations(self) -> Observations:
        """What the ledger is fed of the draws so far."""
        return self.draws.observations

    @property
    def luck(self) -> Fraction:
        """What the draws have given the house so far, in minor units."""
        return self.draws.luck.value()

    @property
    def variance(self) -> Fraction:
        """The sum of the variances that these draws could have, given the stakes, in squared minor units."""
        return self.draws.variance.value()

    def interceptors(self, state: State) -> Interceptors:
        """Return what ``state.feed_all`` needs so that everything is noted."""

        def noting(note: Callable[[Any], None]) -> Callable[[Event, Fold], None]:
            def intercept(event: Event, fold: Fold) -> None:
                kept = state.corrections.kept(event)
                if kept is not None:
                    note(kept)
                fold(event)

            return intercept

        return {
            **{kind: noting(note) for kind, note in self.noters.items()},
            **dict.fromkeys(VOIDS, partial(self.void, state)),
            **dict.fromkeys((kind for kind in TYPES.values() if kind.is_result), partial(self.draw, state)),
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

    def draw(self, state: State, event: Event, fold: Fold) -> Look | None:
        """Note a result, and ``fold`` it into ``state``; return what was seen before, None if it decides nothing."""
        table = state.table
        if table.session is None:
            fold(event)
            return None
        voider = state.corrections.removed_by(event)
        if voider:
            if state.corrections.voids(voider):
                self._note_call(table, event.seq)
                if isinstance(event, DiceThrown) and table.session.game == "craps":
                    self._note_void(table, event.seq, event.data.faces)
                else:
                    self._note_void_spin(table, event)
            fold(event)
            return None
        before = self.look(table)
        fold(event)
        if table.coup_began != event.seq:
            return None  # of another game, or one that cannot be: it decides nothing
        corrected = state.corrected(event)
        if _shown(corrected) != _shown(event):
            self.draws.corrected.append(event.seq)
        self._note_draw(table, corrected, before)
        return before

    # What is seen before a draw

    def look(self, table: Table) -> Look:
        """Return what the next draw can do to the stakes on ``table``: those that it can touch."""
        session = table.open_session()
        chances, readings = chances_of(session.ruleset), Readings.of(session)
        ways = chances.ways(session.ruleset)
        late_from = None if table.called_at is None else table.called_at - NEAR_CALL
        players: dict[str, list[Outlook]] = {}
        late: dict[str, list[Outlook]] = {}
        for wager_id in table.live:
            wager = table.wagers[wager_id]
            ahead = chances.outlook(table, readings, wager)
            if ahead is None:
                continue
            players.setdefault(wager.player or "", []).append(ahead)
            placed_at = self.placed_at.get(wager_id)
            if late_from is not None and placed_at is not None and placed_at >= late_from:
                late.setdefault(wager.player or "", []).append(ahead)
        everything, of_players = _by_player(players, ways)
        all_late, of_late = _by_player(late, ways) if late else (None, {})
        dice = table.dice
        return Look(
            everything,
            of_players,
            of_late,
            all_late,
            table.on_duty or "",
            dice.player or dice.shooter or "",
        )

    # What is kept of it

    def _note_draw(self, table: Table, event: Event, look: Look) -> None:
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
            self.draws.cells = len(layout.wheel)
        else:
            result = index
            self.draws.cells = NEITHER
        self.draws.drawn.append(
            Observation(
                event.seq,
                result,
                _change(look.table, index),
                look.croupier,
                shooter,
                self.dice_set,
                dice if len(set(dice)) == 2 else (),
                _changes(look.players, index),
                _changes(look.late, index),
                _change(look.all_late, index) if look.all_late is not None else None,
            )
        )
        self.draws.luck.add(look.table.changes[index], look.table.scale)
        self.draws.variance.add(look.table.squares, look.table.per)

    def void(self, state: State, event: Event, fold: Fold) -> None:
        """Note a coup that was called void before its result counted, and ``fold`` the call into ``state``."""
        table, is_kept = state.table, not state.corrections.removed_by(event)
        data: Any = event.data
        if table.session is not None and is_kept and not isinstance(data.voids, int):
            self._note_call(table, event.seq)
            if isinstance(event, ThrowVoided) and table.session.game == "craps" and isinstance(data.faces, tuple):
                self._note_void(table, event.seq, data.faces)
        fold(event)

    def _note_call(self, table: Table, seq: int) -> None:
        self.draws.void_calls.append(VoidCall(seq, table.on_duty or ""))

    def _note_void(self, table: Table, seq: int, faces: Collection[int]) -> None:
        if all(1 <= face <= 6 for face in faces):
            result = _throw(faces)
            self._note_voided(table, seq, result, THROW_INDEX[f"{result // 6 + 1}-{result % 6 + 1}"])

    def _note_void_spin(self, table: Table, event: Event) -> None:
        layout = RULESETS[table.open_session().ruleset].layout
        pocket = str(getattr(event.data, event.shows or "", ""))
        if layout is not None and pocket in layout.wheel:
            self.draws.cells = len(layout.wheel)
            index = layout.wheel.index(pocket)
            self._note_voided(table, event.seq, index, index)

    def _note_voided(self, table: Table, seq: int, result: int, index: int) -> None:
        look = self.look(table)
        luck, players = _change(look.table, index), _changes(look.players, index)
        self.draws.voided.append(Observation(seq, result, luck, look.croupier, players=players))

    def note_opener(self, event: SessionOpened) -> None:
        data = event.data
        wheel = data.wheel if isinstance(data.wheel, str) else data.table
        self.draws.opened = (event.stream, data.table, wheel)
        self.dice_set = data.dice_set if isinstance(data.dice_set, str) else ""

    def note_set(self, event: DiceSetIntroduced) -> None:
        self.dice_set = event.data.set if isinstance(event.data.set, str) else ""

    def note_closer(self, event: SessionClosed) -> None:
        self.draws.closed_by = self.draws.closed_by or event.actor or ""

    def note_wager(self, event: WagerPlaced) -> None:
        self.placed_at[event.data.wager] = event.occurred_at


class Look(Struct, frozen=True):
    """The next draw in advance: of the table, of each player, of his late wagers, of all such; and who is there."""

    table: Outlook
    players: dict[str, Outlook]
    late: dict[str, Outlook]
    all_late: Outlook | None
    croupier: str
    shooter: str


def _shown(event: Event) -> Any:
    """Return the result that an event brings; of a type that does not say which of its data that is, all of it."""
    return getattr(event.data, event.shows) if event.shows else event.data


def _throw(faces: Collection[int]) -> int:
    first, second = faces
    return 6 * (first - 1) + second - 1


def _by_player(stakes: Mapping[str, list[Outlook]], ways: Sequence[int]) -> tuple[Outlook, dict[str, Outlook]]:
    """Return the outlook of all ``stakes``, which are by player, and that of each player who is known."""
    players = {player: together(each, ways) for player, each in stakes.items()}
    everything = together(list(players.values()), ways)
    players.pop("", None)
    return everything, players


def _change(ahead: Outlook, index: int) -> Change | None:
    lowest, highest = ahead.lowest, ahead.highest
    return Change(ahead.changes[index], lowest, highest) if lowest < highest else None


def _changes(by_player: dict[str, Outlook], index: int) -> dict[str, Change]:
    changes = {player: _change(ahead, index) for player, ahead in by_player.items()}
    return {player: change for player, change in changes.items() if change is not None}
