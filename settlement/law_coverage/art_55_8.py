"""Art. 55-8, obligation by obligation: the bets of craps."""

from __future__ import annotations

from typing import TypeAlias

from settlement import law
from settlement.law_coverage.sentence import (
    DECIDED,
    LOST,
    NUMBER_OF_THE_TEXT,
    PLACE_ON_THE_FELT,
    PRICED,
    UNDECIDED,
    WON,
    Article,
    Clause,
)

A = ("win", "dont_win", "come", "dont_come", "field", "big_6", "big_8", "under_7", "over_7")
B = ("hardway", "seven", "eleven", "any_craps", "craps_2", "craps_3", "craps_12", "horn")
C = ("win_odds", "dont_win_odds", "come_odds", "dont_come_odds")
D = ("right_bet", "wrong_bet")
ALL = (*A, *B, *C, *D)

Clauses: TypeAlias = tuple[Clause, ...]

_MOVES = ("come-not-moved", "come-moved-to-wrong-number")
_TAKEN_BACK = ("withdrawal-not-after-indecisive-roll",)
_ADDED_LATE = ("line_stake_added_after_the_point",)
_BARRED = ("barred_twelve", "two_coups_nuls")
_ONE_ROLL = "one-roll-wager-withdrawn"


def _wins(opening: str, verb: str, *bets: str, also: tuple[str, ...] = (), readings: tuple[str, ...] = ()) -> Clause:
    return Clause(opening, verb, (*WON, *also), readings, bets)


def _loses(opening: str, verb: str, *bets: str) -> Clause:
    return Clause(opening, verb, LOST, bets=bets)


def _waits(opening: str, verb: str, *bets: str) -> Clause:
    return Clause(opening, verb, UNDECIDED, bets=bets)


def _barred(bet: str) -> Clause:
    return Clause("et fait coup nul avec 12", "fait coup nul", ("barred-number-settled", *UNDECIDED), _BARRED, (bet,))


def _placed(opening: str, bet: str) -> Clause:
    return Clause(opening, "se place", bets=(bet,), why=PLACE_ON_THE_FELT)


def _paid(opening: str, verb: str, *bets: str, readings: tuple[str, ...] = ("payout_unit",)) -> Clause:
    return Clause(opening, verb, PRICED, readings, bets)


def _one_roll(opening: str, bet: str, *, priced: tuple[str, ...] = (), readings: tuple[str, ...] = ()) -> Clauses:
    """Return the clauses of a bet of B that every throw decides: its price, then its numbers."""
    return (
        Clause(opening, "se paie", (*PRICED, *priced), ("times_the_stake", *readings), (bet,)),
        _wins("Cette chance", "gagne", bet, also=(_ONE_ROLL,), readings=("one_roll_bets_withdrawn",)),
        _loses("et perd", "perd", bet),
    )


def _any_time(opening: str, bet: str, loses: str) -> Clauses:
    """Return the clauses of big 6 and big 8."""
    return (
        Clause(opening, bets=(bet,)),
        _wins("Cette chance gagne", "gagne", bet),
        _loses(loses, "perd", bet),
        Clause("La mise peut rester", "retirée", _TAKEN_BACK, bets=(bet,)),
    )


def _under_or_over(opening: str, bet: str) -> Clauses:
    """Return the clauses of under 7 and over 7."""
    return (
        Clause(opening, bets=(bet,)),
        _wins("Cette chance", "gagne", bet, also=(_ONE_ROLL,), readings=("one_roll_bets_withdrawn",)),
        _loses("et perd", "perd", bet),
    )


