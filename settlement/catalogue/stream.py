"""Rules on the stream itself: its opening, its numbers, its clock, its corrections."""

from __future__ import annotations

from functools import partial

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, Rule, Wording

_of_every_game = partial(Rule, everywhere=())
"""A rule that no text of law is about, whatever is played."""

STREAM = (
    _of_every_game(
        name="ruleset-not-in-force",
        severity="info",
        reason=Wording(
            "The French texts bear no date. The arrêté of 14 May 2007 was published on 17 May 2007 (JORF n° 114); "
            "without a clause of its own a text is in force on the day after (Code civil, art. 1), 18 May, while a "
            "public database gives the 17th. When the arrêté of 23 December 1959 ended is not in our documents; the "
            "Québec by-law that replaced r. 3 is known by number only.",
            "Les textes français ne portent pas de date. L’arrêté du 14 mai 2007 a été publié le 17 mai 2007 (JORF n° "
            "114) ; sans clause propre, un texte entre en vigueur le lendemain (Code civil, art. 1er), soit le 18 mai, "
            "alors qu’une base publique indique le 17. La fin de l’arrêté du 23 décembre 1959 ne figure pas dans nos "
            "documents ; le règlement québécois qui a remplacé le r. 3 ne nous est connu que par son numéro.",
        ),
        facts={
            "ruleset": "ruleset",
            "gaming_day": "day",
            "until": "day",
            "since": "day",
            "also_given": "day",
            "published": "day",
        },
        title=Wording("Rules not in force that day", "Règles non en vigueur ce jour-là"),
        message=Wording(
            "The session of {gaming_day} is adjudicated under the rules “{ruleset}”, whose regulation did not apply "
            "that day[: it ceased to apply on {until}][: published on {published}, it is in force from {since} (Code "
            "civil, art. 1), or {also_given} by a public database].",
            "La séance du {gaming_day} est jugée selon les règles « {ruleset} », dont le règlement ne s’appliquait "
            "pas ce jour-là[ : il a cessé de s’appliquer le {until}][ : publié le {published}, il est en vigueur "
            "depuis le {since} (Code civil, art. 1er), ou le {also_given} selon une base publique].",
        ),
        explanation=Wording(
            "The session named a ruleset whose regulation did not bind the tables on that day. It is adjudicated as it "
            "asked; whether those rules held at this table is for the officer to establish.",
            "La séance a désigné un corps de règles dont le règlement ne s’imposait pas ce jour-là. Elle est jugée "
            "comme elle l’a demandé ; il appartient à l’agent d’établir si ces règles valaient à cette table.",
        ),
    ),
    _of_every_game(
        name="unknown-ruleset",
        severity="critical",
        reason=RESTS_ON_THE_RECORD,
        facts={"event_type": "event", "game": "game"},
        recorded_is="text",
        title=Wording("No rules to adjudicate by", "Aucune règle applicable"),
        message=Wording(
            "Nothing of this session can be adjudicated[: its first event is of another kind ({event_type}) than the "
            "opening of a session][: there is no ruleset “{recorded}”[ for {game}]].",
            "Rien de cette séance ne peut être jugé[ : son premier événement n’est pas l’ouverture d’une séance "
            "({event_type})][ : il n’existe pas de règles « {recorded} »[ pour {game}]].",
        ),
        explanation=Wording(
            "A session opens by naming its game and the ruleset it is played under. Without one that exists for that "
            "game, no wager can be judged, and none is.",
            "Une séance s’ouvre en désignant son jeu et les règles qui s’y appliquent. Sans règles existant pour ce "
            "jeu, aucune mise ne peut être jugée, et aucune ne l’est.",
        ),
    ),
    _of_every_game(
        name="sequence-gap",
        severity="critical",
        reason=RESTS_ON_THE_RECORD,
        facts={"missing_from": "number", "through": "number"},
        title=Wording("Events missing", "Événements manquants"),
        message=Wording(
            "The file lacks {missing_events}; what follows is adjudicated as it stands.",
            "Il manque au fichier {missing_events} ; la suite est jugée telle quelle.",
        ),
        explanation=Wording(
            "The numbers of a stream follow each other without holes. The record refuses to jump, so only a file can "
            "have a gap. Later findings may be its consequence and are marked so.",
            "Les numéros d’un flux se suivent sans trou. L’enregistrement refuse tout saut : seul un fichier peut "
            "avoir une lacune. Les constats ultérieurs peuvent en découler et sont marqués comme tels.",
        ),
    ),
    _of_every_game(
        name="events-lost",
        severity="critical",
        reason=RESTS_ON_THE_RECORD,
        facts={"missing_from": "number", "through": "number", "lost_because": "loss"},
        title=Wording("Events declared lost", "Événements déclarés perdus"),
        message=Wording(
            "The table system declares that it lost {missing_events} for good[: {lost_because}].",
            "Le système de table déclare avoir définitivement perdu {missing_events}[ : {lost_because}].",
        ),
        explanation=Wording(
            "What happened in between is unknown and cannot be adjudicated. Later findings may be its consequence and "
            "are marked so. Ask the table for its own notes and the footage of those minutes.",
            "Ce qui s’est passé entre-temps est inconnu et ne peut être jugé. Les constats ultérieurs peuvent en "
            "découler et sont marqués comme tels. Il faut demander à la table ses notes et les images de ces minutes.",
        ),
    ),
    _of_every_game(
        name="correction-without-effect",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts={"corrects": "number", "fault": "fault", "recourse": "recourse"},
        title=Wording("Correction without effect", "Correction sans effet"),
        message=Wording(
            "The correction of event {corrects} changes nothing[: {fault}].",
            "La correction de l’événement {corrects} ne change rien[ : {fault}].",
        ),
        explanation=Wording(
            "A correction replaces the data of an earlier event, whole and in the same shape; an annulment says that "
            "it never happened. This one names an event that does not exist or that it cannot change: a correction "
            "that is not the last, an annulled event, the opening in case of an annulment, a result that is not the "
            "last. Or its data do not fit. The entry stands as it was.",
            "Une correction remplace les données d’un événement antérieur, en entier et sous la même forme ; une "
            "annulation le déclare non avenu. Celle-ci désigne un événement inexistant ou qu’elle ne peut changer : "
            "une correction qui n’est pas la dernière, un événement annulé, l’ouverture s’il s’agit d’annuler, un "
            "résultat qui n’est pas le dernier. Ou ses données ne conviennent pas. L’écriture demeure.",
        ),
    ),
    _of_every_game(
        name="clock-went-back",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts={"back_s": "number"},
        compares="instant",
        title=Wording("Clock went back", "Horloge revenue en arrière"),
        message=Wording(
            "The clock[ of event {seq}] is {back_s} s behind that of the event before it[ ({recorded} after "
            "{expected})].",
            "L’horloge[ de l’événement {seq}] retarde de {back_s} s sur celle du précédent[ ({recorded} après "
            "{expected})].",
        ),
        explanation=Wording(
            "Events are numbered in the order in which they happened. A clock that goes back by more than two seconds "
            "was set by hand, or the events were written down later and out of order.",
            "Les événements sont numérotés dans l’ordre où ils se sont produits. Une horloge qui recule de plus de "
            "deux secondes a été réglée à la main, ou les événements ont été saisis après coup et en désordre.",
        ),
    ),
    _of_every_game(
        name="ledger-imbalance",
        severity="critical",
        reason=RESTS_ON_THE_RECORD,
        compares="money",
        title=Wording("The adjudication does not balance", "Le jugement n’est pas équilibré"),
        message=Wording(
            "The accounts of this adjudication differ by {recorded} where they should balance. Its amounts are not to "
            "be relied on.",
            "Les comptes de ce jugement présentent un écart de {recorded} alors qu’ils devraient s’équilibrer. Ses "
            "montants ne sont pas fiables.",
        ),
        explanation=Wording(
            "Every stake and commission taken must have been returned, collected or still stand, and every winning has "
            "its counterpart. This does not accuse the table: only a fault of the rules engine can raise it. Report "
            "it.",
            "Toute mise et toute commission reçues doivent avoir été rendues, ramassées ou rester en jeu, et tout gain "
            "a sa contrepartie. Ce constat n’accuse pas la table : seul un défaut du moteur de règles peut le "
            "produire. Il faut le signaler.",
        ),
    ),
)
