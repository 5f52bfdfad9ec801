"""Whoever is named is whom the null is about: over every way to share out what was drawn, nobody else gains."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import pytest

from settlement.eprocess import mixtures
from settlement.eprocess.bets import Change, OddsRatioBets, Share
from settlement.eprocess.channels import of_evening
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import Mark, Observation, Observations
from settlement.eprocess.process import UNIT, Family, Mixture, Process
from settlement.eprocess.turns import DrawnBets, paired, pooled

WON, LOST = Change(-36, -36, 1), Change(1, -36, 1)
EVENS = (Change(-5, -5, 5), Change(5, -5, 5))
CLOSE = Fraction(1, 2**60)


def session(name: str, drawn: Iterable[Observation], *marks: Mark) -> Observations:
    return Observations(name, "T1", "W", 37, list(drawn), marks=list(marks))


def wealth(kind: str, subject: str, *sessions: Observations) -> Fraction:
    """Return the wealth of a process that an evening of these sessions begins."""
    process = Process(kind, subject)
    for fed in of_evening(sessions):
        if (fed.kind, fed.subject) == (kind, subject):
            process.feed(KINDS[kind].mixture(0), fed.seen, draws=fed.draws, session="")
    return Fraction(process.evidence, UNIT)


def drawn_by(croupiers: Sequence[str], changes: Sequence[Change]) -> list[Observation]:
    return [
        Observation(seq, 0, change, croupier, players={"p": change}, late={"p": change}, late_luck=change)
        for seq, (croupier, change) in enumerate(zip(croupiers, changes, strict=True))
    ]


# Luck: chance and skill of a player are nobody else's


@pytest.mark.parametrize(("kind", "subject"), [("pair-luck", "p, own"), ("croupier-luck", "own")])
@pytest.mark.parametrize("rota", ["own b b b b", "own own b own c", "b own own own own", "b b c own own"])
@pytest.mark.parametrize(
    "changes",
    [[WON, WON, LOST, LOST, LOST], [WON, EVENS[0], LOST, EVENS[1], LOST]],
    ids=["won twice", "other stakes"],
)
def test_over_all_orders_of_a_session_s_draws_nothing_is_gained(
    kind: str, subject: str, rota: str, changes: list[Change]
) -> None:
    # Whatever the luck was: the first null, of chance, does not hold here.
    orders = set(permutations(changes))
    found = [wealth(kind, subject, session("s", drawn_by(rota.split(), order))) for order in orders]
    assert sum(found) <= len(orders)
    assert max(found) > 1


@pytest.mark.parametrize("kind, subject", [("pair-luck", "p, own"), ("croupier-luck", "own")])
def test_over_all_outcomes_of_fair_draws_nothing_is_gained_whenever_one_leaves(kind: str, subject: str) -> None:
    # The second null does not hold here: he leaves when he has won, so the last to deal has all the wins.
    rota = ["b", "own", "own"]
    total = Fraction(0)
    for outcome in product((WON, LOST), repeat=3):
        played = outcome[: outcome.index(WON) + 1] if WON in outcome else outcome
        chance = Fraction(1)
        for change in outcome:
            chance *= Fraction(1, 37) if change is WON else Fraction(36, 37)
        seen = drawn_by(rota[: len(played)], played)
        total += chance * wealth(kind, subject, session("s", seen))
    assert total <= 1


def test_the_mean_of_what_is_drawn_without_replacement_is_taken_from_what_is_left() -> None:
    changes = [Change(-2, -2, 1), Change(1, -2, 1), Change(1, -2, 1)]
    fed = of_evening([session("s", drawn_by(["own", "b", "own"], changes))])
    luck = next(each.seen["luck"] for each in fed if each.kind == "pair-luck" and each.subject == "p, own")
    assert luck.changes == [changes[0], changes[2]]
    part = 1 << 20  # of −2, 1, 1 the mean is 0; of 1, 1 it is 1
    assert luck.from_mean == [Change(-6 * part, -6 * part, 3 * part), Change(0, 0, 0)]


def test_who_dealt_a_session_alone_is_beside_nobody() -> None:
    alone = session("s", drawn_by(["own"] * 3, [WON] * 3))
    [pair] = [each for each in of_evening([alone]) if each.kind == "pair-luck"]
    assert pair.seen["luck"] == ([WON] * 3, [])
    assert wealth("pair-luck", "p, own", alone) <= 1
    assert "croupier-luck" not in {each.kind for each in of_evening([alone])}


def test_a_draw_without_late_stakes_is_one_of_those_that_could_have_been_anybody_s() -> None:
    late = Observation(1, 0, WON, "own", late_luck=WON)
    others = [Observation(seq, 0, LOST, croupier) for seq, croupier in ((2, "own"), (3, "b"), (4, ""))]
    fed = of_evening([session("s", [late, *others])])
    own = next(each for each in fed if (each.kind, each.subject) == ("croupier-luck", "own"))
    part = 36 << 20
    assert own.seen["late"] == ([WON], [Change(-2 * part, -2 * part, part), Change(0, 0, 0)])
    assert own.draws == 2


def nights(number: int, chance: random.Random, wins: Callable[[str], float]) -> list[Observations]:
    """Return evenings of 120 bets straight up; six croupiers deal in turn, and ``wins`` is the part won with each."""
    rota = [f"k{bet // 20}" for bet in range(120)]
    found = []
    for night in range(number):
        changes = [WON if chance.random() < wins(croupier) + 1 / 37 else LOST for croupier in rota]
        found.append(session(f"s{night}", drawn_by(rota, changes)))
    return found


def named(evenings: list[Observations]) -> set[tuple[str, str]]:
    ledger = Ledger(2026)
    ledger.ranks = {"player-luck": 99, "pair-luck": 99, "croupier-luck": 99}
    raised = set()
    for evening in evenings:
        for question in ledger.feed(of_evening([evening]), session=evening.session):
            raised.add((question.process.kind, question.process.subject))
    return {each for each in raised if each[0] in ("player-luck", "pair-luck", "croupier-luck")}


@pytest.mark.parametrize("seeds", [2, pytest.param(5, marks=pytest.mark.faults)])
def test_one_past_poster_with_six_honest_croupiers_names_none_of_them(seeds: int) -> None:
    for seed in range(seeds):
        raised = named(nights(60, random.Random(seed), lambda _croupier: 0.05))
        assert raised == {("player-luck", "p")}, seed


def test_a_croupier_who_lets_him_win_is_named_with_him_and_by_himself() -> None:
    raised = named(nights(60, random.Random(1), lambda croupier: 0.2 if croupier == "k2" else 0.0))
    assert {("pair-luck", "p, k2"), ("croupier-luck", "k2")} <= raised
    assert {subject for kind, subject in raised if kind != "player-luck"} == {"p, k2", "k2"}


def test_a_guest_who_leaves_when_he_has_won_names_nobody() -> None:
    # On a dozen of a wheel without zero. The second to deal has the win, whenever there is one: by chance, too.
    chance, won, lost = random.Random(3), Change(-2, -2, 1), Change(1, -2, 1)
    both, second = Process("pair-luck", "p, b"), Process("pair-luck", "p, b")
    alone = Mixture(Family("luck", 1, mixtures.TOO_LUCKY.second))
    for night in range(400):
        changes: list[Change] = []
        while len(changes) < 6 and won not in changes:
            changes.append(won if chance.randrange(3) == 0 else lost)
        evening = session(f"s{night}", drawn_by("aaabbb"[: len(changes)], changes))
        for fed in of_evening([evening]):
            if (fed.kind, fed.subject) == ("pair-luck", "p, b"):
                both.feed(mixtures.pair_luck(), fed.seen, draws=fed.draws, session="")
                second.feed(alone, {"luck": fed.seen["luck"].from_mean}, draws=fed.draws, session="")
    assert second.highest > 10**6 * UNIT
    assert both.highest < 10 * UNIT


# Throws: dice are loaded for everybody

FACES = tuple(product(range(6), repeat=2))
TURNS = {
    "short and long": ["33 43", "25 62 11 52", "65"],
    "one side": ["66 65 66 61", "61 66 61", "16 11 61"],
    "alike": ["24 43", "24 43", "42 61"],
}
"""Turns of a session: faces of each throw, from 1."""


def thrown(names: Sequence[str], turns: Iterable[str]) -> Observations:
    drawn = [
        Observation(0, 6 * (int(faces[0]) - 1) + int(faces[1]) - 1, shooter=name, dice_set="S")
        for name, turn in zip(names, turns, strict=True)
        for faces in turn.split()
    ]
    return Observations("s", "T1", drawn=drawn)


@pytest.mark.parametrize("names", ["own b c", "b own own", "b c own"])
@pytest.mark.parametrize("turns", TURNS.values(), ids=TURNS.keys())
def test_over_all_ways_to_share_out_the_turns_of_a_session_a_shooter_gains_nothing(
    names: str, turns: list[str]
) -> None:
    # Whatever the dice show: the first null, of fair dice, does not hold here.
    found = [wealth("shooter", "own", thrown(names.split(), order)) for order in permutations(turns)]
    assert sum(found) <= len(found)
    assert min(found) < 1


@pytest.mark.parametrize("names", ["own b b c", "b own own b", "own own own b"])
@pytest.mark.parametrize("throws", ["61 52 43 61", "62 44 53 62", "66 65 12 11"])
def test_over_all_ways_to_share_out_the_throws_while_a_point_stands_a_shooter_gains_nothing(
    names: str, throws: str
) -> None:
    bets = [family for family in mixtures.shooter().families if family.channel != "seven"]
    orders = list(permutations(throws.split()))
    totals = [[Fraction(0)] * family.bets.bettors for family in bets]
    for order in orders:
        of = [(whose, (0, "S", tuple(throw))) for whose, throw in zip(names.split(), order, strict=True)]
        for family, total in zip(bets, totals, strict=True):
            cells = {"face": pooled, "pair": paired}[family.channel]
            units = [(whose, cells([Observation(0, 6 * int(a) + int(b) - 7)])) for whose, (_n, _s, (a, b)) in of]
            every = sorted(Counter(shown for _whose, shown in units).items())
            his = [shown for whose, shown in units if whose == "own"]
            after = family.bets.second.settle([UNIT] * family.bets.bettors, [], [(his, every)])
            total[:] = [before + Fraction(each, UNIT) for before, each in zip(total, after, strict=True)]
    assert all(1 - CLOSE < each / len(orders) <= 1 for total in totals for each in total)


@pytest.mark.parametrize("loaded", [0, 3], ids=["fair dice", "loaded dice"])
def test_which_throws_while_a_point_stands_are_whose_does_not_depend_on_the_rule_of_the_seven(loaded: int) -> None:
    # Two turns in a row, each thrown to its seven-out, over all ways that they can go in a game with small dice: of
    # each number of throws of the two, every order of the throws that are compared comes equally often.
    faces = {4: 2 + loaded, 6: 1, 7: 3}  # weights of the totals of such dice: two points, and the seven
    seen: dict[tuple[tuple[int, ...], int], Counter[tuple[int, ...]]] = {}
    for first, second in product(turns_to_the_seven(faces, 4), repeat=2):
        own, others = first[1], second[1]
        key = tuple(sorted(own + others)), len(own)
        seen.setdefault(key, Counter())[own + others] += first[0] * second[0] * 10**6 // 1
    for (every, _own), orders in seen.items():
        if len(every) < 4:  # longer ones are cut off
            assert len(set(orders.values())) == 1
            assert len(orders) == len(set(permutations(every)))


def turns_to_the_seven(weights: dict[int, int], most: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return the probability of each turn that has fewer than ``most`` throws on a point, and these."""
    whole = sum(weights.values())
    ended: Counter[tuple[int, ...]] = Counter()
    going: Counter[tuple[int, tuple[int, ...]]] = Counter({(0, ()): Fraction(1)})
    for _throw in range(40):
        now: Counter[tuple[int, tuple[int, ...]]] = Counter()
        for (point, on_point), chance in going.items():
            for total, weight in weights.items():
                part = chance * Fraction(weight, whole)
                if not point:
                    now[0 if total == 7 else total, on_point] += part
                elif total == 7:
                    ended[on_point] += part
                elif len(on_point) < most:
                    now[0 if total == point else point, (*on_point, total)] += part
        going = now
    return [(chance, on_point) for on_point, chance in ended.items()]


