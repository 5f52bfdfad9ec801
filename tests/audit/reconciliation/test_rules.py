"""The rules of the reconciliation at their edges: which sessions, counts, days and tests belong together."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from audit.desk.overview import nights
from audit.event_store import read
from audit.models import Casino, Finding, LoggedStream, NightReport, SessionFigures
from audit.reconciliation import content, croupiers, runs, slips
from audit.reconciliation.checks import MAX_ROWS_PER_LINE, Row, _line
from audit.reconciliation.counts import Counts
from audit.reconciliation.gaming_days import last_ended
from audit.reconciliation.night import FALSE_NAMES, Night, SessionResult
from settlement.night.bridge import Bank, Bridge
from settlement.night.croupiers import Tally, more_than_others, noteworthy, one_sidedness
from settlement.night.duty import PaidBy
from settlement.night.figures import Figures
from settlement.night.notes import Slip
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.reconciliation.test_questions import payouts, stream
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def reconcile(casino: Casino, day: date = DAY) -> NightReport:
    (report,) = runs.reconcile(casino, day, actor="test", now=MORNING)
    return report


def rows(report: NightReport, code: str) -> list[dict[str, Any]]:
    line = next(line for line in report.parsed_content()["lines"] if line["code"] == code)
    return list(line["rows"])


def spins(casino: Casino, code: str, number: int, *, day: date = DAY, **opened: Any) -> None:
    following = [("ball.settled", {"pocket": "17"})] * number
    closed = ("session.closed", {"float": 100_000})
    record(casino, stream(casino, code, [*following, closed], gaming_day=day.isoformat(), **opened))


# Openers and counts


def test_the_opener_is_held_against_the_last_closer_of_the_same_table_and_currency(casino: Casino) -> None:
    days = [DAY - timedelta(days=back) for back in (3, 2, 1)]
    for day, table, currency, closing in (
        (days[0], "R1", "EUR", 100_000),
        (days[1], "R1", "EUR", 70_000),
        (days[2], "R1", "CAD", 1),
        (days[2], "R2", "EUR", 2),
    ):
        closed = [("session.closed", {"float": closing})]
        record(casino, stream(casino, table, closed, gaming_day=day.isoformat(), currency=currency))
    spins(casino, "R1", 1, float=70_000)
    spins(casino, "R3", 1)
    found = {row["table"]: (row["verdict"], row["expected"], row["note"]) for row in rows(reconcile(casino), "opener")}
    assert found == {"R1": ("agrees", 70_000, "closer"), "R3": ("unknown", None, "no_closer")}


@pytest.mark.parametrize(
    "days, is_counted",
    [(-2, False), (-1, True), (7, True), (8, False), pytest.param(0, True, marks=pytest.mark.faults)],
)
def test_a_drop_is_looked_for_from_the_day_before_to_a_week_after(casino: Casino, days: int, is_counted: bool) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=DAY + timedelta(days=days)))
    drop = reconcile(casino).parsed_content()["total"]["D"]
    assert drop == (buy_ins(events) if is_counted else None)


@pytest.mark.parametrize(
    "more, note, verdict", [(0, "counted", "agrees"), (1, "counted", "differs"), (-1, "short", "differs")]
)
def test_a_drop_below_the_buy_ins_is_shown_as_such(casino: Casino, more: int, note: str, verdict: str) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events) + more}))
    (row,) = rows(reconcile(casino), "drop")
    assert (row["note"], row["verdict"], row["found"] - row["expected"]) == (note, verdict, more)


@pytest.mark.parametrize(
    "persons, is_shown",
    [
        (["Ida", "Ida"], True),
        (["Ida", "Max"], False),
        *(pytest.param(each, True, marks=pytest.mark.faults) for each in ([], ["Ida"])),
    ],
)
def test_a_drop_that_two_persons_have_not_counted_is_shown(casino: Casino, persons: list[str], is_shown: bool) -> None:
    events = session(casino, "R1")
    record(casino, events)
    counted = count(casino, {events[0]["stream"]: buy_ins(events)})
    counted[1]["data"]["counted_by"] = persons
    record(casino, counted)
    shown = [row for row in rows(reconcile(casino), "drop") if row["note"] == "counted_alone"]
    assert [(row["stream"], row["seqs"], row["expected"], row["verdict"]) for row in shown] == (
        [(counted[0]["stream"], [2], 2, "differs")] if is_shown else []
    )


def test_an_entry_of_another_days_count_is_for_another_days_session(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    record(casino, count(casino, {"elsewhere.X1": 500}, day=DAY + timedelta(days=1)))
    assert [row["note"] for row in rows(reconcile(casino), "drop")] == ["counted"]


def test_a_count_in_another_currency_counts_nothing_of_a_session(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: 500}, currency="CAD"))
    _cad, eur = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert (eur.currency, eur.parsed_content()["total"]["D"]) == ("EUR", None)


@pytest.mark.parametrize("closed, is_found", [(True, True), (False, False)])
def test_before_the_end_of_the_day_a_count_is_missing_once_the_days_count_is_closed(
    casino: Casino, closed: bool, is_found: bool
) -> None:
    record(casino, session(casino, "R1"))
    record(casino, count(casino, {}, closed=closed))
    record(casino, count(casino, {}, day=DAY + timedelta(days=1), closed=True))
    runs.reconcile(casino, DAY, actor="test", now=MORNING - timedelta(hours=12))
    assert Finding.objects.filter(casino=casino, rule="count-missing").exists() is is_found


# Croupiers: levels, and the control of false names


def test_a_croupiers_payouts_at_two_tables_are_one_tally_and_the_night_asks_nothing(casino: Casino) -> None:
    staff = [{"person": "Max", "role": "croupier"}]
    closed = ("session.closed", {"float": 100_000})
    for table, extra in (("R1", 50), ("R2", 50), ("R3", 0)):
        record(casino, stream(casino, table, [*payouts(4, extra), closed], staff=staff))
    report = reconcile(casino)
    assert not Finding.objects.filter(casino=casino, rule="payout-errors-one-sided").exists()
    (croupier,) = report.parsed_content()["croupiers"]
    assert (croupier["payouts"], croupier["for_player"], croupier["p_side_millionths"]) == (12, 8, 7_813)


def test_payouts_by_nobody_that_is_known_are_no_question(casino: Casino) -> None:
    record(casino, stream(casino, "R1", [*payouts(12, 50), ("session.closed", {"float": 100_000})]))
    report = reconcile(casino)
    assert len(report.parsed_content()["errors"]) == 12
    assert not Finding.objects.filter(casino=casino, rule="payout-errors-one-sided").exists()
    assert report.parsed_content()["croupiers"] == []


def result(croupiers: dict[str, PaidBy]) -> SessionResult:
    bridge = Bridge.of(Bank(currency="EUR", opening_float=0), ())
    return SessionResult(
        stream=LoggedStream(), figures=Figures(stream="s", bridge=bridge, croupiers=croupiers), faults=0,
        is_sealed=True, drop=None, previous=None,
    )  # fmt: skip


TALLIES = {"Ben": Tally(100, 0, 0), "Eva": Tally(100, 1, 1), "Ida": Tally(100, 1, 1), "Max": Tally(100, 4, 4)}


def test_a_night_names_croupiers_by_their_error_rates_alone_under_benjamini_and_hochberg() -> None:
    everybody = Tally(400, 6, 6)
    p_values = {name: more_than_others(tally, everybody) for name, tally in TALLIES.items()}
    assert noteworthy(p_values, FALSE_NAMES) == ["Max"]
    paid = {name: PaidBy(tally.payouts, tally.for_house, tally.for_player) for name, tally in TALLIES.items()}
    half = {name: PaidBy(each.payouts - 40, each.for_house, each.for_player) for name, each in paid.items()}
    rest = {name: PaidBy(40) for name in paid} | {"": PaidBy(1_000, 500, 0)}
    night = Night(Casino(), DAY, "EUR", [result(half), result(rest)], Counts())
    listed = {row["croupier"]: row for row in content._croupiers(night)}
    assert {name: row["noteworthy"] for name, row in listed.items()} == {name: name == "Max" for name in TALLIES}, (
        "who is not known is nobody's peer"
    )
    assert {name: row["payouts"] for name, row in listed.items()} == dict.fromkeys(TALLIES, 100)
    assert listed["Max"]["p_errors_millionths"] == -(-p_values["Max"].numerator * 10**6 // p_values["Max"].denominator)


@pytest.mark.parametrize(
    "of_others, errors, is_named",
    [(0, 4, False), (0, 5, True), (2, 8, False), (2, 9, True)],
    ids=["rate: not quite", "rate", "side: not quite", "side"],
)
def test_a_month_names_croupiers_by_rate_and_side_under_one_control_for_any_dependence(
    of_others: int, errors: int, is_named: bool
) -> None:
    others = Tally(100, of_others, of_others)
    tallies = {"Ben": others, "Eva": others, "Max": Tally(100, errors, 0)}
    everybody = Tally(300, 2 * of_others + errors, 2 * of_others)
    p_values = {f"rate/{name}": more_than_others(tally, everybody) for name, tally in tallies.items()}
    p_values |= {f"side/{name}": one_sidedness(tally) for name, tally in tallies.items()}
    assert noteworthy(p_values, FALSE_NAMES), "a control that supposes independence names Max each time"
    expected = {"Ben": False, "Eva": False, "Max": is_named}
    assert {name: each.noteworthy for name, each in croupiers.assessments_of(tallies).items()} == expected
    paid = {name: PaidBy(*tally) for name, tally in tallies.items()}
    of_night = content._croupiers(Night(Casino(), DAY, "EUR", [result(paid)], Counts()))
    assert {row["croupier"]: row["noteworthy"] for row in of_night} == expected, "a night says what a month says"
    of_nights = [nights._Content(nights._Total(), [nights._Croupier(name, *tally) for name, tally in tallies.items()])]
    assert {name: each.noteworthy for name, each in nights._tallies(of_nights).items()} == expected, "the overview, too"


# Lines


def test_what_was_not_adjudicated_is_not_known_and_no_finding(casino: Casino) -> None:
    following = [("buy_in.recorded", {"amount": 5_000, "means": "cash"}), ("session.closed", {"float": 100_000})]
    events = stream(casino, "R1", following, ruleset="xx-roulette")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: 5_000}))
    report = reconcile(casino)
    assert report.parsed_content()["total"]["bridge"]["accounting_variance"] == 5_000
    assert not Finding.objects.filter(casino=casino, rule__in=["accounting-variance", "hold-outside-interval"]).exists()
    for code, note in (("accounting", ""), ("payouts", ""), ("chance", "no_hold"), ("unchecked", "no_ruleset")):
        (row,) = [row for row in rows(report, code) if not row["note"].startswith("ledger")]
        assert (row["verdict"], row["note"]) == ("unknown", note), code


@pytest.mark.superuser
def test_a_fault_in_the_chain_is_a_gap_that_needs_a_signoff_exception(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    assert "gap" not in reconcile(casino).parsed_content()["needs"]
    SessionFigures.objects.filter(stream__casino=casino).update(faults=1)
    report = reconcile(casino)
    assert "gap" in report.parsed_content()["needs"]
    assert [(row["verdict"], row["note"]) for row in rows(report, "completeness")] == [("differs", "chain")]


def test_the_worst_finding_is_the_most_serious_then_that_of_most_money_then_the_first() -> None:
    night = Night(Casino(), DAY, "EUR", [result({})], Counts())
    night.sessions[0].stream = LoggedStream(stream_id=7, name="s")

    def worst(*findings: Finding) -> int:
        night.findings = list(findings)
        shown = content._worst(night)
        assert shown is not None
        return int(shown["seq"])

    def finding(seq: int, severity: str, expected: int, recorded: int, stream_id: int = 7) -> Finding:
        return Finding(
            stream_id=stream_id,
            seq=seq,
            severity=severity,
            expected=expected,
            recorded=recorded,
            rule="payout-overpaid",
            evidence=[],
        )

    small, large = finding(1, "major", 100, 150), finding(2, "major", 200, 100)
    assert worst(small, large) == 2
    assert worst(small, large, finding(3, "critical", 0, 1)) == 3
    assert worst(small, finding(4, "major", 150, 100)) == 1
    assert worst(small, finding(5, "critical", 0, 900, stream_id=8)) == 1, "of a count room, which is no table"


def test_a_line_keeps_the_most_serious_rows_and_says_how_many_it_left_out() -> None:
    verdicts = ["agrees"] * MAX_ROWS_PER_LINE + ["question", "unknown", "differs"]
    line = _line(3, "slips", [Row(verdict=verdict) for verdict in verdicts])  # type: ignore[arg-type]
    assert line["verdict"] == "differs"
    assert line["left_off"] == 3
    assert [row["verdict"] for row in line["rows"][:4]] == ["differs", "question", "unknown", "agrees"]
    assert len(line["rows"]) == MAX_ROWS_PER_LINE
    assert _line(3, "slips", [])["verdict"] == "agrees"


def test_a_stake_out_of_limits_is_on_the_line_of_its_session(casino: Casino) -> None:
    limited = session(casino, "R1", minimum=100_000_000)
    record(casino, limited)
    record(casino, session(casino, "R2", seed=2))
    found = {row["table"]: (row["verdict"], row["found"] > 0) for row in rows(reconcile(casino), "limits")}
    assert found == {"R1": ("differs", True), "R2": ("agrees", False)}


def test_one_missing_number_is_a_gap_and_consecutive_numbers_are_none() -> None:
    def gaps(*numbers: str) -> list[str]:
        used = [slips.Use("s", Slip(seq, "fill", number, 0)) for seq, number in enumerate(numbers, start=1)]
        return [f"{gap.label} before {gap.next_use.slip.seq}" for gap in slips.gaps(used)]

    assert gaps("F-1", "F-2", "F-3") == []
    assert gaps("F-1", "F-3") == ["F-2 before 2"]
    assert gaps("F-09", "F-12", "G-1", "G-3") == ["F-10 … F-11 before 2", "G-2 before 4"]


# Runs


def test_a_finding_that_is_superseded_keeps_its_moment(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    reconcile(casino)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    reconcile(casino)
    moment = Finding.objects.get(casino=casino, rule="count-missing").superseded_at
    assert moment is not None
    reconcile(casino)
    assert Finding.objects.get(casino=casino, rule="count-missing").superseded_at == moment


def test_the_sheet_of_a_version_leaves_out_the_line_about_versions(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    reconcile(casino)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    lines = {row["line"] for row in reconcile(casino).sheet}
    assert {"D", "W_acct", "line.drop"} <= lines
    assert "line.late" not in lines


def test_a_night_is_due_for_the_counts_it_read_and_for_no_other(casino: Casino) -> None:
    day = datetime.now(UTC).date() - timedelta(days=5)
    events = session(casino, "R1", day=day)
    record(casino, events)
    late_count = count(casino, {events[0]["stream"]: buy_ins(events)}, day=day + timedelta(days=1), closed=False)
    record(casino, late_count)
    runs.reconcile(casino, day, actor="test")
    quiet = datetime.now(UTC) + timedelta(hours=1)
    record(casino, count(casino, {"elsewhere.X1": 500}, day=day + timedelta(days=2)))
    assert (casino, day) not in runs.due(quiet)
    record(casino, [{**late_count[-1], "seq": 3}])
    assert (casino, day) in runs.due(quiet)


def test_a_changed_night_is_due_once_it_has_been_quiet_for_ten_minutes(casino: Casino) -> None:
    day = datetime.now(UTC).date() - timedelta(days=3)
    events = session(casino, "R1", day=day)
    record(casino, events)
    runs.reconcile(casino, day, actor="test")
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=day))
    ids = list(LoggedStream.objects.filter(casino=casino, is_of_desk=False).values_list("stream_id", flat=True))
    received = read.last_received(ids)
    assert received is not None
    quiet = received + timedelta(minutes=10)
    assert (casino, day) in runs.due(quiet)
    assert (casino, day) not in runs.due(quiet - timedelta(microseconds=1))


@pytest.mark.parametrize("days, is_due", [(35, True), (36, False)])
def test_a_reported_night_is_looked_at_for_five_weeks(casino: Casino, days: int, is_due: bool) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    day = last_ended(casino, later) - timedelta(days=days)
    events = session(casino, "R1", day=day)
    record(casino, events)
    runs.reconcile(casino, day, actor="test")
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=day))
    assert ((casino, day) in runs.due(later)) is is_due
