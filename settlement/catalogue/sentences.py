"""Messages: how a rule and the facts of a finding become a sentence.

    facts, each formatted by its kind ──┐
    facts derived from others ──────────┴──► the template ``rule.message`` is filled ──► sentence

Nothing here decides anything about play, and nothing here fails: a fact of another type than declared, or of an unknown
value, is shown as it is; one that is missing is left out. Where a message cannot do without it, the title of the rule
says what is the matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

from settlement.catalogue.groups import ON_A_READING, PAID
from settlement.catalogue.remedies import (
    ENTER_READING,
    NOTHING_LEFT,
    OWN_DECISION,
    PAY,
    PAY_UNKNOWN,
    RECOVER,
    RECOVER_UNKNOWN,
    rests_on_a_reading,
    wording_for,
)
from settlement.catalogue.rule import STANDARD_FACTS, Kind, Language, Rule, Wording
from settlement.catalogue.templates import agree, fill
from settlement.catalogue.words import bet_word, word

DERIVED = (
    *("the_wager", "product", "working", "halving", "five_per_cent", "missing_events"),
    *("difference", "short", "excess", "something_due", "nothing_due", "taken_back"),
)
"""The fields that any message may use, derived from the other facts:

* ``the_wager``: “w2 (right bet on 6, €6.00)”;
* ``product``: stake × ``odds``; ``working``: the same, and whether it was rounded; ``halving``: stake ÷ 2^``zeros``,
  and ``five_per_cent``: of ``commission_on``, likewise;
* ``missing_events``: from ``missing_from`` through ``through``;
* ``difference``: between the amounts expected and recorded; ``short``: the same, where less was recorded, and
  ``excess``, where more was;
