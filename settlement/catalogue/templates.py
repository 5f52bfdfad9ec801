"""Templates of sentences, in English and French.

    Buy-in of {amount}[ by {player}] ({means})  ──►  Buy-in of €500.00 (cash)

``{player}`` is a field. Square brackets hold a clause, which is left out if one of its fields has no value; a clause
may hold others, which are decided first. A template that needs a value outside a clause, and does not have it, gives
"": what is not known is never shown as a dash.

``(s)`` agrees with the number in the field before it. French *le*, *de*, *du* and *au* elide before a field whose value
starts with a vowel: “du {role}” reads « du croupier » and « de l’employé ». Nothing elides before an id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from settlement.catalogue.rule import Language

_CLAUSE = re.compile(r"\[([^\[\]]*)\]")
_ELIDED = re.compile(r"\b(le|de|du|au) \{(\w+)\}")
_ELISIONS = {"le": "l’", "de": "d’", "du": "de l’", "au": "à l’"}
_FIELD = re.compile(r"\{(\w+)\}")
_PLURAL = re.compile(r"(\{(\w+)\}[^{}]*?)\(s\)")


def fields_of(template: str) -> list[str]:
    """Return the names of the fields of ``template``, in order; a field that is there twice comes twice."""
    return _FIELD.findall(template)


def fill(template: str, values: Mapping[str, str], language: Language, *, verbatim: Collection[str] = ()) -> str:
    """Return ``template`` with ``values`` in its fields, beginning with a capital letter; "" if one has no value.

    A field of ``verbatim``, an id, is left as it is where it begins the sentence, and no article elides before it.
    """

    def clause(match: re.Match[str]) -> str:
        return match[1] if values.keys() >= set(fields_of(match[1])) else ""

    def elided(match: re.Match[str]) -> str:
        elides = match[2] not in verbatim and values.get(match[2], "")[:1] in tuple("aeéiou")
        return _ELISIONS[match[1]] + f"{{{match[2]}}}" if elides else match[0]

    template = _until_stable(_CLAUSE, clause, template)
    if language == "fr":
        template = _ELIDED.sub(elided, template)
    if not values.keys() >= set(fields_of(template)):
        return ""
    first = _FIELD.match(template)
    sentence = _FIELD.sub(lambda field: values[field[1]], template)
    return sentence if first and first[1] in verbatim else sentence[:1].upper() + sentence[1:]


def agree(template: str, numbers: Mapping[str, Any], language: Language) -> str:
    """Return ``template`` with every “(s)” resolved: one is singular, and in French zero is as well."""
    singular = (0, 1) if language == "fr" else (1,)
    return _until_stable(_PLURAL, lambda match: match[1] + ("" if numbers.get(match[2]) in singular else "s"), template)


def _until_stable(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    while (replaced := pattern.sub(replace, text)) != text:
        text = replaced
    return text
