"""Art. 57-1, obligation by obligation: how American roulette is run."""

from __future__ import annotations

from settlement import law
from settlement.catalogue.rule import Wording
from settlement.law_coverage.art_54 import ALL
from settlement.law_coverage.sentence import NUMBER_OF_THE_TEXT, WHICH_TABLES, Article, Clause

_OWN_COLOURS = (
    "colour-limit-exceeded",
    "colour-shared",
    "wager-with-foreign-colour",
    "wager-with-unassigned-colour",
)
_VALUES = ("colour-value-undeclared", "colour-value-changed", "stake-not-multiple-of-colour-value")
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

_COLOURS_OF_POCKETS = Wording(
    "The colours of the pockets and their order round the wheel: a table would have to report the wheel in use and the "
    "plan of its pockets. A result has the number of a pocket, and its colour follows from the number.",
    "Les couleurs des cases et leur ordre autour du cylindre : la table devrait transmettre l’appareil en service et "
    "le plan de ses cases. Un résultat porte le numéro d’une case, dont la couleur se déduit.",
)

ART_57_1 = Article(
    law.ART_57_1,
    governs=("fr-american-roulette",),
    clauses=(
        Clause("# Article 57-1", bets=ALL, says=NUMBER_OF_THE_TEXT),
        Clause("Fonctionnement de la roulette", bets=ALL, says=WHICH_TABLES),
        Clause("Le matériel de la roulette", "se compose", why=_MEASURES),
        Clause("Ce plateau", "présente", why=_MEASURES),
        Clause("est divisé en 38 cases", "divisé", ("invalid-pocket",)),
        Clause("séparées par de petites cloisons", "séparées", why=_MEASURES),
        Clause("Les cases alternativement", "alternativement rouges et noires", why=_COLOURS_OF_POCKETS),
        Clause("portent chacune", "portent", ("invalid-pocket",), bets=("plein", "rouge", "noir")),
        Clause("diamétralement opposées", "opposées", why=_COLOURS_OF_POCKETS),
        Clause("et où figure", "figure", ("invalid-pocket",), ("zero_rule",), ("plein", "rouge", "noir")),
        Clause("Dix boîtes", "recevoir", _OWN_COLOURS),
        Clause("sur lequel est placé", "placé", why=_BOXES),
        Clause("indiquant la valeur", "indiquant", _VALUES),
        Clause("seront fixés", "fixés", why=_BOXES),
        Clause("Ils pourront également", "placés", why=_BOXES),
        Clause(
            "De dimensions restreintes",
            "ne permet",
            ("seat-limit-exceeded", "unseated-player-over-limit"),
            ("seat_limit",),
        ),
        Clause("l'usage de la double table", readings=("seat_limit",)),
        Clause("Le personnel affecté", "un chef de table", ("table-without-chief", "staffing-invalid")),
        Clause("un croupier", "un croupier", ("table-without-croupier", "staffing-invalid")),
        Clause("et, éventuellement, un employé", "un employé", ("staffing-invalid",)),
        Clause("Le chef de table est responsable", "responsable", why=_RESPONSIBILITY),
        Clause("Il dispose des marqueurs", "remet", ("marker-not-from-chief",)),
        Clause("mais ne manipule", "ne manipule", ("chief-handled-chips",)),
        Clause("Le croupier responsable", "actionner", ("wheel-not-spun", "spin-by-non-croupier")),
        Clause(
            "dans un sens opposé",
            "dans un sens opposé",
            ("wheel-direction-repeated",),
            ("relaunch_after_a_fallen_chip",),
        ),
        Clause("et lancer la bille", "lancer", ("ball-not-launched", "spin-by-non-croupier")),
        Clause("en sens inverse", "en sens inverse", ("ball-same-direction-as-wheel",)),
        Clause(
            "Dans le cas où le jeton",
            "arrêter",
            ("result-after-fallen-chip",),
            ("relaunch_after_a_fallen_chip",),
        ),
        Clause("puis reprendre la bille", "reprendre", ("result-after-fallen-chip",)),
        Clause(
            "et la lancer de nouveau",
            "lancer",
            ("result-after-fallen-chip",),
            ("relaunch_after_a_fallen_chip",),
        ),
        Clause("Tant que la force centrifuge", "peuvent continuer à miser", why=_SLOWING_BALL),
        Clause("mais dès que le mouvement", "dès que", why=_SLOWING_BALL),
        Clause("le croupier annonce", "annonce", ("no-more-bets-missing",)),
        Clause(
            "Dès lors aucun enjeu",
            "ne peut plus être placé",
            ("wager-after-no-more-bets", "wager-near-call", "withdrawal-after-no-more-bets"),
            ("call_tolerance_ms", "withdrawal_after_the_call"),
            ALL,
        ),
        Clause("A chaque coup, il doit", "reconstituer", ("stacks-not-rebuilt",)),
        Clause("Quand la bille", "annonce", ("result-not-announced", "announcement-mismatch"), ("result_slip_s",)),
        Clause("et les chances simples", "les chances simples", ("announcement-mismatch",)),
        Clause("Il ramasse les enjeux perdus", "ramasse", ("payment-before-collection",)),
        Clause("et procède par joueur", "procède", ("payments-interleaved", "spin-before-payments-complete")),
        Clause("après avoir annoncé", "annoncé", ("payment-not-announced", "payment-not-as-announced")),
        Clause(
            "Les paiements doivent toujours",
            "effectués",
            ("payment-order-violated",),
            ("payment_order_of_three_bets",),
            ALL,
        ),
        Clause(
            "et se font avec des jetons",
            "se font",
            (
                "payment-wrong-colour",
                "payment-without-colour",
                "colour-shared",
                "wager-with-foreign-colour",
                "wager-with-unassigned-colour",
            ),
            bets=ALL,
        ),
    ),
)
