"""Art. 54, obligation by obligation: the combinations of roulette."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.sentence import (
    DECIDED,
    NUMBER_OF_THE_TEXT,
    PRICED,
    WHICH_TABLES,
    Article,
    Clause,
)
from settlement.layouts import MULTIPLE_CHANCES, SIMPLE_CHANCES

SIMPLE = tuple(SIMPLE_CHANCES)
ALL = (*MULTIPLE_CHANCES, *SIMPLE)

_PRICE = tuple(dict.fromkeys((*DECIDED, *PRICED)))  # one line of the article says what the bet is and what it pays
_ON_THE_LAYOUT = ("combination-not-permitted", *_PRICE)
_TIMES = ("times_the_stake", "payout_unit")

_OTHER_HALF = Wording(
    "That the other half goes to the cash desk of the table: a table would have to report the amount it takes in with "
    "each half. Today only the count of the night shows it.",
    "Le versement de l’autre moitié à la caisse de la table : la table devrait transmettre le montant qu’elle encaisse "
    "avec chaque moitié. Seule la comptée de la nuit le montre aujourd’hui.",
)


def _multiple(opening: str, *bets: str, readings: tuple[str, ...] = ()) -> Clause:
    """Return the line of a multiple chance: its numbers, and what it pays."""
    return Clause(opening, "rapporte", _ON_THE_LAYOUT, (*_TIMES, *readings), bets)


def _simple(opening: str, *bets: str, rules: tuple[str, ...] = ()) -> Clause:
    """Return the line of two simple chances."""
    return Clause(opening, "1 fois la mise", (*rules, *_PRICE), ("times_the_stake",), bets)


ART_54 = Article(
    law.ART_54,
    governs=("fr-roulette", "fr-american-roulette"),
    clauses=(
        Clause("# Article 54", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Combinaisons autorisées", bets=ALL, says=WHICH_TABLES),
        Clause("Les joueurs ne peuvent", "faire usage", ("wager-not-permitted",), ("late_stake_by_analogy",), ALL),
        Clause("A - Chances multiples.", bets=MULTIPLE_CHANCES),
        _multiple("Mise sur un numéro plein", "plein"),
        _multiple("Mise à cheval sur deux numéros", "cheval"),
        _multiple("Mise sur une transversale", "transversale"),
        _multiple("Mise sur un carré", "carre"),
        _multiple("Mise sur un sixain", "sixain"),
        _multiple("Mise sur une douzaine ou une colonne", "douzaine", "colonne"),
        _multiple(
            "Mise à cheval sur deux douzaines", "deux_douzaines", "deux_colonnes", readings=("two_dozens_or_columns",)
        ),
        Clause("B. - Chances simples.", bets=SIMPLE),
        _simple("Mise sur pair ou impair", "pair", "impair"),
        _simple("Mise sur manque", "manque", "passe", rules=("invalid-pocket",)),
        _simple("Mise sur rouge", "rouge", "noir"),
        Clause(
            "Dans les deux cas le joueur conserve sa mise.",
            "conserve",
            ("stake-not-returned",),
            ("times_the_stake",),
            ALL,
        ),
        Clause(
            "Dans le cas où le numéro sortant est le zéro",
            "s'offrent",
            (
                "invalid-pocket",
                "zero-option-on-multiple-chance",
                "zero-decision-missing",
                "zero-decision-without-zero",
                "payout-without-result",
            ),
            ("zero_rule", "missing_zero_decision"),
            SIMPLE,
        ),
        Clause(
            "1° Retirer la moitié de sa mise",
            "Retirer",
            ("half-refund-mismatch", "zero-decision-missing", "payout-missing", "indivisible-stake"),
            ("halves_of_odd_amounts", "missing_zero_decision", "payout_unit"),
            SIMPLE,
        ),
        Clause("l'autre moitié étant versée", "versée", bets=SIMPLE, why=_OTHER_HALF),
        Clause(
            '2° Laisser la totalité de la mise "en prison".',
            "Laisser",
            ("imprisoned-stake-withdrawn", "zero-decision-missing", "winning-wager-collected"),
            ("release_value", "missing_zero_decision"),
            SIMPLE,
        ),
        Clause(
            "Lorsque le joueur a adopté cette solution",
            "reprennent",
            ("imprisoned-stake-paid-winnings", "imprisoned-value-not-halved", "winning-wager-collected"),
            ("release_value", "fresh_stake_beside_a_prisoner"),
            SIMPLE,
        ),
        Clause(
            "Les autres sont définitivement perdues.",
            "perdues",
            ("losing-wager-paid", "losing-wager-not-collected", "withdrawal-of-decided-wager"),
            bets=SIMPLE,
        ),
        Clause(
            "Si le zéro sort une seconde fois",
            "laissé",
            ("zero-decision-missing",),
            ("missing_zero_decision",),
            SIMPLE,
        ),
        Clause(
            "étant donné que la valeur initiale",
            "perdu",
            ("half-refund-mismatch", "imprisoned-value-not-halved", "indivisible-stake"),
            ("release_value", "halves_of_odd_amounts"),
            SIMPLE,
        ),
        Clause(
            "Lorsque le zéro sort au dernier coup",
            "tenu d'accepter",
            (
                "zero-decision-on-last-coup",
                "last-coup-refund-mismatch",
                "imprisoned-at-close",
                "wager-left-open",
                "result-after-last-coup",
                "payout-missing",
            ),
            ("release_value", "halves_of_odd_amounts"),
            SIMPLE,
        ),
    ),
)