def test_what_a_turn_is_worth_beside_the_others_is_one_on_average() -> None:
    bets = DrawnBets(mixtures.shooter().families[0].bets.first)
    turns = [(3, 4), (0, 9), (1, 1), (2, 0)]
    for own in (1, 2, 3, 4):
        totals = [Fraction(0)] * bets.bettors
        orders = list(permutations(turns))
        for order in orders:
            after = bets.settle([UNIT] * bets.bettors, [], [(list(order[:own]), [(each, 1) for each in turns])])
            totals = [total + Fraction(each, UNIT) for total, each in zip(totals, after, strict=True)]
        assert all(1 - CLOSE < total / len(orders) <= 1 for total in totals)


@pytest.mark.parametrize("other", ["66", "34 16 61"])
def test_over_all_throws_of_fair_dice_a_shooter_gains_nothing_whenever_he_leaves(other: str) -> None:
    # He leaves where he has thrown no seven first, so his turns are not those of the others: the second null is broken.
    total = Fraction(0)
    for first in FACES:
        throws = [[first, second] for second in FACES] if sum(first) == 5 else [[first]]
        for each in throws:
            turn = " ".join(f"{one + 1}{two + 1}" for one, two in each)
            total += wealth("shooter", "own", thrown(["own", "b"], [turn, other])) / len(throws)
    assert total / len(FACES) <= 1


