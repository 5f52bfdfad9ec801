"""Faults are bounded for each part, so that no flood hides what matters more."""

from __future__ import annotations

from audit.transparency.outcome import MAX_OF_A_PART, POWER, Fault, Outcome


def test_a_flood_hides_no_part_and_power_is_listed_first() -> None:
    outcome = Outcome()
    for number in range(1_046):
        outcome.add(Fault("finding", f"is forged ({number})"))
    outcome.add(Fault("head", "does not follow"))
    for part in reversed(POWER):
        outcome.add(Fault(part, "is forged"))
    listed = outcome.listed()
    assert [fault.part for fault in listed[: len(POWER)]] == list(POWER)
    assert [fault.part for fault in listed[len(POWER) :]] == ["finding"] * MAX_OF_A_PART + ["head"]
    assert outcome.unlisted == 1_046 - MAX_OF_A_PART
    assert outcome.counts == dict.fromkeys(POWER, 1) | {"finding": 1_046, "head": 1}
    assert len(outcome.listed(of_a_part=3)) == len(POWER) + 3 + 1


def test_every_altered_batch_is_known_however_many_there_are() -> None:
    """By these a finding of the sequencer is right or forged."""
    outcome = Outcome()
    for number in range(1, MAX_OF_A_PART + 50):
        outcome.add(Fault("batch", "is altered", "s", number))
    assert outcome.tampered == {("s", number) for number in range(1, MAX_OF_A_PART + 50)}
