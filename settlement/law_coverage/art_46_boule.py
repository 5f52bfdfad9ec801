"""Art. 46, obligation by obligation: the combinations of la boule."""

from __future__ import annotations

from settlement.catalogue.rule import Wording
from settlement.fr.art_46_boule import CHANCES, KINDS
from settlement.fr.boule_texts import ART_46 as TEXT
from settlement.fr.boule_texts import NAME
from settlement.law_coverage.sentence import (
    DECIDED,
    LOST,
    NUMBER_OF_THE_TEXT,
    PRICED,
    WHICH_TABLES,
    Article,
    Clause,
)

ALL = tuple(KINDS)
SIMPLE = tuple(CHANCES)

_PRICE = tuple(dict.fromkeys((*DECIDED, *PRICED)))  # one line says what the bet is and what it pays
_READ = ("payout_unit",)
_NUMBERS = ("numbers_of_the_simple_chances",)

_OTHER_GAME = Wording("What the article says of le vingt-trois", "Ce que l’article dit du vingt-trois")

ART_46 = Article(
    TEXT,
    governs=(NAME,),
    clauses=(
        Clause("Article 46", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Fonctionnement des jeux", bets=ALL, says=WHICH_TABLES),
        Clause("Les seuls appareils autorisés", "autorisés", ("boule-number-invalid",), bets=ALL),
        Clause("et, au jeu du vingt-trois", bets=ALL, says=_OTHER_GAME),
        Clause("Au jeu de la boule, il ne peut", "fait usage", ("wager-not-permitted",), ("call_at_la_boule",), ALL),
        Clause(
            "1° Miser sur un numéro plein",
            "rapporte",
            ("boule-stake-number-invalid", *_PRICE),
            _READ,
            ("plein",),
        ),
        Clause("2° Miser sur une chance simple", bets=SIMPLE),
        Clause("rouge, noir", readings=_NUMBERS, bets=("rouge", "noir")),
        Clause("pair, impair", readings=_NUMBERS, bets=("pair", "impair")),
        Clause("passe ou manque", readings=_NUMBERS, bets=("passe", "manque")),
        Clause("qui rapporte une fois la mise", "rapporte", _PRICE, _READ, SIMPLE),
        Clause("Toutefois, lorsque le numéro 5", "perdante", LOST, _NUMBERS, SIMPLE),
    ),
)
