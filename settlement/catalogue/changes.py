"""Rules on what is changed after it was recorded, and on readings that a table declares for itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, Kind, Rule, Wording

_of_every_game = partial(Rule, everywhere=())
"""A rule that no text of law is about, whatever is played."""

READINGS_ARE_THE_CASINOS = Wording(
    "Which reading applies is the casino’s decision, entered in its register; no text gives it to the table.",
    "La lecture applicable est décidée par le casino et inscrite à son registre ; aucun texte ne la laisse à la table.",
)

FACTS_OF_A_CHANGE: Mapping[str, Kind] = MappingProxyType(
    {
        "corrects": "number",
        "annulled": "number",
        "entry_type": "event",
        "changed": "changed",
        "result": "text",
        "reason": "reason",
        "approved_by": "text",
        "announced_by": "role",
        "grave": "gravity",
        "outcomes": "outcomes",
        "outcome_count": "number",
        "sum_before": "money",
        "sum_after": "money",
        "shift": "money",
        "favoured": "favoured",
        "hides": "texts",
        "hidden": "number",
        "waits": "waiting",
        "compared_through": "number",
    }
)

CHANGES = (
    _of_every_game(
        name="entry-corrected",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts=FACTS_OF_A_CHANGE,
        title=Wording("Entry corrected", "Écriture corrigée"),
        message=Wording(
            "Event {corrects}[ ({entry_type})] was corrected[: {changed}][ (reason given: “{reason}”)][, approved by "
            "{approved_by}].[ Critical, because {grave}.][ Outcomes that change: {outcomes}[; together {shift} "
            "{favoured}].][ Findings that hold only without the correction: {hidden}[, looked for through event "
            "{compared_through}].][ {waits}.]",
            "L’événement {corrects}[ ({entry_type})] a été corrigé[ : {changed}][ (motif indiqué : « {reason} »)][, "
            "avec l’accord donné par {approved_by}].[ Caractère critique : {grave}.][ Sorts qui changent : "
            "{outcomes}[ ; au total {shift} {favoured}].][ Constats qui ne tiennent que sans la correction : "
            "{hidden}[, recherchés jusqu’à l’événement {compared_through}].][ {waits}.]",
        ),
        explanation=Wording(
            "The finding says which entry was changed, from what to what, whose money that concerns and how much. The "
            "entry itself stays in the record. In its coup and before money moved a correction is for information; "
            "later it is major, and after the close critical. One that changes a result for anybody is major, unless "
            "it is a slip of the hand; it is critical after the announcement, after money moved, or where nobody but "
            "its author approved it. Beyond information it takes effect once two officers have approved it.",
            "Le constat dit quelle écriture a été modifiée, de quoi en quoi, l’argent de qui est en cause et pour "
            "combien. L’écriture elle-même reste dans l’enregistrement. Dans son coup et avant tout mouvement "
            "d’argent, une correction est portée pour information ; ensuite elle est majeure, et critique après la "
            "clôture. Celle qui change un résultat pour un joueur est majeure, sauf simple erreur de saisie ; elle est "
            "critique après l’annonce, après un mouvement d’argent, ou si nul autre que son auteur ne l’a approuvée. "
            "Au-delà de l’information, elle ne prend effet qu’après l’accord de deux agents.",
        ),
    ),
    _of_every_game(
        name="entry-annulled",
        severity="major",
        reason=RESTS_ON_THE_RECORD,
        facts=FACTS_OF_A_CHANGE,
        title=Wording("Entry annulled", "Écriture annulée"),
        message=Wording(
            "Event {corrects}[ ({entry_type})][ (result {result})] no longer counts[ as correction {annulled} left "
            "it[: {changed}]][ (reason given: “{reason}”)][, approved by {approved_by}].[ Critical, because {grave}.][ "
            "Outcomes that change: {outcomes}[; together {shift} {favoured}].][ Findings that hold only without the "
            "annulment: {hidden}[, looked for through event {compared_through}].][ {waits}.]",
            "L’événement {corrects}[ ({entry_type})][ (résultat {result})] ne compte plus[ tel que la correction "
            "{annulled} l’avait laissé[ : {changed}]][ (motif indiqué : « {reason} »)][, avec l’accord donné par "
            "{approved_by}].[ Caractère critique : {grave}.][ Sorts qui changent : {outcomes}[ ; au total {shift} "
            "{favoured}].][ Constats qui ne tiennent que sans l’annulation : {hidden}[, recherchés jusqu’à "
            "l’événement {compared_through}].][ {waits}.]",
        ),
        explanation=Wording(
            "The finding says which entry no longer counts, whose money that concerns and how much. The entry itself "
            "stays in the record. Annulling the last correction of an entry brings back what was corrected. It is as "
            "grave as a correction at the same moment, and at least major where it takes away a result that decided "
            "for anybody, even if no money has moved. The table may call a throw or spin just counted void without a "
            "finding, as long as no money moved and nobody’s outcome changes.",
            "Le constat dit quelle écriture ne compte plus, l’argent de qui est en cause et pour combien. L’écriture "
            "elle-même reste dans l’enregistrement. Annuler la dernière correction d’une écriture rétablit ce qui "
            "avait été corrigé. L’annulation est aussi grave qu’une correction au même moment, et au moins majeure si "
            "elle retire un résultat qui décidait pour un joueur, même sans mouvement d’argent. La table peut "
            "annoncer nul, sans constat, un lancer ou un coup qui vient d’être compté, tant qu’aucun argent n’a été "
            "déplacé et qu’aucun sort ne change.",
        ),
    ),
    _of_every_game(
        name="params-differ-from-register",
        severity="major",
        exceptional_severity="critical",
        reason=READINGS_ARE_THE_CASINOS,
        facts={"readings": "readings"},
        compares="text",
        title=Wording("The table reads the law otherwise than the casino", "La table s’écarte des lectures du casino"),
        message=Wording(
            "The session declares another reading than the register ({readings}): {recorded} in place of {expected}. "
            "It is adjudicated by the register.",
            "La séance déclare une autre lecture que le registre ({readings}) : {recorded} au lieu de {expected}. Elle "
            "est jugée selon le registre.",
        ),
        explanation=Wording(
            "The casino’s register decides how gaps of the text are read, and where it is silent the default does; a "
            "table never chooses for itself. The finding is critical where a payment would be another by the reading "
            "that the session declares.",
            "Le registre du casino fixe la lecture des lacunes du texte et, dans son silence, la valeur par défaut "
            "s’applique ; une table ne choisit jamais pour elle-même. Le constat est critique lorsqu’un paiement "
            "serait autre selon la lecture que la séance déclare.",
        ),
    ),
    _of_every_game(
        name="parameter-unlawful",
        severity="critical",
        reason=Wording(
            "The text concerned depends on the reading: art. 54 B for the zero, art. 57-1 al. 3 for the seats; a "
            "payout unit above the stakes would pay nobody.",
            "Le texte en cause dépend de la lecture : art. 54 B pour le zéro, art. 57-1 al. 3 pour les places ; une "
            "unité de paiement supérieure aux mises ne paierait personne.",
        ),
        facts={"readings": "readings"},
        compares="text",
        title=Wording("Reading against the text", "Lecture contraire au texte"),
        message=Wording(
            "A reading contradicts the text ({readings}): {recorded}. It is adjudicated with {expected}.",
            "Une lecture contredit le texte ({readings}) : {recorded}. Le jugement retient {expected}.",
        ),
        explanation=Wording(
            "A reading fills a gap and may not change what is written: the zero of French roulette leaves the player "
            "his choice, seven players sit at a table of American roulette and fourteen at a double one, the payout "
            "unit is no larger than the smallest stake, the tolerance at the call is one second at most, and a slip "
            "of the hand is corrected within thirty seconds. The lawful value is used: that of the register, else the "
            "default.",
            "Une lecture comble une lacune et ne change pas ce qui est écrit : le zéro de la roulette française "
            "laisse le choix au joueur, la roulette américaine admet sept joueurs et quatorze à une double table, "
            "l’unité de paiement n’excède pas la plus petite mise, la tolérance à l’annonce est d’une seconde au plus "
            "et une erreur de saisie se rectifie en trente secondes. La valeur licite est retenue : celle du "
            "registre, sinon la valeur par défaut.",
        ),
    ),
    _of_every_game(
        name="observes-less-than-owed",
        severity="major",
        reason=READINGS_ARE_THE_CASINOS,
        facts={"families": "families"},
        title=Wording("The table reports less than it must", "La table transmet moins qu’elle ne doit"),
        message=Wording(
            "The register requires this table to report families of events that the session does not report: "
            "{families}.",
            "Selon le registre, cette table doit transmettre des familles d’événements que la séance ne transmet pas : "
            "{families}.",
        ),
        explanation=Wording(
            "What a table does not observe cannot be checked, so the casino says beforehand what each table has to "
            "observe. A session that lists less hides a part of the play from every rule on it.",
            "Ce qu’une table n’observe pas ne peut être contrôlé ; le casino fixe donc à l’avance ce que chaque table "
            "doit observer. Une séance qui en déclare moins soustrait une partie du jeu à toutes les règles qui s’y "
            "rapportent.",
        ),
    ),
)
