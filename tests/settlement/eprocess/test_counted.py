"""A count is compared with one of its table without the person, each once; over all exchanges nothing is gained."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from settlement.eprocess.bets import DriftBets, LesserBets, Share
from settlement.eprocess.channels import of_variance
from settlement.eprocess.counted import Counted, others_of, varied
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.process import UNIT, Process

KIND = "closer-drift"


def compared(closers: str) -> list[int | None]:
    """Return with which earlier count of a table each one of closer b is compared, by its index."""
    counts = [Counted(index, "" if closer == "-" else closer, ()) for index, closer in enumerate(closers)]
    return [
        others_of(counts[:index], counts[index])[KIND].get("b") for index, closer in enumerate(closers) if closer == "b"
    ]


@pytest.mark.parametrize(
    ("closers", "expected"),
    [
        ("aabbb", [1, 0, None]),
        ("acbab", [1, 3]),
        ("b", [None]),
        ("bba", [None, None]),
        ("abbab", [0, None, 3]),
        ("babb", [None, 1, None]),
        ("ca--b", [1]),
    ],
)
def test_a_run_of_counts_is_compared_with_the_run_before_it_from_the_middle_outwards(
    closers: str, expected: list[int | None]
) -> None:
    assert compared(closers) == expected


@pytest.mark.parametrize("length", range(1, 8))
def test_no_count_is_in_two_comparisons_of_a_person(length: int) -> None:
    for closers in product("ab-", repeat=length):
        found = [other for other in compared("".join(closers)) if other is not None]
        assert len(found) == len(set(found))
        assert all(closers[other] == "a" for other in found)


def test_everybody_who_dealt_is_compared_with_a_count_where_he_did_not() -> None:
    before = [Counted(5, "x", ("a", "c")), Counted(7, "x", ("b", "c"))]
    assert others_of(before, Counted(9, "y", ("a", "b", "c", "d"))) == {
        KIND: {"y": 7},
        "duty-drift": {"a": 7, "d": 7},  # b dealt the last one, and no second one before it is left; c dealt all
    }


def test_a_variance_is_seen_alone_and_compared() -> None:
    [(kind, person, seen)] = varied(-30, {KIND: {"b": 20}})
    assert (kind, person) == (KIND, "b")
    assert seen == {"variance": ([-30], [-50]), "below": ([Share(1, 1, 1, 2)], [Share(1, 1, 1, 2)])}
    [(_kind, _person, seen)] = varied(0, {KIND: {"b": 20}})
    assert seen["below"] == ([], [Share(1, 1, 1, 2)])
    [(_kind, _person, seen)] = varied(20, {KIND: {"b": 20}})
    assert seen["below"] == ([Share(0, 1, 1, 2)], [])


def wealth(counts: list[tuple[int, int]]) -> Fraction:
    process = Process(KIND, "b")
    for variance, other in counts:
        for fed in of_variance("", "", "", variance, {KIND: {"b": other}}):
            process.feed(KINDS[KIND].mixture(0), fed.seen, draws=1, session="")
    return Fraction(process.evidence, UNIT)


@pytest.mark.parametrize("pairs", [[(-90, -10)], [(-90, 0), (-40, -3)], [(-100, 5), (-100, 0), (7, -250)]])
def test_over_all_exchanges_within_the_comparisons_nothing_is_gained_whatever_is_missing(
    pairs: list[tuple[int, int]],
) -> None:
    # Something is missing of the table on average: the first null does not hold.
    ways = list(product((1, -1), repeat=len(pairs)))
    found = [wealth([pair[::way] for pair, way in zip(pairs, each, strict=True)]) for each in ways]
    assert sum(found) <= len(ways)
    assert max(found) > 1


@pytest.mark.parametrize("amounts", [[90], [40, 90], [100, 3, 60]])
def test_over_all_signs_of_what_is_counted_nothing_is_gained_whatever_the_others_have(amounts: list[int]) -> None:
    # The others always count more: the second null does not hold.
    signs = list(product((1, -1), repeat=len(amounts)))
    found = [wealth([(sign * each, 500) for sign, each in zip(way, amounts, strict=True)]) for way in signs]
    assert sum(found) <= len(signs)


def test_the_lesser_of_two_that_learn_keeps_both_memories() -> None:
    bets = LesserBets(DriftBets(1, (1,), 100), DriftBets(1, (1,), 100))
    memory = [0] * bets.memory_cells
    bets.settle([UNIT], memory, ([60, 20], [-10]))
    assert memory == [80, 2, 10, 1]


def season(short: dict[str, int], chance: random.Random) -> set[str]:
    """Return who is named in sixty nights of four tables, whose counts err; ``short`` is what who closes takes."""
    ledger, counts, raised = Ledger(2026), {table: [] for table in range(4)}, set()
    for night in range(60):
        closers = chance.sample("abcdefgh", 4)
        dealers = chance.sample("ABCDEFGHIJKLMNOP", 12)
        for table, closer in enumerate(closers):
            dealt = tuple(sorted(dealers[3 * table : 3 * table + 3]))
            taken = short.get(closer, 0) + sum(short.get(each, 0) for each in dealt)
            own = Counted(round(chance.gauss(0, 2_000)) - taken, closer, dealt)
            batches = of_variance(f"T{table}", "", "", own.variance, others_of(counts[table], own))
            counts[table].append(own)
            raised |= {question.process.subject for question in ledger.feed(batches, session=str(night))}
    return {subject for subject in raised if len(subject) == 1}


def test_whoever_takes_from_the_racks_he_closes_or_deals_at_is_named_alone() -> None:
    assert season({"c": 10_000}, random.Random(5)) == {"c"}
    assert season({"K": 10_000}, random.Random(5)) == {"K"}
    assert season({}, random.Random(5)) == set()


def test_nobody_is_named_where_all_tables_are_short() -> None:
    everybody = dict.fromkeys("abcdefgh", 5_000)
    assert season(everybody, random.Random(6)) == set()
