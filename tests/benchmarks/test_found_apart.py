"""What is said of a season written apart: who is found by what, and who is named wrongly."""

from __future__ import annotations

import pytest

from benchmarks.found_apart import Raised, Reading, main, naming, read, report, wrongly
from benchmarks.seasons_apart import Planted, season
from settlement.eprocess.ledger import Ledger

PAIR = Planted("overpaid_friend", "pair", ("C01", "P001"), (), first=2, last=5, strength=1)
RUNNERS = Planted("pooled_runners", "team", ("P003", "P004"), (), first=0, last=5, strength=1)


def test_a_question_before_a_fraud_or_about_somebody_else_s_money_does_not_find_it() -> None:
    early = Raised(1, "concentration", "concentration", ("C01", "payout-overpaid"))
    money = Raised(3, "", "threshold-splitting", ("P001",))
    other = Raised(3, "player-luck", "player-luck", ("P002",))
    found = Raised(4, "pair-luck", "player-luck", ("P001", "C01"))
    reading = Reading(Ledger(2009), [early, money, other, found])
    assert naming(reading, PAIR) == [found]


def test_a_money_question_finds_a_fraud_with_money() -> None:
    pooled = Raised(3, "", "chips-pooled", ("P004", "P009"))
    assert naming(Reading(Ledger(2009), [pooled]), RUNNERS) == [pooled]


def test_named_wrongly_is_each_person_of_a_question_of_the_ledger_who_is_in_no_fraud() -> None:
    of_pair = Raised(4, "pair-luck", "player-luck", ("P001", "C02"))
    of_wheel = Raised(4, "croupier-displacement", "wheel-signature", ("C03", "W1"))
    money = Raised(4, "", "minimal-play", ("P005",))
    reading = Reading(Ledger(2009), [of_pair, of_wheel, money])
    assert wrongly(reading, [PAIR]) == {"C02": [of_pair], "C03": [of_wheel]}


@pytest.mark.faults
def test_a_loaded_set_is_found_and_its_season_is_read_once() -> None:
    one = season(2, nights=3, tables=4, frauds=["loaded_dice", "past_poster"])
    reading = read(one)
    loaded, poster = one.planted
    assert {each.rule for each in naming(reading, loaded)} == {"dice-fairness"}
    assert reading.events == sum(len(stream.events) for stream in one.streams if stream.table)
    lines = report(one, reading)
    deeds = [deed for deed in one.deeds if deed.cause == "past_poster"]
    assert deeds
    assert (
        f"{len(deeds)} acts, {len(deeds)} of them with an exact finding" in lines[1]
    )  # what is late is found, each time
    assert naming(reading, poster) == []
    assert "NOT FOUND; nearest" in lines[1]


def test_the_command_adds_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["found_apart", "--seeds", "1", "--nights", "1", "--tables", "3", "--frauds", "biased_pocket"]
    monkeypatch.setattr("sys.argv", args)
    main()
    out = capsys.readouterr().out
    assert out.startswith("seed 1: 1 nights at 3 tables, ")
    assert out.endswith("in all: 0 of 1 frauds named by a subject of theirs, 0 persons wrongly\n")