def evening_of_dice(chance: random.Random, loads: dict[str, float], night: int) -> Observations:
    """Return an evening of six shooters, each until the seven-out; ``loads`` is how often a six is set, by name."""
    names, turns = [], []
    for number in range(24):
        name, point, faces = f"p{number % 6}", 0, []
        while True:
            first, second = chance.randint(1, 6), chance.randint(1, 6)
            if chance.random() < loads.get(name, 0):
                first = 6
            faces.append(f"{first}{second}")
            out = point and first + second == 7
            if first + second in (point, 7):
                point = 0
            elif not point and first + second in (4, 5, 6, 8, 9, 10):
                point = first + second
            if out:
                break
        names.append(name)
        turns.append(" ".join(faces))
    evening = thrown(names, turns)
    evening.session = f"s{night}"
    return evening


def shooters_named(loads: dict[str, float]) -> set[str]:
    ledger, chance = Ledger(2026), random.Random(4)
    raised = set()
    for night in range(40):
        for question in ledger.feed(of_evening([evening_of_dice(chance, loads, night)]), session=str(night)):
            raised.add(question.process.subject)
    return raised


def test_loaded_dice_are_loaded_for_all_who_throw_them_and_a_slider_is_named_alone() -> None:
    assert shooters_named({f"p{number}": 0.15 for number in range(6)}) == set()
    assert shooters_named({"p4": 0.3}) == {"p4"}


