"""American roulette: seats, colours and staff (art. 57-1)."""

from __future__ import annotations

from settlement.catalogue.rule import Rule, Wording, at_american_roulette

SEATS_AND_COLOURS = (
    Rule(
        name="seat-limit-exceeded",
        severity="major",
        needs="seating",
        provisions=at_american_roulette("art. 57-1 al. 3"),
        expected_is="number",
        recorded_is="number",
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
        name="colour-limit-exceeded",
        severity="minor",
        needs="colours",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "text"},
        expected_is="number",
        recorded_is="number",
        title=Wording("Too many colours", "Trop de couleurs"),
        message=Wording(
            "Colour {colour}[, given to player {player},] is number {recorded} in use; there are {expected} boxes for "
            "markers.",
            "La couleur {colour}[, attribuée au joueur {player},] porte à {recorded} les couleurs en service ; il y a "
            "{expected} boîtes à marqueurs.",
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
        facts={"colour": "text", "owner": "text"},
        title=Wording("Colour shared by two players", "Couleur partagée par deux joueurs"),
        message=Wording(
            "Colour {colour} was given to player {player} while player {owner} was using it.",
            "La couleur {colour} a été attribuée au joueur {player} alors que le joueur {owner} s’en servait.",
        ),
        explanation=Wording(
            "Colour chips belong to one player, who gave them their value. Shared, nobody can say whose stake won.",
            "Les jetons de couleur sont propres à un joueur, qui leur a donné leur valeur. Partagés, nul ne peut dire "
            "à qui était la mise gagnante.",
        ),
    ),
    Rule(
        name="wager-with-foreign-colour",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2", "art. 57-1 al. 9"),
        facts={"colour": "text", "owner": "text"},
        title=Wording("Stake in another’s colour", "Mise dans la couleur d’autrui"),
        message=Wording(
            "Wager {the_wager}[ of player {player}] was placed in {colour}, the colour of player {owner}.",
            "La mise {the_wager}[ du joueur {player}] a été placée en {colour}, couleur du joueur {owner}.",
        ),
        explanation=Wording(
            "Stakes in the colour of somebody else are claimed by two, or were taken from a neighbour’s stack.",
            "Une mise dans la couleur d’un autre sera réclamée par deux joueurs, ou vient de la pile du voisin.",
        ),
    ),
    Rule(
        name="colour-value-undeclared",
        severity="critical",
        provisions=at_american_roulette("art. 57-1 al. 2"),
        facts={"colour": "text"},
        title=Wording("Colour without a value", "Couleur sans valeur"),
        message=Wording(
            "Colour {colour} was given to player {player} without a declared value.",
            "La couleur {colour} a été attribuée au joueur {player} sans valeur déclarée.",
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
        facts={"colour": "text", "assigned_seq": "number"},
        expected_is="money",
        recorded_is="money",
        title=Wording("Value of a colour changed", "Valeur d’une couleur modifiée"),
        message=Wording(
            "Colour {colour} of player {player} was given the value {recorded}; it had been {expected}[ since event "
            "{assigned_seq}].",
            "La couleur {colour} du joueur {player} a reçu la valeur {recorded} ; elle était de {expected}[ depuis "
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
        facts={"colour": "text"},
        expected_is="role",
        recorded_is="role",
        title=Wording("Marker from the wrong hand", "Marqueur remis par un autre"),
        message=Wording(
            "The marker of colour {colour} was handed out by the {recorded}; markers are kept by the {expected}.",
            "Le marqueur de la couleur {colour} a été remis par le {recorded} ; les marqueurs sont tenus par le "
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
            "The table opened with {chefs_de_table} chef(s) de table, {croupiers} croupier(s) and {employes} "
            "employé(s); one chef de table, one croupier and at most one employé are prescribed.",
            "La table a ouvert avec {chefs_de_table} chef(s) de table, {croupiers} croupier(s) et {employes} "
            "employé(s) ; il faut un chef de table, un croupier et au plus un employé.",
        ),
        explanation=Wording(
            "Each wheel is served by a chef de table, a croupier and, if need be, an employé.",
            "Chaque appareil est servi par un chef de table, un croupier et, éventuellement, un employé.",
        ),
    ),
)
