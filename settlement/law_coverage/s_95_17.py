"""S. 95.17 of the Québec by-law, sentence by sentence: the place bets."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.sentence import (
    DECIDED,
    PLACE_ON_THE_FELT,
    PRICED,
    UNDECIDED,
    Article,
    Sentence,
)

ALL = ("right_bet", "buy_bet", "lay_bet")

_COMMISSION = ("commission-not-paid", "commission-amount-mismatch", "commission-not-renewed")
_COMMISSION_READ = (
    "commission_rounding",
    "commission_unit",
    "commission_refunded_on_withdrawal",
    "left_up_after_a_win",
)
_INACTIVE = ("inactive-wager-settled", "working-call-late")
_WORKING = ("how_long_a_bet_stays_working",)

_NAME = Wording("Name of the by-law, which the section is of", "Nom du règlement dont l’article fait partie")
_IN_FULL = Wording("Heading: what follows is not abridged", "Titre : ce qui suit n’est pas abrégé")
_SOURCE = Wording("The order that the section comes from", "Le décret dont l’article est issu")

S_95_17 = Article(
    law.S_95_17,
    governs=("qc-craps",),
    sentences=(
        Sentence("S-13.1, r. 3 - By-law", bets=ALL, says=_NAME),
        Sentence("Full text", bets=ALL, says=_IN_FULL),
        Sentence(
            "95.17. The “Place Bets” wagers",
            ("wager-not-permitted", "invalid-wager-number", "withdrawal-not-after-indecisive-roll"),
            ("late_stake_by_analogy",),
            ALL,
        ),
        # (1) asks for no commission, so none is due: hence the rule on a commission taken all the same.
        Sentence(
            "(1) \N{NO-BREAK SPACE}The “Right Bet” wager",
            ("undue-commission",),
            bets=("right_bet",),
            why=PLACE_ON_THE_FELT,
        ),
        Sentence("This wager shall win", DECIDED, bets=("right_bet",)),
        Sentence("Otherwise, it is considered", UNDECIDED, bets=("right_bet",)),
        Sentence("A winning wager is paid", PRICED, ("payout_unit",), ("right_bet",)),
        Sentence("The “Right Bet“ wager is not active", _INACTIVE, _WORKING, ("right_bet",)),
        Sentence("(2) \N{NO-BREAK SPACE}The “Buy Bet” wager", bets=("buy_bet",), why=PLACE_ON_THE_FELT),
        Sentence("The wager is identified", ("wager-marker-missing",), bets=("buy_bet",)),
        Sentence("The wager is only accepted", _COMMISSION, _COMMISSION_READ, ("buy_bet",)),
        Sentence("This wager shall win", DECIDED, bets=("buy_bet",)),
        Sentence("Otherwise, it is considered", UNDECIDED, bets=("buy_bet",)),
        Sentence("A winning wager is paid", PRICED, ("payout_unit",), ("buy_bet",)),
        Sentence("The “Buy Bet” wager is not active", _INACTIVE, _WORKING, ("buy_bet",)),
        Sentence("(3) \N{NO-BREAK SPACE}The “Lay Bet” wager", bets=("lay_bet",), why=PLACE_ON_THE_FELT),
        Sentence("The wager is identified", ("wager-marker-missing",), bets=("lay_bet",)),
        Sentence("The wager is only accepted", _COMMISSION, _COMMISSION_READ, ("lay_bet",)),
        Sentence("This wager shall win", DECIDED, ("lay_bet_on_a_come_out",), ("lay_bet",)),
        Sentence("Otherwise, it is considered", UNDECIDED, bets=("lay_bet",)),
        Sentence("A winning wager is paid", PRICED, ("payout_unit",), ("lay_bet",)),
        Sentence("O.C. 928-2000", bets=ALL, says=_SOURCE),
    ),
)
