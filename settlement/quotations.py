"""The quotations from each text, by clause.

The clauses are the labels of ``provisions.py`` without the article. Only the sentences that carry a rule are quoted,
exactly as in the text, its misprints included. A quotation that the text has several times is a pair: the quotation and
the occurrence meant, counted from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Quotations: TypeAlias = Mapping[str, tuple[str | tuple[str, int], ...]]

_ODDS_TAKEN = "La mise est payée 2 pour 1 si le point est 4 ou 10, 3 pour 2 s'il est 5 ou 9 et 6 pour 5 s'il est 6 ou 8"
_ODDS_LAID = "La mise est payée 1 pour 2 si le point est 4 ou 10, 2 pour 3 s'il est 5 ou 9 et 5 pour 6 s'il est 6 ou 8"

_LINES: Mapping[str, str] = {  # art. 54, the list of the combinations, line by line
    "A plein": "Mise sur un numéro plein qui rapporte ...         35 fois la mise.",
    "A cheval": "Mise à cheval sur deux numéros qui rapporte ...   17 fois la mise.",
    "A transversale": "Mise sur une transversale (trois numéros) qui  rapporte "
    "...                                     11 fois la mise.",
    "A carré": "Mise sur un carré (quatre numéros comprenant  éventuellement le zéro) qui rapporte "
    "...          8 fois la mise.",
    "A sixain": "Mise sur un sixain (six numéros) qui rapporte ...  5      -",
    "A douzaine": "Mise sur une douzaine ou une colonne qui  rapporte "
    "...                                      2      -",
    "A deux douzaines": "Mise à cheval sur deux douzaines ou colonnes  (vingt-quatre numéros) qui rapporte "
    "...           1/2    -",
    "B pair": "Mise sur pair ou impair (numéros pairs ou  impairs) ...                                 1 fois la mise.",
    "B manque": "Mise sur manque (numéros 1 à 18) ou passe  (numéros 19 à 36) "
    "...                        1 fois la mise.",
    "B rouge": "Mise sur rouge (numéros rouges) ou noir (numéros noirs) ...                           1 fois la mise.",
}

ART_54: Quotations = {  # the combinations of roulette
    "intro": ("Les joueurs ne peuvent faire usage que des combinaisons suivantes :",),
    "A": tuple(line for clause, line in _LINES.items() if clause.startswith("A ")),
    "B": (
        *(line for clause, line in _LINES.items() if clause.startswith("B ")),
        "Dans le cas où le numéro sortant est le zéro, deux solutions s'offrent au joueur qui a misé "
        "sur une chance simple :",
    ),
    **{clause: (line,) for clause, line in _LINES.items()},
    "al. 4": ("Dans les deux cas le joueur conserve sa mise.",),
    "B 1°": ("1° Retirer la moitié de sa mise, l'autre moitié étant versée à la caisse de la table ;",),
    "B 2°": (
        '2° Laisser la totalité de la mise "en prison". Lorsque le joueur a adopté cette solution et '
        'que le numéro sortant n\'est pas le zéro, les mises placées "en prison" qui devraient gagner '
        "reprennent purement et simplement leur liberté. Les autres sont définitivement perdues.",
    ),
    "al. 8": (
        "Si le zéro sort une seconde fois, une troisième fois, etc., le même choix est laissé au joueur "
        "étant donné que la valeur initiale de sa mise est considérée comme ayant perdu 50 p. 100 "
        "[*pourcentage*] de sa valeur à chaque sortie du zéro.",
    ),
    "last al.": (
        "Lorsque le zéro sort au dernier coup de la séance, le joueur est tenu d'accepter le "
        "remboursement de la moitié, du quart, du huitième [*proportion*], etc., de sa mise initiale "
        "suivant qu'il s'agit de la première, seconde, troisième sortie du zéro.",
    ),
}

ART_55_7: Quotations = {  # how craps is run
    "al. 1": ("Le nombre des joueurs pouvant prendre place à chaque table n'est pas limité.",),
    "al. 2": (
        "Les dés sont proposés successivement aux joueurs en partant, en début de partie, de celui qui "
        "se trouve à gauche des croupiers, puis dans le sens des aiguilles d'une montre. Si un joueur "
        "refuse son tour, les dés passent au joueur suivant, dans l'ordre prévu.",
        "Le stickman passe les dés au joueur au moyen de sa canne et doit éviter de les toucher, sauf "
        "pour les examiner ou les ramasser lorsqu'ils sont tombés de la table.",
    ),
    "al. 3": (
        "Le joueur qui lance les dés, ou tireur, doit les jeter immédiatement après l'annonce du \"Rien "
        'ne va plus" et ne doit ni les frotter ni les garder dans la main.',
    ),
    "al. 4": (
        "Le tireur peut demander que les dés soient changés avant de tenter un lancer. Il ne peut "
        "toutefois le faire dans la série des coups joués pour retrouver le nombre désigné comme point.",
    ),
    "al. 5": (
        "Les dés sont lancés dans le sens de la longueur de la table et de telle manière qu'ils "
        "s'immobilisent dans la partie de la table opposée à la place d'où ils ont été jetés après que "
        "l'un au moins a frappé le bord opposé au tireur. Ils doivent rouler et non glisser et, pour "
        "être valables, être immobilisés à plat sur le tapis.",
        "En cas de dés cassés, superposés, à cheval ou arrêtés sur un jeton ou tombés de la table, et "
        'chaque fois que le lancer n\'a pas été régulier, le stickman annonce "Coup nul".',
        "Le chef de table peut retirer à un joueur son tour de jeter les dés s'il viole de façon "
        "répétée les règles du lancer.",
    ),
    "al. 6": (
        "Après un certain nombre de séries, le chef de partie ou le chef de table peut décider de "
        'changer les dés. Le stickman annonce alors "Les dés changent" et pousse devant le tireur avec '
        "la canne les six dés mis en service.",
        "Le tireur en prend deux pour les lancer et les quatre autres sont remis à la vue des joueurs "
        "dans la boîte prévue à cet effet.",
    ),
    "al. 7": (
        'Aucune mise ne peut être déposée après le "Rien ne va plus".',
        "Le tireur doit avoir déposé une mise soit sur la mise ligne dite win soit sur la ligne dite "
        "don't win avant de jeter les dés",
    ),
}

ART_55_8: Quotations = {  # the bets of craps
    "intro": ("Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes :",),
    "A intro": ("A. - Les chances simples qui, toutes, se paient à égalité, à savoir :",),
    "A 1°": (
        "Le win qui se joue au premier jet. Cette chance gagne avec 7 ou 11, perd avec 2, 3 ou 12. Pour "
        "tout autre total, le résultat est suspendu et le nombre sorti devient le point. Un croupier "
        "indique alors celui-ci en plaçant un cabochon sur la case portant ce numéro. La mise sur win "
        "est ensuite gagnante si le point se répète, perdante si le 7 sort ou en attente pour tout "
        "autre chiffre. Les dés changent de mains lorsque le 7 qui fait perdre cette chance sort",
    ),
    "A 2°": (
        "Le don't win qui se joue au premier jet. Cette chance gagne avec 2 ou 3, perd avec 7 ou 11 et "
        "fait coup nul avec 12. Pour tout autre total, le résultat est suspendu et le chiffre sorti "
        "devient le point. La mise sur don't win est ensuite gagnante si le 7 sort et perdante si le "
        "point se répète",
    ),
    "A 3°": (
        "Le come qui se joue à n'importe quel moment de la série après le premier jet. Cette chance "
        "gagne si le 7 ou le 11 sort au cours du jet qui suit immédiatement le dépôt de la mise et "
        "perd, dans les mêmes conditions, avec 2, 3 ou 12. Pour tout autre total, la mise est placée "
        "sur la case portant le numéro sorti et, à partir du jet suivant, elle gagne si le point où "
        "elle est déposée sort, perd avec le 7 ou reste en attente avec tout autre numéro",
    ),
    "A 4°": (
        "Le don't come qui se joue à n'importe quel moment de la série après le premier jet. Cette "
        "chance gagne si le 2 ou 3 sort au cours du jet qui suit immédiatement le dépôt de la mise, "
        "perd, dans les mêmes conditions, avec le 7 ou 11 et fait coup nul avec 12. Pour tout autre "
        "total, la mise est placée sur la case arrière portant le numéro sorti et, à partir du jet "
        "suivant, gagne si le 7 sort ou perd si le point sur lequel elle est placée sort",
    ),
    "A after 4°": (
        "Les mises placées sur win, don't win, come ou don't come ne peuvent être retirées et doivent "
        "jouer jusqu'à ce qu'elles aient gagné ou perdu",
    ),
    "A 5°": (
        "Le field qui se joue à n'importe quel moment de la partie, chaque coup étant décisif. Cette "
        "chance gagne si, lors du jet qui suit immédiatement le dépôt de la mise, le total des dés "
        "forme 2, 3, 4, 9, 10, 11 ou 12 et perd pour tout autre total. Elle se paie double si le 2 ou "
        "le 12 sort et à égalité pour les autres points",
    ),
    "A 6°": (
        "Le big 6 qui se joue à n'importe quel moment de la partie. Cette chance gagne avec un 6 formé "
        "de n'importe quelle façon et perd si le 7 sort.",
        ("La mise peut rester ou être retirée sur les coups non décisifs", 1),
    ),
    "A 7°": (
        "Le big 8 qui se joue à n'importe quel moment de la partie. Cette chance gagne avec un 8 formé "
        "de n'importe quelle façon ou perd si le 7 sort.",
        ("La mise peut rester ou être retirée sur les coups non décisifs", 2),
    ),
    "A 8°": (
        "Under 7 qui se joue à n'importe quel moment de la partie. Cette chance gagne si le total des "
        "points formé par les dés est inférieur à 7 et perd si ce total est égal ou supérieur à 7",
    ),
    "A 9°": (
        "Over 7 qui se joue à n'importe quel moment de la partie. Cette chance gagne si le total formé "
        "par les dés est supérieur à 7 et perd si ce total est égal ou inférieur à 7.",
    ),
    "B intro": (
        "B. - Les chances multiples qui toutes peuvent se jouer à n'importe quel moment de la partie, à savoir :",
    ),
    "B 1°": (
        "Les hard ways qui se jouent sur les totaux 4, 6, 8 ou 10 formés par les doubles, les mises "
        "pouvant être retirées après les coups non décisifs. Ces chances gagnent si le double choisi "
        "sort et perdent avec le 7 ou si le total du nombre est formé autrement que par les doubles.",
        "Le double 2 et le double 5 sont payés 7 fois la mise, le double 3 et le double 4, 9 fois la mise",
    ),
    "B 2°": ("Le jeu du 7 qui se paie 4 fois la mise. Cette chance gagne si le 7 sort et perd avec tout autre total",),
    "B 3°": (
        "Le jeu du 11 qui se paie 15 fois la mise. Cette chance gagne si le 11 sort et perd avec tout autre total",
    ),
    "B 4°": (
        "L'any craps qui se paie 7 fois la mise. Cette chance gagne si le 2, le 3 ou le 12 sort et perd "
        "avec tout autre total",
    ),
    "B 5°": ("Le craps 2 qui se paie 30 fois la mise. Cette chance gagne si le 2 sort et perd avec tout autre total",),
    "B 6°": ("Le craps 3 qui se paie 15 fois la mise. Cette chance gagne si le 3 sort et perd avec tout autre total",),
    "B 7°": (
        "Le craps 12 qui se paie 30 fois la mise. Cette chance gagne si le 12 sort et perd avec tout autre total",
    ),
    "B 8°": (
        "Le horn qui se paie 4 fois la mise. Cette chance qui associe les craps et le jeu du 11, gagne "
        "si 2, 3, 12 ou 11 sort et perd avec tout autre total.",
    ),
    "C intro": (
        "C. - Les chances associées, qui ne peuvent être jouées que si la chance simple correspondante, "
        "dont le point doit être connu, a déjà été engagée, suivent le sort de celle-ci, mais peuvent "
        "toujours être retirées après un jet non décisif, à savoir :",
    ),
    "C 1°": (
        "La chance associée du win dont la mise se place à proximité et à l'extérieur de la chance "
        "simple correspondante. Cette chance gagne avec le point, perd avec le 7 et fait coup nul avec "
        "tout autre total.",
        _ODDS_TAKEN,
    ),
    "C 2°": (
        "La chance associée du don't win dont la mise se place en porte-à-faux soit sur la mise "
        "principale de la chance simple correspondante, soit à proximité de celle-ci. Cette chance "
        "gagne avec le 7, perd avec le point et fait coup nul avec tout autre total.",
        _ODDS_LAID,
    ),
    # 3° and 4° are paid "comme" 1° and 2°, so those sentences are quoted with them.
    "C 3°": (
        _ODDS_TAKEN,
        "La chance associée du come dont la mise se place en porte-à-faux soit sur la mise principale "
        "de la chance simple correspondante, soit à proximité de celle-ci. Cette chance gagne, perd ou "
        "fait coup nul dans les mêmes conditions que le come et est payée comme la chance associée du "
        "win.",
    ),
    "C 4°": (
        _ODDS_LAID,
        "La chance associée du don't come dont la mise se place en porte-à-faux soit sur la mise "
        "principale de la chance simple correspondante, soit à proximité de celle-ci. Cette chance "
        "gagne, perd ou fait coup nul dans les mêmes conditions que le don't come et est payée comme la "
        "chance associée du don't win.",
    ),
    "D intro": (
        "D. - Les place bets qui peuvent se jouer à tout moment sur les numéros 4, 5, 6, 8, 9 ou 10 et "
        "peuvent être retirés en cas de coup non décisif, à savoir :",
    ),
    "D 1°": (
        "Le right bet dont la mise se place, selon la position du joueur, à cheval sur les lignes avant "
        "ou arrière du numéro choisi. Cette chance gagne si le point correspondant sort avant un 7, "
        "perd avec le 7 ou fait coup nul.",
        "La mise est payée 7 pour 6 si le point est 6 ou 8, 7 pour 5 s'il est 5 ou 9 et 9 pour 5 s'il est 4 ou 10.",
    ),
    "D 2°": (
        "Le wrong bet dont la mise se place dans la case arrière du numéro choisi et est différenciée "
        "par l'employé à l'aide d'une contremarque portant \"Wrong Bet\". Cette chance gagne si le 7 sort "
        "avant le point correspondant, perd si c'est ce point qui sort ou fait coup nul.",
        "La mise est payée 4 pour 5 si le point est 6 ou 8,5 pour 8 s'il est 5 ou 9 et 5 pour 11 s'il est 4 ou 10.",
    ),
}

ART_57_1: Quotations = {  # how American roulette is run
    "al. 1": (
        "Ce plateau, dont la partie supérieure présente une surface lisse légèrement concave, est "
        "divisé en 38 cases, séparées par de petites cloisons en cuivre. Les cases alternativement "
        "rouges et noires, portent chacune l'un des numéros compris entre 1 et 36, à l'exception de "
        "deux d'entre elles, ni rouge ni noire, diamétralement opposées, et où figure un zéro et un "
        "double zéro.",
    ),
    "al. 2": (
        "Dix boîtes ou compartiments transparents, nettement séparés les uns des autres, et destinés à "
        "recevoir un jeton sans valeur déterminée sur lequel est placé le marqueur indiquant la valeur "
        "donnée aux jetons de cette couleur par le joueur seront fixés sur le rebord du cylindre.",
    ),
    "al. 3": (
        "De dimensions restreintes, la table ne permet l'installation que de sept joueurs [*nombre*], "
        "l'usage de la double table peut être autorisé.",
    ),
    "al. 4": (
        "Le personnel affecté à chaque appareil comprend [*composition*] un chef de table, un croupier "
        "et, éventuellement, un employé.",
    ),
    "al. 5": (
        "Il dispose des marqueurs qu'il remet au croupier à la demande de celui-ci, mais ne manipule ni "
        "jetons ni plaques en cours de partie.",
    ),
    "al. 6": (
        "Le croupier responsable de la manoeuvre de l'appareil doit, obligatoirement, actionner chaque "
        "fois le cylindre dans un sens opposé au précédent, et lancer la bille en sens inverse. Dans le "
        "cas où le jeton vient à tomber dans le cylindre pendant le mouvement de rotation le croupier "
        "doit arrêter le jeu, puis reprendre la bille et la lancer de nouveau.",
        "dès que le mouvement de la bille se ralentit et que celle-ci est sur le point de tomber dans "
        'le cylindre, le croupier annonce "Rien ne va plus". Dès lors aucun enjeu ne peut plus être '
        "placé sur le tableau.",
        "A chaque coup, il doit lorsqu'il n'est pas assisté par un employé, reconstituer les piles de "
        "jetons de couleur avant de lancer la bille.",
    ),
    "al. 7": (
        "Quand la bille s'est définitivement arrêtée dans l'une des 38 cases, le croupier annonce à "
        "haute voix le numéro et les chances simples gagnants.",
    ),
    "al. 8": (
        "Il ramasse les enjeux perdus et procède par joueur au paiement des combinaisons gagnantes "
        "après avoir annoncé dans le détail le montant de chacune d'elles.",
    ),
    "al. 9": (
        "Les paiements doivent toujours être effectués dans l'ordre suivant ; colonne, passe, impair, "
        "noir, rouge, pair, manque, douzaine, transversale, carré, chevaux et, en dernier lieu, le "
        "numéro plein, et se font avec des jetons de couleur à valeur indéterminée propres au joueur "
        "gagnant.",
    ),
}

S_95_17: Quotations = {  # the place bets of Québec
    "intro": (
        "The “Place Bets” wagers by which the players may, during any turn, opt to wager on the numbers "
        "4, 5, 6, 8, 9 or 10, and which may be withdrawn in the event of an inconclusive roll, are the "
        "following:",
    ),
    "(1)": (
        "This wager shall win if the total of the dice equals the number selected by the player before "
        "the total of the dice shows 7 and shall lose if the total of the dice is 7.",
        "A winning wager is paid at odds of 7 to 6 if the number selected is 6 or 8, at odds of 7 to 5 "
        "if the number selected is 5 or 9, and at odds of 9 to 5 if the number selected is 4 or 10.",
        "The “Right Bet“ wager is not active during a come out roll unless otherwise indicated by the player",
    ),
    "(2)": (
        "The wager is identified by placing a “buy” chip on it. The wager is only accepted after the "
        "player has paid a commission of 5% of the wager. This wager shall win if the total of the dice "
        "equals the number selected by the player before the total of the dice shows 7 and shall lose "
        "if the total on the dice is 7.",
        "A winning wager is paid at odds of 6 to 5 if the number selected is 6 or 8, at odds of 3 to 2 "
        "if the number selected is 5 or 9, and at odds of 2 to 1 if the number selected is 4 or 10.",
        "The “Buy Bet” wager is not active during a come out roll unless otherwise indicated by the player",
    ),
    "(3)": (
        "The wager is identified by placing a “lay” chip on it. The wager is only accepted after the "
        "player has paid a commission of 5% of his potential winnings. This wager shall win if the "
        "total of the dice is 7 and shall lose if the total equals the number selected by the player.",
        "A winning wager is paid at odds of 5 to 6 if the number selected is 6 or 8, at odds of 2 to 3 "
        "if the number selected is 5 or 9, and at odds of 1 to 2 if the number selected is 4 or\N{NO-BREAK SPACE}10.",
    ),
}
