"""A schedule: one stream through web server, sequencer and workers, in an order and with crashes chosen by a seed."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

from django.core.handlers.wsgi import WSGIHandler

from audit.adjudication import replay
from audit.adjudication.results import answer_of, standing
from audit.event_store import binary_copy, read
from audit.models import Finding
from audit.transparency import signing_keys
from audit.transparency.sequencer import Fenced, Sequencer, catch_up
from audit.transparency.verify import verify
from settlement import ENGINE_VERSION, adjudicate
from tests.audit.api.test_recording import post
from tests.audit.api.web import Web
from tests.audit.corrections.corrections_desk import approve
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.faults.crash_points import SIDES, CrashPoint, Outcome, finish, run, run_here, start

Event = dict[str, Any]

STEP_EVENTS = 4
"""For ``replay.STEP_EVENTS``: so few events that a short stream takes a worker several steps."""

MAX_TRIES = 60

CORRECTION = 14
"""The seq of the correction in ``events_of``, which comes after money moved."""

handler = WSGIHandler()


# The actors. Each starts as a new process does, with nothing cached.


_answered_before = Web(handler)
"""What a web server has asked of Django's policy with its first requests: an actor has it."""


def learn_policy(tenant: Tenant) -> None:
    """Have Django answer a first request, once for all schedules."""
    if not _answered_before.policy.known:
        stream = f"first-{uuid4().hex[:12]}"
        status, _, _ = post(_answered_before, stream, events_of(tenant, stream)[:1], tenant.secret)
        assert (status, bool(_answered_before.policy.known)) == (201, True)


def send(tenant: Tenant, stream: str, batch: list[Event]) -> Callable[[], Any]:
    """Return a web server as an actor: it stores a batch and answers with a status and a receipt."""
    learn_policy(tenant)

    def web() -> Any:
        signing_keys._keyring.forget()
        server = Web(handler)
        server.policy.known |= _answered_before.policy.known
        status, _, body = post(server, stream, batch, tenant.secret)
        return [status, body]

    return web


def replay_stream(stream_id: int) -> Callable[[], Any]:
    """Return a worker as an actor: it replays a stream to its end."""

    def worker() -> Any:
        while (progress := replay.advance(stream_id)) is not None and progress.behind:
            pass
        return progress is not None

    return worker


def seal() -> Any:
    """Seal the outbox as a sequencer does; return how much still waits, or "fenced" if another sequencer was first."""
    signing_keys._keyring.forget()
    sequencer = Sequencer(lambda left: None)
    sequencer.load()
    try:
        return catch_up(sequencer)
    except Fenced:
        return "fenced"


ACTORS = ("open", "append", "again", "replay", "correct", "seal")
"""Whose steps are counted: the web server in three situations, a worker in two, the sequencer."""


def events_of(tenant: Tenant, stream: str) -> list[Event]:
    """Return a session with findings, a correction that takes one away once officers approve it, and what follows."""
    played = dice_changed_in_mid_series(tenant, stream)
    right = {"wager": "w2", "winnings": 700, "stake_returned": 600}
    entry = {"corrects": 12, "data": right, "reason": "misread", "approved_by": "chef-4"}
    again = {"wager": "w2", "winnings": 1, "stake_returned": 0}
    thrown = {"faces": [1, 2], "seat": "S1", "dice": ["g", "h"]}
    late = [("entry.corrected", entry), ("payout.made", again), ("dice.thrown", thrown)]
    return played + numbered(played[0], *[("x", {})] * (len(played) - 1), *late)[len(played) :]


