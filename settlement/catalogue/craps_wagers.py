"""Craps: when a bet may be placed, moved, taken back and settled (art. 55-8, and s. 95.17 where it says the same)."""

from __future__ import annotations

from settlement.catalogue.games import at_craps
from settlement.catalogue.rule import WAGER, WITHDRAWAL, Rule, Wording, under

CRAPS_WAGERS = (
    Rule(
        name="line-wager-after-come-out",
        severity="critical",
        provisions=at_craps(WAGER),
        facts={"point": "number", "point_seq": "number"},
        title=Wording("Line stake after the come-out", "Mise ligne après le premier jet"),
        message=Wording(
            "Wager {the_wager} was placed while the point {point} stood[ (set at event {point_seq})]. It is played on "
            "the come-out only; it is void: its stake stays the player’s.",
            "La mise {the_wager} a été déposée alors que le point était {point}[ (établi à l’événement {point_seq})]. "
            "Elle ne se joue qu’au premier jet ; elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Win and don’t win are played on the first throw. A don’t win placed or increased once a point stands "
            "would give the player an edge over the house, and a win would put the player at a disadvantage; the text "
            "allows neither.",
            "Le win et le don’t win se jouent au premier jet. Un don’t win déposé ou augmenté une fois le point "
            "établi donnerait au joueur un avantage sur la banque, et un win le désavantagerait ; le texte n’admet ni "
            "l’un ni l’autre.",
        ),
    ),
    Rule(
        name="come-wager-on-come-out",
        severity="major",
        provisions=at_craps(WAGER),
        title=Wording("Come stake on a come-out", "Mise come au premier jet"),
        message=Wording(
            "Wager {the_wager} was placed with no point standing. It is played after the first throw of a series only; "
            "it is void: its stake stays the player’s.",
            "La mise {the_wager} a été déposée alors qu’aucun point n’était établi. Elle ne se joue qu’après le "
            "premier jet de la série ; elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Come and don’t come may be played at any moment of the series after the first throw: they need a point.",
            "Le come et le don’t come se jouent à n’importe quel moment de la série après le premier jet : il leur "
            "faut un point.",
        ),
    ),
    Rule(
        name="contract-wager-withdrawn",
        severity="critical",
        exceptional_severity="minor",
        provisions=at_craps("art. 55-8 A after 4°"),
        facts={"decided_seq": "number", "status": "status"},
        recorded_is="money",
        title=Wording("Contract stake withdrawn", "Retrait d’une mise qui ne se retire pas"),
        message=Wording(
            "Wager {the_wager} was taken back[ ({recorded})]. It may not be withdrawn and plays until it has won or "
            "lost.[ Event {decided_seq} decided it: {status}.]",
            "La mise {the_wager} a été retirée[ ({recorded})]. Elle ne peut l’être et joue jusqu’à ce qu’elle ait "
            "gagné ou perdu.[ L’événement {decided_seq} l’a décidée : {status}.]",
        ),
        explanation=Wording(
            "Stakes on win, don’t win, come and don’t come stay until decided; a win or come taken back after a point "
            "is set spares the player its worse half. The withdrawal has no effect. It is minor when no throw has been "
            "made and no call given since the stake was placed, for then nothing was at risk yet.",
            "Les mises sur win, don’t win, come et don’t come restent jusqu’à leur décision ; un win ou un come "
            "retiré après l’établissement du point épargne au joueur la phase qui lui est défavorable. Le retrait est "
            "sans effet. Il est mineur si ni lancer ni annonce n’ont eu lieu depuis le dépôt : rien n’était encore en "
            "jeu.",
        ),
    ),
    Rule(
        name="come-not-moved",
        severity="critical",
        provisions=at_craps(WAGER),
        facts={"travelled_seq": "number", "ending": "ending"},
        expected_is="number",
        title=Wording("Come stake not moved", "Mise come non déplacée"),
        message=Wording(
            "Wager {the_wager} should have been moved to {expected} after event {travelled_seq}; it had not been[ when "
            "{ending}].",
            "La mise {the_wager} devait être placée sur le {expected} après l’événement {travelled_seq} ; elle ne "
            "l’était pas[ quand {ending}].",
        ),
        explanation=Wording(
            "When a 4, 5, 6, 8, 9 or 10 comes, the stake is put on the box of that number and plays there. Left in the "
            "come box, it looks like a fresh stake and is settled on the wrong numbers. It is adjudicated on the "
            "number it belongs to.",
            "Quand sort un 4, 5, 6, 8, 9 ou 10, la mise est placée sur la case de ce numéro et y joue. Laissée dans la "
            "case come, elle passe pour une mise nouvelle et se règle sur les mauvais numéros. Elle est jugée sur le "
            "numéro qui est le sien.",
        ),
    ),
    Rule(
        name="come-moved-to-wrong-number",
        severity="critical",
        provisions=at_craps(WAGER),
        compares="number",
        title=Wording("Come stake moved wrongly", "Mise come mal déplacée"),
        message=Wording(
            "Wager {the_wager} was wrongly moved to {recorded}[; the dice sent it to {expected}].",
            "La mise {the_wager} a été placée à tort sur le {recorded}[ ; les dés l’envoyaient sur le {expected}].",
        ),
        explanation=Wording(
            "The stake goes to the number just thrown, and only a come or don’t come whose first throw was a 4, 5, 6, "
            "8, 9 or 10 travels. It is adjudicated where the dice sent it.",
            "La mise va sur le numéro qui vient de sortir, et seul voyage un come ou un don’t come dont le premier jet "
            "a donné 4, 5, 6, 8, 9 ou 10. Elle est jugée là où les dés l’ont envoyée.",
        ),
    ),
    Rule(
        name="odds-without-base-wager",
        severity="critical",
        provisions=at_craps("art. 55-8 C intro"),
        facts={"base": "text", "fault": "fault"},
        title=Wording("Odds without their line stake", "Chance associée sans chance simple"),
        message=Wording(
            "Wager {the_wager} was placed as odds[ on {base}[, which {fault}]]. It is void: its stake stays the "
            "player’s.",
            "La mise {the_wager} a été déposée comme chance associée[ à {base}[, qui {fault}]]. Elle est nulle : "
            "l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Odds carry no house edge: they are allowed only beside a live stake of the same player on the matching "
            "simple chance, whose point is known.",
            "La chance associée ne laisse aucun avantage à la banque : elle n’est admise qu’auprès d’une mise vivante "
            "du même joueur sur la chance simple correspondante, dont le point est connu.",
        ),
    ),
    Rule(
        name="odds-number-mismatch",
        severity="major",
        provisions=at_craps("art. 55-8 C intro"),
        facts={"base": "text"},
        compares="number",
        title=Wording("Odds on another number than their stake", "Chance associée sur un autre numéro"),
        message=Wording(
            "Wager {the_wager} was placed as odds on {recorded}, but its stake {base} stands on {expected}. It is "
            "void: its stake stays the player’s.",
            "La mise {the_wager} a été déposée comme chance associée sur le {recorded}, alors que sa chance simple "
            "{base} est sur le {expected}. Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Odds play the point of the simple chance that they are added to. On any other number they would be a "
            "place bet at better odds than the text gives it.",
            "La chance associée joue le point de la chance simple à laquelle elle s’ajoute. Sur un autre numéro, ce "
            "serait un place bet à un meilleur rapport que celui du texte.",
        ),
    ),
    Rule(
        name="odds-on-anothers-base",
        severity="major",
        provisions=at_craps("art. 55-8 C intro"),
        facts={"base": "text"},
        title=Wording("Odds on another player’s stake", "Chance associée à la mise d’autrui"),
        message=Wording(
            "Wager {the_wager}[ of player {player}] was placed as odds on {base}, the stake of somebody else. It is "
            "void: its stake stays the player’s.",
            "La mise {the_wager}[ du joueur {player}] a été déposée comme chance associée à {base}, mise d’un autre "
            "joueur. Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Odds carry no house edge: they are allowed only to the player who has staked on the matching simple "
            "chance.",
            "La chance associée ne laisse aucun avantage à la banque : elle n’est admise que pour le joueur qui a "
            "engagé la chance simple correspondante.",
        ),
    ),
    Rule(
        name="withdrawal-not-after-indecisive-roll",
        severity="minor",
        provisions=under({"fr-craps": (WITHDRAWAL,), "qc-craps": (WITHDRAWAL,)}),
        recorded_is="money",
        title=Wording("Withdrawn before any throw", "Retrait avant tout lancer"),
        message=Wording(
            "Wager {the_wager} was taken back[ ({recorded})] before any throw had been made since it was placed. The "
            "withdrawal stands.",
            "La mise {the_wager} a été retirée[ ({recorded})] avant tout lancer depuis son dépôt. Le retrait prend "
            "effet.",
        ),
        explanation=Wording(
            "These bets may be taken back after a throw that decided nothing. Before the first throw the text gives no "
            "such leave; nobody is hurt by it, so it takes effect.",
            "Ces chances peuvent être retirées après un coup non décisif. Avant le premier lancer, le texte ne le "
            "prévoit pas ; personne n’en souffre, et le retrait prend effet.",
        ),
    ),
    Rule(
        name="one-roll-wager-withdrawn",
        severity="minor",
        provisions=at_craps(WAGER),
        reason=Wording(
            "A reading a contrario: the text allows withdrawal for other bets and is silent here.",
            "Lecture a contrario : le texte permet le retrait d’autres chances et se tait ici.",
        ),
        recorded_is="money",
        title=Wording("One-roll bet withdrawn", "Chance d’un seul coup retirée"),
        message=Wording(
            "Wager {the_wager} was taken back[ ({recorded})] although every throw decides it. The withdrawal stands.",
            "La mise {the_wager} a été retirée[ ({recorded})] alors que chaque coup la décide. Le retrait prend effet.",
        ),
        explanation=Wording(
            "A bet that every throw decides has no indecisive throw after which it could be taken back. The text does "
            "not forbid it in words, so it takes effect and is reported as minor.",
            "Une chance que chaque coup décide ne connaît pas de coup non décisif après lequel la retirer. Le texte ne "
            "l’interdit pas expressément : le retrait prend effet et n’est signalé que comme mineur.",
        ),
    ),
    Rule(
        name="invalid-wager-number",
        severity="major",
        provisions=under({"fr-craps": (WAGER,), "qc-craps": (WAGER, "s. 95.17 intro")}),
        recorded_is="number",
        title=Wording("Bet on an impossible number", "Mise sur un numéro impossible"),
        message=Wording(
            "Wager {the_wager} was accepted[ on {recorded}], and not on a number where this bet is played. It is "
            "void: its stake stays the player’s.",
            "La mise {the_wager} a été acceptée[ sur le {recorded}], et non sur un numéro où cette chance se joue. "
            "Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "Hard ways are played on 4, 6, 8 and 10; place bets on 4, 5, 6, 8, 9 and 10.",
            "Les hard ways se jouent sur 4, 6, 8 et 10 ; les place bets sur 4, 5, 6, 8, 9 et 10.",
        ),
    ),
    Rule(
        name="wrong-bet-not-marked",
        severity="minor",
        provisions=at_craps("art. 55-8 D 2°"),
        recorded_is="text",
        title=Wording("Wrong bet not marked", "Wrong bet sans contremarque"),
        message=Wording(
            "Wager {the_wager} was taken without the “Wrong Bet” marker.",
            "La mise {the_wager} a été prise sans la contremarque « Wrong Bet ».",
        ),
        explanation=Wording(
            "The employee sets a wrong bet apart with a marker; without it, it can be mistaken for a don’t come.",
            "L’employé différencie le wrong bet par une contremarque ; sans elle, on peut le prendre pour un don’t "
            "come.",
        ),
    ),
    Rule(
        name="barred-number-settled",
        severity="critical",
        provisions=at_craps(WAGER),
        facts={"barred_seq": "number", "event_type": "act"},
        compares="money",
        title=Wording("Barred 12 settled", "Coup nul du 12 réglé"),
        message=Wording(
            "Wager {the_wager} met its 12 at event {barred_seq}, which is a push; yet {event_type}[ ({recorded})].",
            "La mise {the_wager} a rencontré son 12 à l’événement {barred_seq}, ce qui fait coup nul ; pourtant "
            "{event_type}[ ({recorded})].",
        ),
        explanation=Wording(
            "On its first throw a don’t win or don’t come neither wins nor loses with 12: the stake stays where it is "
            "and plays on. This bar is the whole advantage of the house on that side.",
            "À son premier jet, un don’t win ou un don’t come ne gagne ni ne perd avec 12 : la mise reste en place et "
            "continue de jouer. Ce coup nul fait tout l’avantage de la banque de ce côté.",
        ),
    ),
    Rule(
        name="horn-paid-split",
        severity="critical",
        provisions=at_craps("art. 55-8 B 8°"),
        facts={"odds": "odds", "result": "text", "part": "part"},
        compares="money",
        title=Wording("Horn paid as four bets", "Horn payé comme quatre mises"),
        message=Wording(
            "Wager {the_wager} was paid {recorded}[ {part}], as if it were four quarter bets; {expected} was due[: "
            "{working}].[ The player is short of {short}.][ The house paid {excess} too much.]",
            "La mise {the_wager} a reçu [{part} ]{recorded}, comme s’il s’agissait de quatre quarts de mise ; il était "
            "dû {expected}[ : {working}].[ Il manque {short} au joueur.][ La banque a payé {excess} de trop.]",
        ),
        explanation=Wording(
            "The text prices the horn as one bet, 4 times the stake, whichever of its numbers comes. Paying 27/4 or 3 "
            "times the stake is the custom of other countries.",
            "Le texte fixe un seul prix pour le horn, 4 fois la mise, quel que soit celui de ses numéros qui sort. "
            "Payer 27/4 ou 3 fois la mise est un usage d’ailleurs.",
        ),
    ),
)
