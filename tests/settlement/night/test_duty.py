"""Who was on duty at a table: seconds by its clock, coups of whoever deals, and what an open session knows so far."""

from __future__ import annotations

from settlement import decode
from settlement.night.duty import Duty
from settlement.night.figures import SessionProjection, encode
from settlement.night.figures import decode as decode_figures
from settlement.persons.session import PersonsProjection
from tests.settlement.tapes import read


def duty_of(tape: str, projection: SessionProjection | None = None) -> dict[str, Duty] | None:
    projection = projection or SessionProjection()
    projection.feed([decode(line.raw) for line in read(tape)])
    return projection.figures().duty


RELIEVED = """
    fr-roulette staff staff=croupier,chef_de_table
    +9s land 17
    +10s assign p2 croupier
    +20s land 4
    +1s relieve p0 croupier
    +19s land 9
    +10s close 5000000
"""


def test_a_relief_ends_a_duty_and_a_close_ends_all() -> None:
    duty = duty_of(RELIEVED)
    assert duty == {"p0": Duty(2, 40), "p1": Duty(0, 69), "p2": Duty(2, 50)}


def test_it_is_the_same_beside_the_money_of_players_and_when_it_is_read_again() -> None:
    projection = PersonsProjection()
    assert duty_of(RELIEVED, projection) == duty_of(RELIEVED)
    assert decode_figures(encode(projection.figures())).duty == duty_of(RELIEVED)


def test_in_an_open_session_a_duty_lasts_to_the_last_result() -> None:
    assert duty_of(
        """
        fr-roulette staff staff=croupier
        +5s land 17
        +30s place w1 rouge 100
        """
    ) == {"p0": Duty(1, 5)}


def test_whoever_has_two_roles_is_on_duty_until_the_last_ends() -> None:
    assert duty_of(
        """
        fr-roulette staff staff=croupier
        +10s assign p0 chef_de_table
        +10s relieve p0 croupier
        +10s land 3
        +10s relieve p0 chef_de_table
        +10s close 5000000
        """
    ) == {"p0": Duty(0, 40)}


def test_a_clock_that_goes_back_takes_nothing_from_a_duty() -> None:
    duty = duty_of(
        """
        fr-roulette staff
        +60s assign p0 croupier   # at 61 s
        -30s relieve p0 croupier
        +1s close 5000000
        """
    )
    assert duty == {"p0": Duty(0, 0)}


def test_figures_without_luck_have_no_duty() -> None:
    assert duty_of(RELIEVED, SessionProjection(follows_luck=False)) is None
