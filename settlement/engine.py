"""The fold: events in, one at a time, and what they add up to.

``State`` is the law applied so far. It is fed in order of ``seq``; it can be saved after any event and taken up again,
in another process, with the same answer as one run. ``adjudicate`` does all of it for a stream at hand, in any order.

A long stream need not be held in memory: wagers that nothing is pending of are *retired* after a stretch of events and
kept by the caller, who has those that the next stretch mentions *recalled* before it. The answer is the same.

Folding is total: an irregular event is applied *and* reported, and no stream of well-shaped events makes it raise. The
exceptions are about the caller: events of another stream (``AnotherStream``), or an event that changes what was
already folded (``NeedsReplay``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, cast

import msgspec

from settlement.adjudication import Adjudication, WagerOutcome
from settlement.codec import ShapeError, canonical, decode, decode_all, in_bytes
from settlement.corrections import Corrections
from settlement.events import (
    CountOpened,
    EntryCorrected,
    Event,
    EventsLost,
    Params,
    PaymentAnnounced,
    PayoutMade,
    SessionOpened,
    StakesCollected,
    WagerMoved,
    WagerPlaced,
    WagerSwitched,
    WagerWithdrawn,
    ZeroDecided,
)
from settlement.finding import Finding
from settlement.fr import art_57_1_american_roulette as art_57_1
from settlement.provisions import wager_provision
from settlement.rulesets import RULESETS, Handler, Ruleset
from settlement.state import Session, Table, Wager, find

ENGINE_VERSION = "1"
"""Version of the law as coded here. Another answer to the same stream is another version."""

CLOCK_TOLERANCE = timedelta(seconds=2)
"""How far a table's clock may step back without a finding: `clock-went-back`."""

# JSON, because sums of amounts may be larger than the 64 bits of MessagePack's integers.
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Table).decode
_encode_wagers = msgspec.msgpack.Encoder().encode
_decode_wagers = msgspec.msgpack.Decoder(list[Wager]).decode


class NeedsReplay(Exception):
    """The event changes what was folded before it: the stream must be fed again, from ``from_seq``."""

    def __init__(self, from_seq: int = 1) -> None:
        super().__init__(f"the stream must be replayed from seq {from_seq}")
        self.from_seq = from_seq


class AnotherStream(ValueError):
    """Events of more than one stream were fed to one state."""

    def __init__(self, stream: str, other: str) -> None:
        super().__init__(f"an event of stream '{other}' came among those of '{stream}'")
        self.stream = stream
        self.other = other