_SIMPLE: Clauses = (
    _paid("A. - Les chances simples", "se paient", *A, readings=("field_pays_double", "payout_unit")),
    Clause("1° Le win qui se joue", "se joue", ("line-wager-after-come-out",), _ADDED_LATE, ("win",)),
    _wins("Cette chance gagne", "gagne", "win"),
    _loses("perd avec 2, 3 ou 12", "perd", "win"),
    _waits("Pour tout autre total", "suspendu", "win"),
    Clause("et le nombre sorti devient", bets=("win",)),
    Clause("Un croupier indique", "indique", ("point-marker-missing", "point-marker-mismatch"), bets=("win",)),
    _wins("La mise sur win est", "gagnante", "win"),
    _loses("perdante si le 7 sort", "perdante", "win"),
    _waits("ou en attente", "en attente", "win"),
    Clause(
        "Les dés changent de mains",
        "changent de mains",
        ("dice-passed-without-seven-out", "shooter-kept-dice-after-seven-out"),
        bets=("win",),
    ),
    Clause("2° Le don't win qui se joue", "se joue", ("line-wager-after-come-out",), _ADDED_LATE, ("dont_win",)),
    _wins("Cette chance gagne", "gagne", "dont_win"),
    _loses("perd avec 7 ou 11", "perd", "dont_win"),
    _barred("dont_win"),
    _waits("Pour tout autre total", "suspendu", "dont_win"),
    Clause("et le chiffre sorti devient", bets=("dont_win",)),
    _wins("La mise sur don't win est", "gagnante", "dont_win"),
    _loses("et perdante si le point", "perdante", "dont_win"),
    Clause("3° Le come qui se joue", "se joue", ("come-wager-on-come-out",), ("come_needs_a_point",), ("come",)),
    _wins("Cette chance gagne", "gagne", "come"),
    _loses("et perd, dans les mêmes conditions", "perd", "come"),
    Clause("Pour tout autre total", "placée", (*_MOVES, *UNDECIDED), bets=("come",)),
    _wins("et, à partir du jet suivant", "gagne", "come"),
    _loses("perd avec le 7", "perd", "come"),
    _waits("ou reste en attente", "reste en attente", "come"),
    Clause(
        "4° Le don't come qui se joue", "se joue", ("come-wager-on-come-out",), ("come_needs_a_point",), ("dont_come",)
    ),
    _wins("Cette chance gagne", "gagne", "dont_come"),
    _loses("perd, dans les mêmes conditions", "perd", "dont_come"),
    _barred("dont_come"),
    Clause("Pour tout autre total", "placée", (*_MOVES, *UNDECIDED), bets=("dont_come",)),
    _wins("et, à partir du jet suivant", "gagne", "dont_come"),
    _loses("ou perd si le point", "perd", "dont_come"),
    Clause("Les mises placées sur win", "retirées", ("contract-wager-withdrawn",), bets=tuple(A[:4])),
    Clause("et doivent jouer", "jouer", ("wager-left-open",), ("barred_twelve",), tuple(A[:4])),
    Clause("5° Le field qui se joue", "décisif", (_ONE_ROLL,), ("one_roll_bets_withdrawn",), ("field",)),
    _wins("Cette chance gagne", "gagne", "field"),
    _loses("et perd pour tout autre total", "perd", "field"),
    _paid("Elle se paie double", "se paie double", "field", readings=("field_pays_double",)),
    _paid("et à égalité", "à égalité", "field", readings=("field_pays_double",)),
    *_any_time("6° Le big 6", "big_6", "et perd"),
    *_any_time("7° Le big 8", "big_8", "ou perd"),
    *_under_or_over("8° Under 7 qui se joue", "under_7"),
    *_under_or_over("9° Over 7 qui se joue", "over_7"),
)

