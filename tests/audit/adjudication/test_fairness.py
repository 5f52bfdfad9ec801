"""Turns: a casino that sends much delays no other, a long stream no short one, and no worker's death either."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit import heartbeats, monitoring, tasks
from audit.adjudication import fairness, replay, stream_reader
from audit.adjudication.replay import advance
from audit.event_store import read
from audit.models import Adjudication, AdjudicationRun, CasinoTurn, LeafCursor, WaitingStream
from audit.tasks import replay_stream
from audit.transparency.sequencer import Sequencer, catch_up
from settlement import ENGINE_VERSION
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db(transaction=True)


class Worker:
    """A worker with a database connection of its own, which takes turns and holds them."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    def take(self) -> fairness.Turn | None:
        return self._thread.submit(fairness.take).result()

    def run(self, function: Any, *args: Any) -> Any:
        return self._thread.submit(function, *args).result()

    def die(self) -> None:
        self._thread.submit(lambda: connection.close()).result()  # the thread's own, so looked up there
        self._thread.shutdown()


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    started = [Worker(), Worker()]
    yield started
    for worker in started:
        worker.die()


@pytest.fixture(autouse=True)
def empty_queue() -> None:
    for model in (WaitingStream, CasinoTurn, LeafCursor):
        model.objects.all().delete()
    fairness.put_newly_sealed()
    WaitingStream.objects.all().delete()


def dirty(tenant: Tenant, *names: str) -> list[int]:
    """Open streams at a casino and put them into the queue, in this order."""
    for name in names:
        assert tenant.post(name, [tenant.opener(name)]).status_code == 201
    stream_ids = [tenant.stream(name).stream_id for name in names]
    for stream_id in stream_ids:
        assert fairness.put([stream_id]) == 1
    return stream_ids


def test_the_second_worker_is_for_the_other_casino_and_the_first_ones_next_stream_waits(workers: list[Worker]) -> None:
    loud, quiet = Tenant(), Tenant()
    mine = dirty(loud, "a", "b", "c")
    theirs = dirty(quiet, "a")
    first, second = workers[0].take(), workers[1].take()
    assert first is not None
    assert second is not None
    assert [first.stream_id, second.stream_id] == [mine[0], *theirs]
    workers[1].run(fairness.done, second)
    assert workers[1].take() is None, "the other casino had a turn a moment ago: this worker stays free for it"
    workers[0].run(fairness.done, first)
    again = workers[0].take()
    assert again is not None
    assert again.stream_id == first.stream_id or again.stream_id == mine[1]


def test_a_casino_that_is_alone_has_every_worker(workers: list[Worker]) -> None:
    mine = dirty(Tenant(), "a", "b", "c")
    taken = [worker.take() for worker in workers]
    assert [turn.stream_id for turn in taken if turn is not None] == mine[:2]


def test_a_casino_that_is_alone_again_has_every_worker_again(workers: list[Worker]) -> None:
    loud, quiet = Tenant(), Tenant()
    mine = dirty(loud, "a", "b")
    dirty(quiet, "a")
    fairness.drop(fairness.take() or pytest.fail("nothing waits"))
    fairness.drop(fairness.take() or pytest.fail("nothing waits"))
    dirty(loud, "c")
    fairness.put(mine)
    CasinoTurn.objects.filter(casino_id=quiet.casino.pk).update(last_turn_at=None)
    assert all(worker.take() is not None for worker in workers)


def test_a_long_stream_is_behind_the_short_ones_of_its_casino_after_each_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 2)
    tenant = Tenant()
    long, short = dirty(tenant, "long", "short")
    more = numbered(tenant.opener("long"), *[("player.left", {"player": f"P{each}"}) for each in range(9)])
    assert tenant.post("long", more).status_code == 201
    turns = []
    while (turn := fairness.take()) is not None:
        turns.append(turn.stream_id)
        progress = advance(turn.stream_id)
        assert progress is not None
        if progress.behind:
            fairness.give_back(turn)
        else:
            fairness.done(turn)
    assert turns == [long, short, long, long, long, long]
    assert long not in read.dirty_streams(ENGINE_VERSION, limit=100_000)


