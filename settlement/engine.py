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

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

import msgspec

from settlement import changes, register
from settlement.adjudication import Adjudication, outcomes_of, provisions_of, unchecked
from settlement.arrival import AnotherStream, NeedsReplay
from settlement.calls import reopen
from settlement.comparison import PARAMS, Comparisons, as_it_reads, pending
from settlement.corrections import Change, Corrections, target_of
from settlement.days import check_clock, check_days
from settlement.events import (
    CountOpened,
    EntryAnnulled,
    EntryCorrected,
    Event,
    EventsLost,
    ExtensionEvent,
    SessionOpened,
)
from settlement.finding import Finding, latest
from settlement.findings import find
from settlement.incidents import with_consequences
from settlement.interceptors import NOT_INTERCEPTED, Interceptors, around
from settlement.mentions import load_wagers, mentioned, save_wagers
from settlement.outcomes import Effect, effect_of
from settlement.register import READINGS
from settlement.ruleset import RULESETS, Handler, Ruleset, as_opened
from settlement.staff import open_staff
from settlement.state import Table, Wager
from settlement.verdicts import as_it_stands

__all__ = [
    "ENGINE_VERSION",
    "READINGS",
    "AnotherStream",
    "NeedsReplay",
    "State",
    "load_wagers",
    "mentioned",
    "save_wagers",
]

ENGINE_VERSION = "3"
"""Version of the law as coded here. A change that gives any stream another answer needs a new version."""

# JSON, because sums of amounts may be larger than the 64 bits of MessagePack's integers.
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Table).decode


