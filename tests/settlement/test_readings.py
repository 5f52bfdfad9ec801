"""Every gap of the texts is listed with its reason, in both languages."""

from __future__ import annotations

import pytest

from settlement.catalogue.rule import RULESET_NAMES
from settlement.provisions import PROVISIONS
from settlement.readings import READINGS, Reading

# The parameters of the event contract, and their defaults.
PARAMETERS = """
    payout_unit                        1
    commission_rounding                ceil
    commission_refunded_on_withdrawal  false
    zero_rule                          choice at fr-roulette, lose at fr-american-roulette
    release_value                      halving
    call_tolerance_ms                  500
    commission_unit                    1
    throw_delay_s                      10
    seat_limit                         7, 14
    result_slip_s                      10
    maximum                            none
"""


def default_of(reading: Reading) -> str:
    if isinstance(reading.default, str):
        return reading.default
    assert reading.default is not None
    return ", ".join(f"{value} at {ruleset}" for ruleset, value in reading.default.items())


def test_the_parameters_are_those_of_the_event_contract() -> None:
    expected = dict(line.strip().split(maxsplit=1) for line in PARAMETERS.strip().splitlines())
    assert {r.name: default_of(r) for r in READINGS.values() if r.values is not None} == expected


@pytest.mark.parametrize("reading", READINGS.values(), ids=lambda reading: reading.name)
def test_a_reading_names_the_text_it_reads_and_says_why(reading: Reading) -> None:
    assert reading.leaves_open
    assert all(label in PROVISIONS for label in reading.leaves_open)
    assert set(reading.rulesets) <= set(RULESET_NAMES)
    for wording in (reading.decision, reading.reason):
        assert wording.en.strip()
        assert wording.fr.strip()
        assert wording.en != wording.fr
        assert "'" not in wording.fr
        assert "^" not in wording.en + wording.fr, "an officer reads it: words, no formula"
    assert (reading.values is None) == (reading.default is None)