def test_a_step_is_short_while_another_casino_is_there_and_long_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STEP_EVENTS", 6)
    monkeypatch.setattr(replay, "SHARED_STEP_EVENTS", 2)
    monkeypatch.setattr(tasks, "STEPS_A_TASK", 1)
    monkeypatch.setattr(replay_stream, "delay", lambda *, stream_id: None)
    loud, quiet = Tenant(), Tenant()
    [long] = dirty(loud, "long")
    more = numbered(loud.opener("long"), *[("player.left", {"player": f"P{each}"}) for each in range(15)])
    assert loud.post("long", more).status_code == 201

    def folded() -> int:
        before = Adjudication.objects.filter(stream_id=long).values_list("cursor", flat=True).first() or 0
        replay_stream(stream_id=long)
        return Adjudication.objects.get(stream_id=long).cursor - before

    assert folded() == 6, "it is alone"
    [other] = dirty(quiet, "short")
    CasinoTurn.objects.filter(casino_id=loud.casino.pk).update(last_turn_at=None)
    assert folded() == 2, "another waits"
    replay_stream(stream_id=other)
    assert folded() == 2, "another had a turn a moment ago"
    CasinoTurn.objects.filter(casino_id=quiet.casino.pk).update(last_turn_at=None)
    assert folded() == 6, "it is alone again"


def test_one_message_has_several_streams_replayed() -> None:
    tenant = Tenant()
    one, other, third = dirty(tenant, "one", "other", "third")
    WaitingStream.objects.filter(stream_id__in=[one, other, third]).delete()
    replay_stream(stream_id=one, also=[other, third])
    assert not {one, other, third} & set(read.dirty_streams(ENGINE_VERSION, limit=100_000))


def test_what_a_dead_worker_had_taken_is_free(workers: list[Worker]) -> None:
    [stream_id] = dirty(Tenant(), "a")
    dying = Worker()
    assert dying.take() is not None
    assert workers[0].take() is None
    dying.die()
    turn = None
    for _ in range(100):  # the server notices the end of a connection in its own time
        turn = turn or workers[0].take()
    assert turn is not None
    assert turn.stream_id == stream_id


def test_a_hint_that_comes_while_the_stream_is_replayed_is_not_lost() -> None:
    [stream_id] = dirty(Tenant(), "a")
    turn = fairness.take()
    assert turn is not None
    fairness.put([stream_id])
    fairness.done(turn)
    again = fairness.take()
    assert again is not None
    assert again.stream_id == stream_id
    fairness.done(again)
    assert fairness.take() is None


def test_a_stream_that_was_sealed_waits_although_its_message_was_lost() -> None:
    tenant = Tenant()
    tenant.post("a", [tenant.opener("a")])
    stream_id = tenant.stream("a").stream_id
    sequencer = Sequencer(lambda left: None)
    sequencer.load()
    catch_up(sequencer)
    assert fairness.put_newly_sealed() >= 1
    assert WaitingStream.objects.filter(stream_id=stream_id).exists()
    assert fairness.put_newly_sealed() == 0


def test_a_stream_that_cannot_be_replayed_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_stream, "delay", lambda *, stream_id: sent.append(stream_id))
    sent: list[int | None] = []
    tenant = Tenant()
    tenant.post("bad", [tenant.opener("bad")])
    bad = tenant.stream("bad").stream_id
    advance(bad)
    Adjudication.objects.filter(stream_id=bad).update(state=b"no snapshot")
    assert tenant.post("bad", numbered(tenant.opener("bad"), ("player.left", {"player": "P1"}))).status_code == 201
    [good] = dirty(tenant, "good")
    WaitingStream.objects.all().delete()
    fairness.put([bad])
    fairness.put([good])
    replay_stream(stream_id=bad)
    assert not WaitingStream.objects.exists()
    assert good not in read.dirty_streams(ENGINE_VERSION, limit=100_000)
    assert bad not in read.dirty_streams(ENGINE_VERSION, limit=100_000), "set aside until its pause is over"
    assert AdjudicationRun.objects.get(stream_id=bad).state == "failed"


