"""Every edge against the published figures, and every value against the engine, all outcomes played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from settlement import Adjudication, adjudicate
from settlement.craps import POINT_NUMBERS
from settlement.layouts import SIMPLE_CHANCES
from settlement.night.chances import Priced, Readings
from settlement.night.craps import THROW_INDEX, THROWS, value_at_craps
from settlement.night.edges import commission_rate, edges
from settlement.night.roulette import (
    covered,
    layout_of,
    value_at_roulette,
    value_in_prison,
)
from settlement.rulesets import RULESETS
from tests.long_forms import in_short
from tests.settlement.night.simple_chance import edge_of_a_simple_chance
from tests.settlement.streams import event, opener

FACES = list(product(range(1, 7), repeat=2))

#  bet                      on            edge, the published ones
PUBLISHED = {
    "fr-craps": """
       win, come                          7/495
       dont_win, dont_come                27/1925
       field                              1/18
       big_6                    6         1/11
       big_8                    8         1/11
       under_7, over_7                    1/6
       hardway                  4 10      1/9
       hardway                  6 8       1/11
       seven, horn                        1/6
       eleven, any_craps                  1/9
       craps_2, craps_12                  5/36
       craps_3                            1/9
       win_odds, come_odds                4 5 6 8 9 10   0
       dont_win_odds, dont_come_odds      4 5 6 8 9 10   0
       right_bet                4 10      1/15
       right_bet                5 9       1/25
       right_bet                6 8       1/66
       wrong_bet                4 10      1/33
       wrong_bet                5 9       1/40
       wrong_bet                6 8       1/55
    """,
    "qc-craps": """
       right_bet                4 10      1/15
       right_bet                5 9       1/25
       right_bet                6 8       1/66
       buy_bet                  4 5 6 8 9 10   1/20
       lay_bet                  4 10      1/40
       lay_bet                  5 9       1/30
       lay_bet                  6 8       1/24
    """,
}


def published(ruleset: str) -> dict[Priced, Fraction]:
    table = {}
    for line in PUBLISHED[ruleset].strip().splitlines():
        *words, edge = line.replace(",", " ").split()
        numbers = [int(word) for word in words if word.isdigit()] or [None]
        bets = [word for word in words if not word.isdigit()]
        table |= {Priced(bet, number): Fraction(edge) for bet in bets for number in numbers}
    return table


@pytest.mark.parametrize("ruleset", PUBLISHED)
def test_craps_has_the_published_edges_and_no_bet_without_one(ruleset: str) -> None:
    found = edges(Readings(ruleset))
    assert found == published(ruleset)
    assert {priced.bet for priced in found} == set(RULESETS[ruleset].kinds)


@pytest.mark.parametrize(
    ("ruleset", "zero_rule", "multiple", "simple"),
    [
        ("fr-roulette", "choice", "1/37", "1/74"),
        ("fr-roulette", "half", "1/37", "1/74"),
        ("fr-roulette", "lose", "1/37", "1/37"),
        ("fr-american-roulette", "lose", "1/19", "1/19"),
        ("fr-american-roulette", "half", "1/19", "1/38"),
        ("fr-american-roulette", "choice", "1/19", "1/38"),
    ],
)
def test_roulette_has_the_published_edges(ruleset: str, zero_rule: str, multiple: str, simple: str) -> None:
    found = edges(Readings(ruleset, zero_rule=zero_rule))
    assert {priced.bet for priced in found} == set(RULESETS[ruleset].kinds)
    for priced, edge in found.items():
        assert edge == Fraction(simple if priced.bet in SIMPLE_CHANCES else multiple), priced


@pytest.mark.parametrize(
    ("ruleset", "release", "half", "prison"),
    [
        ("fr-roulette", "halving", "1/74", "1/73"),
        ("fr-roulette", "full", "1/74", "1/74"),
        ("fr-american-roulette", "halving", "1/38", "1/37"),
        ("fr-american-roulette", "full", "1/38", "1/38"),
    ],
)
def test_each_answer_to_zero_has_its_price(ruleset: str, release: str, half: str, prison: str) -> None:
    readings = Readings(ruleset, zero_rule="choice", release_value=release)
    assert edge_of_a_simple_chance(readings, "half") == Fraction(half)
    assert edge_of_a_simple_chance(readings, "prison") == Fraction(prison)


def test_a_commission_is_five_per_cent_of_what_the_section_says() -> None:
    assert commission_rate("qc-craps", "buy_bet", 6) == Fraction(5, 100)
    assert commission_rate("qc-craps", "lay_bet", 6) == Fraction(5, 100) * Fraction(5, 6)
    assert commission_rate("qc-craps", "lay_bet", 4) == Fraction(5, 100) * Fraction(1, 2)
    assert commission_rate("qc-craps", "right_bet", 6) == commission_rate("fr-craps", "win", None) == 0


def test_the_classes_of_throws_are_the_thirty_six_throws() -> None:
    assert sum(throw.ways for throw in THROWS) == 36
    assert len(THROW_INDEX) == 36
    for first, second in FACES:
        throw = THROWS[THROW_INDEX[f"{first}-{second}"]]
        assert (throw.total, throw.double) == (first + second, first == second)


# Against the engine: every outcome played through ``adjudicate``.

STAKES = {1: (26_400, 700, 1), 5: (1_999,), 100: (137,)}
"""Stakes by payout unit: what divides by everything, what divides by little, and what pays next to nothing."""


def played(ruleset: str, *events: tuple[str, dict[str, Any]], **params: Any) -> Adjudication:
    lines = [opener("s", ruleset, params=params)]
    lines += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(events, start=2)]
    return adjudicate(lines)


def thrown(total: int) -> tuple[str, dict[str, Any]]:
    faces = next(faces for faces in FACES if sum(faces) == total)
    return "dice.thrown", {"faces": list(faces)}


def placed(bet: str, stake: int, number: int | None = None, **data: Any) -> tuple[str, dict[str, Any]]:
    if number is not None:
        data["number"] = number
    return "wager.placed", {"wager": "w", "bet": bet, "stake": stake} | data


def on_the_table(
    ruleset: str, bet: str, number: int | None, stakes: Mapping[str, int]
) -> list[tuple[str, dict[str, Any]]]:
    """Return the events after which wagers stand on ``number``, or in the box, and play at the next throw."""

    def each(bet: str, number: int | None = None, *, prefix: str = "", **data: Any) -> list[tuple[str, dict[str, Any]]]:
        return [placed(bet, stake, number, wager=prefix + wager, **data) for wager, stake in stakes.items()]

    if bet.endswith("_odds"):
        base = bet.removesuffix("_odds")
        come = [thrown(8 if number != 8 else 6)] if base.endswith("come") else []
        odds = [placed(bet, stake, wager=wager, base=f"base-{wager}") for wager, stake in stakes.items()]
        return [*come, *each(base, prefix="base-"), thrown(number or 0), *odds]
    if bet in ("win", "dont_win"):
        return [*each(bet), *([thrown(number)] if number else [])]
    if bet in ("come", "dont_come"):
        return [thrown(8 if number != 8 else 6), *each(bet), *([thrown(number)] if number else [])]
    named = None if bet.startswith("big") else number
    if ruleset == "qc-craps":
        marked = {} if bet == "right_bet" else {"marker": bet.removesuffix("_bet")}
        return [thrown(6), *each(bet, named, commission=1, **marked)]
    return each(bet, named)


STATES = [
    (ruleset, bet, number)
    for ruleset in ("fr-craps", "qc-craps")
    for bet in RULESETS[ruleset].kinds
    for number in (
        (None, *POINT_NUMBERS)
        if bet in ("win", "dont_win", "come", "dont_come")
        else RULESETS[ruleset].kinds[bet].numbers or (None,)
    )
]


FIRST = list({(ruleset, bet): (ruleset, bet, number) for ruleset, bet, number in reversed(STATES)}.values())
"""Of each bet the first state. Of the others the short form has every fourth."""


@pytest.mark.parametrize(
    ("ruleset", "bet", "number"), [*FIRST, *in_short([each for each in STATES if each not in FIRST], every=4)]
)
def test_a_stake_at_craps_is_worth_what_the_next_throw_makes_of_it(ruleset: str, bet: str, number: int | None) -> None:
    for unit, amounts in STAKES.items():
        readings = Readings(ruleset, unit)
        stakes = {f"w{stake}": stake for stake in amounts}
        after = dict.fromkeys(stakes, Fraction(0))
        before = on_the_table(ruleset, bet, number, stakes)
        for faces in FACES:
            wagers = played(ruleset, *before, ("dice.thrown", {"faces": list(faces)}), payout_unit=unit).wagers
            for name, stake in stakes.items():
                wager = wagers[name]
                if wager.status == "open":
                    travels = bet in ("win", "dont_win", "come", "dont_come") and number is None and sum(faces) != 12
                    after[name] += value_at_craps(readings, bet, sum(faces) if travels else number, stake)
                else:
                    assert wager.status in ("won", "lost")
                    after[name] += wager.winnings_due + wager.stake_due
        for name, stake in stakes.items():
            assert value_at_craps(readings, bet, number, stake) == after[name] / 36, (stake, unit)


def shapes(ruleset: str) -> list[tuple[str, dict[str, Any], int]]:
    """Return one wager for every bet and number of pockets, as it is placed."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for bet, legal in layout_of(ruleset).shapes.items():
        for numbers in legal.values():
            found[bet, len(numbers)] = {"numbers": list(numbers)}
    for bet in ("douzaine", "colonne", "deux_douzaines", "deux_colonnes"):
        which = (2, 3) if bet.startswith("deux") else (2,)
        found[bet, len(covered(ruleset, bet, (), which))] = {"which": list(which)}
    for bet in SIMPLE_CHANCES:
        found[bet, 18] = {}
    return [(bet, data, ways) for (bet, ways), data in found.items()]


