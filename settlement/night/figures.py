"""The figures of one session: a projection of its stream, which is read once.

    pages of events ─► ``State.feed_all``, intercepted ─► bank, slips, payers, draws ─► wagers retired ─► ``Figures``

Pure, and the same for the same events, so stored figures can be recomputed from the log. Memory holds the wagers that
something is pending on, and the retired ones as bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Struct

from settlement.engine import Interceptors, State, load_wagers, save_wagers
from settlement.events import (
    BallSettled,
    BankCredited,
    BankFilled,
    BuyInRecorded,
    DiceThrown,
    EntryCorrected,
    Envelope,
    Event,
    EventsLost,
    PayoutMade,
    SessionClosed,
    SessionOpened,
)
from settlement.finding import Finding
from settlement.night.bridge import Bank, Bridge, WagerLine, is_sweep, unplaced_wager_line, wager_line
from settlement.night.value import ValueProcess
from settlement.rulesets import RULESETS
from settlement.state import Session, Wager

BUY_INS_LISTED = 500
"""Buy-ins whose events are listed; all are summed."""

NOBODY = ""
"""In place of a croupier: it is not known who paid."""


class Slip(Struct, frozen=True):
    """One fill or credit: its event, its ``kind`` ("fill" or "credit"), its slip, its amount in minor units."""

    seq: int
    kind: str
    slip: str
    amount: int


class PayoutError(Struct, frozen=True):
    """One wager that was paid, returned or charged otherwise than the rules say.

    ``amount`` is W_rec − W_adj in minor units: positive if the house has too much. ``seq`` is the last payout, or the
    deciding event if there was none; ``croupier`` is who made that payout, ``NOBODY`` if that is not known.
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


class PaidBy(Struct):
    """How many wagers one croupier paid in a session, how many of them wrong, and the event of the last error."""

    payouts: int = 0
    for_house: int = 0
    for_player: int = 0
    last_error: int = 0


class BetSum(Struct):
    """All wagers on one bet: their number, S, TW, W_adj and W_rec."""

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
    without a known ruleset: it has a bank, and no wagers.
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
    standing: list[UndecidedStake] = []
    croupiers: dict[str, PaidBy] = {}
    bets: dict[str, BetSum] = {}
    observes: list[str] = []
    unchecked: list[str] = []
    draws: list[list[int | str]] = []


def encode(figures: Figures) -> bytes:
    """Return figures as canonical JSON; a fraction is the text ``n/d``."""
    encoded: bytes = msgspec.json.encode(figures, enc_hook=str, order="sorted")
    return encoded


def decode(encoded: bytes) -> Figures:
    """Return the figures that ``encode`` encoded."""
    return msgspec.json.decode(encoded, type=Figures, dec_hook=_fraction)


def _fraction(kind: type, text: object) -> object:
    return kind(text)


