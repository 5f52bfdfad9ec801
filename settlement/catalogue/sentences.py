"""How a rule and its facts become a sentence.

    rule.message  ──► clauses whose facts are missing drop out ──► facts are written by kind ──► sentence

Nothing here decides anything about play, and nothing here fails: a fact that is missing, of another type than declared
or of an unknown value is shown as it is, or as “—”.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from settlement.catalogue.rule import STANDARD_FACTS, Kind, Language, Rule
from settlement.catalogue.words import BET_WORDS, WORDS

MISSING = "—"

DERIVED = ("the_wager", "product", "working", "halving", "missing_events", "difference")
"""What a message may use without any rule declaring it, worked out from the other facts:

* ``the_wager``: “w2 (right bet on 6, €6.00)”;
* ``product``: stake × ``odds``; ``working``: the same, and whether it was rounded; ``halving``: stake ÷ 2^``zeros``;
* ``missing_events``: from ``missing_from`` through ``through``;
* ``difference``: between the amounts expected and recorded.
"""

_CLAUSE = re.compile(r"\[([^\[\]]*)\]")
_PLURAL = re.compile(r"(\{(\w+)\}[^{}]*?)\(s\)")
_ELIDED = re.compile(r"\b(le|du|au) \{(\w+)\}")
_ODDS = re.compile(r"\d+:[1-9]\d*")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")

# ISO 4217 currencies whose minor unit is not a hundredth, and the signs that readers of each language expect.
_EXPONENTS = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}
_SIGNS: Mapping[Language, Mapping[str, str]] = {
    "en": {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$", "CAD": "CA$"},
    "fr": {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$ US", "CAD": "$ CA"},
}

_NARROW = "\N{NARROW NO-BREAK SPACE}"
_NO_BREAK = "\N{NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"

_MONTHS: Mapping[Language, tuple[str, ...]] = {
    "en": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "fr": (
        *("janvier", "février", "mars", "avril", "mai", "juin"),
        *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    ),
}


def minor_units(units: int, currency: str) -> int:
    """Return so many whole units of a currency in its minor units: 100 euros are 10,000."""
    return int(units * 10 ** _EXPONENTS.get(currency, 2))


def exponent(currency: str) -> int:
    """Return how many decimals an amount of a currency is written with."""
    return _EXPONENTS.get(currency, 2)


def amount(minor: int, currency: str, language: Language) -> str:
    """Return an amount of money as its readers write it: “€1,234.50”, « 1 234,50 € »."""
    places = exponent(currency)
    whole, fraction = divmod(abs(minor), 10**places)
    sign = _SIGNS[language].get(currency, currency)
    decimals = f"{fraction:0{places}}" if places else ""
    minus = _MINUS if minor < 0 else ""
    if language == "fr":
        digits = f"{whole:,}".replace(",", _NARROW) + (f",{decimals}" if decimals else "")
        unit = sign.replace(" ", _NO_BREAK)
        return f"{minus}{digits}{_NO_BREAK}{unit}" if unit else f"{minus}{digits}"
    digits = f"{whole:,}" + (f".{decimals}" if decimals else "")
    gap = _NO_BREAK if sign.isalpha() else ""
    return f"{minus}{sign}{gap}{digits}"


def message(rule: Rule, facts: Mapping[str, Any], language: Language, currency: str) -> str:
    """Return what an officer reads of a finding of ``rule``.

    ``facts`` holds the finding's ``expected`` and ``recorded``, the standard facts and those the rule declares; any of
    them may be missing or None. ``currency`` is the ISO 4217 code of the session, '' where none is known.
    """
    words = {
        name: _write(facts[name], kind, language, currency)
        for name, kind in _kinds(rule).items()
        if _is_known(facts.get(name))
    }
    words |= _derived(facts, words, language, currency)
    template = _agree(rule.message.in_language(language), facts, language)
    while (kept := _CLAUSE.sub(lambda clause: _keep(clause[1], words), template)) != template:
        template = kept
    if language == "fr":
        template = _ELIDED.sub(lambda article: _elide(article[1], article[2], words), template)
    sentence = _PLACEHOLDER.sub(lambda placeholder: words.get(placeholder[1], MISSING), template)
    return sentence[:1].upper() + sentence[1:]


def _kinds(rule: Rule) -> Mapping[str, Kind]:
    kinds: dict[str, Kind] = dict(STANDARD_FACTS) | dict(rule.facts)
    kinds["expected"] = rule.expected_is or "text"
    kinds["recorded"] = rule.recorded_is or "text"
    return kinds


def _agree(template: str, facts: Mapping[str, Any], language: Language) -> str:
    """Let each “(s)” agree with the number before it: one is singular, and in French none is as well."""

    def agree(match: re.Match[str]) -> str:
        is_singular = facts.get(match[2]) in ((0, 1) if language == "fr" else (1,))
        return match[1] + ("" if is_singular else "s")

    while (agreed := _PLURAL.sub(agree, template)) != template:
        template = agreed
    return template


def _elide(article: str, name: str, words: Mapping[str, str]) -> str:
    """Return “le croupier” or “l’employé”, “du croupier” or “de l’employé”."""
    if words.get(name, "")[:1] not in tuple("aeéiou"):
        return f"{article} {{{name}}}"
    return {"le": "l’", "du": "de l’", "au": "à l’"}[article] + f"{{{name}}}"


def written(fact: Any, kind: Kind | None, language: Language, currency: str) -> str | None:
    """Return a finding's ``expected`` or ``recorded`` as its kind is written; None where there is none."""
    return _write(fact, kind or "text", language, currency) if _is_known(fact) else None


