"""American roulette: the wheel, the ball, the payments (art. 57-1)."""

from __future__ import annotations

from settlement.catalogue.games import at_american_roulette
from settlement.catalogue.rule import Rule, Wording, under

WHEEL = (
    Rule(
        name="invalid-pocket",
        severity="critical",
        provisions=under({"fr-roulette": ("art. 54 B",), "fr-american-roulette": ("art. 57-1 al. 1",)}),
        facts={"pockets": "number"},
        recorded_is="text",
        title=Wording("No such pocket", "Case inexistante"),
        message=Wording(
            "The result was recorded as “{recorded}”, a pocket this wheel[ of {pockets}] does not have. It decides "
            "nothing.",
            "Le résultat a été enregistré comme « {recorded} », case que ce cylindre[ de {pockets}] n’a pas. Il ne "
            "décide rien.",
        ),
        explanation=Wording(
            "The French wheel has 1 to 36 and zero, the American one a double zero as well. Until the entry is "
            "corrected no wager is decided by it.",
            "Le cylindre français porte les numéros 1 à 36 et le zéro, l’américain aussi un double zéro. Tant que la "
            "saisie n’est pas corrigée, aucune mise n’est décidée.",
        ),
    ),
    Rule(
        name="wheel-direction-repeated",
        severity="major",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        facts={"previous_seq": "number"},
        recorded_is="direction",
        title=Wording("Wheel turned the same way twice", "Cylindre actionné deux fois dans le même sens"),
        message=Wording(
            "The wheel was spun {recorded}, as for the coup before[ (event {previous_seq})]; it must turn the other "
            "way each time.",
            "Le cylindre a été actionné {recorded}, comme au coup précédent[ (événement {previous_seq})] ; il doit "
            "l’être chaque fois en sens opposé.",
        ),
        explanation=Wording(
            "The croupier turns the wheel each time against its previous direction. A ball launched again after a chip "
            "fell is still the same coup.",
            "Le croupier actionne chaque fois le cylindre dans le sens opposé au précédent. Une bille relancée après "
            "la chute d’un jeton est encore le même coup.",
        ),
    ),
    Rule(
        name="ball-same-direction-as-wheel",
        severity="major",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        facts={"spun_seq": "number"},
        recorded_is="direction",
        title=Wording("Ball launched with the wheel", "Bille lancée dans le sens du cylindre"),
        message=Wording(
            "The ball was launched {recorded}, the way the wheel was turning[ (event {spun_seq})]; it must run against "
            "it.",
            "La bille a été lancée {recorded}, comme tournait le cylindre[ (événement {spun_seq})] ; elle doit l’être "
            "en sens inverse.",
        ),
        explanation=Wording(
            "The ball runs against the wheel.",
            "La bille se lance en sens inverse du cylindre.",
        ),
    ),
    Rule(
        name="wheel-not-spun",
        severity="major",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        recorded_is="text",
        title=Wording("Wheel not turned", "Cylindre non actionné"),
        message=Wording(
            "The ball settled on {recorded} although nobody had turned the wheel since the previous result.",
            "La bille s’est arrêtée sur le {recorded} sans que le cylindre ait été actionné depuis le résultat "
            "précédent.",
        ),
        explanation=Wording(
            "The croupier turns the wheel for every coup, each time the other way. After a void spin it may turn on. "
            "The first coup of a session is judged only if some event of the wheel came before it.",
            "Le croupier actionne le cylindre à chaque coup, chaque fois en sens opposé. Après un coup annulé, il peut "
            "continuer à tourner. Le premier coup d’une séance n’est examiné que si un événement de l’appareil l’a "
            "précédé.",
        ),
    ),
    Rule(
        name="ball-not-launched",
        severity="major",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        recorded_is="text",
        title=Wording("Ball not launched", "Bille non lancée"),
        message=Wording(
            "The result {recorded} was recorded although nobody had launched the ball since the previous result or "
            "the void spin.",
            "Le résultat {recorded} a été enregistré sans que la bille ait été lancée depuis le résultat précédent ou "
            "le coup annulé.",
        ),
        explanation=Wording(
            "The croupier launches the ball for every coup, and again after a void spin. A result without a launch was "
            "not drawn, or its launch was not recorded.",
            "Le croupier lance la bille à chaque coup, et de nouveau après un coup annulé. Un résultat sans lancer n’a "
            "pas été tiré, ou son lancer n’a pas été enregistré.",
        ),
    ),
    Rule(
        name="result-after-fallen-chip",
        severity="critical",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        facts={"chip_seq": "number"},
        recorded_is="text",
        title=Wording("Result after a chip fell in the wheel", "Résultat après la chute d’un jeton"),
        message=Wording(
            "The result {recorded} was accepted although a chip had fallen into the wheel[ (event {chip_seq})] and the "
            "ball had not been taken back and launched again.",
            "Le résultat {recorded} a été admis alors qu’un jeton était tombé dans le cylindre[ (événement "
            "{chip_seq})] "
            "et que la bille n’avait pas été reprise et relancée.",
        ),
        explanation=Wording(
            "A chip in the wheel may deflect the ball: the croupier stops play, takes the ball back and launches it "
            "again. The result is adjudicated as recorded.",
            "Un jeton dans le cylindre peut dévier la bille : le croupier arrête le jeu, reprend la bille et la "
            "relance. Le résultat est jugé tel qu’enregistré.",
        ),
    ),
    Rule(
        name="no-more-bets-missing",
        severity="major",
        needs="calls",
        provisions=under({"fr-roulette": ("art. 57-1 al. 6",), "fr-american-roulette": ("art. 57-1 al. 6",)}),
        reason=Wording(
            "Art. 54 says nothing of the call; at French roulette art. 57-1 al. 6 is followed by analogy.",
            "L’art. 54 ne dit rien de l’annonce ; à la roulette française, l’art. 57-1 al. 6 est suivi par analogie.",
        ),
        recorded_is="text",
        title=Wording("“Rien ne va plus” not called", "« Rien ne va plus » non annoncé"),
        message=Wording(
            "The ball settled[ on {recorded}] without “Rien ne va plus” having been called for this coup.",
            "La bille s’est arrêtée[ sur le {recorded}] sans que le « Rien ne va plus » ait été annoncé pour ce coup.",
        ),
        explanation=Wording(
            "When the ball slows down the croupier calls “Rien ne va plus”, and from then on no stake may be placed. "
            "Without the call nobody can say which stakes were in time.",
            "Quand la bille ralentit, le croupier annonce « Rien ne va plus », et dès lors aucun enjeu ne peut être "
            "placé. Sans l’annonce, nul ne peut dire quelles mises étaient à temps.",
        ),
    ),
    Rule(
        name="stacks-not-rebuilt",
        severity="minor",
        needs="handling",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        title=Wording("Stacks not rebuilt", "Piles non reconstituées"),
        message=Wording(
            "The ball was launched before the stacks of colour chips had been rebuilt, and no employé assists the "
            "croupier.",
            "La bille a été lancée avant que les piles de jetons de couleur soient reconstituées, et aucun employé "
            "n’assiste le croupier.",
        ),
        explanation=Wording(
            "A croupier who works alone sorts the colour chips back into stacks at each coup before launching the "
            "ball.",
            "Le croupier qui n’est pas assisté reconstitue à chaque coup les piles de jetons de couleur avant de "
            "lancer la bille.",
        ),
    ),
    Rule(
        name="spin-by-non-croupier",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 6"),
        facts={"event_type": "act"},
        compares="role",
        title=Wording("Wheel or ball handled by another", "Appareil manœuvré par un autre"),
        message=Wording(
            "The {recorded} worked the apparatus[ ({event_type})]; that is for the {expected} alone.",
            "C’est le {recorded} qui a manœuvré l’appareil[ ({event_type})] ; cela n’appartient qu’au {expected}.",
        ),
        explanation=Wording(
            "The croupier is responsible for working the apparatus: he turns the wheel and launches the ball.",
            "Le croupier est responsable de la manœuvre de l’appareil : c’est lui qui actionne le cylindre et lance la "
            "bille.",
        ),
    ),
    Rule(
        name="spin-before-payments-complete",
        severity="minor",
        needs="wheel",
        provisions=at_american_roulette("art. 57-1 al. 8"),
        facts={"unpaid": "wagers", "result_seq": "number"},
        title=Wording("Next spin before all were paid", "Nouveau coup avant la fin des paiements"),
        message=Wording(
            "The wheel was spun again while winning wagers of the last coup[ (event {result_seq})] were unpaid: "
            "{unpaid}.",
            "Le cylindre a été actionné de nouveau alors que des mises gagnantes du dernier coup[ (événement "
            "{result_seq})] n’étaient pas payées[ : {unpaid}].",
        ),
        explanation=Wording(
            "A coup ends when its winners are paid. What is not paid by the next result is found as a missing payout.",
            "Un coup s’achève quand ses gagnants sont payés. Ce qui ne l’est pas au résultat suivant est constaté "
            "comme paiement manquant.",
        ),
    ),
)

