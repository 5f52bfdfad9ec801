# --8<-- [start:imports]
"""The law of two coins: its text, its events, its bets and its play."""

from __future__ import annotations

from hashlib import sha256
from types import MappingProxyType
from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from settlement.calls import reopen
from settlement.catalogue.rule import Rule, Wording, under
from settlement.deciding import lose, win
from settlement.events import Data, Envelope, SessionClosed
from settlement.events.envelope import EventType, Seq
from settlement.findings import find
from settlement.kinds import Kind, accept_any
from settlement.law import Instrument, LawText
from settlement.law_coverage.sentence import Article, Clause
from settlement.money import Odds
from settlement.night.one_draw import OneDraw
from settlement.play import closing, nothing_of_play, stakes
from settlement.ruleset import Ruleset
from settlement.state import Table
from settlement.verdicts import end_coup

NAME = "toy-two-coins"
# --8<-- [end:imports]


# --8<-- [start:text]

WORDS = """Article 1 du jeu des deux pièces

Les joueurs ne peuvent faire usage que des quatre chances suivantes.
Deux piles gagne si les deux pièces tombent sur pile et rapporte 14 pour 5.
Deux faces gagne si les deux pièces tombent sur face et rapporte 14 pour 5.
Une de chaque gagne si les pièces tombent différemment et rapporte 9 pour 10.
La paire gagne si les deux pièces tombent du même côté et rapporte 9 pour 10.
Les pièces ne sont jetées qu'après le « Rien ne va plus ».
"""

INSTRUMENT = Instrument(
    cited_as="règle des deux pièces",
    title="Règle du jeu des deux pièces",
    source=None,
    in_force_from=None,
    in_force_until=None,
    inferred_from=None,
)

TEXT = LawText(
    id="toy-art-1",
    file="toy-art-1.txt",
    sha256=sha256(WORDS.encode()).hexdigest(),
    language="fr",
    title="Le jeu des deux pièces",
    article="toy art. 1",
    instrument=INSTRUMENT,
    heading_lines=1,
    closing_lines=0,
    content=WORDS,
)

QUOTATIONS = MappingProxyType(
    {
        "al. 1": ("Les joueurs ne peuvent faire usage que des quatre chances suivantes.",),
        "al. 2": ("Deux piles gagne si les deux pièces tombent sur pile et rapporte 14 pour 5.",),
        "al. 3": ("Deux faces gagne si les deux pièces tombent sur face et rapporte 14 pour 5.",),
        "al. 4": ("Une de chaque gagne si les pièces tombent différemment et rapporte 9 pour 10.",),
        "al. 5": ("La paire gagne si les deux pièces tombent du même côté et rapporte 9 pour 10.",),
        "al. 6": ("Les pièces ne sont jetées qu'après le « Rien ne va plus ».",),
    }
)
# --8<-- [end:text]

# --8<-- [start:events]

Side = Literal["pile", "face"]


class CoinsTossedData(Data, frozen=True, gc=False):
    """How the two coins fell."""

    first: Side
    second: Side


class CoinsTossed(Envelope, frozen=True, gc=False, tag="coins.tossed"):
    """The result of a coup."""

    is_result: ClassVar[bool] = True
    sentence: ClassVar[tuple[str, str] | None] = (
        "The coins fall on {first} and {second}",
        "Les pièces tombent sur {first} et {second}",
    )
    data: CoinsTossedData


class TossVoidedData(Data, frozen=True, gc=False):
    """``voids`` is the seq of the toss just counted, if that one is void."""

    voids: Seq | UnsetType = UNSET


class TossVoided(Envelope, frozen=True, gc=False, tag="toss.voided"):
    """A toss that decides nothing: a coin that rolled off the table."""

    voids_result: ClassVar[EventType | None] = CoinsTossed
    sentence: ClassVar[tuple[str, str] | None] = ("The toss is void", "Le jet est annulé")
    data: TossVoidedData


# --8<-- [end:events]


# --8<-- [start:rule]

BEFORE_CALL = Rule(
    name="coins-tossed-before-call",
    severity="major",
    needs="calls",
    provisions=under({NAME: ("toy art. 1 al. 6",)}),
    title=Wording("Coins tossed before the call", "Pièces jetées avant l’annonce"),
    message=Wording(
        "Event {seq}: the coins were tossed while bets were open.",
        "Événement {seq} : les pièces ont été jetées alors que les mises étaient ouvertes.",
    ),
    explanation=Wording(
        "Until the call anybody may still stake, so a toss before it may be seen before it is bet on.",
        "Jusqu’à l’annonce, chacun peut encore miser : un jet antérieur peut être vu avant d’être joué.",
    ),
    remedy=Wording(
        "View the footage of event {seq} and remind the croupier[ {croupier}] of the call.",
        "Visionner les images de l’événement {seq} et rappeler l’annonce au croupier[ {croupier}].",
    ),
)
# --8<-- [end:rule]