# Findings: whose coups they are about


def marked(croupiers: Sequence[str], chosen: Iterable[int], player: str = "") -> Observations:
    drawn = [Observation(seq, 0, None, croupier) for seq, croupier in enumerate(croupiers)]
    return session("s", drawn, *(Mark(seq, "goodwill-paid", croupiers[seq], player) for seq in chosen))


@pytest.mark.parametrize("own", [1, 2, 4])
@pytest.mark.parametrize("marks", [1, 3, 5])
def test_over_all_ways_to_share_out_the_coups_findings_gain_nothing(own: int, marks: int) -> None:
    croupiers = ["own"] * own + ["b"] * (6 - own)
    ways = list(combinations(range(6), marks))
    total = sum(wealth("concentration", "own, goodwill-paid", marked(croupiers, way)) for way in ways)
    assert 1 - CLOSE < total / len(ways) <= 1


PAIRS = list(product("ab", "pq", range(2)))
"""Two croupiers and two players, two coups each."""


def of_pair(chosen: Iterable[tuple[str, str, int]]) -> Fraction:
    drawn = [Observation(seq, 0, None, "aabb"[seq], players={"p": WON, "q": WON}) for seq in range(4)]
    marks = [Mark("ab".index(each[0]) * 2 + each[2], "goodwill-paid", *each[:2]) for each in chosen]
    return wealth("pair-concentration", "p, a, goodwill-paid", session("s", drawn, *marks))


