"""Art. 57-1, sentence by sentence: how American roulette is run."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.art_54 import ALL
from settlement.law_coverage.sentence import NUMBER_OF_THE_TEXT, WHICH_TABLES, Article, Sentence

_COLOURS = (
    "colour-limit-exceeded",
    "colour-shared",
    "colour-value-undeclared",
    "colour-value-changed",
    "wager-with-foreign-colour",
    "wager-with-unassigned-colour",
    "stake-not-multiple-of-colour-value",
)
_MEASURES = Wording(
    "The make and the measures of the wheel: a table would have to report the wheel in use and the certificate of its "
    "last inspection. No event carries them.",
    "La facture et les dimensions de l’appareil : la table devrait transmettre l’appareil en service et le certificat "
    "de sa dernière vérification. Aucun événement ne les porte.",
)
_BOXES = Wording(
    "Where the boxes are fixed and what lies in them: a table would have to report the boxes and their markers, as "
    "found at the opening. The event contract has the colours and their values.",
    "L’emplacement des boîtes et leur contenu : la table devrait transmettre les boîtes et leurs marqueurs, constatés "
    "à l’ouverture. Le contrat d’événements porte les couleurs et leurs valeurs.",
)
_RESPONSIBILITY = Wording(
    "Who answers for the table is a matter of responsibility, not of conduct: a table would have to report what the "
    "chef de table saw and settled. What goes wrong in payments and operations is found under the clauses on them.",
    "Il s’agit d’une responsabilité et non d’un geste : la table devrait transmettre ce que le chef de table a "
    "constaté et tranché. Les irrégularités des paiements et des opérations sont relevées au titre des alinéas qui "
    "les régissent.",
)
_SLOWING_BALL = Wording(
    "That the call comes when the ball slows down, no sooner and no later: a table would have to report the speed of "
    "the ball, as read by a sensor at the wheel.",
    "Le moment de l’annonce, quand la bille ralentit, ni plus tôt ni plus tard : la table devrait transmettre la "
    "vitesse de la bille, relevée par un capteur du cylindre.",
)

ART_57_1 = Article(
    law.ART_57_1,
    governs=("fr-american-roulette",),
    sentences=(
        Sentence("# Article 57-1", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Sentence("Fonctionnement de la roulette", bets=ALL, says=WHICH_TABLES),
        Sentence("Le matériel de la roulette", why=_MEASURES),
        Sentence("Ce plateau", ("invalid-pocket",), why=_MEASURES),
        Sentence("Les cases alternativement", ("invalid-pocket",), ("zero_rule",), ("plein", "rouge", "noir")),
        Sentence("Dix boîtes", _COLOURS, why=_BOXES),
        Sentence("Ils pourront également", why=_BOXES),
        Sentence("De dimensions restreintes", ("seat-limit-exceeded", "unseated-player-over-limit"), ("seat_limit",)),
        Sentence("Le personnel affecté", ("staffing-invalid", "table-without-chief")),
        Sentence("Le chef de table est responsable", why=_RESPONSIBILITY),
        Sentence("Il dispose des marqueurs", ("chief-handled-chips", "marker-not-from-chief")),
        Sentence(
            "Le croupier responsable",
            ("wheel-direction-repeated", "ball-same-direction-as-wheel", "spin-by-non-croupier"),
            ("relaunch_after_a_fallen_chip",),
        ),
        Sentence(
            "Dans le cas où le jeton",
            ("result-after-fallen-chip",),
            ("relaunch_after_a_fallen_chip",),
        ),
        Sentence("Tant que la force centrifuge", ("no-more-bets-missing",), why=_SLOWING_BALL),
        Sentence(
            "Dès lors aucun enjeu",
            ("wager-after-no-more-bets", "wager-near-call", "withdrawal-after-no-more-bets"),
            ("call_tolerance_ms", "withdrawal_after_the_call"),
            ALL,
        ),
        Sentence("A chaque coup, il doit", ("stacks-not-rebuilt",)),
        Sentence("Quand la bille", ("result-not-announced", "announcement-mismatch")),
        Sentence(
            "Il ramasse les enjeux perdus",
            (
                "payment-before-collection",
                "payments-interleaved",
                "payment-not-announced",
                "payment-not-as-announced",
                "spin-before-payments-complete",
            ),
        ),
        Sentence(
            "Les paiements doivent toujours",
            (
                "payment-order-violated",
                "payment-wrong-colour",
                "colour-shared",
                "wager-with-foreign-colour",
                "wager-with-unassigned-colour",
            ),
            ("payment_order_of_three_bets",),
            ALL,
        ),
    ),
)
