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

DERIVED = ("the_wager", "working", "halving", "difference")
"""What a message may use without any rule declaring it, worked out from the other facts:

* ``the_wager``: “w2 (right bet on 6, €6.00)”;
* ``working``: stake × ``odds``; ``halving``: stake ÷ 2^``zeros``;
* ``difference``: between the amounts expected and recorded.
"""

_CLAUSE = re.compile(r"\[([^\[\]]*)\]")
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


def amount(minor: int, currency: str, language: Language) -> str:
    """Return an amount of money as its readers write it: “€1,234.50”, « 1 234,50 € »."""
    exponent = _EXPONENTS.get(currency, 2)
    whole, fraction = divmod(abs(minor), 10**exponent)
    sign = _SIGNS[language].get(currency, currency)
    decimals = f"{fraction:0{exponent}}" if exponent else ""
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
    template = rule.message.in_language(language)
    while (kept := _CLAUSE.sub(lambda clause: _keep(clause[1], words), template)) != template:
        template = kept
    sentence = _PLACEHOLDER.sub(lambda placeholder: words.get(placeholder[1], MISSING), template)
    return sentence[:1].upper() + sentence[1:]


def _kinds(rule: Rule) -> Mapping[str, Kind]:
    kinds: dict[str, Kind] = dict(STANDARD_FACTS) | dict(rule.facts)
    kinds["expected"] = rule.expected_is or "text"
    kinds["recorded"] = rule.recorded_is or "text"
    return kinds


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
    stake, odds, zeros = facts.get("stake"), facts.get("odds"), facts.get("zeros")
    if isinstance(stake, int) and isinstance(odds, str) and re.fullmatch(r"\d+:[1-9]\d*", odds):
        derived["working"] = _working(stake, odds, words["stake"], expected, language)
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


def _working(stake: int, odds: str, staked: str, expected: Any, language: Language) -> str:
    """Return the arithmetic of a payout: “€6.00 × 7/6”, and whether ``expected`` is that sum rounded down."""
    pays, per = (int(part) for part in odds.split(":"))
    times = str(pays) if per == 1 else f"{pays}/{per}"
    rounded = isinstance(expected, int) and expected * per < stake * pays
    note = (", arrondi à l’unité inférieure" if language == "fr" else ", rounded down") if rounded else ""
    return f"{staked} × {times}{note}"
