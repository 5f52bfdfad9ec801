"""Art. 45, obligation by obligation: how la boule is set up."""

from __future__ import annotations

from settlement.catalogue.rule import Wording
from settlement.fr.art_46_boule import KINDS
from settlement.fr.boule_texts import ART_45 as TEXT
from settlement.fr.boule_texts import NAME
from settlement.law_coverage.sentence import NUMBER_OF_THE_TEXT, WHICH_TABLES, Article, Clause

ALL = tuple(KINDS)

_TABLE_NUMBER = Wording(
    "The number that the table bears: a table would have to report it beside its own id, and how many tableaux each "
    "croupier serves.",
    "Le numéro d’ordre que porte la table : la table devrait transmettre ce numéro avec son identifiant, ainsi que "
    "les tableaux que dessert chaque croupier.",
)
_ORDER = Wording(
    "The order of the turns as the direction has set it: a table would have to report it when it opens. Today only the "
    "throwers themselves are seen.",
    "L’ordre de roulement établi par la direction : la table devrait transmettre cet ordre à son ouverture. Seuls les "
    "lanceurs eux-mêmes sont visibles aujourd’hui.",
)
_PLACE = Wording(
    "Where the chef de partie or de table stands: a table would have to report the place of each employee.",
    "La place du chef de partie ou de table : la table devrait transmettre l’emplacement de chaque employé.",
)

ART_45 = Article(
    TEXT,
    governs=(NAME,),
    clauses=(
        Clause("Article 45", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Installation des jeux", bets=ALL, says=WHICH_TABLES),
        Clause("Chacune des tables", "porte", bets=ALL, why=_TABLE_NUMBER),
        Clause("Dans le cas contraire", "attribué", bets=ALL, why=_TABLE_NUMBER),
        Clause(
            "Tous les employés",
            "doivent être chargés",
            ("thrower-not-rotated",),
            ("thrower_of_a_session",),
            ALL,
        ),
        Clause("suivant un ordre de roulement", "établi", bets=ALL, why=_ORDER),
        Clause("sans qu'aucun d'eux", "spécialisé", ("thrower-not-rotated",), ("thrower_of_a_session",), ALL),
        Clause("Toutes les fois que", "se tient", bets=ALL, why=_PLACE),
    ),
)
