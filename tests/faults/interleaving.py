"""An interleaving: clients, workers and sequencers of one record, step by step in an order that a seed chooses.

    clients ────►  send, send again, send something else      ┐
              └─►  single events, stored in one commit        ├─ up to three at once, stopped at any statement
    workers ────►  replay a stream                            │  killed, cut off, timed out; clocks step, keys rotate
    sequencers ─►  seal, two at once                          ┘

Everything runs in this process and against a real PostgreSQL: each actor has a thread and a connection, and one of them
runs at a time (``turns.py``). In the end whoever has no answer sends again, everything is replayed and sealed, and the
checker of ``history.py`` judges what was said against what is there.

The same seed does the same: nothing here depends on time. An actor that waits for a lock waits for one that stands.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from audit.adjudication import replay
from audit.api import key_lookup, recording
from audit.api.recording import Plain
from audit.event_store import binary_copy, read
from audit.transparency import signing_keys, tree
from audit.transparency.sequencer import Sequencer, catch_up
from settlement import ENGINE_VERSION
from tests.audit.api.web import Web
from tests.audit.tables import Tenant
from tests.faults.clocks import Clocks
from tests.faults.gathering import gather
from tests.faults.history import History, Request, Tree, Violation, violations
from tests.faults.schedule import Event, events_of
from tests.faults.turns import FAULTS, Actor, Fault, Stage, uncounted

STAGES = 3
"""Actors at once."""

MANY = 1_000
"""Steps: more than any actor has."""

MAX_RESENDS = 20
"""How often a client sends all that is not acknowledged before the schedule is given up.

Nothing fails any more then, so one request is enough, and a few where another stream's lock is waited for."""

STEP_EVENTS = 8
"""For ``replay.STEP_EVENTS``: a worker takes one or two steps for a stream."""

AHEAD_H = 20
"""Hours by which a clock is ahead at most."""

MAX_TURNS = 400
"""Turns after which nothing fails any more: whoever is still without an answer gets one."""


