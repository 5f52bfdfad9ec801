"""Appends, corrections, steps, crashes, failures and new versions in any order: what stands, by a second account.

The account is written from the specification alone, and slowly: it folds every run from the first event each time, and
keeps what stands as values. Of the code under test it uses nothing but the law.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.adjudication import replay, retired_wagers, runs
from audit.adjudication.replay import advance
from audit.event_store.append import NewEvent, append
from audit.models import AdjudicationRun, Case, Finding
from settlement import Event, NeedsReplay, State
from settlement.codec import decode_canonical, next_seq_after
from settlement.events import EntryCorrected
from tests.audit.adjudication.finished import of_finished_coups
from tests.audit.adjudication.test_any_stream import corrected_streams, recorded
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db(transaction=True)

Content = tuple[Any, ...]
"""Where a finding is, and what it says."""

NOT_OF_THE_LAW = "late-after-close"
"""Found by replay itself, and so not by this account."""


def corrections_among(events: list[Event]) -> list[EntryCorrected]:
    return [each for each in events if isinstance(each, EntryCorrected)]


def waiting(events: list[Event]) -> frozenset[int]:
    """Return the corrections of a stream that wait for officers, of whom nobody has approved any.

    All that are more than information when each takes effect; and if without these another is, every one.
    """
    waits: frozenset[int] = frozenset()
    corrections = corrections_among(events)
    while True:
        state = State(corrections, {}, approved=None, held=waits)
        state.feed_all(events)
        about = [each for each in state.new_findings if each.rule == "entry-corrected" and each.seq not in waits]
        grave = {each.seq for each in about if each.severity != "info"}
        if not grave:
            return waits
        waits = frozenset(each.seq for each in corrections) if waits else frozenset(grave)


def heads(standing: set[Content]) -> set[tuple[int, str, str]]:
    """Return the first cause of each finding that has a case: an incident has one, and one for information none."""
    causes = {each[:3]: each[-1] for each in standing}

    def head(name: Content) -> Content:
        return head(causes[name][0]) if causes[name] and causes[name][0] in causes else name

    grave = [each[:3] for each in standing if each[3] != "info"]
    return {(seq, rule, wager) for seq, rule, wager in map(head, grave)}


@dataclass
class Account:
    """One stream: which run reads it now, and what stands.

    A run is complete once it has read what there is, or all that is before a correction that it does not know.
    """

    events: list[Event] = field(default_factory=list)
    version: int = 0
    known_through: int = 0
    read: int = 0
    standing_before: set[Content] | None = None  # what stands until the run is complete; None if the run itself stands
    has_run: bool = False
    is_complete: bool = False
    held: frozenset[int] = frozenset()  # the corrections that are known to wait for officers: nobody approves any here
    ever_stood: set[tuple[int, str, str]] = field(default_factory=set)

    def found(self, read: int) -> set[Content]:
        """Return what the current run has found in its first ``read`` events. Raise ``NeedsReplay``."""
        known = [each for each in corrections_among(self.events) if each.seq <= self.known_through]
        state = State(known, {}, approved=(), held=self.held)
        state.feed_all(self.events[:read])
        return {
            (
                *(each.seq, each.rule, each.wager or "", each.severity, tuple(each.evidence)),
                *(each.expected, each.recorded),
                tuple((cause.seq, cause.rule, cause.wager or "") for cause in each.causes),
            )
            for each in state.new_findings
        }

    def stands(self) -> set[Content]:
        return self.found(self.read) if self.standing_before is None else self.standing_before

    def begin(self, version: int, known_through: int, held: frozenset[int] = frozenset()) -> None:
        """Begin a run: until it is complete, what stood before it stands, if anything had been read."""
        if self.has_run and (self.read or self.standing_before is not None):
            self.standing_before = self.stands()
        elif known_through:
            self.standing_before = set()  # it may find that a correction waits: until then nothing stands by it
        self.has_run, self.version, self.known_through, self.read, self.held = True, version, known_through, 0, held
        self.is_complete = False

    def begin_if_new(self, version: int) -> None:
        """Begin a run of an engine version. Only one that replaces another knows the corrections that there are."""
        if not self.has_run:
            self.begin(version, 0)
        elif self.version != version:
            self.begin(version, max((each.seq for each in corrections_among(self.events)), default=0))

    def through(self, size: int) -> int:
        """Return how many events are read after the next step."""
        through = min(self.read + size, len(self.events))
        unknown = [each.seq for each in corrections_among(self.events) if each.seq > self.known_through]
        if self.read and not self.is_complete and unknown:
            through = min(through, max(unknown[0] - 1, self.read + 1))
        return through

    def step(self, version: int, size: int) -> None:
        self.begin_if_new(version)
        through = self.through(size)
        try:
            self.found(through)
        except NeedsReplay as needed:
            of_known = {each.seq: each.data.corrects for each in corrections_among(self.events)}
            newly = {of_known[each] for each in needed.held - self.held}
            if newly and self.read and min(newly) > self.read:
                self.held = needed.held
                return
            if not newly and self.read:
                self.complete()
            known = self.known_through if newly else corrections_among(self.events)[-1].seq
            if self.read:
                self.begin(version, known, needed.held)
            else:
                self.known_through, self.held = known, needed.held
                self.standing_before = self.standing_before or set()
            return
        self.read = through
        if self.read == len(self.events):
            self.complete()
        self.ever_stood |= heads(self.stands())

    def complete(self) -> None:
        """Have what the run has found stand."""
        self.is_complete, self.standing_before = True, None
        self.ever_stood |= heads(self.stands())


def in_the_record(stream_id: int) -> set[Content]:
    rows = Finding.objects.standing().filter(stream_id=stream_id).exclude(rule=NOT_OF_THE_LAW)
    return {
        (
            *(each.seq, each.rule, each.wager, each.severity, tuple(each.evidence), each.expected, each.recorded),
            tuple((cause["seq"], cause["rule"], cause["wager"] or "") for cause in each.causes),
        )
        for each in rows
    }


def in_the_record_wait(stream_id: int) -> set[int]:
    rows = Finding.objects.standing().filter(stream_id=stream_id, facts__waits="waits")
    return set(rows.values_list("seq", flat=True))


def cases(stream_id: int) -> set[tuple[int, str, str]]:
    rows = Case.objects.filter(stream_id=stream_id).exclude(rule=NOT_OF_THE_LAW)
    return set(rows.values_list("seq", "rule", "wager"))


def as_values(contents: set[Content]) -> set[str]:
    return {json.dumps(each, default=str, sort_keys=True) for each in contents}


def crashing(step: Callable[..., Any]) -> Callable[..., Any]:
    def dies(*args: Any, **kwargs: Any) -> None:
        step(*args, **kwargs)
        raise KeyboardInterrupt

    return dies


@dataclass
class Driven:
    """The record and the account of it, driven together."""

    stream_id: int
    remaining: list[tuple[Event, bytes]]
    size: int
    piece: int
    account: Account = field(default_factory=Account)
    version: int = 1

    def append(self) -> None:
        batch, self.remaining = self.remaining[: self.piece], self.remaining[self.piece :]
        if batch:
            entries = [NewEvent(event.seq, event.occurred_at, raw) for event, raw in batch]
            append(self.stream_id, entries, next_seq=next_seq_after(batch[-1][0]), key_id=1)
            self.account.events += [event for event, _raw in batch]

    def step(self) -> None:
        advance(self.stream_id, in_pause=True)
        self.account.step(self.version, self.size)

    def crash(self, module: Any = replay.findings, name: str = "add_findings") -> None:
        """Have a worker die in a step, after what ``name`` does."""
        with mock.patch.object(module, name, crashing(getattr(module, name))):
            try:
                advance(self.stream_id, in_pause=True)
            except KeyboardInterrupt:
                self.account.begin_if_new(self.version)  # in a transaction of its own, before the step
            else:  # there was nothing to fold, or a correction came first
                before = self.account.read
                self.account.step(self.version, self.size)
                assert self.account.read in (0, before)

    def crash_later(self) -> None:
        self.crash(retired_wagers, "retire")

    def deploy(self) -> None:
        self.version += 1
        replay.ENGINE_VERSION = str(self.version)

    def fail(self) -> None:
        runs.record_failure(self.stream_id, str(self.account.version), ZeroDivisionError())

    def agree(self, after: str) -> None:
        """Assert that the record and the account say the same."""
        account, of_stream = self.account, Finding.objects.filter(stream_id=self.stream_id)
        stands = account.stands() if account.has_run else set()
        assert as_values(in_the_record(self.stream_id)) == as_values(stands), after
        assert cases(self.stream_id) == account.ever_stood, after
        assert not of_stream.filter(stood_at=None).exclude(case=None).exists(), after
        assert of_stream.standing().values("engine_version").distinct().count() <= 1, after

    def drain(self) -> None:
        """Append and read what is left."""
        while self.remaining:
            self.append()
        self.step()  # also for a run that failed after the last event, which is tried again
        while self.account.standing_before is not None or self.account.read < len(self.account.events):
            self.step()
            self.agree("at the end")


ACTIONS = st.lists(
    st.sampled_from(["append", "append", "step", "step", "step", "step", "crash", "crash later", "deploy", "fail"]),
    min_size=5,
    max_size=25,
)


def agrees_after_every_action(stream: list[bytes], actions: list[str], size: int, piece: int) -> None:
    """Drive the record and the account of it through ``actions``, and compare what stands after each."""
    stream_id = recorded(Tenant(), stream)
    driven = Driven(stream_id, [decode_canonical(raw) for raw in stream], size, piece)
    does = {
        "append": driven.append,
        "step": driven.step,
        "crash": driven.crash,
        "crash later": driven.crash_later,
        "deploy": driven.deploy,
        "fail": driven.fail,
    }
    driven.append()
    with mock.patch.object(replay, "STEP_EVENTS", size), mock.patch.object(replay, "ENGINE_VERSION", "1"):
        for action in actions:
            does[action]()
            driven.agree(action)
        driven.drain()
    assert sorted((seq, rule, wager) for seq, rule, wager, *_ in in_the_record(stream_id)) == sorted(
        (each.seq, each.rule, each.wager or "") for each in of_finished_coups(stream)
    )
    assert in_the_record_wait(stream_id) == driven.account.held == waiting(driven.account.events)
    last = AdjudicationRun.objects.filter(stream_id=stream_id).order_by("number").last()
    assert last is not None
    assert last.state == "complete"


in_any_order = given(stream=corrected_streams(), actions=ACTIONS, size=st.integers(1, 6), piece=st.integers(1, 8))
examples = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@settings(examples, max_examples=5)
@in_any_order
def test_what_stands_is_what_the_specification_says_after_every_action(**drawn: Any) -> None:
    agrees_after_every_action(**drawn)


@pytest.mark.faults
@examples
@in_any_order
def test_what_stands_is_what_the_specification_says_in_many_orders(**drawn: Any) -> None:
    agrees_after_every_action(**drawn)
