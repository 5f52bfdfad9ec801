"""The engine: folds the events of one stream, in order of ``seq``, into a state.

``State`` is the law applied so far. It can be saved after any event and restored in another process (a snapshot), and
answers as one uninterrupted run would. ``adjudicate`` does everything at once for a stream in memory, in any order.

There is one loop, ``State.feed_all``; ``feed`` is the same for one event.

                       next seq, clock not back, a ruleset handles its type
    event ──► usual? ──── yes ────────────────────────────────────────► its handler in the ruleset
                └──────── no ──► _fold_unusual: opener, gap, loss, clock, correction ──► handler, if there is one

A long stream need not fit in memory. After each page of events the caller takes out and stores the wagers that nothing
is pending on (``retire``), and puts back those that the next page mentions (``unheld``, ``recall``): same answer.

Folding is total: a well-shaped event is always applied, and reported if irregular. It raises only on a caller's events
of another stream (``AnotherStream``), or on an event that changes what was already folded (``NeedsReplay``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

import msgspec

from settlement.adjudication import Adjudication, WagerOutcome
from settlement.codec import ShapeError, canonical, decode, decode_all, in_bytes
from settlement.corrections import Corrections
from settlement.events import (
    CountOpened,
    EntryCorrected,
    Envelope,
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
"""Version of the law as coded here. A change that gives any stream another answer needs a new version."""

CLOCK_TOLERANCE = timedelta(seconds=2)
"""How far a table's clock may step back without a finding: `clock-went-back`."""

# JSON, because sums of amounts may be larger than the 64 bits of MessagePack's integers.
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Table).decode
_encode_wagers = msgspec.msgpack.Encoder().encode
_decode_wagers = msgspec.msgpack.Decoder(list[Wager]).decode

Interceptors: TypeAlias = Mapping[type[Envelope], Callable[[Any], object]]
"""By event type, what is called with an event in place of folding it."""

NOT_INTERCEPTED: Interceptors = {}


