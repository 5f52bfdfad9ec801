"""One fold of a stream gives the night's luck and the ledger's draws."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from math import lcm
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import Event, State, decode
from settlement.corrections import changes_in
from settlement.eprocess.bets import Change
from settlement.eprocess.channels import of_evening, of_session
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import NEAR_CALL, Mark, Observations, Recorder
from settlement.layouts import LAYOUT_38
from settlement.night.chances import Outlook, chances_of
from settlement.persons.session import PersonsProjection
from tests.settlement.night.by_definition import Changed, added, every_change
from tests.settlement.streams import event, opener
from tests.settlement.test_properties import quick, streams


def night(ruleset: str, seed: int, *irregularities: str, coups: int = 40) -> list[Event]:
    day = date(2026, 11, 19)
    played = play(
        ruleset, casino="demo", code="T1", gaming_day=day, seed=seed, coups=coups, irregularities=irregularities
    )
    return [decode(json.dumps(each)) for each in played.events]


def recorded(events: list[Event], page: int = 1_000) -> Recorder:
    state, recorder = State(changes_in(events), compares=False), Recorder()
    for first in range(0, len(events), page):
        state.feed_all(events[first : first + page], recorder.interceptors(state))
    return recorder


def assert_seen_by_definition(events: list[Event]) -> int:
    """Compare what is seen before each draw, and the sums over the draws, with the definition; return the draws."""
    state, recorder = State(compares=False), Recorder()
    placed_at = {each.seq: each.occurred_at for each in events}
    luck = variance = Fraction(0)
    for each in events:
        table = state.table
        possible = every_change(state, each) if each.is_result and table.session is not None else []
        if possible:
            moving = {wager for _result, changed in possible for wager, change in changed.items() if change}
            owners = {wager: table.wagers[wager].player or "" for wager in moving}
            called_at = table.called_at
            late = {w for w in moving if called_at and placed_at[table.wagers[w].placed_by] >= called_at - NEAR_CALL}
            look, ruleset = recorder.look(table), table.open_session().ruleset
            assert_is(look.table, ruleset, possible, moving)
            assert look.all_late is not None or not late
            if look.all_late is not None:
                assert_is(look.all_late, ruleset, possible, late)
            for seen, stakes in ((look.players, moving), (look.late, late)):
                assert seen.keys() >= {owners[wager] for wager in stakes} - {""}
                for player, ahead in seen.items():
                    assert_is(ahead, ruleset, possible, {wager for wager in stakes if owners[wager] == player})
            variance += sum(added(changed, moving) ** 2 for _result, changed in possible) / Fraction(len(possible))
        state.feed_all((each,), recorder.interceptors(state))
        if possible:
            luck += added(dict(possible)[state.table.result], moving)
    assert (recorder.luck, recorder.variance) == (luck, variance)
    return len(recorder.observations.drawn)


def assert_is(ahead: Outlook, ruleset: str, possible: list[tuple[str, Changed]], wagers: set[str]) -> None:
    """Compare what is seen of ``wagers`` with what each draw changes with each of them."""
    index = chances_of(ruleset).outcome_of
    sums = {index(ruleset, result): added(changed, wagers) for result, changed in possible}
    assert dict(enumerate(Fraction(change, ahead.scale) for change in ahead.changes)) == sums
    assert (ahead.lowest, ahead.highest) == (min(ahead.changes), max(ahead.changes))
    squares = sum(added(changed, wagers) ** 2 for _result, changed in possible)
    assert Fraction(ahead.squares, ahead.per) == squares / Fraction(len(possible))
    each = (changed[wager] for _result, changed in possible for wager in wagers)
    assert ahead.scale == lcm(*(change.denominator for change in each)), "the changes of each stake are whole, just"


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_what_is_seen_before_a_draw_is_what_it_would_change_stake_by_stake(ruleset: str) -> None:
    assert assert_seen_by_definition(night(ruleset, 3, "late-bet", coups=6)) >= 6


LARGEST = 2**53 - 1
ROULETTE = [
    ("plein", {"numbers": ["17"]}), ("cheval", {"numbers": ["1", "2"]}), ("douzaine", {"which": [2]}),
    ("rouge", {}), ("noir", {}), ("passe", {}),
]  # fmt: skip
BETS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "fr-craps": [
        ("win", {}), ("dont_win", {}), ("come", {}), ("field", {}), ("horn", {}), ("hardway", {"number": 6}),
        ("right_bet", {"number": 6}), ("wrong_bet", {"number": 4}),
    ],
    "qc-craps": [
        ("right_bet", {"number": 5}), ("right_bet", {"number": 6, "working": True}),
        ("buy_bet", {"number": 4, "marker": "buy"}), ("lay_bet", {"number": 10, "marker": "lay"}),
    ],
    "fr-roulette": ROULETTE,
    "fr-american-roulette": ROULETTE,
    "fr-boule": [("plein", {"number": 5}), ("plein", {"number": 9}), ("rouge", {}), ("impair", {})],
}  # fmt: skip
faces = st.integers(1, 6)
thrown = st.tuples(st.just("dice.thrown"), st.fixed_dictionaries({"faces": st.tuples(faces, faces)}))
balls = st.tuples(
    st.just("ball.settled"), st.fixed_dictionaries({"pocket": st.sampled_from(["0", "0", "1", "2", "17"])})
)
rolled = st.tuples(st.just("boule.settled"), st.fixed_dictionaries({"number": st.integers(1, 9)}))


@st.composite
def coups(draw: st.DrawFn) -> list[Event]:
    """Up to three coups of any game, with stakes of any size of players who are known or not, some of them late."""
    ruleset = draw(st.sampled_from(sorted(BETS)))
    raw = [opener("s", ruleset, params={"payout_unit": draw(st.sampled_from([1, 5]))})]

    def add(kind: str, **data: Any) -> None:
        raw.append(event("s", len(raw) + 1, kind, **data))

    for _ in range(draw(st.integers(1, 3))):
        called = draw(st.integers(0, 6))
        for number in range(6):
            if number == called:
                add("no_more_bets")
            bet, on = draw(st.sampled_from(BETS[ruleset]))
            stake = draw(st.one_of(st.sampled_from([1, 37, 600, 999, 1000, LARGEST]), st.integers(1, LARGEST)))
            player = draw(st.sampled_from([{}, {"player": "p"}, {"player": "q"}]))
            add("wager.placed", wager=f"w{len(raw)}", bet=bet, stake=stake, **on, **player)
        kind, data = draw({"fr-boule": rolled}.get(ruleset, thrown if "craps" in ruleset else balls))
        add(kind, **data)
    return [decode(each) for each in raw]


@quick
@given(coups())
def test_of_any_stakes_it_is_that_too(events: list[Event]) -> None:
    assert assert_seen_by_definition(events) >= 1


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_pages_are_noted_as_single_events_are(ruleset: str) -> None:
    events = night(ruleset, 3, *IRREGULARITIES)
    recorder, singly = recorded(events, 7), recorded(events, 1)
    assert recorder.observations == singly.observations == recorded(events).observations
    assert (recorder.luck, recorder.variance) == (singly.luck, singly.variance)
    assert len(recorder.observations.drawn) > 30


@quick
@given(streams())
def test_on_any_stream_the_ledger_takes_what_was_noted(stream: list[bytes]) -> None:
    recorder = recorded([decode(raw) for raw in stream])
    Ledger(2026).feed([*of_session(recorder.observations), *of_evening([recorder.observations])], session="s")


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_change_is_between_the_least_and_the_most_it_could_be(ruleset: str) -> None:
    drawn = recorded(night(ruleset, 4)).observations.drawn
    for draw in drawn:
        for change in (draw.luck, *draw.players.values(), *draw.late.values()):
            if change is not None:
                assert change.lowest < 0 < change.highest
                assert change.lowest <= change.amount <= change.highest
        assert draw.late.keys() <= draw.players.keys()
    assert sum(draw.luck is not None for draw in drawn) > 10


def roulette(*events: tuple[str, str | None, dict[str, Any]], **opened: Any) -> Observations:
    raw = [opener("s", "fr-american-roulette", observes=["wagers", "results", "calls"], **opened)]
    raw += [event("s", seq, kind, at=at, **data) for seq, (kind, at, data) in enumerate(events, start=2)]
    return recorded([decode(each) for each in raw]).observations


def at(second: str) -> str:
    return f"2010-11-19T20:00:{second}+01:00"


def plein(player: str, number: str, second: str, wager: str = "") -> tuple[str, str | None, dict[str, Any]]:
    data = {"wager": wager or player, "bet": "plein", "stake": 100, "numbers": [number], "player": player}
    return "wager.placed", at(second), data


def test_a_spin_has_its_pocket_its_wheel_and_its_croupier() -> None:
    seen = roulette(("ball.settled", None, {"pocket": "17"}), wheel="W7", croupier="ada")
    assert (seen.table, seen.wheel, seen.cells, seen.session) == ("T1", "W7", len(LAYOUT_38.wheel), "s")
    [spin] = seen.drawn
    assert spin.result == LAYOUT_38.wheel.index("17")
    assert (spin.croupier, spin.luck, spin.players) == ("ada", None, {})


def test_without_a_wheel_s_id_the_table_stands_for_it() -> None:
    assert roulette().wheel == "T1"


def test_a_player_s_change_is_that_of_his_wagers_alone() -> None:
    seen = roulette(
        plein("p", "17", "10.000"), plein("q", "3", "11.000"), ("no_more_bets", at("20.000"), {}),
        ("ball.settled", at("40.000"), {"pocket": "17"}),
    )  # fmt: skip
    [spin] = seen.drawn
    won, lost = spin.players["p"], spin.players["q"]
    assert won.amount == won.lowest < 0
    assert Fraction(won.lowest, won.highest) == -37
    assert lost == Change(won.highest, won.lowest, won.highest)
    assert Fraction(spin.luck.amount, spin.luck.highest) == Fraction(-37 + 1, 2)
    assert spin.late == {}


def test_a_wager_is_late_from_two_seconds_before_the_call() -> None:
    seen = roulette(
        plein("p", "17", "10.000"), plein("q", "17", "17.999", "q1"), plein("q", "3", "18.000", "q2"),
        ("no_more_bets", at("20.000"), {}), ("ball.settled", at("40.000"), {"pocket": "3"}),
    )  # fmt: skip
    [spin] = seen.drawn
    assert spin.late.keys() == {"q"}
    assert Fraction(spin.late["q"].amount, spin.late["q"].highest) == -37  # one of the two, and it won
    assert Fraction(spin.players["q"].amount, spin.players["q"].highest) == Fraction(-37 + 1, 2)


def craps(*events: tuple[str, dict[str, Any]], **opened: Any) -> Observations:
    raw = [opener("s", "fr-craps", observes=["wagers", "results"], **opened)]
    raw += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(events, start=2)]
    return recorded([decode(each) for each in raw]).observations


FIELD = ("wager.placed", {"wager": "f", "bet": "seven", "stake": 100, "player": "p"})


def test_a_throw_has_its_dice_its_set_and_its_shooter() -> None:
    seen = craps(
        ("dice.thrown", {"faces": [3, 5], "player": "p", "dice": ["a", "b"]}),
        ("dice.set_introduced", {"dice": ["c", "d"], "decided_by": "chef_de_table", "announced": True, "set": "S2"}),
        ("dice.thrown", {"faces": [6, 1], "dice": ["c", "c"]}),
        dice_set="S1",
    )
    first, second = seen.drawn
    assert (first.result, first.shooter, first.dice_set, first.dice) == (6 * 2 + 4, "p", "S1", ("a", "b"))
    assert (second.result, second.dice_set, second.dice) == (30, "S2", ())  # one name for two dice names neither
    assert (seen.cells, seen.table) == (0, "T1")


def test_a_throw_called_void_at_once_is_kept_with_what_it_would_have_changed() -> None:
    seen = craps(FIELD, ("throw.voided", {"announced_by": "stickman", "flags": ["slid"], "faces": [3, 4]}))
    [voided] = seen.voided
    assert seen.drawn == []
    assert voided.result == 6 * 2 + 3
    assert voided.luck is not None
    assert voided.luck.amount == voided.luck.lowest < 0  # the seven would have won


def test_a_throw_called_void_after_it_was_counted_is_void_and_not_drawn() -> None:
    thrown = ("dice.thrown", {"faces": [3, 4]})
    seen = craps(FIELD, thrown, ("throw.voided", {"announced_by": "stickman", "flags": ["slid"], "voids": 3}))
    assert seen.drawn == []
    assert [each.seq for each in seen.voided] == [3]
    assert seen.voided[0].luck is not None


def test_a_throw_that_was_annulled_is_neither() -> None:
    annulled = ("entry.annulled", {"annuls": 3, "reason": "read twice", "approved_by": "chef"})
    seen = craps(FIELD, ("dice.thrown", {"faces": [3, 4]}), annulled)
    assert (seen.drawn, seen.voided) == ([], [])


def test_a_corrected_throw_is_the_corrected_one() -> None:
    corrected = (
        "entry.corrected",
        {"corrects": 2, "data": {"faces": [2, 2]}, "reason": "misread", "approved_by": "chef"},
    )
    seen = craps(("dice.thrown", {"faces": [3, 4]}), corrected)
    assert ([each.result for each in seen.drawn], seen.corrected) == ([7], [2])


@pytest.mark.parametrize(
    ("data", "is_corrected"), [({"faces": [3, 4], "player": "p"}, False), ({"faces": [4, 3], "player": "p"}, True)]
)
def test_a_result_is_corrected_where_another_one_takes_its_place(data: dict[str, Any], *, is_corrected: bool) -> None:
    entry = {"corrects": 2, "data": data, "reason": "misread", "approved_by": "chef"}
    seen = craps(("dice.thrown", {"faces": [3, 4]}), ("entry.corrected", entry), ("dice.thrown", {"faces": [1, 4]}))
    assert (len(seen.drawn), seen.corrected) == (2, [2] if is_corrected else [])


def test_dice_that_cannot_be_are_no_draw() -> None:
    assert craps(("dice.thrown", {"faces": [7, 4]})).drawn == []


def test_a_spin_called_void_after_it_was_counted_is_kept_with_what_it_would_have_changed() -> None:
    voided = ("spin.voided", at("50.000"), {"announced_by": "croupier", "reason": "ball left", "voids": 3})
    seen = roulette(plein("p", "17", "10.000"), ("ball.settled", at("40.000"), {"pocket": "17"}), voided)
    assert (seen.drawn, seen.cells) == ([], len(LAYOUT_38.wheel))
    [spin] = seen.voided
    assert (spin.seq, spin.result) == (3, LAYOUT_38.wheel.index("17"))
    assert spin.luck is not None
    assert spin.luck.amount == spin.luck.lowest < 0


def test_a_spin_that_was_annulled_or_has_no_pocket_is_not_called_void() -> None:
    annulled = ("entry.annulled", at("50.000"), {"annuls": 3, "reason": "read twice", "approved_by": "chef"})
    assert roulette(plein("p", "17", "10.000"), ("ball.settled", at("40.000"), {"pocket": "17"}), annulled).voided == []
    voided = ("spin.voided", at("50.000"), {"announced_by": "croupier", "reason": "ball left"})
    assert roulette(plein("p", "17", "10.000"), voided).voided == []


def test_late_stakes_are_added_up_whoever_laid_them() -> None:
    unknown = {"wager": "w", "bet": "plein", "stake": 300, "numbers": ["3"]}
    seen = roulette(
        plein("p", "17", "19.000"), ("wager.placed", at("19.500"), unknown), plein("q", "5", "10.000"),
        ("no_more_bets", at("20.000"), {}), ("ball.settled", at("40.000"), {"pocket": "3"}),
    )  # fmt: skip
    [spin] = seen.drawn
    assert spin.late.keys() == {"p"}
    assert spin.late_luck is not None
    # 300 on the 3 won, 100 on the 17 lost.
    assert Fraction(spin.late_luck.amount, spin.late["p"].amount) == 3 * -37 + 1
    assert spin.late_luck.amount == spin.late_luck.lowest


def money_of(*events: tuple[str, str | None, dict[str, Any]]) -> Observations:
    raw = [opener("s", "fr-american-roulette", observes=["wagers", "results", "calls", "payouts"], croupier="ada")]
    raw += [event("s", seq, kind, at=at, **data) for seq, (kind, at, data) in enumerate(events, start=2)]
    projection = PersonsProjection()
    for each in raw:  # a page each: what was found before is kept
        projection.feed([decode(each)])
    return projection.evidence


def test_a_finding_is_marked_with_its_croupier_and_its_player() -> None:
    goodwill = {"amount": 500, "player": "p", "approved_by": "chef", "reason": "a late payment"}
    marks = money_of(("goodwill.paid", at("10.000"), goodwill)).marks
    assert Mark(2, "goodwill-paid", "ada", "p") in marks
    assert marks == sorted(marks)


def test_what_follows_from_another_finding_or_a_loss_is_no_mark() -> None:
    late = (
        ("no_more_bets", at("20.000"), {}),
        plein("p", "17", "30.000"),
        ("ball.settled", at("40.000"), {"pocket": "3"}),
    )
    marks = money_of(*late).marks
    assert [(mark.rule, mark.player) for mark in marks if mark.player] == [("wager-after-no-more-bets", "p")]
    lost = ("events.lost", at("05.000"), {"through": 2, "reason": "spool_lost"})
    assert [mark for mark in money_of(lost, *late).marks if mark.player] == []


def test_a_payment_that_was_put_right_in_time_is_no_mark() -> None:
    paid = [
        ("payout.made", at(second), {"wager": "p", "winnings": winnings, "stake_returned": returned})
        for second, winnings, returned in (("45.000", 3_000, 100), ("46.000", 500, 0))
    ]
    won = (
        plein("p", "17", "10.000"),
        ("no_more_bets", at("20.000"), {}),
        ("ball.settled", at("40.000"), {"pocket": "17"}),
    )
    following = ("no_more_bets", at("55.000"), {}), ("ball.settled", at("58.000"), {"pocket": "3"})
    assert [mark.rule for mark in money_of(*won, paid[0], *following).marks if mark.player == "p"] == [
        "payout-underpaid"
    ]
    assert [mark for mark in money_of(*won, *paid, *following).marks if mark.player == "p"] == []
