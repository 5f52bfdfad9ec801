"""One session, read once: its bank, its bridge, its luck, its errors, and everything a night says of it.

    pages of events ─► bank, slips, payers ─► fold and value process ─► wagers that are done are shelved ─► figures

Pure, and the same for the same events: what is kept of a night can be made again from the log. Memory holds what stands
on the layout and a short form of each wager that is done, whatever the length of the session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Struct

from settlement.corrections import Corrections
from settlement.engine import State, load_wagers, save_wagers
from settlement.events import (
    BallSettled,
    BankCredited,
    BankFilled,
    BuyInRecorded,
    DiceThrown,
    EntryCorrected,
    Event,
    EventsLost,
    PayoutMade,
    SessionClosed,
    SessionOpened,
)
from settlement.finding import Finding
from settlement.night.bridge import Bank, Bridge, WagerLine, line_of, paid_to_nobody
from settlement.night.value import ValueProcess
from settlement.rulesets import RULESETS
from settlement.state import Session, Wager

BUY_INS_LISTED = 500

NOBODY = ""
"""In place of a croupier: who paid is not known."""


class Slip(Struct, frozen=True):
    """One fill or credit: the event, which of the two, its slip, its amount in minor units."""

    seq: int
    kind: str
    slip: str
    amount: int


class PayoutError(Struct, frozen=True):
    """One wager that was paid, returned or charged otherwise than the rules say.

    ``amount`` is W_rec − W_adj in minor units: positive where the house has too much. ``seq`` is the last payout, or
    the deciding event where there was none; ``croupier`` who made it, "" where nobody is named.
    """

    wager: str
    bet: str
    status: str
    seq: int
    amount: int
    croupier: str


class Standing(Struct, frozen=True):
    """One stake that is not decided: undecided or in prison, with its zeros, its refund and its present value."""

    wager: str
    bet: str
    status: str
    seq: int
    amount: int
    zeros: int
    refund: int
    present_value: Fraction


class PaidBy(Struct):
    """What one croupier paid in a session, and how many wagers of it wrong; ``last_error`` the event of the last."""

    payouts: int = 0
    for_house: int = 0
    for_player: int = 0
    last_error: int = 0


class BetSum(Struct):
    """All wagers on one bet: how many, S, TW, W_adj and W_rec."""

    wagers: int = 0
    stakes: int = 0
    theoretical: Fraction = Fraction(0)
    adjudicated: int = 0
    recorded: int = 0


class Figures(Struct, kw_only=True):
    """Everything the night says of one session, through its event ``last_seq``. Amounts in minor units.

    ``bridge`` has no drop yet: the count room knows it. ``luck`` and ``variance`` are those of the draws; ``draws``
    what came, in order: the seq, then faces and dice, or the pocket. ``lost`` are declared losses, both ends included;
    ``buy_ins`` the events of the first ``BUY_INS_LISTED``.
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
    standing: list[Standing] = []
    croupiers: dict[str, PaidBy] = {}
    bets: dict[str, BetSum] = {}
    observes: list[str] = []
    unchecked: list[str] = []
    draws: list[list[int | str]] = []


def encode(figures: Figures) -> bytes:
    """Return figures as canonical JSON, fractions written ``n/d``."""
    written: bytes = msgspec.json.encode(figures, enc_hook=str, order="sorted")
    return written


def decode(saved: bytes) -> Figures:
    """Return the figures that ``encode`` wrote."""
    return msgspec.json.decode(saved, type=Figures, dec_hook=_fraction)


def _fraction(kind: type, written: object) -> object:
    return kind(written)


