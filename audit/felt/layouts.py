"""The felt of each ruleset: its height, how it is drawn, and where a stake lies on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from audit.felt.frames import Frame, Stake
from audit.felt.geometry import Spot
from settlement import RULESETS
from settlement.catalogue.rule import Wording
from settlement.ruleset import resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Felt:
    """The layout of one game, ``geometry.WIDTH`` wide and ``height`` high, in units of the drawing.

    ``layout`` draws it in a frame, as SVG, without stakes; elements with ``data-result`` are lit while that result is
    on the table. ``spot`` is where a stake lies, None if the game has no such bet.
    """

    title: Wording
    height: int
    layout: Callable[[Frame, str], str]
    spot: Callable[[Stake], Spot | None]


def felt_of(ruleset: str | None) -> Felt | None:
    """Return the felt of a ruleset, None for one that there is not."""
    known = RULESETS.get(ruleset or "")
    if known is None:
        return None
    felt = _named(known.felt) if isinstance(known.felt, str) else resolved(known.felt)
    assert isinstance(felt, Felt)
    return felt


_named = lru_cache(resolved)  # a page asks for the felt of each stake at each of its events
