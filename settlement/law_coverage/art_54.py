"""Art. 54, sentence by sentence: the combinations of roulette."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.sentence import (
    DECIDED,
    NUMBER_OF_THE_TEXT,
    PRICED,
    WHICH_TABLES,
    Article,
    Sentence,
)
from settlement.layouts import MULTIPLE_CHANCES, SIMPLE_CHANCES

SIMPLE = tuple(SIMPLE_CHANCES)
ALL = (*MULTIPLE_CHANCES, *SIMPLE)

_PRICE = tuple(dict.fromkeys((*DECIDED, *PRICED)))  # one line of the article says what the bet is and what it pays
_ON_THE_LAYOUT = ("combination-not-permitted", *_PRICE)
_TIMES = ("times_the_stake", "payout_unit")

ART_54 = Article(
    law.ART_54,
    governs=("fr-roulette", "fr-american-roulette"),
    sentences=(
        Sentence("# Article 54", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Sentence("Combinaisons autorisées", bets=ALL, says=WHICH_TABLES),
        Sentence("Les joueurs ne peuvent", ("wager-not-permitted",), ("late_stake_by_analogy",), ALL),
        Sentence("A - Chances multiples.", bets=MULTIPLE_CHANCES),
        Sentence("Mise sur un numéro plein", _ON_THE_LAYOUT, _TIMES, ("plein",)),
        Sentence("Mise à cheval sur deux numéros", _ON_THE_LAYOUT, _TIMES, ("cheval",)),
        Sentence("Mise sur une transversale", _ON_THE_LAYOUT, _TIMES, ("transversale",)),
        Sentence("Mise sur un carré", _ON_THE_LAYOUT, _TIMES, ("carre",)),
        Sentence("Mise sur un sixain", _ON_THE_LAYOUT, _TIMES, ("sixain",)),
        Sentence("Mise sur une douzaine ou une colonne", _ON_THE_LAYOUT, _TIMES, ("douzaine", "colonne")),
        Sentence(
            "Mise à cheval sur deux douzaines",
            _ON_THE_LAYOUT,
            (*_TIMES, "two_dozens_or_columns"),
            ("deux_douzaines", "deux_colonnes"),
        ),
        Sentence("B. - Chances simples.", bets=SIMPLE),
        Sentence("Mise sur pair ou impair", _PRICE, ("times_the_stake",), ("pair", "impair")),
        Sentence("Mise sur manque", ("invalid-pocket", *_PRICE), ("times_the_stake",), ("manque", "passe")),
        Sentence("Mise sur rouge", _PRICE, ("times_the_stake",), ("rouge", "noir")),
        Sentence("Dans les deux cas le joueur conserve sa mise.", ("stake-not-returned",), ("times_the_stake",), ALL),
        Sentence(
            "Dans le cas où le numéro sortant est le zéro",
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
        Sentence(
            "1° Retirer la moitié de sa mise",
            ("half-refund-mismatch", "zero-decision-missing", "payout-missing", "indivisible-stake"),
            ("halves_of_odd_amounts", "missing_zero_decision", "payout_unit"),
            SIMPLE,
            Wording(
                "That the other half goes to the cash desk of the table: a table would have to report the amount it "
                "takes in with each half. Today only the count of the night shows it.",
                "Le versement de l’autre moitié à la caisse de la table : la table devrait transmettre le montant "
                "qu’elle encaisse avec chaque moitié. Seule la comptée de la nuit le montre aujourd’hui.",
            ),
        ),
        Sentence(
            '2° Laisser la totalité de la mise "en prison".',
            ("imprisoned-stake-withdrawn", "zero-decision-missing", "winning-wager-collected"),
            ("release_value", "missing_zero_decision"),
            SIMPLE,
        ),
        Sentence(
            "Lorsque le joueur a adopté cette solution",
            ("imprisoned-stake-paid-winnings", "imprisoned-value-not-halved", "winning-wager-collected"),
            ("release_value", "fresh_stake_beside_a_prisoner"),
            SIMPLE,
        ),
        Sentence(
            "Les autres sont définitivement perdues.",
            ("losing-wager-paid", "losing-wager-not-collected", "withdrawal-of-decided-wager"),
            bets=SIMPLE,
        ),
        Sentence(
            "Si le zéro sort une seconde fois",
            ("half-refund-mismatch", "imprisoned-value-not-halved", "zero-decision-missing", "indivisible-stake"),
            ("release_value", "halves_of_odd_amounts"),
            SIMPLE,
        ),
        Sentence(
            "Lorsque le zéro sort au dernier coup",
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
