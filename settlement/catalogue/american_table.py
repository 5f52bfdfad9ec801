"""American roulette: seats, colours and staff (art. 57-1)."""

from __future__ import annotations

from settlement.catalogue.games import at_american_roulette
from settlement.catalogue.rule import Rule, Wording
from settlement.catalogue.words import name_colours

name_colours(
    {
        "black": ("black", "noir"),
        "blue": ("blue", "bleu"),
        "brown": ("brown", "brun"),
        "green": ("green", "vert"),
        "grey": ("grey", "gris"),
        "navy": ("navy", "bleu marine"),
        "orange": ("orange", "orange"),
        "pink": ("pink", "rose"),
        "purple": ("purple", "violet"),
        "red": ("red", "rouge"),
        "turquoise": ("turquoise", "turquoise"),
        "violet": ("violet", "violet"),
        "white": ("white", "blanc"),
        "yellow": ("yellow", "jaune"),
    }
)

SEATS_AND_COLOURS = (
    Rule(
        name="seat-limit-exceeded",
        severity="major",
        needs="seating",
        provisions=at_american_roulette("art. 57-1 al. 3"),
        compares="number",
        title=Wording("Too many players", "Trop de joueurs"),
        message=Wording(
            "Player {player} took a seat; the table now has {recorded} players and takes {expected}.",
            "Le joueur {player} a pris place ; la table compte {recorded} joueurs et n’en admet que {expected}.",
        ),
        explanation=Wording(
            "A table takes seven players; a double table, where authorised, fourteen (a reading).",
            "La table ne permet l’installation que de sept joueurs ; la double table, si elle est autorisée, de "
            "quatorze (lecture).",
        ),
    ),
    Rule(
        name="unseated-player-over-limit",
        severity="minor",
        needs="seating",
        provisions=at_american_roulette("art. 57-1 al. 3"),
        compares="number",
        title=Wording("One player too many, standing", "Un joueur de trop, debout"),
        message=Wording(
            "[Player {player} ]played without a seat while every seat was taken: {recorded} players at a table for "
            "{expected}.",
            "[Le joueur {player} ]a joué sans place alors que toutes étaient prises : {recorded} joueurs à une table "
            "de {expected}.",
        ),
        explanation=Wording(
            "The text limits the players at a table, not its chairs. A player who stakes from behind a full table is "
            "one too many.",
            "Le texte limite le nombre des joueurs, non celui des chaises. Celui qui mise debout derrière une table "
            "complète est de trop.",
        ),
    ),
    Rule(
        name="colour-limit-exceeded",
        severity="minor",
        needs="colours",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "colour"},
        compares="number",
        title=Wording("Too many colours", "Trop de couleurs"),
        message=Wording(
            "Colour {colour}[, given to player {player},] is number {recorded} in use; there are {expected} boxes for "
            "markers.",
            "La couleur « {colour} »[, attribuée au joueur {player},] porte à {recorded} les couleurs en service ; il "
            "y a {expected} boîtes à marqueurs.",
        ),
        explanation=Wording(
            "Ten boxes on the rim hold a chip of each colour with its value. An eleventh colour has no box, and its "
            "value stands nowhere.",
            "Dix boîtes fixées au rebord portent un jeton de chaque couleur avec sa valeur. Une onzième couleur n’a "
            "pas de boîte, et sa valeur n’est inscrite nulle part.",
        ),
    ),
    Rule(
        name="colour-shared",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2", "art. 57-1 al. 9"),
        facts={"colour": "colour", "owner": "text"},
        title=Wording("Colour shared by two players", "Couleur partagée par deux joueurs"),
        message=Wording(
            "Colour {colour} was given to player {player} while player {owner} was using it.",
            "La couleur « {colour} » a été attribuée au joueur {player} alors que le joueur {owner} s’en servait.",
        ),
        explanation=Wording(
            "Colour chips belong to one player, who gave them their value. When two players share them, nobody can "
            "say whose stake won.",
            "Les jetons de couleur sont propres à un joueur, qui leur a donné leur valeur. Quand deux joueurs les "
            "partagent, nul ne peut dire à qui était la mise gagnante.",
        ),
    ),
    Rule(
        name="wager-with-foreign-colour",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2", "art. 57-1 al. 9"),
        facts={"colour": "colour", "owner": "text"},
        title=Wording("Stake in another’s colour", "Mise dans la couleur d’autrui"),
        message=Wording(
            "Wager {the_wager}[ of player {player}] was placed in {colour}, the colour of player {owner}.",
            "La mise {the_wager}[ du joueur {player}] a été placée dans la couleur « {colour} » du joueur {owner}.",
        ),
        explanation=Wording(
            "Two players will claim a stake in the colour of somebody else, or it was taken from a neighbour’s stack.",
            "Une mise dans la couleur d’un autre sera réclamée par deux joueurs, ou vient de la pile du voisin.",
        ),
    ),
    Rule(
        name="wager-with-unassigned-colour",
        severity="major",
        needs="colours",
        provisions=at_american_roulette("art. 57-1 al. 2", "art. 57-1 al. 9"),
        facts={"colour": "colour"},
        title=Wording("Stake in nobody’s colour", "Mise dans une couleur non attribuée"),
        message=Wording(
            "Wager {the_wager}[ of player {player}] was placed in {colour}, which was assigned to nobody.",
            "La mise {the_wager}[ du joueur {player}] a été placée dans la couleur « {colour} », qui n’est attribuée à "
            "personne.",
        ),
        explanation=Wording(
            "The chips of a colour belong to the player to whom it was assigned, at the value that the marker shows. "
            "Chips of no colour in use come from outside the game, or the assignment was not recorded.",
            "Les jetons d’une couleur sont ceux du joueur à qui elle a été attribuée, à la valeur qu’indique le "
            "marqueur. Des jetons d’une couleur qui n’est pas en jeu viennent d’ailleurs, ou l’attribution n’a pas "
            "été enregistrée.",
        ),
    ),
    Rule(
        name="stake-not-multiple-of-colour-value",
        severity="major",
        needs="colours",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "colour"},
        compares="money",
        title=Wording("Not a whole number of chips", "Nombre de jetons non entier"),
        message=Wording(
            "Wager {the_wager}: {recorded} is not a whole number of {colour} chips of {expected}.",
            "Mise {the_wager} : un enjeu de {recorded} ne fait pas un nombre entier de jetons de couleur « {colour} » "
            "à {expected}.",
        ),
        explanation=Wording(
            "All chips of a colour have the value that the player declared. A stake that they cannot add up to was "
            "misread, or the chips are counted at another value.",
            "Tous les jetons d’une couleur ont la valeur que le joueur a déclarée. Une mise qu’ils ne peuvent former a "
            "été mal lue, ou les jetons sont comptés à une autre valeur.",
        ),
    ),
    Rule(
        name="colour-value-undeclared",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "colour"},
        title=Wording("Colour without a value", "Couleur sans valeur"),
        message=Wording(
            "Colour {colour} was given to player {player} without a declared value.",
            "La couleur « {colour} » a été attribuée au joueur {player} sans valeur déclarée.",
        ),
        explanation=Wording(
            "A colour chip has no value of its own: the marker says what the player made it worth. Without one the "
            "stakes cannot be counted in money.",
            "Un jeton de couleur n’a pas de valeur propre : le marqueur dit celle que le joueur lui a donnée. Sans "
            "marqueur, les mises ne peuvent être chiffrées.",
        ),
    ),
    Rule(
        name="colour-value-changed",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "colour", "assigned_seq": "number"},
        compares="money",
        title=Wording("Value of a colour changed", "Valeur d’une couleur modifiée"),
        message=Wording(
            "Colour {colour} of player {player} was given the value {recorded}; it had been {expected}[ since event "
            "{assigned_seq}].",
            "La couleur « {colour} » du joueur {player} a reçu la valeur {recorded} ; elle était de {expected}[ depuis "
            "l’événement {assigned_seq}].",
        ),
        explanation=Wording(
            "Chips bought at one value and cashed at another make or lose money out of nothing.",
            "Des jetons achetés à une valeur et rendus à une autre font naître ou disparaître de l’argent.",
        ),
    ),
)

