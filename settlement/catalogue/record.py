"""Rules raised by the record and not by the rules engine: integrity, reconciliation, and statistical questions.

A statistical rule is a question, never an accusation: it says that chance alone seldom looks like this, and how seldom.
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, Rule, Wording, everywhere, under

_RECONCILIATION = Wording(
    "This rule is about the casino’s accounts: it rests on the nightly reconciliation, not on a rule of play.",
    "Cette règle porte sur les comptes du casino : elle repose sur le rapprochement de la nuit, non sur une règle de "
    "jeu.",
)
_STATISTICS = Wording(
    "This is a question put by statistics: no text of law is involved.",
    "C’est une question posée par la statistique : aucun texte n’est en cause.",
)


def _games(*rulesets: str) -> Mapping[str, tuple[str, ...]]:
    return under(dict.fromkeys(rulesets, ()))


INTEGRITY = (
    Rule(
        name="sequence-conflict",
        severity="critical",
        provisions=everywhere(),
        reason=RESTS_ON_THE_RECORD,
        facts={"stored_digest": "text", "sent_digest": "text"},
        title=Wording("Two contents under one number", "Deux contenus sous un même numéro"),
        message=Wording(
            "Event {seq} came a second time with other content. The first stands; the second is kept in quarantine"
            "[ (stored {stored_digest}, sent {sent_digest})].",
            "L’événement {seq} est arrivé une seconde fois avec un autre contenu. Le premier demeure ; le second est "
            "gardé en quarantaine[ (enregistré {stored_digest}, reçu {sent_digest})].",
        ),
        explanation=Wording(
            "A number belongs to one event. The same number with other content means that the table system rewrote its "
            "history, or that two systems write to one stream. Compare both contents.",
            "Un numéro appartient à un seul événement. Le même numéro avec un autre contenu signifie que le système de "
            "table a réécrit son histoire, ou que deux systèmes écrivent dans un même flux. Il faut comparer les deux.",
        ),
        raised_by="both",
    ),
    Rule(
        name="late-after-close",
        severity="major",
        provisions=everywhere(),
        reason=RESTS_ON_THE_RECORD,
        facts={"closed_seq": "number", "event_type": "text"},
        title=Wording("Event after the close", "Événement après la clôture"),
        message=Wording(
            "Event {seq}[ ({event_type})] came after the session had been closed by event {closed_seq}.",
            "L’événement {seq}[ ({event_type})] est arrivé après la clôture de la séance par l’événement {closed_seq}.",
        ),
        explanation=Wording(
            "What comes after the close is stored and adjudicated, but the day’s accounts were drawn without it. Only "
            "corrections are expected then.",
            "Ce qui arrive après la clôture est enregistré et jugé, mais les comptes du jour ont été arrêtés sans lui. "
            "Seules des corrections sont alors attendues.",
        ),
        raised_by="record",
    ),
    Rule(
        name="log-tampered",
        severity="critical",
        provisions=everywhere(),
        reason=RESTS_ON_THE_RECORD,
        facts={"batch": "number"},
        expected_is="text",
        recorded_is="text",
        title=Wording("The record was altered", "Enregistrement altéré"),
        message=Wording(
            "The stored bytes[ of event {seq}][ (batch {batch})] no longer give the digest that was sealed[: "
            "{recorded} instead of {expected}].",
            "Les octets conservés[ de l’événement {seq}][ (lot {batch})] ne donnent plus l’empreinte scellée[ : "
            "{recorded} au lieu de {expected}].",
        ),
        explanation=Wording(
            "Every event is chained and sealed when it is accepted. A digest that no longer fits proves that something "
            "was changed afterwards, by somebody with power over the database. Keep the disks; compare with a "
            "checkpoint held elsewhere.",
            "Chaque événement est enchaîné et scellé à sa réception. Une empreinte qui ne convient plus prouve une "
            "modification ultérieure, par quelqu’un qui a pouvoir sur la base. Il faut conserver les disques et "
            "comparer à un point de contrôle gardé ailleurs.",
        ),
        raised_by="record",
    ),
)

RECONCILIATION = (
    Rule(
        name="opener-differs-from-closer",
        severity="major",
        provisions=everywhere(),
        reason=_RECONCILIATION,
        facts={"previous_stream": "text"},
        expected_is="money",
        recorded_is="money",
        title=Wording("Opening float differs", "Encaisse d’ouverture différente"),
        message=Wording(
            "The table opened with {recorded}; it had been closed with {expected}[ ({previous_stream})]. The "
            "difference is {difference}.",
            "La table a ouvert avec {recorded} ; elle avait été close avec {expected}[ ({previous_stream})]. L’écart "
            "est de {difference}.",
        ),
        explanation=Wording(
            "Between two sessions the rack is locked: it opens with what it was closed with. Somebody counted wrong or "
            "somebody opened it.",
            "Entre deux séances, la banque est sous clé : elle rouvre avec ce qu’elle contenait. Quelqu’un a mal "
            "compté ou quelqu’un l’a ouverte.",
        ),
        raised_by="record",
    ),
    Rule(
        name="slip-number-missing",
        severity="major",
        provisions=everywhere(),
        reason=_RECONCILIATION,
        facts={"slip": "text"},
        title=Wording("Slip missing", "Bon manquant"),
        message=Wording(
            "No fill or credit bears slip {slip}; the numbers before and after it do exist.",
            "Aucun apport ni retrait ne porte le bon {slip} ; les numéros qui l’encadrent existent.",
        ),
        explanation=Wording(
            "Slips are numbered without holes. A missing one is a movement of chips that nobody recorded, or a slip "
            "that was destroyed.",
            "Les bons sont numérotés sans lacune. Un bon manquant est un mouvement de jetons que nul n’a enregistré, "
            "ou un bon détruit.",
        ),
        raised_by="record",
    ),
    Rule(
        name="slip-number-duplicated",
        severity="critical",
        provisions=everywhere(),
        reason=_RECONCILIATION,
        facts={"slip": "text", "first_seq": "number"},
        title=Wording("Slip used twice", "Bon employé deux fois"),
        message=Wording(
            "Slip {slip} was used again at event {seq}[; event {first_seq} had used it first].",
            "Le bon {slip} a été employé de nouveau à l’événement {seq}[ ; l’événement {first_seq} l’avait employé le "
            "premier].",
        ),
        explanation=Wording(
            "One slip covers one movement of chips. Used twice, it covers one that was never authorised.",
            "Un bon couvre un mouvement de jetons. Employé deux fois, il en couvre un qui n’a jamais été autorisé.",
        ),
        raised_by="record",
    ),
    Rule(
        name="accounting-variance",
        severity="major",
        exceptional_severity="critical",
        provisions=everywhere(),
        reason=_RECONCILIATION,
        facts={"gaming_day": "day"},
        expected_is="money",
        recorded_is="money",
        title=Wording("Accounting variance", "Écart comptable"),
        message=Wording(
            "The count gives a win of {recorded}; what was recorded at the table gives {expected}. The variance is "
            "{difference}.",
            "Le comptage donne un résultat de {recorded} ; ce qui a été enregistré à la table donne {expected}. "
            "L’écart est de {difference}.",
        ),
        explanation=Wording(
            "Opening and closing floats, fills, credits and drop give the win that was counted; wagers and payouts "
            "give the win that was recorded. They should be equal. From 100 units of the currency on, the difference "
            "is critical.",
            "Les encaisses d’ouverture et de clôture, les apports, les retraits et la recette comptée donnent le "
            "résultat compté ; les mises et les paiements, le résultat enregistré. Ils devraient être égaux. À partir "
            "de 100 unités monétaires, l’écart est critique.",
        ),
        raised_by="record",
    ),
    Rule(
        name="count-missing",
        severity="major",
        provisions=everywhere(),
        reason=_RECONCILIATION,
        facts={"gaming_day": "day"},
        title=Wording("Count missing", "Comptage manquant"),
        message=Wording(
            "No count of the drop was recorded for this session[ of {gaming_day}]; its accounts stay provisional.",
            "Aucun comptage de la recette n’a été enregistré pour cette séance[ du {gaming_day}] ; ses comptes restent "
            "provisoires.",
        ),
        explanation=Wording(
            "Every session’s drop is counted after the gaming day. Until it is, what the table really took is unknown.",
            "La recette de chaque séance est comptée après la journée de jeu. Jusque-là, on ignore ce que la table a "
            "réellement encaissé.",
        ),
        raised_by="record",
    ),
)

QUESTIONS = (
    Rule(
        name="dice-fairness",
        severity="info",
        provisions=_games("fr-craps", "qc-craps"),
        reason=_STATISTICS,
        facts={"throws": "number", "p_value": "text"},
        title=Wording("Are these dice fair?", "Ces dés sont-ils réguliers ?"),
        message=Wording(
            "Over {throws} throws the faces came in proportions that fair dice show with probability {p_value} only.",
            "Sur {throws} lancers, les faces sont sorties dans des proportions que des dés réguliers ne présentent "
            "qu’avec une probabilité de {p_value}.",
        ),
        explanation=Wording(
            "This is a question, not an accusation: among many tables some look like this by chance. Have the dice "
            "measured.",
            "C’est une question et non une accusation : parmi de nombreuses tables, certaines présentent cet aspect "
            "par hasard. Il convient de faire mesurer les dés.",
        ),
        raised_by="record",
    ),
    Rule(
        name="wheel-fairness",
        severity="info",
        provisions=_games("fr-roulette", "fr-american-roulette"),
        reason=_STATISTICS,
        facts={"spins": "number", "p_value": "text"},
        title=Wording("Is this wheel fair?", "Ce cylindre est-il régulier ?"),
        message=Wording(
            "Over {spins} spins the pockets came in proportions that a fair wheel shows with probability {p_value} "
            "only.",
            "Sur {spins} coups, les numéros sont sortis dans des proportions qu’un cylindre régulier ne présente "
            "qu’avec une probabilité de {p_value}.",
        ),
        explanation=Wording(
            "This is a question, not an accusation: among many wheels some look like this by chance. Have the wheel "
            "levelled and its pockets examined.",
            "C’est une question et non une accusation : parmi de nombreux cylindres, certains présentent cet aspect "
            "par hasard. Il convient de vérifier l’aplomb du cylindre et ses cases.",
        ),
        raised_by="record",
    ),
    Rule(
        name="hold-outside-interval",
        severity="info",
        provisions=everywhere(),
        reason=_STATISTICS,
        facts={"gaming_day": "day", "level": "text"},
        expected_is="text",
        recorded_is="text",
        title=Wording("Unusual hold", "Taux de retenue inhabituel"),
        message=Wording(
            "The hold was {recorded}; chance alone keeps it within {expected}[ in {level} of cases].",
            "Le taux de retenue a été de {recorded} ; le seul hasard le maintient dans l’intervalle {expected}[ dans "
            "{level} des cas].",
        ),
        explanation=Wording(
            "This is a question, not an accusation. Luck explains most of it most of the time; payout errors and the "
            "count are looked at first.",
            "C’est une question et non une accusation. La chance l’explique le plus souvent ; on regarde d’abord les "
            "erreurs de paiement et le comptage.",
        ),
        raised_by="record",
    ),
    Rule(
        name="payout-errors-one-sided",
        severity="info",
        provisions=everywhere(),
        reason=_STATISTICS,
        facts={"for_players": "number", "for_house": "number", "p_value": "text"},
        title=Wording("Payout errors lean one way", "Erreurs de paiement d’un seul côté"),
        message=Wording(
            "{for_players} payout errors favoured the players and {for_house} the house; honest mistakes lean that far "
            "with probability {p_value} only.",
            "{for_players} erreurs de paiement ont profité aux joueurs et {for_house} à la banque ; des fautes de "
            "bonne foi ne penchent à ce point qu’avec une probabilité de {p_value}.",
        ),
        explanation=Wording(
            "This is a question, not an accusation. Honest mistakes go both ways; look at who paid and who was paid.",
            "C’est une question et non une accusation. Les fautes de bonne foi vont dans les deux sens ; il faut "
            "regarder qui a payé et qui a été payé.",
        ),
        raised_by="record",
    ),
)