* ``something_due``: the amount expected, if it is one; ``nothing_due``: “nothing”, if it is zero;
* ``taken_back``: in place of ``recorded``, where more was taken back for a wager than had been paid.
"""

_TIME = re.compile(r"(\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|([+-])(\d\d):(\d\d))")
"""The time of an RFC 3339 instant, and its offset."""

_ODDS = re.compile(r"\d+:[1-9]\d*")

FIELDS_OF_MONEY = frozenset(
    {"amount", "commission", "float", "minimum", "stake", "stake_returned", "value", "winnings"}
)
"""The fields of events whose whole numbers are amounts in minor units."""

FIELDS_OF_AN_OUTCOME = ("wager", "player", "was", "now", "before", "after")
"""What a fact of that kind has of each wager, one after the other: its id, whose it is, its statuses and the gains."""

OUTCOME = Wording("{0} (wager {1}): {2} in place of {3}", "{0} (mise {1}) : {2} au lieu d’{3}")

OUTCOMES_SHOWN = 5
"""Wagers that a sentence names; the finding has more of them."""

READINGS_OF_MONEY = frozenset({"payout_unit", "commission_unit"})
"""The readings whose value is an amount in minor units."""

UNITS_OF_READINGS: Mapping[str, str] = {"call_tolerance_ms": "ms", "throw_delay_s": "s", "result_slip_s": "s"}
"""The units of the readings whose value is a time."""

ROUNDED_DOWN = Wording(", rounded down", ", arrondi à l’unité inférieure")
ROUNDED_UP = Wording(", rounded up", ", arrondi à l’unité supérieure")

FIVE_PER_CENT = Wording("5% of {}", "5 % de {}")

NOTHING = Wording("nothing", "rien")

EXPONENTS: Mapping[str, int] = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}
"""ISO 4217 currencies whose minor unit is not a hundredth, by the number of their decimals."""

# The signs that readers of each language expect, by currency.
SIGNS: Mapping[Language, Mapping[str, str]] = {
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
    """Return whole ``units`` of a currency in its minor units: 100 euros are 10,000."""
    return int(units * 10 ** exponent(currency))


def exponent(currency: str) -> int:
    """Return the number of decimals of a currency (ISO 4217); 2 for an unknown one."""
    return EXPONENTS.get(currency, 2)


def amount(minor: int, currency: str, language: Language) -> str:
    """Return an amount of money in the format of its language: “€1,234.50”, « 1 234,50 € »."""
    digits_after = exponent(currency)
    whole, fraction = divmod(abs(minor), 10**digits_after)
    sign = SIGNS[language].get(currency, currency)
    decimals = f"{fraction:0{digits_after}}" if digits_after else ""
    minus = _MINUS if minor < 0 else ""
    if language == "fr":
        digits = f"{whole:,}".replace(",", _NARROW) + (f",{decimals}" if decimals else "")
        unit = sign.replace(" ", _NO_BREAK)
        return f"{minus}{digits}{_NO_BREAK}{unit}" if unit else f"{minus}{digits}"
    digits = f"{whole:,}" + (f".{decimals}" if decimals else "")
    gap = _NO_BREAK if sign.isalpha() else ""
    return f"{minus}{sign}{gap}{digits}"


def amount_in_prose(minor: int, currency: str, language: Language) -> str:
    """Return an amount as ``amount`` does, without decimals where they are all zeros: “€864”."""
    text, digits_after = amount(minor, currency, language), exponent(currency)
    if not digits_after or minor % 10**digits_after:
        return text
    # By its own mark: in three decimals, the zeros of a thousand look like them.
    return text.replace(("," if language == "fr" else ".") + "0" * digits_after, "")


Writer: TypeAlias = Callable[[int, str, Language], str]
"""How an amount of money is written: ``amount``, or ``amount_in_prose``."""


def multiple(text: str, language: Language) -> str:
    """Return odds as their language writes numbers: “3,696”, « 3 696 », and from a million on “279 million”.

    ``text`` is as a record keeps it for every language, with narrow spaces between thousands.
    """
    digits = text.replace(_NARROW, "")
    if digits.isdecimal() and (millions := int(digits) // 10**6):
        plural = "s" if language == "fr" and millions > 1 else ""
        return f"{millions}{_NO_BREAK}million{plural}"
    return text if language == "fr" else text.replace(_NARROW, ",")


BY_ANALOGY = Wording("By analogy with {analogy}: ", "Par analogie avec {analogy} : ")
"""How a message begins whose rule rests on the text of another game."""

TITLE = Wording("{title}[: wager {the_wager}][, event {seq}].", "{title}[ : mise {the_wager}][, événement {seq}].")
"""The message of a finding that lacks what its own needs."""

EXAMINE = Wording(
    "Examine the finding[ of event {seq}] with the chef de table.",
    "Examiner le constat[ de l’événement {seq}] avec le chef de table.",
)
"""What to do about a finding that lacks what its own remedy needs."""

_FIRST_LETTER = re.compile(r"^\[*\w")


def message(
    rule: Rule,
    facts: Mapping[str, Any],
    language: Language,
    currency: str,
    write: Writer = amount,
    *,
    ruleset: str | None = None,
) -> str:
    """Return what an officer reads of a finding of ``rule``.

    ``facts`` holds the finding's ``expected`` and ``recorded``, the standard facts and those the rule declares; any of
    them may be missing or None. ``currency`` is the ISO 4217 code of the session, "" if it is not known; ``ruleset`` is
    the session's, whose bets are named in its words.
    """
    values = _values(rule, facts, language, currency, write, ruleset)
    template = agree(rule.message.in_language(language), facts, language)
    if "analogy" in values:
        template = BY_ANALOGY.in_language(language) + _FIRST_LETTER.sub(lambda match: match[0].lower(), template)
    title = {"title": rule.title.in_language(language)}
    ids = _ids(rule)
    sentence = fill(template, values, language, verbatim=ids)
    return sentence or fill(TITLE.in_language(language), values | title, language, verbatim=ids)


def remedy(
    rule: Rule,
    facts: Mapping[str, Any],
    owed: tuple[str, int] | None,
    language: Language,
    currency: str,
    write: Writer = amount,
    *,
    ruleset: str | None = None,
) -> str:
    """Return what to do about a finding of ``rule``, with the ids of the persons concerned.

    ``facts`` are those of ``message``, and ``player`` and ``croupier``. ``owed`` is by whom, "house" or "player", and
    how much is still owed now, in minor units; None if nothing is. ``put_right_by`` among the facts is the event that
    put it right; ``by_party``, that a party to it approved that.
    """
    values = _values(rule, facts, language, currency, write, ruleset)
    if croupier := facts.get("croupier"):
        values["croupier"] = str(croupier)
    wording = rule.remedy or wording_for(rule.name, facts)
    if (put_right_by := facts.get("put_right_by")) is not None:
        values["put_right_by"] = str(put_right_by)
        wording = OWN_DECISION if facts.get("by_party") else NOTHING_LEFT
    elif owed is not None:
        by, minor = owed
        values["owed"] = write(minor, currency, language)
        known, unknown = (PAY, PAY_UNKNOWN) if by == "house" else (RECOVER, RECOVER_UNKNOWN)
        if by == "house" or not rests_on_a_reading(rule.name, facts):
            wording = known if "player" in values else unknown
        else:
            wording = ENTER_READING
            if rule.name in ON_A_READING:
                values["reading"] = ON_A_READING[rule.name].in_language(language)
    ids = _ids(rule)
    sentence = fill(agree(wording.in_language(language), facts, language), values, language, verbatim=ids)
    return sentence or fill(EXAMINE.in_language(language), values, language)


def _ids(rule: Rule) -> set[str]:
    """Return the fields of ``rule`` that are shown as the table system sent them."""
    sent = {name for name, kind in _kinds(rule).items() if kind in ("text", "texts", "wagers")}
    return sent | {"croupier", "the_wager"}


def _values(
    rule: Rule, facts: Mapping[str, Any], language: Language, currency: str, write: Writer, ruleset: str | None
) -> dict[str, str]:
    values = {
        name: _format(facts[name], kind, language, currency, write, ruleset)
        for name, kind in _kinds(rule).items()
        if _is_known(facts.get(name))
    }
    if rule.expected_is == rule.recorded_is == "instant" and {"expected", "recorded"} <= values.keys():
        values |= _with_days(str(facts["expected"]), str(facts["recorded"]), values, language)
    if rule.name in PAID:
        negative = {name for name, kind in _kinds(rule).items() if kind == "money" and _is_negative(facts.get(name))}
        values = {name: value for name, value in values.items() if name not in negative}
        if "recorded" in negative:
            values["taken_back"] = write(-facts["recorded"], currency, language)
    return values | _derived(facts, values, language, currency, write)


def _is_negative(fact: Any) -> bool:
    return isinstance(fact, int) and fact < 0


def _with_days(expected: str, recorded: str, values: Mapping[str, str], language: Language) -> dict[str, str]:
    """Return both times with their days, if these differ."""
    days = {"expected": expected.partition("T")[0], "recorded": recorded.partition("T")[0]}
    if days["expected"] == days["recorded"]:
        return {}
    at = f"{_NO_BREAK}{'à' if language == 'fr' else 'at'} "
    return {name: f"{_day(day, language)}{at}{values[name]}" for name, day in days.items()}


def _kinds(rule: Rule) -> Mapping[str, Kind]:
    kinds: dict[str, Kind] = dict(STANDARD_FACTS) | dict(rule.facts)
    kinds["expected"] = rule.expected_is or "text"
    kinds["recorded"] = rule.recorded_is or "text"
    return kinds


def format_fact(fact: Any, kind: Kind | None, language: Language, currency: str, write: Writer = amount) -> str | None:
    """Return a finding's ``expected`` or ``recorded`` in the format of its kind; None if there is nothing to show."""
    return _format(fact, kind or "text", language, currency, write) if _is_known(fact) else None


