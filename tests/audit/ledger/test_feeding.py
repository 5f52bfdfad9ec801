"""Feeding the ledger from the record: in the order of the tree, whole, once; and as the pure ledger is fed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone

from audit import consumers
from audit.ledger import evenings, feeding, listing, nights
from audit.models import (
    BatchKind,
    Casino,
    Finding,
    GamingTable,
    LedgerBatch,
    LedgerCursor,
    LedgerPoint,
    LedgerProcess,
    LedgerQuestion,
    LedgerSetAside,
    LedgerYear,
    StreamEvidence,
)
from audit.projections.ledger import wrong_ledger
from audit.reconciliation import runs, sessions
from audit.simulation import RULESET_NAMES
from settlement import decode
from settlement.corrections import changes_in
from settlement.eprocess import observations
from settlement.eprocess.budget import expected_at_first
from settlement.eprocess.channels import Fed, of_evening, of_payouts, of_session
from settlement.eprocess.ledger import EDITION, Ledger
from settlement.eprocess.process import Process
from settlement.persons.session import PersonsProjection
from tests.audit.projections.test_casinos import forge
from tests.audit.reconciliation.played import DAY, MORNING, Events, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def evidence_of(events: Events) -> Any:
    decoded = [decode(json.dumps(each)) for each in events]
    projection = PersonsProjection(changes_in(decoded))
    projection.feed(decoded)
    return projection.evidence


def year_of(casino: Casino) -> int:
    return LedgerCursor.objects.get(casino=casino).year


def pure(casino: Casino, played: Iterable[Events]) -> Ledger:
    """Return the pure ledger, fed the sessions in the order in which they are given, and then every evening."""
    return fed_more(begun(casino), played)


def begun(casino: Casino) -> Ledger:
    """Return the pure ledger of the year, with as many subjects expected as the record says."""
    [year] = LedgerYear.objects.filter(casino=casino)
    return Ledger(year.year, expected=year.expected)


def fed_more(ledger: Ledger, played: Iterable[Events], *, with_evenings: bool = True) -> Ledger:
    """Feed sessions to the pure ledger, and then every evening that they are of."""
    evenings: dict[str, list[Any]] = {}
    for events in played:
        ledger.feed(of_session(evidence_of(events)), session=events[0]["stream"])
        evenings.setdefault(events[0]["data"]["gaming_day"], []).append(evidence_of(events))
    for day, seen in sorted(evenings.items()) if with_evenings else ():
        ledger.feed(of_evening(seen), session=day)
    return ledger


def states(casino: Casino) -> dict[str, Process]:
    rows = LedgerProcess.objects.filter(casino=casino, ended_at=None)
    return {row.name: msgspec.json.decode(bytes(row.state), type=Process) for row in rows}


EVENINGS = 2
"""Gaming days of ``sessions_of``."""


def sessions_of(casino: Casino, coups: int = 12) -> list[Events]:
    """Return sessions of three games, at the same tables on two days; two are in dollars."""
    day = DAY - timedelta(days=1)
    return [
        session(casino, "R1", seed=1, coups=coups, wheel="W1"),
        session(casino, "C1", ruleset="fr-craps", seed=2, coups=coups, day=day, currency="USD"),
        session(casino, "R1", seed=3, coups=coups, day=day, wheel="W1"),
        session(casino, "A1", ruleset="fr-american-roulette", seed=4, coups=coups, currency="USD"),
        session(casino, "C1", ruleset="fr-craps", seed=5, coups=coups),
    ]


def recorded_and_sealed(casino: Casino, sessions: int | None = None) -> list[Events]:
    """Record the first of those sessions, or all, each in the tree before the next; return them."""
    played = sessions_of(casino)[:sessions]
    for events in played:
        record(casino, events)
        seal()
    return played


def spun(casino: Casino, pockets: Iterable[str], *, day: date = DAY, wheel: str = "W1") -> Events:
    """Return a session of the table R1 in which nobody stakes anything."""
    data = {
        "casino": casino.code, "table": "R1", "gaming_day": day.isoformat(), "game": "french_roulette",
        "ruleset": "fr-roulette", "currency": "EUR", "float": 100_000, "observes": ["results"], "wheel": wheel,
    }  # fmt: skip
    following = [("ball.settled", {"pocket": pocket}) for pocket in pockets]
    events = [("session.opened", data), *following, ("session.closed", {"float": 100_000})]
    stream = f"{casino.code}.R1.{day}.1"
    return [
        {
            "stream": stream,
            "seq": seq,
            "type": kind,
            "occurred_at": f"{day}T20:{seq // 60:02}:{seq % 60:02}+01:00",
            "data": each,
        }
        for seq, (kind, each) in enumerate(events, start=1)
    ]


def test_feeding_through_the_record_is_feeding_the_pure_ledger(casino: Casino) -> None:
    played = recorded_and_sealed(casino)
    assert feeding.feed(casino) == len(played) + EVENINGS
    ledger = pure(casino, played)
    assert states(casino) == ledger.processes
    assert LedgerCursor.objects.get(casino=casino).ranks == ledger.ranks
    assert {"wheel 37: W1", "dice-supply: C1", "table-luck: A1"} <= ledger.processes.keys()
    assert any(name.startswith("player-luck") for name in ledger.processes)
    for row in LedgerProcess.objects.filter(casino=casino):
        process = ledger.processes[row.name]
        assert (row.wealth, row.highest, row.opening) == (process.evidence, process.highest, process.opening)
        assert (row.alpha, row.draws, row.sessions) == (process.alpha, process.draws, row.points.count())
        last = row.points.order_by("batch__number").last()
        assert last is not None
        assert last.wealth == process.evidence
        assert sum(point.draws for point in row.points.all()) == process.draws


@pytest.mark.parametrize("ruleset", in_short(RULESET_NAMES, every=3))
def test_a_session_of_each_ruleset_is_fed(ruleset: str, casino: Casino) -> None:
    record(casino, session(casino, "X1", ruleset=ruleset, coups=60))
    seal()
    feeding.feed(casino)
    assert not LedgerSetAside.objects.exists()
    assert LedgerProcess.objects.filter(casino=casino, draws__gte=60).exists()


def test_the_order_is_that_of_the_tree_and_not_of_days_or_streams(casino: Casino) -> None:
    played = sessions_of(casino)
    for index in (3, 1, 4, 0, 2):  # opened in this order, and closed in another
        record(casino, played[index][:-1])
    seal()
    closed = (2, 4, 1, 3, 0)
    for index in closed:
        record(casino, played[index][-1:])
        seal()
    feeding.feed(casino)
    fed = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.DRAWS).order_by("number")
    assert [batch.stream.name for batch in fed if batch.stream] == [played[index][0]["stream"] for index in closed]
    assert [batch.number for batch in fed] == [1, 2, 3, 4, 5]
    assert states(casino) == pure(casino, [played[index] for index in closed]).processes
    assert states(casino) != pure(casino, played).processes, "the order makes a difference"


def test_a_process_is_since_the_earliest_day_of_its_sessions_whatever_came_first(casino: Casino) -> None:
    days = [DAY, DAY - timedelta(days=2), DAY - timedelta(days=1)]
    for number, day in enumerate(days):
        record(casino, session(casino, "R1", seed=number, coups=4, day=day, wheel="W1"))
        seal()
    feeding.feed(casino)
    wheel = LedgerProcess.objects.get(casino=casino, name="wheel 37: W1")
    assert (wheel.sessions, wheel.first_day) == (3, min(days))
    assert list(wrong_ledger(casino.pk)) == []
    LedgerProcess.objects.filter(pk=wheel.pk).update(first_day=days[0])
    assert [wrong.what for wrong in wrong_ledger(casino.pk) if "wheel 37: W1" in wrong.what]


def test_what_is_not_sealed_or_not_closed_is_not_fed(casino: Casino) -> None:
    first, second = sessions_of(casino)[:2]
    record(casino, first)
    assert feeding.feed(casino) == 0
    record(casino, second[:-1])
    seal()
    assert feeding.feed(casino) == 2, "a session and its evening"
    assert feeding.feed(casino) == 0
    record(casino, second[-1:])
    seal()
    assert feeding.feed(casino) == 2


def test_a_session_that_is_closed_again_is_not_fed_again(casino: Casino) -> None:
    first = sessions_of(casino)[0]
    record(casino, first)
    seal()
    assert feeding.feed(casino) == 2
    before = states(casino)
    record(casino, [first[-1] | {"seq": first[-1]["seq"] + 1}])
    seal()
    assert feeding.feed(casino) == 0
    assert states(casino) == before


def test_two_workers_at_once_feed_each_session_once(casino: Casino, monkeypatch: pytest.MonkeyPatch) -> None:
    played = recorded_and_sealed(casino, 3)
    read = feeding._session

    def another_worker_first(*args: Any) -> LedgerBatch:
        monkeypatch.setattr(feeding, "_session", read)
        batch = read(*args)
        assert feeding.feed(casino) == len(played) + EVENINGS
        return batch

    monkeypatch.setattr(feeding, "_session", another_worker_first)
    feeding.feed(casino)
    assert LedgerBatch.objects.filter(casino=casino).count() == len(played) + EVENINGS
    assert states(casino) == pure(casino, played).processes


def test_a_worker_that_dies_has_fed_a_whole_session_or_nothing_of_it(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = recorded_and_sealed(casino, 3)
    keep = feeding._keep

    def dying(casino: Casino, ledger: Ledger, *others: Any) -> Any:
        rows = keep(casino, ledger, *others)
        if LedgerBatch.objects.filter(casino=casino).count() == 2:
            raise OperationalError("the connection is lost")
        return rows

    monkeypatch.setattr(feeding, "_keep", dying)
    with pytest.raises(OperationalError):
        feeding.feed(casino)
    assert LedgerCursor.objects.get(casino=casino).number == 1
    assert states(casino) == fed_more(begun(casino), played[:1], with_evenings=False).processes
    monkeypatch.undo()
    assert feeding.feed(casino) == 2 + EVENINGS
    assert states(casino) == pure(casino, played).processes


def broken_for(played: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the reading of a session raise, until the patches are undone."""
    evidence = sessions.evidence_of

    def broken(stream_id: int, last_seq: int) -> bytes:
        if last_seq == played[-1]["seq"]:
            raise ValueError("a letter that nobody can read")
        return evidence(stream_id, last_seq)

    monkeypatch.setattr(sessions, "evidence_of", broken)


