"""What a fraud shows at most: the oracle's likelihood ratio, and the best gambler of a process."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isclose, log

import pytest

from benchmarks import bounds
from benchmarks.found_apart import main
from benchmarks.seasons_apart import Planted
from settlement.eprocess.bets import Change, Share
from settlement.eprocess.channels import Fed
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import Observation, Observations


def planted(fraud: str, *subject: str, accomplices: tuple[str, ...] = (), strength: float = 1) -> Planted:
    return Planted(fraud, "", subject, accomplices, 0, 9, strength)


@pytest.mark.parametrize("fraud", ["dice_slider", "set_sevens", "switched_dice"])
@pytest.mark.parametrize("face", [0, 5])
def test_the_chances_of_all_throws_add_up_to_one(fraud: str, face: int) -> None:
    chances = [bounds.chance_of(planted(fraud, "P", strength=1.5), face, throw) for throw in range(36)]
    assert isclose(sum(chances), 1)
    assert max(chances) > 1 / 36 > min(chances)


@pytest.mark.parametrize("centre", [0, 20, 36])
def test_the_chances_of_all_pockets_add_up_to_one(centre: int) -> None:
    team = planted("wheel_team", "P", strength=1.5)
    odds = [exp(bounds.of_sector(team, [(pocket, 37)], centre)) for pocket in range(37)]
    assert isclose(sum(odds), 37)
    assert sum(each > 1 for each in odds) == 9
    assert odds[centre] > 1


def test_spins_are_those_on_which_a_subject_staked_at_the_wheel_or_by_the_croupier() -> None:
    even = Change(1, -36, 1)
    drawn = [Observation(seq, seq, None, croupier, players={player: even}) for seq, croupier, player in (
        (1, "C", "P"), (2, "D", "P"), (3, "C", "Q"),
    )]  # fmt: skip
    sessions = [Observations("s", "T", wheel, 37, drawn) for wheel in ("W", "V")]
    assert list(bounds.spins_of(planted("wheel_team", "P", accomplices=("W",)), sessions)) == [(1, 37), (2, 37)]
    assert list(bounds.spins_of(planted("steered_ball", "C", "P"), sessions)) == [(1, 37), (1, 37)]


def test_deeds_show_no_more_than_how_much_oftener_they_are_than_by_chance() -> None:
    assert bounds.of_deeds(0, 40) == bounds.of_deeds(7, 1) == 0
    assert 0 < bounds.of_deeds(7, 40) < 7 * log(40)


def test_the_best_gambler_has_all_from_the_first_night_on_and_keeps_what_he_had() -> None:
    marked, honest = Share(1, 1, 1, 3), Share(0, 1, 1, 3)
    nights = [marked, marked, marked, honest, marked]
    fed = [(night, Fed("concentration", "C, rule", 0, {"marks": [share]}, 1)) for night, share in enumerate(nights)]
    ledger = Ledger(2009)
    for _night, each in fed:
        ledger.feed([each], session="s")
    best, level, name = bounds.best_of(ledger, fed, planted("goodwill_friend", "C", "P"))
    assert isclose(best, 3 * log(3 * 32 / 34))
    assert isclose(level, log(1 / Fraction(ledger.processes[name].alpha)))
    assert name == "concentration: C, rule"
    assert bounds.best_of(ledger, fed, planted("goodwill_friend", "D", "P")) == (0, 0, "no process")


def test_against_two_nulls_the_best_gambler_has_what_is_less() -> None:
    sure, no_news = [Share(1, 1, 1, 2)], [Share(1, 1, 1, 1)]
    seen = [Fed("duty-drift", "C", 0, {"below": both}, 1) for both in ((sure, sure), (sure, no_news))]
    assert [bounds.most_of([each]) > 0.6 for each in seen] == [True, False]


def test_the_command_prints_the_bound_of_who_was_not_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["--seeds", "1", "--nights", "1", "--tables", "3", "--frauds", "set_sevens", "biased_pocket", "--bound"]
    monkeypatch.setattr("sys.argv", ["found_apart", *args])
    main()
    lines = capsys.readouterr().out.splitlines()
    [sevens, pocket] = [lines[at + 1] for at, line in enumerate(lines) if "NOT FOUND" in line]
    assert " deeds; oracle " in sevens
    assert " deeds; oracle unknown; best " in pocket
