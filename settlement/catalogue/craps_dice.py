"""Craps: the dice, the shooter and the point (art. 55-7)."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.catalogue.games import at_craps
from settlement.catalogue.rule import Rule, Wording, under

_BY_ANALOGY = Wording(
    "S. 95.17 says nothing of the throw itself; at Québec tables the rule is kept by analogy with the French text, "
    "which is not quoted against them.",
    "L’art. 95.17 ne dit rien du lancer ; aux tables québécoises, la règle est suivie par analogie avec le texte "
    "français, qui ne leur est pas opposé.",
)
_NO_TEXT_NEEDED = Wording(
    "A die has six faces, numbered 1 to 6: no text needs to say so.",
    "Un dé a six faces, numérotées de 1 à 6 : aucun texte n’a besoin de le dire.",
)


def _both_craps(label: str) -> Mapping[str, tuple[str, ...]]:
    return under({"fr-craps": (label,), "qc-craps": ()})


SHOOTER = (
    Rule(
        name="first-shooter-not-left-of-croupiers",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 2"),
        compares="text",
        title=Wording("First dice to the wrong player", "Premiers dés au mauvais joueur"),
        message=Wording(
            "The first dice of the session were offered to seat {recorded}; seat {expected}, nearer to the croupiers’ "
            "left, was occupied.",
            "Les premiers dés de la séance ont été proposés à la place {recorded} ; la place {expected}, plus proche "
            "de la gauche des croupiers, était occupée.",
        ),
        explanation=Wording(
            "At the start the dice go to the player on the croupiers’ left, and from there clockwise.",
            "En début de partie, les dés vont au joueur placé à gauche des croupiers, puis dans le sens des aiguilles "
            "d’une montre.",
        ),
    ),
    Rule(
        name="dice-not-offered-clockwise",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 2"),
        facts={"after_seat": "text"},
        compares="text",
        title=Wording("Dice not offered clockwise", "Dés non proposés dans l’ordre"),
        message=Wording(
            "After seat {after_seat} the dice were offered to seat {recorded}; clockwise, seat {expected} comes first "
            "and was occupied.",
            "Après la place {after_seat}, les dés ont été proposés à la place {recorded} ; dans le sens des aiguilles "
            "d’une montre, la place {expected} vient avant et était occupée.",
        ),
        explanation=Wording(
            "The dice pass from player to player clockwise; a player who refuses is passed over for the next one in "
            "that order. Skipping a player takes away a turn that was theirs. A seat counts as taken if a player was "
            "seated there or, where the table does not report seating, if a stake in play lies before it.",
            "Les dés passent d’un joueur à l’autre dans le sens des aiguilles d’une montre ; si l’un refuse, ils vont "
            "au suivant dans cet ordre. Sauter un joueur lui retire son tour. Une place est tenue pour occupée si un "
            "joueur y a été installé ou, si la table ne transmet pas les places, si une mise en jeu s’y trouve.",
        ),
    ),
    Rule(
        name="throw-by-non-shooter",
        severity="critical",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 2"),
        compares="text",
        title=Wording("Throw by another than the shooter", "Lancer par un autre que le tireur"),
        message=Wording(
            "The dice were thrown from seat {recorded}[; they had been offered to seat {expected}].",
            "Les dés ont été lancés depuis la place {recorded}[ ; ils avaient été proposés à la place {expected}].",
        ),
        explanation=Wording(
            "Only the player who was offered the dice, took them and was not removed may throw. The throw counts as "
            "recorded, but who threw, and why, is to be cleared up.",
            "Seul peut lancer le joueur à qui les dés ont été proposés, qui les a acceptés et à qui ils n’ont pas été "
            "retirés. Le lancer compte tel qu’il est enregistré, mais il faut établir qui a lancé et pourquoi.",
        ),
    ),
    Rule(
        name="dice-passed-without-seven-out",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-8 A 1°"),
        facts={"shooter": "text"},
        recorded_is="text",
        title=Wording("Dice passed without a seven-out", "Dés passés sans perte au 7"),
        message=Wording(
            "The dice were offered to seat {recorded} although the shooter, seat {shooter}, had neither lost on a 7, "
            "nor declined, nor been removed.",
            "Les dés ont été proposés à la place {recorded} alors que le tireur, place {shooter}, n’avait ni perdu "
            "avec le 7, ni refusé son tour, ni été écarté.",
        ),
        explanation=Wording(
            "The dice change hands when the 7 that loses the win comes, and at no other result. This shooter was "
            "deprived of the rest of the turn.",
            "Les dés changent de mains lorsque sort le 7 qui fait perdre le win, et à aucun autre résultat. Ce tireur "
            "a été privé de la suite de son tour.",
        ),
    ),
    Rule(
        name="shooter-kept-dice-after-seven-out",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-8 A 1°"),
        facts={"shooter": "text", "seven_out_seq": "number"},
        title=Wording("Dice kept after a seven-out", "Dés conservés après la perte au 7"),
        message=Wording(
            "The dice were thrown again[ by seat {shooter}] after the 7 of event {seven_out_seq} had lost the point, "
            "without being offered to the next player.",
            "Les dés ont été relancés[ par la place {shooter}] après que le 7 de l’événement {seven_out_seq} eut fait "
            "perdre le point, sans être proposés au joueur suivant.",
        ),
        explanation=Wording(
            "The 7 that loses the win ends the shooter’s turn. Each throw made before the dice were offered again is "
            "found.",
            "Le 7 qui fait perdre le win met fin au tour du tireur. Chaque lancer effectué avant que les dés soient de "
            "nouveau proposés est constaté.",
        ),
    ),
    Rule(
        name="shooter-removed-without-repeated-violation",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 5"),
        facts={"shooter": "text"},
        compares="number",
        title=Wording("Shooter removed without cause", "Tireur écarté sans motif"),
        message=Wording(
            "The dice were taken from seat {shooter} after {recorded} violation(s) of the rules of the throw in "
            "this turn; it takes {expected} to speak of repeated violation.",
            "Les dés ont été retirés à la place {shooter} après {recorded} infraction(s) aux règles du lancer dans "
            "ce tour ; il en faut {expected} pour parler de violation répétée.",
        ),
        explanation=Wording(
            "A player may lose the turn for violating the rules of the throw repeatedly, that is at least twice. A "
            "throw voided for its direction, length, wall, sliding or leaving the table counts, and so do dice rubbed "
            "or held and a throw delayed. Broken, stacked or straddling dice are nobody’s fault.",
            "Un joueur peut se voir retirer son tour s’il viole de façon répétée les règles du lancer, c’est-à-dire au "
            "moins deux fois. Comptent un lancer annulé pour sa direction, sa longueur, le bord non touché, des dés "
            "glissés ou sortis de la table, des dés frottés ou gardés en main, un lancer tardif. Des dés cassés, "
            "superposés ou à cheval ne sont la faute de personne.",
        ),
    ),
    Rule(
        name="shooter-removed-by-wrong-role",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 5"),
        facts={"shooter": "text"},
        compares="role",
        title=Wording("Shooter removed by the wrong person", "Tireur écarté par un autre que le chef de table"),
        message=Wording(
            "The dice were taken from seat {shooter} by the {recorded}; only the {expected} may do so.",
            "Les dés ont été retirés à la place {shooter} par le {recorded} ; seul le {expected} peut le faire.",
        ),
        explanation=Wording(
            "To take away a player’s turn is a decision of the chef de table alone.",
            "Retirer son tour à un joueur est une décision qui n’appartient qu’au chef de table.",
        ),
    ),
    Rule(
        name="shooter-without-line-wager",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 7"),
        facts={"shooter": "text"},
        title=Wording("Shooter without a line stake", "Tireur sans mise ligne"),
        message=Wording(
            "The shooter, seat {shooter}, threw without a stake on win or don’t win.",
            "Le tireur, place {shooter}, a lancé sans mise sur win ni sur don’t win.",
        ),
        explanation=Wording(
            "Whoever throws must have a stake on one of the two lines first. Whoever takes over in mid-series, "
            "from a shooter who was removed, gave the dice up or left, is excused until the point is resolved.",
            "Celui qui lance doit d’abord avoir misé sur l’une des deux lignes. Celui qui lui succède en cours de "
            "série, parce que le tireur a été écarté, a passé les dés ou a quitté la table, en est dispensé jusqu’à la "
            "résolution du point.",
        ),
    ),
)

THROWS = (
    Rule(
        name="throw-without-no-more-bets",
        severity="major",
        needs="calls",
        provisions=at_craps("art. 55-7 al. 3"),
        title=Wording("Throw without “Rien ne va plus”", "Lancer sans « Rien ne va plus »"),
        message=Wording(
            "The dice were thrown without “Rien ne va plus” having been called since the previous throw.",
            "Les dés ont été lancés sans que le « Rien ne va plus » ait été annoncé depuis le lancer précédent.",
        ),
        explanation=Wording(
            "The shooter throws upon the call, which closes the bets. Without it nobody can say which stakes were in "
            "time.",
            "Le tireur lance à l’annonce, dès laquelle aucune mise ne peut être déposée. Sans elle, nul ne peut dire "
            "quelles mises étaient à temps.",
        ),
    ),
    Rule(
        name="throw-delayed",
        severity="minor",
        needs="calls",
        provisions=at_craps("art. 55-7 al. 3"),
        facts={"call_seq": "number"},
        compares="number",
        title=Wording("Throw delayed", "Lancer tardif"),
        message=Wording(
            "The dice were thrown {recorded} s after “Rien ne va plus”; at most {expected} s are allowed.",
            "Les dés ont été lancés {recorded} s après le « Rien ne va plus » ; le maximum admis est de {expected} s.",
        ),
        explanation=Wording(
            "The text says “immediately”; the number of seconds is a reading (“time for a throw”).",
            "Le texte dit « immédiatement » ; le nombre de secondes est une lecture (« délai de lancer »).",
        ),
    ),
    Rule(
        name="dice-rubbed-or-held",
        severity="minor",
        provisions=at_craps("art. 55-7 al. 3"),
        facts={"shooter": "text"},
        title=Wording("Dice rubbed or held", "Dés frottés ou gardés en main"),
        message=Wording(
            "The shooter[, seat {shooter},] rubbed the dice or kept them in the hand before throwing.",
            "Le tireur[, place {shooter},] a frotté les dés ou les a gardés dans la main avant de lancer.",
        ),
        explanation=Wording(
            "The shooter must neither rub the dice nor hold on to them. The throw stays regular and counts.",
            "Le tireur ne doit ni frotter les dés ni les garder dans la main. Le lancer reste régulier et compte.",
        ),
    ),
    Rule(
        name="invalid-dice-values",
        severity="critical",
        provisions=under({"fr-craps": (), "qc-craps": ()}),
        reason=_NO_TEXT_NEEDED,
        facts={"faces": "faces"},
        compares="number",
        title=Wording("Impossible dice", "Dés impossibles"),
        message=Wording(
            "The throw was recorded as {faces}[ with a total of {recorded}[ where they make {expected}]]. It decides "
            "nothing.",
            "Le lancer a été enregistré comme {faces}[ avec un total de {recorded}[ alors qu’ils font {expected}]]. Il "
            "ne décide rien.",
        ),
        explanation=Wording(
            "A face outside 1 to 6, or a total that is not the sum of the faces, is a faulty entry. Until it is "
            "corrected nobody knows what was thrown, and no wager is decided by it.",
            "Une face hors de 1 à 6, ou un total qui n’est pas la somme des faces, est une saisie fautive. Tant "
            "qu’elle n’est pas corrigée, nul ne sait ce qui est sorti, et aucune mise n’est décidée.",
        ),
    ),
    Rule(
        name="irregular-throw-counted",
        severity="critical",
        provisions=_both_craps("art. 55-7 al. 5"),
        reason=_BY_ANALOGY,
        facts={"flags": "flags", "faces": "faces"},
        title=Wording("Irregular throw counted", "Lancer irrégulier compté"),
        message=Wording(
            "The throw {faces} was counted although it was irregular[: {flags}]. “Coup nul” was due.",
            "Le lancer {faces} a été compté bien qu’irrégulier[ : {flags}]. Il fallait annoncer « Coup nul ».",
        ),
        explanation=Wording(
            "A throw that does not roll the length of the table to the far wall and come to rest flat on the felt must "
            "be announced void. This one was counted, and wagers were decided by it; it is adjudicated as recorded.",
            "Un lancer qui ne roule pas sur la longueur de la table jusqu’au bord opposé, ou dont les dés ne "
            "s’immobilisent pas à plat sur le tapis, doit être annoncé nul. Celui-ci a été compté et a décidé des "
            "mises ; il est jugé tel qu’enregistré.",
        ),
    ),
    Rule(
        name="valid-throw-voided",
        severity="critical",
        provisions=_both_craps("art. 55-7 al. 5"),
        reason=_BY_ANALOGY,
        facts={"by": "role", "faces": "faces"},
        title=Wording("Regular throw voided", "Lancer régulier annulé"),
        message=Wording(
            "“Coup nul” was announced[ by the {by}][ on {faces}] without any irregularity being noted.",
            "« Coup nul » a été annoncé[ par le {by}][ sur {faces}] sans qu’aucune irrégularité soit relevée.",
        ),
        explanation=Wording(
            "A throw is void for a cause: dice broken, stacked, cocked, on a chip, off the table, or thrown against "
            "the rules. Voiding a regular throw takes from some what they had won and spares others what they had "
            "lost.",
            "Un lancer n’est nul que pour une cause : dés cassés, superposés, à cheval, arrêtés sur un jeton, tombés "
            "de la table, ou lancés contre les règles. Annuler un lancer régulier prive les uns de leur gain et "
            "épargne aux autres leur perte.",
        ),
    ),
    Rule(
        name="void-throw-settled",
        severity="critical",
        provisions=_both_craps("art. 55-7 al. 5"),
        reason=_BY_ANALOGY,
        facts={"voided_seq": "number", "event_type": "act"},
        compares="money",
        title=Wording("Voided throw acted upon", "Lancer nul suivi d’effet"),
        message=Wording(
            "The last throw[ (event {voided_seq})] was void and decides nothing, yet it was acted upon[ for wager "
            "{the_wager}]: {event_type}[ ({recorded})].",
            "Le dernier lancer[ (événement {voided_seq})] était nul et ne décide rien ; il a pourtant été suivi "
            "d’effet[ pour la mise {the_wager}] : {event_type}[ ({recorded})].",
        ),
        explanation=Wording(
            "A void throw decides, moves and marks nothing: it is as if the dice had not been thrown. What was paid, "
            "collected, moved or marked on it has to be undone.",
            "Un lancer nul ne décide, ne déplace et ne marque rien : c’est comme si les dés n’avaient pas été lancés. "
            "Ce qui a été payé, ramassé, déplacé ou marqué sur sa foi doit être annulé.",
        ),
    ),
    Rule(
        name="void-not-announced-by-stickman",
        severity="minor",
        provisions=_both_craps("art. 55-7 al. 5"),
        reason=_BY_ANALOGY,
        compares="role",
        title=Wording("“Coup nul” announced by another", "« Coup nul » annoncé par un autre"),
        message=Wording(
            "“Coup nul” was announced by the {recorded}; it is for the {expected} to announce it.",
            "« Coup nul » a été annoncé par le {recorded} ; c’est au {expected} de l’annoncer.",
        ),
        explanation=Wording(
            "The stickman watches the dice and announces the void throw.",
            "C’est le stickman qui surveille les dés et annonce le coup nul.",
        ),
    ),
    Rule(
        name="point-marker-missing",
        severity="minor",
        needs="marker",
        provisions=_both_craps("art. 55-8 A 1°"),
        reason=_BY_ANALOGY,
        facts={"point": "number", "point_seq": "number"},
        title=Wording("Point not marked", "Point non marqué"),
        message=Wording(
            "The point {point}, set at event {point_seq}, had not been marked when the dice were thrown again.",
            "Le point {point}, établi à l’événement {point_seq}, n’avait pas été marqué quand les dés ont été "
            "relancés.",
        ),
        explanation=Wording(
            "A croupier shows the point to everybody by placing the cabochon on its box. Without it players bet "
            "without knowing what is played.",
            "Un croupier indique le point à tous en plaçant le cabochon sur sa case. Sans lui, les joueurs misent sans "
            "savoir ce qui se joue.",
        ),
    ),
    Rule(
        name="point-marker-mismatch",
        severity="minor",
        provisions=_both_craps("art. 55-8 A 1°"),
        reason=_BY_ANALOGY,
        compares="number",
        title=Wording("Wrong point marked", "Mauvais point marqué"),
        message=Wording(
            "The cabochon was wrongly placed on {recorded}[; the point is {expected}].",
            "Le cabochon a été placé à tort sur le {recorded}[ ; le point est le {expected}].",
        ),
        explanation=Wording(
            "The cabochon shows another number than the one thrown on the come-out, or there is no point at all. The "
            "dice set the point; the cabochon misled the players.",
            "Le cabochon indique un autre numéro que celui sorti au premier jet, ou il n’y a pas de point. Le point "
            "est celui des dés ; le cabochon a induit les joueurs en erreur.",
        ),
    ),
)
