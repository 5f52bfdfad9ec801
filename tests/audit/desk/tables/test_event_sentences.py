"""Every event type has a sentence in both languages, whatever it leaves out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from audit.desk.tables.event_sentences import TEMPLATES, sentence
from settlement import decode
from settlement.catalogue.templates import fields_of
from settlement.events import DATA_OF, TYPES
from tests.settlement.streams import event


def sentences(kind: str, **data: Any) -> tuple[str, str]:
    decoded = decode(event("s", 2, kind, **data))
    return tuple(
        sentence(decoded, language, "EUR", "fr-roulette").replace("\N{NO-BREAK SPACE}", " ")
        for language in ("en", "fr")
    )


@pytest.mark.parametrize("kind", TYPES)
def test_every_event_type_has_a_template_of_its_own_fields(kind: str) -> None:
    english, french = TYPES[kind].sentence or TEMPLATES[kind]
    assert sorted(fields_of(english)) == sorted(fields_of(french))
    data = DATA_OF[TYPES[kind]]
    assert set(fields_of(english)) <= set(data.__struct_fields__)
    # A field that need not be sent stands in a clause.
    optional = set(data.__struct_fields__[len(data.__struct_fields__) - len(data.__struct_defaults__) :])
    for template in (english, french):
        assert not optional & set(fields_of(re.sub(r"\[[^\[\]]*\]", "", template)))


def test_what_was_not_sent_is_left_out() -> None:
    assert sentences("player.left", player="Anna") == ("Anna leaves", "Anna quitte la table")
    assert sentences("player.left", player="Anna", seat="S1") == (
        "Anna leaves seat S1",
        "Anna quitte la table (place S1)",
    )
    assert sentences("wager.placed", wager="w1", bet="win", stake=1000) == (
        "Unknown player stakes €10 on win — wager w1",
        "Joueur inconnu mise 10 € sur win — mise w1",
    )
    assert sentences("wager.placed", wager="w1", bet="win", stake=1000, player="Anna")[0].startswith("Anna stakes €10")
    assert sentences("throw.voided", announced_by="stickman", flags=[])[0] == "“Coup nul” announced by the stickman"
    assert sentences("dice.offered", seat="S1") == ("Dice offered to seat S1", "Dés proposés à la place S1")
    assert sentences("dice.offered", player="p7") == ("Dice offered (player p7)", "Dés proposés (joueur p7)")
    assert sentences("dice.thrown", faces=[3, 4], seat="S1", player="p7") == (
        "Throw 3 – 4 by seat S1 (player p7)",
        "Lancer 3 – 4 par la place S1 (joueur p7)",
    )
    assert sentences("payout.recovered", wager="w1", winnings=200) == (
        "Taken back on wager w1, winnings €2, stake €0",
        "Repris sur la mise w1, gain 2 €, enjeu 0 €",
    )
    assert sentences("dispute.settled", opened=7, amount=500, approved_by="chef-1") == (
        "Dispute of event 7 settled: €5 paid by the house, approved by chef-1",
        "Contestation de l’événement 7 réglée : 5 € versés par la banque, accord donné par chef-1",
    )
    assert sentences("dispute.settled", opened=7, amount=500, by="player") == (
        "Dispute of event 7 settled: €5 paid by the player",
        "Contestation de l’événement 7 réglée : 5 € versés par le joueur",
    )


def test_a_session_is_opened_under_a_ruleset_in_words() -> None:
    opened = {
        "casino": "c",
        "gaming_day": "2026-11-19",
        "game": "roulette",
        "ruleset": "fr-roulette",
        "table": "R1",
        "currency": "EUR",
        "float": 100,
    }
    english, french = sentences("session.opened", observes=["calls"], **opened)
    assert english.startswith("Session opened at table R1, ruleset French roulette, float €1")
    assert french.startswith("Séance ouverte à la table R1, règlement roulette française, encaisse 1 €")


def test_a_reason_that_the_contract_names_is_in_words() -> None:
    assert sentences("spin.voided", announced_by="croupier", reason="foreign_object") == (
        "Spin voided, announced by the croupier: a foreign object",
        "Coup annulé, annoncé par le croupier : un corps étranger",
    )
    assert sentences("events.lost", through=9, reason="spool_lost")[1] == (
        "Événements déclarés perdus jusqu’au numéro 9 : sa file d’attente a été perdue"
    )
    assert sentences("events.lost", through=9, reason="a fire")[0].endswith(": “a fire”")


def test_french_elides_before_a_vowel() -> None:
    assert sentences("chips.handled", by="employe")[1] == "Jetons manipulés par l’employé"
    assert sentences("dice.set_introduced", dice=["a"], decided_by="employe", announced=True)[1] == (
        "Dés a mis en service, sur décision de l’employé"
    )
    assert sentences("chips.handled", by="croupier")[1] == "Jetons manipulés par le croupier"
    assert sentences("staff.assigned", person="e-7", role="employe")[1] == "e-7 prend son poste d’employé"
    assert sentences("staff.relieved", person="e-7", role="employe")[1] == "e-7 est relevé de son poste d’employé"
    assert sentences("staff.assigned", person="c-7", role="croupier")[1] == "c-7 prend son poste de croupier"
