"""Art. 55-8, sentence by sentence: the bets of craps."""

from __future__ import annotations

from typing import TypeAlias

from settlement import law
from settlement.law_coverage.sentence import (
    DECIDED,
    NUMBER_OF_THE_TEXT,
    PLACE_ON_THE_FELT,
    PRICED,
    UNDECIDED,
    Article,
    Sentence,
)

A = ("win", "dont_win", "come", "dont_come", "field", "big_6", "big_8", "under_7", "over_7")
B = ("hardway", "seven", "eleven", "any_craps", "craps_2", "craps_3", "craps_12", "horn")
C = ("win_odds", "dont_win_odds", "come_odds", "dont_come_odds")
D = ("right_bet", "wrong_bet")
ALL = (*A, *B, *C, *D)

Sentences: TypeAlias = tuple[Sentence, ...]

_ONE_ROLL = (*DECIDED, "one-roll-wager-withdrawn")
_MOVES = ("come-not-moved", "come-moved-to-wrong-number")
_TAKEN_BACK = ("withdrawal-not-after-indecisive-roll",)
_ADDED_LATE = ("line_stake_added_after_the_point",)
_BARRED = ("barred_twelve", "two_coups_nuls")


def _one_roll(opening: str, bet: str, *, priced: tuple[str, ...] = (), readings: tuple[str, ...] = ()) -> Sentences:
    """Return the two sentences of a bet of B that every throw decides: its price, then its numbers."""
    return (
        Sentence(opening, (*PRICED, *priced), ("times_the_stake", *readings), (bet,)),
        Sentence("Cette chance", _ONE_ROLL, ("one_roll_bets_withdrawn",), (bet,)),
    )


def _any_time(opening: str, bet: str) -> Sentences:
    """Return the three sentences of big 6 and big 8."""
    return (
        Sentence(opening, bets=(bet,)),
        Sentence("Cette chance gagne", DECIDED, bets=(bet,)),
        Sentence("La mise peut rester", _TAKEN_BACK, bets=(bet,)),
    )


_SIMPLE: Sentences = (
    Sentence("A. - Les chances simples", PRICED, ("field_pays_double", "payout_unit"), A),
    Sentence("1° Le win qui se joue", ("line-wager-after-come-out",), _ADDED_LATE, ("win",)),
    Sentence("Cette chance gagne", DECIDED, bets=("win",)),
    Sentence("Pour tout autre total", UNDECIDED, bets=("win",)),
    Sentence("Un croupier indique", ("point-marker-missing", "point-marker-mismatch"), bets=("win",)),
    Sentence("La mise sur win est", DECIDED, bets=("win",)),
    Sentence(
        "Les dés changent de mains",
        ("dice-passed-without-seven-out", "shooter-kept-dice-after-seven-out"),
        bets=("win",),
    ),
    Sentence("2° Le don't win qui se joue", ("line-wager-after-come-out",), _ADDED_LATE, ("dont_win",)),
    Sentence("Cette chance gagne", (*DECIDED, "barred-number-settled"), _BARRED, ("dont_win",)),
    Sentence("Pour tout autre total", UNDECIDED, bets=("dont_win",)),
    Sentence("La mise sur don't win est", DECIDED, bets=("dont_win",)),
    Sentence("3° Le come qui se joue", ("come-wager-on-come-out",), ("come_needs_a_point",), ("come",)),
    Sentence("Cette chance gagne", DECIDED, bets=("come",)),
    Sentence("Pour tout autre total", (*DECIDED, *_MOVES), bets=("come",)),
    Sentence("4° Le don't come qui se joue", ("come-wager-on-come-out",), ("come_needs_a_point",), ("dont_come",)),
    Sentence("Cette chance gagne", (*DECIDED, "barred-number-settled"), _BARRED, ("dont_come",)),
    Sentence("Pour tout autre total", (*DECIDED, *_MOVES), bets=("dont_come",)),
    Sentence(
        "Les mises placées sur win",
        ("contract-wager-withdrawn", "wager-left-open"),
        ("barred_twelve",),
        ("win", "dont_win", "come", "dont_come"),
    ),
    Sentence("5° Le field qui se joue", ("one-roll-wager-withdrawn",), ("one_roll_bets_withdrawn",), ("field",)),
    Sentence("Cette chance gagne", DECIDED, bets=("field",)),
    Sentence("Elle se paie double", PRICED, ("field_pays_double",), ("field",)),
    *_any_time("6° Le big 6", "big_6"),
    *_any_time("7° Le big 8", "big_8"),
    Sentence("8° Under 7 qui se joue", bets=("under_7",)),
    Sentence("Cette chance gagne", _ONE_ROLL, ("one_roll_bets_withdrawn",), ("under_7",)),
    Sentence("9° Over 7 qui se joue", bets=("over_7",)),
    Sentence("Cette chance gagne", _ONE_ROLL, ("one_roll_bets_withdrawn",), ("over_7",)),
)