# --8<-- [start:bets]

WINS_ON = {
    "deux_piles": ("pile-pile",),
    "deux_faces": ("face-face",),
    "une_de_chaque": ("pile-face", "face-pile"),
    "pair": ("pile-pile", "face-face"),
}


def _bet(bet: str, word: str, usual: tuple[str, str], odds: Odds, clause: str) -> Kind:
    return Kind(
        bet=bet,
        word=word,
        usual=usual,
        shape="alone",
        withdrawal="free",
        accept=accept_any,
        odds=odds,
        clause=clause,
    )


BETS = MappingProxyType(
    {
        kind.bet: kind
        for kind in (
            _bet("deux_piles", "deux piles", ("two tails", "pile et pile"), Odds(14, 5), "toy art. 1 al. 2"),
            _bet("deux_faces", "deux faces", ("two heads", "face et face"), Odds(14, 5), "toy art. 1 al. 3"),
            _bet("une_de_chaque", "une de chaque", ("one of each", "pile et face"), Odds(9, 10), "toy art. 1 al. 4"),
            _bet("pair", "la paire", ("a pair", "du même côté"), Odds(9, 10), "toy art. 1 al. 5"),
        )
    }
)


def odds_on(bet: str, result: str) -> Odds | None:
    """Return the odds at which ``bet`` wins on ``result``; None if it loses."""
    odds = BETS[bet].odds
    assert isinstance(odds, Odds)
    return odds if result in WINS_ON[bet] else None


# --8<-- [end:bets]


# --8<-- [start:play]


def toss(table: Table, event: CoinsTossed) -> None:
    """Settle every stake by a toss."""
    seq = event.seq
    if table.open_session().calls and not table.call:
        find(table, "coins-tossed-before-call", seq)
    end_coup(table, seq)
    table.result = f"{event.data.first}-{event.data.second}"
    for wager in [table.wagers[wager_id] for wager_id in table.live]:
        odds = odds_on(wager.bet, table.result)
        if odds is None:
            lose(table, wager, seq)
        else:
            win(table, wager, seq, odds)
    table.last_result = seq
    reopen(table)


def void_toss(table: Table, event: TossVoided) -> None:
    """Open the betting again: a toss that was counted is undone before this is called."""
    reopen(table)


# --8<-- [end:play]


# --8<-- [start:chances]

CHANCES = OneDraw({"pile-pile": 1, "pile-face": 1, "face-pile": 1, "face-face": 1}, odds_on)
# --8<-- [end:chances]

# --8<-- [start:clauses]

SENTENCES = Article(
    text=TEXT,
    governs=(NAME,),
    clauses=(
        Clause("Article 1", bets=tuple(BETS)),
        Clause("Les joueurs", "faire usage", rules=("wager-not-permitted",)),
        Clause("Deux piles", "rapporte", bets=("deux_piles",)),
        Clause("Deux faces", "rapporte", bets=("deux_faces",)),
        Clause("Une de chaque", "rapporte", bets=("une_de_chaque",)),
        Clause("La paire", "rapporte", bets=("pair",)),
        Clause("Les pièces", "jetées", rules=("coins-tossed-before-call",)),
    ),
)
# --8<-- [end:clauses]

# --8<-- [start:ruleset]

TOY = Ruleset(
    name=NAME,
    game="two_coins",
    title=Wording("two coins", "deux pièces"),
    game_title=Wording("Two coins", "Deux pièces"),
    game_name=Wording("two coins", "le jeu des deux pièces"),
    instrument=INSTRUMENT,
    kinds=BETS,
    closed_list="toy art. 1 al. 1",
    rules=(BEFORE_CALL,),
    clauses=MappingProxyType(
        {
            "wager-not-permitted": ("toy art. 1 al. 1",),
            "wager-after-no-more-bets": ("toy art. 1 al. 6",),
            "wager-near-call": ("toy art. 1 al. 6",),
            "withdrawal-after-no-more-bets": ("toy art. 1 al. 6",),
        }
    ),
    texts=((TEXT, QUOTATIONS),),
    articles=(SENTENCES,),
    handlers=MappingProxyType({**stakes(BETS), SessionClosed: closing(), CoinsTossed: toss, TossVoided: void_toss}),
    events=(CoinsTossed, TossVoided),
    result=CoinsTossed,
    state_of_play=nothing_of_play,
    chances=CHANCES,
    felt="two_coins.felt:FELT",
    simulator="two_coins.simulator:TwoCoins",
)
# --8<-- [end:ruleset]
