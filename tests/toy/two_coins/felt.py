"""The felt of two coins."""

from __future__ import annotations

from two_coins.ruleset import BETS, WINS_ON

from audit.felt import shapes
from audit.felt.frames import Frame, Stake
from audit.felt.geometry import WIDTH, Box, Spot
from audit.felt.layouts import Felt
from settlement.catalogue.rule import Wording

BOXES = {
    "deux_piles": Box(24, 22, 257, 130),
    "une_de_chaque": Box(299, 22, 257, 130),
    "pair": Box(574, 22, 257, 130),
    "deux_faces": Box(849, 22, 257, 130),
}


def _layout(frame: Frame, language: str) -> str:
    drawn = [f'<rect class="cloth" width="{WIDTH}" height="{FELT.height}" rx="14"/>']
    for bet, box in BOXES.items():
        across, down = box.middle
        drawn.append(shapes.rectangle(box))
        drawn.append(shapes.text((across, down - 30), BETS[bet].word.upper()))
        for index, result in enumerate(WINS_ON[bet]):
            hit = ' data-hit=""' if result == frame.result else ""
            label = shapes.text((across, down + 36 + 18 * index), result, "label dim small")
            drawn.append(f'<g data-result="{result}"{hit}>{label}</g>')
    return "".join(drawn)


def _spot(stake: Stake) -> Spot | None:
    box = BOXES.get(stake.wager.bet)
    return None if box is None else box.middle


FELT = Felt(title=Wording("Layout of the two coins", "Tapis des deux pièces"), height=174, layout=_layout, spot=_spot)