@pytest.mark.parametrize("owner", [0, 1], ids=["of the croupier", "of the player"])
@pytest.mark.parametrize("marks", [1, 2, 3])
def test_over_all_ways_to_share_out_those_of_the_one_between_the_others_a_pair_gains_nothing(
    owner: int, marks: int
) -> None:
    # The findings of a with both players, or of p with both croupiers, whatever the others have.
    own = [each for each in PAIRS if each[owner] == "ap"[owner]]
    others = [each for each in PAIRS if each[owner] != "ap"[owner]]
    most = Fraction(0)
    for number in range(len(others) + 1):
        for fixed in combinations(others, number):
            found = [of_pair([*fixed, *chosen]) for chosen in combinations(own, marks)]
            assert sum(found) <= len(found)
            most = max(most, *found)
    assert (most > 1) == (marks > 1)


@pytest.mark.parametrize("marks", [1, 2, 3])
def test_over_all_ways_to_share_out_the_late_stakes_at_a_croupier_s_coups_a_player_gains_nothing(marks: int) -> None:
    # Of two players three coups each with a, of whom p has another two with b; those with b are given.
    drawn = [Observation(seq, 0, None, "aaabb"[seq], players={"p": WON} if seq == 3 else BOTH) for seq in range(5)]
    late = [(seq, player) for seq in range(3) for player in "pq"]
    for fixed in ([], [Mark(4, NEAR_CALL, "b", "p")]):
        total, ways = Fraction(0), list(combinations(late, marks))
        for chosen in ways:
            own = [Mark(seq, NEAR_CALL, "a", player) for seq, player in chosen]
            total += wealth("player-concentration", f"p, {NEAR_CALL}", session("s", drawn, *own, *fixed))
        before = wealth("player-concentration", f"p, {NEAR_CALL}", session("s", drawn, *fixed)) if fixed else 1
        assert total / len(ways) <= max(1, before)


BOTH, NEAR_CALL = {"p": WON, "q": WON}, "wager-near-call"


def test_whose_stakes_are_late_is_named_and_nobody_by_what_a_croupier_does() -> None:
    raised: dict[str, set[str]] = {}
    for rule in (NEAR_CALL, "losing-wager-not-collected"):
        ledger, chance = Ledger(2026), random.Random(9)
        for night in range(20):
            evening = sweeps({(f"k{number}", "p3"): 0.2 for number in range(4)}, chance, night)
            evening.marks = [Mark(mark.seq, rule, mark.croupier, mark.player) for mark in evening.marks]
            for question in ledger.feed(of_evening([evening]), session=str(night)):
                if question.rule == "concentration":
                    raised.setdefault(rule, set()).add(question.process.subject)
    assert raised == {NEAR_CALL: {f"p3, {NEAR_CALL}"}}


