"""Rules on payouts and on the collection of stakes, at every game."""

from __future__ import annotations

from functools import partial

from settlement.catalogue.rule import WAGER, Rule, Wording

_of_a_wager = partial(Rule, everywhere=(WAGER,))
"""A rule that rests on the provision of the bet concerned, whatever is played."""

PAYOUTS = (
    _of_a_wager(
        name="payout-without-result",
        severity="critical",
        facts={"status": "status"},
        compares="money",
        title=Wording("Payout without a result", "Paiement sans résultat"),
        message=Wording(
            "{recorded} was paid on wager {the_wager}, which nothing had decided[: {status}].[ Only the stake "
            "taken back was due, {something_due}.]",
            "La mise {the_wager} a été payée {recorded} alors qu’aucun résultat ne l’avait décidée[ : {status}].[ "
            "Seul l’enjeu retiré était dû, soit {something_due}.]",
        ),
        explanation=Wording(
            "A payout follows a decision. Here the wager was still open, waiting for the player’s choice, in prison, "
            "or had never been placed. The payout settles nothing: what the wager will win is still due.",
            "Un paiement suit une décision. Ici la mise était encore ouverte, en attente du choix du joueur, en "
            "prison, ou n’avait jamais été déposée. Ce paiement ne règle rien : ce que la mise gagnera restera dû.",
        ),
    ),
    _of_a_wager(
        name="payout-missing",
        severity="critical",
        facts={"decided_seq": "number", "winnings_due": "money", "stake_due": "money", "ending": "ending"},
        compares="money",
        title=Wording("Payout missing", "Paiement manquant"),
        message=Wording(
            "Wager {the_wager} had not been paid[ when {ending}]. Event {decided_seq} made {expected} due[: winnings "
            "{winnings_due}, stake {stake_due}].",
            "La mise {the_wager} n’avait pas été payée[ quand {ending}]. Depuis l’événement {decided_seq}, il était dû "
            "{expected}[ : gain {winnings_due}, enjeu {stake_due}].",
        ),
        explanation=Wording(
            "What a wager wins and what zero refunds is handed over before the next result, and before the session "
            "closes. A later payout is accepted, but this finding stays: the player waited, or was nearly forgotten. "
            "A stake that prison releases was lifted by the player or left where it lay; so was the half that the "
            "player chose at zero.",
            "Ce qu’une mise gagne et ce que le zéro rembourse se remet avant le résultat suivant, et avant la clôture "
            "de la séance. Un paiement ultérieur est admis, mais le constat demeure : le joueur a attendu, ou a failli "
            "être oublié. L’enjeu que la prison libère a été repris par le joueur ou laissé sur place ; il en va de "
            "même de la moitié que le joueur a choisie au zéro.",
        ),
    ),
    _of_a_wager(
        name="payout-duplicated",
        severity="critical",
        facts={"paid_seq": "number"},
        compares="money",
        title=Wording("Paid twice", "Payée deux fois"),
        message=Wording(
            "Wager {the_wager} was paid more than once and has received {recorded}; {expected} was due, which event "
            "{paid_seq} had paid.",
            "La mise {the_wager} a été payée plus d’une fois et a reçu {recorded} ; il était dû {expected}, déjà payé "
            "à l’événement {paid_seq}.",
        ),
        explanation=Wording(
            "A wager is settled once. Either the croupier paid twice or the table system sent the payout twice under "
            "two numbers; the count will tell which.",
            "Une mise se règle une fois. Ou le croupier a payé deux fois, ou le système de table a transmis deux fois "
            "le paiement sous deux numéros ; la comptée dira lequel des deux.",
        ),
    ),
    _of_a_wager(
        name="payout-overpaid",
        severity="critical",
        facts={"odds": "odds", "status": "status", "decided_seq": "number", "part": "part"},
        compares="money",
        title=Wording("Paid too much", "Paiement excessif"),
        message=Wording(
            "Wager {the_wager} was paid {recorded}[ {part}][; {something_due} was due[: {working}]][; {nothing_due} "
            "was due]. The house paid {difference} too much.",
            "La mise {the_wager} a reçu [{part} ]{recorded}[ ; il était dû {something_due}[ : {working}]][ ; "
            "{nothing_due} n’était dû]. La banque a payé {difference} de trop.",
        ),
        explanation=Wording(
            "The payment recorded exceeds what the odds of the law give. On a void or withdrawn wager nothing is "
            "due but the stake, so any winnings are too much.",
            "Le paiement enregistré dépasse ce que donne le rapport fixé par le texte. Une mise nulle ou retirée "
            "n’ouvre droit qu’à l’enjeu : tout gain est de trop.",
        ),
    ),
    _of_a_wager(
        name="payout-underpaid",
        severity="critical",
        facts={"odds": "odds", "status": "status", "decided_seq": "number", "part": "part"},
        compares="money",
        title=Wording("Paid too little", "Paiement insuffisant"),
        message=Wording(
            "[Wager {the_wager} was paid {recorded}[ {part}][; {something_due} was due[: {working}]][; {nothing_due} "
            "was due]. The player is short of {difference}.]"
            "[The house took back {taken_back} on wager {the_wager} that had not been paid[; {something_due} was due]"
            "[; {nothing_due} was due].[ The player is short of {difference}.]]",
            "[La mise {the_wager} a reçu [{part} ]{recorded}[ ; il était dû {something_due}[ : {working}]][ ; "
            "{nothing_due} n’était dû]. Il manque {difference} au joueur.]"
            "[La banque a repris au joueur, pour la mise {the_wager}, un montant de {taken_back} qui n’avait pas été "
            "payé[ ; il était dû {something_due}][ ; {nothing_due} n’était dû].[ Il manque {difference} au joueur.]]",
        ),
        explanation=Wording(
            "What the player received, less what was taken back from him, falls short of what the odds of the law "
            "give. The difference belongs to the player.",
            "Ce que le joueur a reçu, déduction faite de ce qui lui a été repris, est inférieur à ce que donne le "
            "rapport fixé par le texte. La différence revient au joueur.",
        ),
    ),
    _of_a_wager(
        name="stake-not-returned",
        severity="critical",
        facts={"decided_seq": "number", "status": "status", "part": "part"},
        compares="money",
        title=Wording("Stake not returned as due", "Mise non restituée comme due"),
        message=Wording(
            "[Wager {the_wager}: the house handed over {recorded}[ {part}][; {something_due} was due][; {nothing_due} "
            "was due].[ The player is short of {short}.][ The house handed over {excess} too much.]]"
            "[The house took back {taken_back} on wager {the_wager} that had not been paid[; {something_due} was due]"
            "[; {nothing_due} was due].[ The player is short of {short}.]]",
            "[Mise {the_wager} : il a été remis [{part} ]{recorded}[ ; il était dû {something_due}][ ; {nothing_due} "
            "n’était dû].[ Il manque {short} au joueur.][ La banque a remis {excess} de trop.]]"
            "[La banque a repris au joueur, pour la mise {the_wager}, un montant de {taken_back} qui n’avait pas été "
            "payé[ ; il était dû {something_due}][ ; {nothing_due} n’était dû].[ Il manque {short} au joueur.]]",
        ),
        explanation=Wording(
            "Odds are winnings to stake: on a win the player keeps the stake as well, and a void or withdrawn stake is "
            "due back. What was handed back, or plays on, differs from what was standing.",
            "Les rapports s’entendent gain contre mise : en cas de gain, le joueur conserve aussi sa mise ; un enjeu "
            "nul ou retiré est à rendre. Ce qui a été rendu, ou rejoue, diffère de ce qui était en jeu.",
        ),
    ),
    _of_a_wager(
        name="losing-wager-paid",
        severity="critical",
        facts={"decided_seq": "number", "result": "text"},
        compares="money",
        title=Wording("Losing wager paid", "Mise perdante payée"),
        message=Wording(
            "Wager {the_wager} had lost at event {decided_seq}[ (result {result})] and was paid {recorded}[; only "
            "{something_due} was due][; {nothing_due} was due].",
            "La mise {the_wager} avait perdu à l’événement {decided_seq}[ (résultat {result})] et a été payée "
            "{recorded}[ ; il n’était dû que {something_due}][ ; {nothing_due} n’était dû].",
        ),
        explanation=Wording(
            "The result decided against this wager. Any payout on it is a loss of the house, by mistake or by "
            "arrangement.",
            "Le résultat a décidé contre cette mise. Tout paiement est une perte de la banque, par erreur ou par "
            "entente.",
        ),
    ),
    _of_a_wager(
        name="push-paid",
        severity="critical",
        facts={"result_seq": "number", "result": "text"},
        compares="money",
        title=Wording("Undecided wager paid", "Mise en attente payée"),
        message=Wording(
            "Wager {the_wager} was paid {recorded}, but the last result[ ({result}, event {result_seq})] decided "
            "nothing for it.",
            "La mise {the_wager} a été payée {recorded}, mais le dernier résultat[ ({result}, événement "
            "{result_seq})] ne décidait rien pour elle.",
        ),
        explanation=Wording(
            "Some results neither win nor lose a given wager: the barred 12, or any total that concerns other numbers. "
            "No money moves then. The payout settles nothing and the wager still plays.",
            "Certains résultats ne font ni gagner ni perdre une mise donnée : le 12 qui fait coup nul, ou tout total "
            "qui concerne d’autres numéros. Aucun argent ne bouge alors. Ce paiement ne règle rien et la mise joue "
            "toujours.",
        ),
    ),
    _of_a_wager(
        name="winning-wager-collected",
        severity="critical",
        needs="collections",
        facts={"status": "status", "decided_seq": "number"},
        title=Wording("Wager collected that had not lost", "Mise ramassée sans avoir perdu"),
        message=Wording(
            "Wager {the_wager} was swept with the losing stakes although it had not lost[: {status}].",
            "La mise {the_wager} a été ramassée avec les enjeux perdus alors qu’elle n’avait pas perdu[ : {status}].",
        ),
        explanation=Wording(
            "Only lost stakes are collected. The player of this one was deprived of a stake that had won, was still "
            "playing, or was due back.",
            "Seuls les enjeux perdus se ramassent. Le joueur a été privé d’un enjeu gagnant, encore en jeu ou à "
            "rendre.",
        ),
    ),
    _of_a_wager(
        name="losing-wager-not-collected",
        severity="major",
        needs="collections",
        facts={"decided_seq": "number", "result": "text", "ending": "ending", "gone_by": "number", "lay_at": "text"},
        title=Wording("Losing wager not collected", "Mise perdante non ramassée"),
        message=Wording(
            "Wager {the_wager} lost at event {decided_seq}[ (result {result})] and had not been collected[ when "
            "{ending}].[ The stake went to its player at event {gone_by}.]",
            "La mise {the_wager} a perdu à l’événement {decided_seq}[ (résultat {result})] et n’avait pas été "
            "ramassée[ quand {ending}].[ L’enjeu est allé à son joueur à l’événement {gone_by}.]",
        ),
        explanation=Wording(
            "A lost stake left on the layout plays again at no risk to its player. It belongs to the house.",
            "Un enjeu perdu laissé sur le tapis rejoue sans être risqué. Il revient à la banque.",
        ),
    ),
)