STAFF = (
    Rule(
        name="chief-handled-chips",
        severity="major",
        provisions=at_american_roulette("art. 57-1 al. 5"),
        recorded_is="role",
        title=Wording("Chips handled by the chef de table", "Jetons manipulés par le chef de table"),
        message=Wording(
            "The {recorded} handled chips or plaques during play.",
            "Le {recorded} a manipulé des jetons ou des plaques en cours de partie.",
        ),
        explanation=Wording(
            "The chef de table watches the game and the payments and hands out markers, but touches neither chips nor "
            "plaques during play.",
            "Le chef de table surveille le jeu et les paiements et remet les marqueurs, mais ne manipule ni jetons ni "
            "plaques en cours de partie.",
        ),
    ),
    Rule(
        name="marker-not-from-chief",
        severity="minor",
        provisions=at_american_roulette("art. 57-1 al. 5"),
        facts={"colour": "colour"},
        compares="role",
        title=Wording("Marker handed out by somebody else", "Marqueur remis par un autre"),
        message=Wording(
            "The marker of colour {colour} was handed out by the {recorded}; the {expected} keeps the markers.",
            "Le marqueur de la couleur « {colour} » a été remis par le {recorded} ; les marqueurs sont tenus par le "
            "{expected}.",
        ),
        explanation=Wording(
            "The chef de table keeps the markers and gives them to the croupier at his request.",
            "Le chef de table dispose des marqueurs et les remet au croupier à sa demande.",
        ),
    ),
    Rule(
        name="staffing-invalid",
        severity="minor",
        needs="staff",
        provisions=at_american_roulette("art. 57-1 al. 4"),
        facts={"chefs_de_table": "number", "croupiers": "number", "employes": "number"},
        title=Wording("Staff not as prescribed", "Personnel non conforme"),
        message=Wording(
            "The table was staffed with {chefs_de_table} chef(s) de table, {croupiers} croupier(s) and {employes} "
            "employé(s); one chef de table, one croupier and at most one employé are prescribed.",
            "La table était tenue par {chefs_de_table} chef(s) de table, {croupiers} croupier(s) et {employes} "
            "employé(s) ; il faut un chef de table, un croupier et au plus un employé.",
        ),
        explanation=Wording(
            "Each wheel is served by a chef de table, a croupier and, if need be, an employé. The staff is judged at "
            "each coup; a missing chef de table or croupier has a finding of its own. Only the first such coup is "
            "reported, until the staff is in order. An answer given before the first coup says what is wrong with the "
            "staff so far.",
            "Chaque appareil est servi par un chef de table, un croupier et, éventuellement, un employé. Le personnel "
            "est examiné à chaque coup ; l’absence d’un chef de table ou d’un croupier est relevée à part. Seul le "
            "premier coup est signalé, jusqu’à ce que le personnel soit au complet et sans excédent. Avant le premier "
            "coup, la réponse dit ce qui manque jusque-là.",
        ),
    ),
    Rule(
        name="table-without-chief",
        severity="major",
        needs="staff",
        provisions=at_american_roulette("art. 57-1 al. 4"),
        title=Wording("Play without a chef de table", "Jeu sans chef de table"),
        message=Wording(
            "A coup was played[ (event {seq})] while no chef de table was assigned.",
            "Un coup a été joué[ (événement {seq})] alors qu’aucun chef de table n’était affecté.",
        ),
        explanation=Wording(
            "Each wheel has a chef de table. Reliefs overlap by a moment, but no coup is played without one; only the "
            "first such coup is reported until one is assigned.",
            "Chaque appareil a un chef de table. Les relèves peuvent se croiser un instant, mais aucun coup ne se joue "
            "sans lui ; seul le premier est signalé, jusqu’à ce qu’un chef soit affecté.",
        ),
    ),
    Rule(
        name="table-without-croupier",
        severity="major",
        needs="staff",
        provisions=at_american_roulette("art. 57-1 al. 4"),
        title=Wording("Play without a croupier", "Jeu sans croupier"),
        message=Wording(
            "A coup was played[ (event {seq})] while no croupier was assigned.",
            "Un coup a été joué[ (événement {seq})] alors qu’aucun croupier n’était affecté.",
        ),
        explanation=Wording(
            "Each wheel has a croupier, who turns it, launches the ball and pays. Nobody else may do so, so the coup "
            "was served by somebody who may not, or the relief was not recorded. Only the first such coup is reported "
            "until a croupier is assigned.",
            "Chaque appareil a un croupier, qui actionne le cylindre, lance la bille et paie. Nul autre n’y est "
            "autorisé : un autre a donc servi le coup, ou la relève n’a pas été enregistrée. Seul le premier coup est "
            "signalé, jusqu’à ce qu’un croupier soit affecté.",
        ),
    ),
)
