"""La boule: what each number decides, and the tapes of art. 45 and 46. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

from fractions import Fraction

import pytest

from settlement import adjudicate, coverage, decode
from settlement.engine import State
from settlement.eprocess.channels import of_session
from settlement.eprocess.observations import Recorder
from settlement.fr.art_46_boule import KINDS
from settlement.fr.boule_texts import ART_45, ART_46
from settlement.night.chances import Priced, Readings
from settlement.night.edges import edges
from tests.settlement.tapes import play, read

#  number   plein on 5   rouge   noir   pair   impair   passe   manque
NUMBERS = """
   1        lost         won     lost   lost   won      lost    won
   2        lost         lost    won    won    lost     lost    won
   3        lost         won     lost   lost   won      lost    won
   4        lost         lost    won    won    lost     lost    won
   5        won          lost    lost   lost   lost     lost    lost
   6        lost         won     lost   won    lost     won     lost
   7        lost         lost    won    lost   won      won     lost
   8        lost         won     lost   won    lost     won     lost
   9        lost         lost    won    lost   won      won     lost
"""


@pytest.mark.parametrize("row", NUMBERS.strip().splitlines(), ids=str.strip)
def test_a_number_decides_every_bet(row: str) -> None:
    number, *expected = row.split()
    placed = "\n".join(f"place {bet} {bet} 1000" + (" number=5" if bet == "plein" else "") for bet in KINDS)
    answer = adjudicate([line.raw for line in read(f"fr-boule\n{placed}\nroll {number}")])
    assert [wager.status for wager in answer.wagers.values()] == expected
    due = {bet: wager.winnings_due for bet, wager in answer.wagers.items() if wager.status == "won"}
    assert due == {bet: 7000 if bet == "plein" else 1000 for bet in due}


TURNS = "\n".join(f"        roll {1 + number % 9} person=p0" for number in range(29))

TAPES = {
    "art. 46: a plein pays seven times, a simple chance once, and the 5 takes every simple chance": """
        fr-boule calls collections
        place w1 plein 1000 number=5
        place w2 rouge 1000
        place w3 noir 1000
        place w4 pair 1000
        place w5 impair 1000
        place w6 passe 1000
        place w7 manque 1000
        call
        roll 5 person=p0             => w1:won w2:lost w3:lost w4:lost w5:lost w6:lost w7:lost
        sweep w2 w3 w4 w5 w6 w7
        pay w1 7000+1000
        place w8 impair 1000
        call
        roll 7 person=p0             => w8:won
        pay w8 1000+1000
    """,
    "art. 46: a plein lies on one of the nine numbers": """
        fr-boule
        place w1 plein 1000 number=9     ? boule-stake-number-invalid
        place w2 plein 1000 number=10    ! boule-stake-number-invalid:w2
        place w3 plein 1000 number=0     ! boule-stake-number-invalid:w3
        place w4 plein 1000              ! boule-stake-number-invalid:w4
        place w5 cheval 1000             ! wager-not-permitted:w5
        roll 9                           => w1:won w2:void w3:void w4:void
        pay w1 7000+1000
    """,
    "art. 46: a number that the apparatus does not have decides nothing": """
        fr-boule calls
        place w1 rouge 1000
        call
        roll 10                      => w1:open ! boule-number-invalid:-
        call
        roll 0                       => w1:open ! boule-number-invalid
        call
        roll 1                       => w1:won ? boule-number-invalid
        pay w1 1000+1000
    """,
    "what was paid on a number that there is not follows from it": """
        fr-boule
        place w1 rouge 1000
        roll 10                      ! boule-number-invalid
        pay w1 1000+1000             ! push-paid
        roll 2
    """,
    "by analogy with art. 57-1 al. 6: the call comes before the ball is at rest, and no stake after it": """
        fr-boule calls
        place w1 rouge 1000
        roll 2                       ! boule-settled-before-call:-
        call
        place w2 noir 1000           ! wager-after-no-more-bets:w2
        roll 2                       ? boule-settled-before-call
    """,
    "a table that does not see the call cannot miss it": """
        fr-boule
        place w1 rouge 1000
        roll 2                       ? boule-settled-before-call
    """,
    "art. 45 al. 2: one employee throws the whole session, with a colleague at the table": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        roll 1 person=p0
        close                        ! thrower-not-rotated:-
    """,
    "art. 45 al. 2: another had a turn": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        roll 1 person=p0
        roll 1 person=p1
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: fewer throws prove nothing": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: nobody else was there who has to throw": f"""
        fr-boule staff staff=croupier,chef_de_partie
{TURNS}
        roll 1 person=p0
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: only throws with a colleague at the table count": f"""
        fr-boule staff staff=croupier
        roll 1 person=p0
        roll 2 person=p0
        assign p1 employe
{TURNS}
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: a thrower whom nobody named may have been another": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        roll 1 person=p0
        roll 1
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: a table that does not see its staff knows of no colleague": f"""
        fr-boule staff=croupier,employe
{TURNS}
        roll 1 person=p0
        close                        ? thrower-not-rotated
    """,
    "art. 45 al. 2: what was lost may hold the throw of another": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        roll 1 person=p0
        lost 40                      ! events-lost
        roll 1 person=p0
        close                        ? thrower-not-rotated
    """,
    "a throw that is void is undone, and with it its turn": f"""
        fr-boule staff staff=croupier,employe
{TURNS}
        roll 1 person=p1
        unroll foreign_object voids=31
        roll 1 person=p0
        close                        ! thrower-not-rotated:-
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


def test_a_result_that_is_void_decides_nothing_and_the_coup_goes_on() -> None:
    found = play("""
        fr-boule
        place w1 rouge 1000
        roll 2                       => w1:open
        unroll foreign_object voids=3    ! entry-annulled
        roll 1                       => w1:won
        pay w1 1000+1000
    """)
    assert [each.rule for each in found] == ["entry-annulled"]


def test_the_finding_names_the_thrower_and_its_remedy_who_is_asked() -> None:
    (found,) = play(TAPES["art. 45 al. 2: one employee throws the whole session, with a colleague at the table"])
    assert (found.croupier, found.recorded, found.provision) == ("p0", 30, "art. 45 al. 2")
    assert found.remedy("fr").startswith("Demander au chef de partie l’ordre de roulement")
    assert found.remedy("fr").endswith("à la place de p0.")


def test_every_bet_has_an_edge_of_one_ninth() -> None:
    pleins = [Priced("plein", number) for number in range(1, 10)]
    simple = [Priced(bet) for bet in KINDS if bet != "plein"]
    assert edges(Readings("fr-boule")) == dict.fromkeys([*pleins, *simple], Fraction(1, 9))


def test_luck_is_what_the_ball_adds_to_the_edge() -> None:
    recorder, state = Recorder(), State()
    lines = read("fr-boule\nplace w1 plein 900 number=5\nplace w2 rouge 900\nroll 5")
    state.feed_all([decode(line.raw) for line in lines], recorder.interceptors(state))
    # The house takes 900 and pays 6300: it loses 5400, where it could expect to win 200.
    assert (len(recorder.observations.drawn), recorder.luck) == (1, Fraction(-5600))


def test_the_apparatus_is_tested_as_a_wheel_of_nine() -> None:
    recorder, state = Recorder(), State()
    lines = read("fr-boule wheel=B1\nroll 1\nroll 2\nroll 10\nroll 5")
    state.feed_all([decode(line.raw) for line in lines], recorder.interceptors(state))
    assert [each.result for each in recorder.observations.drawn] == [0, 1, 4]
    fed = {each.kind: each for each in of_session(recorder.observations)}
    assert {"wheel", "wheel-displacement", "wheel-memory"} <= fed.keys()
    assert (fed["wheel"].subject, fed["wheel"].variant, fed["wheel"].draws) == ("B1", 9, 3)
    assert fed["wheel"].seen == {"pocket": [1, 1, 0, 0, 1, 0, 0, 0, 0]}


def test_the_sentences_of_both_articles_are_accounted_for() -> None:
    for text in (ART_45, ART_46):
        own = [each for each in coverage("fr-boule") if each["text"] == text.id]
        assert "".join(text.content[each["start"] : each["end"]] for each in own) == text.content