_MULTIPLE: Sentences = (
    Sentence("B. - Les chances multiples", bets=B),
    Sentence("1° Les hard ways", ("invalid-wager-number", *_TAKEN_BACK), bets=("hardway",)),
    Sentence("Ces chances gagnent", DECIDED, bets=("hardway",)),
    Sentence("Le double 2 et le double 5", PRICED, ("times_the_stake",), ("hardway",)),
    *_one_roll("2° Le jeu du 7", "seven"),
    *_one_roll("3° Le jeu du 11", "eleven"),
    *_one_roll("4° L'any craps", "any_craps"),
    *_one_roll("5° Le craps 2", "craps_2"),
    *_one_roll("6° Le craps 3", "craps_3"),
    *_one_roll("7° Le craps 12", "craps_12"),
    *_one_roll("8° Le horn", "horn", priced=("horn-paid-split",), readings=("horn_price",)),
)

_ASSOCIATED: Sentences = (
    Sentence(
        "C. - Les chances associées",
        (
            "odds-without-base-wager",
            "odds-number-mismatch",
            "odds-on-anothers-base",
            *_TAKEN_BACK,
            *DECIDED,
        ),
        bets=C,
    ),
    Sentence("1° La chance associée du win", bets=("win_odds",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", DECIDED, bets=("win_odds",)),
    Sentence("La mise est payée", PRICED, ("payout_unit",), ("win_odds", "come_odds")),
    Sentence("2° La chance associée du don't win", bets=("dont_win_odds",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", DECIDED, bets=("dont_win_odds",)),
    Sentence("La mise est payée", PRICED, ("payout_unit",), ("dont_win_odds", "dont_come_odds")),
    Sentence("3° La chance associée du come", bets=("come_odds",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", (*DECIDED, *PRICED), bets=("come_odds",)),
    Sentence("4° La chance associée du don't come", bets=("dont_come_odds",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", (*DECIDED, *PRICED), bets=("dont_come_odds",)),
)

_PLACE_BETS: Sentences = (
    Sentence("D. - Les place bets", ("invalid-wager-number", *_TAKEN_BACK), bets=D),
    Sentence("1° Le right bet", bets=("right_bet",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", DECIDED, bets=("right_bet",)),
    Sentence("La mise est payée", PRICED, ("payout_unit",), ("right_bet",)),
    Sentence("2° Le wrong bet", ("wrong-bet-not-marked",), bets=("wrong_bet",), why=PLACE_ON_THE_FELT),
    Sentence("Cette chance gagne", DECIDED, bets=("wrong_bet",)),
    Sentence("La mise est payée", PRICED, ("wrong_bet_misprint", "payout_unit"), ("wrong_bet",)),
)

ART_55_8 = Article(
    law.ART_55_8,
    governs=("fr-craps",),
    sentences=(
        Sentence("# Article 55-8", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Sentence("Les joueurs ne peuvent", ("wager-not-permitted",), bets=ALL),
        *_SIMPLE,
        *_MULTIPLE,
        *_ASSOCIATED,
        *_PLACE_BETS,
    ),
)