def _is_known(fact: Any) -> bool:
    return fact is not None and fact not in ("", [], ())


def _format(fact: Any, kind: Kind, language: Language, currency: str, write: Writer, ruleset: str | None = None) -> str:
    match kind:
        case "money" if isinstance(fact, int):
            return write(fact, currency, language)
        case "bet":
            return bet_word(ruleset, str(fact))
        case "odds":
            return str(fact).replace(":", f"{_NO_BREAK}{'pour' if language == 'fr' else 'to'}{_NO_BREAK}")
        case "multiple":
            return multiple(str(fact), language)
        case "day":
            return _day(str(fact), language)
        case "instant":
            return _clock(str(fact))
        case "faces" if isinstance(fact, list | tuple):
            return "-".join(str(face) for face in fact)
        case "numbers" | "texts" | "wagers" if isinstance(fact, list | tuple):
            return ", ".join(str(each) for each in fact)
        case "gravity" if isinstance(fact, list | tuple):
            return (" et " if language == "fr" else " and ").join(word(kind, each, language) for each in fact)
        case "flags" | "readings" | "families" if isinstance(fact, list | tuple):
            return ", ".join(word(kind, each, language) for each in fact)
        case "changed" if isinstance(fact, list | tuple):
            return _changed(fact, language, currency, write, ruleset)
        case "outcomes" if isinstance(fact, list | tuple) and len(fact) % len(FIELDS_OF_AN_OUTCOME) == 0:
            return _outcomes(fact, language, currency, write)
        case _:
            return word(kind, fact, language)


