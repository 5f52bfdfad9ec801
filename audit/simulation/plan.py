"""What a season plans for one table and one night, before anybody plays. A fraud may change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Guest(NamedTuple):
    """A player of an evening: a factor of the smallest stake, and what he buys at most, in minor units.

    One who does not play by himself stakes only where a fraud lets him.
    """

    name: str
    boldness: int
    budget: int
    plays: bool = True


@dataclass(slots=True, kw_only=True)
class Plan:
    """What is planned for one session. ``float_at_opening`` is in minor units; ``slips`` are used up already."""

    night: int
    code: str
    guests: list[Guest]
    croupiers: list[str]
    chief: str
    stickman: str
    wheel: str
    dice_sets: list[str]
    float_at_opening: int
    slips: int
    series: str = ""  # of its slips, before their numbers, where each night has one of its own
    passers: list[str] = field(default_factory=list)  # who may sit down later, where people come and go
