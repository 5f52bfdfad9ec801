"""Roulette: the zero, the prison and the last coup (art. 54)."""

from __future__ import annotations

from settlement.catalogue.games import at_both_roulettes
from settlement.catalogue.rule import Rule, Wording

ROULETTE = (
    Rule(
        name="orphan-mismatch",
        severity="major",
        provisions=at_both_roulettes("art. 54 B 2°"),
        facts={"status": "status"},
        compares="money",
        title=Wording("Orphan stake that does not match", "Mise orpheline inexacte"),
        message=Wording(
            "The cash desk received {recorded} as the stake left by wager {the_wager}[, which was {status}]"
            "[; {something_due} was left to hand in][; {nothing_due} was left to hand in].",
            "La caisse a reçu {recorded} comme enjeu laissé par la mise {the_wager}[, {status}][ ; il restait "
            "{something_due} à remettre][ ; il ne restait {nothing_due} à remettre].",
        ),
        explanation=Wording(
            "A stake freed from prison that nobody claims is kept at the cash desk for its owner. What is handed in "
            "must be what was freed, less what was handed back or plays on.",
            "L’enjeu libéré de prison que nul ne réclame est conservé à la caisse pour son propriétaire. Ce qui y est "
            "remis doit être ce qui a été libéré, moins ce qui a été rendu ou rejoue.",
        ),
    ),
    Rule(
        name="combination-not-permitted",
        severity="major",
        provisions=at_both_roulettes("art. 54 A"),
        title=Wording("Combination not permitted", "Combinaison non autorisée"),
        message=Wording(
            "Wager {the_wager} was accepted, but these numbers make no such combination on this layout. The wager is "
            "void: its stake stays the player’s.",
            "La mise {the_wager} a été acceptée alors que ces numéros ne forment pas cette combinaison sur ce tableau. "
            "Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "A combination is a place on the layout: two neighbours for a cheval, a row for a transversale, four "
            "numbers around one point for a carré, neighbouring dozens or columns for a stake on two of them. The "
            "recorded numbers share no such place. Either the entry is mistaken or the croupier accepted a stake he "
            "could not price.",
            "Une combinaison est un emplacement du tableau : deux voisins pour un cheval, une rangée pour une "
            "transversale, quatre numéros autour d’un même point pour un carré, deux douzaines ou colonnes voisines "
            "pour une mise à cheval. Les numéros enregistrés n’ont pas d’emplacement commun. Soit la saisie est "
            "fautive, soit le croupier a accepté un enjeu qu’il ne pouvait payer.",
        ),
    ),
    Rule(
        name="zero-option-on-multiple-chance",
        severity="critical",
        provisions=at_both_roulettes("art. 54 B"),
        recorded_is="choice",
        title=Wording("Zero option on a multiple chance", "Option du zéro sur une chance multiple"),
        message=Wording(
            "Wager {the_wager} was offered a choice at zero[ ({recorded})]. It is not a simple chance and has no such "
            "choice.",
            "La mise {the_wager} s’est vu offrir un choix au zéro[ ({recorded})]. Ce n’est pas une chance simple : "
            "elle n’y a pas droit.",
        ),
        explanation=Wording(
            "Only simple chances (pair, impair, manque, passe, rouge, noir) are offered half or prison when zero "
            "comes. A multiple chance without the zero is lost. The choice has no effect.",
            "Seules les chances simples (pair, impair, manque, passe, rouge, noir) ont le choix entre la moitié et la "
            "prison à la sortie du zéro. Une chance multiple sans le zéro est perdue. Le choix est sans effet.",
        ),
    ),
    Rule(
        name="zero-decision-missing",
        severity="major",
        provisions=at_both_roulettes("art. 54 B 1°", "art. 54 B 2°"),
        facts={"zero_seq": "number", "zeros": "number", "ending": "ending"},
        title=Wording("No choice recorded at zero", "Choix au zéro non enregistré"),
        message=Wording(
            "Zero came at event {zero_seq} and no choice was recorded for wager {the_wager}[ before {ending}]. It "
            "plays on as a stake in prison.",
            "Le zéro est sorti à l’événement {zero_seq} et aucun choix n’était enregistré pour la mise "
            "{the_wager}[ quand {ending}]. Elle continue de jouer comme une mise en prison.",
        ),
        explanation=Wording(
            "At zero the player of a simple chance either takes half back or leaves the stake in prison. Nothing says "
            "which; the stake was still on the layout, so it is adjudicated as a prisoner (a reading).",
            "Au zéro, le joueur d’une chance simple retire la moitié ou laisse sa mise en prison. Rien ne dit ce qu’il "
            "a choisi ; la mise étant restée sur le tapis, elle est jugée comme prisonnière (lecture).",
        ),
    ),
    Rule(
        name="zero-decision-without-zero",
        severity="major",
        provisions=at_both_roulettes("art. 54 B"),
        facts={"status": "status"},
        recorded_is="choice",
        title=Wording("Choice without a zero", "Choix sans zéro"),
        message=Wording(
            "A choice[ ({recorded})] was recorded for wager {the_wager}, which had no choice[: {status}].",
            "Un choix[ ({recorded})] a été enregistré pour la mise {the_wager}, qui n’ouvrait aucun choix[ : "
            "{status}].",
        ),
        explanation=Wording(
            "The choice exists only after a zero, for a wager that the zero concerns, and may change until the next "
            "result as long as nothing was paid on it. It has no effect here.",
            "Le choix n’existe qu’après un zéro, pour une mise que le zéro concerne, et peut changer jusqu’au résultat "
            "suivant tant que rien n’a été payé. Il est ici sans effet.",
        ),
    ),
    Rule(
        name="half-refund-mismatch",
        severity="critical",
        provisions=at_both_roulettes("art. 54 B 1°", "art. 54 al. 8"),
        facts={"zeros": "number", "part": "part"},
        compares="money",
        title=Wording("Wrong half at zero", "Moitié inexacte au zéro"),
        message=Wording(
            "[Wager {the_wager}: the house gave back {recorded}[ {part}] at zero; {expected} was due[: {halving}].[ "
            "The player is short of {short}.][ The house gave back {excess} too much.]][The house took back "
            "{taken_back} on wager {the_wager} that had not been paid[; {expected} was due].[ The player is short of "
            "{short}.]]",
            "[Mise {the_wager} : il a été rendu [{part} ]{recorded} au zéro ; il était dû {expected}[ : {halving}].[ "
            "Il manque {short} au joueur.][ La banque a rendu {excess} de trop.]]"
            "[La banque a repris au joueur, pour la mise {the_wager}, un montant de {taken_back} qui n’avait pas été "
            "payé[ ; il était dû {expected}].[ Il manque {short} au joueur.]]",
        ),
        explanation=Wording(
            "The player takes back half of the stake at the first zero, a quarter at the second, an eighth at the "
            "third, always of the initial stake, rounded down to the payout unit; the rest goes to the table.",
            "Le joueur retire la moitié de sa mise au premier zéro, le quart au deuxième, le huitième au troisième, "
            "toujours de la mise initiale, arrondi à l’unité de paiement inférieure ; le reste va à la caisse de la "
            "table.",
        ),
    ),
    Rule(
        name="imprisoned-stake-paid-winnings",
        severity="critical",
        provisions=at_both_roulettes("art. 54 B 2°"),
        facts={"zeros": "number", "part": "part"},
        compares="money",
        title=Wording("Prisoner paid winnings", "Gain payé à une mise en prison"),
        message=Wording(
            "Wager {the_wager} came out of prison and was paid {recorded}[ {part}]. It regains its freedom and wins "
            "nothing.",
            "La mise {the_wager} est sortie de prison et a reçu [{part} ]{recorded}. Elle reprend sa liberté et ne "
            "gagne rien.",
        ),
        explanation=Wording(
            "A stake in prison that would win is “purely and simply” released. Its payout returns the stake without "
            "winnings.",
            "Une mise en prison qui devrait gagner reprend « purement et simplement » sa liberté. Son paiement "
            "restitue l’enjeu sans aucun gain.",
        ),
    ),
    Rule(
        name="imprisoned-value-not-halved",
        severity="critical",
        provisions=at_both_roulettes("art. 54 al. 8", "art. 54 B 2°"),
        facts={"zeros": "number", "part": "part"},
        compares="money",
        title=Wording("Wrong value released", "Valeur libérée inexacte"),
        message=Wording(
            "[Wager {the_wager} came out of prison[ after {zeros} zero(s)]: the house gave back {recorded}[ {part}]; "
            "{expected} was due.[ The player is short of {short}.][ The house gave back {excess} too much.]]"
            "[The house took back {taken_back} on wager {the_wager} that had not been paid[; {expected} was due]."
            "[ The player is short of {short}.]]",
            "[La mise {the_wager} est sortie de prison[ après {zeros} zéro(s)] : il a été rendu [{part} ]{recorded} ; "
            "il était dû {expected}.[ Il manque {short} au joueur.][ La banque a rendu {excess} de trop.]]"
            "[La banque a repris au joueur, pour la mise {the_wager}, un montant de {taken_back} qui n’avait pas été "
            "payé[ ; il était dû {expected}].[ Il manque {short} au joueur.]]",
        ),
        explanation=Wording(
            "The whole stake stands after the first zero; each further zero takes 50% of its value. What is released "
            "follows the reading “value of a stake on its release” of the register.",
            "La totalité de la mise subsiste après le premier zéro ; chaque zéro suivant lui ôte 50 % de sa valeur. Ce "
            "qui est libéré suit la lecture « valeur de la mise à sa libération » du registre.",
        ),
    ),
    Rule(
        name="imprisoned-stake-withdrawn",
        severity="critical",
        provisions=at_both_roulettes("art. 54 B 2°"),
        facts={"zeros": "number", "decided_seq": "number", "status": "status"},
        recorded_is="money",
        title=Wording("Prisoner withdrawn", "Mise en prison retirée"),
        message=Wording(
            "Wager {the_wager} was taken back[ ({recorded})] while in prison[ after {zeros} zero(s)]. The withdrawal "
            "has no effect[: event {decided_seq} decided the wager ({status})].",
            "La mise {the_wager} a été retirée[ ({recorded})] alors qu’elle était en prison[ après {zeros} zéro(s)]. "
            "Le retrait est sans effet[ : l’événement {decided_seq} a décidé la mise ({status})].",
        ),
        explanation=Wording(
            "A player who chose prison leaves the whole stake there until a number frees it or takes it, or another "
            "zero gives a new choice. A player who has not chosen yet may take the half, and no other part.",
            "Le joueur qui a choisi la prison y laisse la totalité de sa mise jusqu’à ce qu’un numéro la libère ou la "
            "prenne, ou qu’un nouveau zéro lui redonne le choix. Celui qui n’a pas encore choisi peut retirer la "
            "moitié, et rien d’autre.",
        ),
    ),
    Rule(
        name="zero-decision-on-last-coup",
        severity="critical",
        provisions=at_both_roulettes("art. 54 last al."),
        facts={"last_coup_seq": "number"},
        recorded_is="choice",
        title=Wording("Prison chosen on the last coup", "Prison choisie au dernier coup"),
        message=Wording(
            "The choice {recorded} was recorded for wager {the_wager} although the last coup had been announced[ "
            "(event {last_coup_seq})]. The refund is compulsory then.",
            "Le choix « {recorded} » a été enregistré pour la mise {the_wager} alors que le dernier coup avait été "
            "annoncé[ (événement {last_coup_seq})]. Le remboursement est alors obligatoire.",
        ),
        explanation=Wording(
            "When zero comes on the last coup there is no later spin to free a prisoner: the player must accept the "
            "refund of half, a quarter or an eighth of the initial stake.",
            "Quand le zéro sort au dernier coup, aucun coup ultérieur ne peut libérer la mise : le joueur est tenu "
            "d’accepter le remboursement de la moitié, du quart ou du huitième de sa mise initiale.",
        ),
    ),
    Rule(
        name="last-coup-refund-mismatch",
        severity="critical",
        provisions=at_both_roulettes("art. 54 last al."),
        facts={"zeros": "number", "part": "part"},
        compares="money",
        title=Wording("Wrong refund on the last coup", "Remboursement inexact au dernier coup"),
        message=Wording(
            "[Wager {the_wager}: the house refunded {recorded}[ {part}] for the zero of the last coup; {expected} was "
            "due[: {halving}].[ The player is short of {short}.][ The house refunded {excess} too much.]]"
            "[The house took back {taken_back} on wager {the_wager} that had not been paid[; {expected} was due]."
            "[ The player is short of {short}.]]",
            "[Mise {the_wager} : il a été remboursé [{part} ]{recorded} pour le zéro du dernier coup ; il était dû "
            "{expected}[ : {halving}].[ Il manque {short} au joueur.][ La banque a remboursé {excess} de trop.]]"
            "[La banque a repris au joueur, pour la mise {the_wager}, un montant de {taken_back} qui n’avait pas été "
            "payé[ ; il était dû {expected}].[ Il manque {short} au joueur.]]",
        ),
        explanation=Wording(
            "The refund is half of the initial stake if it was the first zero for this wager, a quarter if the second, "
            "an eighth if the third, rounded down to the payout unit.",
            "Le remboursement est de la moitié de la mise initiale s’il s’agit pour elle du premier zéro, du quart au "
            "deuxième, du huitième au troisième, arrondi à l’unité de paiement inférieure.",
        ),
    ),
    Rule(
        name="imprisoned-at-close",
        severity="critical",
        provisions=at_both_roulettes("art. 54 last al."),
        facts={"zeros": "number"},
        title=Wording("Still in prison at the close", "Encore en prison à la clôture"),
        message=Wording(
            "The session was closed with wager {the_wager} still in prison[ after {zeros} zero(s)].",
            "La séance a été close alors que la mise {the_wager} était encore en prison[ après {zeros} zéro(s)].",
        ),
        explanation=Wording(
            "The last coup of a session leaves no prisoner: a number frees or takes the stake, and a zero refunds part "
            "of it. A prisoner at the close means that the last coup was not played out, or not recorded.",
            "Le dernier coup d’une séance ne laisse pas de mise en prison : un numéro la libère ou la prend, le zéro "
            "la rembourse en partie. Une mise prisonnière à la clôture signifie que le dernier coup n’a pas été joué, "
            "ou pas enregistré.",
        ),
    ),
    Rule(
        name="result-after-last-coup",
        severity="major",
        provisions=at_both_roulettes("art. 54 last al."),
        facts={"last_coup_seq": "number"},
        recorded_is="text",
        title=Wording("Play after the last coup", "Coup joué après le dernier"),
        message=Wording(
            "The ball settled on {recorded} in a second coup after the last one had been announced[ (event "
            "{last_coup_seq})].",
            "La bille s’est arrêtée sur le {recorded} lors d’un second coup après l’annonce du dernier[ (événement "
            "{last_coup_seq})].",
        ),
        explanation=Wording(
            "One coup follows the announcement of the last. Refunds at zero were compulsory on it, so a further coup "
            "treats players unequally.",
            "Un seul coup suit l’annonce du dernier. Les remboursements du zéro y étaient obligatoires : un coup de "
            "plus traite les joueurs inégalement.",
        ),
    ),
)
