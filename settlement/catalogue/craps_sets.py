"""Craps: which dice are in play, who may change them and who may touch them (art. 55-7)."""

from __future__ import annotations

from settlement.catalogue.games import at_craps
from settlement.catalogue.rule import Rule, Wording

DICE_SETS = (
    Rule(
        name="dice-changed-during-point-series",
        severity="critical",
        exceptional_severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 4", "art. 55-7 al. 6"),
        facts={"point": "number", "point_seq": "number", "by": "role", "dice": "texts"},
        title=Wording("Dice changed during a point series", "Dés changés pendant la série du point"),
        message=Wording(
            "Other dice[ ({dice})] came into play while the point {point}, set at event {point_seq}, was being played"
            "[; the change was decided by the {by}].",
            "D’autres dés[ ({dice})] sont entrés en jeu alors que le point {point}, établi à l’événement {point_seq}, "
            "était en jeu[ ; le changement a été décidé par le {by}].",
        ),
        explanation=Wording(
            "The shooter may ask for other dice before a come-out, and the chefs may change them after some series, "
            "but not between the throw that sets the point and the throw that resolves it: no new set, and no other "
            "dice of the set out of the box. A change of dice in mid-series may change the odds of every stake on the "
            "table: look at both sets and at the footage. A change decided by the chef de table or the chef de partie "
            "is less grave, because the ban is on the shooter.",
            "Le tireur peut demander d’autres dés avant un premier jet, et les chefs peuvent les changer après un "
            "certain nombre de séries, mais pas entre le jet qui établit le point et celui qui le résout : ni nouveau "
            "jeu de dés, ni autres dés pris dans la boîte. Changer les "
            "dés en cours de série, c’est peut-être changer les chances de toutes les mises : il faut examiner les "
            "deux jeux de dés et les images. Décidé par le chef de table ou le chef de partie, le changement est moins "
            "grave, car l’interdiction vise le tireur.",
        ),
    ),
    Rule(
        name="dice-selected-by-another",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        compares="text",
        title=Wording("Dice taken by another than the shooter", "Dés choisis par un autre que le tireur"),
        message=Wording(
            "Seat {recorded} took the two dice[; it is seat {expected} that throws].",
            "La place {recorded} a choisi les deux dés[ ; c’est la place {expected} qui lance].",
        ),
        explanation=Wording(
            "The stickman pushes the six dice to the shooter, who takes two. Dice that another chose are dice that "
            "the thrower need not know.",
            "Le stickman pousse les six dés devant le tireur, qui en prend deux. Des dés choisis par un autre sont des "
            "dés que le tireur peut ne pas connaître.",
        ),
    ),
    Rule(
        name="dice-replaced-during-point-series-with-cause",
        severity="info",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 4", "art. 55-7 al. 5"),
        facts={"point": "number", "cause": "cause", "voided_seq": "number", "flags": "flags"},
        title=Wording("Dice replaced during a point series, with cause", "Dés remplacés en cours de série, avec motif"),
        message=Wording(
            "The dice were replaced[ ({cause})] while the point {point} was being played, right after the void throw "
            "of "
            "event {voided_seq}[: {flags}].",
            "Les dés ont été remplacés[ ({cause})] alors que le point {point} était en jeu, aussitôt après le lancer "
            "nul "
            "de l’événement {voided_seq}[ : {flags}].",
        ),
        explanation=Wording(
            "Dice that broke or were lost have to be replaced even in mid-series. The text does not say so, hence this "
            "notice: check that the dice did break or leave the table.",
            "Des dés cassés ou perdus doivent être remplacés même en cours de série. Le texte ne le dit pas, d’où cet "
            "avis : il faut vérifier que les dés se sont bien cassés ou ont quitté la table.",
        ),
    ),
    Rule(
        name="dice-change-not-authorised",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6", "art. 55-7 al. 4"),
        facts={"point": "number"},
        recorded_is="role",
        title=Wording("Dice change not authorised", "Changement de dés non autorisé"),
        message=Wording(
            "The {recorded} had the dice changed[ while the point {point} stood], without the right to decide it.",
            "Les dés ont été changés sur décision du {recorded}[ alors que le point {point} était en jeu] ; cette "
            "décision ne lui appartenait pas.",
        ),
        explanation=Wording(
            "The chef de partie or the chef de table decides to change the dice; the shooter may ask for it before a "
            "come-out. Nobody else may.",
            "C’est le chef de partie ou le chef de table qui décide de changer les dés ; le tireur peut le demander "
            "avant un premier jet. Nul autre ne le peut.",
        ),
    ),
    Rule(
        name="dice-change-not-announced",
        severity="minor",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        facts={"by": "role"},
        title=Wording("Dice change not announced", "Changement de dés non annoncé"),
        message=Wording(
            "The dice were changed[ by decision of the {by}] without the announcement “Les dés changent”.",
            "Les dés ont été changés[ sur décision du {by}] sans l’annonce « Les dés changent ».",
        ),
        explanation=Wording(
            "The stickman announces the change before pushing the new dice to the shooter, so that every player knows.",
            "Le stickman annonce le changement avant de pousser les nouveaux dés devant le tireur, afin que chaque "
            "joueur le sache.",
        ),
    ),
    Rule(
        name="dice-set-not-six",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        facts={"dice": "texts"},
        compares="number",
        title=Wording("Set of other than six dice", "Jeu qui ne compte pas six dés"),
        message=Wording(
            "The set brought into play has {recorded} different dice[ ({dice})]; it must have {expected}.",
            "Le jeu de dés mis en service compte {recorded} dés différents[ ({dice})] ; il en faut {expected}.",
        ),
        explanation=Wording(
            "Six dice are put into service, of which the shooter takes two. With fewer, or with the same die counted "
            "twice, neither the choice nor the control of the rest is ensured.",
            "Six dés sont mis en service, dont le tireur prend deux. S’il y en a moins, ou si un même dé est compté "
            "deux fois, ni le choix ni le contrôle des autres ne sont assurés.",
        ),
    ),
    Rule(
        name="dice-selection-not-two",
        severity="major",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        facts={"shooter": "text", "dice": "texts"},
        compares="number",
        title=Wording("Selection of other than two dice", "Choix d’un autre nombre de dés que deux"),
        message=Wording(
            "Seat {shooter} selected {dice}[: {recorded} of the set in play]; the shooter must take {expected} "
            "different dice of that set.",
            "La place {shooter} a choisi {dice}[, soit {recorded} du jeu en service] ; il faut prendre {expected} dés "
            "différents de ce jeu.",
        ),
        explanation=Wording(
            "The shooter takes two of the six dice pushed forward. Dice of another set, or one die named twice, are "
            "not a selection.",
            "Le tireur prend deux des six dés poussés devant lui. Des dés d’un autre jeu, ou un même dé nommé deux "
            "fois, ne font pas un choix.",
        ),
    ),
    Rule(
        name="dice-remainder-not-boxed",
        severity="minor",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        facts={"unboxed_dice": "texts"},
        title=Wording("Remaining dice not boxed", "Dés restants non remis dans la boîte"),
        message=Wording(
            "After the selection these dice were not put back into the box[: {unboxed_dice}].",
            "Après le choix, ces dés n’ont pas été remis dans la boîte[ : {unboxed_dice}].",
        ),
        explanation=Wording(
            "The four other dice go back into the box, in sight of the players, so that none can be slipped in later.",
            "Les quatre autres dés sont remis dans la boîte à la vue des joueurs, afin qu’aucun ne puisse être glissé "
            "plus tard.",
        ),
    ),
    Rule(
        name="unselected-dice-thrown",
        severity="critical",
        needs="custody",
        provisions=at_craps("art. 55-7 al. 6"),
        facts={"dice": "texts", "selected_dice": "texts"},
        title=Wording("Other dice thrown than selected", "Lancer avec d’autres dés que ceux choisis"),
        message=Wording(
            "The dice {dice} were thrown[; {selected_dice} had been selected].",
            "Les dés {dice} ont été lancés[ ; {selected_dice} avaient été choisis].",
        ),
        explanation=Wording(
            "The throw was made with dice the shooter had not taken from the set in play. Keep them and compare them "
            "with the set.",
            "Le lancer a été fait avec des dés que le tireur n’avait pas pris dans le jeu en service. Il faut les "
            "conserver et les comparer au jeu.",
        ),
    ),
    Rule(
        name="dice-touched-without-cause",
        severity="minor",
        provisions=at_craps("art. 55-7 al. 2"),
        recorded_is="cause",
        title=Wording("Dice touched without cause", "Dés touchés sans motif"),
        message=Wording(
            "The stickman touched the dice[ (recorded cause: “{recorded}”)], not to examine them nor to pick up dice "
            "that had fallen from the table.",
            "Le stickman a touché les dés[ (motif enregistré : « {recorded} »)], sans que ce soit pour les examiner ni "
            "pour ramasser des dés tombés de la table.",
        ),
        explanation=Wording(
            "The stickman passes the dice with the stick and avoids touching them, except to examine them or to pick "
            "up dice that fell from the table.",
            "Le stickman passe les dés au moyen de sa canne et évite de les toucher, sauf pour les examiner ou "
            "ramasser des dés tombés de la table.",
        ),
    ),
)
