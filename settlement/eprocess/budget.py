"""The budget of false questions: what level each process of a year has, and which are only watched.

A casino accepts some number of false questions a year, one by default. Half of it is for equipment, half for persons;
in each half every kind has its weight (``kinds``), and the j-th subject of a kind that appears in the year gets the
share 1/(j(j + 1)) of that. The shares of all j add up to 1, so the levels of a year add up to at most the budget,
however many subjects appear; by Ville's inequality the expected number of false questions is at most their sum,
whatever depends on what. A level is given before a draw of its subject is looked at, and never changed within the year.

Below its level a process may be on the *watch list*: e-BH on the e-values of now (R. Wang and A. Ramdas, *False
discovery rate control with e-values*, J. R. Statist. Soc. B 84, 2022). A running maximum is no e-value, and not used
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

HALF = Fraction(1, 2)
"""Of the budget: equipment, and persons."""

WATCHED = Fraction(1, 10)
"""The false discovery rate of the watch list."""


def level(budget: Fraction, weight: Fraction, rank: int) -> Fraction:
    """Return α of the subject of number ``rank``, from 1, of a kind that has ``weight`` in its half."""
    assert rank >= 1
    return budget * HALF * weight / (rank * (rank + 1))


def watch_list(e_values: Mapping[str, Fraction], rate: Fraction = WATCHED) -> list[str]:
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