def test_a_share_that_is_looked_at_only_if_there_is_one_has_the_odds_of_that() -> None:
    # Of two of four, one or both are marked, in 4 and 1 of 5 ways.
    [one] = OddsRatioBets(((2, 1),)).settle([UNIT], [], [Share(1, 2, 2, 4, least=1)])
    [two] = OddsRatioBets(((2, 1),)).settle([UNIT], [], [Share(2, 2, 2, 4, least=1)])
    assert (one, two) == (UNIT * 5 // 6, UNIT * 10 // 6)
    assert 5 * UNIT - 4 * one - two <= 5


def test_a_coup_is_marked_once_where_the_finding_falls_or_at_the_last_of_his() -> None:
    drawn = [Observation(seq, 0, None, croupier) for seq, croupier in ((10, "a"), (20, "a"), (30, "b"), (40, "a"))]
    marks = [
        Mark(11, "r", "a"), Mark(20, "r", "a"),  # one coup, the second
        Mark(12, "r", "b"),  # the first of his
        Mark(50, "r", "a"),  # the last
        Mark(5, "other", "b"), Mark(5, "other", "nobody seen"),
    ]  # fmt: skip
    fed = {each.subject: each for each in of_evening([session("s", drawn, *marks)]) if each.kind == "concentration"}
    assert fed["a, r"].seen == {"marks": [Share(2, 3, 3, 4)]}
    assert fed["b, r"].seen == {"marks": [Share(1, 1, 3, 4)]}
    assert fed["a, other"].seen == {"marks": [Share(0, 3, 1, 4)]}
    assert (fed["a, r"].draws, fed["b, r"].draws) == (3, 1)


def test_a_player_is_there_from_his_first_stake_to_his_last_whether_it_counts_or_not() -> None:
    drawn = [Observation(seq, 0, None, "aabb"[seq // 10 - 1], players={"q": WON}) for seq in (10, 20, 30, 40)]
    marks = [Mark(seq, "r", croupier, "p") for seq, croupier in ((9, "a"), (15, "a"), (35, "b"))]
    fed = {
        each.subject: each for each in of_evening([session("s", drawn, *marks)]) if each.kind == "pair-concentration"
    }
    # His first and his last coup are his by a finding alone, so he has the second and the third, and of these one.
    assert fed["p, a, r"].seen["marks"] == ([Share(1, 1, 1, 2)], [Share(1, 1, 1, 3, least=1)])
    assert fed["p, b, r"].seen["marks"] == ([Share(0, 1, 1, 2)], [Share(0, 1, 0, 3)])
    assert "q, a, r" not in fed


def sweeps(careless: dict[tuple[str, str], float], chance: random.Random, night: int) -> Observations:
    """Return a night of four croupiers with five players, and the losers that each left standing."""
    drawn, marks = [], []
    for seq in range(160):
        croupier = f"k{seq // 40}"
        drawn.append(Observation(seq, 0, None, croupier, players={f"p{number}": LOST for number in range(5)}))
        for number in range(5):
            player = f"p{number}"
            if chance.random() < careless.get((croupier, player), 0.01):
                marks.append(Mark(seq, "losing-wager-not-collected", croupier, player))
    return session(f"s{night}", drawn, *marks)


def gathered(careless: dict[tuple[str, str], float]) -> set[str]:
    ledger, chance = Ledger(2026), random.Random(9)
    ledger.ranks = {"concentration": 99, "pair-concentration": 99}
    raised = set()
    for night in range(20):
        for question in ledger.feed(of_evening([sweeps(careless, chance, night)]), session=str(night)):
            if question.rule == "concentration":
                raised.add(question.process.subject.removesuffix(", losing-wager-not-collected"))
    return raised


def test_who_leaves_the_stakes_of_one_friend_is_named_with_him() -> None:
    assert {"p3, k1"} <= gathered({("k1", "p3"): 0.2}) <= {"p3, k1", "k1"}


def test_who_is_careless_with_everybody_is_named_alone_and_so_is_nobody_whose_stakes_are_hard_to_sweep() -> None:
    assert gathered({("k1", f"p{number}"): 0.05 for number in range(5)}) == {"k1"}
    assert gathered({(f"k{number}", "p3"): 0.2 for number in range(4)}) == set()


def test_nothing_depends_on_the_order_of_sessions_or_marks() -> None:
    chance = random.Random(2)
    evenings = [sweeps({("k1", "p3"): 0.3}, chance, night) for night in range(3)]
    fed = [list(of_evening(order)) for order in permutations(evenings)]
    assert all(each == fed[0] for each in fed)
