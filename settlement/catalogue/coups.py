"""Rules on what is settled within a coup and after it: put right, rounded, left up, given, disputed, left lying."""

from __future__ import annotations

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, WAGER, Rule, Wording

COUPS = (
    Rule(
        name="payout-put-right",
        severity="info",
        everywhere=(WAGER,),
        facts={"movements": "number"},
        compares="money",
        title=Wording("Put right within the coup", "Régularisé dans le coup"),
        message=Wording(
            "Wager {the_wager}: money changed hands {movements} times before the next result, and comes to what was "
            "due[, {something_due}][: {nothing_due}].",
            "Mise {the_wager} : l’argent a changé de mains {movements} fois avant le résultat suivant, et le compte "
            "est juste[ : {something_due}][ : {nothing_due} n’était dû].",
        ),
        explanation=Wording(
            "A croupier who notices a mistake before the next result and puts it right has done his work. The net of "
            "the coup is judged, not each movement: nothing is owed. Listed so that a habit can be seen.",
            "Le croupier qui s’aperçoit d’une erreur avant le résultat suivant et la régularise fait son métier. C’est "
            "le solde du coup qui est jugé, non chaque mouvement : rien n’est dû. Signalé pour qu’une habitude se "
            "voie.",
        ),
    ),
    Rule(
        name="act-put-right",
        severity="info",
        everywhere=(),
        reason=Wording(
            "A finding of this rule cites the text that the act was at odds with until it was put right.",
            "Un constat de cette règle cite le texte auquel l’acte contrevenait jusqu’à sa régularisation.",
        ),
        facts={
            "act": "event",
            "first_seq": "number",
            "right_seq": "number",
            "first_text": "text",
            "first_number": "number",
            "first_money": "money",
            "first_direction": "direction",
            "first_colour": "colour",
        },
        title=Wording("Act put right in time", "Acte régularisé à temps"),
        message=Wording(
            "[Wager {the_wager}: ]event {first_seq} was irregular[ ({act}[: {first_text}][: {first_number}]"
            "[: {first_money}][: {first_direction}][: {first_colour}])]. Event {right_seq} put it right in time.",
            "[Mise {the_wager} : ]l’événement {first_seq} était irrégulier[ ({act}[ : {first_text}]"
            "[ : {first_number}][ : {first_money}][ : {first_direction}][ : {first_colour}])]. L’événement "
            "{right_seq} l’a régularisé à temps.",
        ),
        explanation=Wording(
            "An act is judged at the end of its coup or throw, by what then stands. A croupier who notices "
            "a slip and puts it right before that has done his work. Listed so that a habit can be seen.",
            "Un acte se juge à la fin de son coup ou de son lancer, d’après l’état final. Le croupier qui remarque "
            "une erreur et la régularise avant ce moment fait son métier. Signalé pour qu’une habitude se voie.",
        ),
    ),
    Rule(
        name="rounded-in-players-favour",
        severity="info",
        everywhere=(WAGER,),
        facts={"unit": "money"},
        compares="money",
        title=Wording("Rounded in the player’s favour", "Arrondi en faveur du joueur"),
        message=Wording(
            "Wager {the_wager}: {recorded} was paid where {expected} is a whole number of payout units[ ({unit})]. The "
            "fraction was given to the player.",
            "Mise {the_wager} : il a été payé {recorded}, alors que seul {expected} fait un nombre entier d’unités de "
            "paiement[ ({unit})]. La fraction a été laissée au joueur.",
        ),
        explanation=Wording(
            "No text says who keeps the fraction of a unit. What is due is rounded down (reading “payout unit”); a "
            "casino that gives the fraction to the player pays less than one unit more, and wrongs nobody.",
            "Aucun texte ne dit à qui revient la fraction d’unité. Ce qui est dû est arrondi à l’unité inférieure "
            "(lecture « unité de paiement ») ; le casino qui laisse la fraction au joueur donne moins d’une unité de "
            "plus et ne lèse personne.",
        ),
    ),
    Rule(
        name="void-stake-kept",
        severity="critical",
        needs="collections",
        everywhere=(WAGER,),
        facts={"status": "status", "decided_seq": "number"},
        title=Wording("Void stake swept", "Enjeu nul ramassé"),
        message=Wording(
            "Wager {the_wager} was void and was swept with the losing stakes. Its stake belongs to the player.",
            "La mise {the_wager} était nulle et a été ramassée avec les enjeux perdus. L’enjeu appartient au joueur.",
        ),
        explanation=Wording(
            "A void wager was never in play: it cannot lose. The croupier pushes its stake back, whatever the result; "
            "handed back in the same coup, it raises nothing.",
            "Une mise nulle n’a jamais été en jeu : elle ne peut pas perdre. Le croupier en repousse l’enjeu quel que "
            "soit le résultat ; rendu dans le même coup, il ne donne lieu à aucun constat.",
        ),
    ),
    Rule(
        name="left-up-stake-mismatch",
        severity="critical",
        everywhere=(WAGER,),
        facts={"left_up_from": "text"},
        compares="money",
        title=Wording("Stake left up that was not there", "Enjeu maintenu qui n’existait pas"),
        message=Wording(
            "Wager {the_wager} is recorded as playing on with the stake of wager {left_up_from}, at {recorded}"
            "[; only {something_due} was left of it][; {nothing_due} was left of it].",
            "La mise {the_wager} est inscrite comme rejouant l’enjeu de la mise {left_up_from}, pour {recorded}[ ; il "
            "n’en restait que {something_due}][ ; il n’en restait {nothing_due}].",
        ),
        explanation=Wording(
            "A stake plays on with what was not handed back, and may be pressed out of winnings that were due and not "
            "handed over. A wager that was lost or never placed leaves nothing on the layout. Where more plays than "
            "was left, chips came from somewhere that no event shows.",
            "Un enjeu rejoue pour ce qui n’en a pas été rendu, et peut être augmenté du gain dû et non remis. Une mise "
            "perdue ou jamais déposée ne laisse rien sur le tapis. Si l’on rejoue plus qu’il ne restait, des jetons "
            "sont venus d’ailleurs, sans qu’aucun événement le montre.",
        ),
    ),
    Rule(
        name="payout-parts-mixed",
        severity="info",
        everywhere=(WAGER,),
        facts={"winnings_due": "money", "winnings_paid": "money"},
        compares="money",
        title=Wording("Winnings and stake mixed up", "Gain et mise confondus"),
        message=Wording(
            "Wager {the_wager} received {recorded}, which is what was due[, but {winnings_paid} of it was recorded as "
            "winnings]; {winnings_due} was due as winnings, and the rest as stake.",
            "La mise {the_wager} a reçu {recorded}, soit ce qui était dû[, mais {winnings_paid} y figure à titre de "
            "gain] ; il était dû {winnings_due} de gain, et le reste au titre de l’enjeu.",
        ),
        explanation=Wording(
            "The player received what is due. The table system recorded the stake handed back as winnings, or "
            "winnings as stake.",
            "Le joueur a son dû. Le système de table a enregistré l’enjeu rendu comme un gain, ou un gain comme un "
            "enjeu.",
        ),
    ),
    Rule(
        name="approved-by-a-party",
        severity="major",
        everywhere=(),
        reason=RESTS_ON_THE_RECORD,
        facts={"approved_by": "text"},
        title=Wording("Approved by a party", "Approuvé par une partie"),
        message=Wording(
            "{approved_by} approved the payment (event {seq}) although a party to it.",
            "{approved_by} a approuvé le versement (événement {seq}) tout en y étant partie.",
        ),
        explanation=Wording(
            "The player, the person who records a payment and those who pay at the table do not approve it. What such "
            "a settlement makes right keeps its severity.",
            "Le joueur, la personne qui enregistre un versement et ceux qui paient à la table ne l’approuvent pas. Ce "
            "qu’un tel règlement régularise garde sa gravité.",
        ),
    ),
    Rule(
        name="dispute-settled-twice",
        severity="major",
        everywhere=(),
        reason=RESTS_ON_THE_RECORD,
        facts={"opened_seq": "number"},
        title=Wording("Dispute settled twice", "Contestation réglée deux fois"),
        message=Wording(
            "Event {seq} settles the dispute of event {opened_seq} a second time.",
            "L’événement {seq} règle une seconde fois la contestation de l’événement {opened_seq}.",
        ),
        explanation=Wording(
            "A dispute is settled once. The amount of a second settlement counts as well.",
            "Une contestation se règle une fois. Le montant d’un second règlement est compté aussi.",
        ),
    ),
    Rule(
        name="goodwill-paid",
        severity="info",
        exceptional_severity="major",
        everywhere=(),
        reason=RESTS_ON_THE_RECORD,
        facts={"approved_by": "text", "reason": "text"},
        recorded_is="money",
        title=Wording("Goodwill payment", "Geste commercial"),
        message=Wording(
            "{recorded} was paid as goodwill[ to {player}][, approved by {approved_by}][ (reason given: “{reason}”)].",
            "Il a été versé {recorded} à titre de geste commercial[ à {player}][, avec l’accord donné par "
            "{approved_by}][ (motif indiqué : « {reason} »)].",
        ),
        explanation=Wording(
            "The house gave what it did not owe. It is no payout and settles no wager. It is listed for review, and is "
            "major if nobody is named as its approver.",
            "La banque a donné ce qu’elle ne devait pas. Ce n’est pas un paiement et cela ne règle aucune mise. Le "
            "versement est signalé pour examen ; le constat est majeur si personne n’est désigné comme l’ayant "
            "approuvé.",
        ),
    ),
)