@dataclass
class Schedule:
    """One run of a seed. ``planned`` says where actors are certain to be killed, one after the other of each.

    Others die at random. ``killed`` counts those that were killed as planned.
    """

    tenant: Tenant
    seed: int
    planned: Mapping[str, Sequence[CrashPoint]]
    rng: random.Random = field(init=False)
    receipts: dict[int, Any] = field(default_factory=dict)  # by the first seq of a batch
    hints: list[int] = field(default_factory=list)
    killed: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.to_come = {actor: deque(points) for actor, points in self.planned.items()}
        self.stream = f"faults-{self.seed}"
        self.events = events_of(self.tenant, self.stream)

    def play(self) -> None:
        """Send every event, kill actors here and there, recover, and check what must hold."""
        for batch in self._batches():
            self._deliver(batch)
            if self._is_planned("replay"):
                self._replay(self._stream_id())
            elif self.rng.random() < 0.6:
                self._run_another_actor()
        self._recover()
        self._check(approved=[])
        approve(self.tenant.casino, self._stream_id(), CORRECTION)  # and the hint to the workers is lost
        self._recover()
        self._check(approved=[CORRECTION])

    def _batches(self) -> Iterator[list[Event]]:
        low = 0
        while low < len(self.events):
            high = low + self.rng.randint(2, 8)
            yield self.events[low:high]
            low = high

    def _deliver(self, batch: list[Event]) -> None:
        """Send a batch until it is acknowledged, as a table system does when it does not know whether it was stored."""
        kind = "open" if batch[0]["seq"] == 1 else "append"
        for attempt in range(MAX_TRIES):
            outcome = self._run("again" if attempt else kind, send(self.tenant, self.stream, batch))
            if outcome.answer is None:
                continue
            status, receipt = outcome.answer
            assert status in (200, 201), outcome.answer
            self.receipts[batch[0]["seq"]] = receipt
            if self._is_planned("again") or self.rng.random() < 0.2:  # once more
                again = self._run("again", send(self.tenant, self.stream, batch))
                assert again.killed or again.answer == [200, receipt], "a receipt never changes"
            return
        raise AssertionError("never acknowledged")

    def _run_another_actor(self) -> None:
        """Deliver a hint, lose it or deliver it twice; run a sequencer, or two at once."""
        match self.rng.randrange(5):
            case 0 | 1 if self.hints:
                stream_id = self.hints[self.rng.randrange(len(self.hints))]  # in any order, and perhaps again
                if self.rng.random() < 0.5:
                    self.hints.remove(stream_id)
                self._replay(stream_id)
            case 2:
                self.hints.clear()  # the broker lost everything
            case 3:
                self._run("seal", seal)
            case _:
                first, second = start(seal), start(seal)
                finish(first)
                finish(second)

    def _is_planned(self, kind: str) -> bool:
        return bool(self.to_come.get(kind))

    def _replay(self, stream_id: int) -> None:
        kind = "correct" if read.next_seq_of(stream_id) > 13 else "replay"
        self._run(kind, replay_stream(stream_id))

    def _run(self, kind: str, actor: Callable[[], Any]) -> Outcome:
        die_at = planned = None
        if self._is_planned(kind):
            die_at = planned = self.to_come[kind].popleft()
        elif self.rng.random() < 0.15:
            die_at = CrashPoint(self.rng.randint(1, 12), self.rng.choice(("before", "after")))
        outcome = run_here(actor) if die_at is None else run(actor, die_at)
        if planned is not None and outcome.killed:
            self.killed += 1
        elif planned is not None:  # there was less to do, this time
            self.to_come[kind].append(planned)
        self.hints += outcome.hinted
        return outcome

    def _recover(self) -> None:
        """Recover as a deployment does by itself: sweep for dirty streams, and start the sequencer again."""
        stream_id = self._stream_id()
        for _ in range(MAX_TRIES):
            if stream_id not in read.dirty_streams(ENGINE_VERSION, limit=1_000):
                break
            self._replay(stream_id)
        else:
            raise AssertionError("the stream stays dirty")
        for _ in range(MAX_TRIES):
            if self._run("seal", seal).answer == 0:
                return
        raise AssertionError("batches stay unsealed")

    def _stream_id(self) -> int:
        head = read.head_of(self.tenant.casino.pk, self.stream)
        assert head is not None
        return head.stream_id

    def _check(self, *, approved: list[int]) -> None:
        stream_id = self._stream_id()
        stored = [json.loads(raw) for _, raw in read.whole(stream_id)]
        assert stored == [{"v": 1, **event} for event in self.events], "each event is stored once, at its seq"
        outcome = verify(signing_keys.verifiers("checkpoint"), streams=[stream_id], with_tree=False)
        assert outcome.faults == []
        assert binary_copy.execute("select count(*) from log.outbox where stream_id = %b::bigint", (stream_id,)) == [
            (0,)
        ]
        whole = adjudicate([raw for _, raw in read.whole(stream_id)], readings={}, approved=approved)
        rows = Finding.objects.filter(stream_id=stream_id, status="standing").order_by("seq", "rule", "wager")
        found = [{**finding.as_dict(), "consequences": []} for finding in whole.findings]  # which are looked up
        assert [row.as_dict() for row in rows] == found
        adjudication = standing(stream_id)
        assert adjudication is not None
        assert answer_of(adjudication).as_dict() == whole.as_dict()
        batches = binary_copy.execute("select first_seq from log.batch where stream_id = %b::bigint", (stream_id,))
        assert {first for (first,) in batches} == {receipt["first_seq"] for receipt in self.receipts.values()}


def steps_of(tenant: Tenant) -> dict[str, list[str]]:
    """Return the names of each actor's steps in a run in which nobody is killed."""
    _warm_up()
    stream = "faults-clean"
    events = events_of(tenant, stream)
    steps: dict[str, list[str]] = {}
    steps["open"] = run(send(tenant, stream, events[:5])).steps
    steps["append"] = run(send(tenant, stream, events[5:12])).steps
    steps["again"] = run(send(tenant, stream, events[5:12])).steps
    head = read.head_of(tenant.casino.pk, stream)
    assert head is not None
    steps["replay"] = run(replay_stream(head.stream_id)).steps
    run(send(tenant, stream, events[12:]))
    steps["correct"] = run(replay_stream(head.stream_id)).steps
    steps["seal"] = run(seal).steps
    return steps


@cache
def _warm_up() -> None:
    """Run every actor once in this process: what is forked from it need not import and compile everything again."""
    tenant = Tenant()
    stream = "faults-warm-up"
    events = events_of(tenant, stream)
    for batch in (events[:5], events[5:12], events[5:12]):
        assert run_here(send(tenant, stream, batch)).answer[0] in (200, 201)
    head = read.head_of(tenant.casino.pk, stream)
    assert head is not None
    run_here(replay_stream(head.stream_id))
    run_here(seal)


def crash_points(steps: dict[str, list[str]]) -> dict[str, list[CrashPoint]]:
    """Return every point at which an actor can be killed, by actor."""
    return {
        actor: [CrashPoint(step, side) for step in range(1, len(steps[actor]) + 1) for side in SIDES]
        for actor in ACTORS
    }