@dataclass
class World:
    """One database with its clocks, and the stages that actors run in; its schedules follow one another.

    ``leaves`` is the tree as the histories so far give it.
    """

    clocks: Clocks
    handler: WSGIHandler = field(default_factory=WSGIHandler)
    hints: list[int] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    leaves: Tree = field(default_factory=Tree)
    tenant: Tenant = field(default_factory=Tenant)
    played: int = 0
    seen: set[str] = field(default_factory=set)  # steps and what became of them
    servers: dict[int, Web] = field(default_factory=dict)
    sequencers: dict[int, Sequencer | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = [Stage(self.hints, self.trace) for _ in range(STAGES)]
        self.policy = Web(self.handler)
        signing_keys._keyring.forget()
        status, _ = self.ask("POST", "warm-up", events_of(self.tenant, "warm-up")[:3], self.policy)
        assert status == 201
        assert self.ask("POST", "warm-up", events_of(self.tenant, "warm-up")[3:4], self.policy)[0] == 201
        assert list(self.policy.policy.known.values()) != [None]
        self.start_processes()
        self.seal_everything()

    def close(self) -> None:
        for stage in self.stages:
            stage.close()

    def next_tenant(self) -> None:
        """Have another casino after some schedules: what one may open on a day is limited."""
        self.played += 1
        if self.played % 50 == 0:
            self.tenant = Tenant()

    def seal_everything(self) -> None:
        """Take what others have left in the outbox into the tree, and the tree as where a history begins."""
        self.seal(0)
        self.leaves = Tree()
        for (raw,) in binary_copy.execute("select hash from log.leaf order by log_index", ()):
            self.leaves.add_hash(bytes(raw))

    def start_processes(self) -> None:
        """Start web servers and sequencers anew, one of each for each stage, with nothing cached."""
        for number in range(STAGES):
            self.start_process(number)

    def start_process(self, number: int) -> None:
        signing_keys._keyring.forget()
        key_lookup._active_keys.forget()
        self.servers[number] = Web(self.handler)
        self.servers[number].policy.known |= self.policy.policy.known
        self.sequencers[number] = None

    def seal(self, number: int) -> None:
        """Seal the outbox as a sequencer does, which loads the tree when it starts, and when another was first."""
        sequencer = self.sequencers[number]
        if sequencer is None:
            sequencer = Sequencer(lambda waiting, root: None)
            with uncounted():  # the larger the tree, the more statements: what was played before would count
                sequencer.load()
            self.sequencers[number] = sequencer
        try:
            catch_up(sequencer)
        except BaseException:  # another was first, or an error: the process starts again
            self.sequencers[number] = None
            raise

    def ask(self, method: str, stream: str, events: list[Event] | None, server: Callable[..., Any]) -> tuple[int, Any]:
        """Send a request as a web server passes it on."""
        raw = b"" if events is None else json.dumps(events).encode()
        started: list[str] = []
        environ = self._environ(method, stream, raw)
        content = b"".join(server(environ, lambda status, headers, *rest: started.append(status)))
        return int(started[-1][:3]), json.loads(content)

    def ask_together(self, requests: list[tuple[str, Event]], server: Web, answers: dict[int, tuple[int, Any]]) -> None:
        """Send events of a stream each as a web server does whose requests wait at once.

        What is answered is added to ``answers`` as soon as it is, by the index of its request.
        """
        with suppress(AttributeError):  # what was played before on this connection counts for nothing
            del recording._limited.connection
        bodies = [(stream, json.dumps([event]).encode()) for stream, event in requests]
        plain = [(self._plain(stream), body) for stream, body in bodies]
        for index, answer in enumerate(server.recorder.together(plain)):
            if answer is not None:
                answers[index] = 201, json.loads(answer.content)
        self.trace.append(f"lane: {len(answers)} of {len(requests)} are stored together")
        for index, (stream, event) in enumerate(requests):
            if index not in answers:
                answers[index] = self.ask("POST", stream, [event], server)

    def _plain(self, stream: str) -> Plain:
        return Plain(stream, {"HTTP_AUTHORIZATION": f"Bearer {self.tenant.secret}", "REMOTE_ADDR": "127.0.0.1"})

    def _environ(self, method: str, stream: str, raw: bytes) -> dict[str, Any]:
        return {
            "REQUEST_METHOD": method,
            "PATH_INFO": f"/api/v1/streams/{stream}" + ("/events" if method == "POST" else ""),
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "HTTP_HOST": "localhost",
            "HTTP_AUTHORIZATION": f"Bearer {self.tenant.secret}",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(raw)),
            "QUERY_STRING": "",
            "wsgi.input": io.BytesIO(raw),
            "wsgi.errors": sys.stderr,
            "wsgi.url_scheme": "http",
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }


def replay_whole(stream_id: int) -> None:
    """Replay a stream to its end, as a worker does, unless another has it."""
    while (progress := replay.advance(stream_id)) is not None and progress.behind:
        pass


@dataclass
class Client:
    """A table system with one stream: what it has to send, and up to which event it has an answer."""

    stream: str
    events: list[Event]
    acknowledged: int = 0

    @property
    def is_done(self) -> bool:
        return self.acknowledged == len(self.events)

    def acknowledge(self, event: Event) -> None:
        """Note that an event, and so all before it, was acknowledged."""
        assert event in self.events, f"acknowledged, though it had to be refused: {event}"
        self.acknowledged = max(self.acknowledged, self.events.index(event) + 1)