_MULTIPLE: Clauses = (
    Clause("B. - Les chances multiples", bets=B),
    Clause("1° Les hard ways", "se jouent", ("invalid-wager-number",), bets=("hardway",)),
    Clause("les mises pouvant être retirées", "retirées", _TAKEN_BACK, bets=("hardway",)),
    _wins("Ces chances gagnent", "gagnent", "hardway"),
    _loses("et perdent avec le 7", "perdent", "hardway"),
    _paid("Le double 2 et le double 5", "payés", "hardway", readings=("times_the_stake",)),
    _paid("le double 3 et le double 4", "9 fois la mise", "hardway", readings=("times_the_stake",)),
    *_one_roll("2° Le jeu du 7", "seven"),
    *_one_roll("3° Le jeu du 11", "eleven"),
    *_one_roll("4° L'any craps", "any_craps"),
    *_one_roll("5° Le craps 2", "craps_2"),
    *_one_roll("6° Le craps 3", "craps_3"),
    *_one_roll("7° Le craps 12", "craps_12"),
    *_one_roll("8° Le horn", "horn", priced=("horn-paid-split",), readings=("horn_price",)),
)

_ASSOCIATED: Clauses = (
    Clause(
        "C. - Les chances associées",
        "jouées",
        ("odds-without-base-wager", "odds-number-mismatch", "odds-on-anothers-base"),
        bets=C,
    ),
    Clause("suivent le sort", "suivent", DECIDED, bets=C),
    Clause("mais peuvent toujours", "retirées", _TAKEN_BACK, bets=C),
    _placed("1° La chance associée du win", "win_odds"),
    _wins("Cette chance gagne", "gagne", "win_odds"),
    _loses("perd avec le 7", "perd", "win_odds"),
    _waits("et fait coup nul", "fait coup nul", "win_odds"),
    _paid("La mise est payée", "payée", "win_odds", "come_odds"),
    _placed("2° La chance associée du don't win", "dont_win_odds"),
    _wins("Cette chance gagne", "gagne", "dont_win_odds"),
    _loses("perd avec le point", "perd", "dont_win_odds"),
    _waits("et fait coup nul", "fait coup nul", "dont_win_odds"),
    _paid("La mise est payée", "payée", "dont_win_odds", "dont_come_odds"),
    _placed("3° La chance associée du come", "come_odds"),
    _wins("Cette chance gagne", "gagne", "come_odds"),
    _loses("perd", "perd", "come_odds"),
    _waits("ou fait coup nul dans", "fait coup nul", "come_odds"),
    _paid("et est payée comme", "payée", "come_odds", readings=()),
    _placed("4° La chance associée du don't come", "dont_come_odds"),
    _wins("Cette chance gagne", "gagne", "dont_come_odds"),
    _loses("perd", "perd", "dont_come_odds"),
    _waits("ou fait coup nul dans", "fait coup nul", "dont_come_odds"),
    _paid("et est payée comme", "payée", "dont_come_odds", readings=()),
)

_PLACE_BETS: Clauses = (
    Clause("D. - Les place bets", "se jouer", ("invalid-wager-number",), bets=D),
    Clause("et peuvent être retirés", "retirés", _TAKEN_BACK, bets=D),
    _placed("1° Le right bet", "right_bet"),
    _wins("Cette chance gagne", "gagne", "right_bet"),
    _loses("perd avec le 7", "perd", "right_bet"),
    _waits("ou fait coup nul", "fait coup nul", "right_bet"),
    _paid("La mise est payée", "payée", "right_bet"),
    _placed("2° Le wrong bet", "wrong_bet"),
    Clause("et est différenciée", "différenciée", ("wrong-bet-not-marked",), bets=("wrong_bet",)),
    _wins("Cette chance gagne", "gagne", "wrong_bet"),
    _loses("perd si c'est ce point", "perd", "wrong_bet"),
    _waits("ou fait coup nul", "fait coup nul", "wrong_bet"),
    _paid("La mise est payée", "payée", "wrong_bet", readings=("wrong_bet_misprint", "payout_unit")),
)

ART_55_8 = Article(
    law.ART_55_8,
    governs=("fr-craps",),
    clauses=(
        Clause("# Article 55-8", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Les joueurs ne peuvent", "faire usage", ("wager-not-permitted",), bets=ALL),
        *_SIMPLE,
        *_MULTIPLE,
        *_ASSOCIATED,
        *_PLACE_BETS,
    ),
)