ZEROS = [
    ("fr-roulette", "choice", "halving"),
    ("fr-roulette", "choice", "full"),
    ("fr-american-roulette", "choice", "halving"),
    ("fr-american-roulette", "choice", "full"),
    ("fr-american-roulette", "half", "halving"),
    ("fr-american-roulette", "lose", "halving"),
]


@pytest.mark.parametrize(("ruleset", "zero_rule", "release"), ZEROS)
def test_a_stake_at_roulette_is_worth_what_the_next_pocket_makes_of_it(
    ruleset: str, zero_rule: str, release: str
) -> None:
    wheel = layout_of(ruleset).wheel
    for unit, stakes in STAKES.items():
        readings = Readings(ruleset, unit, zero_rule, release)
        params = {"payout_unit": unit, "zero_rule": zero_rule, "release_value": release}
        every = {f"w{number}": each for number, each in enumerate(product(shapes(ruleset), stakes))}
        after = Counter[str]()
        for pocket in wheel:
            events = [placed(bet, stake, wager=wager, **data) for wager, ((bet, data, _ways), stake) in every.items()]
            events.append(("ball.settled", {"pocket": pocket}))
            events += [("zero.decided", {"wager": wager, "choice": "half"}) for wager in every]
            for name, wager in played(ruleset, *events, **params).wagers.items():
                assert wager.status in ("won", "lost", "refunded_half")
                after[name] += wager.winnings_due + wager.stake_due
        for name, ((bet, _data, ways), stake) in every.items():
            value = value_at_roulette(readings, bet, ways, stake)
            assert value == Fraction(after[name], len(wheel)), (bet, stake, unit)


@pytest.mark.parametrize("ruleset", ["fr-roulette", "fr-american-roulette"])
@pytest.mark.parametrize("release", ["halving", "full"])
@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_a_prisoner_is_worth_what_the_next_pocket_makes_of_it(ruleset: str, release: str, zeros: int) -> None:
    wheel = layout_of(ruleset).wheel
    for stake, unit in ((stake, unit) for unit, stakes in STAKES.items() for stake in stakes):
        into_prison = [("ball.settled", {"pocket": "0"}), ("zero.decided", {"wager": "w", "choice": "prison"})] * zeros
        after = 0
        for pocket in wheel:
            half = ("zero.decided", {"wager": "w", "choice": "half"})
            events = [placed("noir", stake), *into_prison, ("ball.settled", {"pocket": pocket}), half]
            params = {"payout_unit": unit, "zero_rule": "choice", "release_value": release}
            wager = played(ruleset, *events, **params).wagers["w"]
            assert wager.status in ("released", "lost", "refunded_half")
            after += wager.stake_due
        readings = Readings(ruleset, unit, "choice", release)
        assert value_in_prison(readings, 18, stake, zeros) == Fraction(after, len(wheel)), (stake, unit)
