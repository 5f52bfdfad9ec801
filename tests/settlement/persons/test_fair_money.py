"""The clean nights by which the rate of money questions is stated: their money adds up, and nobody cheats."""

from __future__ import annotations

from datetime import date, timedelta

from benchmarks.fair_money import QUESTIONS, FairCasino, questions_of_money
from settlement.persons.exchanges import NOBODY

FIRST = date(2026, 1, 1)


def test_nobody_of_a_casino_that_names_everybody_has_less_than_no_chips_but_who_shared() -> None:
    casino = FairCasino(0)
    days = [casino.night(FIRST + timedelta(days=number)) for number in range(3)]
    for day in days:
        assert day.shows_all_play
        assert NOBODY not in day.persons
        assert 100 < len(day.persons) < 500
        # What is left over is what somebody took home, less what others brought back.
        assert abs(day.chips_outstanding) < 2_000_000
    bought = sum(person.total_bought for day in days for person in day.persons.values())
    cashed = sum(person.total_cashed for day in days for person in day.persons.values())
    assert 0.5 < cashed / bought < 1.2
    assert any(person.total_cashed > person.total_bought == 0 for day in days for person in day.persons.values())


def test_every_other_casino_has_stakes_and_exchanges_of_nobody() -> None:
    day = FairCasino(250).night(FIRST)
    assert day.persons[NOBODY].exchanges
    assert day.unnamed_stakes


def test_the_table_has_every_question_and_the_same_nights_give_the_same() -> None:
    lines, a_week = questions_of_money(2)
    assert (lines, a_week) == questions_of_money(2)
    assert all(any(f"`{rule}`" in line for line in lines) for rule in QUESTIONS)