def due_now() -> None:
    LedgerSetAside.objects.update(next_try_at=timezone.now())


def test_a_session_that_cannot_be_read_is_set_aside_and_fed_when_it_can(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = recorded_and_sealed(casino, 2)
    broken_for(played[0], monkeypatch)
    feeding.feed(casino)
    [row] = LedgerSetAside.objects.filter(casino=casino)
    assert (row.about, row.error) == (played[0][0]["stream"], "ValueError: a letter that nobody can read")
    assert states(casino) == pure(casino, played[1:]).processes
    assert feeding.feed(casino) == 0, "it has its pause"
    due_now()
    assert feeding.feed(casino) == 0
    [row] = LedgerSetAside.objects.filter(casino=casino)
    assert row.tries == 2
    monkeypatch.undo()
    LedgerSetAside.objects.update(next_try_at=timezone.now() + timedelta(days=3_650))
    assert feeding.feed(casino) == 2, "no pause is as long: somebody has written that"
    assert not LedgerSetAside.objects.exists()
    assert states(casino) == pure(casino, played[::-1]).processes
    assert list(wrong_ledger(casino.pk)) == []


def test_a_session_that_cannot_be_fed_is_set_aside_whole_and_no_other_waits(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = recorded_and_sealed(casino, 3)
    feed = Ledger.feed

    def broken(ledger: Ledger, batches: Iterable[Fed], *, session: str) -> Any:
        questions = feed(ledger, batches, session=session)
        if session == played[1][0]["stream"]:
            raise ZeroDivisionError("counts that balance")
        return questions

    monkeypatch.setattr(Ledger, "feed", broken)
    feeding.feed(casino)
    monkeypatch.undo()
    assert states(casino) == pure(casino, [played[0], played[2]]).processes
    [row] = LedgerSetAside.objects.filter(casino=casino)
    assert row.error == "ZeroDivisionError: counts that balance"
    assert bytes(row.content) == observations.encode(evidence_of(played[1])), "it is not read again"
    due_now()
    assert feeding.feed(casino) == 2
    later = fed_more(pure(casino, [played[0], played[2]]), [played[1]])
    assert states(casino) == later.processes
    [late] = LedgerBatch.objects.filter(casino=casino, kind=BatchKind.LATE)
    assert late.stream is not None
    assert late.stream.name == played[1][0]["stream"]
    assert list(wrong_ledger(casino.pk)) == []


def test_persons_are_fed_when_their_gaming_day_has_ended_and_tables_at_once(casino: Casino) -> None:
    played = sessions_of(casino)[:1]
    record(casino, played[0])
    seal()
    paris = ZoneInfo("Europe/Paris")
    with time_machine.travel(datetime.combine(DAY, time(23, 30), paris), tick=False):
        feeding.feed(casino)
    assert {row.kind for row in LedgerProcess.objects.filter(casino=casino)} & {"wheel", "player-luck"} == {"wheel"}
    with time_machine.travel(datetime.combine(DAY + timedelta(days=1), time(13), paris), tick=False):
        assert feeding.feed(casino) == 1
    assert states(casino) == pure(casino, played).processes


def test_an_evening_has_the_session_that_another_worker_feeds_meanwhile(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = sessions_of(casino)[1:3]
    record(casino, played[0])
    seal()
    read = evenings.of_day

    def another_worker_first(*args: Any) -> LedgerBatch:
        monkeypatch.undo()
        evening = read(*args)
        record(casino, played[1])
        seal()
        assert next(feeding._fed_in_order(casino))
        return evening

    monkeypatch.setattr(evenings, "of_day", another_worker_first)
    assert feeding.feed(casino) == 1, "its evening is not whole"
    assert feeding.feed(casino) == 1
    assert states(casino) == pure(casino, played).processes


def test_an_evening_that_cannot_be_fed_is_set_aside_and_takes_what_came_since(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    day_before = sessions_of(casino)[1:3]
    record(casino, day_before[0])
    seal()

    def broken(sessions: Any) -> Any:
        raise OverflowError("an evening without end")

    monkeypatch.setattr(feeding, "of_evening", broken)
    feeding.feed(casino)
    record(casino, day_before[1])
    seal()
    assert feeding.feed(casino) == 1, "the session; its evening is set aside"
    monkeypatch.undo()
    due_now()
    assert feeding.feed(casino) == 1
    assert states(casino) == pure(casino, day_before).processes


@pytest.mark.superuser
def test_processes_of_an_earlier_edition_have_ended_and_keep_what_they_had(casino: Casino) -> None:
    played = sessions_of(casino)[:3:2]
    record(casino, played[0])
    seal()
    feeding.feed(casino)
    for table in ("year", "process", "batch", "cursor"):
        forge(f"update audit_ledger{table} set edition = {EDITION - 1} where casino_id = {casino.pk}")
    before = LedgerProcess.objects.get(casino=casino, name="wheel 37: W1")
    record(casino, played[1])
    seal()
    feeding.feed(casino)
    earlier, now = LedgerProcess.objects.filter(casino=casino, name="wheel 37: W1").order_by("pk")
    assert (bytes(earlier.state), earlier.wealth, earlier.is_going_on) == (bytes(before.state), before.wealth, False)
    assert (now.generation, now.sessions, now.edition, now.is_going_on) == (2, 1, EDITION, True)
    assert now.alpha == before.alpha, "the levels of an edition begin anew"
    assert list(listing.processes_of(casino).filter(name="wheel 37: W1")) == [now]
    assert list(wrong_ledger(casino.pk)) == []


def test_a_night_that_cannot_be_read_is_set_aside_and_fed_when_it_can(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = session(casino, "R1", seed=6, coups=15, staff=[{"person": "Max", "role": "croupier"}])
    record(casino, events)
    bought = sum(each["data"]["amount"] for each in events if each["type"] == "buy_in.recorded")
    record(casino, count(casino, {events[0]["stream"]: bought}))
    seal()
    runs.reconcile(casino, DAY, actor="test", now=MORNING)

    def broken(*args: Any) -> Any:
        raise KeyError("a table that nobody knows")

    monkeypatch.setattr(nights, "_payouts", broken)
    assert feeding.feed(casino) == 2, "the session and its evening"
    assert feeding.feed(casino) == 0
    [row] = LedgerSetAside.objects.filter(casino=casino)
    assert (row.kind, row.stream, row.about) == (BatchKind.PAYOUTS, None, f"{DAY} EUR")
    monkeypatch.undo()
    due_now()
    assert feeding.feed(casino) == 2
    assert not LedgerSetAside.objects.exists()


def test_what_is_set_aside_is_seen_by_whoever_watches_the_record(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = sessions_of(casino)[:1]
    record(casino, played[0])
    seal()
    broken_for(played[0], monkeypatch)
    feeding.feed(casino)
    monkeypatch.undo()
    [consumer] = [each for each in consumers.REGISTRY if each.name == "ledger"]
    lag = consumer.measure([casino.pk])
    assert (lag.items, lag.set_aside) == (0, 1)
    assert lag.errors == (f"{played[0][0]['stream']}: ValueError: a letter that nobody can read",)
    due_now()
    feeding.feed(casino)
    assert consumer.measure([casino.pk]).set_aside == 0


def test_a_correction_afterwards_does_not_rewind(casino: Casino) -> None:
    chance = random.Random(8)
    events = spun(casino, [str(chance.randrange(37)) for _ in range(40)])
    record(casino, events)
    seal()
    feeding.feed(casino)
    before = states(casino)
    last = events[-1]
    annulled = {"annuls": 5, "reason": "misread", "approved_by": "chef"}
    record(casino, [last | {"seq": last["seq"] + 1, "type": "entry.annulled", "data": annulled}])
    seal()
    feeding.feed(casino)
    assert states(casino) == before


def test_the_pass_of_the_night_keeps_what_the_ledger_is_fed(casino: Casino) -> None:
    events = sessions_of(casino)[0]
    stream_id = record(casino, events)
    sessions.compute_figures(stream_id, events[-1]["seq"])
    [row] = StreamEvidence.objects.filter(stream=stream_id)
    assert bytes(row.observations) == sessions.evidence_of(stream_id, events[-1]["seq"])
    assert row.observations == observations.encode(evidence_of(events))


# Levels and questions


def test_each_process_has_its_share_of_the_budget_in_the_order_of_appearance(casino: Casino) -> None:
    Casino.objects.filter(pk=casino.pk).update(false_questions="0.5")
    for number, wheel in enumerate(("W1", "W2", "W3")):
        record(casino, spun(casino, ["1", "2", "3"], day=DAY + timedelta(days=number), wheel=wheel))
        seal()
    feeding.feed(casino)
    levels = [Fraction(LedgerProcess.objects.get(casino=casino, name=f"wheel 37: W{j}").alpha) for j in (1, 2, 3)]
    of_wheels = Fraction(1, 2) * Fraction(1, 2) * Fraction(4, 16)
    assert levels == [of_wheels / 4, of_wheels / 4, of_wheels / 8], "two tables, so two wheels are expected"


def test_a_casino_of_more_tables_expects_more_and_says_so(casino: Casino) -> None:
    for code in ("R2", "R3"):
        GamingTable.objects.create(casino=casino, code=code)
    record(casino, spun(casino, ["1", "2", "3"]))
    seal()
    feeding.feed(casino)
    [year] = LedgerYear.objects.filter(casino=casino)
    assert year.expected == LedgerCursor.objects.get(casino=casino).expected == expected_at_first(4)
    assert LedgerProcess.objects.get(casino=casino, name="wheel 37: W1").alpha == "1/64"


def test_a_wheel_stuck_on_one_pocket_is_a_question_once_a_year(casino: Casino) -> None:
    for number in range(3):
        record(casino, spun(casino, ["17"] * 20, day=DAY + timedelta(days=number)))
        seal()
    feeding.feed(casino)
    process = LedgerProcess.objects.get(casino=casino, name="wheel 37: W1")
    question = LedgerQuestion.objects.get(process=process)
    assert question.batch.number == 1
    assert question.evidence >= 1 / Fraction(process.alpha)
    finding = Finding.objects.get(pk=question.finding_id)
    assert (finding.rule, finding.severity, finding.status) == ("wheel-fairness", "info", "standing")
    assert finding.case is not None
    assert finding.facts["alpha"] == process.alpha == "1/32"
    message = finding.as_value().message("en")
    assert "Wheel W1" in message
    assert "at most 1/32 a year" in message
    assert "not an accusation" in message
    about_wheels = Finding.objects.filter(casino=casino, rule="wheel-fairness")
    assert about_wheels.count() == 2, "one of the pockets, one of the memory of the wheel: each its own case"
    assert len(set(about_wheels.values_list("case", flat=True))) == 2


def staked_late(casino: Casino) -> Events:
    """Return a session of two croupiers, 30 coups each; one player stakes late at each coup of the first."""
    events = spun(casino, ())
    [opened, closed] = [(each["type"], each["data"]) for each in events]
    opened[1].update(observes=["results", "wagers", "calls", "staff"], croupier="ada")
    following: list[tuple[str, dict[str, Any]]] = []
    for coup in range(60):
        if coup == 30:
            following += [("staff.relieved", {"person": "ada", "role": "croupier"})]
            following += [("staff.assigned", {"person": "bob", "role": "croupier"})]
        data = {"bet": "plein", "numbers": ["0"], "stake": 500}
        stakes = [("wager.placed", {"wager": f"{who}{coup}", "player": who, **data}) for who in "pq"]
        call: tuple[str, dict[str, Any]] = ("no_more_bets", {})
        in_order = [stakes[1], call, stakes[0]] if coup < 30 else [*stakes, call]
        following += [*in_order, ("ball.settled", {"pocket": str(1 + coup % 36)})]
    return [
        {
            **events[0],
            "seq": seq,
            "type": kind,
            "data": data,
            "occurred_at": f"{DAY}T20:{seq // 60:02}:{seq % 60:02}+01:00",
        }
        for seq, (kind, data) in enumerate([opened, *following, closed], start=1)
    ]


def test_findings_that_gather_on_a_croupier_and_a_player_are_questions_about_both(casino: Casino) -> None:
    record(casino, staked_late(casino))
    seal()
    feeding.feed(casino)
    found = {
        question.process.kind: Finding.objects.get(pk=question.finding_id)
        for question in LedgerQuestion.objects.select_related("process")
    }
    alone, pair = found["concentration"], found["pair-concentration"]
    assert (alone.rule, alone.croupier, alone.player) == ("concentration", "ada", "")
    assert (pair.rule, pair.croupier, pair.player) == ("concentration", "ada", "p")
    assert alone.facts["of_rule"] == pair.facts["of_rule"] == "wager-after-no-more-bets"
    assert (alone.severity, alone.status) == ("info", "standing")
    assert alone.case is not None
    assert pair.case is not None
    assert "with player p" in pair.as_value().message("en")
    assert "with player" not in alone.as_value().message("en")
    assert "bob" not in {finding.croupier for finding in found.values()}
    assert listing.questions_of(casino, year_of(casino))
    assert list(wrong_ledger(casino.pk)) == []


def test_a_question_says_what_its_player_staked_though_nobody_has_added_up_the_session(casino: Casino) -> None:
    record(casino, won_each_time(casino, 20))
    seal()
    feeding.feed(casino)
    question = LedgerQuestion.objects.get(process__kind="player-luck", process__subject="p")
    facts = Finding.objects.get(pk=question.finding_id).facts
    assert (facts["nights"], facts["staked"]) == (1, 20 * 500)
    assert list(wrong_ledger(casino.pk)) == []


def won_each_time(casino: Casino, coups: int) -> Events:
    """Return a session in which one player stakes 5.00 on 0 at each coup, and 0 falls each time."""
    [opened, *_, closed] = events = spun(casino, ["0"] * coups)
    following: list[tuple[str, dict[str, Any]]] = []
    for coup in range(coups):
        stake = {"wager": f"w{coup}", "player": "p", "bet": "plein", "numbers": ["0"], "stake": 500}
        following += [("wager.placed", stake), ("ball.settled", {"pocket": "0"})]
    opened["data"].update(observes=["results", "wagers"])
    numbered = [(opened["type"], opened["data"]), *following, (closed["type"], closed["data"])]
    return [
        {**events[0], "seq": seq, "type": kind, "data": data, "occurred_at": f"{DAY}T20:00:{seq:02}+01:00"}
        for seq, (kind, data) in enumerate(numbered, start=1)
    ]


def test_a_run_of_the_night_leaves_the_questions_of_the_ledger(casino: Casino) -> None:
    record(casino, spun(casino, ["17"] * 20))
    seal()
    feeding.feed(casino)
    standing = Finding.objects.standing().filter(casino=casino, rule="wheel-fairness").count()
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert standing
    assert Finding.objects.standing().filter(casino=casino, rule="wheel-fairness").count() == standing


def test_below_its_level_a_process_does_not_ask(casino: Casino) -> None:
    record(casino, spun(casino, ["17", "17"]))
    seal()
    feeding.feed(casino)
    process = LedgerProcess.objects.get(casino=casino, name="wheel 37: W1")
    assert 1 < process.e_value < process.threshold
    assert not LedgerQuestion.objects.filter(process=process).exists()


# Nights and counts


def test_a_counted_night_feeds_payouts_and_variances_once(casino: Casino) -> None:
    events = session(casino, "R1", seed=6, coups=15, staff=[{"person": "Max", "role": "croupier"}])
    record(casino, events)
    bought = sum(each["data"]["amount"] for each in events if each["type"] == "buy_in.recorded")
    record(casino, count(casino, {events[0]["stream"]: bought}))
    seal()
    runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert feeding.feed(casino) == 4
    assert feeding.feed(casino) == 0
    kinds = list(LedgerBatch.objects.filter(casino=casino).order_by("number").values_list("kind", flat=True))
    assert kinds == [BatchKind.DRAWS, BatchKind.EVENING, BatchKind.COUNT, BatchKind.PAYOUTS]
    evidence = evidence_of(events)
    assert evidence.payouts
    expected = {fed.subject for fed in of_payouts(evidence.payouts) if fed.kind == "payout-rate"}
    rates = LedgerProcess.objects.filter(casino=casino, kind="payout-rate")
    assert {row.subject for row in rates} == expected != set()
    [drift] = LedgerProcess.objects.filter(casino=casino, kind="table-drift")
    assert (drift.subject, drift.draws) == ("R1", 1)
    assert LedgerPoint.objects.filter(process=drift).count() == 1
