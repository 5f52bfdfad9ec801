"""What to do about a finding: one sentence for each rule, in English and French.

Where somebody owes money, the sentence says who is to pay what to whom, the same for every rule (``PAY`` …). Else it is
the rule's own, from ``REMEDIES``. The fields are those of the rule's message, and ``{croupier}`` and ``{player}``, who
are left out where nobody knows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from settlement.catalogue.groups import ON_A_READING, PAID_ON_A_DECISION, PAID_ON_NO_DECISION, STAKE_REFUSED
from settlement.catalogue.persons import REMEDIES_OF_PERSONS
from settlement.catalogue.remedies_of_play import REMEDIES_OF_PLAY, REMEDIES_OF_PLAY_BY_FACT
from settlement.catalogue.rule import Wording

PAY = Wording("Pay {player} {owed}.", "Payer {owed} à {player}.")
PAY_UNKNOWN = Wording(
    "Pay {owed} to the player[ of wager {wager}], once it is established who that is.",
    "Payer {owed} au joueur[ de la mise {wager}], une fois établi de qui il s’agit.",
)
RECOVER = Wording("Recover {owed} from {player}.", "Récupérer {owed} auprès du joueur {player}.")
RECOVER_UNKNOWN = Wording(
    "Recover {owed} from the player[ of wager {wager}], if it can be established who that is.",
    "Récupérer {owed} auprès du joueur[ de la mise {wager}], s’il peut être établi de qui il s’agit.",
)

ENTER_READING = Wording(
    "Have the casino enter its reading of the text in the register ({reading}); amount concerned: {owed}.",
    "Faire inscrire au registre par le casino sa lecture du texte ({reading}) ; montant en cause : {owed}.",
)
"""Nothing is recovered from a player on a reading alone."""

OWN_DECISION = Wording(
    "Ask the chef de table for his own decision on[ wager {wager}, settled at] event {put_right_by}.",
    "Demander au chef de table sa propre décision sur[ la mise {wager}, réglée à] l’événement {put_right_by}.",
)
NOTHING_LEFT = Wording(
    "Note with the croupier[ {croupier}] how the error[ on wager {wager}] was put right at event {put_right_by}.",
    "Noter avec le croupier[ {croupier}] comment l’erreur[ sur la mise {wager}] a été régularisée à l’événement "
    "{put_right_by}.",
)
"""For a finding that a later event put right: nothing is left to pay."""

_NOTHING_LEFT = Wording(
    "Nothing is left to settle for wager {wager}: note with the croupier[ {croupier}] how it was put right.",
    "Il n’y a plus rien à régler pour la mise {wager} : noter avec le croupier[ {croupier}] comment l’erreur a été "
    "régularisée.",
)
_REFUSE = Wording(
    "Remind the croupier[ {croupier}] to refuse a stake like wager {wager}.",
    "Rappeler au croupier[ {croupier}] de refuser une mise telle que {wager}.",
)
_PUT_BACK = Wording(
    "Check on the footage that the croupier[ {croupier}] put the stake of wager {wager}[ ({stake})] back after event "
    "{seq}.",
    "Vérifier sur les images que le croupier[ {croupier}] a remis en place l’enjeu de la mise {wager}[ ({stake})] "
    "après l’événement {seq}.",
)
_SWEEP_LOSERS_ONLY = Wording(
    "Remind the croupier[ {croupier}] to sweep lost stakes only, and not one like that of wager {wager}.",
    "Rappeler au croupier[ {croupier}] de ne ramasser que les enjeux perdus, et non un enjeu tel que celui de la mise "
    "{wager}.",
)
_VIEW_PICTURES = Wording(
    "View the footage of event {seq} with the chef de table before anything is said to the player[ {player}].",
    "Visionner les images de l’événement {seq} avec le chef de table avant d’en parler au joueur[ {player}].",
)
_FIND_OUT_MONEY = Wording(
    "Find out from the croupier[ {croupier}] what changed hands for wager {wager} at event {seq}.",
    "Établir auprès du croupier[ {croupier}] ce qui a changé de mains pour la mise {wager} à l’événement {seq}.",
)

_MONEY: Mapping[str, Wording] = {
    **dict.fromkeys(
        (
            *PAID_ON_A_DECISION,
            *PAID_ON_NO_DECISION,
            "void-throw-settled",
        ),
        _FIND_OUT_MONEY,
    ),
    **dict.fromkeys(("winning-wager-collected", "void-stake-kept"), _SWEEP_LOSERS_ONLY),
    "payout-put-right": _NOTHING_LEFT,
    "left-up-stake-mismatch": Wording(
        "Find out from the croupier[ {croupier}] where the[ {difference}] too much in the stake of wager {wager} came "
        "from.",
        "Établir auprès du croupier[ {croupier}] d’où vient l’excédent[ de {difference}] dans l’enjeu de la mise "
        "{wager}.",
    ),
    "losing-wager-not-collected": Wording(
        "Have the stake of wager {wager}[ ({stake})] swept by the croupier[ {croupier}], or traced if the session is "
        "closed by now.",
        "Faire ramasser par le croupier[ {croupier}] l’enjeu de la mise {wager}[ ({stake})], ou en établir le sort si "
        "la séance est close.",
    ),
    "act-put-right": Wording(
        "Ask the croupier[ {croupier}] how the irregularity of event {first_seq} came about, if it recurs.",
        "Demander au croupier[ {croupier}] d’où vient l’irrégularité de l’événement {first_seq}, si elle se répète.",
    ),
    "rounded-in-players-favour": Wording(
        "Tell the croupier[ {croupier}] that amounts are rounded down to the payout unit.",
        "Indiquer au croupier[ {croupier}] que les montants s’arrondissent à l’unité de paiement inférieure.",
    ),
    "indivisible-stake": Wording(
        "Remind the croupier[ {croupier}] to ask for stakes that divide into whole payout units.",
        "Rappeler au croupier[ {croupier}] de demander des mises divisibles en unités de paiement entières.",
    ),
    "goodwill-paid": Wording(
        "Ask {approved_by}, in writing, why this goodwill payment[ of {recorded}] was approved.",
        "Demander à {approved_by}, par écrit, le motif de ce geste commercial[ de {recorded}].",
    ),
    "payout-parts-mixed": Wording(
        "Have the table system record the stake apart from the winnings.",
        "Faire enregistrer par le système de table l’enjeu à part du gain.",
    ),
    "approved-by-a-party": Wording(
        "Ask the chef de table for his own decision on the payment of event {seq}.",
        "Demander au chef de table sa propre décision sur le versement de l’événement {seq}.",
    ),
    "dispute-settled-twice": Wording(
        "Check both settlements of the dispute of event {opened_seq} against the footage.",
        "Vérifier au vu des images les deux règlements de la contestation de l’événement {opened_seq}.",
    ),
    "orphan-mismatch": Wording(
        "Count the orphan stake of event {seq} again at the cash desk.",
        "Recompter à la caisse la mise orpheline de l’événement {seq}.",
    ),
}

_STAKES: Mapping[str, Wording] = {
    **dict.fromkeys(
        STAKE_REFUSED,
        _REFUSE,
    ),
    "wager-id-reused": Wording(
        "Find out from the table what was staked under {wager} at event {seq}.",
        "Établir à la table ce qui a été misé sous l’identifiant {wager} à l’événement {seq}.",
    ),
    "stake-out-of-limits": Wording(
        "Remind the croupier[ {croupier}] of the {bound} of {expected} at this table.",
        "Rappeler au croupier[ {croupier}] le {bound} de {expected} à cette table.",
    ),
    "non-chip-stake": Wording(
        "Remind the croupier[ {croupier}] to take stakes in chips or plaques only.",
        "Rappeler au croupier[ {croupier}] de n’accepter les mises qu’en jetons ou en plaques.",
    ),
    "wager-after-no-more-bets": Wording(
        "Establish from the footage of event {seq} how wager {wager}[ of {player}] came to be placed after the call.",
        "Établir d’après les images de l’événement {seq} comment la mise {wager}[ du joueur {player}] a pu être "
        "déposée après l’annonce.",
    ),
    "wager-near-call": _VIEW_PICTURES,
    "withdrawal-after-no-more-bets": Wording(
        "Remind the croupier[ {croupier}] to hand back no stake after “Rien ne va plus”, as was done for wager "
        "{wager}.",
        "Rappeler au croupier[ {croupier}] de ne rendre aucun enjeu après le « Rien ne va plus », comme celui de la "
        "mise {wager}.",
    ),
    "withdrawal-of-decided-wager": _VIEW_PICTURES,
    "contract-wager-withdrawn": _VIEW_PICTURES,
    "imprisoned-stake-withdrawn": _VIEW_PICTURES,
    "withdrawal-not-after-indecisive-roll": Wording(
        "Remind the croupier[ {croupier}] that the player may withdraw this stake only after an indecisive throw.",
        "Rappeler au croupier[ {croupier}] que cette mise ne se retire qu’après un coup non décisif.",
    ),
    "one-roll-wager-withdrawn": Wording(
        "Remind the croupier[ {croupier}] that a one-roll stake stays until its throw.",
        "Rappeler au croupier[ {croupier}] qu’une mise d’un seul coup reste jusqu’à son lancer.",
    ),
    "wager-left-open": Wording(
        "Establish with the croupier[ {croupier}] what became of wager {wager}[ of {player}].",
        "Établir avec le croupier[ {croupier}] ce qu’est devenue la mise {wager}[ du joueur {player}].",
    ),
    "come-not-moved": Wording(
        "Remind the croupier[ {croupier}] to move wager {wager} to its number[ {expected}] before the next throw.",
        "Rappeler au croupier[ {croupier}] de placer la mise {wager} sur son numéro[ {expected}] avant le lancer "
        "suivant.",
    ),
    "come-moved-to-wrong-number": Wording(
        "Remind the croupier[ {croupier}] to move wager {wager} only where the dice send it[: {expected}].",
        "Rappeler au croupier[ {croupier}] de ne déplacer la mise {wager} que là où les dés l’envoient[ : {expected}].",
    ),
    "wrong-bet-not-marked": Wording(
        "Remind the croupier[ {croupier}] to put the “Wrong Bet” marker on wager {wager}.",
        "Rappeler au croupier[ {croupier}] de poser la contremarque « Wrong Bet » sur la mise {wager}.",
    ),
    "wager-marker-missing": Wording(
        "Remind the croupier[ {croupier}] to put the “{expected}” chip on wager {wager}.",
        "Rappeler au croupier[ {croupier}] de poser le jeton « {expected} » sur la mise {wager}.",
    ),
    "commission-not-paid": Wording(
        "Remind the croupier[ {croupier}] to take the commission[ of {expected}] before accepting a stake like wager "
        "{wager}.",
        "Rappeler au croupier[ {croupier}] de percevoir la commission[ de {expected}] avant d’accepter une mise telle "
        "que {wager}.",
    ),
    "commission-not-renewed": Wording(
        "Remind the croupier[ {croupier}] to take a new commission[ of {expected}] before wager {wager} is left up.",
        "Rappeler au croupier[ {croupier}] de percevoir une nouvelle commission[ de {expected}] avant de laisser en "
        "jeu la mise {wager}.",
    ),
    "commission-amount-mismatch": _NOTHING_LEFT,
    "undue-commission": _NOTHING_LEFT,
    "working-call-late": Wording(
        "Remind the croupier[ {croupier}] that a switch after the call counts from the next throw.",
        "Rappeler au croupier[ {croupier}] qu’un changement après l’annonce ne vaut qu’au lancer suivant.",
    ),
}

_RECORD: Mapping[str, Wording] = {
    "ruleset-not-in-force": Wording(
        "Ask the casino why it plays by the rules “{ruleset}”.",
        "Demander au casino pourquoi il joue selon les règles « {ruleset} ».",
    ),
    "unknown-ruleset": Wording(
        "Have the table system name the rules of the session, and send it again under a new stream.",
        "Faire indiquer par le système de table les règles de la séance, puis la retransmettre sous un nouveau flux.",
    ),
    "sequence-gap": Wording(
        "Ask the table system for {missing_events}.",
        "Demander au système de table {missing_events}.",
    ),
    "events-lost": Wording(
        "Reconstruct {missing_events} from the footage.",
        "Reconstituer {missing_events} d’après les images.",
    ),
    "correction-without-effect": Wording(
        "{recourse} (change of event {corrects}).",
        "{recourse} (modification de l’événement {corrects}).",
    ),
    **dict.fromkeys(
        ("entry-corrected", "entry-annulled"),
        Wording(
            "Ask {approved_by}, who approved it, why event {corrects} was changed.",
            "Demander à {approved_by}, qui a donné son accord, pourquoi l’événement {corrects} a été modifié.",
        ),
    ),
    "params-differ-from-register": Wording(
        "Have the table system declare the readings of the register.",
        "Faire déclarer par le système de table les lectures du registre.",
    ),
    "parameter-unlawful": Wording(
        "Have the reading corrected to what the text allows, in the table system and in the register.",
        "Faire ramener la lecture à ce que permet le texte, au système de table et au registre.",
    ),
    "observes-less-than-owed": Wording(
        "Have the table report the families of events that the register requires of it.",
        "Faire transmettre par la table les familles d’événements que le registre lui impose.",
    ),
    **dict.fromkeys(
        ("clock-went-back", "clock-ahead"),
        Wording(
            "Have the clock of the table set: the times around event {seq} are not exact.",
            "Faire régler l’horloge de la table : les heures autour de l’événement {seq} ne sont pas exactes.",
        ),
    ),
    "ledger-imbalance": Wording(
        "Report this session to the makers of the engine.",
        "Signaler cette séance aux auteurs du moteur.",
    ),
    "sequence-conflict": Wording(
        "Ask the table system which of the two contents of event {seq} is true.",
        "Demander au système de table lequel des deux contenus de l’événement {seq} est vrai.",
    ),
    "late-after-close": Wording(
        "Ask the table why event {seq} came after the close.",
        "Demander à la table pourquoi l’événement {seq} est venu après la clôture.",
    ),
    "log-tampered": Wording(
        "Stop writing, keep the disks, and compare the record with its checkpoints.",
        "Arrêter les écritures, conserver les disques et confronter l’enregistrement à ses points de contrôle.",
    ),
    "opener-differs-from-closer": Wording(
        "Have the rack counted again: the difference of {difference} is not accounted for.",
        "Faire recompter l’encaisse : l’écart de {difference} reste sans explication.",
    ),
    "slip-number-missing": Wording(
        "Look for slip {slip} in the stubs of the cash desk.",
        "Rechercher le bon {slip} dans les souches de la caisse.",
    ),
    "slip-number-duplicated": Wording(
        "Compare both uses of slip {slip} with the stubs of the cash desk.",
        "Comparer les deux emplois du bon {slip} avec les souches de la caisse.",
    ),
    "slip-reused": Wording(
        "Compare slip {slip} with its stub and with its use of {first_day}.",
        "Comparer le bon {slip} à sa souche et à son emploi du {first_day}.",
    ),
    "count-opened-late": Wording(
        "Ask the count room where the box of session {session} was kept until it was counted.",
        "Demander à la salle de comptée où la recette de la séance {session} a été gardée jusqu’à la comptée.",
    ),
    "accounting-variance": Wording(
        "Have the drop of this session counted again: the variance of {difference} is not accounted for.",
        "Faire recompter la recette de cette séance : l’écart de {difference} reste sans explication.",
    ),
    "count-missing": Wording(
        "Ask the count room for the count of this session.",
        "Demander à la salle de comptée la comptée de cette séance.",
    ),
    "dice-fairness": Wording(
        "Have the dice measured by somebody authorised to do so.",
        "Faire mesurer les dés par une personne habilitée.",
    ),
    "wheel-fairness": Wording(
        "Have the wheel examined by somebody authorised to do so.",
        "Faire examiner le cylindre par une personne habilitée.",
    ),
    "wheel-signature": Wording(
        "Have the footage of some spins[ of {subject}] viewed.",
        "Faire visionner quelques coups[ ({subject})].",
    ),
    "void-call-bias": Wording(
        "Establish from the footage how the coups called void[ at table {subject}][ while {croupier} dealt] fell, and "
        "by whom they were called.",
        "Établir d’après les images comment sont tombés les coups déclarés nuls[ à la table {subject}][ pendant que "
        "{croupier} officiait], et qui les a annoncés.",
    ),
    "shooter-fairness": Wording(
        "View the footage of the throws of {subject}: whether the dice tumble and reach the far wall.",
        "Visionner les lancers du tireur {subject} et vérifier que les dés roulent et atteignent le bord opposé.",
    ),
    "table-luck": Wording(
        "View the footage of the coups that moved most at table {subject}; the page of the process lists the sessions.",
        "Visionner les coups qui ont le plus pesé à la table {subject} ; la page du processus indique les séances.",
    ),
    "player-luck": Wording(
        "View the footage of the largest wins of {subject}: when each stake was placed, and by whom.",
        "Visionner les plus gros gains du joueur {subject} : quand chaque mise a été posée, et par qui.",
    ),
    "croupier-luck": Wording(
        "View the footage of the largest wins when {croupier} dealt: when each stake was placed, and by whom.",
        "Visionner les plus gros gains pendant que le croupier {croupier} officiait : quand chaque mise a été posée, "
        "et par qui.",
    ),
    "concentration": Wording(
        "Go through these findings[ ({of_rule})][ of croupier {croupier}][ of player {staker}][ with player {player}] "
        "one by one with the chef de table.",
        "Reprendre un à un, avec le chef de table, ces constats[ ({of_rule})][ du croupier {croupier}][ du joueur "
        "{staker}][ avec le joueur {player}].",
    ),
    "payout-error-rate": Wording(
        "Go through the payout errors of {subject} one by one with the chef de table.",
        "Reprendre une à une les erreurs de paiement du croupier {subject} avec le chef de table.",
    ),
    "accounting-drift": Wording(
        "Go through the counts, slips and closings[ of {subject}][ of shift {shift}][ by {closer}][ of tables where "
        "{croupier} dealt] over these sessions.",
        "Reprendre les comptées, les bons et les clôtures[ ({subject})][ de la vacation {shift}][ par {closer}][ des "
        "tables où {croupier} a officié] sur ces séances.",
    ),
    "hold-outside-interval": Wording(
        "Compare the hold with the findings and the count of these sessions.",
        "Comparer le taux de retenue avec les constats et la comptée de ces séances.",
    ),
    "payout-errors-one-sided": Wording(
        "Read the payout errors together, croupier by croupier.",
        "Lire ensemble les erreurs de paiement, croupier par croupier.",
    ),
}

REMEDIES: Mapping[str, Wording] = MappingProxyType(
    {**_MONEY, **_STAKES, **_RECORD, **REMEDIES_OF_PERSONS, **REMEDIES_OF_PLAY}
)
"""By rule: what to do where nobody owes anything, or nobody knows how much."""

REMEDIES_BY_FACT: Mapping[str, tuple[str, Mapping[str, Wording]]] = MappingProxyType(
    {
        **REMEDIES_OF_PLAY_BY_FACT,
        **dict.fromkeys(
            ("void-throw-settled", "barred-number-settled", "inactive-wager-settled"),
            (
                "event_type",
                {
                    "stakes.collected": _PUT_BACK,
                    "wager.moved": Wording(
                        "Remind the croupier[ {croupier}] to move no stake on a void throw, as was done with wager "
                        "{wager}.",
                        "Rappeler au croupier[ {croupier}] de ne déplacer aucune mise sur un coup nul, comme la mise "
                        "{wager}.",
                    ),
                    "point.marked": Wording(
                        "Remind the croupier[ {croupier}] to leave the cabochon where it is on a void throw like that "
                        "of event {voided_seq}.",
                        "Rappeler au croupier[ {croupier}] de laisser le cabochon en place sur un coup nul tel que "
                        "celui de l’événement {voided_seq}.",
                    ),
                },
            ),
        ),
        "winning-wager-collected": (
            "status",
            {
                **dict.fromkeys(("open", "awaiting_decision", "imprisoned"), _PUT_BACK),
                "unknown": Wording(
                    "Establish from the footage of event {seq} which stake was swept under the identifier {wager}.",
                    "Établir d’après les images de l’événement {seq} quel enjeu a été ramassé sous l’identifiant "
                    "{wager}.",
                ),
            },
        ),
        "losing-wager-not-collected": (
            "lay_at",
            {
                "player": Wording(
                    "Remind the croupier[ {croupier}] to sweep lost stakes before the next coup, unlike that of wager "
                    "{wager}.",
                    "Rappeler au croupier[ {croupier}] de ramasser les enjeux perdus avant le coup suivant, "
                    "contrairement à celui de la mise {wager}.",
                ),
                "close": Wording(
                    "Establish with the croupier[ {croupier}] where the stake of wager {wager}[ ({stake})] was when "
                    "the session closed.",
                    "Établir avec le croupier[ {croupier}] où se trouvait l’enjeu de la mise {wager}[ ({stake})] à la "
                    "clôture de la séance.",
                ),
            },
        ),
        "goodwill-paid": (
            "approved_by",
            {
                "": Wording(
                    "Ask the chef de table, in writing, who approved this goodwill payment[ of {recorded}].",
                    "Demander au chef de table, par écrit, qui a approuvé ce geste commercial[ de {recorded}].",
                )
            },
        ),
        "entry-annulled": (
            "approved_by",
            {
                "": Wording(
                    "Find out[ from the {announced_by}, who announced it,] why event {corrects} was voided.",
                    "Établir[ auprès du {announced_by}, auteur de l’annonce,] pourquoi l’événement {corrects} a été "
                    "annulé.",
                )
            },
        ),
    }
)
"""Of rules whose remedy depends on a fact: that fact, and what to do by its value; "" stands for none."""


def wording_for(rule: str, facts: Mapping[str, Any]) -> Wording:
    """Return what to do about a finding of ``rule`` with ``facts`` on which nobody owes anything."""
    fact, wordings = REMEDIES_BY_FACT.get(rule, ("", {}))
    return wordings.get(str(facts.get(fact) or ""), REMEDIES[rule])


def rests_on_a_reading(rule: str, facts: Mapping[str, Any]) -> bool:
    """Whether a finding of ``rule`` rests on a reading alone: then nothing is asked of a player."""
    return rule in ON_A_READING or bool(facts.get("reading"))
