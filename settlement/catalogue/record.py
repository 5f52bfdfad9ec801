"""Rules raised by the record and not by the rules engine: integrity and reconciliation."""

from __future__ import annotations

from functools import partial

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, Rule, Wording

_of_the_record = partial(Rule, everywhere=(), raised_by="record")
"""A rule that the record raises, whatever is played."""

_RECONCILIATION = Wording(
    "This rule is about the casino’s accounts: it rests on the nightly reconciliation, not on a rule of play.",
    "Cette règle porte sur les comptes du casino : elle repose sur le rapprochement de la nuit, non sur une règle de "
    "jeu.",
)


INTEGRITY = (
    _of_the_record(
        name="sequence-conflict",
        severity="critical",
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
    _of_the_record(
        name="late-after-close",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts={"closed_seq": "number", "event_type": "event"},
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
    ),
    _of_the_record(
        name="clock-ahead",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts={"ahead_s": "number"},
        compares="instant",
        title=Wording("Clock ahead of the record", "Horloge en avance sur l’enregistrement"),
        message=Wording(
            "The clock of event {seq} is {ahead_s} s ahead of its receipt[ ({recorded}; received {expected})].",
            "L’horloge de l’événement {seq} avance de {ahead_s} s sur sa réception[ ({recorded} ; reçu {expected})].",
        ),
        explanation=Wording(
            "Nothing is received before it happens. A clock more than two minutes ahead was set wrong, or the time was "
            "written by hand; whatever is judged by the clock, such as a stake near the call, has to be read with "
            "that in mind. While the clock stays ahead, this is found once.",
            "Rien n’est reçu avant de s’être produit. Une horloge en avance de plus de deux minutes est mal réglée, "
            "ou l’heure a été saisie à la main ; ce qui se juge à l’horloge, comme une mise proche de l’annonce, doit "
            "se lire en conséquence. Tant que l’horloge reste en avance, le constat n’est fait qu’une fois.",
        ),
    ),
    _of_the_record(
        name="log-tampered",
        severity="critical",
        reason=RESTS_ON_THE_RECORD,
        facts={"batch": "number"},
        compares="text",
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
            "Chaque événement est enchaîné et scellé à sa réception. Une empreinte qui ne concorde plus prouve une "
            "modification ultérieure, par quelqu’un qui a la main sur la base de données. Il faut conserver les "
            "disques et comparer à un point de contrôle gardé ailleurs.",
        ),
    ),
)

RECONCILIATION = (
    _of_the_record(
        name="opener-differs-from-closer",
        severity="major",
        reason=_RECONCILIATION,
        facts={"previous_stream": "text"},
        compares="money",
        title=Wording("Opening float differs", "Encaisse d’ouverture différente"),
        message=Wording(
            "The table opened with {recorded}; it had closed with {expected}[ ({previous_stream})]. The difference is "
            "{difference}.",
            "La table a ouvert avec {recorded} ; elle avait fermé avec {expected}[ ({previous_stream})]. L’écart est "
            "de {difference}.",
        ),
        explanation=Wording(
            "Between two sessions the rack is locked: it opens with what it was closed with. Somebody counted wrong or "
            "somebody opened it.",
            "Entre deux séances, l’encaisse est sous clé : elle rouvre avec ce qu’elle contenait. Quelqu’un a mal "
            "compté ou quelqu’un l’a ouverte.",
        ),
    ),
    _of_the_record(
        name="slip-number-missing",
        severity="major",
        reason=_RECONCILIATION,
        facts={"slip": "text", "since": "day"},
        title=Wording("Slip missing", "Bon manquant"),
        message=Wording(
            "No fill or credit bears slip {slip}; the numbers before and after it do exist[, the one before since "
            "{since}].",
            "Aucun apport ni retrait ne porte le bon {slip} ; les numéros qui l’encadrent existent[, le précédent "
            "depuis le {since}].",
        ),
        explanation=Wording(
            "Slips are numbered without holes, from one gaming day to the next. A missing one is a movement of chips "
            "that nobody recorded, or a slip that was destroyed.",
            "Les bons sont numérotés sans lacune, d’une journée de jeu à l’autre. Un bon manquant est un mouvement de "
            "jetons que nul n’a enregistré, ou un bon détruit.",
        ),
    ),
    _of_the_record(
        name="slip-number-duplicated",
        severity="critical",
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
    ),
    _of_the_record(
        name="slip-reused",
        severity="critical",
        reason=_RECONCILIATION,
        facts={"slip": "text", "first_stream": "text", "first_seq": "number", "first_day": "day"},
        title=Wording("Slip of an earlier day used again", "Bon d’une journée antérieure réemployé"),
        message=Wording(
            "Slip {slip} at event {seq} had been used on {first_day}[ (event {first_seq} of {first_stream})].",
            "Le bon {slip} de l’événement {seq} avait déjà servi le {first_day}[ (événement {first_seq} de "
            "{first_stream})].",
        ),
        explanation=Wording(
            "The numbers of slips run on from day to day and never come back. A slip presented again on another day "
            "covers a movement of chips that was never authorised, or one that never took place.",
            "La numérotation des bons se poursuit d’une journée à l’autre et ne revient jamais. Un bon présenté de "
            "nouveau un autre jour couvre un mouvement de jetons qui n’a jamais été autorisé, ou qui n’a pas eu lieu.",
        ),
    ),
    _of_the_record(
        name="accounting-variance",
        severity="major",
        exceptional_severity="critical",
        reason=_RECONCILIATION,
        facts={"gaming_day": "day"},
        compares="money",
        title=Wording("Accounting variance", "Écart comptable"),
        message=Wording(
            "The count gives a win of {recorded}; what was recorded at the table gives {expected}. The variance is "
            "{difference}.",
            "La comptée donne un résultat de {recorded} ; ce qui a été enregistré à la table donne {expected}. "
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
    ),
    _of_the_record(
        name="count-missing",
        severity="major",
        reason=_RECONCILIATION,
        facts={"gaming_day": "day"},
        title=Wording("Count missing", "Comptée manquante"),
        message=Wording(
            "No count of the drop was recorded for this session[ of {gaming_day}]; its accounts stay provisional.",
            "Aucune comptée de la recette n’a été enregistrée pour cette séance[ du {gaming_day}] ; ses comptes "
            "restent provisoires.",
        ),
        explanation=Wording(
            "Every session’s drop is counted after the gaming day. Until it is, what the table really took is unknown.",
            "La recette de chaque séance est comptée après la journée de jeu. Jusque-là, on ignore ce que la table a "
            "réellement encaissé.",
        ),
    ),
    _of_the_record(
        name="count-opened-late",
        severity="major",
        reason=_RECONCILIATION,
        facts={"session": "text", "gaming_day": "day", "days": "number"},
        recorded_is="money",
        title=Wording("Count opened late", "Comptée ouverte tardivement"),
        message=Wording(
            "Event {seq} counts {recorded} for session {session} of {gaming_day}, {days} days from it: no report of "
            "that day takes it.",
            "L’événement {seq} compte {recorded} pour la séance {session} du {gaming_day}, à {days} jours de celle-ci "
            ": aucun rapport de cette journée ne le reprend.",
        ),
        explanation=Wording(
            "The boxes of a gaming day are counted from the day before to a week after it. Money that is counted "
            "outside that time has been somewhere in the meantime, and the accounts of its day stay without it.",
            "Les recettes d’une journée de jeu sont comptées de la veille à une semaine après celle-ci. L’argent "
            "compté hors de ce délai est resté quelque part entre-temps, et les comptes de sa journée sont arrêtés "
            "sans lui.",
        ),
    ),
)
