"""S. 95.17 of the Québec by-law, obligation by obligation: the place bets."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.sentence import (
    LOST,
    PLACE_ON_THE_FELT,
    PRICED,
    UNDECIDED,
    WON,
    Article,
    Clause,
)

ALL = ("right_bet", "buy_bet", "lay_bet")

_COMMISSION = ("commission-not-paid", "commission-not-renewed")
_COMMISSION_READ = (
    "commission_rounding",
    "commission_unit",
    "commission_refunded_on_withdrawal",
    "left_up_after_a_win",
)
_WORKING = ("how_long_a_bet_stays_working",)

_NAME = Wording("Name of the by-law, which the section is of", "Nom du règlement dont l’article fait partie")
_IN_FULL = Wording("Heading: what follows is not abridged", "Titre : ce qui suit n’est pas abrégé")
_SOURCE = Wording("The order that the section comes from", "Le décret dont l’article est issu")


def _marked_and_commissioned(opening: str, bet: str) -> tuple[Clause, ...]:
    return (
        Clause(opening, "is placed", bets=(bet,), why=PLACE_ON_THE_FELT),
        Clause("The wager is identified", "identified", ("wager-marker-missing",), bets=(bet,)),
        Clause("The wager is only accepted", "has paid", _COMMISSION, ("left_up_after_a_win",), (bet,)),
        Clause("a commission of 5%", "5%", ("commission-amount-mismatch",), _COMMISSION_READ, (bet,)),
    )


def _decided(bet: str, *readings: str) -> tuple[Clause, ...]:
    return (
        Clause("This wager shall win", "shall win", WON, readings, (bet,)),
        Clause("and shall lose", "shall lose", LOST, bets=(bet,)),
        Clause("Otherwise, it is considered", "“push”", UNDECIDED, bets=(bet,)),
        Clause("A winning wager is paid", "is paid", PRICED, ("payout_unit",), (bet,)),
    )


def _inactive(opening: str, bet: str) -> tuple[Clause, ...]:
    return (
        Clause(opening, "is not active", ("inactive-wager-settled",), _WORKING, (bet,)),
        Clause("unless otherwise indicated", "indicated", ("working-call-late",), _WORKING, (bet,)),
    )


S_95_17 = Article(
    law.S_95_17,
    governs=("qc-craps",),
    clauses=(
        Clause("S-13.1, r. 3 - By-law", bets=ALL, says=_NAME),
        Clause("Full text", bets=ALL, says=_IN_FULL),
        Clause(
            "95.17. The “Place Bets” wagers",
            "wager on the numbers",
            ("wager-not-permitted", "invalid-wager-number"),
            ("late_stake_by_analogy", "result_slip_s"),
            ALL,
        ),
        Clause("and which may be withdrawn", "withdrawn", ("withdrawal-not-after-indecisive-roll",), bets=ALL),
        # (1) asks for no commission, so none is due: hence the rule on a commission taken all the same.
        Clause(
            "(1) \N{NO-BREAK SPACE}The “Right Bet” wager",
            "is placed",
            ("undue-commission",),
            bets=("right_bet",),
            why=PLACE_ON_THE_FELT,
        ),
        *_decided("right_bet"),
        *_inactive("The “Right Bet“ wager is not active", "right_bet"),
        *_marked_and_commissioned("(2) \N{NO-BREAK SPACE}The “Buy Bet” wager", "buy_bet"),
        *_decided("buy_bet"),
        *_inactive("The “Buy Bet” wager is not active", "buy_bet"),
        *_marked_and_commissioned("(3) \N{NO-BREAK SPACE}The “Lay Bet” wager", "lay_bet"),
        *_decided("lay_bet", "lay_bet_on_a_come_out"),
        Clause("O.C. 928-2000", bets=ALL, says=_SOURCE),
    ),
)
