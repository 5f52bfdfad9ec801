"""The figures of one session: a projection of its stream, which is read once.

    pages of events ─► ``State.feed_all``, intercepted ─► bank, slips, payers, draws ─► wagers retired ─► ``Figures``

Pure, and the same for the same events, so stored figures can be recomputed from the log. Memory holds the wagers that
something is pending on, the retired ones, and what was noted (``notes``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any, Self

import msgspec
from msgspec import Struct

from settlement.adjudication import unchecked
from settlement.comparison import pending
from settlement.corrections import Change
from settlement.engine import State
from settlement.eprocess.observations import Look, Recorder
from settlement.events import (
    TYPES,
    VOIDS,
    BankCredited,
    BankFilled,
    BuyInRecorded,
    DisputeSettled,
    Envelope,
    Event,
    EventsLost,
    GoodwillPaid,
    OrphanRecorded,
    PayoutMade,
    PayoutRecovered,
    SessionClosed,
    SessionOpened,
    TipGiven,
)
from settlement.families import observed
from settlement.interceptors import Fold
from settlement.night.bridge import Bank, Bridge, LineSum, WagerLine, Win, concession_line, wager_line
from settlement.night.chances import chances_of
from settlement.night.duty import Duty, PaidBy
from settlement.night.notes import BUY_INS_LISTED, Closer, Concession, Memory, Notes, Opener, Slip
from settlement.night.wins import WINS_NOTED, when
from settlement.ruleset import RULESETS
from settlement.staff import payer
from settlement.state import Wager
from settlement.verdicts import as_it_stands

NOBODY = ""
"""In place of a croupier: it is not known who paid."""


class PayoutError(Struct, frozen=True):
    """One wager that was paid, returned or charged otherwise than the rules say.

    ``amount`` is W_rec − W_adj in minor units, positive if the house has too much; a bet that is not adjudicated has no
    error. ``seq`` is the last payout, or the deciding event if there was none; ``croupier`` is who made that payout, a
    member of the staff or who was on duty, ``NOBODY`` if that is not known.
    """

    wager: str
    bet: str
    status: str
    seq: int
    amount: int
    croupier: str


class UndecidedStake(Struct, frozen=True):
    """One stake still in play, ``amount`` in minor units: its status, and if it is in prison its zeros and refund."""

    wager: str
    bet: str
    status: str
    seq: int
    amount: int
    zeros: int
    refund: int
    present_value: Fraction


class BetSum(Struct):
    """All wagers on one bet: their number, S, TW, W_adj and W_rec. A bet outside the text has none but W_rec."""

    wagers: int = 0
    stakes: int = 0
    theoretical: Fraction = Fraction(0)
    adjudicated: int = 0
    recorded: int = 0


class Figures(Struct, kw_only=True):
    """What a report says of one session, through its event ``last_seq``. Amounts in minor units.

    ``bridge`` is without the drop, which only the count room knows. ``luck`` and ``variance`` are those of the draws;
    ``draws`` lists each draw in order: its seq, then faces and dice, or the pocket. ``lost`` are declared losses, both
    ends included. ``buy_ins`` are the seqs of the first ``BUY_INS_LISTED``. ``is_adjudicated`` is False for a session
    without a known ruleset: it has a bank, and no wagers. ``duty`` is None in figures that were kept before it was
    noted, and without luck.
    """

    stream: str
    casino: str = ""
    table: str = ""
    game: str = ""
    ruleset: str = ""
    gaming_day: str = ""
    opened_at: str = ""
    closed_at: str | None = None
    closed_by: int = 0
    events: int = 0
    last_seq: int = 0
    is_adjudicated: bool = False
    bridge: Bridge
    luck: Fraction = Fraction(0)
    variance: Fraction = Fraction(0)
    lost: list[tuple[int, int]] = []
    slips: list[Slip] = []
    buy_ins: list[int] = []
    errors: list[PayoutError] = []
    concessions: list[Concession] = []
    standing: list[UndecidedStake] = []
    croupiers: dict[str, PaidBy] = {}
    duty: dict[str, Duty] | None = None
    bets: dict[str, BetSum] = {}
    observes: list[str] = []
    unchecked: list[str] = []
    draws: list[list[int | str]] = []

    @property
    def is_money_seen(self) -> bool:
        """Whether the recorded win is that of the whole play: nothing that moved money is unseen or not adjudicated."""
        is_seen = {"wagers", "results"} <= set(self.observes)
        return self.is_adjudicated and is_seen and not any(each.startswith("bet:") for each in self.unchecked)


def encode(figures: Figures) -> bytes:
    """Return figures as canonical JSON; a fraction is the text ``n/d``."""
    encoded: bytes = msgspec.json.encode(figures, enc_hook=str, order="sorted")
    return encoded


def decode(encoded: bytes) -> Figures:
    """Return the figures that ``encode`` encoded."""
    return msgspec.json.decode(encoded, type=Figures, dec_hook=_fraction)


def _fraction(kind: type, text: object) -> object:
    return kind(text)


class Sums:
    """What the lines of a session add up to: ``lines`` by bet and player, and those that are listed one by one."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], LineSum] = {}
        self.wins: list[tuple[int, int]] = []
        self.errors: list[tuple[WagerLine, Wager | None]] = []
        self.standing: list[UndecidedStake] = []

    def add(self, line: WagerLine, wager: Wager | None, player: str = NOBODY) -> int:
        """Add one line, and return its payout error; ``wager`` is None for money apart from wagers."""
        key = line.bet, player
        of_both = self.lines.get(key)
        if of_both is None:
            of_both = self.lines[key] = LineSum()
        won = line.recorded.total
        of_both.add(line, won)
        if len(self.wins) <= WINS_NOTED:
            self.wins.append((when(wager), won))
        error = line.payout_error
        if error:
            self.errors.append((line, wager))
        in_play = line.undecided + line.imprisoned
        if in_play:
            assert wager is not None, "only a stake is in play"
            at, zeros, value = wager.placed_by, line.zeros, line.present_value
            self.standing.append(
                UndecidedStake(line.wager, line.bet, line.status, at, in_play, zeros, line.refund, value)
            )
        return error