class Reading:
    """One session as its events go by, in order of ``seq``. ``corrections`` are all those among them."""

    def __init__(self, corrections: Iterable[EntryCorrected] = (), *, follows_luck: bool = True) -> None:
        known = list(corrections)
        self.state = State(known)
        self._corrections = Corrections(known)
        self._follows_luck = follows_luck
        self._process = ValueProcess()
        self._shelf: dict[str, bytes] = {}
        self._found: list[Finding] = []
        self._payer: dict[str, tuple[str, int]] = {}
        self._paid: Counter[str] = Counter()
        self._opener: SessionOpened | None = None
        self._closer: SessionClosed | None = None
        self._fills = self._credits = self._buy_ins = 0
        self._slips: list[Slip] = []
        self._buy_in_seqs: list[int] = []
        self._lost: list[tuple[int, int]] = []
        self._draws: list[list[int | str]] = []
        self._watched: dict[type, Callable[[Any], None]] = {
            SessionOpened: self._open,
            SessionClosed: self._close,
            BankFilled: self._fill,
            BankCredited: self._credit,
            BuyInRecorded: self._buy_in,
            PayoutMade: self._pay,
            EventsLost: self._lose,
        }

    def feed(self, page: Sequence[Event]) -> None:
        """Read some further events."""
        state = self.state
        for wager_id in state.unheld(page) & self._shelf.keys():
            state.recall(load_wagers(self._shelf[wager_id]))
        pending: list[Event] = []
        for event in page:
            watch = self._watched.get(type(event))
            if watch is not None:
                if isinstance(event, PayoutMade | SessionOpened):
                    state.feed_all(pending)  # who is on duty when it is paid
                    pending = []
                watch(self._corrections.corrected(event))
            if self._follows_luck and isinstance(event, DiceThrown | BallSettled):
                state.feed_all(pending)
                pending = []
                self._draw(event)
            else:
                pending.append(event)
        state.feed_all(pending)
        self._found += [finding for finding in state.table.findings if _is_money(finding)]
        state.forget_findings()
        for wager in state.retire():
            self._shelf[wager.id] = save_wagers([wager])

    def lines(self) -> Iterator[tuple[WagerLine, Wager | None]]:
        """Yield the bridge of each wager, in order of placement; then payouts to nobody, which have no wager."""
        session = self.state.table.session
        if session is None:
            return
        swept = {finding.wager for finding in self._found if finding.rule == "winning-wager-collected"}
        for wager in self._wagers():
            yield line_of(session, wager, swept_void=wager.id in swept), wager
        for finding in self._found:
            line = paid_to_nobody(finding)
            if line is not None:
                yield line, None

    def figures(self) -> Figures:
        """Return what the events so far come to."""
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
            croupiers={who: PaidBy(payouts) for who, payouts in sorted(self._paid.items())},
            draws=self._draws,
            unchecked=_unchecked(session),
        )
        if opener is not None:
            _introduce(figures, opener)
        figures.bridge = Bridge.of(bank, self._noted(figures))
        return figures

    def _noted(self, figures: Figures) -> Iterator[WagerLine]:
        """Yield every line, and note in ``figures`` what is to be listed of it."""
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
                    Standing(
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
        held = self.state.table.wagers
        shelved = (
            wager for saved in self._shelf.values() for wager in load_wagers(saved) if wager.id not in held
        )  # what was recalled and stands again is held; its old form is still on the shelf
        places: list[tuple[int, str]] = [(wager.placed_by, wager.id) for wager in held.values()]
        places += [(wager.placed_by, wager.id) for wager in shelved]
        for _seq, wager_id in sorted(places):
            wager = held.get(wager_id)
            if wager is not None:
                yield wager
            else:
                yield from load_wagers(self._shelf[wager_id])

    # What is read of single events

    def _open(self, event: SessionOpened) -> None:
        if self._opener is None and event.seq == 1:
            self._opener = event

    def _close(self, event: SessionClosed) -> None:
        self._closer = event  # the last: what comes after a close may close again

    def _fill(self, event: BankFilled) -> None:
        self._fills += event.data.amount
        self._slips.append(Slip(event.seq, "fill", event.data.slip, event.data.amount))

    def _credit(self, event: BankCredited) -> None:
        self._credits += event.data.amount
        self._slips.append(Slip(event.seq, "credit", event.data.slip, event.data.amount))

    def _buy_in(self, event: BuyInRecorded) -> None:
        self._buy_ins += event.data.amount
        if len(self._buy_in_seqs) < BUY_INS_LISTED:
            self._buy_in_seqs.append(event.seq)

    def _pay(self, event: PayoutMade) -> None:
        who = event.actor if isinstance(event.actor, str) else self._on_duty()
        self._paid[who] += event.data.wager not in self._payer
        self._payer[event.data.wager] = (who, event.seq)

    def _on_duty(self) -> str:
        """Return the one croupier at the table, "" where there is none or more than one."""
        croupiers = {person for person, role in self.state.table.staff if role == "croupier"}
        return next(iter(croupiers)) if len(croupiers) == 1 else NOBODY

    def _lose(self, event: EventsLost) -> None:
        self._lost.append((event.seq, event.data.through))

    def _draw(self, event: DiceThrown | BallSettled) -> None:
        drawn = self._process.feed(self.state, event)
        if drawn is None:
            return
        right = self._corrections.corrected(event)
        if isinstance(right, DiceThrown):
            dice = right.data.dice if isinstance(right.data.dice, list) else []
            self._draws.append([event.seq, *right.data.faces, *dice])
        else:
            assert isinstance(right, BallSettled)
            self._draws.append([event.seq, right.data.pocket])


def _is_money(finding: Finding) -> bool:
    """Whether the money of ``finding`` leaves no trace in a wager: see ``bridge.lines_of``."""
    if finding.rule == "winning-wager-collected":
        return finding.facts.get("status") == "void"
    return paid_to_nobody(finding) is not None


def _unchecked(session: Session | None) -> list[str]:
    book = RULESETS.get(session.ruleset) if session else None
    return sorted(book.families - session.observes) if book and session else []


def _introduce(figures: Figures, opener: SessionOpened) -> None:
    data = opener.data
    figures.casino, figures.table = data.casino, data.table
    figures.game, figures.ruleset = data.game, data.ruleset
    figures.gaming_day = data.gaming_day.isoformat()
    figures.observes = sorted(set(data.observes))
    figures.opened_at = opener.occurred_at.isoformat()
