"""Drift of counts by shift: each session counts for the shift in which it closed first, by the register as of then."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
import time_machine

from audit.ledger import feeding
from audit.ledger.nights import CountedSession
from audit.models import BatchKind, Casino, Finding, LedgerBatch, LedgerProcess, LedgerQuestion
from audit.projections.ledger import wrong_ledger
from audit.reconciliation import runs
from audit.register import entries
from tests.audit.reconciliation.played import Events, count, record
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

BEFORE = date(2024, 1, 10)
"""When officers decide, before the nights of these tests."""

FIRST = date(2024, 1, 15)
SHIFTS = {"early": "14:00", "late": "20:00", "night": "02:00"}
FLOAT = 10_000_000
PARIS = ZoneInfo("Europe/Paris")


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def decided(desk: RegisterDesk, value: Any, *, on: date = BEFORE, **more: Any) -> None:
    with time_machine.travel(datetime.combine(on, time(12), PARIS), tick=False):
        desk.decided("shifts", value, **more)


def closed(casino: Casino, table: str, at: str, variance: int = 0, *, day: date = FIRST, number: int = 1) -> Events:
    """Return a session of one spin without a stake that closes at a local time, until noon of the next day."""
    clock = time.fromisoformat(at)
    closes = datetime.combine(day + timedelta(days=clock.hour < 12), clock, clock.tzinfo or PARIS)
    opened = {
        "casino": casino.code, "table": table, "gaming_day": day.isoformat(), "game": "french_roulette",
        "ruleset": "fr-roulette", "currency": "EUR", "float": FLOAT, "observes": ["wagers", "results", "bank"],
    }  # fmt: skip
    entries = [
        ("session.opened", opened, closes - timedelta(minutes=20)),
        ("ball.settled", {"pocket": "17"}, closes - timedelta(minutes=10)),
        ("session.closed", {"float": FLOAT + variance}, closes),
    ]
    return [
        {
            "stream": f"{casino.code}.{table}.{day}.{number}",
            "seq": seq,
            "type": kind,
            "occurred_at": at.isoformat(),
            "data": data,
        }
        for seq, (kind, data, at) in enumerate(entries, start=1)
    ]


def recorded(casino: Casino, played: Iterable[Events], *, day: date = FIRST) -> None:
    """Record the sessions of a night and their count, and make its report."""
    names = []
    for events in played:
        record(casino, events)
        names.append(events[0]["stream"])
    record(casino, count(casino, dict.fromkeys(names, 0), day=day))
    reported(casino, day)


def counted(casino: Casino, played: Iterable[Events], *, day: date = FIRST) -> None:
    """As ``recorded``, and feed the ledger."""
    recorded(casino, played, day=day)
    feeding.feed(casino)


def reported(casino: Casino, day: date = FIRST) -> None:
    seal()
    runs.reconcile(casino, day, actor="test", now=datetime.combine(day + timedelta(days=1), time(14), PARIS))


def shifts_fed(casino: Casino) -> list[str]:
    """Return the shift of each count that was fed, in their order."""
    rows = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.COUNT).order_by("number")
    return [msgspec.json.decode(bytes(row.content), type=CountedSession).shift for row in rows]


def drifts(casino: Casino) -> dict[str, int]:
    """Return how many counts each process of a shift was fed."""
    rows = LedgerProcess.objects.filter(casino=casino, kind="shift-drift")
    return {row.subject: row.draws for row in rows}


def test_each_session_counts_for_the_shift_in_which_it_closed(desk: RegisterDesk) -> None:
    decided(desk, SHIFTS)
    casino = desk.casino
    sessions = [
        closed(casino, "T1", "19:59"),
        closed(casino, "T1", "20:00", number=2),
        closed(casino, "T2", "01:59", -500),
        closed(casino, "T1", "02:00", number=3),
    ]
    counted(casino, sessions)
    assert shifts_fed(casino) == ["early", "late", "late", "night"]
    assert drifts(casino) == {"early": 1, "late": 2, "night": 1}
    feeding.feed(casino)
    assert drifts(casino) == {"early": 1, "late": 2, "night": 1}
    process = LedgerProcess.objects.get(casino=casino, name="shift-drift: late")
    assert process.alpha == "1/384", "one of three shifts that are expected: a half, a 32nd, 1/(2 · 3)"


def test_without_shifts_in_the_register_no_shift_is_fed(desk: RegisterDesk) -> None:
    counted(desk.casino, [closed(desk.casino, "T1", "21:00")])
    assert shifts_fed(desk.casino) == [""]
    assert drifts(desk.casino) == {}


def test_an_entry_that_waits_or_was_declined_or_taken_back_says_nothing(desk: RegisterDesk) -> None:
    with time_machine.travel(datetime.combine(BEFORE, time(12), PARIS), tick=False):
        declined = desk.proposed("shifts", {"all": "14:00"})
        entries.decline(desk.other, declined.pk, reason="no")
        desk.proposed("shifts", {"all": "14:00"})
    counted(desk.casino, [closed(desk.casino, "T1", "21:00")])
    assert shifts_fed(desk.casino) == [""]
    other = RegisterDesk()
    decided(other, SHIFTS)
    decided(other, None)
    counted(other.casino, [closed(other.casino, "T1", "21:00")])
    assert shifts_fed(other.casino) == [""]


def test_a_change_of_the_register_holds_from_its_first_day_and_a_shift_of_the_same_name_goes_on(
    desk: RegisterDesk,
) -> None:
    decided(desk, SHIFTS)
    second = FIRST + timedelta(days=1)
    decided(desk, {"late": "22:00", "day": "06:00"}, on=FIRST - timedelta(days=2), first_day=second)
    for day in (FIRST, second):
        played = [closed(desk.casino, "T1", "21:00", day=day), closed(desk.casino, "T2", "23:00", day=day)]
        counted(desk.casino, played, day=day)
    assert shifts_fed(desk.casino) == ["late", "late", "day", "late"]
    assert drifts(desk.casino) == {"late": 3, "day": 1}


def test_an_entry_that_was_approved_after_the_close_does_not_choose_its_shift(desk: RegisterDesk) -> None:
    decided(desk, SHIFTS)
    decided(desk, {"chosen": "14:00"}, on=FIRST + timedelta(days=1))
    counted(desk.casino, [closed(desk.casino, "T1", "21:00")])
    assert shifts_fed(desk.casino) == ["late"]
    after = FIRST + timedelta(days=2)
    counted(desk.casino, [closed(desk.casino, "T1", "21:00", day=after)], day=after)
    assert shifts_fed(desk.casino) == ["late", "chosen"]


@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_close_that_is_recorded_later_does_not_choose_the_shift(desk: RegisterDesk, is_sealed: bool) -> None:
    decided(desk, SHIFTS)
    events = closed(desk.casino, "T1", "21:00")
    record(desk.casino, events)
    if is_sealed:
        seal()
        feeding.feed(desk.casino)
    later = closed(desk.casino, "T1", "05:00", -5_000)[-1]
    record(desk.casino, [{**later, "seq": 4}])
    record(desk.casino, count(desk.casino, {events[0]["stream"]: 0}, day=FIRST))
    reported(desk.casino)
    feeding.feed(desk.casino)
    assert shifts_fed(desk.casino) == ["late"]


def test_a_count_of_a_session_that_is_not_sealed_yet_has_its_shift(desk: RegisterDesk) -> None:
    decided(desk, SHIFTS)
    events = closed(desk.casino, "T1", "21:00")
    record(desk.casino, events)
    record(desk.casino, count(desk.casino, {events[0]["stream"]: 0}, day=FIRST))
    runs.reconcile(desk.casino, FIRST, actor="test", now=datetime(2024, 1, 16, 14, tzinfo=PARIS))
    feeding.feed(desk.casino)
    assert not LedgerBatch.objects.filter(casino=desk.casino, kind=BatchKind.DRAWS).exists()
    assert shifts_fed(desk.casino) == ["late"]


def test_a_clock_that_is_ahead_does_not_choose_the_shift(desk: RegisterDesk) -> None:
    decided(desk, {"now": "00:00"})
    later = FIRST + timedelta(days=365 * 70)
    with time_machine.travel(datetime(2094, 1, 1, tzinfo=PARIS), tick=False):
        desk.decided("shifts", {"chosen": "00:00"})
    events = closed(desk.casino, "T1", "21:00")
    events[-1]["occurred_at"] = f"{later}T21:00:00+01:00"
    counted(desk.casino, [events])
    assert shifts_fed(desk.casino) == ["now"]


def test_in_the_night_in_which_clocks_go_back_a_shift_begins_once(desk: RegisterDesk) -> None:
    decided(desk, {"late": "20:00", "night": "02:30"})
    day = date(2024, 10, 26)
    clocks = ["02:15:00+02:00", "02:45:00+02:00", "02:15:00+01:00", "02:45:00+01:00"]
    played = [closed(desk.casino, "T1", at, day=day, number=number) for number, at in enumerate(clocks, start=1)]
    counted(desk.casino, played, day=day)
    assert shifts_fed(desk.casino) == ["late", "night", "night", "night"]


def test_another_casino_s_register_says_nothing_here(desk: RegisterDesk) -> None:
    decided(RegisterDesk(), SHIFTS)
    counted(desk.casino, [closed(desk.casino, "T1", "21:00")])
    assert shifts_fed(desk.casino) == [""]


SEASONS = pytest.mark.parametrize("nights", [pytest.param(each, marks=pytest.mark.faults) for each in (4, 24)])
"""A night takes long, and a shift needs some twenty counts: where nights are few, more tables play in each."""

COUNTS = 24
NOISE = (3_000, -2_000, -4_000, 1_000, 2_500, -500)
"""Accounting variances of orderly tables, in minor units; they add up to 0."""


def season(desk: RegisterDesk, nights: int, skim: int) -> None:
    """Play a season in which ``skim`` is missing each night from the tables that the night shift closes, of each pair
    now one table, now the other.
    """
    decided(desk, SHIFTS)
    pairs = COUNTS // nights
    for night in range(nights):
        day = FIRST + timedelta(days=night)
        played = []
        for pair in range(pairs):
            tables = (f"T{2 * pair + 1}", f"T{2 * pair + 2}")
            early, late = tables if night % 2 else tables[::-1]
            noise = night * pairs + pair
            played += [
                closed(desk.casino, early, "19:00", NOISE[noise % 6], day=day),
                closed(desk.casino, late, "03:00", NOISE[(noise + 3) % 6] - skim, day=day),
            ]
        recorded(desk.casino, played, day=day)
    feeding.feed(desk.casino)


def questions_about_shifts(casino: Casino) -> list[LedgerQuestion]:
    return list(LedgerQuestion.objects.filter(process__casino=casino, process__kind="shift-drift"))


@SEASONS
def test_money_that_goes_missing_in_one_shift_is_a_question_about_that_shift(desk: RegisterDesk, nights: int) -> None:
    season(desk, nights, skim=8_000)
    [question] = questions_about_shifts(desk.casino)  # and none about the early shift, which is orderly
    assert question.process.subject == "night"
    finding = Finding.objects.get(pk=question.finding_id)
    assert (finding.rule, finding.severity) == ("accounting-drift", "info")
    assert finding.as_value().message("en").startswith("Shift night: the accounting variances go one way.")
    assert finding.as_value().message("fr").startswith("Vacation night\N{NO-BREAK SPACE}: les écarts comptables")
    assert drifts(desk.casino) == {"early": COUNTS, "night": COUNTS}


@pytest.mark.faults
@pytest.mark.parametrize("nights", [4, 24])
def test_orderly_nights_are_no_question(desk: RegisterDesk, nights: int) -> None:
    season(desk, nights, skim=0)
    assert drifts(desk.casino) == {"early": COUNTS, "night": COUNTS}
    assert questions_about_shifts(desk.casino) == []


def test_who_closed_a_table_is_compared_with_the_last_count_that_somebody_else_closed(desk: RegisterDesk) -> None:
    casino = desk.casino
    for night, closer in enumerate(("ben", "ann", "ben", "ann", "ann")):
        day = FIRST + timedelta(days=night)
        events = closed(casino, "T1", "23:00", -9_000 if closer == "ann" else 0, day=day)
        events[0]["data"]["croupier"] = "cleo"
        events[-1]["actor"] = closer
        counted(casino, [events], day=day)
    fed = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.COUNT).order_by("number")
    counts = [msgspec.json.decode(bytes(each.content), type=CountedSession) for each in fed]
    assert [each.closer for each in counts] == ["ben", "ann", "ben", "ann", "ann"]
    assert {each.dealt for each in counts} == {("cleo",)}
    compared = [each.others["closer-drift"] for each in counts]
    assert compared == [{}, {"ann": 0}, {"ben": -9_000}, {"ann": 0}, {}]
    process = LedgerProcess.objects.get(casino=casino, kind="closer-drift", subject="ann")
    assert (process.sessions, process.draws) == (2, 2)
    assert not LedgerProcess.objects.filter(casino=casino, kind="duty-drift").exists()
    assert not list(wrong_ledger(casino.pk))