ANNOUNCEMENTS = (
    Rule(
        name="result-not-announced",
        severity="major",
        needs="announcements",
        provisions=at_american_roulette("art. 57-1 al. 7"),
        facts={"result_seq": "number"},
        expected_is="text",
        title=Wording("Result not announced", "Résultat non annoncé"),
        message=Wording(
            "Play went on without the result {expected}[ (event {result_seq})] having been announced.",
            "Le jeu s’est poursuivi sans que le résultat {expected}[ (événement {result_seq})] ait été annoncé.",
        ),
        explanation=Wording(
            "Once the ball has settled the croupier announces aloud the number and the winning simple chances, before "
            "anything is paid.",
            "Une fois la bille arrêtée, le croupier annonce à haute voix le numéro et les chances simples gagnants, "
            "avant tout paiement.",
        ),
    ),
    Rule(
        name="announcement-mismatch",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 7"),
        facts={"result_seq": "number"},
        compares="text",
        title=Wording("Wrong announcement", "Annonce inexacte"),
        message=Wording(
            "The croupier announced “{recorded}”[; the ball had settled on “{expected}”].",
            "Le croupier a annoncé « {recorded} »[ ; la bille s’était arrêtée sur « {expected} »].",
        ),
        explanation=Wording(
            "The announcement gives the number and its simple chances; zero and double zero have none. Players follow "
            "the voice: a wrong one leads to wrong claims and wrong payments.",
            "L’annonce donne le numéro et ses chances simples ; le zéro et le double zéro n’en ont pas. Les joueurs "
            "suivent la voix : une annonce fausse entraîne réclamations et paiements faux.",
        ),
    ),
    Rule(
        name="payment-not-announced",
        severity="major",
        needs="announcements",
        provisions=at_american_roulette("art. 57-1 al. 8"),
        recorded_is="money",
        title=Wording("Payment not announced", "Paiement non annoncé"),
        message=Wording(
            "Wager {the_wager} was paid {recorded} without the amount having been announced.",
            "La mise {the_wager} a été payée {recorded} sans que le montant ait été annoncé.",
        ),
        explanation=Wording(
            "The croupier announces in detail the amount of each winning combination, then pays it, so that the player "
            "and the chef de table can follow.",
            "Le croupier annonce dans le détail le montant de chaque combinaison gagnante, puis la paie, afin que le "
            "joueur et le chef de table puissent suivre.",
        ),
    ),
    Rule(
        name="payment-not-as-announced",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 8"),
        facts={"announced_seq": "number"},
        compares="money",
        title=Wording("Payment differs from its announcement", "Paiement différent de l’annonce"),
        message=Wording(
            "Wager {the_wager} was announced at {expected}[ (event {announced_seq})] and paid {recorded}.",
            "La mise {the_wager} a été annoncée à {expected}[ (événement {announced_seq})] et payée {recorded}.",
        ),
        explanation=Wording(
            "What is paid is what was announced. The findings on the payout itself say which of the two was right.",
            "On paie ce qui a été annoncé. Les constats sur le paiement lui-même disent lequel des deux montants "
            "était juste.",
        ),
    ),
)

