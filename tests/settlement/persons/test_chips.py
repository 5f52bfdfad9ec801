"""The questions about chips: cashed by somebody who had none, pooled by several, and never brought back."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement import decode
from settlement.events import Event
from settlement.persons.day import Day
from settlement.persons.findings import findings_of
from settlement.persons.holdings import Chips, Holdings, left_with
from settlement.persons.money_finding import MoneyFinding
from settlement.persons.thresholds import Thresholds
from tests.settlement.persons.streams_of_money import ALL, DAY, count_room, day_of, money_of, table
from tests.settlement.streams import event, opener


def raised_in(day: Day, rule: str, *earlier: Day, **thresholds: int) -> list[MoneyFinding]:
    """Return the questions of a day, after ``earlier`` ones; ``thresholds`` in euro cents."""
    holdings = Holdings()
    for each in earlier:
        holdings.add(each)
    register = Thresholds.of({name: {"EUR": amount} for name, amount in thresholds.items()})
    return [each for each in findings_of(day, register, holdings=holdings) if each.rule == rule]


def played(*stakes: tuple[str, int, str], observes: list[str] = ALL, day: str = DAY) -> list[Event]:
    """Return a session of stakes on red or black (player or "", amount, bet), in which 7 comes: red."""
    rest: list[tuple[str, dict[str, Any]]] = []
    for number, (player, stake, bet) in enumerate(stakes):
        whose = {"player": player} if player else {}
        rest.append(("wager.placed", {"wager": f"w{number}", "bet": bet, "stake": stake, **whose}))
    rest.append(("ball.settled", {"pocket": "7"}))
    for number, (_player, stake, bet) in enumerate(stakes):
        paid = ("payout.made", {"wager": f"w{number}", "winnings": stake, "stake_returned": stake})
        rest.append(paid if bet == "rouge" else ("stakes.collected", {"wagers": [f"w{number}"]}))
    rest.append(("session.closed", {"float": 0}))
    events = [opener("R1", "fr-roulette", gaming_day=day, observes=observes)]
    events += [
        event("R1", seq, kind, at=f"{day}T21:{seq:02}:00+01:00", **data) for seq, (kind, data) in enumerate(rest, 2)
    ]
    return [decode(each) for each in events]


# Chips from elsewhere


def test_who_bought_and_staked_nothing_and_cashes_chips_is_asked_about() -> None:
    day = day_of(table("R1"), count_room("count", "23:00 out p1 500000 cash"))
    (finding,) = raised_in(day, "chips-from-elsewhere")
    assert (finding.player, finding.stream, finding.seq, finding.evidence) == ("p1", "count", 2, (2,))
    assert (finding.expected, finding.recorded, finding.severity) == (0, 500_000, "info")
    assert finding.message("en") == (
        "Player p1: chips for €5,000.00 were cashed; what was bought, won and kept of earlier evenings comes to €0.00 "
        "at most."
    )
    assert finding.message("fr").startswith("Joueur p1")
    assert not raised_in(day_of(table("R1"), count_room("count", "23:00 out p1 499999 cash")), "chips-from-elsewhere")
    assert not raised_in(day_of(table("R1"), count_room("count", "23:00 out - 900000 cash")), "chips-from-elsewhere")


@pytest.mark.parametrize(
    ("stakes", "cashed", "most"),
    [
        ([("p1", 10_000, "rouge")], 1_610_000, 110_000),
        ([("p1", 10_000, "rouge")], 1_609_999, None),
        ([("p1", 10_000, "noir")], 1_590_000, 90_000),
        ([("p1", 10_000, "noir")], 1_589_999, None),
        ([("", 10_000, "rouge")], 1_610_000, 110_000),  # nobody's stake may have been his, and of his chips
        ([("", 10_000, "rouge")], 1_609_999, None),
        ([("", 10_000, "noir")], 1_600_000, 100_000),
    ],
)
def test_what_he_bought_won_and_lost_is_counted(
    stakes: list[tuple[str, int, str]], cashed: int, most: int | None
) -> None:
    desk = count_room("count", f"20:00 in p1 100000 cash\n23:00 out p1 {cashed} cash")
    found = raised_in(day_of(played(*stakes), desk), "chips-from-elsewhere")
    assert [each.expected for each in found] == ([] if most is None else [most])


def test_chips_that_nobody_is_known_to_have_bought_may_be_his() -> None:
    lines = "20:00 in - 50000 cash\n23:00 out p1 {} cash"
    assert raised_in(day_of(table("R1"), count_room("count", lines.format(550_000))), "chips-from-elsewhere")
    assert not raised_in(day_of(table("R1"), count_room("count", lines.format(549_999))), "chips-from-elsewhere")


def test_chips_that_nobody_known_bought_after_he_cashed_his_last_were_not_his() -> None:
    lines = "20:00 in - 1000 cash\n{} in - 50000 cash\n22:00 out p1 300000 cash\n23:00 out p1 250000 cash"
    for clock, is_raised in (("22:59", False), ("23:00", False), ("23:01", True)):
        day = day_of(table("R1"), count_room("count", lines.format(clock)))
        assert bool(raised_in(day, "chips-from-elsewhere")) is is_raised, clock
    kept_of_it = day_of(
        table("R9", day=before(1)), count_room("c", lines.format("23:01"), day=before(1)), day=before(1)
    )
    again = day_of(table("R1"), count_room("count", "23:00 out p1 551000 cash"))
    assert raised_in(again, "chips-from-elsewhere")
    assert raised_in(again, "chips-from-elsewhere", kept(1, 51_000))
    assert not raised_in(again, "chips-from-elsewhere", kept(1, 51_001))
    assert raised_in(again, "chips-from-elsewhere", kept_of_it), "he cashed more than he had, and bought nothing"


GUESTS = ("p1", "p2", "p3")


@st.composite
def honest_evenings(draw: st.DrawFn) -> tuple[list[Day], list[dict[str, int]]]:
    """Draw up to three gaming days of guests who give each other no chips, and what each has kept after each of them.

    Anything may name nobody; but somebody who is there is named once.
    """
    amounts, named = st.integers(0, 50), st.booleans()
    kept_by, days, after = dict.fromkeys(GUESTS, 0), [], []
    for back in range(draw(st.integers(1, 3)), 0, -1):
        lines, stakes, cashed = [], [], []
        for number, guest in enumerate(draw(st.sets(st.sampled_from(GUESTS)))):
            lines.append(f"20:00 in {guest} 1 cash")
            kept_by[guest] += 1
            for _ in range(draw(st.integers(0, 2))):
                if bought := draw(amounts):
                    lines.append(f"20:{10 + number} in {guest if draw(named) else '-'} {bought} cash")
                    kept_by[guest] += bought
            chips = kept_by[guest]
            for _ in range(draw(st.integers(0, 3))):
                if stake := draw(st.integers(0, chips)):
                    bet = draw(st.sampled_from(["rouge", "noir"]))
                    stakes.append((guest if draw(named) else "", stake, bet))
                    chips -= stake
                    kept_by[guest] += stake if bet == "rouge" else -stake
            for clock in ("23:00", "23:30"):
                if out := draw(st.integers(0, kept_by[guest])):
                    cashed.append(f"{clock} out {guest if draw(named) else '-'} {out} cash")
                    kept_by[guest] -= out
        day = before(back)
        desk = count_room(f"count.{day}", "\n".join([*lines, *cashed]), day=day)
        days.append(day_of(played(*stakes, day=day), desk, day=day))
        after.append(dict(kept_by))
    return days, after


@pytest.mark.faults
@settings(deadline=None, max_examples=300)
@given(honest_evenings())
def test_nobody_honest_has_or_cashes_more_than_he_can_have_had(
    evenings: tuple[list[Day], list[dict[str, int]]],
) -> None:
    holdings = Holdings()
    register = Thresholds.of({"chips_from_elsewhere_from": {"EUR": 1}})
    for day, kept_by in zip(*evenings, strict=True):
        found = findings_of(day, register, holdings=holdings)
        assert [each.player for each in found if each.rule == "chips-from-elsewhere"] == []
        holdings.add(day)
        for guest, chips in kept_by.items():
            most = holdings.of(guest).most
            assert most is not None
            assert holdings.of(guest).least <= chips <= most


def test_where_play_was_not_all_seen_he_may_have_won_anything() -> None:
    desk = count_room("count", "23:00 out p1 500000 cash")
    assert not raised_in(day_of(played(observes=["results"]), desk), "chips-from-elsewhere")
    assert not raised_in(day_of(table("R1", close=None), desk), "chips-from-elsewhere")
    assert raised_in(day_of(played(), desk), "chips-from-elsewhere")


def before(days: int) -> str:
    return (date.fromisoformat(DAY) - timedelta(days=days)).isoformat()


def kept(days: int, bought: int, *, player: str = "p1", observes: list[str] = ALL) -> Day:
    """Return an earlier day, on which somebody took chips home."""
    day = before(days)
    streams = [table("R9", f"20:00 buy {player} {bought} cash", day=day, observes=observes)]
    return day_of(*streams, day=day)


def test_chips_kept_of_an_earlier_evening_are_his_for_five_weeks() -> None:
    day = day_of(table("R1"), count_room("count", "23:00 out p1 550000 cash"))
    assert not raised_in(day, "chips-from-elsewhere", kept(20, 60_000))
    assert raised_in(day, "chips-from-elsewhere", kept(20, 50_000))
    assert not raised_in(day, "chips-from-elsewhere", kept(36, 60_000), kept(1, 0, player="p2"))
    assert raised_in(day, "chips-from-elsewhere", kept(38, 60_000), kept(1, 1, player="p2")), "forgotten"
    assert not raised_in(day, "chips-from-elsewhere", kept(20, 1, observes=["results"])), "he may have won"


def test_chips_that_came_back_are_not_kept_any_longer() -> None:
    cashed = day_of(
        table("R1", day=before(2)), count_room("c", "23:00 out p1 90000 cash", day=before(2)), day=before(2)
    )
    day = day_of(table("R1"), count_room("count", "23:00 out p1 500000 cash"))
    (finding,) = raised_in(day, "chips-from-elsewhere", kept(9, 60_000), cashed)
    assert finding.expected == 0, "what he had from elsewhere that day leaves no debt"


def test_the_threshold_is_the_registers() -> None:
    day = day_of(table("R1"), count_room("count", "23:00 out p1 100000 cash"))
    assert raised_in(day, "chips-from-elsewhere", chips_from_elsewhere_from=100_000)
    assert not raised_in(day, "chips-from-elsewhere", chips_from_elsewhere_from=100_001)
    yen = day_of(count_room("c", "23:00 out p1 9900000 cash", currency="JPY"), currency="JPY")
    assert not findings_of(yen), "a currency without an amount"


# Chips pooled


def runners(*amounts: int, bought: int = 600_000, minutes: int = 15, where: str = "cage-1") -> Day:
    """Return a day on which p1 buys chips, and r0, r1 … cash some, one after the other."""
    lines = [
        f"{22 + index * minutes // 60}:{index * minutes % 60:02} out r{index} {amount} cash {where}"
        for index, amount in enumerate(amounts)
    ]
    return day_of(table("R1", f"21:00 buy p1 {bought} cash"), count_room("count", "\n".join(lines)))


def test_several_who_cash_what_another_bought_are_one_question() -> None:
    (finding,) = raised_in(runners(195_000, 185_000, 195_000), "chips-pooled")
    assert (finding.player, finding.facts["players"]) == ("p1", ["r0", "r1", "r2"])
    assert (finding.expected, finding.recorded, finding.stream, finding.seq) == (600_000, 575_000, "count", 4)
    assert (finding.evidence, finding.facts["elsewhere"]) == ((2, 3, 4), ["R1#2"])
    assert finding.message("en") == (
        "Several players (r0, r1, r2) cashed €5,750.00 in chips that they had neither bought nor won, closely one "
        "after the other; a player, p1, should still have €6,000.00 of what was bought."
    )
    assert "un joueur, p1, devrait encore avoir" in finding.message("fr")


@pytest.mark.parametrize(
    ("day", "is_raised"),
    [
        (runners(190_000, 190_000, 190_000), True),
        (runners(190_000, 190_000, 189_999), False),
        (runners(199_999, 199_999, 199_999, bought=571_426), True),  # a twentieth more
        (runners(199_999, 199_999, 199_999, bought=571_425), False),
        (runners(199_999, 199_999, bought=400_000), False),
        (runners(200_000, 200_000, 200_000), False),  # each of them is to be identified
        (runners(190_000, 190_000, 190_000, minutes=30), True),
        (runners(190_000, 190_000, 190_000, minutes=31), False),
        (runners(66_000, 66_000, 66_000, bought=199_999), False),
    ],
)
def test_runners_are_asked_about_where_time_and_amounts_fit(day: Day, *, is_raised: bool) -> None:
    assert bool(raised_in(day, "chips-pooled")) is is_raised


def test_whoever_cashes_his_own_chips_is_no_runner() -> None:
    lines = "\n".join(f"20:0{index} in r{index} 190000 cash" for index in range(3))
    own = count_room("own", lines)
    day = runners(190_000, 190_000, 190_000)
    together = Day.of([*day.parts, money_of(own)], casino="demo", gaming_day=DAY, currency="EUR")
    assert not raised_in(together, "chips-pooled")
    earlier = [kept(5, 190_000, player=f"r{index}") for index in range(3)]
    assert not raised_in(day, "chips-pooled", *earlier)


@pytest.mark.parametrize(("staked", "is_raised"), [(37_999, True), (38_000, False)])
def test_friends_who_play_with_what_another_bought_are_no_runners(staked: int, *, is_raised: bool) -> None:
    stakes = [(f"r{index}", staked, "noir") for index in range(3)]
    lines = "\n".join(f"22:{index:02} out r{index} 190000 cash" for index in range(3))
    desk = count_room("count", f"20:00 in p1 590000 cash\n{lines}")
    assert bool(raised_in(day_of(played(*stakes), desk), "chips-pooled")) is is_raised


def test_chips_bought_after_the_runners_came_are_not_theirs() -> None:
    lines = "\n".join(f"20:{index:02} out r{index} 190000 cash" for index in range(3))
    day = day_of(table("R1", "21:00 buy p1 570000 cash"), count_room("count", lines))
    assert not raised_in(day, "chips-pooled")


def test_of_two_who_bought_the_one_whose_amount_is_nearest_is_named() -> None:
    bought = table("R1", "20:00 buy p1 600000 cash\n20:01 buy p2 580000 cash")
    lines = "\n".join(f"22:{index:02} out r{index} 190000 cash" for index in range(3))
    (finding,) = raised_in(day_of(bought, count_room("count", lines)), "chips-pooled")
    assert finding.player == "p2"


def with_own_money(*amounts: int, own: int, bought: int = 500_000, others: str = "") -> Day:
    """Return a day on which runners buy and cash ``own`` chips, too, before they cash those of p1."""
    lines = "\n".join(
        f"20:{index:02} in r{index} {own} cash\n21:{index:02} out r{index} {own} cash"
        f"\n22:{10 * index:02} out r{index} {amount} cash"
        for index, amount in enumerate(amounts)
    )
    return day_of(table("R1", f"19:00 buy p1 {bought} cash\n{others}"), count_room("count", lines))


@pytest.mark.parametrize(
    ("day", "is_raised"),
    [
        (with_own_money(165_000, 165_000, 165_000, own=40_000), True),
        (with_own_money(165_000, 165_000, 165_000, own=300_000), True),  # in all more than the threshold
        (with_own_money(164_000, 163_000, 163_000, own=40_000), True),  # a fiftieth less
        (with_own_money(163_000, 163_000, 163_000, own=40_000), False),
        (with_own_money(199_000, 199_000, 102_000, own=40_000), True),
        (with_own_money(199_000, 199_000, 99_000, 2_000, own=40_000), True),
        (with_own_money(160_000, 165_000, own=40_000), False),
        (with_own_money(199_000, 199_000, 10_000, own=40_000, bought=408_000), True),
        (with_own_money(199_000, 199_000, 9_999, own=40_000, bought=408_000), False),  # a handful is no share
        (with_own_money(200_000, 150_000, 150_000, own=40_000), False),  # one of them is to be identified
    ],
)
def test_runners_who_bought_and_cashed_chips_of_their_own_are_asked_about(day: Day, *, is_raised: bool) -> None:
    assert bool(raised_in(day, "chips-pooled")) is is_raised


def test_the_question_is_of_the_chips_that_were_not_theirs() -> None:
    (finding,) = raised_in(with_own_money(165_000, 160_000, 170_000, own=300_000), "chips-pooled")
    assert (finding.player, finding.facts["players"]) == ("p1", ["r0", "r1", "r2"])
    assert (finding.expected, finding.recorded) == (500_000, 495_000)
    assert finding.evidence == (4, 7, 10), "and not the exchanges of their own"


@pytest.mark.parametrize(("unnamed", "is_raised"), [(247_500, True), (247_501, False)])
def test_chips_that_nobody_is_known_to_have_bought_explain_one_of_them_only(unnamed: int, *, is_raised: bool) -> None:
    day = with_own_money(165_000, 165_000, 165_000, own=40_000, others=f"19:10 buy - {unnamed} cash")
    assert bool(raised_in(day, "chips-pooled")) is is_raised


def test_somebody_else_in_the_same_row_hides_nobody() -> None:
    """A companion cashes what his friend won, before the runners, and another after them."""
    lines = "\n".join(
        f"{clock} out {player} {amount} cash"
        for clock, player, amount in [
            ("21:50", "c1", 70_000),
            ("22:00", "r0", 190_000),
            ("22:15", "r1", 190_000),
            ("22:30", "r2", 190_000),
            ("22:31", "c2", 120_000),
        ]
    )
    day = day_of(table("R1", "21:00 buy p1 570000 cash"), count_room("count", lines))
    (finding,) = raised_in(day, "chips-pooled")
    assert finding.facts["players"] == ["r0", "r1", "r2"]


def test_nobody_is_in_two_questions_of_one_evening() -> None:
    bought = "19:00 buy p1 570000 cash\n19:01 buy p2 575000 cash\n19:02 buy p3 400000 cash"
    at_two_desks = "\n".join(
        f"{22 + (index >= 3)}:{index:02} out r{index} {amount} cash cage-{1 + (index >= 3)}"
        for index, amount in enumerate((190_000, 190_000, 190_000, 150_000, 150_000, 100_000))
    )
    day = day_of(table("R1", bought), count_room("count", at_two_desks))
    found = raised_in(day, "chips-pooled")
    named = [name for finding in found for name in (finding.player, *finding.facts["players"])]  # type: ignore[misc]
    assert named == ["p1", "r0", "r1", "r2", "p3", "r3", "r4", "r5"]


def test_where_play_is_not_seen_anybody_may_have_won() -> None:
    lines = "\n".join(f"22:{index:02} out r{index} 190000 cash" for index in range(3))
    unseen = table("R1", "21:00 buy p1 570000 cash", observes=["results"])
    assert not raised_in(day_of(unseen, count_room("count", lines)), "chips-pooled")


# Chips that never came back


TODAY = day_of(table("R1", "21:00 buy p9 5000 cash"), count_room("count"))


def test_chips_that_nobody_has_seen_for_a_month_are_asked_about_once() -> None:
    yesterday = kept(1, 100, player="p8")
    (finding,) = raised_in(TODAY, "chips-outstanding", kept(30, 1_000_000), yesterday)
    assert (finding.player, finding.recorded, finding.facts["bought_on"]) == ("p1", 1_000_000, before(30))
    assert (finding.stream, finding.seq, finding.facts["outside"]) == ("R1", 3, 1_005_100)
    assert finding.message("en").startswith("Player p1: chips for €10,000.00 have not come back since")
    assert "jamais rapportés depuis le" in finding.message("fr")
    assert not raised_in(TODAY, "chips-outstanding", kept(30, 999_999), yesterday)
    assert not raised_in(TODAY, "chips-outstanding", kept(29, 1_000_000), yesterday)
    assert not raised_in(TODAY, "chips-outstanding", kept(31, 1_000_000), yesterday), "asked yesterday"
    assert raised_in(TODAY, "chips-outstanding", kept(31, 1_000_000), kept(2, 100, player="p8")), (
        "nothing was played yesterday"
    )


def test_several_of_one_day_are_one_question_that_names_all() -> None:
    day = before(30)
    both = day_of(table("R9", "20:00 buy p1 1000000 cash\n20:01 buy p2 1200000 cash", day=day), day=day)
    (finding,) = raised_in(TODAY, "chips-outstanding", both, kept(1, 100, player="p8"))
    assert (finding.player, finding.facts["players"]) == ("p2", ["p1"])
    assert "nor have those of p1" in finding.message("en")


def test_who_was_seen_since_then_still_has_time() -> None:
    assert not raised_in(TODAY, "chips-outstanding", kept(30, 1_000_000), kept(1, 100))
    here = day_of(table("R1", "21:00 buy p1 100 cash"), count_room("count"))
    assert not raised_in(here, "chips-outstanding", kept(30, 1_000_000), kept(1, 100, player="p8"))


def test_chips_of_the_house_that_came_back_by_other_hands_are_not_outstanding() -> None:
    lines = "23:00 out {} 100 cash\n23:01 out {} 5000 cash"
    day = before(1)
    for who in ("p7", "-"):
        back = day_of(table("R9", day=day), count_room("c", lines.format(who, who), day=day), day=day)
        assert not raised_in(TODAY, "chips-outstanding", kept(30, 1_000_000), back), who
    less = day_of(table("R9", day=day), count_room("c", "23:00 out p7 5000 cash", day=day), day=day)
    assert raised_in(TODAY, "chips-outstanding", kept(30, 1_000_000), less)


def test_where_play_was_not_all_seen_he_may_have_lost_them() -> None:
    assert not raised_in(
        TODAY, "chips-outstanding", kept(30, 1_000_000, observes=["results"]), kept(1, 100, player="p8")
    )


def test_nothing_is_asked_before_the_day_has_closed_or_where_nothing_is_known() -> None:
    open_day = day_of(table("R1", "21:00 buy p9 5000 cash", close=None))
    assert not raised_in(open_day, "chips-outstanding", kept(30, 1_000_000), kept(1, 100, player="p8"))
    assert not raised_in(TODAY, "chips-outstanding")


# What a player may have


def test_the_bounds_of_a_day() -> None:
    day = day_of(
        played(("p1", 10_000, "rouge"), ("p1", 7_000, "noir"), ("", 1_000, "rouge"), ("", 2_000, "noir")),
        count_room("c", "20:00 in p1 50000 cash\n20:01 in - 300 cash\n23:00 out - 40 cash\n23:01 out p1 20000 cash"),
    )
    own = 50_000 + 10_000 - 7_000 - 20_000
    assert left_with(day, "p1") == Chips(own - 3_000 - 40, own + 300 + 1_000)
    assert left_with(day, "p2") == Chips(-3_040, 1_300)


def test_nobody_has_less_than_no_chips() -> None:
    assert Chips().then(Chips(-5, -5)).then(Chips(3, 4)) == Chips(3, 4)
    assert Chips(5, 9).then(Chips(-2, None)).then(Chips(1, 1)) == Chips(4, None)