class NeedsReplay(Exception):
    """The event changes what was folded before it: the stream must be replayed from ``from_seq``."""

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

    ``corrections`` are the ``entry.corrected`` events of the stream, known in advance, so that each corrected event is
    folded with the right data. A correction that is not among them raises ``NeedsReplay`` when it is fed.
    ``readings`` are parameters of section 5 of the event contract; they override the session's own, for a what-if run.
    """

    __slots__ = ("_corrections", "_handlers", "_readings", "table")

    def __init__(
        self, corrections: Iterable[EntryCorrected] = (), readings: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Raise ``ShapeError`` if ``readings`` has a name or a value that section 5 does not have."""
        announced = list(corrections)
        self.table = Table(announced=[correction.seq for correction in announced])
        self._handlers: Mapping[type, Handler] = {}
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
        """Restore the state that ``to_bytes`` saved.

        ``readings`` are those it was created with. ``corrections`` are those it had ``announced``; once it has folded
        the last of them, none is needed. ``corrected`` are the events already folded that ``corrections`` name.
        """
        state = cls(corrections, readings)
        for event in corrected:
            state._corrections.corrected(event)
        state.table = _decode(saved)
        if state.table.session is not None:
            state._handlers = dict(RULESETS[state.table.session.ruleset].handlers)
        return state

    def to_bytes(self) -> bytes:
        """Return everything that the fold remembers, as JSON."""
        return _encode(self.table)

    @property
    def last_seq(self) -> int:
        """The highest number folded, declared losses included; 0 before the first event."""
        return self.table.next_seq - 1

    @property
    def announced(self) -> list[int]:
        """The numbers of the corrections that were known in advance."""
        return self.table.announced

    @property
    def corrects(self) -> list[int]:
        """The numbers of the events that the known corrections name, in order."""
        return sorted(self._corrections.targets)

    def corrected(self, event: Event) -> Event:
        """Return ``event`` as the known corrections leave it; the event itself if none of them changes it."""
        return self._corrections.corrected(event)

    def feed(self, event: Event) -> list[Finding]:
        """Fold one event and return the findings that it completes. Raise as ``feed_all`` does."""
        return self.feed_all((event,))

    def feed_all(self, events: Iterable[Event], interceptors: Interceptors = NOT_INTERCEPTED) -> list[Finding]:
        """Fold ``events``, which are in order of ``seq``, and return the findings that they complete.

        ``interceptors`` take over the events of some types, to look at the state before and after: each is called with
        the event and has to ``feed`` it.

        Raise ``AnotherStream`` for an event of another stream. Raise ``NeedsReplay`` for an event that does not come
        after the last one, and for a correction that was not known in advance. What came before it is folded.
        """
        table = self.table
        before = len(table.findings)
        targets = self._corrections.targets
        handler_of = self._handler_of(interceptors) if interceptors else self._handlers.get
        # No article reads these four: they stay in local variables while only articles run.
        expected, last_seq, folded, clock = table.next_seq, table.last_seq, table.events, table.clock
        stream = table.stream
        for event in events:
            seq, at, handler = event.seq, event.occurred_at, handler_of(type(event))
            if (
                handler is None
                or seq != expected
                or clock is None
                or at < clock
                or (targets and seq in targets)
                or event.stream != stream
            ):
                table.next_seq, table.last_seq, table.events, table.clock = expected, last_seq, folded, clock
                interceptors.get(type(event), self._fold_unusual)(event)
                expected, last_seq, folded, clock = table.next_seq, table.last_seq, table.events, table.clock
                if folded == 1:  # that was the opener, which names the ruleset
                    stream = table.stream
                    handler_of = self._handler_of(interceptors) if interceptors else self._handlers.get
                continue
            expected, last_seq, clock = seq + 1, seq, at
            folded += 1
            handler(table, event)
        table.next_seq, table.last_seq, table.events, table.clock = expected, last_seq, folded, clock
        return table.findings[before:]

    def _handler_of(self, interceptors: Interceptors) -> Callable[[type], Handler | None]:
        """Return a lookup of handlers by event type: None for the types that are intercepted."""
        return {kind: handler for kind, handler in self._handlers.items() if kind not in interceptors}.get

    def _fold_unusual(self, event: Event) -> None:
        """Fold an event that is more than the next one for its handler; raise as ``feed_all`` does."""
        table = self.table
        seq = event.seq
        if event.stream != table.stream and table.events:
            raise AnotherStream(table.stream, event.stream)
        if seq <= table.last_seq or (isinstance(event, EntryCorrected) and not self._corrections.knows(event)):
            raise NeedsReplay
        if table.events == 0:
            table.stream = event.stream
        # An event that was declared lost and arrived after all is below next_seq: it is folded in its turn.
        if seq > table.next_seq:
            find(table, "sequence-gap", seq, missing_from=table.next_seq, through=seq - 1)
            table.after_loss = True
        table.next_seq = max(table.next_seq, seq + 1)
        table.last_seq = seq
        table.events += 1
        if table.clock is not None and event.occurred_at < table.clock:
            _check_clock(table, event, table.clock)
        table.clock = event.occurred_at
        event = self._corrections.corrected(event)
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(table, event)
        else:
            self._fold_outside_play(event)

    def _fold_outside_play(self, event: Event) -> None:
        """Fold what no article handles: the opener, losses, corrections. Other events change nothing."""
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
        ruleset = RULESETS.get(data.ruleset)
        if ruleset is None or ruleset.game != data.game:
            find(table, "unknown-ruleset", event.seq, recorded=data.ruleset, game=data.game)
            return
        table.session = session = _resolve(event, ruleset, self._readings)
        table.staff = [(member.person, member.role) for member in data.staff or []]
        self._handlers = dict(ruleset.handlers)  # looked up faster than in a MappingProxyType
        ended_on = ruleset.instrument.in_force_until
        if ended_on is not None and session.gaming_day >= ended_on:
            find(
                table,
                "ruleset-not-in-force",
                event.seq,
                ruleset=ruleset.name,
                gaming_day=session.gaming_day.isoformat(),
                until=ended_on.isoformat(),
            )
        if ruleset.name == "fr-american-roulette":
            art_57_1.check_staffing(table, event.seq)

    def unheld(self, events: Iterable[Event]) -> set[str]:
        """Return the ids of wagers that ``events`` mention and this state does not hold: retired, or not placed yet."""
        if self._corrections.targets:
            events = map(self._corrections.corrected, events)
        return mentioned(events) - self.table.wagers.keys()

    def recall(self, wagers: Iterable[Wager]) -> None:
        """Hold retired wagers again, as they were when they retired."""
        self.table.wagers.update((wager.id, wager) for wager in wagers)

    def retire(self) -> list[Wager]:
        """Take out and return the wagers that nothing is pending on: ``adjudication`` lacks them until recalled."""
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
        """Drop the findings so far, which the caller has stored: ``adjudication`` lacks them."""
        self.table.findings.clear()

    @property
    def readings_digest(self) -> str:
        """SHA-256 of the readings that this session is adjudicated under, 64 hex digits."""
        session = self.table.session
        readings = {} if session is None else {name: getattr(session, name) for name in READINGS}
        return hashlib.sha256(msgspec.json.encode(readings, order="sorted")).hexdigest()

    def adjudication(self) -> Adjudication:
        """Return the answer after the last event."""
        table, session = self.table, self.table.session
        ruleset = RULESETS.get(table.ruleset or "")
        provisions = {"": ""}
        if ruleset is not None:
            provisions = {bet: wager_provision(ruleset.name, bet) for bet in ruleset.kinds}
            provisions[""] = wager_provision(ruleset.name, None)
        return Adjudication(
            stream=table.stream,
            ruleset=table.ruleset,
            events=table.events,
            wagers={wager.id: WagerOutcome.of(wager, provisions) for wager in table.wagers.values()},
            findings=sorted(table.findings, key=lambda finding: finding.order),
            corrections=table.corrections,
            unchecked=[] if ruleset is None or session is None else sorted(ruleset.families - session.observes),
            state={} if ruleset is None else _state_of_play(table, ruleset),
        )


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
"""The parameters of section 5, by name: the same stream under other readings has another answer."""