def _changed(fact: Sequence[Any], language: Language, currency: str, write: Writer, ruleset: str | None) -> str:
    """Return “stake €5.00 in place of €2.00, …” of fields, each with its values before and after, "" for none."""

    def value(name: str, given: Any) -> str:
        if name in FIELDS_OF_MONEY and isinstance(given, int):
            return write(given, currency, language)
        return bet_word(ruleset, str(given)) if name == "bet" else str(given)

    parts = []
    for name, before, after in zip(fact[::3], fact[1::3], fact[2::3], strict=False):
        field = word("field", name, language)
        if after == "":
            parts.append(f"{field} {value(name, before)} {'supprimé' if language == 'fr' else 'left out'}")
        elif before == "":
            parts.append(f"{field} {value(name, after)} {'ajouté' if language == 'fr' else 'added'}")
        else:
            instead = "au lieu de" if language == "fr" else "in place of"
            parts.append(f"{field} {value(name, after)} {instead} {value(name, before)}")
    return ", ".join(parts)


def _outcomes(fact: Sequence[Any], language: Language, currency: str, write: Writer) -> str:
    """Return “P1 (wager a): a stake still in play in place of a win of €350.00; …” of ``FIELDS_OF_AN_OUTCOME``."""

    def result(status: str, gain: int) -> str:
        if gain:
            return f"{word('outcome', 'won' if gain > 0 else 'lost', language)} {write(abs(gain), currency, language)}"
        return word("outcome", status, language)

    of_each = OUTCOME.in_language(language)
    nobody = "joueur inconnu" if language == "fr" else "unknown player"
    size = len(FIELDS_OF_AN_OUTCOME)
    rows = (fact[at : at + size] for at in range(0, len(fact), size))
    parts = [
        of_each.format(player or nobody, wager, result(now, after), result(was, before))
        for wager, player, was, now, before, after in rows
    ]
    shown = parts[:OUTCOMES_SHOWN]
    if len(parts) > len(shown):
        shown.append("…")
    return "; ".join(shown) if language == "en" else f"{_NARROW}; ".join(shown)


def _day(day: str, language: Language) -> str:
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        return day
    number = "1er" if language == "fr" and parsed.day == 1 else str(parsed.day)
    return f"{number}{_NO_BREAK}{_MONTHS[language][parsed.month - 1]}{_NO_BREAK}{parsed.year}"


def _clock(instant: str) -> str:
    """Return the time of an instant with its offset, as its sender gave them: “20:00:00 UTC+1”."""
    _day, _t, time = instant.partition("T")
    match = _TIME.fullmatch(time)
    if match is None:
        return time or instant
    clock, sign, hours, minutes = match.groups()
    offset = f"{int(hours)}:{minutes}".removesuffix(":00") if sign else "0"
    return f"{clock}{_NO_BREAK}UTC" + (f"{sign.replace('-', _MINUS)}{offset}" if offset != "0" else "")