class SessionProjection:
    """Computes the figures of one session, fed page by page in order of ``seq``.

    ``corrections`` are all those of the stream. Without ``follows_luck`` the figures have no luck, no variance and no
    draws, which take most of the time.
    """

    def __init__(self, corrections: Iterable[EntryCorrected] = (), *, follows_luck: bool = True) -> None:
        self.state = State(corrections)
        self._process = ValueProcess()
        self._retired: dict[str, bytes] = {}
        self._findings: list[Finding] = []
        self._payer: dict[str, tuple[str, int]] = {}
        self._paid: Counter[str] = Counter()
        self._opener: SessionOpened | None = None
        self._closer: SessionClosed | None = None
        self._fills = self._credits = self._buy_ins = 0
        self._slips: list[Slip] = []
        self._buy_in_seqs: list[int] = []
        self._lost: list[tuple[int, int]] = []
        self._draws: list[list[int | str]] = []
        noters: dict[type[Envelope], Callable[[Any], None]] = {
            SessionOpened: self._note_opener,
            SessionClosed: self._note_closer,
            BankFilled: self._note_fill,
            BankCredited: self._note_credit,
            BuyInRecorded: self._note_buy_in,
            PayoutMade: self._note_payout,
            EventsLost: self._note_loss,
        }
        self._interceptors: Interceptors = {kind: self._noting(note) for kind, note in noters.items()}
        if follows_luck:
            self._interceptors |= {DiceThrown: self._draw, BallSettled: self._draw}

    def feed(self, page: Sequence[Event]) -> None:
        """Read the next events of the stream."""
        state = self.state
        for wager_id in state.unheld(page) & self._retired.keys():
            state.recall(load_wagers(self._retired[wager_id]))
        state.feed_all(page, self._interceptors)
        session, findings = state.table.session, state.table.findings
        self._findings += [finding for finding in findings if session and _is_money(session, finding)]
        state.forget_findings()
        for wager in state.retire():
            self._retired[wager.id] = save_wagers([wager])

    def lines(self) -> Iterator[tuple[WagerLine, Wager | None]]:
        """Yield the bridge of each wager, in order of placement; then payouts on unplaced wagers, with None."""
        session = self.state.table.session
        if session is None:
            return
        swept = {finding.wager for finding in self._findings if is_sweep(session, finding)}
        for wager in self._wagers():
            yield wager_line(session, wager, swept_void=wager.id in swept), wager
        for finding in self._findings:
            line = unplaced_wager_line(finding)
            if line is not None:
                yield line, None

    def figures(self) -> Figures:
        """Return the figures through the last event fed."""
        table, session, opener = self.state.table, self.state.table.session, self._opener
        bank = Bank(
            currency=opener.data.currency if opener else "XXX",
            opening_float=opener.data.float if opener else 0,
            fills=self._fills,
            credits=self._credits,
            closing_float=self._closer.data.float if self._closer else None,
            buy_ins=self._buy_ins,
        )
        figures = Figures(
            stream=table.stream,
            closed_at=self._closer.occurred_at.isoformat() if self._closer else None,
            closed_by=self._closer.seq if self._closer else 0,
            events=table.events,
            last_seq=self.state.last_seq,
            is_adjudicated=session is not None,
            bridge=Bridge.of(bank, ()),
            luck=self._process.luck,
            variance=self._process.variance,
            lost=self._lost,
            slips=self._slips,
            buy_ins=self._buy_in_seqs,
            croupiers={croupier: PaidBy(payouts) for croupier, payouts in sorted(self._paid.items())},
            draws=self._draws,
            unchecked=_unchecked(session),
        )
        if opener is not None:
            _copy_opener(figures, opener)
        figures.bridge = Bridge.of(bank, self._listed_lines(figures))
        return figures

    def _listed_lines(self, figures: Figures) -> Iterator[WagerLine]:
        """Yield every line, and add it to the lists and sums of ``figures`` that it belongs to."""
        for line, wager in self.lines():
            bet = figures.bets.setdefault(line.bet, BetSum())
            bet.wagers += 1
            bet.stakes += line.decided
            bet.theoretical += line.theoretical
            bet.adjudicated += line.adjudicated.total
            bet.recorded += line.recorded.total
            if line.payout_error:
                figures.errors.append(self._error(line, wager, figures))
            if line.undecided or line.imprisoned:
                assert wager is not None
                figures.standing.append(
                    UndecidedStake(
                        line.wager,
                        line.bet,
                        line.status,
                        wager.placed_by,
                        line.undecided + line.imprisoned,
                        line.zeros,
                        line.refund,
                        line.present_value,
                    )
                )
            yield line

    def _error(self, line: WagerLine, wager: Wager | None, figures: Figures) -> PayoutError:
        croupier, seq = self._payer.get(line.wager, (NOBODY, 0))
        paid = figures.croupiers.get(croupier) if seq else None
        if paid is not None:
            paid.for_house += line.payout_error > 0
            paid.for_player += line.payout_error < 0
            paid.last_error = max(paid.last_error, seq)
        if not seq and wager is not None:
            seq = wager.decided_by or wager.placed_by
        return PayoutError(line.wager, line.bet, line.status, seq, line.payout_error, croupier)

    def _wagers(self) -> Iterator[Wager]:
        """Yield every wager once, in order of placement."""
        held = self.state.table.wagers
        retired = (wager for saved in self._retired.values() for wager in load_wagers(saved))
        # A wager that was recalled is both held and, as it was before, retired.
        order = [(wager.placed_by, wager.id) for wager in held.values()]
        order += [(wager.placed_by, wager.id) for wager in retired if wager.id not in held]
        for _seq, wager_id in sorted(order):
            wager = held.get(wager_id)
            if wager is not None:
                yield wager
            else:
                yield from load_wagers(self._retired[wager_id])

    # Interceptors: each sees the state before its event

    def _noting(self, note: Callable[[Any], None]) -> Callable[[Event], None]:
        """Return the interceptor that notes an event, as corrected, and then feeds it."""

        def intercept(event: Event) -> None:
            note(self.state.corrected(event))
            self.state.feed(event)

        return intercept

    def _draw(self, event: Event) -> None:
        if self._process.feed(self.state, event) is None:
            return
        match self.state.corrected(event):
            case DiceThrown(data=data):
                dice = data.dice if isinstance(data.dice, list) else []
                self._draws.append([event.seq, *data.faces, *dice])
            case BallSettled(data=data):
                self._draws.append([event.seq, data.pocket])

    def _note_opener(self, event: SessionOpened) -> None:
        if self._opener is None and event.seq == 1:
            self._opener = event

    def _note_closer(self, event: SessionClosed) -> None:
        self._closer = event  # the last one counts: what comes after a close may close again

    def _note_fill(self, event: BankFilled) -> None:
        self._fills += event.data.amount
        self._slips.append(Slip(event.seq, "fill", event.data.slip, event.data.amount))

    def _note_credit(self, event: BankCredited) -> None:
        self._credits += event.data.amount
        self._slips.append(Slip(event.seq, "credit", event.data.slip, event.data.amount))

    def _note_buy_in(self, event: BuyInRecorded) -> None:
        self._buy_ins += event.data.amount
        if len(self._buy_in_seqs) < BUY_INS_LISTED:
            self._buy_in_seqs.append(event.seq)

    def _note_payout(self, event: PayoutMade) -> None:
        payer = event.actor if isinstance(event.actor, str) else self._on_duty()
        self._paid[payer] += event.data.wager not in self._payer
        self._payer[event.data.wager] = (payer, event.seq)

    def _on_duty(self) -> str:
        """Return the croupier at the table; ``NOBODY`` if there is not exactly one."""
        croupiers = {person for person, role in self.state.table.staff if role == "croupier"}
        return next(iter(croupiers)) if len(croupiers) == 1 else NOBODY

    def _note_loss(self, event: EventsLost) -> None:
        self._lost.append((event.seq, event.data.through))


def _is_money(session: Session, finding: Finding) -> bool:
    """Whether only ``finding``, and no wager, may know of some money: see ``bridge.wager_lines``."""
    return is_sweep(session, finding) or unplaced_wager_line(finding) is not None


def _unchecked(session: Session | None) -> list[str]:
    return sorted(RULESETS[session.ruleset].families - session.observes) if session else []


def _copy_opener(figures: Figures, opener: SessionOpened) -> None:
    data = opener.data
    figures.casino, figures.table = data.casino, data.table
    figures.game, figures.ruleset = data.game, data.ruleset
    figures.gaming_day = data.gaming_day.isoformat()
    figures.observes = sorted(set(data.observes))
    figures.opened_at = opener.occurred_at.isoformat()