class SessionProjection:
    """Computes the figures of one session, fed page by page in order of ``seq``.

    ``corrections`` are all the changes of the stream on earlier events, ``held`` those of them without effect, and
    ``readings`` those of the house register, as ``State`` takes them. Without ``follows_luck`` the figures have no
    luck, no variance, no draws and no duty, which take most of the time, and no finding is put down to a correction.
    """

    def __init__(
        self,
        corrections: Iterable[Change] = (),
        *,
        readings: Mapping[str, Any] | None = None,
        held: Collection[int] = (),
        follows_luck: bool = True,
    ) -> None:
        state = State(corrections, readings, held=held, compares=follows_luck)
        self._follow(state, self.new_notes(), Memory(), follows_luck=follows_luck)

    def _follow(self, state: State, notes: Notes, memory: Memory, *, follows_luck: bool) -> None:
        """Be the projection of ``state``, that has noted ``notes`` of its events and remembers ``memory``."""
        self.state = state
        self.notes = notes
        self._sums: Sums | None = None
        self._table = memory.table
        self._recorder = Recorder(notes)
        self._recorder.dice_set, self._recorder.placed_at = memory.dice_set, memory.placed_at
        self._duty = memory.duty
        self._retired: dict[str, Wager] = {}
        self._follows_luck = follows_luck

    @classmethod
    def along(cls, state: State, memory: Memory | None = None) -> Self:
        """Return the projection of events that its owner folds into ``state``, with its ``interceptors``.

        ``memory`` is what it has left of the events before; None: there were none. The owner has it note what was
        found before he forgets it (``note_findings``). Then its ``notes`` are of these events, and its ``memory`` is
        for the next.
        """
        projection = cls.__new__(cls)
        projection._follow(state, cls.new_notes(), memory or Memory(), follows_luck=True)
        return projection

    @classmethod
    def of(cls, state: State, notes: Iterable[Notes], memory: Memory, retired: Iterable[Wager]) -> Self:
        """Return the projection of a session that was folded in steps, as one that has read all of it.

        ``state`` and ``memory`` are those after the last step, ``notes`` those of each. ``retired`` are the wagers that
        the state has not, in any order; of one that retired twice, the later counts.
        """
        whole = cls.new_notes()
        for each in notes:
            whole.add(each)
        projection = cls.__new__(cls)
        projection._follow(state, whole, memory, follows_luck=True)
        projection._retired = {wager.id: wager for wager in retired}
        return projection

    @staticmethod
    def new_notes() -> Notes:
        return Notes()

    @property
    def interceptors(self) -> dict[type[Envelope], Callable[[Any, Fold], object]]:
        """What ``state.feed_all`` needs so that everything is noted.

        Made anew each time: one that is kept holds what it notes for in a circle, until the garbage collector comes.
        """
        noters = self._noters(follows_luck=self._follows_luck)
        kinds = {kind for each in noters for kind in each}
        interceptors: dict[type[Envelope], Callable[[Any, Fold], object]]
        interceptors = {kind: self._noting(*[each[kind] for each in noters if kind in each]) for kind in kinds}
        if self._follows_luck:
            interceptors |= dict.fromkeys(VOIDS, partial(self._recorder.void, self.state))
            interceptors |= dict.fromkeys((kind for kind in TYPES.values() if kind.is_result), self._draw)
        return interceptors

    @property
    def memory(self) -> Memory:
        """What is remembered for the next event."""
        placed_at = self._recorder.placed_at
        open_ids = sorted(pending(self.state.table) & placed_at.keys())
        open_wagers = {wager_id: placed_at[wager_id] for wager_id in open_ids}
        return Memory(self._duty, self._table, self._recorder.dice_set, open_wagers)

    def feed(self, page: Sequence[Event]) -> None:
        """Read the next events of the stream."""
        state, self._sums = self.state, None
        state.recall(self._retired[wager_id] for wager_id in state.unheld(page) & self._retired.keys())
        state.feed_all(page, self.interceptors)
        self.note_findings()
        state.forget_findings()
        self._retired.update((wager.id, wager) for wager in state.retire())

    def hold(self) -> None:
        """Hold what the state has now, of a stream that its owner has folded whole."""
        self._sums = None
        self.note_findings()
        self._retired = dict(self.state.table.wagers)

    def note_findings(self) -> None:
        """Note what has been found since the findings were forgotten: the figures are of none."""

    def lines(self) -> Iterator[tuple[WagerLine, Wager | None]]:
        """Yield the bridge of each wager, in order of placement; then other money that the house gave, with None.

        That is payouts on wagers that were never placed, goodwill, and disputes without a wager.
        """
        session = self.state.table.session
        if session is None:
            return
        debts = as_it_stands(self.state.table).debts
        of_strangers = dict(self.notes.of_strangers)
        for wager in self._wagers():
            of_strangers.pop(wager.id, None)  # placed since: it is in his account
            yield wager_line(session, wager, debts.get(wager.id)), wager
        for wager_id, amount in sorted(of_strangers.items()):
            if amount:
                yield concession_line(wager_id, "unknown", amount), None
        for given in self.notes.concessions:
            if given.kind in ("goodwill", "dispute") and given.amount:
                yield concession_line(f"#{given.seq}", given.kind, given.amount), None

    def figures(self) -> Figures:
        """Return the figures through the last event fed."""
        table, session, notes = self.state.table, self.state.table.session, self.notes
        opener, closer, sums = notes.opener, notes.closer, self.sums()
        bank = Bank(
            currency=opener.currency if opener else "XXX",
            opening_float=opener.float if opener else 0,
            fills=notes.fills,
            credits=notes.credits,
            closing_float=closer.float if closer else None,
            buy_ins=notes.buy_ins,
        )
        figures = Figures(
            stream=table.stream,
            closed_at=closer.at if closer else None,
            closed_by=closer.seq if closer else 0,
            events=table.events,
            last_seq=self.state.last_seq,
            is_adjudicated=session is not None,
            bridge=Bridge.of(bank, sums.lines.values()),
            luck=notes.luck.value(),
            variance=notes.variance.value(),
            lost=notes.lost,
            concessions=notes.concessions,
            slips=notes.slips,
            buy_ins=notes.buy_in_seqs,
            croupiers={croupier: PaidBy(payouts) for croupier, payouts in sorted(notes.payouts().items())},
            duty=self._duty.duties(),
            draws=notes.draws,
            standing=sums.standing,
            unchecked=[] if session is None else unchecked(table, RULESETS[session.ruleset], session),
        )
        if opener is not None:
            _copy_opener(figures, opener)
        for (bet, _player), each in sums.lines.items():
            of_bet = figures.bets.setdefault(bet, BetSum())
            of_bet.wagers += each.lines
            of_bet.stakes += each.stakes
            of_bet.theoretical += each.theoretical.value()
            of_bet.adjudicated += Win(*each.adjudicated).total
            of_bet.recorded += Win(*each.recorded).total
        figures.errors = [self._error(line, wager, figures) for line, wager in sums.errors]
        return figures

    def sums(self) -> Sums:
        """Return what the lines add up to, through the last event fed."""
        if self._sums is None:
            self._sums = self._new_sums()
            for line, wager in self.lines():
                self._sums.add(line, wager)
        return self._sums

    def _new_sums(self) -> Sums:
        return Sums()

    @property
    def wins(self) -> list[tuple[int, int]]:
        """What ``wins.recorded_win`` gives of each line: one more than ``WINS_NOTED`` if there are more."""
        return self.sums().wins

    def _error(self, line: WagerLine, wager: Wager | None, figures: Figures) -> PayoutError:
        croupier, seq = self.notes.paid.get(line.wager, (NOBODY, 0))
        paid = figures.croupiers.get(croupier) if seq else None
        if paid is not None:
            paid.for_house += line.payout_error > 0
            paid.for_player += line.payout_error < 0
            paid.last_error = max(paid.last_error, seq)
        if not seq and wager is not None:
            seq = wager.decided_by or wager.placed_by
        elif not seq:
            seq = next((given.seq for given in self.notes.concessions if line.wager == f"#{given.seq}"), 0)
        return PayoutError(line.wager, line.bet, line.status, seq, line.payout_error, croupier)

    def _wagers(self) -> Iterator[Wager]:
        """Yield every wager once, in order of placement."""
        wagers = {**self._retired, **self.state.table.wagers}  # one that was recalled is in both
        return iter(sorted(wagers.values(), key=attrgetter("placed_by", "id")))

    # Interceptors: each sees the state before its event

    def _noters(self, *, follows_luck: bool) -> list[Mapping[type[Envelope], Callable[[Any], None]]]:
        """Return what notes an event, as corrected, before it is fed, by the event's type; the first notes it first."""
        own: dict[type[Envelope], Callable[[Any], None]] = {
            SessionOpened: self._note_opener,
            SessionClosed: self._note_closer,
            BankFilled: self._note_fill,
            BankCredited: self._note_credit,
            BuyInRecorded: self._note_buy_in,
            PayoutMade: self._note_payout,
            PayoutRecovered: self._note_recovery,
            EventsLost: self._note_loss,
            GoodwillPaid: self._note_goodwill,
            DisputeSettled: self._note_settlement,
            TipGiven: self._note_tip,
            OrphanRecorded: self._note_orphan,
        }
        return [self._recorder.noters, self._duty.noters, own] if follows_luck else [own]

    def _noting(self, *notes: Callable[[Any], None]) -> Callable[[Event, Fold], None]:
        """Return the interceptor that notes an event, as corrected, and then folds it."""

        def intercept(event: Event, fold: Fold) -> None:
            kept = self.state.corrections.kept(event)
            if kept is not None:
                for note in notes:
                    note(kept)
            fold(event)

        return intercept

    def _draw(self, event: Event, fold: Fold) -> Look | None:
        """Note a result, and fold it; return what was seen before, None if it decides nothing."""
        look = self._recorder.draw(self.state, event, fold)
        if look is not None:
            self._duty.draw(event)
            chances = chances_of(self.state.table.open_session().ruleset)
            self.notes.draws.append([event.seq, *chances.drawn(self.state.corrected(event))])
        return look

    def _note_opener(self, event: SessionOpened) -> None:
        if event.seq == 1:
            self.notes.opener = Opener.of(event)
            self._table = event.data.table

    def _note_closer(self, event: SessionClosed) -> None:
        self.notes.closer = Closer.of(event)  # the last one counts: what comes after a close may close again

    def _note_fill(self, event: BankFilled) -> None:
        self.notes.fills += event.data.amount
        self.notes.slips.append(Slip(event.seq, "fill", event.data.slip, event.data.amount))

    def _note_credit(self, event: BankCredited) -> None:
        self.notes.credits += event.data.amount
        self.notes.slips.append(Slip(event.seq, "credit", event.data.slip, event.data.amount))

    def _note_buy_in(self, event: BuyInRecorded) -> None:
        self.notes.buy_ins += event.data.amount
        if len(self.notes.buy_in_seqs) < BUY_INS_LISTED:
            self.notes.buy_in_seqs.append(event.seq)

    def _note_payout(self, event: PayoutMade) -> None:
        self.notes.note_payout(event.data.wager, payer(self.state.table, event.actor or None), event.seq)
        self._note_stranger(event.data.wager, event.data.winnings + event.data.stake_returned)

    def _note_recovery(self, event: PayoutRecovered) -> None:
        self._note_stranger(event.data.wager, -event.data.winnings - event.data.stake)

    def _note_stranger(self, wager_id: str, amount: int) -> None:
        """Note money for a wager that was never placed, unless the table does not report what is placed."""
        table = self.state.table
        if (
            table.session is not None
            and wager_id not in table.wagers
            and table.sees("wagers")
            and table.sees("results")
        ):
            of_strangers = self.notes.of_strangers
            of_strangers[wager_id] = of_strangers.get(wager_id, 0) + amount

    def _note_goodwill(self, event: GoodwillPaid) -> None:
        self.notes.concessions.append(Concession(event.seq, "goodwill", event.data.amount))

    def _note_settlement(self, event: DisputeSettled) -> None:
        """Note a settlement that has effect, unless it is of a wager: that wager has it."""
        data = event.data
        wager_id = self.state.table.disputes.get(data.opened, "")
        if not data.approved_by or wager_id == "" or wager_id in self.state.table.wagers:
            return
        self.notes.concessions.append(
            Concession(event.seq, "dispute", data.amount if data.by == "house" else -data.amount)
        )

    def _note_tip(self, event: TipGiven) -> None:
        self.notes.concessions.append(Concession(event.seq, "tip", event.data.amount))

    def _note_orphan(self, event: OrphanRecorded) -> None:
        self.notes.concessions.append(Concession(event.seq, "orphan", event.data.amount))

    def _note_loss(self, event: EventsLost) -> None:
        self.notes.lost.append((event.seq, event.data.through))


def _copy_opener(figures: Figures, opener: Opener) -> None:
    figures.casino, figures.table = opener.casino, opener.table
    figures.game, figures.ruleset = opener.game, opener.ruleset
    figures.gaming_day = opener.gaming_day
    figures.observes = sorted(observed(opener.observes))
    figures.opened_at = opener.opened_at