HELD_BY_ZERO = ("imprisoned", "awaiting_decision")
"""The statuses of a simple chance that a zero has hit and no result has decided since."""


def _state_of_play(table: Table, ruleset: Ruleset) -> dict[str, Any]:
    """Return the point at craps; at roulette the stakes that a zero holds, each with its zeros."""
    if ruleset.game == "craps":
        return {"point": table.point}
    held = (table.wagers[live] for live in table.live)
    return {"imprisoned": {wager.id: wager.zeros for wager in held if wager.status in HELD_BY_ZERO}}


def save_wagers(wagers: list[Wager]) -> bytes:
    """Return retired wagers as bytes."""
    return _encode_wagers(wagers)


def load_wagers(saved: bytes) -> list[Wager]:
    """Return the wagers that ``save_wagers`` saved."""
    return _decode_wagers(saved)


ONE_WAGER = (WagerWithdrawn, WagerSwitched, WagerMoved, PaymentAnnounced, PayoutMade, ZeroDecided)
"""Events that name one wager, placed before."""


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
    """Return ``readings``. Raise ``ShapeError`` for a name or a value that section 5 does not have."""
    try:
        msgspec.convert(dict(readings), Params)
    except msgspec.ValidationError as error:
        raise ShapeError(str(error)) from None
    return dict(readings)