class State:
    """The law applied to a stream so far.

    ``corrections`` are the changes to earlier events (``corrections.changes_in``) of the stream, known in advance, so
    that each event is folded as they leave it. A change that is not among them raises ``NeedsReplay`` when it is fed.
    ``readings`` are the register; None: the session's own params decide (``register``).
    ``approved`` are the changes that two officers approved, by seq; None: all. Another change that is more than
    information waits: it has no effect and says so. ``NeedsReplay`` names them with the last known change (``held``).
    ``compares``: whether to find out what changes hide, and what the session's own params would pay (``comparison``). A
    state that does not compare takes ``held`` as it is given, and never raises for it.
    """

    __slots__ = (
        "__weakref__",
        "_approved",
        "_compares",
        "_comparisons",
        "_handlers",
        "_register",
        "_usual",
        "_without",
        "corrections",
        "table",
    )

    def __init__(
        self,
        corrections: Iterable[Change] = (),
        readings: Mapping[str, Any] | None = None,
        approved: Collection[int] | None = None,
        *,
        held: Collection[int] = (),
        compares: bool = True,
    ) -> None:
        """Raise ``ShapeError`` if ``readings`` has a name or a value that there is not."""
        self.corrections = Corrections(corrections, held)
        self.table = Table(announced=[change.seq for change in self.corrections.changes], held=sorted(held))
        self._handlers: Mapping[type, Handler] = {}
        self._usual: Mapping[type, Handler] = {}
        self._register = register.checked(readings)
        self._approved = None if approved is None else frozenset(approved)
        self._compares = compares
        self._without: int | None = None  # the change that this state is without, or with, for a comparison
        self._comparisons = Comparisons(self)

    @classmethod
    def from_bytes(
        cls,
        saved: bytes,
        corrections: Iterable[Change] = (),
        readings: Mapping[str, Any] | None = None,
        approved: Collection[int] | None = None,
        *,
        compares: bool = True,
    ) -> State:
        """Restore the state that ``to_bytes`` saved; the other arguments are those it was created with.

        ``corrections`` are those it had ``announced``; once it has folded the last of them, none is needed.
        """
        table = _decode(saved)
        state = cls(corrections, readings, approved, held=table.held, compares=compares)
        state._take(table)
        state._comparisons = Comparisons(state)
        return state

    def twin(self, table: Table, without: int) -> State:
        """Return a state that goes on from ``table`` with change ``without`` the other way round: for a comparison."""
        other = State(compares=False)
        other.corrections = self.corrections.without(without) if without else self.corrections
        other._register = self._register if without else None
        other._without = without
        other._take(table)
        return other

    def _take(self, table: Table) -> None:
        self.table = table
        if table.session is not None:
            self._handle_as(RULESETS[table.session.ruleset])

    def _handle_as(self, ruleset: Ruleset) -> None:
        handlers = dict(ruleset.handlers)  # looked up faster than in a MappingProxyType
        register.watched_unit(handlers, self.table.open_session(), self._register)
        self._handlers = handlers
        # What may void a result may be a change to an earlier event.
        self._usual = {kind: handler for kind, handler in handlers.items() if kind.voids_result is None}

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
    def handled(self) -> Collection[type]:
        """The event types that the ruleset handles; none before the opener."""
        return self._handlers.keys()

    def corrected(self, event: Event) -> Event:
        """Return ``event`` as the known changes leave it; the event itself if none of them changes its data."""
        return self.corrections.corrected(event)

    def feed(self, event: Event) -> list[Finding]:
        """Fold one event and return the findings that it completes. Raise as ``feed_all`` does."""
        return self.feed_all((event,))

    def feed_all(self, events: Iterable[Event], interceptors: Interceptors = NOT_INTERCEPTED) -> list[Finding]:
        """Fold ``events``, which are in order of ``seq``, and return the findings that they complete.

        The money of a coup is judged when the coup ends: its findings name the last payment, and come with the result
        after it. Then come findings of earlier coups that read otherwise now, whole and with their identity (seq, rule,
        wager): what was put right in a later coup or settled in a dispute. ``finding.latest`` merges the two.

        ``interceptors`` take over the events of some types, to look at the state before and after: each is called with
        the event and with what folds it, which it has to call. The state may not have counted earlier events yet.

        Raise ``AnotherStream`` for an event of another stream. Raise ``NeedsReplay`` for an event that does not come
        after the last one, and for a change that was not known in advance. What came before it is folded. Raise
        ``NeedsReplay`` with ``held`` at the last known change, if changes are found to have no effect.
        """
        table = self.table
        before, amended_before = len(table.findings), len(table.amended)
        remaining = iter(events)
        if not self.table.events:
            for event in remaining:  # whether anything is to be compared is known after the opener
                self._watch(event, interceptors)
                break
        if self.corrections.last or self.table.differences:
            for event in remaining:
                self._watch(event, interceptors)
        else:
            self._run(remaining, interceptors)
        if len(table.amended) == amended_before:
            return table.findings[before:]
        return [*table.findings[before:], *table.amended[amended_before:]]

    def _watch(self, event: Event, interceptors: Interceptors) -> None:
        """Fold one event of a stream that changes earlier ones, or is compared with another reading of itself."""
        if type(event) in interceptors:
            interceptors[type(event)](event, self.feed)
            return
        table, comparisons, corrections = self.table, self._comparisons, self.corrections
        seq = event.seq
        if self._compares and (comparisons.others or table.differences):
            comparisons.before(event, mentioned((event, corrections.corrected(event))))
        if self._compares and seq in corrections.targets:
            comparisons.begin(event)
        before = len(table.findings)
        self._run((event,), NOT_INTERCEPTED)
        found = table.findings[before:]
        if seq < corrections.last:
            changes.follow(table, event, corrections, found)
        comparisons.after(event, found)

    def _run(self, events: Iterable[Event], interceptors: Interceptors) -> None:
        table = self.table
        targets = self.corrections.targets
        handler_of = self._handler_of(interceptors)
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
                if type(event) in interceptors:
                    interceptors[type(event)](event, self._fold_unusual)
                else:
                    self._fold_unusual(event)
                expected, last_seq, folded, clock = table.next_seq, table.last_seq, table.events, table.clock
                if folded == 1:  # that was the opener, which names the ruleset
                    stream = table.stream
                    handler_of = self._handler_of(interceptors)
                continue
            expected, last_seq, clock = seq + 1, seq, at
            folded += 1
            handler(table, event)
        table.next_seq, table.last_seq, table.events, table.clock = expected, last_seq, folded, clock

    def _handler_of(self, interceptors: Interceptors) -> Callable[[type], Handler | None]:
        """Return a lookup of handlers, interceptors included, by event type: None for types that need another look."""
        return around(self._usual, interceptors, self.table).get if interceptors else self._usual.get

    def _fold_unusual(self, event: Event) -> None:
        """Fold an event that is more than the next one for its handler; raise as ``feed_all`` does."""
        table = self.table
        seq = event.seq
        if event.stream != table.stream and table.events:
            raise AnotherStream(table.stream, event.stream)
        target = target_of(event)
        if seq <= table.last_seq or (target is not None and not self.corrections.knows(event)):
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
        # An integrator's own event stands between no two events: not even its clock counts.
        if not isinstance(event, ExtensionEvent) or table.events == 1:
            if table.clock is not None and event.occurred_at < table.clock:
                check_clock(table, event, table.clock)
            table.clock = event.occurred_at
        if seq in self.corrections.targets:
            noted = changes.note(table, event, self.corrections)
            if noted.removed:
                if self.corrections.voids(noted.removed):
                    reopen(table)
                return
            event = self.corrected(event)
        if target is not None:
            is_in_play = self._change(cast(Change, event))
            if table.found and seq == self.corrections.last:
                raise NeedsReplay(held=self.corrections.held_with(table.found, self._approved))
            if not is_in_play:
                return
            changes.restore_call(table, cast(Change, event))
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
            case SessionOpened() if table.events == 1:
                self._open(event)
            case CountOpened() if table.events == 1:
                pass
            case _ if table.events == 1:
                find(table, "unknown-ruleset", event.seq, event_type=event.type)

    def _change(self, change: Change) -> bool:
        """Judge a change to an earlier event, which comes now. Return whether it has to be folded as an event, too."""
        table, seq = self.table, change.seq
        is_in_play = not isinstance(change, EntryCorrected | EntryAnnulled)
        fault = changes.fault_of(table, change, self.corrections)
        is_held = seq in self.corrections.held
        if self._without is not None:
            return is_in_play and fault is None and not is_held
        if fault is not None:
            changes.report_fault(table, change, fault)
            if fault == "not_last_result" and not is_held:
                self._find_without_effect(seq)
            return False
        effect = self._effect_of(change, is_held=is_held)
        severity, grave = changes.severity_of(table, change, self.corrections, effect)
        difference = table.differences.get(seq)
        if severity is None and difference is not None and self._comparisons.is_followed(seq):
            severity = "info"  # they name it as their cause
        if severity == "info" and is_held:
            severity = "major"
        is_approved = self._approved is None or seq in self._approved
        if severity not in (None, "info") and not is_approved and not is_held:
            self._find_without_effect(seq)
        if severity is not None or is_held:
            changes.report(table, change, self.corrections, severity or "major", effect, grave, waits=is_held)
            if difference is not None:
                difference.finding = table.findings[-1]
                difference.waits = is_held
                table.findings[-1] = as_it_reads(difference)
        return is_in_play and not is_held

    def _find_without_effect(self, seq: int) -> None:
        """Have the stream be read again without change ``seq``, which had its effect on what came before it.

        The rest is judged as if it went on having it, so that one more reading does for every such change.
        """
        if self._compares:
            self.table.found.append(seq)

    def _effect_of(self, change: Change, *, is_held: bool) -> Effect:
        """Return what ``change`` does to the wagers, or would do if it is held, by what stands now."""
        difference = self.table.differences.get(change.seq)
        if difference is None:
            return Effect()
        other = self._comparisons.others.get(change.seq)
        if other is None:
            return changes.UNKNOWN
        before, after = (self.table, other.table) if is_held else (other.table, self.table)
        ids = {*other.table.wagers, *difference.absent}
        return effect_of(self.corrections.entry_of(change.seq), before, after, ids)

    def _open(self, event: SessionOpened) -> None:
        table = self.table
        data = event.data
        table.ruleset = data.ruleset
        ruleset = RULESETS.get(data.ruleset)
        if ruleset is None or ruleset.game != data.game:
            find(table, "unknown-ruleset", event.seq, recorded=data.ruleset, game=data.game)
            return
        resolved = register.resolve(event, ruleset, self._register)
        table.session = resolved.session
        table.opened_by = event.seq
        open_staff(table, data)
        self._handle_as(ruleset)
        check_days(table, event.seq, ruleset)
        register.report(table, event.seq, resolved)
        if self._compares and resolved.differs:
            self._compare_with_params(event, resolved)

    def _compare_with_params(self, event: SessionOpened, resolved: register.Resolved) -> None:
        """Fold the stream under the session's own params beside this one, if money may depend on them."""
        if register.OF_MONEY.isdisjoint(resolved.differs):
            return
        other = self.twin(Table(), without=PARAMS)
        other._run((event,), NOT_INTERCEPTED)
        other.table.findings.clear()
        self._comparisons.begin_with(other)
        self.table.differences[PARAMS].finding = self.table.findings[-1 - bool(resolved.missing)]

    def unheld(self, events: Iterable[Event]) -> set[str]:
        """Return the ids of wagers that ``events`` mention and this state does not hold: retired, or not placed yet."""
        differing: set[str] = set()
        if self.corrections.targets:
            events = list(events)
            # What a change does is seen when it comes, on every wager that differs without it.
            differing.update(*(self._comparisons.differing(event.seq) for event in events))
            events = [each for event in events for each in (event, self.corrected(event))]
        return (differing | mentioned(events, self.table.disputes)) - self.table.wagers.keys()

    def recall(self, wagers: Iterable[Wager]) -> None:
        """Hold retired wagers again, as they were when they retired."""
        self.table.wagers.update((wager.id, wager) for wager in wagers)

    def retire(self) -> list[Wager]:
        """Take out and return the wagers that nothing is pending on: ``adjudication`` lacks them until recalled."""
        table = self.table
        self._comparisons.settle(table.last_seq)
        # What is pending in a comparison is held, too, to be compared when it is decided there.
        needed = pending(table) | (self._comparisons.pending() & table.wagers.keys())
        kept = [table.wagers[wager_id] for wager_id in needed]
        kept.sort(key=lambda wager: wager.placed_by)
        for wager in kept:
            del table.wagers[wager.id]
        retired = list(table.wagers.values())
        table.wagers = {wager.id: wager for wager in kept}
        return retired

    def revised(self) -> list[Finding]:
        """Return the findings, raised earlier, that say more since this was asked last: of a change what it hides."""
        revised = []
        for key, difference in self.table.differences.items():
            if self._comparisons.is_revised(key) and difference.finding is not None:
                revised.append(self._comparisons.as_it_reads(key))
            difference.revised = False
        return revised

    @property
    def new_findings(self) -> list[Finding]:
        """The findings since the last ``forget_findings``, each once: of one that was amended, as it reads now.

        One that was forgotten and amended since is among them, under the identity (seq, rule, wager) that it had: who
        stores findings by identity puts it in the place of the old one.
        """
        return latest([*self.table.findings, *self.table.amended])

    def forget_findings(self) -> None:
        """Drop the findings so far, which the caller has stored: ``adjudication`` lacks them."""
        self.table.findings.clear()
        self.table.amended.clear()

    @property
    def readings_digest(self) -> str:
        """SHA-256 of the readings that this session is adjudicated under, 64 hex digits."""
        return register.digest_of(self.table.session)

    def adjudication(self) -> Adjudication:
        """Return the answer after the last event.

        Of the coup under way it has payments that are wrong as they stand, and none that are only missing. ``feed`` and
        ``feed_all`` return of a coup's money only what is to be said when it has ended.
        """
        table, session = self.table, self.table.session
        ruleset = RULESETS.get(table.ruleset or "")
        return Adjudication(
            stream=table.stream,
            ruleset=table.ruleset,
            events=table.events,
            wagers=outcomes_of(table.wagers.values(), provisions_of(ruleset), as_it_stands(table).debts),
            findings=with_consequences(sorted(self.findings(), key=lambda finding: finding.order)),
            corrections=table.corrections,
            unchecked=[] if ruleset is None or session is None else unchecked(table, ruleset, session),
            state={} if ruleset is None else ruleset.state_of_play(table),
            currency=session.currency if session is not None else "",
        )

    def findings(self, *, under_way: bool = True) -> list[Finding]:
        """Return the findings so far, those that comparisons or later events have revised as they read now.

        ``under_way``: with the money of the coup that has not ended, as it stands.
        """
        table = self.table
        standing, amended, _debts = as_it_stands(table) if under_way else ([], [], {})
        if under_way and not table.coup_began:
            standing += as_opened(table)
        standing = self._comparisons.excused(standing)
        findings = table.findings
        if table.amended or standing or amended:
            findings = latest([*findings, *table.amended, *standing, *amended])
        return self._comparisons.revise(findings, standing if under_way else None)
