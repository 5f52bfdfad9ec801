"""What a process sees of a session, a night and a count: counted by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.eprocess.bets import Change, Share
from settlement.eprocess.channels import Fed, of_evening, of_payouts, of_session, of_spins, of_variance
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.mixtures import SEQUENCES
from settlement.eprocess.observations import Mark, Observation, Observations, Payout, VoidCall
from settlement.eprocess.process import UNIT, Process
from settlement.eprocess.turns import PAIRS, faces_of, turns_of

EVEN = Change(1, -1, 1)


def only(fed: list[Fed], kind: str) -> Fed:
    [found] = [each for each in fed if each.kind == kind]
    return found


def cells(size: int, **counts: int) -> list[int]:
    return [counts.get(f"c{cell}", 0) for cell in range(size)]


def test_spins_are_counted_by_pocket_by_displacement_and_by_pair() -> None:
    fed = list(of_spins("w", 37, [[0, 5, 36, 5], [1], [36, 0]]))
    assert only(fed, "wheel") == ("wheel", "w", 37, {"pocket": cells(37, c0=2, c1=1, c5=2, c36=2)}, 7)
    signature = only(fed, "wheel-displacement")
    assert signature.seen == {"displacement": cells(37, c5=1, c31=1, c6=1, c1=1)}  # 0→5, 5→36, 36→5, 36→0
    assert signature.draws == 4
    memory = only(fed, "wheel-memory").seen
    assert memory["displacement-2"] == cells(37, c36=1, c0=1)  # 0→36 and 5→5
    assert memory["displacement-3"] == cells(37, c5=1)
    assert memory["pair-1"] == Counter({(0, 5): 1, (5, 36): 1, (36, 5): 1, (36, 0): 1})
    assert memory["pair-2"] == Counter({(0, 36): 1, (5, 5): 1})
    assert memory["pair-3"] == Counter({(0, 5): 1})


def test_a_displacement_is_the_croupier_s_who_spun_the_second_of_the_two() -> None:
    drawn = [
        Observation(seq, pocket, None, croupier) for seq, pocket, croupier in [(1, 3, "a"), (2, 5, "b"), (3, 9, "")]
    ]
    session = Observations("s", "T1", "W7", 37, drawn)
    fed = [*of_session(session), *of_evening([session])]
    spun = only(fed, "croupier-displacement")
    assert (spun.subject, spun.seen, spun.draws) == ("b, W7", {"displacement": cells(37, c2=1)}, 1)
    assert only(fed, "wheel").subject == "W7"


def throw(first: int, second: int, **noted: object) -> Observation:
    return Observation(1, 6 * (first - 1) + second - 1, **noted)  # type: ignore[arg-type]


def test_throws_are_counted_for_supply_dice_pair_and_shooter() -> None:
    drawn = [
        throw(1, 6, dice_set="S", dice=("a", "b"), shooter="p"),
        throw(6, 6, dice_set="S", dice=("b", "a"), shooter="p"),
        throw(2, 3, shooter="q"),
    ]
    session = Observations("s", "T1", drawn=drawn)
    fed = [*of_session(session), *of_evening([session])]
    assert only(fed, "dice-supply")[1:] == ("T1", 0, {"face": [1, 1, 1, 0, 0, 3]}, 3)
    dice = {each.subject: (each.seen["face"], each.draws) for each in fed if each.kind == "die"}
    assert dice == {"S, a": ([1, 0, 0, 0, 0, 1], 2), "S, b": ([0, 0, 0, 0, 0, 2], 2)}  # the third has no names
    pairs = {each.subject: each for each in fed if each.kind == "dice-pair"}
    assert pairs["S"].seen["double"] == [1, 1]
    assert pairs["S"].seen["seven"] == [1, 1]
    assert pairs["S"].seen["face"] == [1, 0, 0, 0, 0, 3]
    assert pairs["S"].seen["total"] == cells(11, c5=1, c10=1)
    assert pairs["S"].seen["after-seven"] == [0, 1]
    assert pairs["T1"].draws == 1
    shooters = {each.subject: each for each in fed if each.kind == "shooter"}
    # Nobody else threw the set S, and nobody else one without a name.
    pairs = {name: [int(pair in own) for pair in PAIRS] for name, own in (("p", [(0, 5), (5, 5)]), ("q", [(1, 2)]))}
    assert shooters["p"].seen == {"seven": ([1, 1], []), "face": ([1, 0, 0, 0, 0, 3], []), "pair": (pairs["p"], [])}
    assert shooters["q"].seen == {"seven": ([0, 1], []), "face": ([0, 1, 1, 0, 0, 0], []), "pair": (pairs["q"], [])}
    assert (shooters["p"].draws, shooters["q"].draws) == (2, 1)


def test_what_follows_a_throw_has_the_ways_that_the_bets_count_on() -> None:
    # Every pair of throws, in all 36 × 36 ways: the mixtures rely on these.
    seen = {channel: [0] * len(ways) for channel, ways in SEQUENCES.items()}
    faces = list(product(range(1, 7), repeat=2))
    for last, now in product(faces, repeat=2):
        fed = only(list(of_session(Observations("s", "T1", drawn=[throw(*last), throw(*now)]))), "dice-pair")
        for channel in SEQUENCES.keys() & fed.seen.keys():
            seen[channel] = [a + b for a, b in zip(seen[channel], fed.seen[channel], strict=True)]
    throws_before = {"after-double": 6, "after-seven": 6, "after-other": 24}
    assert seen == {channel: [throws_before[channel] * way for way in ways] for channel, ways in SEQUENCES.items()}


def test_void_throws_are_seen_with_what_they_would_have_changed() -> None:
    drawn = Observations("s", "T1", voided=[throw(3, 4, luck=Change(-5, -5, 1)), throw(2, 2)])
    fed = only(list(of_session(drawn)), "void-call")
    assert fed.seen["seven"] == [1, 1]
    assert fed.seen["double"] == [1, 1]
    assert fed.seen["luck"] == [Change(-5, -5, 1)]
    assert fed.draws == 2


def test_void_spins_are_seen_by_what_they_would_have_changed() -> None:
    worse = Change(-36, -36, 1)
    voided = [Observation(4, 17, worse), Observation(9, 3, None), Observation(12, 5, EVEN)]
    fed = only(list(of_session(Observations("s", "T1", "W", 37, voided=voided))), "void-call")
    assert fed == ("void-call", "T1", 37, {"luck": [worse, EVEN]}, 2)
    assert {family.channel for family in KINDS["void-call"].mixture(37).families} == {"luck"}
    nothing_at_stake = Observations("s", "T1", "W", 37, voided=[Observation(4, 17, None)])
    assert list(of_session(nothing_at_stake)) == []


@pytest.mark.parametrize("total", [total for total in range(2, 13) if total != 7])
def test_a_throw_that_leaves_the_point_or_makes_it_is_one_while_it_stands_and_neither_before_nor_after(
    total: int,
) -> None:
    first = max(1, total - 6)
    thrown = [(1, 1), (5, 4), (first, total - first), (6, 5)]  # nine is the point; made, eleven is no throw on one
    [turn] = turns_of([throw(*faces, shooter="p", dice_set="S") for faces in thrown])
    assert [sum(faces_of(each)) + 2 for each in turn.on_point] == [total, *([] if total == 9 else [11])]


def test_a_turn_ends_with_a_seven_out_or_with_another_shooter_or_set_and_is_compared_with_those_of_the_others() -> None:
    thrown = [
        ("p", "S", 6, 1),  # a seven without a point takes no dice
        ("p", "S", 2, 2), ("p", "S", 5, 4), ("p", "S", 3, 4),  # four, nine, and the seven-out
        ("p", "S", 1, 2),  # he takes them again, and leaves
        ("q", "S", 3, 3), ("q", "S", 3, 3), ("q", "S", 6, 1),  # six is made: no seven-out
        ("q", "Z", 1, 1),
        ("", "S", 6, 6),
    ]  # fmt: skip
    drawn = [throw(first, second, shooter=shooter, dice_set=of) for shooter, of, first, second in thrown]
    turns = [(each.shooter, each.dice_set, len(each.throws)) for each in turns_of(drawn)]
    assert turns == [("p", "S", 4), ("p", "S", 1), ("q", "S", 3), ("q", "Z", 1), ("", "S", 1)]
    session, alone = Observations("s", "T1", drawn=drawn), Observations("s2", "T2", drawn=drawn[:4])
    shooters = {each.subject: each.seen for each in of_evening([session, alone]) if each.kind == "shooter"}
    every = [((0, 1), 2), ((1, 2), 1), ((2, 2), 1)]
    assert shooters["p"]["seven"] == ([4, 5], [([(2, 2), (0, 1)], every)])
    assert shooters["q"]["seven"] == ([1, 3], [([(1, 2)], every)])
    # While a point stood p threw the nine, which is no seven-out, and q made the six.
    shown = [((0, 0, 0, 1, 1, 0), 1), ((0, 0, 2, 0, 0, 0), 1)]
    assert shooters["p"]["face"][1] == [([(0, 0, 0, 1, 1, 0)], shown)]
    assert shooters["q"]["face"][1] == [([(0, 0, 2, 0, 0, 0)], shown)]
    assert [[sum(one) for one in his] for his, _every in shooters["q"]["pair"][1]] == [[1]]


def test_over_all_pockets_of_a_void_spin_and_all_faces_of_a_throw_a_process_gains_nothing() -> None:
    spins = [Observations("s", "T", "W", 37, voided=[Observation(1, 0, Change(*each))]) for each in PLEIN]
    throws = [Observations("s", "T", drawn=[throw(*faces)]) for faces in product(range(1, 7), repeat=2)]
    for kind, variant, sessions in (("void-call", 37, spins), ("dice-pair", 0, throws)):
        total = Fraction(0)
        for session in sessions:
            process = Process(kind, "s", variant)
            fed = only([*of_session(session), *of_evening([session])], kind)
            process.feed(KINDS[kind].mixture(variant), fed.seen, draws=fed.draws, session="")
            total += Fraction(process.evidence, UNIT)
        assert 1 - Fraction(1, 2**50) < total / len(sessions) <= 1


PLEIN = [(-36, -36, 1)] + [(1, -36, 1)] * 36
"""What each of 37 pockets changes for the house against one piece on one of them."""


def test_luck_goes_to_table_player_player_with_croupier_and_late_wagers() -> None:
    worse = Change(-36, -36, 1)
    drawn = [
        Observation(1, 0, EVEN, "c", players={"p": EVEN, "q": worse}, late={"q": worse}, late_luck=worse),
        Observation(2, 0, None, ""),
        Observation(3, 0, worse, "", players={"p": worse}),
    ]
    session = Observations("s", "T1", "T1", 37, drawn, corrected=[3])
    fed = [*of_session(session), *of_evening([session])]
    luck = {(each.kind, each.subject): each.seen["luck"] for each in fed if "luck" in each.seen}
    assert luck == {
        ("table-luck", "T1"): [EVEN, worse],
        ("player-luck", "p"): [EVEN, worse],
        ("player-luck", "q"): [worse],
        ("pair-luck", "p, c"): ([EVEN], []),
        ("pair-luck", "q, c"): ([worse], []),
        ("late-luck", "q"): [worse],
        ("corrected-luck", "p"): [worse],
    }


def test_an_evening_is_one_batch_of_a_person_whatever_the_tables_and_the_order_of_the_sessions() -> None:
    worse = Change(-36, -36, 1)
    wheels = [
        Observations(name, table, "W", 37, [Observation(seq, seq, None, "c", players={"p": EVEN}) for seq in (1, 3, 9)])
        for name, table in (("s1", "T1"), ("s2", "T2"))
    ]
    craps = Observations("s3", "T3", drawn=[throw(1, 6, shooter="p", players={"p": worse}), throw(2, 2, shooter="p")])
    fed = list(of_evening([*wheels, craps]))
    assert only(fed, "player-luck").seen == {"luck": [EVEN] * 6 + [worse]}
    assert (only(fed, "shooter").draws, only(fed, "croupier-displacement").draws) == (2, 4)
    assert list(of_evening([craps, *reversed(wheels)])) == fed


def test_a_session_without_draws_feeds_nothing() -> None:
    assert list(of_session(Observations("s", "T1"))) == []
    assert list(of_session(Observations("s", "T1", "W", 37))) == []


def test_errors_of_one_coup_are_one_and_those_of_nobody_are_left_out() -> None:
    payouts = [
        Payout("s:1", "a", -500), Payout("s:1", "a", -100), Payout("s:2", "a", 300), Payout("s:2", "a", -300),
        Payout("s:3", "a", 0), Payout("s:1", "b", 200), Payout("t:1", "b", 0), Payout("s:9", "", -9_999),
    ]  # fmt: skip
    fed = list(of_payouts(payouts))
    rates = {each.subject: each.seen["payouts"] for each in fed if each.kind == "payout-rate"}
    assert rates == {"a": [Share(1, 3, 2, 5)], "b": [Share(1, 2, 2, 5)]}
    leans = {each.subject: each.seen for each in fed if each.kind == "payout-lean"}
    assert leans["a"]["errors"] == [Share(1, 1, 1, 2)]
    assert leans["b"]["errors"] == [Share(0, 1, 1, 2)]
    # Errors of −600 and 200, one of which is each croupier's: −600 × 2 − (−400), and the two it could be.
    assert leans["a"]["money"] == [Change(-800, -800, 800)]
    assert leans["b"]["money"] == [Change(800, -800, 800)]


def test_a_croupier_is_compared_with_those_of_the_same_session() -> None:
    # Craps is hard to pay, roulette is not: nobody errs more than those beside him, but b and d more than the night.
    craps = [Payout(f"craps#{coup}", "bd"[coup % 2], 5 if coup < 4 else 0) for coup in range(8)]
    roulette = [Payout(f"roulette#{coup}", "ab"[coup % 2], 0) for coup in range(20)]
    rates = {each.subject: each for each in of_payouts([*craps, *roulette]) if each.kind == "payout-rate"}
    assert rates["a"].seen["payouts"] == [Share(0, 10, 0, 20)]
    assert rates["b"].seen["payouts"] == [Share(2, 4, 4, 8), Share(0, 10, 0, 20)]
    assert rates["d"].seen["payouts"] == [Share(2, 4, 4, 8)]
    assert (rates["b"].draws, rates["d"].draws) == (14, 4)
    leans = {each.subject: each.seen for each in of_payouts([*craps, *roulette]) if each.kind == "payout-lean"}
    assert leans["b"] == {"errors": [Share(0, 2, 0, 4)], "money": [Change(0, 0, 0)]}


@pytest.mark.parametrize("kind", ["payout-rate", "payout-lean"])
def test_over_all_ways_to_share_out_each_session_a_croupier_s_process_gains_nothing(kind: str) -> None:
    sessions = {"craps": ([-7, 3, 0, -2], 2), "roulette": ([0, 0, -4, 9], 1)}
    mixture, total, ways = KINDS[kind].mixture(0), Fraction(0), 0
    for chosen in product(*(combinations(range(len(errors)), own) for errors, own in sessions.values())):
        payouts = [
            Payout(f"{name}#{coup}", "own" if coup in own else "other", error)
            for (name, (errors, _size)), own in zip(sessions.items(), chosen, strict=True)
            for coup, error in enumerate(errors)
        ]
        process = Process(kind, "own")
        for fed in of_payouts(payouts):
            if (fed.kind, fed.subject) == (kind, "own"):
                process.feed(mixture, fed.seen, draws=fed.draws, session="")
        total, ways = total + Fraction(process.evidence, UNIT), ways + 1
    assert 1 - Fraction(1, 2**60) < total / ways <= 1


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=7), st.data())
def test_money_is_nothing_on_average_over_all_ways_to_choose_the_croupier_s(
    errors: list[int], data: st.DataObject
) -> None:
    own = data.draw(st.integers(1, len(errors)))
    changes = []
    for chosen in combinations(range(len(errors)), own):
        payouts = [Payout(str(i), "own" if i in chosen else "other", error) for i, error in enumerate(errors)]
        fed = [each for each in of_payouts(payouts) if each.kind == "payout-lean" and each.subject == "own"]
        [[change]] = [each.seen["money"] for each in fed]
        changes.append(change)
    assert sum(change.amount for change in changes) == 0
    assert {change.lowest for change in changes} == {min(change.amount for change in changes)}
    assert {change.highest for change in changes} == {max(change.amount for change in changes)}


def test_a_variance_goes_to_table_team_and_shift() -> None:
    fed = list(of_variance("T1", "anna, ben", "", -250))
    assert fed == [
        Fed("table-drift", "T1", 0, {"variance": [-250]}, 1),
        Fed("team-drift", "anna, ben", 0, {"variance": [-250]}, 1),
    ]


def test_every_channel_that_is_fed_is_bet_on_and_the_other_way_round() -> None:
    of_c, of_d = (
        Observation(seq, 3, EVEN, croupier, players={"p": EVEN, player: EVEN}, late={"p": EVEN})
        for seq, croupier, player in ((1, "c", "q"), (5, "d", "q"))
    )
    wheel = Observations("s", "T1", "W", 37, [*[of_c] * 5, of_d], marks=[Mark(2, "goodwill-paid", "c", "p")])
    wheel.marks.append(Mark(3, "wager-near-call", "c", "p"))
    wheel.void_calls, wheel.corrected = [VoidCall(1, "c")], [1]
    wheel.voided = [Observation(1, 3, EVEN, "c", players={"p": EVEN})]
    faces = [(3, 3), (4, 4), (1, 6), (6, 1), (1, 2), (5, 6), (2, 3)]
    craps = Observations("s", "T1", drawn=[throw(*each, dice=("a", "b"), shooter="p") for each in faces])
    craps.voided = [throw(1, 1, luck=EVEN)]
    evening = of_evening([wheel, craps])
    night = [
        *of_payouts([Payout("1", "c", 5)]),
        *of_variance("T", "t", "s", 1, {"closer-drift": {"a": 2}, "duty-drift": {"c": 2}}),
    ]
    fed = [*of_session(wheel), *of_session(craps), *evening, *night]
    assert {each.kind for each in fed} == set(KINDS)
    for each in fed:
        bet_on = {family.channel for family in KINDS[each.kind].mixture(each.variant).families}
        assert set(each.seen) <= bet_on | {"total"}
        assert bet_on <= set(each.seen)