def test_a_stream_with_nothing_new_and_one_of_the_desk_do_not_wait() -> None:
    [stream_id] = dirty(Tenant(), "a")
    advance(stream_id)
    WaitingStream.objects.all().delete()
    assert fairness.put([stream_id]) == 0
    assert fairness.put([]) == 0


def test_the_sweep_gives_every_casino_a_place_among_the_first() -> None:
    loud, quiet = Tenant(), Tenant()
    dirty(quiet, "a")
    dirty(loud, *"abcdef")
    found = read.dirty_streams(ENGINE_VERSION, limit=100_000)
    places = {found.index(quiet.stream("a").stream_id), found.index(loud.stream("f").stream_id)}
    later = [found.index(loud.stream(name).stream_id) for name in "abcde"]
    assert max(places) < min(later)


@pytest.mark.parametrize(("workers_in_all", "share"), [(1, 1), (2, 1), (3, 2), (4, 2), (8, 4)])
def test_a_casinos_share_is_half_of_the_workers_and_at_least_one(
    workers_in_all: int, share: int, settings: Any
) -> None:
    settings.CABOCHON_REPLAY_WORKERS = workers_in_all
    assert fairness.share() == share


def test_a_stream_that_another_engine_version_has_taken_over_is_dirty_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    tenant.post("a", [tenant.opener("a")])
    stream_id = tenant.stream("a").stream_id
    monkeypatch.setattr(replay, "ENGINE_VERSION", "0")
    advance(stream_id)
    monkeypatch.undo()
    advance(stream_id)
    assert tenant.post("a", numbered(tenant.opener("a"), ("player.left", {"player": "P1"}))).status_code == 201

    def dirty_for(version: str) -> tuple[bool, bool, bool, bool]:
        for module in (fairness, monitoring):
            monkeypatch.setattr(module, "ENGINE_VERSION", version)
        return (
            stream_id in read.dirty_streams(version, limit=100_000),
            fairness.put([stream_id]) == 1,
            monitoring.dirty([tenant.casino.pk]).count == 1,
            [each.stream_id for each in monitoring.behind([tenant.casino.pk], limit=9)] == [stream_id],
        )

    assert dirty_for(ENGINE_VERSION) == (True,) * 4
    assert dirty_for("0") == (False,) * 4, "its workers would take turns for nothing"
    left_alone = timezone.now() - read.TAKEN_OVER_AFTER
    Adjudication.objects.filter(stream_id=stream_id, engine_version=ENGINE_VERSION).update(updated_at=left_alone)
    assert dirty_for("0") == (True,) * 4


# Bounded by processor time


class Clock:
    """A clock that goes on by ``tick`` seconds whenever somebody looks at it."""

    def __init__(self, tick: float) -> None:
        self.tick, self.now = tick, 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def left(tenant: Tenant, stream: str, count: int) -> int:
    """Open a stream with ``count`` events after its opener, put it into the queue and return its id."""
    events = numbered(tenant.opener(stream), *[("player.left", {"player": f"P{each}"}) for each in range(count)])
    assert tenant.post(stream, events).status_code == 201
    stream_id = tenant.stream(stream).stream_id
    fairness.put([stream_id])
    return stream_id