def _resolve(event: SessionOpened, ruleset: Ruleset, readings: Mapping[str, Any]) -> Session:
    """Return the session with every reading resolved: from ``readings``, else its own, else the ruleset's default."""
    data = event.data
    params = data.params or Params()
    if readings:
        params = msgspec.convert(msgspec.to_builtins(params) | dict(readings), Params)
    seat_limit = ruleset.seat_limit_doubled if data.double_table is True else ruleset.seat_limit
    if ruleset.seat_limit is not None and isinstance(params.seat_limit, int):
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
        zero_rule=cast(Literal["choice", "half", "lose"], params.zero_rule or ruleset.zero_rule),
        release_value=params.release_value,
        throw_delay_s=params.throw_delay_s,
        seat_limit=seat_limit,
        calls="calls" in observes,
        collections="collections" in observes,
        custody="custody" in observes,
        wheel="wheel" in observes,
    )


def _check_clock(table: Table, event: Event, clock: datetime) -> None:
    """Find a clock that stepped back; ``clock`` is that of the event before."""
    back = clock - event.occurred_at
    if back > CLOCK_TOLERANCE:
        find(
            table,
            "clock-went-back",
            event.seq,
            # In the event's own offset: a saved state keeps the instant, not the offset it was sent with.
            expected=clock.astimezone(event.occurred_at.tzinfo).isoformat(),
            recorded=event.occurred_at.isoformat(),
            back_s=int(back.total_seconds()),
        )


def fold(events: Sequence[Event]) -> State:
    """Return the state after ``events``: a whole stream in order of ``seq``, each number at most once."""
    state = State(event for event in events if isinstance(event, EntryCorrected))
    state.feed_all(events)
    return state


def adjudicate(events: Iterable[Event | bytes | str]) -> Adjudication:
    """Return the answer to a stream.

    ``events`` are the events of one stream, decoded or as raw JSON, in any order; the same event may come again. Of two
    contents of one ``seq`` the first counts, and `sequence-conflict` is found. Raise ``ShapeError`` for raw JSON that
    is not a well-shaped event, ``AnotherStream`` for events of several streams.
    """
    raw = [in_bytes(item) if isinstance(item, str) else item for item in events]
    stream = _decoded(raw)
    name = stream[0].stream if stream else ""
    for event in stream:
        if event.stream != name:
            raise AnotherStream(name, event.stream)
    conflicts: list[int] = []
    if any(event.seq <= before.seq for before, event in pairwise(stream)):
        stream, conflicts = _in_order(stream, raw)
    state = fold(stream)
    table = state.table
    losses = [finding.seq for finding in table.findings if finding.rule in ("sequence-gap", "events-lost")]
    for seq in conflicts:
        table.after_loss = any(loss <= seq for loss in losses)
        find(table, "sequence-conflict", seq)
    return state.adjudication()


def _decoded(items: list[Event | bytes]) -> list[Event]:
    raw = [item for item in items if isinstance(item, bytes)]
    if len(raw) == len(items):
        return decode_all(raw)
    return [decode(item) if isinstance(item, bytes) else item for item in items]


def _in_order(stream: list[Event], items: list[Event | bytes]) -> tuple[list[Event], list[int]]:
    """Return ``stream``, decoded from ``items``, by ``seq``, each once, and the numbers that came with two contents."""
    first: dict[int, int] = {}
    conflicts: set[int] = set()
    for index, event in enumerate(stream):
        earlier = first.setdefault(event.seq, index)
        if earlier != index and not _same(items[earlier], items[index], stream[earlier], event):
            conflicts.add(event.seq)
    return [stream[first[seq]] for seq in sorted(first)], sorted(conflicts)


def _same(first: Event | bytes, again: Event | bytes, event: Event, other: Event) -> bool:
    """Whether two items under one ``seq`` are the same event: raw ones by their canonical form."""
    if isinstance(first, bytes) and isinstance(again, bytes):
        try:
            return first == again or canonical(first) == canonical(again)
        except ShapeError:  # an object that gives a name twice has no canonical form
            return False
    return event == other
