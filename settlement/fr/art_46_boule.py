"""Art. 46: the two combinations of la boule, and what the ball decides.

Law       Arrêté of 14 May 2007, art. 46 «Fonctionnement des jeux de la boule et du vingt-trois».
In force  See ``law.ARRETE_2007``.
Scope     The nine numbers, the plein and the six simple chances, the 5.
Missing   Le vingt-trois, which is another game. Which numbers are red, black, pair, impair, manque and passe is not in
          the text: that is custom, and the reading ``numbers_of_the_simple_chances``. The call is that of art. 57-1
          al. 6, by analogy.

    stakes ─► the ball rolls, «Rien ne va plus» ─► boule.settled ─► a plein 7 to 1, a simple chance 1 to 1; 5: all lose
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.calls import reopen
from settlement.deciding import lose, win
from settlement.events import WagerPlaced
from settlement.findings import find
from settlement.fr.art_45_boule import note_thrower
from settlement.fr.boule_events import BouleSettled, BouleVoided
from settlement.kinds import Kind, accept_any
from settlement.layouts import Layout
from settlement.money import EVEN, Odds
from settlement.state import Table, Wager
from settlement.verdicts import end_coup

NUMBERS = tuple(range(1, 10))
"""«les appareils à neuf numéros»"""

CHANCES: Mapping[str, frozenset[int]] = MappingProxyType(
    {
        "rouge": frozenset({1, 3, 6, 8}),
        "noir": frozenset({2, 4, 7, 9}),
        "pair": frozenset({2, 4, 6, 8}),
        "impair": frozenset({1, 3, 7, 9}),
        "manque": frozenset({1, 2, 3, 4}),
        "passe": frozenset({6, 7, 8, 9}),
    }
)
"""The numbers of each simple chance. The 5 is in none: «la totalité des mises sur les chances simples est perdante»."""

SEVEN = Odds(7, 1)

LAYOUT = Layout(
    wheel=tuple(map(str, NUMBERS)),
    zeros=frozenset(),
    shapes=MappingProxyType({}),
    red=frozenset(map(str, CHANCES["rouge"])),
    black=frozenset(map(str, CHANCES["noir"])),
)
"""The apparatus: its numbers as ``Table.result`` names them. No shape joins several of them."""


def odds_on(bet: str, result: str, number: int | None = None) -> Odds | None:
    """Return the odds at which ``bet`` wins on ``result``; None if it loses. A plein names its ``number``."""
    drawn = int(result)
    if bet == "plein":
        return SEVEN if drawn == number else None
    return EVEN if drawn in CHANCES[bet] else None


def settle(table: Table, event: BouleSettled) -> None:
    """Settle every stake by the number in which the ball rests."""
    seq, number = event.seq, event.data.number
    if table.open_session().calls and not table.call:
        find(table, "boule-settled-before-call", seq, recorded=number)
    if number in NUMBERS:
        end_coup(table, seq)
        table.result = str(number)
        note_thrower(table, event)
        for wager in [table.wagers[wager_id] for wager_id in table.live]:
            odds = odds_on(wager.bet, table.result, wager.number)
            if odds is None:
                lose(table, wager, seq)
            else:
                win(table, wager, seq, odds)
    else:
        table.result = str(number)
        find(table, "boule-number-invalid", seq, recorded=number)
    table.last_result = seq
    reopen(table)


def void_throw(table: Table, event: BouleVoided) -> None:
    """Open the betting again: a result that was counted is undone before this is called."""
    reopen(table)


def _accept_number(table: Table, event: WagerPlaced, wager: Wager) -> bool:
    number = event.data.number
    if number in NUMBERS:
        wager.number = number
        return True
    recorded = number if isinstance(number, int) else None
    find(table, "boule-stake-number-invalid", event.seq, wager=wager, recorded=recorded)
    return False


def _chance(bet: str, word: str, english: str, french: str) -> Kind:
    return Kind(
        bet=bet,
        word=word,
        usual=(english, french),
        shape="alone",
        withdrawal="free",
        accept=accept_any,
        odds=EVEN,
        clause="art. 46 al. 2 2°",
    )


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.bet: kind
        for kind in (
            Kind(
                bet="plein",
                word="plein",
                usual=("straight up", "numéro plein"),
                shape="number",
                numbers=NUMBERS,
                withdrawal="free",
                accept=_accept_number,
                odds=SEVEN,
                clause="art. 46 al. 2 1°",
            ),
            _chance("rouge", "rouge", "red", "numéros rouges"),
            _chance("noir", "noir", "black", "numéros noirs"),
            _chance("pair", "pair", "even", "numéros pairs"),
            _chance("impair", "impair", "odd without the 5", "numéros impairs sauf le 5"),
            _chance("passe", "passe", "high, 6 to 9", "6 à 9"),
            _chance("manque", "manque", "low, 1 to 4", "1 à 4"),
        )
    }
)
"""The two combinations, the second of which has six chances."""
