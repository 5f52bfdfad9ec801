"""Questions that statistics raise: a process of the evidence ledger has reached its level of the year.

Each says whom it is about, since when, and how often it is asked where all is in order: its α, given in advance out of
the casino's budget. It is a question, never an accusation. Findings from the time without a ledger have facts of
their own, and read as they did.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.catalogue.rule import Equipment, Kind, Rule, Wording

_STATISTICS = Wording(
    "This is a question put by statistics: no text of law is involved.",
    "C’est une question posée par la statistique : aucun texte n’est en cause.",
)

_FACTS: Mapping[str, Kind] = MappingProxyType(
    {
        "player": "text",
        "croupier": "text",
        "of_rule": "text",
        "subject": "text",
        "shift": "text",
        "closer": "text",
        "staker": "text",
        "since": "day",
        "sessions": "number",
        "draws": "number",
        "evidence": "multiple",
        "evidence_log10": "number",
        "alpha": "text",
        "nights": "number",
        "staked": "money",
        "won": "money",
        "lost": "money",
        "beyond_chance": "money",
    }
)

_PLAYED = Wording(
    "[ In {nights} night(s), {won} was won on {staked} staked.][ In {nights} night(s), {lost} was lost on {staked} "
    "staked.]",
    "[ En {nights} nuit(s), {won} de gain pour {staked} misés.][ En {nights} nuit(s), {lost} de perte pour {staked} "
    "misés.]",
)
"""What a player has staked, and what he won or lost by it. ``beyond_chance`` is how much of that chance leaves
unexplained: above zero where he won more."""

_EVIDENCE = Wording(
    " {sessions} session(s) since {since}, {draws} observation(s). Odds against chance: {evidence} to 1. If everything "
    "is in order, such a question arises with a probability of at most {alpha} a year. It is not an accusation.",
    " {sessions} séance(s) depuis le {since}, {draws} observation(s). Contre le hasard : {evidence} contre 1. Si tout "
    "est en ordre, une telle question se pose avec une probabilité d’au plus {alpha} par an. Ce n’est pas une "
    "accusation.",
)


def _question(
    name: str,
    title: Wording,
    lead: Wording,
    explanation: Wording,
    *,
    equipment: Equipment | None = None,
    before: Wording | None = None,
    before_facts: Mapping[str, Kind] = MappingProxyType({}),
) -> Rule:
    """Return the rule of a question. ``before`` is its message from the time without a ledger, with
    ``before_facts``."""
    message = Wording(f"{lead.en}{_PLAYED.en}[{_EVIDENCE.en}]", f"{lead.fr}{_PLAYED.fr}[{_EVIDENCE.fr}]")
    if before is not None:
        message = Wording(message.en + before.en, message.fr + before.fr)
    return Rule(
        name=name,
        severity="info",
        everywhere=(),
        equipment=equipment,
        reason=_STATISTICS,
        facts={**_FACTS, **before_facts},
        title=title,
        message=message,
        explanation=explanation,
        raised_by="record",
    )


QUESTIONS = (
    _question(
        "dice-fairness",
        Wording("Are these dice fair?", "Ces dés sont-ils réguliers ?"),
        Wording("[Dice ({subject}): ]the faces do not come as those of fair dice.",
                "[Dés ({subject}) : ]les faces ne sortent pas comme celles de dés réguliers."),
        Wording(
            "Some dice look like this by chance. Have the dice measured; look at who handled them.",
            "Certains dés présentent cet aspect par hasard. Il convient de faire mesurer les dés et de regarder qui "
            "les a maniés.",
        ),
        equipment="dice",
        before=Wording(
            "[ Over {throws} throws[ of set {equipment}] the faces came in proportions that fair dice show with "
            "probability {p_value} only.]",
            "[ Sur {throws} lancers[ du jeu de dés {equipment}], les faces sont sorties dans des proportions que des "
            "dés réguliers ne présentent qu’avec une probabilité de {p_value}.]",
        ),
        before_facts={"throws": "number", "p_value": "text", "equipment": "text"},
    ),
    _question(
        "wheel-fairness",
        Wording("Is this wheel fair?", "Cet appareil est-il régulier ?"),
        Wording("[Wheel {subject}: ]the pockets do not come as those of an even wheel.",
                "[Appareil {subject} : ]les numéros ne sortent pas comme ceux d’un appareil régulier."),
        Wording(
            "Some wheels look like this by chance. Have the wheel levelled and its pockets examined.",
            "Certains appareils présentent cet aspect par hasard. Il convient de vérifier l’aplomb de l’appareil et "
            "ses cases.",
        ),
        equipment="wheel",
        before=Wording(
            "[ Over {spins} spins[ of wheel {equipment}] the pockets came in proportions that a fair wheel shows with "
            "probability {p_value} only.]",
            "[ Sur {spins} coups[ du cylindre {equipment}], les numéros sont sortis dans des proportions qu’un "
            "cylindre régulier ne présente qu’avec une probabilité de {p_value}.]",
        ),
        before_facts={"spins": "number", "p_value": "text", "equipment": "text"},
    ),
    _question(
        "wheel-signature",
        Wording("Does the next pocket depend on the last?", "Le numéro suivant dépend-il du précédent ?"),
        Wording("[{subject}: ]the distance from the last pocket to the one where the ball comes to rest is not evenly "
                "spread.",
                "[{subject} : ]l’écart entre la case où tombe la bille et la précédente n’est pas également réparti."),
        Wording(
            "A habit of the hand, a slow rotor or a spin recorded twice looks like this, and so does somebody who "
            "aims. View the footage of some spins; have another croupier spin the wheel.",
            "Une habitude de la main, un cylindre lent ou un coup enregistré deux fois présentent cet aspect, comme "
            "quelqu’un qui vise. Il convient de visionner quelques coups et de faire lancer un autre croupier.",
        ),
        equipment="wheel",
    ),
    _question(
        "void-call-bias",
        Wording("Are coups called void for what they show?", "« Coup nul » est-il annoncé selon le résultat ?"),
        Wording("[Table {subject}: ][Croupier {croupier}: ]coups called void[ while player {player} had stakes] differ "
                "from the others by how many there are, by what they show, or by what they would have paid.",
                "[Table {subject} : ][Croupier {croupier} : ]les coups déclarés nuls[ quand le joueur {player} a misé] "
                "diffèrent des autres par leur nombre, par leur résultat, ou par ce qu’ils auraient payé."),
        Wording(
            "“Coup nul” is called for how dice or a ball are thrown, not for what they show. View the footage of the "
            "void coups and look at who called them.",
            "« Coup nul » s’annonce pour la manière dont les dés ou la bille sont lancés, non pour ce qu’ils montrent. "
            "Il convient de visionner les coups nuls et de regarder qui les a annoncés.",
        ),
        equipment="dice",
    ),
    _question(
        "shooter-fairness",
        Wording("Does this shooter’s luck fit fair dice?", "Les lancers de ce tireur relèvent-ils du hasard ?"),
        Wording("[Player {player}: ]among the throws of this shooter, sevens or faces do not come as those of fair "
                "dice, nor as the others throw them with the same set.",
                "[Joueur {player} : ]les 7 ou les faces que ce tireur obtient ne sortent pas comme avec des dés "
                "réguliers, ni comme les autres les obtiennent avec le même jeu de dés."),
        Wording(
            "Some shooters look like this by chance. View how the dice are thrown: whether they tumble, and reach the "
            "far wall.",
            "Certains tireurs présentent cet aspect par hasard. Il convient de visionner les lancers : les dés "
            "roulent-ils, atteignent-ils le bord opposé ?",
        ),
        equipment="dice",
    ),
    _question(
        "table-luck",
        Wording("Unexplained results of a table", "Résultats inexpliqués d’une table"),
        Wording("[Table {subject}: ]the bank won or lost far more than chance explains.",
                "[Table {subject} : ]la banque a gagné ou perdu bien plus que le hasard ne l’explique."),
        Wording(
            "Luck explains most of it most of the time. Chips placed or moved after the result, and results read "
            "wrong, look the same.",
            "La chance l’explique le plus souvent. Des jetons posés ou déplacés après le résultat et des résultats mal "
            "relevés présentent le même aspect.",
        ),
    ),
    _question(
        "player-luck",
        Wording("Unexplained wins of a player", "Gains inexpliqués d’un joueur"),
        Wording("[Player {player}: ]the stakes won or lost far more than chance explains[, and more with croupier "
                "{croupier} than with the others at the table].",
                "[Joueur {player} : ]les mises ont gagné ou perdu bien plus que le hasard ne l’explique[, et plus "
                "avec le croupier {croupier} qu’avec les autres de la table]."),
        Wording(
            "Some players are lucky. View the footage of the largest wins: when was the stake placed, and by whom?",
            "Certains joueurs ont de la chance. Il convient de visionner les plus gros gains : quand la mise a-t-elle "
            "été posée, et par qui ?",
        ),
    ),
    _question(
        "croupier-luck",
        Wording("Unexplained wins with a croupier", "Gains inexpliqués avec un croupier"),
        Wording("[Croupier {croupier}: ]the players won far more than chance explains when this croupier dealt, and "
                "more than with the others at the table.",
                "[Croupier {croupier} : ]quand ce croupier officie, les joueurs gagnent bien plus que le hasard ne "
                "l’explique, et plus qu’avec les autres de la table."),
        Wording(
            "Some evenings are lucky. View the footage of the largest wins: when was the stake placed, and was it "
            "there before the call?",
            "Certaines soirées sont heureuses. Il convient de visionner les plus gros gains : quand la mise a-t-elle "
            "été posée, et l’était-elle avant l’annonce ?",
        ),
    ),
    _question(
        "concentration",
        Wording("Findings that gather on one person", "Constats concentrés sur une personne"),
        Wording("[Croupier {croupier}: ][Player {staker}: ]findings of one kind[ ({of_rule})] are about these coups[ "
                "with player {player}] more often than about those of the others at the same table and night.",
                "[Croupier {croupier} : ][Joueur {staker} : ]des constats d’une même sorte[ ({of_rule})] portent sur "
                "ces coups[ avec le joueur {player}] plus souvent que sur ceux des autres, à la même table et la même "
                "nuit."),
        Wording(
            "A fault of the table system during one shift looks the same, and so does a bet that few croupiers are "
            "asked to handle. Look at the findings one by one before anything is said.",
            "Un défaut du système de table pendant un service présente le même aspect, comme une mise que peu de "
            "croupiers ont à traiter. Il convient de regarder les constats un à un avant toute conclusion.",
        ),
    ),
    _question(
        "payout-errors-one-sided",
        Wording("Payout errors lean one way", "Erreurs de paiement d’un seul côté"),
        Wording("[Croupier {subject}: ]the payout errors are split between house and players otherwise than those of "
                "the other croupiers.",
                "[Croupier {subject} : ]les erreurs de paiement ne se partagent pas entre banque et joueurs comme "
                "celles des autres croupiers."),
        Wording(
            "Honest mistakes go both ways; look at who paid and who was paid.",
            "Les erreurs de bonne foi vont dans les deux sens ; il faut regarder qui a payé et qui a été payé.",
        ),
        before=Wording(
            "[ {for_players} payout error(s) in the players’ favour, {for_house} in the house’s; honest mistakes lean "
            "that far with probability {p_value} only.]",
            "[ {for_players} erreur(s) de paiement en faveur des joueurs, {for_house} en faveur de la banque ; des "
            "erreurs de bonne foi ne penchent à ce point qu’avec une probabilité de {p_value}.]",
        ),
        before_facts={"for_players": "number", "for_house": "number", "p_value": "text"},
    ),
    _question(
        "payout-error-rate",
        Wording("More payout errors than the others", "Plus d’erreurs de paiement que les autres"),
        Wording("[Croupier {subject}: ]a larger share of the coups was paid wrongly than by the other croupiers.",
                "[Croupier {subject} : ]davantage de coups ont été mal payés que chez les autres croupiers."),
        Wording(
            "Busy tables and new games are harder to pay. Look at the errors one by one before anything is said.",
            "Les tables chargées et les jeux nouveaux sont plus difficiles à payer. Il convient de regarder les "
            "erreurs une à une avant toute conclusion.",
        ),
    ),
    _question(
        "accounting-drift",
        Wording("Accounting variances that do not balance", "Écarts comptables qui ne se compensent pas"),
        Wording("[{subject}: ][Shift {shift}: ][Tables that {closer} closed: ][Tables where {croupier} dealt: ]the "
                "accounting variances go one way.",
                "[{subject} : ][Vacation {shift} : ][Tables arrêtées par {closer} : ][Tables où {croupier} a officié : "
                "]les écarts comptables vont dans le même sens."),
        Wording(
            "Small differences of many nights should cancel. Where they add up, look at the counts, the slips and who "
            "closed the rack.",
            "De petits écarts répartis sur de nombreuses nuits devraient se compenser. Quand ils s’additionnent, il "
            "faut regarder les comptées, les bons et qui a arrêté l’encaisse.",
        ),
    ),
    Rule(
        name="hold-outside-interval",
        severity="info",
        everywhere=(),
        reason=_STATISTICS,
        facts={"gaming_day": "day", "level": "text"},
        compares="text",
        title=Wording("Unusual hold (no longer raised)", "Taux de retenue inhabituel (n’est plus relevé)"),
        message=Wording(
            "The hold was {recorded}; chance alone keeps it within {expected}[ in {level} of cases].",
            "Le taux de retenue a été de {recorded} ; le seul hasard le maintient dans l’intervalle {expected}[ dans "
            "{level} des cas].",
        ),
        explanation=Wording(
            "This rule is retired and no longer raised. It looked at one session at a time and needed the drop; "
            "table-luck looks at every draw, through the years, and takes its place. An earlier finding is a "
            "question, not an accusation.",
            "Cette règle est retirée et n’est plus relevée. Elle regardait une séance à la fois et supposait la "
            "recette connue ; table-luck regarde chaque tirage, au fil des années, et la remplace. Un constat "
            "antérieur est une question et non une accusation.",
        ),
        raised_by="record",
    ),
)  # fmt: skip
