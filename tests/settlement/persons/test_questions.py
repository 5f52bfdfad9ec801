"""The questions that money asks: each just where it is asked, and never where it is not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from settlement import decode
from settlement.catalogue.rule import RULESET_NAMES
from settlement.events import Event
from settlement.fr.art_46_boule import LAYOUT, odds_on
from settlement.night.craps import fates
from settlement.night.notes import Slip
from settlement.night.roulette import covered
from settlement.persons.day import Day
from settlement.persons.findings import findings_of, unchecked
from settlement.persons.money_finding import MoneyFinding
from settlement.persons.opposing import Pair, two_sided
from settlement.persons.stream_money import Play, Rack, StreamMoney
from settlement.persons.thresholds import Thresholds
from settlement.rulesets import RULESETS
from tests.settlement.persons.streams_of_money import ALL, DAY, count_room, day_of, money_of, table
from tests.settlement.streams import event, opener


def raised_in(day: Day, rule: str, **options: Any) -> list[MoneyFinding]:
    return [each for each in findings_of(day, **options) if each.rule == rule]


# Splitting


SPLIT = [
    # lines of R1, of R2, of the cash desk; whether it is asked
    ("20:00 buy p1 60000 cash", "21:00 buy p1 60000 cash", "22:00 in p1 70000 cash", True),
    ("20:00 buy p1 60000 cash", "21:00 buy p1 60000 cash", "22:00 in p1 69999 cash", False),
    ("20:00 buy p1 60000 cash", "21:00 buy p1 60000 cash", "22:00 in p1 79999 cash", True),
    ("20:00 buy p1 60000 cash", "21:00 buy p1 60000 cash", "22:00 in p1 80000 cash", False),  # due, and no question
    ("20:00 buy p1 95000 cash", "21:00 buy p1 95000 cash", "", False),
    ("20:00 buy p1 60000 cash\n20:10 buy p1 60000 cash\n20:20 buy p1 70000 cash", "", "", False),
    ("20:00 buy p1 60000 cash", "21:00 buy p1 60000 cash", "22:00 out p1 70000 cash", False),
    ("20:00 buy p1 60000 cash", "21:00 buy p2 60000 cash", "22:00 in p1 70000 cash", False),
]


@pytest.mark.parametrize(("first", "second", "desk", "is_raised"), SPLIT)
def test_splitting_is_raised_about_just_below_the_threshold(
    first: str, second: str, desk: str, is_raised: bool
) -> None:
    day = day_of(table("R1", first), table("R2", second), count_room("count", desk))
    found = raised_in(day, "threshold-splitting")
    assert bool(found) is is_raised
    assert not raised_in(day, "threshold-splitting", identified={"p1"})
    if found:
        assert (found[0].stream, found[0].seq, found[0].facts["pattern"]) == ("count", 2, "below")
        assert found[0].facts["elsewhere"] == ["R1#2", "R2#2"]
        assert "in 3 exchanges, at several tables or desks" in found[0].message("en")


TOGETHER = Thresholds(reportable_cash_from={"EUR": 200_000})
"""A register by which the law counts 2,000.00 over 24 hours as well."""


def test_splitting_over_midnight_of_the_gaming_day_is_asked_about_where_the_law_counts_both_nights() -> None:
    first = table("R1.1", "02:00 buy p1 150000 cash", day="2026-11-18")
    second = table("R1.2", "20:00 buy p1 50000 cash")
    (finding,) = raised_in(day_of(first, second), "threshold-splitting", thresholds=TOGETHER)
    assert (finding.stream, finding.facts["pattern"], finding.facts["elsewhere"]) == ("R1.2", "midnight", ["R1.1#2"])
    assert "over gaming days that each stay below" in finding.message("en")
    assert "sur des journées de jeu" in finding.message("fr")
    day_later = table("R1.2", "02:00 buy p1 50000 cash")
    assert not raised_in(day_of(first, day_later), "threshold-splitting", thresholds=TOGETHER), "exactly 24 hours apart"
    less = table("R1.2", "20:00 buy p1 49999 cash")
    assert not raised_in(day_of(first, less), "threshold-splitting", thresholds=TOGETHER)


def test_a_regular_who_comes_two_nights_running_is_not_asked_about() -> None:
    first = table("R1.1", "23:00 buy p1 199999 cash", day="2026-11-18")
    assert not raised_in(day_of(first, table("R1.2", "20:00 buy p1 199999 cash")), "threshold-splitting")


def test_what_the_days_before_made_is_not_asked_about_again() -> None:
    before = table("R1.0", "02:00 buy p1 150000 cash", day="2026-11-17")
    yesterday = table("R1.1", "20:00 buy p1 50000 cash", day="2026-11-18")
    today = table("R1.2", "19:00 buy p1 100 cash")
    assert raised_in(day_of(before, yesterday, day="2026-11-18"), "threshold-splitting", thresholds=TOGETHER)
    assert not raised_in(day_of(before, yesterday, today), "threshold-splitting", thresholds=TOGETHER)


def group(*amounts: int, minutes: int = 5, players: str = "pqrstu") -> Day:
    """Return a day on which players buy chips one after the other at one table."""
    bought = enumerate(zip(players, amounts, strict=False))
    lines = [f"20:{index * minutes:02} buy {player} {amount} cash" for index, (player, amount) in bought]
    return day_of(table("R1", "\n".join(lines)))


def test_several_who_buy_just_under_the_threshold_within_minutes_are_one_question() -> None:
    (finding,) = raised_in(group(190_000, 180_000, 199_999), "threshold-splitting")
    assert (finding.player, finding.facts["players"], finding.facts["pattern"]) == ("r", ["p", "q"], "group")
    assert (finding.stream, finding.seq, finding.recorded, finding.evidence) == ("R1", 4, 569_999, (2, 3, 4))
    assert finding.message("en").startswith(
        "Player r with p, q: chips bought came to €5,699.99 in 3 exchanges, within ten"
    )
    assert "avec p, q" in finding.message("fr")
    crowd = group(*[190_000] * 6)
    assert len(raised_in(crowd, "threshold-splitting")) == 1


@pytest.mark.parametrize(
    "day",
    [
        group(190_000, 190_000),
        group(190_000, 179_999, 190_000),
        group(190_000, 190_000, 190_000, minutes=6),
        group(190_000, 190_000, 190_000, players="ppq"),
        group(190_000, 190_000, 200_000),
        day_of(*(table(f"R{seat}", f"20:0{seat} buy p{seat} 190000 cash") for seat in (1, 2, 3))),
    ],
    ids=["two", "less", "too slow", "one of them twice", "identified", "three tables"],
)
def test_a_group_is_asked_about_only_where_it_stays_together_and_just_below(day: Day) -> None:
    assert not [each for each in raised_in(day, "threshold-splitting") if each.facts["pattern"] == "group"]


def test_a_group_of_those_whose_identity_was_verified_hides_nothing() -> None:
    assert not raised_in(group(190_000, 190_000, 190_000), "threshold-splitting", identified={"q"})


def test_a_day_on_which_identification_was_due_asks_nothing_more() -> None:
    first = table("R1.1", "02:00 buy p1 200000 cash", day="2026-11-18")
    assert not raised_in(day_of(first, table("R1.2", "20:00 buy p1 50000 cash")), "threshold-splitting")
    first = table("R1.1", "02:00 buy p1 150000 cash", day="2026-11-18")
    assert not raised_in(day_of(first, table("R1.2", "20:00 buy p1 200000 cash")), "threshold-splitting")


def test_exchanges_of_nobody_known_that_follow_each_other_closely() -> None:
    def found(second: str) -> list[MoneyFinding]:
        return raised_in(day_of(table("R1", "20:00 buy - 150000 cash"), table("R2", second)), "threshold-splitting")

    (finding,) = found("20:10 buy - 199999 cash")
    assert (finding.stream, finding.player, finding.facts["pattern"]) == ("R2", None, "nobody")
    assert finding.message("fr").startswith("Achats de jetons pour 3")
    assert not found("20:10:01 buy - 199999 cash")
    assert not found("20:10 buy - 149999 cash")
    assert not found("20:10 buy p1 150000 cash")
    assert not found("20:10 buy - 200000 cash"), "identification is due for that one"


def test_a_crowd_of_them_is_one_question() -> None:
    lines = "\n".join(f"20:{minute:02} buy - 150000 cash" for minute in range(0, 30, 5))
    assert [each.seq for each in raised_in(day_of(table("R1", lines)), "threshold-splitting")] == [3]


def test_cash_to_be_reported_is_split_too() -> None:
    def found(last: int) -> list[MoneyFinding]:
        lines = f"20:00 in p1 300000 cash a\n21:00 in p1 300000 cash b\n22:00 in p1 {last} cash c"
        day = day_of(count_room("count", lines, currency="CAD"), currency="CAD")
        return raised_in(day, "threshold-splitting")

    assert [each.recorded for each in found(399_999)] == [999_999]
    assert [each.recorded for each in found(350_000)] == [950_000]
    assert not found(400_000)
    assert not found(349_999)


# Minimal play


def player(bought: str, staked: int, cashed: str, *more: tuple[str, dict[str, Any]], **opened: Any) -> Day:
    """Return the day of p1, who bought and cashed at the desk and staked on red; black comes."""
    staking = {"wager": "w1", "bet": "rouge", "stake": staked, "player": "p1"}
    rest = [*([("wager.placed", staking)] if staked else []), *more, ("ball.settled", {"pocket": "2"})]
    if opened.pop("is_closed", True):
        rest.append(("session.closed", {"float": 0}))
    first = opener("R1", "fr-roulette", **{"gaming_day": DAY, "observes": ALL, **opened})
    events = [
        first,
        *(event("R1", seq, kind, at=f"{DAY}T21:{seq:02}:00+01:00", **data) for seq, (kind, data) in enumerate(rest, 2)),
    ]
    desk = count_room("count", f"20:00 in p1 {bought}\n23:00 out p1 {cashed}")
    return day_of([decode(each) for each in events], desk)


def test_chips_that_were_bought_cashed_and_hardly_played() -> None:
    day = player("200000 cash", 39_999, "160001 cash")
    (finding,) = raised_in(day, "minimal-play", identified={"p1"})
    assert (finding.stream, finding.seq, finding.evidence) == ("count", 3, (2, 3))
    assert (finding.expected, finding.facts["staked"], finding.recorded) == (200_000, 39_999, 160_001)
    assert finding.message("en") == (
        "Player p1: chips were bought for €2,000.00, €399.99 was staked at most, and €1,600.01 came back."
    )


OTHERS = ("wager.placed", {"wager": "w2", "bet": "noir", "stake": 10_000})


@pytest.mark.parametrize(
    "day",
    [
        player("199999 cash", 0, "199999 cash"),
        player("200000 cash", 40_000, "160000 cash"),
        player("200000 cash", 0, "159999 cash"),
        player("200000 cash", 30_001, "160000 cash", OTHERS),  # whose stake w2 is nobody knows
        player("200000 cash", 0, "200000 cash", is_closed=False),
        player("200000 cash", 0, "200000 cash", observes=["results"]),
        player("200000 cash", 0, "200000 cash", ("events.lost", {"through": 2, "reason": "spool_lost"})),
    ],
)
def test_minimal_play_is_raised_about_only_where_all_play_was_seen_and_was_little(day: Day) -> None:
    assert not raised_in(day, "minimal-play")


def test_what_nobody_is_known_to_have_staked_counts_as_his() -> None:
    day = player("200000 cash", 29_999, "160000 cash", OTHERS)
    assert [each.facts["staked"] for each in raised_in(day, "minimal-play")] == [39_999]
    assert unchecked(day) == ["play"]


@pytest.mark.parametrize(
    ("bought", "staked", "cashed", "means"),
    [
        ("200000 cash", 199_999, "160000 cheque", "cheque"),
        ("200000 cash", 199_999, "160000 card", "card"),
        ("200000 cash", 200_000, "160000 cheque", None),
        ("200000 cash", 199_999, "159999 cheque", None),
        ("200000 cheque", 199_999, "160000 cheque", None),
        ("200000 cash", 199_999, "160000 cash", None),
    ],
)
def test_cash_that_comes_back_as_a_cheque(bought: str, staked: int, cashed: str, means: str | None) -> None:
    found = raised_in(player(bought, staked, cashed), "minimal-play")
    assert [each.facts["means"] for each in found] == ([means] if means else [])
    if means == "cheque":
        assert found[0].message("en").endswith("€1,600.00 came back (cheque).")
        assert found[0].message("fr").endswith("(chèque).")


def test_of_nobody_known_nothing_is_asked_and_what_is_bought_after_is_no_evidence() -> None:
    lines = "20:00 in {0} 200000 cash\n21:00 out {0} 200000 cash\n22:00 in {0} 5000 cash"
    empty = table("R1")
    assert not raised_in(day_of(empty, count_room("count", lines.format("-"))), "minimal-play")
    (finding,) = raised_in(day_of(empty, count_room("count", lines.format("p1"))), "minimal-play")
    assert (finding.seq, finding.evidence, finding.facts["count"]) == (3, (2, 3), 2)


# Two players on both sides


def roulette(coups: int, *stakes: tuple[str, str, int], stream: str = "R1", opposing: int | None = None) -> list[Event]:
    """Return a session of ``stakes`` (player, bet, stake), the same in each coup; 7 comes, red and odd and low.

    Only in ``opposing`` of the coups the second player has his bet; in the others he has the first player's.
    """
    events = [opener(stream, "fr-roulette", gaming_day=DAY, table=stream, observes=ALL)]
    for coup in range(coups):
        for index, (who, bet, stake) in enumerate(stakes):
            if index and opposing is not None and coup >= opposing:
                bet = stakes[0][1]
            data = {"wager": f"w{coup}.{index}", "bet": bet, "stake": stake, "player": who}
            events.append(event(stream, len(events) + 1, "wager.placed", at=f"{DAY}T21:00:00+01:00", **data))
        events.append(event(stream, len(events) + 1, "ball.settled", at=f"{DAY}T21:00:00+01:00", pocket="7"))
    return [decode(each) for each in events]


@pytest.mark.parametrize(("coups", "opposing", "is_raised"), [(60, 45, True), (60, 44, False), (59, 59, False)])
def test_opposite_stakes_are_asked_about_from_sixty_shared_coups(coups: int, opposing: int, is_raised: bool) -> None:
    events = roulette(coups, ("p1", "rouge", 1000), ("p2", "noir", 1000), opposing=opposing)
    found = raised_in(day_of(events), "offsetting-players")
    assert bool(found) is is_raised
    if found:
        assert found[0].message("en") == (
            "On 45 of the 60 coups that they shared, player p1 and player p2 laid nearly the same on opposite sides of "
            "one chance, €450.00 in all."
        )
        assert (found[0].player, found[0].facts["other_player"]) == ("p1", "p2")
        assert (found[0].evidence, found[0].seq, found[0].wager) == ((134, 135), 135, "w44.0")


@pytest.mark.parametrize(
    ("first", "second", "amount"),
    [
        (("p1", "rouge", 1000), ("p2", "noir", 900), 900),
        (("p1", "rouge", 1000), ("p2", "noir", 899), 0),
        (("p1", "rouge", 1000), ("p2", "rouge", 1000), 0),
        (("p1", "rouge", 1000), ("p2", "impair", 1000), 0),
        (("p1", "passe", 1000), ("p2", "manque", 1000), 1000),
        (("p1", "pair", 1000), ("p2", "impair", 1000), 1000),
        (("p1", "rouge", 1000), ("p1", "noir", 1000), None),
        (("p1", "rouge", 1000), ("", "noir", 1000), None),
        (("p1", "rouge", 1000), ("p2", "douzaine", 1000), None),
    ],
)
def test_who_stands_opposite_whom(first: Any, second: Any, amount: int | None) -> None:
    events = [opener("R1", "fr-roulette", gaming_day=DAY, observes=ALL)]
    for index, (who, bet, stake) in enumerate((first, second)):
        data = {"wager": f"w{index}", "bet": bet, "stake": stake} | ({"player": who} if who else {})
        data |= {"which": [1]} if bet == "douzaine" else {}
        events.append(event("R1", index + 2, "wager.placed", **data))
    events.append(event("R1", 4, "ball.settled", pocket="7"))
    pairs = money_of([decode(each) for each in events]).pairs
    assert [(pair.shared, pair.amount) for pair in pairs] == ([] if amount is None else [(1, amount)])


def test_of_several_chances_the_one_with_the_largest_stakes_counts_and_of_equal_ones_the_first() -> None:
    def last(*stakes: tuple[str, str, int]) -> tuple[int, str]:
        (pair,) = money_of(roulette(1, *stakes)).pairs
        return pair.amount, pair.wager

    red, black = ("p1", "rouge", 1000), ("p2", "noir", 1000)
    assert last(("p1", "pair", 900), ("p2", "impair", 900), red, black) == (1000, "w0.2")
    assert last(red, black, ("p1", "pair", 900), ("p2", "impair", 900)) == (1000, "w0.0")
    assert last(red, black, ("p1", "pair", 1000), ("p2", "impair", 1000)) == (1000, "w0.2")
    assert last(("p1", "pair", 1000), ("p2", "impair", 1000), red, black) == (1000, "w0.0")


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_opposite_sides_never_win_together(ruleset: str) -> None:
    sides = two_sided(ruleset)
    assert sides.keys() <= RULESETS[ruleset].kinds.keys()
    for one, other in combinations(sides, 2):
        (chance, side), (other_chance, other_side) = sides[one], sides[other]
        if chance != other_chance or side == other_side:
            continue
        if ruleset == "fr-boule":  # of nine numbers one is on neither side
            won = [[result for result in LAYOUT.wheel if odds_on(bet, result)] for bet in (one, other)]
            assert sorted(won[0] + won[1]) == sorted(set(LAYOUT.wheel) - {"5"})
            continue
        if RULESETS[ruleset].layout:
            pockets = covered(ruleset, one, (), ()) | covered(ruleset, other, (), ())
            assert not covered(ruleset, one, (), ()) & covered(ruleset, other, (), ())
            assert len(pockets) == 36
            continue
        number = 6 if chance == "right_bet" else None
        both = zip(fates(ruleset, one, number), fates(ruleset, other, number), strict=True)
        assert not any(here.odds and there.odds for here, there in both)
    assert all(
        {side for other_chance, side in sides.values() if other_chance == chance} == {0, 1}
        for chance, _side in sides.values()
    )


def test_pass_and_dont_are_one_coup_when_the_dice_decide_them() -> None:
    events = [opener("C1", "fr-craps", gaming_day=DAY, observes=ALL)]
    rest: list[tuple[str, dict[str, Any]]] = [
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1000, "player": "p1"}),
        ("wager.placed", {"wager": "w2", "bet": "dont_win", "stake": 1000, "player": "p2"}),
        ("dice.thrown", {"faces": [2, 2]}),
        ("wager.placed", {"wager": "w3", "bet": "right_bet", "number": 6, "stake": 600, "player": "p1"}),
        ("wager.placed", {"wager": "w4", "bet": "wrong_bet", "number": 8, "stake": 600, "player": "p2"}),
        ("dice.thrown", {"faces": [1, 2]}),
        ("dice.thrown", {"faces": [3, 4]}),
    ]
    events += [event("C1", seq, kind, **data) for seq, (kind, data) in enumerate(rest, 2)]
    (pair,) = money_of([decode(each) for each in events]).pairs
    assert (pair.shared, pair.opposing, pair.amount) == (1, 1, 1000), "6 and 8 are two chances"


def test_the_evidence_of_an_opposing_coup_is_the_last_stake_of_each_player() -> None:
    stakes = (("p1", "rouge", 500), ("p2", "noir", 1000), ("p1", "rouge", 500))
    (pair,) = money_of(roulette(1, *stakes)).pairs
    assert (pair.opposing, pair.amount) == (1, 1000)
    assert (pair.first_seq, pair.last_seq, pair.wager) == (3, 4, "w0.1")


def test_coups_add_up_over_sessions_and_three_players_are_three_questions() -> None:
    stakes = (("p1", "rouge", 1000), ("p2", "noir", 1000), ("p3", "noir", 1000))
    day = day_of(roulette(40, *stakes), roulette(40, *stakes, stream="R2"))
    found = raised_in(day, "offsetting-players")
    assert [(each.facts["player"], each.facts["other_player"], each.facts["coups"]) for each in found] == [
        ("p1", "p2", 80),
        ("p1", "p3", 80),
    ]
    assert {each.stream for each in found} == {"R2"}
    assert len({each.order for each in found}) == 2
    pairs = [each.total for each in day.pairs()]
    assert pairs[2] == Pair("p2", "p3", 80, 0, 0)
    assert raised_in(day_of(roulette(40, *stakes)), "offsetting-players") == []


# Slips against the rack


def rack(closing: int | None, *slips: Slip, is_followed: bool = True, recorded: int = 0) -> Day:
    fills = sum(each.amount for each in slips if each.kind == "fill")
    credited = sum(each.amount for each in slips if each.kind == "credit")
    money = StreamMoney(
        stream="R1",
        casino="demo",
        gaming_day=DAY,
        currency="EUR",
        opened_at=f"{DAY}T20:00:00+01:00",
        closed_by=99 if closing is not None else 0,
        sees_wagers=True,
        players={"": Play(recorded=recorded)},
        slips=list(slips),
        rack=Rack(
            opening=1_000_000,
            fills=fills,
            credits=credited,
            recorded=recorded,
            closing=closing,
            is_followed=is_followed,
        ),
    )
    return Day.of([money], casino="demo", gaming_day=DAY, currency="EUR")


FILL, CREDIT = Slip(5, "fill", "F-12", 200_000), Slip(9, "credit", "C-3", 70_000)


@pytest.mark.parametrize(
    ("closing", "slips"),
    [
        (1_130_000, None),
        (930_000, ["F-12"]),
        (930_001, None),
        (1_200_000, ["C-3"]),
        (1_060_000, None),  # short by what was credited: it left twice, or something else is wrong
        (1_330_000, None),
    ],
)
def test_a_slip_whose_chips_were_not_moved(closing: int, slips: list[str] | None) -> None:
    found = raised_in(rack(closing, FILL, CREDIT), "fill-unmatched")
    assert [each.facts["slips"] for each in found] == ([slips] if slips else [])
    if slips:
        assert (found[0].expected, found[0].recorded, found[0].seq) == (1_130_000, closing, 99)
        assert found[0].evidence == ((5, 99) if slips == ["F-12"] else (9, 99))


def test_it_is_not_found_where_the_rack_is_not_followed_or_not_counted() -> None:
    assert not raised_in(rack(930_000, FILL, CREDIT, is_followed=False), "fill-unmatched")
    assert not raised_in(rack(None, FILL, CREDIT), "fill-unmatched")


def test_several_slips_of_one_amount_are_all_named() -> None:
    again = Slip(7, "fill", "F-13", 200_000)
    (finding,) = raised_in(rack(1_200_000, FILL, again), "fill-unmatched")
    assert finding.facts["slips"] == ["F-12", "F-13"]
    assert finding.message("en") == (
        "The rack closed with €12,000.00; its slips, wagers and buy-ins give €14,000.00. The difference of €2,000.00 "
        "is exactly the amount of slip F-12, F-13."
    )


def test_a_tip_is_no_longer_with_the_player() -> None:
    events = [*table("R1", "20:00 buy p1 150000 cash", close=None)]
    events.append(decode(event("R1", 3, "tip.given", at=f"{DAY}T21:00:00+01:00", player="p1", amount=500)))
    day = day_of(events)
    assert (day.persons["p1"].chips_left, day.chips_outstanding, day.tips) == (149_500, 149_500, 500)


def test_another_casino_is_another_day() -> None:
    day = day_of(table("R1", "20:00 buy p1 150000 cash"), table("R2", "20:00 buy p1 150000 cash", casino="other"))
    assert day.persons["p1"].total_bought == 150_000


def test_float_and_chips_outstanding() -> None:
    day = day_of(table("R1", "20:00 buy p1 150000 cash", close=4_850_000), count_room("c", "23:00 out p1 50000 cash"))
    assert (day.float_in_racks, day.chips_outstanding) == (4_850_000, 100_000)
    assert day_of(table("R1", "20:00 buy p1 150000 cash", close=None)).float_in_racks == 4_850_000
    assert rack(930_000, FILL, recorded=-300).chips_outstanding == 300
