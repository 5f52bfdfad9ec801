"""La boule: one ball decides every stake. Each bet has the same edge, one ninth."""

from __future__ import annotations

from settlement.fr.art_46_boule import LAYOUT, odds_on
from settlement.night.one_draw import OneDraw

CHANCES = OneDraw(dict.fromkeys(LAYOUT.wheel, 1), odds_on)
