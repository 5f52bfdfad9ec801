"""Templates: clauses that are left out, plurals and elisions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.catalogue.templates import agree, fields_of, fill

#  template                          values            sentence
SENTENCES = """
   {a} wins                        | a=7             | 7 wins
   {a} wins                        |                 |
   x{a}                            | a=[b]           | X[b]
   won[ by {a}]                    | a=7             | Won by 7
   won[ by {a}]                    | b=7             | Won
   won[ by {a} at {b}]             | a=7             | Won
   won[ by {a}[ at {b}]]           | a=7             | Won by 7
   won[ by {a}[ at {b}]]           | a=7 b=8         | Won by 7 at 8
   won[ by {a}[ at {b}]]           | b=8             | Won
   won[ at last]                   |                 | Won at last
   [{a} ]pays[ {b}]                | b=8             | Pays 8
   {a} or {a}                      | a=élu           | Élu or élu
"""


def values_of(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


@pytest.mark.parametrize("row", SENTENCES.strip().splitlines(), ids=str.strip)
def test_a_clause_is_left_out_if_one_of_its_fields_has_no_value(row: str) -> None:
    template, values, sentence = (cell.strip() for cell in row.split("|"))
    assert fill(template, values_of(values), "en") == fill(template, values_of(values), "fr") == sentence


#  template            value      English              French
ARTICLES = """
   par le {a}       | croupier | par le croupier  | par le croupier
   par le {a}       | employé  | par le employé   | par l’employé
   du {a}           | élu      | du élu           | de l’élu
   poste de {a}     | employé  | poste de employé | poste d’employé
   poste de {a}     | croupier | poste de croupier | poste de croupier
   remis au {a}     | employé  | remis au employé | remis à l’employé
   seul {a}         | employé  | seul employé     | seul employé
"""


@pytest.mark.parametrize("row", ARTICLES.strip().splitlines(), ids=str.strip)
def test_french_articles_elide_before_a_vowel_and_english_has_none(row: str) -> None:
    template, value, english, french = (cell.strip() for cell in row.split("|"))
    assert fill("x " + template, {"a": value}, "en") == "X " + english
    assert fill("x " + template, {"a": value}, "fr") == "X " + french


def test_nothing_elides_before_an_id() -> None:
    for wager in ("a", "w1", "émile"):
        assert fill("l’enjeu de {a}", {"a": wager}, "fr", verbatim={"a"}) == f"L’enjeu de {wager}"


@pytest.mark.parametrize(("number", "english", "french"), [(0, "s", ""), (1, "", ""), (2, "s", "s"), (None, "s", "s")])
def test_a_plural_agrees_with_the_number_before_it(number: int | None, english: str, french: str) -> None:
    template = "{n} open(s) table(s), {m} seat(s)"
    numbers = {"n": number, "m": 1}
    assert agree(template, numbers, "en") == f"{{n}} open{english} table{english}, {{m}} seat"
    assert agree(template, numbers, "fr") == f"{{n}} open{french} table{french}, {{m}} seat"


def test_the_fields_of_a_template_are_in_order() -> None:
    assert fields_of("{b}[ of {a}[ or {b}]]") == ["b", "a", "b"]


@given(st.text("[]{}abéleduau s()", max_size=30), st.dictionaries(st.sampled_from("ab"), st.text(max_size=3)))
def test_no_template_fails(template: str, values: dict[str, str]) -> None:
    for language in ("en", "fr"):
        assert isinstance(fill(agree(template, values, language), values, language), str)
