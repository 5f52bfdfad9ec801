"""Rules about the money of persons over a gaming day: what is due, and what is asked; and what to do about them.

The texts are known by their number only. A question is never an accusation: each has innocent explanations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from settlement.catalogue.rule import Rule, Wording

_of_the_record = partial(Rule, everywhere=(), raised_by="record")
"""A rule that the record raises, whatever is played."""

_QUESTION = Wording(
    "This is a question about the money of a day: no text of law says that anything is wrong.",
    "C’est une question sur l’argent d’une journée : aucun texte ne dit qu’il y ait là une irrégularité.",
)

PERSONS = (
    _of_the_record(
        name="identification-due",
        severity="major",
        reason=Wording(
            "Article R. 561-10 of the code monétaire et financier is known to us by its number only. The amount stands "
            "in the casino’s register.",
            "L’article R. 561-10 du code monétaire et financier ne nous est connu que par son numéro. Le montant "
            "figure au registre des lectures.",
        ),
        facts={"exchange": "exchange", "gaming_day": "day", "count": "number", "elsewhere": "texts"},
        compares="money",
        title=Wording("Identification due", "Joueur à identifier"),
        message=Wording(
            "[Player {player}: ]{exchange} came to {recorded}[ on {gaming_day}][, in {count} exchange(s)]; from "
            "{expected} the player must be identified, and no identification is recorded.",
            "[Joueur {player} : ]{exchange} pour {recorded}[ le {gaming_day}][, en {count} change(s)] ; à partir de "
            "{expected}, le joueur doit être identifié, et aucune identification n’est enregistrée.",
        ),
        explanation=Wording(
            "The exchanges of one player in one direction are added up over the gaming day, at all tables and desks "
            "and by any means; chips bought and chips cashed apart. Of players whom nobody named, each exchange counts "
            "alone. Amounts in another currency are not converted.",
            "Les changes d’un joueur dans un même sens s’additionnent sur la journée de jeu, à toutes les tables et "
            "caisses et quel que soit le moyen ; achats et remboursements séparément. Pour les joueurs que nul n’a "
            "désignés, chaque change compte seul. Les montants en une autre monnaie ne sont pas convertis.",
        ),
    ),
    _of_the_record(
        name="reportable-cash",
        severity="major",
        reason=Wording(
            "Sections 70 and 71 of SOR/2002-184 are known to us by their number only. The amount stands in the "
            "casino’s register.",
            "Les articles 70 et 71 du DORS/2002-184 ne nous sont connus que par leur numéro. Le montant figure au "
            "registre des lectures.",
        ),
        facts={"exchange": "exchange", "gaming_day": "day", "count": "number", "elsewhere": "texts"},
        compares="money",
        title=Wording("Cash to be reported", "Espèces à déclarer"),
        message=Wording(
            "[Player {player}: ]{exchange} came to {recorded} within 24 hours[, in {count} exchange(s)]; cash must be "
            "reported from {expected}.",
            "[Joueur {player} : ]{exchange} pour {recorded} en 24 heures[, en {count} change(s)] ; la déclaration "
            "est due à partir de {expected}.",
        ),
        explanation=Wording(
            "What the casino received in cash, staked banknotes included, and what it paid out for chips by any means "
            "are added up apart, each over 24 consecutive hours, whatever the gaming day. Each further time that the "
            "amount is reached is a finding of its own.",
            "Ce que le casino a reçu en espèces, billets misés compris, et ce qu’il a remboursé de jetons par tout "
            "moyen s’additionnent séparément, sur 24 heures consécutives, quelle que soit la journée de jeu. Chaque "
            "fois que le montant est atteint de nouveau, c’est un constat distinct.",
        ),
    ),
    _of_the_record(
        name="fill-unmatched",
        severity="major",
        reason=Wording(
            "This rule is about the casino’s accounts: it rests on the slips and the count of the rack, not on a rule "
            "of play.",
            "Cette règle porte sur les comptes du casino : elle repose sur les bons et la comptée de l’encaisse, non "
            "sur une règle de jeu.",
        ),
        facts={"slips": "texts", "gaming_day": "day"},
        compares="money",
        title=Wording("Slip without its chips", "Bon sans ses jetons"),
        message=Wording(
            "The rack closed with {recorded}; its slips, wagers and buy-ins give {expected}. The difference of "
            "{difference} is exactly the amount of slip[ {slips}].",
            "L’encaisse de clôture est de {recorded} ; d’après les bons, les mises et les changes, elle devrait être "
            "de {expected}. L’écart de {difference} est exactement le montant du bon[ {slips}].",
        ),
        explanation=Wording(
            "A fill or credit moves chips twice: on its slip, and in the rack. Where a rack is short by exactly one "
            "fill, or has too much by exactly one credit, the slip was recorded and the chips did not move. It is "
            "found only where wagers, results, payouts and the bank are all observed.",
            "Un apport ou un retrait déplace des jetons deux fois : sur son bon et dans l’encaisse. S’il manque "
            "exactement un apport, ou s’il reste exactement un retrait, le bon a été enregistré et les jetons n’ont "
            "pas bougé. Le constat n’est fait que si les mises, les résultats, les paiements et l’encaisse sont tous "
            "observés.",
        ),
    ),
    _of_the_record(
        name="threshold-splitting",
        severity="info",
        reason=_QUESTION,
        facts={
            "exchange": "exchange",
            "gaming_day": "day",
            "count": "number",
            "pattern": "pattern",
            "elsewhere": "texts",
            "players": "texts",
        },
        compares="money",
        title=Wording("Exchanges split below a threshold?", "Changes fractionnés sous un seuil ?"),
        message=Wording(
            "[Player {player}[ with {players}]: ]{exchange} came to {recorded} in {count} exchange(s)[, {pattern}]; "
            "the threshold is {expected}.",
            "[Joueur {player}[ avec {players}] : ]{exchange} pour {recorded} en {count} change(s)[, {pattern}] ; "
            "le seuil est de {expected}.",
        ),
        explanation=Wording(
            "This is a question, not an accusation: a player often buys in as he goes, and many totals end just below "
            "a round amount. Look at how the exchanges follow each other.",
            "C’est une question et non une accusation : un joueur change souvent au fur et à mesure, et bien des "
            "totaux tombent juste sous un montant rond. Il faut regarder comment les changes se suivent.",
        ),
    ),
    _of_the_record(
        name="minimal-play",
        severity="info",
        reason=_QUESTION,
        facts={
            "staked": "money",
            "means": "means",
            "gaming_day": "day",
            "count": "number",
            "elsewhere": "texts",
        },
        compares="money",
        title=Wording("Chips bought, cashed and hardly played?", "Jetons achetés, remboursés et à peine joués ?"),
        message=Wording(
            "[Player {player}: ]chips were bought for {expected}, {staked} was staked at most, and {recorded} came "
            "back[ ({means})].",
            "[Joueur {player} : ]jetons achetés pour {expected}, mises de {staked} au plus, remboursement de "
            "{recorded}[ ({means})].",
        ),
        explanation=Wording(
            "This is a question, not an accusation: a player who is called away cashes in what he has bought. It is "
            "asked only where all play of the day was seen, and stakes that nobody is known to have laid count as "
            "his. Cash that comes back as a cheque or on a card is asked about as soon as it was staked less than "
            "once.",
            "C’est une question et non une accusation : un joueur qui doit partir se fait rembourser. Elle n’est "
            "posée que si tout le jeu de la journée a été observé ; les mises sans joueur connu lui sont comptées. "
            "Les espèces rendues par chèque ou sur carte font question dès qu’elles ont été misées moins d’une fois.",
        ),
    ),
    _of_the_record(
        name="chips-from-elsewhere",
        severity="info",
        reason=_QUESTION,
        facts={"gaming_day": "day", "count": "number", "elsewhere": "texts"},
        compares="money",
        title=Wording("Chips from elsewhere?", "Jetons venus d’ailleurs ?"),
        message=Wording(
            "[Player {player}: ]chips for {recorded} were cashed; what was bought, won and kept of earlier evenings "
            "comes to {expected} at most.",
            "[Joueur {player} : ]jetons remboursés pour {recorded} ; achats, gains et jetons gardés de soirées "
            "précédentes font {expected} au plus.",
        ),
        explanation=Wording(
            "This is a question, not an accusation: couples and friends share their chips, and some were kept from "
            "before this record began. It is asked only where all play was seen. Chips that nobody is known to have "
            "bought, and what was paid to nobody known, count as his; so do chips that he may have kept in the last "
            "month. Somebody who bought or staked is asked about from three times the amount of the register.",
            "C’est une question et non une accusation : couples et amis partagent leurs jetons, et certains datent "
            "d’avant le début de l’enregistrement. Elle n’est posée que si tout le jeu a été observé. Les jetons sans "
            "acheteur connu et ce qui a été payé sans joueur connu lui sont comptés, de même que les jetons qu’il a pu "
            "garder depuis un mois. Pour qui a acheté ou misé, elle n’est posée qu’à partir du triple du montant du "
            "registre.",
        ),
    ),
    _of_the_record(
        name="chips-pooled",
        severity="info",
        reason=_QUESTION,
        facts={"players": "texts", "gaming_day": "day", "count": "number", "elsewhere": "texts"},
        compares="money",
        title=Wording("One player’s chips, cashed by several?", "Jetons d’un joueur remboursés à plusieurs ?"),
        message=Wording(
            "Several players[ ({players})] cashed {recorded} in chips that they had neither bought nor won, closely "
            "one after the other; a player[, {player},] should still have {expected} of what was bought.",
            "Plusieurs joueurs[ ({players})] se sont fait rembourser, à peu d’intervalle, {recorded} de jetons qu’ils "
            "n’avaient ni achetés ni gagnés ; un joueur[, {player},] devrait encore avoir {expected} de ses achats.",
        ),
        explanation=Wording(
            "This is a question, not an accusation: whoever invites his friends buys for all of them. It is asked "
            "where at least three players who hardly played cash at one desk, each below the threshold of "
            "identification and within half an hour of the one before, and what was not theirs comes within a "
            "twentieth of what another should still have.",
            "C’est une question et non une accusation : qui invite ses amis achète pour tous. Elle est posée lorsque "
            "trois joueurs au moins qui n’ont guère joué se font rembourser à une même caisse, chacun sous le seuil "
            "d’identification et dans la demi-heure qui suit le précédent, et que ce qui n’était pas à eux correspond, "
            "à un vingtième près, à ce qu’un autre devrait encore avoir.",
        ),
    ),
    _of_the_record(
        name="chips-outstanding",
        severity="info",
        reason=_QUESTION,
        facts={"players": "texts", "bought_on": "day", "outside": "money", "gaming_day": "day"},
        recorded_is="money",
        title=Wording("Chips that never came back?", "Jetons jamais rapportés ?"),
        message=Wording(
            "[Player {player}: ]chips for {recorded} have not come back[ since {bought_on}][, nor have those of "
            "{players}][; since then the chips outside racks and desks grew by {outside}].",
            "[Joueur {player} : ]jetons pour {recorded} jamais rapportés[ depuis le {bought_on}][, ni ceux que "
            "détiennent {players}][ ; depuis lors, les jetons hors des encaisses et des caisses ont augmenté de "
            "{outside}].",
        ),
        explanation=Wording(
            "This is a question, not an accusation: guests who come seldom keep their chips. It is asked once, when "
            "a player has not been seen for 30 days and must still have at least the amount of the register. What "
            "nobody known cashed on his evenings counts as his, and nothing is asked if the chips of the house have "
            "come back by other hands.",
            "C’est une question et non une accusation : un joueur qui vient rarement garde ses jetons. Elle est posée "
            "une fois, lorsqu’un joueur n’a pas été vu depuis 30 jours et qu’il doit encore détenir au moins le "
            "montant du registre. Ce que des inconnus se sont fait rembourser ses soirs de jeu lui est compté, et rien "
            "n’est demandé si les jetons du casino sont revenus par d’autres mains.",
        ),
    ),
    _of_the_record(
        name="offsetting-players",
        severity="info",
        reason=_QUESTION,
        facts={"other_player": "text", "opposing": "number", "coups": "number", "gaming_day": "day"},
        recorded_is="money",
        title=Wording("Two players on both sides?", "Deux joueurs des deux côtés ?"),
        message=Wording(
            "On {opposing} of the {coups} coups that they shared, player {player} and player {other_player} laid "
            "nearly the same on opposite sides of one chance[, {recorded} in all].",
            "Sur {opposing} des {coups} coups joués ensemble, les joueurs {player} et {other_player} ont misé presque "
            "autant sur les deux côtés d’une même chance[, {recorded} en tout].",
        ),
        explanation=Wording(
            "This is a question, not an accusation: a couple who like a long evening lose together only at zero, and "
            "two systems may run opposite ways. Look at who bought the chips and who cashed them.",
            "C’est une question et non une accusation : un couple qui aime les longues soirées ne perd ensemble qu’au "
            "zéro, et deux systèmes peuvent aller en sens contraire. Il faut regarder qui a acheté les jetons et qui "
            "les a fait rembourser.",
        ),
    ),
)

REMEDIES_OF_PERSONS: Mapping[str, Wording] = MappingProxyType(
    {
        "identification-due": Wording(
            "Identify the player[ {player}] before the next exchange.",
            "Identifier le joueur[ {player}] avant tout nouveau change.",
        ),
        "reportable-cash": Wording(
            "Have the casino report {recorded}[ of player {player}] to the authority.",
            "Faire déclarer par le casino {recorded}[ du joueur {player}] à l’autorité.",
        ),
        "fill-unmatched": Wording(
            "Compare slip[ {slips}] with its stub at the cash desk.",
            "Comparer le bon[ {slips}] avec sa souche à la caisse.",
        ),
        "threshold-splitting": Wording(
            "Note whether these exchanges[ of player {player}] are one.",
            "Noter si ces changes[ du joueur {player}] n’en font qu’un.",
        ),
        "minimal-play": Wording(
            "Establish what the player[ {player}] did between the exchanges.",
            "Établir ce que le joueur[ {player}] a fait entre les changes.",
        ),
        "chips-from-elsewhere": Wording(
            "Establish from whom the chips came[ that player {player} cashed].",
            "Établir de qui venaient les jetons remboursés[ à {player}].",
        ),
        "chips-pooled": Wording(
            "Establish, by the video of the desk, from whom the chips came[ that {players} cashed].",
            "Établir, par la vidéo de la caisse, qui a remis les jetons[ à {players}].",
        ),
        "chips-outstanding": Wording(
            "Ask the casino where the chips are[ that player {player} took along].",
            "Demander au casino où sont les jetons[ emportés par {player}].",
        ),
        "offsetting-players": Wording(
            "Establish who bought and who cashed the chips of {other_player}[ and {player}].",
            "Établir qui a acheté et qui a fait rembourser les jetons du joueur {other_player}[ et du joueur "
            "{player}].",
        ),
    }
)
