"""Identification and reportable cash: added up over tables, desks, sessions and midnight, exact to the minor unit."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement import decode
from settlement.persons.day import Day
from settlement.persons.exchanges import Exchange
from settlement.persons.findings import findings_of, unchecked
from settlement.persons.money_finding import MoneyFinding
from settlement.persons.stream_money import StreamMoney
from settlement.persons.thresholds import Thresholds
from tests.settlement.persons.streams_of_money import ALL, DAY, count_room, day_of, money_of, table
from tests.settlement.streams import event

ALINE = (
    table("R3", "20:41 buy Aline 20000 cash"),
    table("R2", "22:12 buy Aline 30000 cash\n22:58 buy Aline 30000 cash"),
    count_room(
        "count",
        """
        20:08 in  Aline 50000  cash cage-1
        21:37 in  Aline 60000  cash cage-1
        23:20 in  Aline 40000  cash cage-1
        00:47 out Aline 186500 cash cage-1
        """,
    ),
)


def due(day: Day, rule: str, *args: Any, **options: Any) -> list[MoneyFinding]:
    return [each for each in findings_of(day, *args, **options) if each.rule == rule]


def test_identification_is_due_at_the_exchange_that_reaches_it() -> None:
    day = day_of(*ALINE)
    (finding,) = due(day, "identification-due")
    assert (finding.severity, finding.player) == ("major", "Aline")
    assert (finding.stream, finding.seq, finding.evidence) == ("count", 4, (2, 3, 4))
    assert (finding.expected, finding.recorded) == (200_000, 230_000)
    assert finding.facts["elsewhere"] == ["R3#2", "R2#2", "R2#3"]
    assert finding.message("en") == (
        "Player Aline: chips bought came to €2,300.00 on 19\N{NO-BREAK SPACE}November\N{NO-BREAK SPACE}2026, in 6 "
        "exchanges; from €2,000.00 the player must be identified, and no identification is recorded."
    )
    assert finding.remedy("fr").startswith("Identifier le joueur Aline avant tout nouveau change")
    assert finding.remedy("en", {"player": "Aline Roche"}).startswith("Identify the player Aline Roche")
    assert due(day, "identification-due", identified={"Aline"}) == []
    assert due(day, "identification-due", identified={"aline"}) == [finding]


@pytest.mark.parametrize(("last", "is_due"), [(99_999, False), (100_000, True), (100_001, True)])
def test_the_threshold_is_reached_to_the_cent(last: int, is_due: bool) -> None:
    day = day_of(table("R1", f"20:00 buy p1 100000 cash\n23:00 buy p1 {last} card"))
    assert bool(due(day, "identification-due")) is is_due


def test_chips_bought_and_chips_cashed_never_add_up() -> None:
    day = day_of(count_room("count", "20:00 in p1 150000 cash\n21:00 out p1 150000 cash"))
    assert findings_of(day) == []
    day = day_of(count_room("count", "20:00 in p1 200000 cash\n21:00 out p1 200000 cheque"))
    assert [each.facts["exchange"] for each in due(day, "identification-due")] == ["in", "out"]


def test_of_players_whom_nobody_named_each_exchange_counts_alone() -> None:
    day = day_of(table("R1", "20:00 buy - 100000 cash\n20:30 buy - 100000 cash\n21:00 buy - 200000 cash"))
    (finding,) = due(day, "identification-due")
    assert (finding.seq, finding.player, finding.recorded) == (4, None, 200_000)
    assert finding.message("en").startswith("Chips bought came to €2,000.00")
    assert finding.message("fr").startswith("Achats de jetons pour 2")


def test_another_gaming_day_begins_at_nothing() -> None:
    first, second = (
        table("R1.1", "20:00 buy p1 150000 cash", day="2026-11-18"),
        table("R1.2", "23:00 buy p1 150000 cash"),
    )
    assert not due(day_of(first, second), "identification-due")
    one_day = table("R1.1", "20:00 buy p1 150000 cash"), table("R1.2", "01:00 buy p1 50000 cash")
    assert len(due(day_of(*one_day), "identification-due")) == 1, "midnight ends no gaming day"


def test_currencies_are_not_added_and_one_without_a_threshold_is_named() -> None:
    euros = table("R1", "20:00 buy p1 150000 cash")
    francs = table("R2", "21:00 buy p1 9000000 cash", currency="CHF")
    assert findings_of(day_of(euros, francs)) == []
    day = day_of(euros, francs, currency="CHF")
    assert findings_of(day) == []
    assert unchecked(day) == ["exchanges"]
    assert unchecked(day_of(euros)) == []
    found = due(day, "identification-due", Thresholds(identification_from={"CHF": 9_000_000}))
    assert [each.recorded for each in found] == [9_000_000]


def test_the_register_decides_the_amounts() -> None:
    day = day_of(table("R1", "20:00 buy p1 100000 cash"))
    thresholds = Thresholds.of({"identification_from": {"EUR": 100_000}})
    assert thresholds.reportable_cash_from == {"CAD": 1_000_000}
    assert len(due(day, "identification-due", thresholds)) == 1
    assert not findings_of(day, Thresholds.of({"identification_from": {}}))


def test_a_buy_in_that_never_happened_or_was_another_counts_as_corrected() -> None:
    lines = "20:00 buy p1 150000 cash\n20:01 buy p1 150000 cash"
    events = table("R1", lines, close=None)
    annulled = [*events, *(_change("entry.annulled", annuls=3),)]
    assert not due(day_of(annulled), "identification-due")
    right = {"amount": 50_000, "means": "cash", "player": "p2"}
    assert not due(day_of([*events, _change("entry.corrected", corrects=3, data=right)]), "identification-due")
    assert len(due(day_of(events), "identification-due")) == 1


def test_the_cash_desk_counts_as_corrected() -> None:
    events = count_room("count", "20:00 in p1 150000 cash\n20:01 in p1 150000 cash")
    assert len(due(day_of(events), "identification-due")) == 1
    assert not due(day_of([*events, _change("entry.annulled", "count", annuls=3)]), "identification-due")


def _change(kind: str, stream: str = "R1", **data: Any) -> Any:
    return decode(event(stream, 4, kind, at=f"{DAY}T23:00:00+01:00", reason="slip", approved_by="chef-1", **data))


# Reportable cash


def at_charlevoix(*lines: str, day: str = DAY) -> list[Any]:
    return count_room(f"count.{day}", "\n".join(lines), day=day, currency="CAD")


def reportable(*streams: list[Any], day: str = DAY) -> list[MoneyFinding]:
    return due(day_of(*streams, day=day, currency="CAD"), "reportable-cash")


@pytest.mark.parametrize(("last", "found"), [(499_999, 0), (500_000, 1)])
def test_cash_is_reported_from_ten_thousand_dollars_in_24_hours(last: int, found: int) -> None:
    findings = reportable(at_charlevoix("20:00 in p1 500000 cash", f"23:00 in p1 {last} cash"))
    assert len(findings) == found
    assert [(each.recorded, each.evidence) for each in findings] == [(1_000_000, (2, 3))] * found


def test_what_is_received_counts_in_cash_and_what_is_paid_out_by_any_means() -> None:
    assert not reportable(at_charlevoix("20:00 in p1 500000 cash", "21:00 in p1 500000 card"))
    assert not reportable(at_charlevoix("20:00 in p1 500000 cash", "21:00 out p1 500000 cash"))
    (finding,) = reportable(at_charlevoix("20:00 out p1 500000 cash", "21:00 out p1 500000 cheque"))
    assert finding.facts["exchange"] == "out"


@pytest.mark.parametrize(("clock", "found"), [("19:59:59", 1), ("20:00", 0), ("20:01", 0)])
def test_24_hours_end_where_they_began(clock: str, found: int) -> None:
    first = at_charlevoix("20:00 in p1 600000 cash", day="2026-11-18")
    findings = reportable(first, at_charlevoix(f"{clock} in p1 400000 cash"))
    assert len(findings) == found
    assert [each.facts["elsewhere"] for each in findings] == [["count.2026-11-18#2"]] * found


def test_each_further_ten_thousand_is_reported_and_no_exchange_between() -> None:
    lines = ["20:00 in p1 1000000 cash", "20:10 in p1 100000 cash", "20:20 in p1 900000 cash", "20:30 in p1 5 cash"]
    assert [each.seq for each in reportable(at_charlevoix(*lines))] == [2, 4]


def test_a_finding_is_of_the_day_of_its_last_exchange() -> None:
    first = at_charlevoix("20:00 in p1 1000000 cash", day="2026-11-18")
    second = at_charlevoix("19:00 in p1 10 cash")
    assert not reportable(first, second)
    assert len(reportable(first, second, day="2026-11-18")) == 1


def test_banknotes_that_are_staked_are_cash_received_and_no_exchange() -> None:
    opened = table("Q1", "20:00 buy p1 500000 cash", ruleset="qc-craps", currency="CAD", close=None)
    staked = {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 500_000, "player": "p1", "medium": "cash"}
    events = [*opened, decode(event("Q1", 3, "wager.placed", at=f"{DAY}T21:00:00+01:00", **staked))]
    (finding,) = reportable(events)
    assert (finding.seq, finding.recorded) == (3, 1_000_000)
    day = day_of(events, currency="CAD")
    assert not due(day, "identification-due", Thresholds(identification_from={"CAD": 1_000_000}))
    person = day.persons["p1"]
    assert (person.total_bought, person.cash_in, person.chips_left) == (500_000, 1_000_000, 1_000_000)
    assert [each.amount for each in reportable_stakes(day)] == [500_000]


def reportable_stakes(day: Day) -> list[Exchange]:
    return [each for each in day.exchanges if each.is_stake]


# A second person's count


START = datetime(2026, 11, 18, 12, tzinfo=UTC)
PLAYERS = st.sampled_from(["", "a", "b"])
ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 1),  # the day
        st.integers(0, 23 * 60),  # minutes into it
        PLAYERS,
        st.sampled_from(["in", "out"]),
        st.integers(1, 8),
        st.sampled_from(["cash", "card"]),
        st.sampled_from(["x", "y"]),
    ),
    max_size=25,
)


def parts_of(entries: list[Any]) -> list[StreamMoney]:
    parts: dict[tuple[int, str], StreamMoney] = {}
    for day, minutes, player, direction, amount, means, where in entries:
        gaming_day = f"2026-11-{18 + day}"
        name = f"{where}.{gaming_day}"
        part = parts.setdefault(
            (day, where),
            StreamMoney(
                stream=name,
                casino="demo",
                gaming_day=gaming_day,
                currency="EUR",
                opened_at=START.isoformat(),
                closed_by=1,
                exchanges=[],
            ),
        )
        part.exchanges.append(
            Exchange(
                stream=name,
                seq=len(part.exchanges) + 2,
                at=START + timedelta(days=day, minutes=minutes),
                where=where,
                direction=direction,
                amount=amount,
                means=means,
                player=player,
            )
        )
    return list(parts.values())


def recounted(parts: list[StreamMoney], threshold: int) -> set[tuple[str, str, int]]:
    """Recount by hand: for each exchange of the second day, everything before it is added up anew."""
    everything = [(part.gaming_day, each) for part in parts for each in part.exchanges]
    found = set()
    for gaming_day, last in everything:
        if gaming_day != "2026-11-19":
            continue
        same = [
            (day, each)
            for day, each in everything
            if each.direction == last.direction
            and (each is last or (last.player != "" and each.player == last.player))
            and (each.at, each.stream, each.seq) <= (last.at, last.stream, last.seq)
        ]
        of_day = sum(each.amount for day, each in same if day == "2026-11-19")
        if of_day - last.amount < threshold <= of_day:
            found.add(("identification-due", last.stream, last.seq))
        if last.direction == "in" and last.means != "cash":
            continue
        recent = [each for _day, each in same if last.at - each.at < timedelta(hours=24)]
        counted = sum(each.amount for each in recent if each.direction == "out" or each.means == "cash")
        if any(counted - last.amount < multiple <= counted for multiple in range(threshold, 500, threshold)):
            found.add(("reportable-cash", last.stream, last.seq))
    return found


@given(ENTRIES, st.integers(3, 20), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_a_second_person_counts_the_same_in_any_order_of_streams(
    entries: list[Any], threshold: int, chance: Any
) -> None:
    parts = parts_of(entries)
    expected = recounted(parts, threshold)
    chance.shuffle(parts)
    thresholds = Thresholds(identification_from={"EUR": threshold}, reportable_cash_from={"EUR": threshold})
    day = Day.of(parts, casino="demo", gaming_day="2026-11-19", currency="EUR")
    found = {(each.rule, each.stream, each.seq) for each in findings_of(day, thresholds)}
    assert {each for each in found if each[0] in ("identification-due", "reportable-cash")} == expected
    sums: dict[str, int] = defaultdict(int)
    for part in parts:
        if part.gaming_day == "2026-11-19":
            for each in part.exchanges:
                sums[each.player] += each.amount if each.direction == "in" else -each.amount
    assert {player: person.chips_left for player, person in day.persons.items()} == sums


def test_open_families_are_named() -> None:
    assert unchecked(day_of(table("R1", close=None))) == ["play"]
    assert unchecked(day_of(table("R1", observes=["results"]))) == ["play"]
    assert unchecked(day_of(table("R1", observes=ALL))) == []
    assert money_of(table("R1")).sees_wagers
