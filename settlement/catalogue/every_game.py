"""Rules on stakes, at every game."""

from __future__ import annotations

from settlement.catalogue.rule import RESTS_ON_THE_RECORD, WAGER, Rule, Wording

_CALL_BY_ANALOGY = Wording(
    "Art. 54 and s. 95.17 say nothing of the call. A reading extends art. 57-1 al. 6 to them by analogy; for Québec "
    "no text is quoted.",
    "L’art. 54 et l’art. 95.17 ne disent rien de l’annonce. Une lecture leur étend l’art. 57-1 al. 6 par analogie ; "
    "pour le Québec, aucun texte n’est cité.",
)

STAKES = (
    Rule(
        name="wager-id-reused",
        severity="critical",
        everywhere=(),
        reason=RESTS_ON_THE_RECORD,
        facts={"placed_seq": "number"},
        title=Wording("Wager identifier used twice", "Identifiant de mise employé deux fois"),
        message=Wording(
            "Identifier {wager} was given to a second wager; event {placed_seq} had used it already. The second one is "
            "not adjudicated.",
            "L’identifiant {wager} a été donné à une seconde mise ; l’événement {placed_seq} l’avait déjà employé. La "
            "seconde n’est pas jugée.",
        ),
        explanation=Wording(
            "Every wager of a session has an identifier of its own, so that each result and each payout can be traced "
            "to one stake. When a table system gives the same identifier twice, the second placement is set aside and "
            "its money is not followed: find out from the table what was staked.",
            "Chaque mise d’une séance porte son propre identifiant, afin que chaque résultat et chaque paiement se "
            "rattachent à un seul enjeu. Si le système de table donne deux fois le même, la seconde mise est écartée "
            "et son argent n’est pas suivi : il faut établir à la table ce qui a été misé.",
        ),
    ),
    Rule(
        name="wager-not-permitted",
        severity="major",
        everywhere=(),
        compares="bet",
        title=Wording("Bet not permitted", "Chance non autorisée"),
        message=Wording(
            "Wager {wager}[ of {stake}] was accepted on “{bet}”, as the table system calls it. The text of this game "
            "has no such bet[; “{expected}” is probably meant]. The wager is void: its stake stays the player’s.",
            "La mise {wager}[ de {stake}] a été acceptée sur « {bet} », selon les termes du système de table. Le texte "
            "de ce jeu ne connaît pas cette chance[ ; on a sans doute voulu dire « {expected} »]. La mise est nulle : "
            "l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "The text gives a closed list: players may use these bets and no others. A stake taken on anything else "
            "never plays, whatever the dice or the ball say. It stays the player’s: if it is swept, that is a finding.",
            "Le texte donne une liste fermée : les joueurs ne peuvent faire usage que de ces chances. Un enjeu accepté "
            "sur toute autre ne joue pas, quel que soit le résultat. Il reste au joueur : s’il est ramassé, c’est un "
            "constat.",
        ),
    ),
    Rule(
        name="stake-out-of-limits",
        severity="major",
        everywhere=(),
        reason=Wording(
            "The articles on limits are known by number only; the limits are those the session declared.",
            "Les articles sur les limites ne nous sont connus que par leur numéro ; les limites sont celles que la "
            "séance a déclarées.",
        ),
        facts={"bound": "bound", "others": "number"},
        compares="money",
        title=Wording("Stake outside the limits", "Mise hors limites"),
        message=Wording(
            "Wager {the_wager}: a stake of {recorded} was accepted[ in all, with {others} other stake(s) of the same "
            "player on the same combination]; the {bound} is {expected}.",
            "Mise {the_wager} : un enjeu de {recorded} a été accepté[ en tout, avec {others} autre(s) mise(s) du même "
            "joueur sur la même combinaison] ; le {bound} est de {expected}.",
        ),
        explanation=Wording(
            "The session opened with a minimum, a maximum for this bet, or both. They bind all that a player has on "
            "one combination. What lies there at the call is outside them. It plays all the same, and what it wins is "
            "due.",
            "La séance a été ouverte avec un minimum, un maximum pour cette chance, ou les deux, qui valent pour tout "
            "ce qu’un joueur a sur une même combinaison. Ce qui s’y trouve à l’annonce est en dehors. L’enjeu joue "
            "néanmoins, et ce qu’il gagne est dû.",
        ),
    ),
    Rule(
        name="non-chip-stake",
        severity="major",
        everywhere=(),
        reason=Wording(
            "The articles on what may be staked are known by number only.",
            "Les articles sur ce qui peut être misé ne nous sont connus que par leur numéro.",
        ),
        facts={"medium": "medium"},
        title=Wording("Stake not in chips", "Mise sans jetons"),
        message=Wording(
            "Wager {the_wager} was accepted {medium} instead of in chips or plaques.",
            "La mise {the_wager} a été acceptée {medium} au lieu de jetons ou de plaques.",
        ),
        explanation=Wording(
            "Only chips and plaques may be staked. Cash on the layout, a stake announced and not put down, or a stake "
            "on credit cannot be counted afterwards, and lending to players is forbidden. The wager plays.",
            "On ne mise qu’en jetons et en plaques. Des espèces sur le tapis, une mise annoncée sans être déposée ou "
            "une mise à crédit échappent à la comptée, et il est interdit de prêter aux joueurs. La mise joue.",
        ),
    ),
    Rule(
        name="wager-after-no-more-bets",
        severity="critical",
        needs="calls",
        everywhere=(),
        reason=_CALL_BY_ANALOGY,
        facts={"call_seq": "number"},
        title=Wording("Stake after “Rien ne va plus”", "Mise après le « Rien ne va plus »"),
        message=Wording(
            "Wager {the_wager} was placed after “Rien ne va plus”[ (event {call_seq})] and before the result. It is "
            "void: its stake stays the player’s.",
            "La mise {the_wager} a été déposée après le « Rien ne va plus »[ (événement {call_seq})] et avant le "
            "résultat. Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "From the call on, no stake may be put down until there is a result. A late stake may have been placed "
            "with knowledge of the result to come: look at the footage. A voided throw or spin, or a chip in the "
            "wheel, opens the bets again.",
            "Dès l’annonce, aucune mise ne peut être déposée jusqu’au résultat. Une mise tardive a pu être faite en "
            "connaissance du coup : il faut revoir les images. Un lancer ou un coup annulé, ou un jeton tombé dans le "
            "cylindre, rouvre les mises.",
        ),
    ),
    Rule(
        name="wager-near-call",
        severity="info",
        needs="calls",
        everywhere=(),
        reason=_CALL_BY_ANALOGY,
        facts={"call_seq": "number", "event_type": "act", "after_ms": "number", "tolerance_ms": "number"},
        title=Wording("At the moment of “Rien ne va plus”", "Au moment du « Rien ne va plus »"),
        message=Wording(
            "Wager {the_wager} was {event_type} {after_ms} ms after “Rien ne va plus”[ (event {call_seq})]. That is "
            "within the tolerance of {tolerance_ms} ms, and it counts.",
            "La mise {the_wager} a été {event_type} {after_ms} ms après le « Rien ne va plus »[ (événement "
            "{call_seq})]. "
            "C’est dans la tolérance de {tolerance_ms} ms : cela compte.",
        ),
        explanation=Wording(
            "Chip sensors and the call button keep no perfect order, so half a second after the call is no proof of a "
            "late stake. One such case says nothing; many of one player or one croupier are worth a look.",
            "Les capteurs de jetons et le bouton d’annonce ne s’accordent pas parfaitement : une demi-seconde après "
            "l’annonce ne prouve pas une mise tardive. Un cas isolé ne dit rien ; beaucoup de cas chez un même joueur "
            "ou un même croupier méritent un examen.",
        ),
    ),
    Rule(
        name="withdrawal-after-no-more-bets",
        severity="major",
        needs="calls",
        everywhere=(),
        reason=_CALL_BY_ANALOGY,
        facts={"call_seq": "number", "decided_seq": "number", "status": "status"},
        recorded_is="money",
        title=Wording("Withdrawal after “Rien ne va plus”", "Retrait après le « Rien ne va plus »"),
        message=Wording(
            "[{recorded} of ]wager {the_wager} was taken back after “Rien ne va plus”[ (event {call_seq})]. The "
            "withdrawal has no effect (a reading): the wager stayed in play[, and event {decided_seq} decided it: "
            "{status}].",
            "La mise {the_wager} a été retirée[ à hauteur de {recorded}] après le « Rien ne va plus »[ (événement "
            "{call_seq})]. Le retrait est sans effet (lecture) : la mise est restée en jeu[, et l’événement "
            "{decided_seq} l’a décidée : {status}].",
        ),
        explanation=Wording(
            "The text forbids new stakes after the call; by the same reason, what lies on the layout stays there. That "
            "is a reading: where the stake was handed back and then lost, the house is short of it, and nothing is "
            "asked of the player on that reading alone.",
            "Le texte interdit de nouvelles mises après l’annonce ; pour la même raison, ce qui est sur le tapis y "
            "reste. C’est une lecture : si l’enjeu a été rendu puis perdu, il manque à la banque, mais rien n’est "
            "demandé au joueur sur cette seule lecture.",
        ),
    ),
    Rule(
        name="withdrawal-of-decided-wager",
        severity="critical",
        everywhere=(WAGER,),
        facts={"decided_seq": "number", "status": "status"},
        recorded_is="money",
        title=Wording("Withdrawal of a decided wager", "Retrait d’une mise décidée"),
        message=Wording(
            "Wager {the_wager} was taken back[ ({recorded})] although event {decided_seq} had decided it[: {status}]. "
            "The player took what was not due.",
            "La mise {the_wager} a été retirée[ ({recorded})] alors que l’événement {decided_seq} l’avait décidée[ : "
            "{status}]. Le joueur a repris ce qui ne lui était pas dû.",
        ),
        explanation=Wording(
            "After the result, the player may lift what is due to him and nothing else. A player who lifts a stake "
            "that has just lost takes money that belongs to the house.",
            "Après le résultat, le joueur peut reprendre ce qui lui est dû, et rien d’autre. Le joueur qui reprend un "
            "enjeu perdu prend de l’argent qui revient à la banque.",
        ),
    ),
    Rule(
        name="indivisible-stake",
        severity="info",
        everywhere=(WAGER,),
        facts={"odds": "odds", "unit": "money"},
        expected_is="money",
        title=Wording("Amount that does not divide", "Montant non divisible"),
        message=Wording(
            "Wager {the_wager}: {product} is not a whole number of payout units[ ({unit})]. {expected} is due; the "
            "fraction stays with the house.",
            "Mise {the_wager} : {product} ne fait pas un nombre entier d’unités de paiement[ ({unit})]. Il est dû "
            "{expected} ; la fraction reste à la banque.",
        ),
        explanation=Wording(
            "No text says who keeps the fraction of a unit. What is due is rounded down (reading “payout unit”), and "
            "every case is listed, so that anybody can check it. Nothing was done wrong.",
            "Aucun texte ne dit à qui revient la fraction d’unité. Ce qui est dû est arrondi à l’unité inférieure "
            "(lecture « unité de paiement »), et chaque cas est signalé afin que chacun puisse le vérifier. "
            "Personne n’est en faute.",
        ),
    ),
    Rule(
        name="wager-left-open",
        severity="critical",
        everywhere=(WAGER,),
        facts={"status": "status"},
        title=Wording("Wager undecided at the close", "Mise non décidée à la clôture"),
        message=Wording(
            "The session was closed with wager {the_wager} undecided[: {status}].",
            "La séance a été close alors que la mise {the_wager} n’était pas décidée[ : {status}].",
        ),
        explanation=Wording(
            "A session ends when every stake has been decided or given back. Somebody left the table with this stake, "
            "or it lies in the rack without a name.",
            "Une séance s’achève quand chaque enjeu a été décidé ou rendu. Quelqu’un a quitté la table avec celui-ci, "
            "ou il se trouve dans l’encaisse sans propriétaire.",
        ),
    ),
)
