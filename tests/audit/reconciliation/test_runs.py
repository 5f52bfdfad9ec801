"""Runs: a task per session, resumed, caught up with, each night once, and at the casino's own cutoff."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine

from audit import tasks
from audit.adjudication import replay
from audit.event_store.append import open_stream
from audit.models import Casino, Finding, LoggedStream, NightReport, NightRun, SessionFigures
from audit.reconciliation import runs, schedule, sessions
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, record, session, table_of
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


@pytest.fixture
def however_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """The night of the test is looked back to on whatever day the test runs."""
    monkeypatch.setattr(runs, "LOOKBACK", timedelta(days=36_500))


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """What the tasks hand to the broker, which here is a list."""
    handed: list[tuple[Any, dict[str, Any]]] = []
    nightly = (tasks.night_reconcile, tasks.night_session, tasks.night_finish, tasks.night_mail, tasks.night_ledger)
    for task in nightly:
        monkeypatch.setattr(task, "delay", lambda task=task, **kwargs: handed.append((task, kwargs)))
        monkeypatch.setattr(task, "apply_async", lambda kwargs, task=task, **_: handed.append((task, kwargs)))
    return handed


def run_all(hints: list[tuple[Any, dict[str, Any]]]) -> int:
    done = 0
    while hints:
        task, kwargs = hints.pop(0)
        task(**kwargs)
        done += 1
    return done


def of(casino: Casino) -> list[tuple[str, int, str]]:
    rows = NightReport.objects.filter(casino=casino).order_by("gaming_day", "version")
    return [(str(report.gaming_day), report.version, report.state) for report in rows]


def test_the_sweep_fans_out_a_session_each_and_finishes_once(casino: Casino, hints: list[Any]) -> None:
    for number in (1, 2, 3):
        record(casino, session(casino, f"R{number}", seed=number))
    with time_machine.travel(MORNING, tick=False):
        tasks.night_reconcile(casino_id=casino.pk)
        assert [task.name for task, _ in hints] == ["audit.tasks.night_session"] * 3
        run_all(hints)
        assert of(casino) == [(str(DAY), 1, "counting")]
        assert NightRun.objects.get(casino=casino).ended_at is not None
        assert runs.finish(NightRun.objects.get(casino=casino)) == []


def test_a_run_that_died_goes_on_where_it_was(
    casino: Casino, hints: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        record(casino, session(casino, f"R{number}", seed=number))
    with time_machine.travel(MORNING, tick=False):
        tasks.night_reconcile(casino_id=casino.pk)
        task, kwargs = hints.pop(0)
        task(**kwargs)
        hints.clear()  # the broker lost everything, the workers are gone
        run = NightRun.objects.get(casino=casino)
        assert runs.progress(run) == (1, 3)
        computed: list[int] = []
        compute = sessions.compute_figures
        monkeypatch.setattr(
            sessions, "compute_figures", lambda stream, last: computed.append(stream) or compute(stream, last)
        )
        tasks.night_sweep()
        assert run_all(hints) >= 3
        own = set(LoggedStream.objects.filter(casino=casino, table__isnull=False).values_list("pk", flat=True))
        # What was done is not computed again. Other casinos, whose events are never deleted, have any number.
        assert own.intersection(computed) == own - {kwargs["stream_id"]}
        assert len(SessionFigures.objects.filter(stream__in=own)) == 3
        assert of(casino) == [(str(DAY), 1, "counting")]


def test_a_session_that_another_worker_has_is_asked_again(
    casino: Casino, hints: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(casino, session(casino, "R1"))
    monkeypatch.setattr(replay, "advance", lambda stream_id, **options: None)
    with time_machine.travel(MORNING, tick=False):
        tasks.night_reconcile(casino_id=casino.pk)
        task, kwargs = hints.pop(0)
        task(**kwargs)
        assert hints == [(task, kwargs)]
        monkeypatch.undo()


def test_what_stops_a_session_is_said_and_tried_again(
    casino: Casino, hints: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(casino, session(casino, "R1"))

    def breaks(stream_id: int, last_seq: int) -> None:
        raise RuntimeError("no space left")

    with time_machine.travel(MORNING, tick=False):
        tasks.night_reconcile(casino_id=casino.pk)
        task, kwargs = hints.pop(0)
        monkeypatch.setattr(sessions, "compute_figures", breaks)
        with pytest.raises(RuntimeError):
            task(**kwargs)
        assert "RuntimeError: no space left" in NightRun.objects.get(casino=casino).error
        monkeypatch.undo()
        assert (casino, DAY) in runs.due(MORNING)


def test_what_stops_the_end_of_a_run_is_said_until_it_ends(
    casino: Casino, hints: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(casino, session(casino, "R1"))

    def breaks(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no such croupier")

    with time_machine.travel(MORNING, tick=False):
        run = runs.begin(casino, DAY, actor="test")
        for stream_id, last_seq in runs.pending_sessions(run):
            sessions.compute_figures(stream_id, last_seq)
        with monkeypatch.context() as broken:
            broken.setattr(runs, "gather", breaks)
            with pytest.raises(RuntimeError):
                tasks.night_finish(run_id=run.pk)
        run.refresh_from_db()
        assert (run.error, run.ended_at) == ("RuntimeError: no such croupier", None)
        assert of(casino) == []
        tasks.night_reconcile(casino_id=casino.pk)
        task, kwargs = hints.pop(0)
        task(**kwargs)
        run.refresh_from_db()
        assert (run.error, run.ended_at) == ("", MORNING)


def test_missed_nights_are_caught_up_with_the_empty_ones_too(casino: Casino) -> None:
    for back in (5, 4, 1):
        day = DAY - timedelta(days=back)
        record(casino, session(casino, "R1", day=day, seed=back))
    now = MORNING
    mine = [day for each, day in runs.due(now) if each == casino]
    assert mine == [DAY - timedelta(days=back) for back in (5, 4, 1)]
    for day in mine:
        runs.reconcile(casino, day, actor="test", now=now)
    mine = [day for each, day in runs.due(now) if each == casino]
    assert mine == [DAY - timedelta(days=3), DAY - timedelta(days=2), DAY]
    for day in mine:
        runs.reconcile(casino, day, actor="test", now=now)
    assert [day for each, day in runs.due(now) if each == casino] == []


def test_a_night_of_long_ago_owes_no_report_of_every_day_since(casino: Casino) -> None:
    long_ago = DAY.replace(year=2010)
    record(casino, session(casino, "Q1", ruleset="qc-craps", day=long_ago))
    assert [day for each, day in runs.due(MORNING) if each == casino] == [long_ago]
    runs.reconcile(casino, long_ago, actor="test", now=MORNING)
    assert [day for each, day in runs.due(MORNING) if each == casino] == []


def test_a_night_that_is_not_over_is_not_due(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    assert [each for each, _day in runs.due(datetime(2026, 11, 20, 4, 59, tzinfo=UTC)) if each == casino] == []
    assert [each for each, _day in runs.due(datetime(2026, 11, 20, 5, 0, tzinfo=UTC)) if each == casino] == [casino]


@pytest.mark.usefixtures("however_long_ago")
def test_a_count_that_comes_restates_the_night_once_it_is_quiet(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    now = datetime.now(UTC) + timedelta(days=1)
    runs.reconcile(casino, DAY, actor="test", now=now)
    # The night lies in the past of the machine's clock or in its future: what is computed is the day itself.
    casino_days = lambda moment: {day for each, day in runs.due(moment) if each == casino}  # noqa: E731
    moment = max(now, MORNING)
    assert DAY not in casino_days(moment)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    assert DAY in casino_days(moment)
    runs.reconcile(casino, DAY, actor="test", now=moment)
    assert DAY not in casino_days(moment)
    assert [version for _day, version, _state in of(casino)] == [1, 2]


def test_each_casino_has_its_night_by_its_own_clock(casino: Casino) -> None:
    assert schedule.Night(casino.pk, casino.code, time(6), "Europe/Paris") in schedule.nights()
    casino.cutoff, casino.time_zone = time(9, 30), "America/Montreal"
    casino.save()
    assert schedule.Night(casino.pk, casino.code, time(9, 30), "America/Montreal") in schedule.nights()


@pytest.mark.parametrize(
    "now, last, following",
    [
        ("2026-11-20T05:00", "2026-11-20T05:00", "2026-11-21T05:00"),  # winter: 6:00 in Paris
        ("2026-11-20T04:59", "2026-11-19T05:00", "2026-11-20T05:00"),
        ("2026-03-28T12:00", "2026-03-28T05:00", "2026-03-29T04:00"),  # 23 hours
        ("2026-10-24T12:00", "2026-10-24T04:00", "2026-10-25T05:00"),  # 25 hours
        ("2026-11-20T23:30", "2026-11-20T05:00", "2026-11-21T05:00"),
    ],
)
def test_a_night_begins_when_the_clock_of_the_casino_shows_its_cutoff(now: str, last: str, following: str) -> None:
    instants = [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (now, last, following)]
    assert schedule.cutoffs_around(time(6), ZoneInfo("Europe/Paris"), instants[0]) == tuple(instants[1:])


def test_another_closing_float_makes_the_next_night_due(casino: Casino) -> None:
    yesterday = DAY - timedelta(days=1)
    before, after = session(casino, "R1", day=yesterday), session(casino, "R1", seed=2)
    after[0]["data"]["float"] = before[-1]["data"]["float"] + 500
    for events in (before, after):
        record(casino, events)
    for day in (yesterday, DAY):
        runs.reconcile(casino, day, actor="test", now=MORNING)
    assert of(casino) == [(str(yesterday), 1, "counting"), (str(DAY), 1, "counting")]
    runs.reconcile(casino, yesterday, actor="test", now=MORNING)
    assert not NightRun.objects.filter(casino=casino, ended_at=None).exists(), "nothing has changed"
    last = before[-1]
    again = {**last, "seq": last["seq"] + 1, "data": {"float": last["data"]["float"] + 500}}
    record(casino, [again], next_seq=last["seq"] + 1)
    runs.reconcile(casino, yesterday, actor="test", now=MORNING)
    assert (casino, DAY) in runs.due(MORNING)
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    (row,) = next(line for line in report.parsed_content()["lines"] if line["code"] == "opener")["rows"]
    assert (report.version, row["verdict"]) == (2, "agrees")


def is_due(casino: Casino) -> bool:
    """Return whether ``DAY`` is due once everything is quiet."""
    return (casino, DAY) in runs.due(datetime.now(UTC) + timedelta(days=1))


def counted_later(casino: Casino, seq: int, kind: str, data: dict[str, Any]) -> Events:
    """Return one more event of the count of ``DAY``."""
    return [{**count(casino, {})[0], "seq": seq, "type": kind, "data": data}]


@pytest.mark.usefixtures("however_long_ago")
def test_a_late_event_that_changes_nothing_in_the_report_makes_the_night_due_once(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, closed=False))
    [first] = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert not is_due(casino)
    record(casino, counted_later(casino, 3, "x.acme.note", {"text": "the box was sticky"}))
    assert is_due(casino)
    assert runs.reconcile(casino, DAY, actor="test", now=MORNING) == [first], "the content is the same"
    assert not is_due(casino)


def test_a_stream_that_is_opened_and_empty_makes_no_night_due_for_ever(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    opened = session(casino, "R2")[0]
    open_stream(
        casino_id=casino.pk, table_id=table_of(casino, "R2").pk, name=opened["stream"], gaming_day=DAY,
        game="roulette", ruleset="fr-roulette", currency="EUR",
    )  # fmt: skip
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert not is_due(casino)


@pytest.mark.usefixtures("however_long_ago")
@pytest.mark.parametrize("after", [timedelta(days=1), timedelta(days=7)])
def test_a_drop_that_is_counted_on_another_day_makes_the_night_of_its_session_due(
    casino: Casino, after: timedelta
) -> None:
    events = session(casino, "R1")
    record(casino, events)
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=DAY + after))
    assert is_due(casino)
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert not is_due(casino)


def test_a_count_of_another_day_that_names_no_session_of_the_night_leaves_it_alone(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    record(casino, count(casino, {"another": 5_000}, day=DAY + timedelta(days=1)))
    assert not is_due(casino)


def test_a_count_without_corrections_is_read_before_the_night_is_finished(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    counted = count(casino, {events[0]["stream"]: buy_ins(events)}, closed=False)
    lost = counted_later(casino, 3, "events.lost", {"through": 4, "reason": "spool_lost"})
    stream_id = record(casino, counted + lost)
    [report] = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert Finding.objects.standing().filter(stream_id=stream_id).exists()
    assert "critical-open" in report.parsed_content()["needs"]


@pytest.mark.usefixtures("however_long_ago")
def test_a_session_in_another_currency_makes_a_reported_night_due(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    record(casino, session(casino, "R2", currency="CHF"))
    assert is_due(casino)
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert not is_due(casino)


@pytest.mark.usefixtures("however_long_ago")
def test_a_count_that_is_corrected_to_name_a_session_makes_its_night_due(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    later = count(casino, {"another": 5_000}, day=DAY + timedelta(days=1), closed=False)
    record(casino, later)
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert not is_due(casino)
    data = {"session": events[0]["stream"], "amount": 5_000, "counted_by": ["Ida", "Max"]}
    correction = {"corrects": 2, "data": data, "reason": "wrong box", "approved_by": "chief"}
    record(casino, [{**later[-1], "seq": 3, "type": "entry.corrected", "data": correction}])
    assert is_due(casino)
