"""Québec: commissions, markers and the come-out of the place bets (s. 95.17)."""

from __future__ import annotations

from settlement.catalogue.games import at_quebec
from settlement.catalogue.rule import WAGER, Rule, Wording

QUEBEC = (
    Rule(
        name="commission-not-paid",
        severity="critical",
        provisions=at_quebec(WAGER),
        facts={"commission_on": "money"},
        expected_is="money",
        title=Wording("Commission not paid", "Commission non payée"),
        message=Wording(
            "Wager {the_wager} was accepted without its commission[ of {expected}][ ({five_per_cent})]. It is void: "
            "its stake stays the player’s.",
            "La mise {the_wager} a été acceptée sans sa commission[ de {expected}][ ({five_per_cent})]. Elle est "
            "nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "A buy or lay bet is only accepted after the player has paid 5% of the wager, or of the potential "
            "winnings. At true odds the commission is all the house earns.",
            "Un buy bet ou un lay bet n’est accepté qu’une fois payés 5 % de la mise, ou du gain possible. Au rapport "
            "exact, la commission est tout ce que gagne la banque.",
        ),
    ),
    Rule(
        name="commission-amount-mismatch",
        severity="critical",
        provisions=at_quebec(WAGER),
        facts={"commission_on": "money"},
        compares="money",
        title=Wording("Wrong commission", "Commission inexacte"),
        message=Wording(
            "Wager {the_wager}: a commission of {recorded} was taken; {expected} was due[: {five_per_cent}].[ {short} "
            "is missing.][ {excess} was taken too much.]",
            "Mise {the_wager} : une commission de {recorded} a été prélevée ; il était dû {expected}[ : "
            "{five_per_cent}].[ Somme manquante : {short}.][ Trop-perçu : {excess}.]",
        ),
        explanation=Wording(
            "5% of the wager for a buy bet, 5% of the potential winnings for a lay bet, rounded to the unit of the "
            "commission (readings “unit of the commission” and “rounding of the commission”). The wager plays.",
            "5 % de la mise pour un buy bet, 5 % du gain possible pour un lay bet, arrondis à l’unité de la "
            "commission (lectures « unité de la commission » et « arrondi de la commission »). La mise joue.",
        ),
    ),
    Rule(
        name="undue-commission",
        severity="major",
        provisions=at_quebec("s. 95.17 (1)"),
        compares="money",
        title=Wording("Commission not due", "Commission indue"),
        message=Wording(
            "A commission of {recorded} was taken on wager {the_wager}; a right bet bears none.",
            "Une commission de {recorded} a été prélevée sur la mise {the_wager} ; un right bet n’en supporte pas.",
        ),
        explanation=Wording(
            "Only buy and lay bets bear a commission. The house already has its edge on a right bet in the odds.",
            "Seuls les buy bets et les lay bets supportent une commission. Sur un right bet, l’avantage de la banque "
            "est déjà dans le rapport.",
        ),
    ),
    Rule(
        name="inactive-wager-settled",
        severity="critical",
        provisions=at_quebec(WAGER),
        facts={"come_out_seq": "number", "result": "text", "event_type": "act"},
        compares="money",
        title=Wording("Inactive wager settled", "Mise inactive réglée"),
        message=Wording(
            "Wager {the_wager} was off on the come-out throw of event {come_out_seq}[ (result {result})]; yet "
            "{event_type}[ ({recorded})].",
            "La mise {the_wager} ne jouait pas au premier jet de l’événement {come_out_seq}[ (résultat {result})] ; "
            "pourtant {event_type}[ ({recorded})].",
        ),
        explanation=Wording(
            "Right and buy bets are not active on a come-out throw unless the player said otherwise. Nothing touches "
            "them then, the 7 included; the payout or the collection settles nothing.",
            "Les right bets et les buy bets ne jouent pas au premier jet, sauf indication contraire du joueur. Rien ne "
            "les atteint alors, pas même le 7 ; le paiement ou le ramassage ne règle rien.",
        ),
    ),
    Rule(
        name="working-call-late",
        severity="minor",
        needs="calls",
        provisions=at_quebec(WAGER),
        facts={"call_seq": "number", "switch": "switch"},
        title=Wording("Bet switched too late", "Mise activée ou suspendue trop tard"),
        message=Wording(
            "Wager {the_wager} was switched[ {switch}] after “Rien ne va plus”[ (event {call_seq})]. It counts from "
            "the "
            "next throw.",
            "La mise {the_wager} a changé d’état[ ({switch})] après le « Rien ne va plus »[ (événement {call_seq})]. "
            "Cela vaut à partir du lancer suivant.",
        ),
        explanation=Wording(
            "A player may turn a right or buy bet on or off for the come-out, but before the bets close: otherwise it "
            "would be a stake placed with the dice in the air.",
            "Le joueur peut activer ou suspendre un right bet ou un buy bet pour le premier jet, mais avant le "
            "« Rien ne va plus » : sinon ce serait miser les dés en l’air.",
        ),
    ),
    Rule(
        name="wager-marker-missing",
        severity="minor",
        provisions=at_quebec(WAGER),
        compares="text",
        title=Wording("Marker missing", "Jeton indicateur absent"),
        message=Wording(
            "Wager {the_wager} was taken without the “{expected}” chip on it[ (marked “{recorded}”)].",
            "La mise {the_wager} a été prise sans le jeton « {expected} »[ (marquée « {recorded} »)].",
        ),
        explanation=Wording(
            "A “buy” or “lay” chip identifies the wager. Without it, it looks like a right bet and would be paid at "
            "other odds.",
            "Un jeton « buy » ou « lay » identifie la mise. Sans lui, elle passe pour un right bet et serait payée à "
            "un autre rapport.",
        ),
    ),
    Rule(
        name="commission-not-renewed",
        severity="major",
        provisions=at_quebec(WAGER),
        facts={"left_up_from": "text", "commission_on": "money"},
        expected_is="money",
        title=Wording("Commission not renewed", "Commission non renouvelée"),
        message=Wording(
            "Wager {the_wager}, left up from wager {left_up_from} after its win, was accepted without a new commission"
            "[ of {expected}][ ({five_per_cent})]. It is void: its stake stays the player’s.",
            "La mise {the_wager}, laissée en jeu après le gain de la mise {left_up_from}, a été acceptée sans nouvelle "
            "commission[ de {expected}][ ({five_per_cent})]. Elle est nulle : l’enjeu reste au joueur.",
        ),
        explanation=Wording(
            "A stake left up after a win is a new wager, and a buy or lay bet is only accepted after its commission is "
            "paid (a reading).",
            "Un enjeu laissé après un gain est une nouvelle mise, et un buy bet ou un lay bet n’est accepté qu’une "
            "fois sa commission payée (lecture).",
        ),
    ),
)