class State:
    """The law applied to a stream so far.

    ``corrections`` are the stream's ``entry.corrected`` events, known beforehand: each corrected event is read with
    the right data when its turn comes. A correction that was not announced here raises ``NeedsReplay`` when fed.
    ``readings`` are parameters of section 5 that take the place of the session's own: what would be, read otherwise.
    """

    __slots__ = ("_corrections", "_handlers", "_readings", "table")

    def __init__(
        self, corrections: Iterable[EntryCorrected] = (), readings: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Raise ``ShapeError`` for readings that section 5 does not have."""
        announced = list(corrections)
        self.table = Table(announced=[correction.seq for correction in announced])
        self._handlers: dict[type, Handler] = {}
        self._corrections = Corrections(announced)
        self._readings = _checked_readings(readings)

    @classmethod
    def from_bytes(
        cls,
        saved: bytes,
        corrections: Iterable[EntryCorrected] = (),
        readings: Mapping[str, Any] = MappingProxyType({}),
        corrected: Iterable[Event] = (),
    ) -> State:
        """Return the state that ``to_bytes`` saved, with what it was made with.

        ``corrections`` are those it had ``announced``; none need be given once it has been fed the last of them.
        ``corrected`` are the events folded before that ``corrections`` name.
        """
        state = cls(corrections, readings)
        for event in corrected:
            state._corrections.corrected(event)
        state.table = _decode(saved)
        if state.table.session is not None:
            state._handlers = dict(RULESETS[state.table.session.ruleset].handlers)
        return state

    def to_bytes(self) -> bytes:
        """Return everything the fold remembers."""
        return _encode(self.table)

    @property
    def last_seq(self) -> int:
        """The highest number folded, declared losses included; 0 at the beginning."""
        return self.table.next_seq - 1

    def feed(self, event: Event) -> list[Finding]:
        """Fold one event and return the findings it completes.

        Raise ``NeedsReplay`` for a correction of what was folded, or for an event from before the last one, and
        ``AnotherStream`` for an event of another stream.
        """
        table = self.table
        before = len(table.findings)
        if event.stream != table.stream and table.events:
            raise AnotherStream(table.stream, event.stream)
        if isinstance(event, EntryCorrected) and not self._corrections.knows(event):
            raise NeedsReplay
        self._fold(event)
        return table.findings[before:]

    @property
    def announced(self) -> list[int]:
        """The numbers of the corrections that were known beforehand."""
        return self.table.announced

    @property
    def corrects(self) -> list[int]:
        """The numbers that the corrections known here name."""
        return self._corrections.targets

    def feed_all(self, events: Iterable[Event]) -> list[Finding]:
        """Fold many events and return the findings they complete; raise as ``feed`` does, at the first that raises."""
        table = self.table
        before = len(table.findings)
        pending = self._corrections.pending
        handler_of = self._handlers.get
        # No article looks at these four: they are written back only where something else than an article acts.
        expected, last_seq, folded, clock = table.next_seq, table.last_seq, table.events, table.clock
        stream = table.stream
        for event in events:
            seq, at, handler = event.seq, event.occurred_at, handler_of(type(event))
            if handler is None or seq != expected or clock is None or at < clock or pending or event.stream != stream:
                table.next_seq, table.last_seq, table.events, table.clock = expected, last_seq, folded, clock
                self.feed(event)
                expected, last_seq, folded, clock = table.next_seq, table.last_seq, table.events, table.clock
                stream, handler_of = table.stream, self._handlers.get
                continue
            expected, last_seq, clock = seq + 1, seq, at
            folded += 1
            handler(table, event)
        table.next_seq, table.last_seq, table.events, table.clock = expected, last_seq, folded, clock
        return table.findings[before:]

    def unheld(self, events: Iterable[Event]) -> set[str]:
        """Return the ids that ``events`` mention of wagers that are not held here: of retired ones, or of none yet."""
        if self._corrections.pending:
            events = map(self._corrections.corrected, events)
        return mentioned(events) - self.table.wagers.keys()

    def recall(self, wagers: Iterable[Wager]) -> None:
        """Hold retired wagers again, as they were when they retired."""
        self.table.wagers.update((wager.id, wager) for wager in wagers)

    def retire(self) -> list[Wager]:
        """Let go of the wagers that nothing is pending of, and return them.

        They are no longer in ``adjudication``, until they are recalled.
        """
        table = self.table
        wagers = table.wagers
        pending = [wagers[wager_id] for wager_id in table.live.keys() | table.due.keys() | table.swept.keys()]
        pending.sort(key=lambda wager: wager.placed_by)
        for wager in pending:
            del wagers[wager.id]
        retired = list(wagers.values())
        table.wagers = {wager.id: wager for wager in pending}
        return retired

    def forget_findings(self) -> None:
        """Let go of the findings so far, which the caller has kept: they are no longer in ``adjudication``."""
        self.table.findings.clear()

    def _fold(self, event: Event) -> None:
        table = self.table
        seq = event.seq
        if seq != table.next_seq or table.events == 0:
            self._check_place(event)
        else:
            table.next_seq = seq + 1
        table.last_seq = seq
        table.events += 1
        clock = table.clock
        if clock is not None and event.occurred_at < clock:
            _check_clock(table, event)
        table.clock = event.occurred_at
        if self._corrections.pending:
            event = self._corrections.corrected(event)
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(table, event)
        elif not table.session or isinstance(event, (EventsLost, EntryCorrected)):
            self._fold_outside_play(event)

    def _check_place(self, event: Event) -> None:
        table = self.table
        if table.events == 0:
            table.stream = event.stream
        if event.seq <= table.last_seq:
            raise NeedsReplay
        # An event that was declared lost and came after all lies below next_seq: it is folded in its place.
        if event.seq > table.next_seq:
            find(
                table,
                "sequence-gap",
                event.seq,
                missing_from=table.next_seq,
                through=event.seq - 1,
            )
            table.after_loss = True
        table.next_seq = max(table.next_seq, event.seq + 1)

    def _fold_outside_play(self, event: Event) -> None:
        """Fold what no article looks at: the opener, losses, corrections."""
        table = self.table
        match event:
            case EventsLost(seq=seq, data=data):
                table.next_seq = max(table.next_seq, data.through + 1)
                find(table, "events-lost", seq, missing_from=seq, through=data.through, lost_because=data.reason)
                table.after_loss = True
            case EntryCorrected():
                self._corrections.report(table, event)
            case SessionOpened() if table.events == 1:
                self._open(event)
            case CountOpened() if table.events == 1:
                pass
            case _ if table.events == 1:
                find(table, "unknown-ruleset", event.seq, event_type=event.type)

    def _open(self, event: SessionOpened) -> None:
        table = self.table
        data = event.data
        table.ruleset = data.ruleset
        book = RULESETS.get(data.ruleset)
        if book is None or book.game != data.game:
            find(
                table,
                "unknown-ruleset",
                event.seq,
                recorded=data.ruleset,
                game=data.game,
            )
            return
        table.session = session = _resolve(event, book, self._readings)
        table.staff = [(member.person, member.role) for member in data.staff or []]
        self._handlers = dict(book.handlers)
        if book.ended_on is not None and session.gaming_day >= book.ended_on:
            find(
                table,
                "ruleset-not-in-force",
                event.seq,
                ruleset=book.name,
                gaming_day=session.gaming_day.isoformat(),
                until=book.ended_on.isoformat(),
            )
        if book is RULESETS["fr-american-roulette"]:
            art_57_1.check_staffing(table, event.seq)

    @property
    def readings_digest(self) -> str:
        """SHA-256 of the readings that this session is adjudicated under, 64 hex digits."""
        session = self.table.session
        readings = {} if session is None else {name: getattr(session, name) for name in READINGS}
        return hashlib.sha256(msgspec.json.encode(readings, order="sorted")).hexdigest()

    def adjudication(self) -> Adjudication:
        """Return the answer so far."""
        return answer(self.table)


READINGS = (
    "payout_unit",
    "commission_rounding",
    "commission_refunded_on_withdrawal",
    "zero_rule",
    "release_value",
    "throw_delay_s",
    "seat_limit",
    "maximum",
)
"""The parameters of section 5, resolved: two answers under other readings are two answers."""


def answer(table: Table) -> Adjudication:
    """Return what ``table`` answers after its last event."""
    book = RULESETS.get(table.ruleset or "")
    session = table.session
    state: dict[str, Any] = {}
    if book is not None and book.game == "craps":
        state["point"] = table.point
    elif book is not None:
        prison = ("imprisoned", "awaiting_decision")
        state["imprisoned"] = {
            live: table.wagers[live].zeros for live in table.live if table.wagers[live].status in prison
        }
    provisions = {bet: wager_provision(book.name, bet) for bet in book.kinds} if book is not None else {}
    provisions[""] = wager_provision(book.name, None) if book is not None else ""
    return Adjudication(
        stream=table.stream,
        ruleset=table.ruleset,
        events=table.events,
        wagers={wager.id: WagerOutcome.of(wager, provisions) for wager in table.wagers.values()},
        findings=sorted(table.findings, key=lambda finding: finding.order),
        corrections=table.corrections,
        unchecked=sorted(book.families - session.observes) if book is not None and session is not None else [],
        state=state,
    )


def save_wagers(wagers: list[Wager]) -> bytes:
    """Return retired wagers as bytes."""
    return _encode_wagers(wagers)


def load_wagers(saved: bytes) -> list[Wager]:
    """Return the wagers that ``save_wagers`` saved."""
    return _decode_wagers(saved)


ONE_WAGER = (WagerWithdrawn, WagerSwitched, WagerMoved, PaymentAnnounced, PayoutMade, ZeroDecided)
"""Events that name just one wager, placed before."""


def mentioned(events: Iterable[Event]) -> set[str]:
    """Return the ids of all wagers that ``events`` mention."""
    ids: set[str] = set()
    add = ids.add
    for event in events:
        kind = type(event)
        if kind is WagerPlaced:
            placed = cast(WagerPlaced, event).data
            add(placed.wager)
            if placed.base:
                add(placed.base)
            if placed.left_up_from:
                add(placed.left_up_from)
        elif kind in ONE_WAGER:
            add(cast(PayoutMade, event).data.wager)
        elif kind is StakesCollected:
            ids.update(cast(StakesCollected, event).data.wagers)
    return ids


def _checked_readings(readings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``readings`` by their names in section 5. Raise ``ShapeError`` where one is none, or has no such value."""
    try:
        msgspec.convert(dict(readings), Params)
    except msgspec.ValidationError as error:
        raise ShapeError(str(error)) from None
    return dict(readings)


def _resolve(event: SessionOpened, book: Ruleset, readings: Mapping[str, Any]) -> Session:
    """Return the session with every reading at its value.

    That is the one of ``readings``, else what the session sets itself, else the ruleset's default.
    """
    data = event.data
    params = data.params or Params()
    if readings:
        params = msgspec.convert(msgspec.to_builtins(params) | dict(readings), Params)
    seat_limit = book.seat_limit_doubled if data.double_table is True else book.seat_limit
    if book.seat_limit is not None and isinstance(params.seat_limit, int):
        seat_limit = params.seat_limit
    observes = frozenset(data.observes)
    return Session(
        casino=data.casino,
        table=data.table,
        gaming_day=data.gaming_day,
        game=data.game,
        ruleset=data.ruleset,
        currency=data.currency,
        observes=cast(frozenset[str], observes),
        minimum=data.minimum or 0,
        maximum=cast(dict[str, int], params.maximum or {}),
        seats=tuple(data.seats or ()),
        payout_unit=params.payout_unit,
        commission_rounding=params.commission_rounding,
        commission_refunded_on_withdrawal=params.commission_refunded_on_withdrawal,
        zero_rule=cast(Literal["choice", "half", "lose"], params.zero_rule or book.zero_rule),
        release_value=params.release_value,
        throw_delay_s=params.throw_delay_s,
        seat_limit=seat_limit,
        calls="calls" in observes,
        collections="collections" in observes,
        custody="custody" in observes,
        wheel="wheel" in observes,
    )


def _check_clock(table: Table, event: Event) -> None:
    assert table.clock is not None
    back = table.clock - event.occurred_at
    if back > CLOCK_TOLERANCE:
        find(
            table,
            "clock-went-back",
            event.seq,
            # In the event's own offset: a saved state keeps instants, and forgets how they were written.
            expected=table.clock.astimezone(event.occurred_at.tzinfo).isoformat(),
            recorded=event.occurred_at.isoformat(),
            back_s=int(back.total_seconds()),
        )


def fold(events: Sequence[Event]) -> State:
    """Return the state after ``events``, which are in order of ``seq``, each number once at most."""
    state = State(event for event in events if isinstance(event, EntryCorrected))
    step = state._fold
    for event in events:
        step(event)
    return state


def adjudicate(events: Iterable[Event | bytes | str]) -> Adjudication:
    """Return what the law says of a stream.

    ``events`` are the events of one stream, decoded or as raw JSON, in any order; the same event may come again. Raise
    ``ShapeError`` for raw JSON that is no event, ``AnotherStream`` for events of several streams. Of two contents of
    one ``seq`` the first counts and `sequence-conflict` is found.
    """
    given = [in_bytes(item) if isinstance(item, str) else item for item in events]
    stream = _decoded(given)
    name = stream[0].stream if stream else ""
    for event in stream:
        if event.stream != name:
            raise AnotherStream(name, event.stream)
    conflicts: list[int] = []
    if any(event.seq <= before.seq for before, event in pairwise(stream)):
        stream, conflicts = _in_order(stream, given)
    state = fold(stream)
    table = state.table
    losses = [found.seq for found in table.findings if found.rule in ("sequence-gap", "events-lost")]
    for seq in conflicts:
        table.after_loss = any(loss <= seq for loss in losses)
        find(table, "sequence-conflict", seq)
    return state.adjudication()


def _decoded(given: list[Event | bytes]) -> list[Event]:
    raw = [item for item in given if isinstance(item, bytes)]
    if len(raw) == len(given):
        return decode_all(raw)
    return [decode(item) if isinstance(item, bytes) else item for item in given]


def _in_order(stream: list[Event], given: list[Event | bytes]) -> tuple[list[Event], list[int]]:
    """Return the events by ``seq``, each once, and the numbers that came with two contents."""
    first: dict[int, int] = {}
    conflicts: set[int] = set()
    for place, event in enumerate(stream):
        known = first.setdefault(event.seq, place)
        if known != place and not _same(given[known], given[place], stream[known], event):
            conflicts.add(event.seq)
    return [stream[first[seq]] for seq in sorted(first)], sorted(conflicts)


def _same(first: Event | bytes, again: Event | bytes, event: Event, other: Event) -> bool:
    """Whether two events given for one ``seq`` are one: by their canonical form, where both have one."""
    if isinstance(first, bytes) and isinstance(again, bytes):
        try:
            return first == again or canonical(first) == canonical(again)
        except ShapeError:  # a name given twice, which has no canonical form
            return False
    return event == other
