"""Art. 55-8: the closed list of the bets of French craps, a record each.

Law       Arrêté, art. 55-8: four categories of chances, and no other.
In force  The text bears no date; its numbering is that of the arrêté of 14 May 2007.
Scope     Each bet with its names, its odds and its clauses. ``art_55_8_wagers`` applies the clauses.
Missing   Nothing: A 1° to 9°, B 1° to 8°, C 1° to 4°, D 1° and 2°.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.craps import POINT_NUMBERS
from settlement.events import DiceThrown
from settlement.events.stakes import Marker
from settlement.fr.art_55_8_wagers import (
    HARDWAY,
    ONE_ROLL,
    RIGHT,
    WRONG,
    CrapsKind,
    accept_big,
    accept_come,
    accept_hardway,
    accept_line,
    accept_number,
    accept_odds,
    accept_wrong,
    line,
    one_roll,
    resolve_hardway,
    right,
    wrong,
)
from settlement.kinds import Accept, Split, accept_any
from settlement.money import EVEN, Odds
from settlement.state import Table

_EVEN = "art. 55-8 A intro"
"""«Les chances simples qui, toutes, se paient à égalité»."""

FOUR_QUARTERS = Split("horn-paid-split", (Odds(27, 4), Odds(3, 1)))
"""What a quarter of the stake would win on each of four numbers, and lose on the others: on 2 or 12, on 3 or 11."""


def _on_the_line(bet: str, word: str, usual: tuple[str, str], clause: str) -> CrapsKind:
    accept = accept_come if bet in ("come", "dont_come") else accept_line
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="alone",
        withdrawal="never",
        accept=accept,
        travels=True,
        resolve=line(bet),
        odds=EVEN,
        clause=clause,
        pays=_EVEN,
    )


def _for_one_throw(
    bet: str, word: str, usual: tuple[str, str], clause: str, pays: str | None = None, split: Split | None = None
) -> CrapsKind:
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="alone",
        withdrawal="one_roll",
        accept=accept_any,
        resolve=one_roll(ONE_ROLL[bet]),
        odds=ONE_ROLL[bet],
        split=split,
        clause=clause,
        pays=pays,
    )


def _big(bet: str, word: str, usual: tuple[str, str], clause: str, number: int) -> CrapsKind:
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="alone",
        numbers=(number,),
        withdrawal="after_throw",
        accept=accept_big(number),
        resolve=right(RIGHT[bet]),
        odds=RIGHT[bet],
        clause=clause,
        pays=_EVEN,
    )


def _hard_way(bet: str, word: str, usual: tuple[str, str], clause: str) -> CrapsKind:
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="number",
        numbers=tuple(HARDWAY),
        withdrawal="after_throw",
        accept=accept_hardway,
        resolve=resolve_hardway,
        odds=HARDWAY,
        clause=clause,
    )


def _odds(bet: str, word: str, usual: tuple[str, str], clause: str) -> CrapsKind:
    is_right = bet in RIGHT
    odds = RIGHT[bet] if is_right else WRONG[bet]
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="base",
        numbers=POINT_NUMBERS,
        withdrawal="after_throw",
        accept=accept_odds,
        resolve=right(odds) if is_right else wrong(odds),
        odds=odds,
        clause=clause,
        withdrawn_under="art. 55-8 C intro",
    )


def _placed(
    bet: str, word: str, usual: tuple[str, str], clause: str, accept: Accept, marker: Marker | None = None
) -> CrapsKind:
    is_right = bet in RIGHT
    odds = RIGHT[bet] if is_right else WRONG[bet]
    return CrapsKind(
        bet=bet,
        word=word,
        usual=usual,
        shape="number",
        numbers=POINT_NUMBERS,
        withdrawal="after_throw",
        marker=marker,
        accept=accept,
        resolve=right(odds) if is_right else wrong(odds),
        odds=odds,
        clause=clause,
        withdrawn_under="art. 55-8 D intro",
    )


KINDS: Mapping[str, CrapsKind] = MappingProxyType(
    {
        kind.bet: kind
        for kind in (
            _on_the_line("win", "win", ("pass line", "ligne de passe"), "art. 55-8 A 1°"),
            _on_the_line("dont_win", "don’t win", ("don’t pass", "ligne de non-passe"), "art. 55-8 A 2°"),
            _on_the_line("come", "come", ("come", "come"), "art. 55-8 A 3°"),
            _on_the_line("dont_come", "don’t come", ("don’t come", "don’t come"), "art. 55-8 A 4°"),
            _for_one_throw("field", "field", ("field", "champ"), "art. 55-8 A 5°"),
            _big("big_6", "big 6", ("big six", "gros six"), "art. 55-8 A 6°", number=6),
            _big("big_8", "big 8", ("big eight", "gros huit"), "art. 55-8 A 7°", number=8),
            _for_one_throw("under_7", "under 7", ("under seven", "moins de sept"), "art. 55-8 A 8°", pays=_EVEN),
            _for_one_throw("over_7", "over 7", ("over seven", "plus de sept"), "art. 55-8 A 9°", pays=_EVEN),
            _hard_way("hardway", "hard way", ("hard way", "double exact"), "art. 55-8 B 1°"),
            _for_one_throw("seven", "jeu du 7", ("any seven", "n’importe quel sept"), "art. 55-8 B 2°"),
            _for_one_throw("eleven", "jeu du 11", ("yo, eleven", "onze"), "art. 55-8 B 3°"),
            _for_one_throw("any_craps", "any craps", ("any craps", "n’importe quel craps"), "art. 55-8 B 4°"),
            _for_one_throw("craps_2", "craps 2", ("aces, two", "deux as"), "art. 55-8 B 5°"),
            _for_one_throw("craps_3", "craps 3", ("ace-deuce, three", "as et deux"), "art. 55-8 B 6°"),
            _for_one_throw("craps_12", "craps 12", ("boxcars, twelve", "double six"), "art. 55-8 B 7°"),
            _for_one_throw("horn", "horn", ("horn", "horn"), "art. 55-8 B 8°", split=FOUR_QUARTERS),
            _odds(
                "win_odds", "chance associée du win", ("pass odds", "associée de la ligne de passe"), "art. 55-8 C 1°"
            ),
            _odds(
                "dont_win_odds",
                "chance associée du don’t win",
                ("don’t pass odds", "associée de la non-passe"),
                "art. 55-8 C 2°",
            ),
            _odds("come_odds", "chance associée du come", ("come odds", "associée du come"), "art. 55-8 C 3°"),
            _odds(
                "dont_come_odds",
                "chance associée du don’t come",
                ("don’t come odds", "associée du don’t come"),
                "art. 55-8 C 4°",
            ),
            _placed(
                "right_bet",
                "right bet",
                ("place bet to win", "pari sur le numéro"),
                "art. 55-8 D 1°",
                accept=accept_number,
            ),
            _placed(
                "wrong_bet",
                "wrong bet",
                ("place bet to lose", "pari contre le numéro"),
                "art. 55-8 D 2°",
                accept=accept_wrong,
                marker="wrong_bet",
            ),
        )
    }
)
"""The closed list: «Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes»."""

RESOLVE = {bet: kind.resolve for bet, kind in KINDS.items()}
"""What a throw does to each of them: looked up for every live wager at every throw."""


def settle_throw(table: Table, event: DiceThrown, total: int) -> None:
    """Settle every live wager by a throw of ``total``. One that has a number waits for it, or for 7."""
    first, second = event.data.faces
    double = first == second
    seq = event.seq
    wagers = table.wagers
    for wager in list(map(wagers.__getitem__, table.live)):
        number = wager.number
        if number is None or total == 7 or total == number:
            RESOLVE[wager.bet](table, wager, seq, total, double)