def _is_known(fact: Any) -> bool:
    return fact is not None and fact not in ("", [], ())


def _keep(clause: str, words: Mapping[str, str]) -> str:
    return clause if all(name in words for name in _PLACEHOLDER.findall(clause)) else ""


def _write(fact: Any, kind: Kind, language: Language, currency: str) -> str:
    match kind:
        case "money" if isinstance(fact, int):
            return amount(fact, currency, language)
        case "bet":
            return BET_WORDS.get(str(fact), str(fact))
        case "odds":
            return str(fact).replace(":", f"{_NO_BREAK}{'pour' if language == 'fr' else 'to'}{_NO_BREAK}")
        case "day":
            return _day(str(fact), language)
        case "instant":
            return str(fact).partition("T")[2] or str(fact)
        case "faces" if isinstance(fact, list | tuple):
            return "-".join(str(face) for face in fact)
        case "numbers" | "texts" | "wagers" if isinstance(fact, list | tuple):
            return ", ".join(str(each) for each in fact)
        case "flags" if isinstance(fact, list | tuple):
            return ", ".join(_word("flags", each, language) for each in fact)
        case _:
            return _word(kind, fact, language)


def _word(kind: str, value: Any, language: Language) -> str:
    english, french = WORDS.get(kind, {}).get(str(value), (str(value), str(value)))
    return french if language == "fr" else english


def _day(day: str, language: Language) -> str:
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        return day
    number = "1er" if language == "fr" and parsed.day == 1 else str(parsed.day)
    return f"{number}{_NO_BREAK}{_MONTHS[language][parsed.month - 1]}{_NO_BREAK}{parsed.year}"


def _derived(facts: Mapping[str, Any], words: Mapping[str, str], language: Language, currency: str) -> dict[str, str]:
    derived: dict[str, str] = {}
    if described := _describe(facts, words, language):
        derived["the_wager"] = described
    expected, recorded = facts.get("expected"), facts.get("recorded")
    if isinstance(expected, int) and isinstance(recorded, int):
        derived["difference"] = amount(abs(recorded - expected), currency, language)
    first, last = facts.get("missing_from"), facts.get("through")
    if isinstance(first, int) and isinstance(last, int):
        derived["missing_events"] = _span(first, last, language)
    stake, odds, zeros = facts.get("stake"), facts.get("odds"), facts.get("zeros")
    if isinstance(stake, int) and isinstance(odds, str) and _ODDS.fullmatch(odds):
        pays, per = (int(part) for part in odds.split(":"))
        derived["product"] = f"{words['stake']} × {pays if per == 1 else f'{pays}/{per}'}"
        is_rounded = isinstance(expected, int) and expected * per < stake * pays
        note = ", arrondi à l’unité inférieure" if language == "fr" else ", rounded down"
        derived["working"] = derived["product"] + (note if is_rounded else "")
    if isinstance(stake, int) and isinstance(zeros, int) and 0 < zeros < 64:
        derived["halving"] = f"{words['stake']} ÷ {2**zeros}"
    return derived


def _describe(facts: Mapping[str, Any], words: Mapping[str, str], language: Language) -> str:
    """Return “w2 (right bet on 6, €6.00)”, as far as it is known."""
    what = words.get("bet", "")
    places = facts.get("numbers") or facts.get("which")
    where = "-".join(str(place) for place in places) if isinstance(places, list | tuple) else words.get("number", "")
    if what and where:
        what += f" {'sur' if language == 'fr' else 'on'} {where}"
    inside = ", ".join(part for part in (what, words.get("stake", "")) if part)
    name = words.get("wager", "")
    return f"{name} ({inside})" if name and inside else name


def _span(first: int, last: int, language: Language) -> str:
    if language == "fr":
        return f"l’événement {first}" if first == last else f"les événements {first} à {last}"
    return f"event {first}" if first == last else f"events {first} to {last}"
