"""La boule: the throw, the number, the stake (art. 45 and 46)."""

from __future__ import annotations

from settlement.catalogue.rule import Rule, Wording, under

BOULE = (
    Rule(
        name="thrower-not-rotated",
        severity="minor",
        needs="staff",
        judges=("results",),
        provisions=under({"fr-boule": ("art. 45 al. 2",)}),
        recorded_is="number",
        facts={"thrower": "text"},
        title=Wording("The same thrower all session", "Le même lanceur toute la séance"),
        message=Wording(
            "{thrower} threw the ball for the whole session, {recorded} times while a colleague was at the table.",
            "{thrower} a lancé la boule toute la séance, dont {recorded} fois en présence d’un collègue.",
        ),
        explanation=Wording(
            "All employees but the chefs de partie throw in turn, and none is specialised in it. The order of the "
            "turns is not recorded. So the rule looks at a whole session: it fires when one employee made every throw, "
            "at least 30 of them with another employee at the table. It is silent where a thrower is not named.",
            "Tous les employés sauf les chefs de partie lancent à tour de rôle, sans qu’aucun y soit spécialisé. "
            "L’ordre de roulement n’est pas enregistré. La règle examine donc la séance entière : elle se déclenche "
            "quand un seul employé a fait tous les lancers, dont 30 au moins en présence d’un autre employé. Elle se "
            "tait dès qu’un lanceur n’est pas nommé.",
        ),
        remedy=Wording(
            "Ask the chef de partie for the order of turns of this session, and have another employee throw in the "
            "next one[ in place of {croupier}].",
            "Demander au chef de partie l’ordre de roulement de cette séance et faire lancer un autre employé à la "
            "suivante[ à la place de {croupier}].",
        ),
    ),
    Rule(
        name="boule-number-invalid",
        severity="critical",
        effect="decides_nothing",
        judges=("results",),
        provisions=under({"fr-boule": ("art. 46 al. 1",)}),
        recorded_is="number",
        title=Wording("No such number", "Numéro inexistant"),
        message=Wording(
            "The result was recorded as {recorded}, a number that the apparatus does not have. It decides nothing.",
            "Le résultat a été enregistré comme {recorded}, numéro que l’appareil n’a pas. Il ne décide rien.",
        ),
        explanation=Wording(
            "The apparatus of la boule has nine numbers, 1 to 9. Until the entry is corrected no wager is decided by "
            "it.",
            "L’appareil du jeu de la boule porte neuf numéros, de 1 à 9. Tant que la saisie n’est pas corrigée, aucune "
            "mise n’est décidée.",
        ),
        remedy=Wording(
            "Have the entry of event {seq} corrected from the footage of the apparatus.",
            "Faire corriger l’enregistrement de l’événement {seq} d’après les images de l’appareil.",
        ),
    ),
    Rule(
        name="boule-stake-number-invalid",
        severity="major",
        effect="refuses_stake",
        judges=("wagers",),
        provisions=under({"fr-boule": ("art. 46 al. 2 1°", "art. 46 al. 1")}),
        recorded_is="number",
        title=Wording("Stake on no number of the apparatus", "Mise sur aucun numéro de l’appareil"),
        message=Wording(
            "Wager {the_wager} was accepted[ on {recorded}], and not on a number from 1 to 9. It is void: its stake "
            "stays the player’s.",
            "La mise {the_wager} a été acceptée[ sur le {recorded}], et non sur un numéro de 1 à 9. Elle est nulle : "
            "l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "A plein lies on one of the nine numbers. Either the entry is mistaken or the croupier accepted a stake "
            "that no throw can decide.",
            "Un plein se mise sur l’un des neuf numéros. Soit la saisie est fautive, soit le croupier a accepté un "
            "enjeu qu’aucun coup ne peut décider.",
        ),
        remedy=Wording(
            "Establish from the footage of event {seq} where the stake lay[, and remind {croupier} of the nine "
            "numbers].",
            "Établir d’après les images de l’événement {seq} où se trouvait l’enjeu[, et rappeler les neuf numéros à "
            "{croupier}].",
        ),
    ),
    Rule(
        name="boule-settled-before-call",
        severity="major",
        needs="calls",
        judges=("results",),
        provisions=under({"fr-boule": ("art. 57-1 al. 6",)}),
        reason=Wording(
            "Art. 45 and 46 say nothing of the call; art. 57-1 al. 6 is followed by analogy.",
            "Les art. 45 et 46 ne disent rien de l’annonce ; l’art. 57-1 al. 6 est suivi par analogie.",
        ),
        recorded_is="number",
        title=Wording("Ball at rest before the call", "Boule arrêtée avant l’annonce"),
        message=Wording(
            "The ball came to rest[ in {recorded}] without “Rien ne va plus” having been called for this coup.",
            "La boule s’est arrêtée[ sur le {recorded}] sans que le « Rien ne va plus » ait été annoncé pour ce coup.",
        ),
        explanation=Wording(
            "The croupier calls “Rien ne va plus” while the ball still rolls, and from then on no stake may be placed. "
            "Without the call nobody can say which stakes were in time.",
            "Le croupier annonce « Rien ne va plus » pendant que la boule roule encore, et dès lors aucun enjeu ne "
            "peut être placé. Sans l’annonce, nul ne peut dire quelles mises étaient à temps.",
        ),
        remedy=Wording(
            "Remind the croupier[ {croupier}] to call “Rien ne va plus” at each coup.",
            "Rappeler au croupier[ {croupier}] d’annoncer « Rien ne va plus » à chaque coup.",
        ),
    ),
)