PAYMENTS = (
    Rule(
        name="payment-before-collection",
        severity="major",
        exceptional_severity="minor",
        needs="collections",
        provisions=at_american_roulette("art. 57-1 al. 8"),
        facts={"losers": "number", "lying": "number", "result_seq": "number"},
        title=Wording("Paid before collecting", "Paiement avant ramassage"),
        message=Wording(
            "A payment was made before the lost stakes of this coup had been collected[: {losers} stake(s), none "
            "collected][: {lying} still lay on the layout].",
            "Un paiement a été effectué avant le ramassage des enjeux perdus de ce coup[ : {losers} à ramasser, aucun "
            "ramassé][ : il en restait {lying} sur le tableau].",
        ),
        explanation=Wording(
            "The croupier first collects the lost stakes, then pays player by player. Lost stakes left on the layout "
            "can be moved onto the winning number. Where some had been collected, and another was only after the "
            "payment, it is less grave.",
            "Le croupier ramasse d’abord les enjeux perdus, puis paie joueur par joueur. Des enjeux perdus laissés sur "
            "le tableau peuvent être glissés sur le numéro gagnant. Le manquement est moins grave si une partie avait "
            "été ramassée et qu’un autre enjeu ne l’a été qu’après le paiement.",
        ),
    ),
    Rule(
        name="payments-interleaved",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 8"),
        facts={"player_before": "text"},
        title=Wording("Players not paid one after the other", "Paiements entremêlés"),
        message=Wording(
            "Player {player} was paid again after player {player_before} had been; payments go player by player.",
            "Le joueur {player} a été payé de nouveau après le joueur {player_before} ; les paiements se font joueur "
            "par joueur.",
        ),
        explanation=Wording(
            "All winning combinations of one player are paid before those of the next.",
            "Toutes les combinaisons gagnantes d’un joueur se paient avant celles du suivant.",
        ),
    ),
    Rule(
        name="payment-order-violated",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 9"),
        facts={"bet_before": "bet"},
        title=Wording("Payments out of order", "Ordre des paiements non respecté"),
        message=Wording(
            "[Player {player}: ]{bet} was paid after {bet_before}, which comes later in the order of payments.",
            "[Joueur {player} : ]la chance {bet} a été payée après la chance {bet_before}, qui vient plus loin dans "
            "l’ordre des paiements.",
        ),
        explanation=Wording(
            "The order is colonne, passe, impair, noir, rouge, pair, manque, douzaine, transversale, carré, chevaux, "
            "and the plein last. Two columns go with colonne, two dozens with douzaine, the sixain with transversale "
            "(a reading).",
            "L’ordre est colonne, passe, impair, noir, rouge, pair, manque, douzaine, transversale, carré, chevaux et, "
            "en dernier, le plein. Deux colonnes vont avec colonne, deux douzaines avec douzaine, le sixain avec "
            "transversale (lecture).",
        ),
    ),
    Rule(
        name="payment-wrong-colour",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 9"),
        compares="colour",
        title=Wording("Paid in another colour", "Payé dans une autre couleur"),
        message=Wording(
            "Wager {the_wager} was paid in {recorded} chips; the player’s colour is {expected}.",
            "La mise {the_wager} a été payée en jetons de couleur « {recorded} » ; celle du joueur est « {expected} ».",
        ),
        explanation=Wording(
            "Payments are made in the colour chips of the winner. Another colour may have another value.",
            "Les paiements se font avec les jetons de couleur propres au gagnant. Une autre couleur peut avoir une "
            "autre valeur.",
        ),
    ),
    Rule(
        name="payment-without-colour",
        severity="minor",
        needs="colours",
        provisions=at_american_roulette("art. 57-1 al. 9"),
        expected_is="colour",
        title=Wording("Not paid in the player’s colour", "Non payé dans la couleur du joueur"),
        message=Wording(
            "Wager {the_wager} was laid in colour chips but not paid in them; the player’s colour is {expected}.",
            "La mise {the_wager} a été faite en jetons de couleur, mais payée autrement ; la couleur du joueur est « "
            "{expected} ».",
        ),
        explanation=Wording(
            "Payments are made in the colour chips of the winner. A stake in other chips or plaques is not judged.",
            "Les paiements se font avec les jetons de couleur propres au gagnant. Une mise faite en d’autres jetons ou "
            "en plaques n’est pas examinée.",
        ),
    ),
)