def _derived(
    facts: Mapping[str, Any], values: Mapping[str, str], language: Language, currency: str, write: Writer
) -> dict[str, str]:
    derived: dict[str, str] = {}
    if described := _describe(facts, values, language):
        derived["the_wager"] = described
    expected, recorded = facts.get("expected"), facts.get("recorded")
    if isinstance(expected, int) and isinstance(recorded, int):
        derived["difference"] = write(abs(recorded - expected), currency, language)
        if recorded != expected:
            derived["excess" if recorded > expected else "short"] = derived["difference"]
    if isinstance(expected, int):
        due = (
            ("something_due", values.get("expected", ""))
            if expected
            else ("nothing_due", NOTHING.in_language(language))
        )
        derived.update([due])
    readings = facts.get("readings")
    if isinstance(expected, str) and isinstance(recorded, str) and isinstance(readings, list | tuple):
        for name, text in (("expected", expected), ("recorded", recorded)):
            derived[name] = reading_values(text, readings, language, currency, write)
    first, last = facts.get("missing_from"), facts.get("through")
    if isinstance(first, int) and isinstance(last, int):
        derived["missing_events"] = _span(first, last, language)
    stake, odds, zeros = facts.get("stake"), facts.get("odds"), facts.get("zeros")
    if isinstance(stake, int) and isinstance(odds, str) and _ODDS.fullmatch(odds):
        pays, per = (int(part) for part in odds.split(":"))
        derived["product"] = f"{values['stake']} × {pays if per == 1 else f'{pays}/{per}'}"
        rounded = _rounded(expected, per, stake * pays, language)
        if rounded is not None:
            derived["working"] = derived["product"] + rounded
    if isinstance(stake, int) and isinstance(zeros, int) and 0 < zeros < 64:
        rounded = _rounded(expected, 2**zeros, stake, language)
        if rounded is not None:
            derived["halving"] = f"{values['stake']} ÷ {2**zeros}{rounded}"
    base = facts.get("commission_on")
    if isinstance(base, int):
        of_base = FIVE_PER_CENT.in_language(language).format(values["commission_on"])
        rounded = _rounded(expected, 20, base, language)
        derived["five_per_cent"] = of_base + (ROUNDED_UP.in_language(language) if rounded is None else rounded)
    return derived


def _rounded(expected: Any, per: int, exact: int, language: Language) -> str | None:
    """Return whether ``expected`` is the ``per``-th part of ``exact`` rounded down, in words; None if it is more.

    All are in minor units.
    """
    if not isinstance(expected, int) or expected * per == exact:
        return ""
    return ROUNDED_DOWN.in_language(language) if expected * per < exact else None


def reading_values(
    text: str, readings: Sequence[Any], language: Language, currency: str, write: Writer = amount
) -> str:
    """Return the value of a reading in words, an amount with its currency: “half is lost”.

    ``text`` has that of the only one of ``readings``, or each with its name, ``zero_rule=half, payout_unit=5``.
    """
    if len(readings) == 1:
        return _reading_value(str(readings[0]), text, language, currency, write)
    named = (part.partition("=") for part in text.split(", "))
    return ", ".join(
        f"{word('readings', name, language)} {_reading_value(name, value, language, currency, write)}"
        if equals
        else name
        for name, equals, value in named
    )


def _reading_value(name: str, value: str, language: Language, currency: str, write: Writer) -> str:
    if name in READINGS_OF_MONEY and value.isdigit():
        return write(int(value), currency, language)
    if (unit := UNITS_OF_READINGS.get(name)) is not None and value.isdigit():
        return f"{value}{_NO_BREAK}{unit}"
    return word("reading_value", value, language)


def _describe(facts: Mapping[str, Any], values: Mapping[str, str], language: Language) -> str:
    """Return “w2 (right bet on 6, €6.00)”, without the parts that are not known."""
    what = values.get("bet", "")
    spots = facts.get("numbers") or facts.get("which")
    where = "-".join(str(spot) for spot in spots) if isinstance(spots, list | tuple) else values.get("number", "")
    if what and where:
        what += f" {'sur' if language == 'fr' else 'on'} {where}"
    stake = values.get("stake", "") if facts.get("stake") else ""  # nothing is left of one that was taken back
    inside = ", ".join(part for part in (what, stake) if part)
    name = values.get("wager", "")
    return f"{name} ({inside})" if name and inside else name


def _span(first: int, last: int, language: Language) -> str:
    if language == "fr":
        return f"l’événement {first}" if first == last else f"les événements {first} à {last}"
    return f"event {first}" if first == last else f"events {first} to {last}"
