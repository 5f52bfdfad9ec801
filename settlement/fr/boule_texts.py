"""The texts of la boule: art. 45 and 46 of the arrêté of 2007, and what is quoted of them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from settlement.law import ARRETE_2007, read_text

NAME = "fr-boule"

INSTRUMENT = replace(ARRETE_2007, inferred_from=None)
"""These two articles were supplied as published, with their instrument."""

ART_45 = read_text(
    "fr-art-45.txt",
    digest="8a9f0f6e53a2c923e55cd36c66df8ce2f1195b35017ca2e489796e03df5d69f1",
    language="fr",
    title="Installation des jeux de la boule et du vingt-trois",
    article="art. 45",
    instrument=INSTRUMENT,
)

ART_46 = read_text(
    "fr-art-46.txt",
    digest="95bcf35970bac1609be7bd47d6bce0fd4cff444038c68317a3d6d427485eb26e",
    language="fr",
    title="Fonctionnement des jeux de la boule et du vingt-trois",
    article="art. 46",
    instrument=INSTRUMENT,
)

_TURNS = (
    "Tous les employés affectés à ces jeux, à l'exception des seuls chefs de partie, doivent être chargés "
    "successivement soit de lancer la boule au jeu de la boule, soit d'actionner le cylindre au jeu du vingt-trois, "
    "suivant un ordre de roulement établi par la direction, sans qu'aucun d'eux puisse être spécialisé dans l'emploi."
)

QUOTATIONS_45 = MappingProxyType({"al. 2": (_TURNS,)})

QUOTATIONS_46 = MappingProxyType(
    {
        "al. 1": ("Les seuls appareils autorisés sont, au jeu de la boule, les appareils à neuf numéros",),
        "al. 2": ("Au jeu de la boule, il ne peut être fait usage que des deux combinaisons suivantes :",),
        "al. 2 1°": ("1° Miser sur un numéro plein qui rapporte sept fois la mise ;",),
        "al. 2 2°": (
            "2° Miser sur une chance simple (rouge, noir, pair, impair, passe ou manque) qui rapporte une fois la "
            "mise.",
            "Toutefois, lorsque le numéro 5 est sortant, la totalité des mises sur les chances simples est perdante.",
        ),
    }
)
