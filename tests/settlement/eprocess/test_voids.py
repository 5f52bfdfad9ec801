"""A void call is put down to its croupier, and to a player who stakes with him: over all ways nobody gains."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import pytest

from settlement.eprocess.bets import Change, Share
from settlement.eprocess.channels import of_evening
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import Observation, Observations, VoidCall
from settlement.eprocess.process import UNIT, Process

LOST, WON = Change(1, -36, 1), Change(-36, -36, 1)
CLOSE = Fraction(1, 2**60)


def evening(dealt: str, staked: dict[str, Iterable[int]], void: Iterable[int]) -> Observations:
    """Return a session: who dealt each coup, in which each player staked, and which had been called void before."""
    drawn = [
        Observation(10 * coup, 0, None, croupier, players={p: WON for p, coups in staked.items() if coup in coups})
        for coup, croupier in enumerate(dealt)
    ]
    calls = [VoidCall(10 * coup - 3, dealt[coup]) for coup in void]
    return Observations("s", "T1", "W", 37, drawn, void_calls=calls)


def wealth(kind: str, subject: str, session: Observations) -> Fraction:
    process = Process(kind, subject)
    for fed in of_evening([session]):
        if (fed.kind, fed.subject) == (kind, subject):
            process.feed(KINDS[kind].mixture(0), fed.seen, draws=fed.draws, session="")
    return Fraction(process.evidence, UNIT)


@pytest.mark.parametrize("dealt", ["aabbb", "abbab", "aaaab"])
@pytest.mark.parametrize("void", [1, 2, 4])
def test_over_all_ways_to_share_out_what_is_void_a_croupier_gains_nothing(dealt: str, void: int) -> None:
    ways = list(combinations(range(5), void))
    total = sum(wealth("croupier-voids", "a", evening(dealt, {}, way)) for way in ways)
    assert 1 - CLOSE < total / len(ways) <= 1


STAKED = {"p": (0, 1, 3, 4), "q": (1, 2, 5)}


@pytest.mark.parametrize("of", ["player", "croupier"])
@pytest.mark.parametrize("void", [1, 2, 3])
def test_over_all_ways_to_share_out_what_is_void_of_the_one_a_pair_gains_nothing(of: str, void: int) -> None:
    # Of the coups of the player with whomever, or of the croupier with whomever, whatever is void of the others.
    dealt = "aaabbb"
    own = STAKED["p"] if of == "player" else (0, 1, 2)
    others = sorted(set(range(6)) - set(own))
    most = Fraction(0)
    for fixed in (way for number in range(len(others) + 1) for way in combinations(others, number)):
        found = [
            wealth("pair-voids", "p, a", evening(dealt, STAKED, (*fixed, *way))) for way in combinations(own, void)
        ]
        assert sum(found) <= len(found)
        most = max(most, *found)
    assert most > 1 or void != 2


def test_a_void_coup_is_the_next_of_who_dealt_it_or_the_last_and_counts_once() -> None:
    session = evening("aabb", {"p": range(4)}, ())
    session.void_calls = [VoidCall(1, "a"), VoidCall(5, "a"), VoidCall(2, "b"), VoidCall(99, "b"), VoidCall(3, "c")]
    fed = {(each.kind, each.subject): each for each in of_evening([session])}
    assert fed["croupier-voids", "a"].seen == {"calls": [Share(1, 2, 3, 4)], "luck": []}
    assert fed["croupier-voids", "b"].seen == {"calls": [Share(2, 2, 3, 4)], "luck": []}
    assert fed["croupier-voids", "b"].draws == 2
    # He staked in every coup of each: there is nobody to compare him with.
    assert not [kind for kind, _subject in fed if kind == "pair-voids"]


def test_what_would_have_been_paid_is_put_down_to_the_croupier_and_to_each_player() -> None:
    session = evening("ab", {"p": (0,)}, ())
    session.voided = [Observation(7, 4, LOST, "a", players={"p": LOST, "q": WON}), Observation(8, 4, None, "a")]
    fed = {(each.kind, each.subject): each.seen["luck"] for each in of_evening([session]) if "voids" in each.kind}
    assert fed == {
        ("croupier-voids", "a"): [LOST],
        ("pair-voids", "p, a"): [LOST],
        ("pair-voids", "q, a"): [WON],
    }


@pytest.mark.parametrize(("kind", "subject"), [("croupier-voids", "a"), ("pair-voids", "p, a")])
def test_over_all_pockets_of_a_void_spin_nobody_gains(kind: str, subject: str) -> None:
    total = Fraction(0)
    for change, ways in ((WON, 1), (LOST, 36)):
        session = evening("ab", {}, ())
        session.voided = [Observation(7, 4, change, "a", players={"p": change})]
        total += ways * wealth(kind, subject, session)
    assert 1 - Fraction(1, 2**50) < total / 37 <= 1


def named(night: Iterable[tuple[str, str]], chance: random.Random, rate: float) -> set[str]:
    """Return who is named in forty nights in which a voids what p is in, and others void nothing on purpose."""
    ledger, raised = Ledger(2026), set()
    pairs = list(night)
    for number in range(40):
        dealt = "".join(chance.choice("abcd") for _coup in range(120))
        staked = {player: [coup for coup in range(120) if chance.random() < 0.6] for player in "pqr"}
        void = [
            coup
            for coup in range(120)
            if chance.random() < 0.01
            or (chance.random() < rate and any(dealt[coup] == c and coup in staked[p] for p, c in pairs))
        ]
        for question in ledger.feed(of_evening([evening(dealt, staked, void)]), session=str(number)):
            if question.rule == "void-call-bias":
                raised.add(question.process.subject)
    return raised


def test_who_voids_for_a_friend_is_named_and_nobody_else() -> None:
    assert {"a", "p, a"} <= named([("p", "a")], random.Random(1), 0.08) <= {"a", "p, a"}


def test_whose_table_is_shaken_is_not_named_with_every_croupier() -> None:
    assert named([("p", croupier) for croupier in "abcd"], random.Random(2), 0.08) == set()
