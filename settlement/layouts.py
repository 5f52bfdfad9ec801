"""The two roulettes: their wheels, their layouts, and every legal shape of a stake on them.

37 pockets, art. 54            38 pockets, art. 57-1
        0                            0      00
 1      2      3                1      2      3
 4      5      6                4      5      6
        …                              …
34     35     36               34     35     36
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

Pockets: TypeAlias = tuple[str, ...]

WHEEL_37 = tuple(
    "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26".split()
)
WHEEL_38 = tuple(
    "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2".split()
)

NUMBERS = tuple(str(number) for number in range(1, 37))
RED = frozenset("1 3 5 7 9 12 14 16 18 19 21 23 25 27 30 32 34 36".split())

MULTIPLE_CHANCES = (
    "plein",
    "cheval",
    "transversale",
    "carre",
    "sixain",
    "douzaine",
    "colonne",
    "deux_douzaines",
    "deux_colonnes",
)
"""Art. 54 A; their odds are in ``fr.art_54_roulette``."""

SIMPLE_CHANCES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "pair": frozenset(n for n in NUMBERS if int(n) % 2 == 0),
        "impair": frozenset(n for n in NUMBERS if int(n) % 2 == 1),
        "manque": frozenset(n for n in NUMBERS if int(n) <= 18),
        "passe": frozenset(n for n in NUMBERS if int(n) >= 19),
        "rouge": RED,
        "noir": frozenset(NUMBERS) - RED,
    }
)

DOZENS = tuple(frozenset(str(n) for n in range(first, first + 12)) for first in (1, 13, 25))
COLUMNS = tuple(frozenset(str(n) for n in range(first, 37, 3)) for first in (1, 2, 3))


@lru_cache(maxsize=64)
def winning_chances(pocket: str) -> frozenset[str]:
    """Return the simple chances that win on ``pocket``: none on a zero."""
    return frozenset(chance for chance, pockets in SIMPLE_CHANCES.items() if pocket in pockets)


@dataclass(frozen=True, slots=True)
class Layout:
    """One wheel and the shapes its layout allows.

    ``shapes`` maps a bet to the legal sets of numbers; each set maps to its pockets in the order they are printed.
    ``red`` and ``black`` are its pockets of these colours; any other has a colour of its own.
    """

    wheel: Pockets
    zeros: frozenset[str]
    shapes: Mapping[str, Mapping[frozenset[str], Pockets]]
    red: frozenset[str] = RED
    black: frozenset[str] = frozenset(NUMBERS) - RED

    def colour_of(self, pocket: str) -> str:
        """Return how pages mark a pocket: r, n (noir), or z (of another colour, as a zero)."""
        return "r" if pocket in self.red else "n" if pocket in self.black else "z"


def _printed(shapes: Iterable[Iterable[str]]) -> Mapping[frozenset[str], Pockets]:
    return MappingProxyType({frozenset(shape): tuple(sorted(shape, key=lambda n: (int(n), n))) for shape in shapes})


def _across(first: int, *steps: int) -> tuple[str, ...]:
    return tuple(str(first + step) for step in steps)


_ROWS = range(1, 37, 3)
_NOT_LAST_IN_ROW = [number for number in range(1, 37) if number % 3]

_PAIRS = [_across(n, 0, 1) for n in _NOT_LAST_IN_ROW] + [_across(n, 0, 3) for n in range(1, 34)]
_THREES = [_across(n, 0, 1, 2) for n in _ROWS]
_SQUARES = [_across(n, 0, 1, 3, 4) for n in _NOT_LAST_IN_ROW if n <= 32]
_SIXES = [_across(n, 0, 1, 2, 3, 4, 5) for n in _ROWS if n < 34]


def _layout(wheel: Pockets, *, pairs: str, threes: str, squares: str) -> Layout:
    """Return a layout. ``pairs``, ``threes`` and ``squares`` are the shapes with a zero: ``"0-1 0-2"``."""

    def with_zero(shapes: str) -> list[tuple[str, ...]]:
        return [tuple(shape.split("-")) for shape in shapes.split()]

    return Layout(
        wheel=wheel,
        zeros=frozenset(wheel) - frozenset(NUMBERS),
        shapes=MappingProxyType(
            {
                "plein": _printed([pocket] for pocket in wheel),
                "cheval": _printed([*_PAIRS, *with_zero(pairs)]),
                "transversale": _printed([*_THREES, *with_zero(threes)]),
                "carre": _printed([*_SQUARES, *with_zero(squares)]),
                "sixain": _printed(_SIXES),
            }
        ),
    )


LAYOUT_37 = _layout(WHEEL_37, pairs="0-1 0-2 0-3", threes="0-1-2 0-2-3", squares="0-1-2-3")
LAYOUT_38 = _layout(WHEEL_38, pairs="0-00 0-1 0-2 00-2 00-3", threes="0-1-2 00-2-3 0-00-2", squares="")

DOZEN_SHAPES: Mapping[str, tuple[tuple[frozenset[str], ...], int]] = MappingProxyType(
    {
        # bet: what ``which`` numbers, and how many neighbours it needs
        "douzaine": (DOZENS, 1),
        "colonne": (COLUMNS, 1),
        "deux_douzaines": (DOZENS, 2),
        "deux_colonnes": (COLUMNS, 2),
    }
)


def twelves(bet: str, which: Iterable[int]) -> frozenset[str] | None:
    """Return the pockets of a bet on dozens or columns; None if ``which`` is not allowed for it."""
    blocks, count = DOZEN_SHAPES[bet]
    chosen = sorted(which)
    first = chosen[0] if chosen else 0
    if chosen != list(range(first, first + count)) or not 1 <= first <= len(blocks) + 1 - count:
        return None
    return frozenset().union(*(blocks[block - 1] for block in chosen))