class Interleaving:
    """One schedule, by its seed."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.rng = random.Random(seed)
        self.clients: list[Client] = []
        self.history = History(before=world.leaves.copy())
        self.moment = 0
        self.running: dict[int, tuple[Stage, Callable[[Actor], None]]] = {}
        self.fault_rate = self.rng.choice((0.0, 0.1, 0.3))
        world.trace.clear()
        world.hints.clear()
        world.start_processes()

    def play(self) -> list[Violation]:
        """Play it, let everybody come to an end, and return what breaks a rule."""
        try:
            return self._play()
        finally:  # whoever stands when it fails is killed
            for stage, _ended in self.running.values():
                stage.go_on(1, "killed before")
            self.world.next_tenant()  # what this one leaves, broken or not, is in no other's streams

    def _play(self) -> list[Violation]:
        for number in range(self.rng.choice((1, 1, 2))):
            stream = f"interleaved-{self.seed}-{self.world.played}-{number}"
            events = events_of(self.world.tenant, stream)
            last = len(events) if self.rng.random() < 0.15 else self.rng.randint(3, 13)
            self.clients.append(Client(stream, events[:last]))
        for _ in range(MAX_TURNS):
            if all(client.is_done for client in self.clients):
                break
            self._turn()
        self._replay_ends()
        self.fault_rate = 0.0
        while self.running:
            self._go_on(self.rng.choice(sorted(self.running)), steps=MANY)
        self._set_clocks(0, AHEAD_H)  # or what was received while the server's clock was ahead is not sealed yet
        for client in self.clients:
            for _ in range(MAX_RESENDS):
                if client.is_done:
                    break
                self._send(client, client.events[client.acknowledged :])
                self._finish()
            assert client.is_done, f"{client.stream}: sends again and again, and is never done"
        self._recover()
        return violations(self._collect())

    # Turns

    def _turn(self) -> None:
        """Begin something or let something go on; now and then a clock steps or a key is rotated."""
        chance = self.rng.random()
        if chance < 0.02:
            hours = (0, 0, -26, -1, 1, AHEAD_H)
            self._set_clocks(self.rng.choice(hours), self.rng.choice(hours))
        elif chance < 0.023:
            purpose = self.rng.choice(("receipt", "checkpoint"))
            self.world.trace.append(f"rotate {purpose}")
            signing_keys.create(purpose, reason="a schedule", at_once=self.rng.random() < 0.7)  # type: ignore[arg-type]
        elif len(self.running) < STAGES and (not self.running or chance < 0.45):
            self._begin()
        else:
            self._go_on_somewhere()

    def _set_clocks(self, of_processes_h: int, of_server_h: int) -> None:
        self.world.trace.append(f"clocks {of_processes_h} {of_server_h}")
        self.world.clocks.set(of_processes=timedelta(hours=of_processes_h), of_server=timedelta(hours=of_server_h))

    def _begin(self) -> None:
        client = self.rng.choice(self.clients)
        kinds = {"send": 36, "together": 14, "other": 8, "ask": 4, "replay": 16, "seal": 18, "publish": 4}
        match self.rng.choices(list(kinds), list(kinds.values()))[0]:
            case "send":
                low = client.acknowledged
                if self.rng.random() < 0.15:  # again, and perhaps in another cut
                    low = self.rng.randint(0, low)
                self._send(client, client.events[low : low + self.rng.randint(2, 9)])
            case "together":
                self._send_together()
            case "other":
                self._send(client, self._wrong(client))
            case "ask":
                self._request(client, ())
            case "replay":
                self._replay(client)
            case "seal":
                self._start("sequencer", self.world.seal, lambda actor: None)
            case "publish":
                self._publish()

    def _replay(self, client: Client) -> None:
        stream_id = self._stream_id(client.stream)
        if stream_id is not None:
            self._start("worker", lambda number: replay_whole(stream_id), lambda actor: None)

    def _replay_ends(self) -> None:
        """Have workers replay the ends of streams, where the findings are; where anything fails, every other time."""
        self.fault_rate = 0.5 if self.fault_rate else 0.0
        for client in self.clients * 2:
            while len(self.running) == STAGES:
                self._go_on_somewhere()
            self._replay(client)
        while self.running:
            self._go_on_somewhere()

    def _go_on_somewhere(self) -> None:
        self._go_on(self.rng.choice(sorted(self.running)), steps=self.rng.choice((1, 2, 3, 5, 8, 100)))

    def _wrong(self, client: Client) -> list[Event]:
        """Return what is to be refused: other content under a number that was acknowledged, a gap, a wrong shape."""
        last = len(client.events)
        match self.rng.randrange(3):
            case 0 if client.acknowledged > 1:
                event = client.events[self.rng.randrange(1, client.acknowledged)]
                return [event | {"actor": "someone-else"}]
            case 1 if client.acknowledged < last - 1:
                return client.events[self.rng.randint(client.acknowledged + 1, last - 1) :][:3]
            case _:
                return [client.events[min(client.acknowledged, last - 1)] | {"type": "no.such.type"}]

    def _send(self, client: Client, events: list[Event]) -> None:
        if events:
            self._request(client, tuple(events))

    def _request(self, client: Client, events: tuple[Event, ...]) -> None:
        began = self._now()

        def ended(actor: Actor) -> None:
            status, answer = actor.answer or (None, {})
            self.history.requests.append(Request(client.stream, events, began, self._now(), status, answer or {}))
            if events and status in (200, 201):
                client.acknowledge(events[-1])

        method, sent = ("POST", list(events)) if events else ("GET", None)

        def send(number: int) -> tuple[int, Any]:
            return self.world.ask(method, client.stream, sent, self.world.servers[number])

        self._start(f"client {client.stream[-1]}", send, ended)

    def _send_together(self) -> None:
        """Send some events of some clients, each by itself and all of them at once."""
        sent: list[tuple[Client, Event]] = []
        for client in self.clients:
            low = max(0, client.acknowledged - self.rng.choice((0, 0, 0, 1)))
            sent += [(client, event) for event in client.events[low : low + self.rng.randint(1, 3)]]
            if self.rng.random() < 0.1:
                sent.append((client, self._wrong(client)[0]))
        if self.rng.random() < 0.2:
            self.rng.shuffle(sent)
        began, answers = self._now(), dict[int, tuple[int, Any]]()

        def ended(actor: Actor) -> None:
            for index, (client, event) in enumerate(sent):
                status, answer = answers.get(index, (None, {}))
                self.history.requests.append(Request(client.stream, (event,), began, self._now(), status, answer))
                if status in (200, 201):
                    client.acknowledge(event)

        def send(number: int) -> None:
            requests = [(client.stream, event) for client, event in sent]
            self.world.ask_together(requests, self.world.servers[number], answers)

        self._start("client lane", send, ended)

    def _start(self, name: str, function: Callable[[int], Any], ended: Callable[[Actor], None]) -> None:
        """Begin an actor on a stage that is free; it is given the number of the stage, which is its process's."""
        number = next(n for n in range(STAGES) if n not in self.running)
        stage = self.world.stages[number]
        stage.begin(Actor(f"{number} {name}", partial(function, number)))
        self.running[number] = (stage, ended)

    def _go_on(self, number: int, *, steps: int) -> None:
        stage, ended = self.running[number]
        fault: Fault = self.rng.choice(FAULTS) if self.rng.random() < self.fault_rate else ""
        # Commits are few among the steps, and the most is at stake there: a worker's are its cursor and its findings.
        is_worker = stage.actor is not None and stage.actor.name.endswith("worker")
        at = "commit" if fault and self.rng.random() < (0.75 if is_worker else 0.25) else ""
        actor = stage.go_on(MANY if at else steps, fault, at=at)
        if actor.is_done:
            del self.running[number]
            if actor.was_killed:
                self.world.start_process(number)
            assert not (actor.failed and "client" in actor.name), f"no answer at all: {actor.failed}"
            ended(actor)

    def _finish(self) -> None:
        while self.running:
            self._go_on(min(self.running), steps=MANY)

    def _now(self) -> int:
        self.moment += 1
        return self.moment

    # The end

    def _stream_id(self, name: str) -> int | None:
        head = read.head_of(self.world.tenant.casino.pk, name)
        return head.stream_id if head is not None else None

    def _recover(self) -> None:
        """Recover as a deployment does by itself: sweep for dirty streams, and start the sequencer again."""
        for client in self.clients:
            stream_id = self._stream_id(client.stream)
            if stream_id is not None and stream_id in read.dirty_streams(ENGINE_VERSION, limit=1_000):
                replay_whole(stream_id)
        sealed: list[Actor] = []
        while not sealed or sealed[-1].failed:
            assert len(sealed) < 3, f"batches stay unsealed: {sealed[-1].failed}"
            self._start("sequencer", self.world.seal, sealed.append)
            self._finish()
        self._publish()

    def _publish(self) -> None:
        newest = tree.newest_checkpoint()
        if newest is not None:
            self.history.checkpoints.append(newest.note)

    def _collect(self) -> History:
        """Return the history with what is there now."""
        gather(self.history, self.world.tenant.casino.pk, [client.stream for client in self.clients])
        for entry in self.history.entries:
            self.world.leaves.add(entry)
        return self.history
