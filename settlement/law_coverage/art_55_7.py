"""Art. 55-7, sentence by sentence: how craps is run."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.art_55_8 import ALL
from settlement.law_coverage.sentence import NUMBER_OF_THE_TEXT, WHICH_TABLES, Article, Sentence

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

ART_55_7 = Article(
    law.ART_55_7,
    governs=("fr-craps",),
    sentences=(
        Sentence("# Article 55-7", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Sentence("Fonctionnement du craps.", bets=ALL, says=WHICH_TABLES),
        Sentence("Le nombre des joueurs", bets=ALL, says=_NO_LIMIT),
        Sentence(
            "Les dés sont proposés successivement",
            ("first-shooter-not-left-of-croupiers", "dice-not-offered-clockwise", "throw-by-non-shooter"),
        ),
        Sentence("Si un joueur refuse son tour", ("dice-not-offered-clockwise", "throw-by-non-shooter")),
        Sentence("Le stickman passe les dés", ("dice-touched-without-cause",), why=_PUSHED_WITH_THE_STICK),
        Sentence(
            "Le joueur qui lance les dés, ou tireur",
            ("throw-without-no-more-bets", "throw-delayed", "dice-rubbed-or-held"),
            ("throw_delay_s", "rubbing_the_dice"),
        ),
        Sentence("Le tireur peut demander", ("dice-change-not-authorised",), ("dice_replaced_in_mid_series",)),
        Sentence(
            "Il ne peut toutefois le faire",
            (
                "dice-changed-during-point-series",
                "dice-replaced-during-point-series-with-cause",
                "dice-change-not-authorised",
            ),
            ("dice_replaced_in_mid_series",),
        ),
        Sentence("Les dés sont lancés dans le sens", _THROWING, ("what_counts_as_a_violation",)),
        Sentence("Ils doivent rouler", _THROWING, ("what_counts_as_a_violation",)),
        Sentence(
            "En cas de dés cassés",
            (
                *_THROWING,
                "void-throw-settled",
                "void-not-announced-by-stickman",
                "dice-replaced-during-point-series-with-cause",
            ),
            ("two_coups_nuls", "betting_after_a_voided_throw", "dice_replaced_in_mid_series", "rubbing_the_dice"),
        ),
        Sentence(
            "Le chef de table peut retirer",
            ("shooter-removed-without-repeated-violation", "shooter-removed-by-wrong-role"),
            ("what_counts_as_a_violation", "rubbing_the_dice", "successor_of_a_removed_shooter"),
        ),
        Sentence(
            "Après un certain nombre de séries",
            ("dice-change-not-authorised", "dice-changed-during-point-series"),
            ("dice_replaced_in_mid_series",),
        ),
        Sentence(
            "Le stickman annonce alors",
            ("dice-change-not-announced", "dice-set-not-six"),
            why=_PUSHED_WITH_THE_STICK,
        ),
        Sentence(
            "Le tireur en prend deux",
            (
                "dice-selection-not-two",
                "dice-selected-by-another",
                "dice-remainder-not-boxed",
                "unselected-dice-thrown",
            ),
        ),
        Sentence(
            "Aucune mise ne peut être déposée",
            ("wager-after-no-more-bets", "wager-near-call", "withdrawal-after-no-more-bets"),
            ("call_tolerance_ms", "betting_after_a_voided_throw", "withdrawal_after_the_call"),
            ALL,
        ),
        Sentence(
            "Le tireur doit avoir déposé",
            ("shooter-without-line-wager",),
            ("successor_of_a_removed_shooter",),
            ("win", "dont_win"),
        ),
    ),
)
