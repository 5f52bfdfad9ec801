"""The budget of false questions: what level each process of a year has, and which are near it.

A casino accepts some number of false questions a year, one by default. Half of it is for equipment, half for persons;
in each half every kind has its weight (``kinds``). Of what a kind has, v, the first N subjects that appear in the year
have half, the same for each, N being how many are expected; the rest have the other half, in blocks that double. N is
what the casino says, else as many as the year before had, else so many a table (``expected_at_first``):

    subject   1 … N      N + 1 … 2N     2N + 1 … 4N     block k: the N · 2ᵏ⁻¹ subjects up to N · 2ᵏ
    level     v/(2N)     v/(4N)         v/(24N)         v/(2k(k + 1) · N · 2ᵏ⁻¹), as 1/(j log² j) falls

A block has v/(2k(k + 1)) in all, and 1/(k(k + 1)) adds up to 1: so the levels of a year add up to at most the budget,
however many subjects appear; by Ville's inequality the expected number of false questions is at most their sum,
whatever depends on what. A level is given before a draw of its subject is looked at, and never changed within the year.
No level of a person is above 1/100, however few are expected.

A process below its level may be *near the threshold*: e-BH on the e-values of now (R. Wang and A. Ramdas, *False
discovery rate control with e-values*, J. R. Statist. Soc. B 84, 2022). A running maximum is no e-value, and not used
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from settlement.eprocess.kinds import KINDS, Kind

HALF = Fraction(1, 2)
"""Of the budget: equipment, and persons."""

NEAR_RATE = Fraction(1, 10)
"""The false discovery rate of those near the threshold."""


MOST_FOR_A_PERSON = Fraction(1, 100)
"""The highest level of a process about a person."""

A_CASINO: Mapping[str, int] = MappingProxyType({"shift": 3, "count team": 10})
A_TABLE: Mapping[str, int] = MappingProxyType(
    {"wheel": 1, "table": 1, "croupier": 6, "closer": 3, "croupier, wheel": 12, "croupier, rule": 30}
)
OTHERS_A_TABLE = 50
"""How many subjects are expected in a year before any were counted: of a casino, of each table, of any other kind."""


def expected_at_first(tables: int) -> dict[str, int]:
    """Return how many subjects of each kind are expected of a casino with so many tables, before it has a year."""
    return {
        name: A_CASINO.get(kind.subject) or max(1, tables) * A_TABLE.get(kind.subject, OTHERS_A_TABLE)
        for name, kind in KINDS.items()
    }


AT_ONE_TABLE = expected_at_first(1)
"""What is expected where nobody has stated anything."""

SUBJECTS = frozenset(kind.subject for kind in KINDS.values())
"""Of what a casino may say how many it has."""

STATED = "stated "
"""Before a subject, beside the kinds: that is what the casino says, of every kind about it."""


def as_stated(expected: Mapping[str, int], stated: Mapping[str, int]) -> dict[str, int]:
    """Return what is expected where a casino says how many subjects there are; ``stated`` is by subject."""
    by_kind = {name: stated[kind.subject] for name, kind in KINDS.items() if kind.subject in stated}
    return {**expected, **by_kind, **{STATED + subject: number for subject, number in stated.items()}}


def stated_in(expected: Mapping[str, int]) -> dict[str, int]:
    """Return what the casino has said of what is expected, by subject."""
    return {key.removeprefix(STATED): number for key, number in expected.items() if key.startswith(STATED)}


def expected_after(expected: Mapping[str, int], ranks: Mapping[str, int]) -> dict[str, int]:
    """Return how many subjects of each kind a year expects, after one that expected some and had ``ranks``."""
    by_kind = {name: number for name, number in expected.items() if name in KINDS}
    return {**AT_ONE_TABLE, **by_kind, **ranks}


def allotted(budget: Fraction, kind: Kind) -> Fraction:
    """Return the part of a year's budget that all subjects of a kind have together."""
    return budget * HALF * kind.share


def level(budget: Fraction, kind: Kind, rank: int, expected: int) -> Fraction:
    """Return α of the subject of number ``rank``, from 1, of a kind of which ``expected`` subjects are, at least 1."""
    assert rank >= 1
    assert expected >= 1
    own = allotted(budget, kind) / 2
    if rank <= expected:
        alpha = own / expected
    else:
        block = ((rank - 1) // expected).bit_length()
        alpha = own / (block * (block + 1) * expected * 2 ** (block - 1))
    return alpha if kind.half == "equipment" else min(alpha, MOST_FOR_A_PERSON)


def near_threshold(e_values: Mapping[str, Fraction], rate: Fraction = NEAR_RATE) -> list[str]:
    """Return the names that e-BH selects at false discovery ``rate``, the largest e-value first.

    All up to the last k whose e-value is at least n / (k × rate), n being the number of names.
    """
    # The last k is at most n, so that nothing below 1 / rate is selected: most processes are not even put in order.
    least = 1 / rate
    likely = [name for name, value in e_values.items() if value >= least]
    ranked = sorted(likely, key=lambda name: (-e_values[name], name))
    last = 0
    for rank, name in enumerate(ranked, start=1):
        if e_values[name] * rank * rate >= len(e_values):
            last = rank
    return ranked[:last]