@pytest.mark.parametrize(
    "part, cursors",
    [
        pytest.param(1.2, [64, 128, 192, 256, 300], id="one slice uses it up"),
        pytest.param(0.52, [192, 300], id="two slices do, the second twice the first"),
        pytest.param(0.0, [300], id="nothing is used"),
    ],
)
def test_a_step_that_has_used_its_time_commits_what_it_has_folded_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch, part: float, cursors: list[int]
) -> None:
    stream_id = left(Tenant(), "long", 299)
    monkeypatch.setattr(replay, "processor_s", Clock(part * replay.SHARED_STEP_S))
    committed = []
    while (progress := advance(stream_id, is_shared=True)) is not None and progress.folded:
        assert progress.cursor == Adjudication.objects.get(stream_id=stream_id).cursor
        assert progress.behind == (progress.cursor < 300)
        committed.append(progress.cursor)
    assert committed == cursors
    assert AdjudicationRun.objects.get(stream_id=stream_id).state == "complete"


def test_a_step_that_has_used_its_time_has_read_few_events_that_it_does_not_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "FIRST_CHUNK", 64)
    stream_id = left(Tenant(), "long", 299)
    monkeypatch.setattr(replay, "processor_s", Clock(0.52 * replay.SHARED_STEP_S))  # time for two slices
    decoded: list[int] = []
    decode_stored = stream_reader.decode_stored

    def noted(array: bytes) -> Any:
        events = decode_stored(array)
        decoded.extend(event.seq for event in events)
        return events

    monkeypatch.setattr(stream_reader, "decode_stored", noted)
    progress = advance(stream_id, is_shared=True)
    assert progress is not None
    assert (progress.cursor, decoded) == (192, list(range(1, 193)))


def test_a_step_beats_between_its_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    stream_id = left(Tenant(), "long", 299)
    beats: list[int] = []
    monkeypatch.setattr(heartbeats, "touch", lambda: beats.append(1))
    assert advance(stream_id) is not None
    assert len(beats) == 3, "64, 128 and 108 events"


def test_of_casinos_that_wait_the_one_that_used_least_of_late_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "RECENT_S", 10_000)
    names: dict[int, str] = {}
    for name, used_s in (("quiet", 100.0), ("other", 300.0), ("loud", 900.0)):
        tenant = Tenant()
        names[tenant.casino.pk] = name
        dirty(tenant, "a", "b", "c")
        turn = fairness.take()
        assert turn is not None
        assert names[turn.casino_id] == name
        fairness.give_back(turn, used_s=used_s)
    order = []
    for used_s in (400.0, 400.0, 400.0, 400.0):  # quiet 500, other 700, quiet 900, other 1,100
        turn = fairness.take()
        assert turn is not None
        order.append(names[turn.casino_id])
        fairness.give_back(turn, used_s=used_s)
    assert order == ["quiet", "other", "quiet", "other"]


def test_what_a_casino_has_used_is_forgotten_soon() -> None:
    loud = Tenant()
    dirty(loud, "a")
    turn = fairness.take()
    assert turn is not None
    before = timezone.now()
    fairness.done(turn, used_s=1_000.0)
    owed = CasinoTurn.objects.get(casino_id=loud.casino.pk).last_turn_at
    assert owed is not None
    assert before + timedelta(seconds=fairness.RECENT_S) <= owed
    assert owed <= timezone.now() + timedelta(seconds=fairness.RECENT_S)


def test_corrections_that_arrive_together_begin_one_run() -> None:
    tenant = Tenant()
    stream_id = left(tenant, "long", 20)
    assert advance(stream_id) is not None
    more = numbered(
        tenant.opener("long"),
        *[("player.left", {"player": "P"})] * 20,
        *[
            ("entry.corrected", {"corrects": seq, "data": {"player": "Q"}, "reason": "misread", "approved_by": "chef"})
            for seq in range(2, 14)
        ],
    )[21:]
    assert tenant.post("long", more).status_code == 201
    for _ in range(20):
        progress = advance(stream_id)
        assert progress is not None
        if not progress.behind:
            break
    runs = AdjudicationRun.objects.filter(stream_id=stream_id)
    assert Adjudication.objects.get(stream_id=stream_id).cursor == 33
    assert [run.cause for run in runs.order_by("number")] == ["first", "correction"]
    assert runs.get(number=2).corrections_through == 33
