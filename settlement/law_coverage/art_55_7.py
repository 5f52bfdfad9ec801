"""Art. 55-7, obligation by obligation: how craps is run."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.art_55_8 import ALL
from settlement.law_coverage.sentence import NUMBER_OF_THE_TEXT, WHICH_TABLES, Article, Clause

_THROWING = ("irregular-throw-counted", "valid-throw-voided")
_PUSHED_WITH_THE_STICK = Wording(
    "That the dice are passed with the stick: a table would have to report each passing and what it was done with. The "
    "event contract has the hands that touched them.",
    "Le passage des dés au moyen de la canne : la table devrait transmettre chaque passage et ce qui a servi à le "
    "faire. Le contrat d’événements porte les mains qui les ont touchés.",
)

_NO_LIMIT = Wording(
    "No limit to check: seats of a craps table have no maximum",
    "Aucune limite à vérifier : le nombre de places d’une table de craps n’a pas de maximum",
)

_MAY_PLAY = Wording(
    "A permission: nothing else is asked of the shooter",
    "Une permission : rien d’autre n’est demandé au tireur",
)

_ORDER = ("dice-not-offered-clockwise", "throw-by-non-shooter")
_VIOLATION = ("what_counts_as_a_violation",)
_IN_MID_SERIES = ("dice_replaced_in_mid_series",)

ART_55_7 = Article(
    law.ART_55_7,
    governs=("fr-craps",),
    clauses=(
        Clause("# Article 55-7", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Fonctionnement du craps.", bets=ALL, says=WHICH_TABLES),
        Clause("Le nombre des joueurs", bets=ALL, says=_NO_LIMIT),
        Clause(
            "Les dés sont proposés successivement",
            "proposés",
            ("first-shooter-not-left-of-croupiers", "throw-by-non-shooter"),
        ),
        Clause("puis dans le sens des aiguilles", "dans le sens des aiguilles d'une montre", _ORDER[:1]),
        Clause("Si un joueur refuse son tour", "passent", _ORDER),
        Clause("Le stickman passe les dés", "passe", why=_PUSHED_WITH_THE_STICK),
        Clause("et doit éviter de les toucher", "éviter", ("dice-touched-without-cause",)),
        Clause(
            "Le joueur qui lance les dés, ou tireur",
            "jeter",
            ("throw-without-no-more-bets", "throw-delayed"),
            ("throw_delay_s",),
        ),
        Clause("et ne doit ni les frotter", "frotter", ("dice-rubbed-or-held",), ("rubbing_the_dice",)),
        Clause("ni les garder", "garder", ("dice-rubbed-or-held",), ("rubbing_the_dice",)),
        Clause("Le tireur peut demander", "demander", ("dice-change-not-authorised",), _IN_MID_SERIES),
        Clause(
            "Il ne peut toutefois le faire",
            "faire",
            (
                "dice-changed-during-point-series",
                "dice-replaced-during-point-series-with-cause",
                "dice-change-not-authorised",
            ),
            _IN_MID_SERIES,
        ),
        Clause("Les dés sont lancés dans le sens", "lancés", _THROWING, _VIOLATION),
        Clause("et de telle manière", "s'immobilisent", _THROWING, _VIOLATION),
        Clause("après que l'un au moins", "frappé", _THROWING, _VIOLATION),
        Clause("Ils doivent rouler", "rouler", _THROWING, _VIOLATION),
        Clause("et, pour être valables", "immobilisés", _THROWING, _VIOLATION),
        Clause(
            "En cas de dés cassés",
            "annonce",
            (
                *_THROWING,
                "void-throw-settled",
                "void-not-announced-by-stickman",
                "dice-replaced-during-point-series-with-cause",
            ),
            (
                "two_coups_nuls",
                "betting_after_a_voided_throw",
                "dice_replaced_in_mid_series",
                "rubbing_the_dice",
                "result_slip_s",
            ),
        ),
        Clause(
            "Le chef de table peut retirer",
            "retirer",
            ("shooter-removed-by-wrong-role",),
            ("successor_of_a_removed_shooter",),
        ),
        Clause(
            "s'il viole de façon répétée",
            "viole de façon répétée",
            ("shooter-removed-without-repeated-violation",),
            ("what_counts_as_a_violation", "rubbing_the_dice"),
        ),
        Clause(
            "Après un certain nombre de séries",
            "décider",
            ("dice-change-not-authorised", "dice-changed-during-point-series"),
            _IN_MID_SERIES,
        ),
        Clause("Le stickman annonce alors", "annonce", ("dice-change-not-announced",)),
        Clause("et pousse devant", "pousse", why=_PUSHED_WITH_THE_STICK),
        Clause("les six dés", "six dés", ("dice-set-not-six",)),
        Clause(
            "Le tireur en prend deux",
            "prend",
            (
                "dice-selection-not-two",
                "dice-selected-by-another",
                "dice-changed-during-point-series",
                "unselected-dice-thrown",
            ),
        ),
        Clause(
            "et les quatre autres",
            "remis",
            ("dice-remainder-not-boxed", "dice-changed-during-point-series"),
        ),
        Clause(
            "Aucune mise ne peut être déposée",
            "déposée",
            ("wager-after-no-more-bets", "wager-near-call", "withdrawal-after-no-more-bets"),
            ("call_tolerance_ms", "betting_after_a_voided_throw", "withdrawal_after_the_call"),
            ALL,
        ),
        Clause(
            "Le tireur doit avoir déposé",
            "avoir déposé",
            ("shooter-without-line-wager",),
            ("successor_of_a_removed_shooter",),
            ("win", "dont_win"),
        ),
        Clause("il peut en outre", bets=ALL, says=_MAY_PLAY),
    ),
)
