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
    return tuple(sentence(decoded, language, "EUR").replace("\N{NO-BREAK SPACE}", " ") for language in ("en", "fr"))


@pytest.mark.parametrize("kind", TYPES)
def test_every_event_type_has_a_template_of_its_own_fields(kind: str) -> None:
    english, french = TEMPLATES[kind]
    assert sorted(fields_of(english)) == sorted(fields_of(french))
    data = DATA_OF[TYPES[kind]]
    assert set(fields_of(english)) <= set(data.__struct_fields__)
    # A field that need not be sent stands in a clause.
    optional = set(data.__struct_fields__[len(data.__struct_fields__) - len(data.__struct_defaults__) :])
    for template in (english, french):
        assert not optional & set(fields_of(re.sub(r"\[[^\[\]]*\]", "", template)))


def test_what_was_not_sent_is_left_out() -> None:
    assert sentences("player.left", player="Anna") == ("Player Anna leaves", "Le joueur Anna quitte la table")
    assert sentences("player.left", player="Anna", seat="S1") == (
        "Player Anna leaves seat S1",
        "Le joueur Anna quitte la table (place S1)",
    )
    assert sentences("wager.placed", wager="w1", bet="win", stake=1000) == (
        "Stakes €10.00 on win — wager w1",
        "Mise 10,00 € sur win — mise w1",
    )
    assert sentences("throw.voided", announced_by="stickman", flags=[])[0] == "“Coup nul” announced by the stickman"


def test_french_elides_before_a_vowel() -> None:
    assert sentences("chips.handled", by="employe")[1] == "Jetons manipulés par l’employé"
    assert sentences("dice.set_introduced", dice=["a"], decided_by="employe", announced=True)[1] == (
        "Dés a mis en service, sur décision de l’employé"
    )
    assert sentences("chips.handled", by="croupier")[1] == "Jetons manipulés par le croupier"
