"""What the register holds: readings of the law and caps, which the engine takes, and what the house answers for.

A value is a JSON value, as the engine reads it; amounts are minor units. None takes back what an earlier entry decided.
``objection`` asks the engine itself whether the law allows a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.presentation import FAMILY_NAMES, bet_in_every_game, labelled, money
from audit.register import amounts, shifts
from audit.register.shifts import SHIFTS
from settlement import Finding, ShapeError, State, adjudicate
from settlement.catalogue.rule import RULESET_NAMES
from settlement.catalogue.sentences import exponent
from settlement.persons.thresholds import Thresholds
from settlement.provisions import PROVISIONS
from settlement.readings import READINGS
from settlement.register import Register
from settlement.rulesets import RULESETS

TAKEN = frozenset(Register.__struct_fields__)
"""What the engine takes of the register."""

UNLAWFUL = "parameter-unlawful"
"""The rule that the engine raises for a value that contradicts the text."""

DOUBLE_TABLE, FAMILIES, STILL_PLAYED_BY = "double_table", "families", "still_played_by"

OF_CURRENCIES = tuple(Thresholds.__struct_fields__)
"""Thresholds of the money of persons: an amount for each currency."""

MAX_TEXT = 500
"""Characters of a decision in words."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One thing that the register may say. ``rulesets`` are those it matters to.

    ``is_of_table``: an entry names its table. ``is_of_ruleset``: it names its ruleset. ``is_of_casino``: it names
    neither, and no session is read by it. ``is_amount``: minor units.
    """

    name: str
    title: Promise
    hint: Promise
    rulesets: Collection[str] = field(default_factory=lambda: RULESET_NAMES)
    is_of_table: bool = False
    is_of_ruleset: bool = False
    is_of_casino: bool = False
    is_amount: bool = False


def _reading(name: str, title: Promise, hint: Promise, *, is_amount: bool = False) -> Kind:
    return Kind(name, title, hint, READINGS[name].rulesets, is_amount=is_amount)


_AMOUNT = _("an amount, such as 2.50")
_YES_OR_NO = _("yes or no")
_BY_CURRENCY = _("an amount for each currency, for the whole casino")

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        _reading("payout_unit", _("Payout unit"), _AMOUNT, is_amount=True),
        _reading("zero_rule", _("Zero on a simple chance"), _("choice, half or lose")),
        _reading("release_value", _("Stake released from prison"), _("halving or full")),
        _reading("call_tolerance_ms", _("Tolerance after the call"), _("milliseconds, 1,000 at most")),
        _reading("result_slip_s", _("Time to correct a slip of the hand"), _("seconds, 30 at most")),
        _reading("throw_delay_s", _("Time allowed for a throw"), _("seconds")),
        _reading("commission_rounding", _("Rounding of the commission"), _("ceil, floor or nearest")),
        _reading("commission_unit", _("Unit of the commission"), _AMOUNT, is_amount=True),
        _reading("commission_refunded_on_withdrawal", _("Commission refunded on a withdrawn wager"), _YES_OR_NO),
        _reading("seat_limit", _("Players at a table"), _("a number; 7 at most, 14 at a double table")),
        Kind("minimum", _("Cap on the minimum stake"), _AMOUNT, is_amount=True),
        _reading("maximum", _("Cap on stakes"), _("an amount for each bet"), is_amount=True),
        Kind("identification_from", _("Identification: threshold for exchanges"), _BY_CURRENCY, is_amount=True),
        Kind("reportable_cash_from", _("Reportable cash: threshold"), _BY_CURRENCY, is_amount=True),
        Kind("chips_from_elsewhere_from", _("Chips from elsewhere: threshold"), _BY_CURRENCY, is_amount=True),
        Kind("chips_outstanding_from", _("Chips that never came back: threshold"), _BY_CURRENCY, is_amount=True),
        Kind(DOUBLE_TABLE, _("Double table"), _YES_OR_NO, READINGS["seat_limit"].rulesets, is_of_table=True),
        Kind(FAMILIES, _("Event families required"), _("the names of the families, separated by commas")),
        Kind(
            STILL_PLAYED_BY,
            _("Text no longer in force: who decided to go on applying it"),
            _("who decided, and when"),
            is_of_ruleset=True,
        ),
        Kind(
            SHIFTS,
            _("Shifts"),
            _("a name and a beginning for each shift, such as 14:00 by the casino’s clock"),
            is_of_casino=True,
        ),
    )
}
"""Everything that the register may say, by name."""


class ValueRefused(Exception):
    """A value that is not one of its reading. ``reason`` is for the officer."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


def rulesets_of(name: str, ruleset: str) -> tuple[str, ...]:
    """Return the rulesets that an entry reaches: its own, "" for all those that its reading is of."""
    kind = KINDS[name]
    return tuple(each for each in kind.rulesets if ruleset in ("", each))


def parse(name: str, text: str, currency: str | None = None) -> Any:
    """Return the value that somebody wrote. Raise ``ValueRefused``.

    Beside JSON: ``yes`` and ``no``, families with commas between them, ``BET=AMOUNT, …``, ``SHIFT=TIME, …``. Amounts
    are in units of ``currency``, "" for the one that each names, and in minor units if it is None or in JSON's objects.
    """
    text = text.encode(errors="ignore").decode().replace("\0", "").strip()
    if not text:
        raise ValueRefused(_("Give a value."))
    value = _parsed(name, text) if currency is None else _parsed_in(name, text, currency)
    check(name, value)
    return value


def _parsed(name: str, text: str) -> Any:
    if name == STILL_PLAYED_BY:
        return text
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        pass
    parts = [part.strip() for part in text.split(",") if part.strip()]
    match name:
        case _ if name in ("maximum", *OF_CURRENCIES):
            pairs = [part.partition("=") for part in parts]
            return {
                bet.strip(): int(amount) if re.fullmatch(r"[0-9]{1,16}", amount.strip()) else amount
                for bet, _equals, amount in pairs
            }
        case "shifts":
            return shifts.parsed(parts) or text
        case "families":
            return parts
        case "double_table" | "commission_refunded_on_withdrawal":
            return {"yes": True, "oui": True, "no": False, "non": False}.get(text.lower(), text)
        case _:
            return text


def _parsed_in(name: str, text: str, currency: str) -> Any:
    """Return what somebody wrote with its amounts in units of a currency."""
    kind = KINDS.get(name)
    if kind is None or not kind.is_amount or text.startswith("{"):
        return _parsed(name, text)
    if (name in READINGS and name != "maximum") or name == "minimum":
        return _minor(text, currency)
    by_currency = name != "maximum"
    return {each: _minor(amount, each if by_currency else currency) for each, amount in amounts.pairs(text)}


def _minor(text: str, currency: str) -> int:
    minor = amounts.minor_units(text, currency)
    if minor is not None:
        return minor
    if not currency:
        raise ValueRefused(_("Not an amount with its currency: write it as 2.50 EUR."))
    example = {"amount": money(250 if exponent(currency) else 2, currency)}
    raise ValueRefused(_("Not an amount in the currency of the casino: write it as %(amount)s.") % example)


def check(name: str, value: Any) -> None:
    """Raise ``ValueRefused`` for a value that the engine cannot read."""
    kind = KINDS.get(name)
    if kind is None:
        raise ValueRefused(_("The register has no such reading."))
    if value is None or _is_readable(name, value):
        return
    raise ValueRefused(_("Not a valid value for this reading. Expected: %(hint)s.") % {"hint": kind.hint})


def _is_readable(name: str, value: Any) -> bool:
    match name:
        case "still_played_by":
            return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_TEXT and "\0" not in value
        case "shifts":
            return shifts.is_readable(value)
    if value in ({}, []):
        return False
    try:
        State((), {name: value})
    except ShapeError:
        return False
    return True


def objection(name: str, value: Any, *, ruleset: str, is_double: bool = False) -> Finding | None:
    """Return what the engine finds unlawful in a value at a ruleset; None if the law allows it.

    ``is_double``: at a double table. It is asked by a session, which declares nothing of its own.
    """
    if value is None or name not in TAKEN:
        return None
    opener = {
        "stream": "register",
        "seq": 1,
        "type": "session.opened",
        "v": 1,
        "occurred_at": "2026-01-01T20:00:00Z",
        "data": {
            "casino": "register",
            "table": "register",
            "gaming_day": "2026-01-01",
            "game": RULESETS[ruleset].game,
            "ruleset": ruleset,
            "currency": "EUR",
            "float": 0,
            "observes": [],
        },
    }
    found = adjudicate([json.dumps(opener)], readings={DOUBLE_TABLE: is_double, name: value}).findings
    return next((finding for finding in found if finding.rule == UNLAWFUL), None)


CLAUSES: Mapping[str, tuple[str, int]] = {
    "zero_rule": ("art. 54 B", -1),
    "seat_limit": ("art. 57-1 al. 3", 0),
    "call_tolerance_ms": ("art. 55-7 al. 7", 0),
    "result_slip_s": ("art. 57-1 al. 8", 0),
}
"""The provision that a value of a reading can contradict, and which of its quotations says so."""


def clause_of(name: str, finding: Finding) -> str:
    """Return the provision that a value contradicts, with its words: “art. 54 B: …”; "" if there is none to quote."""
    label, index = CLAUSES.get(name, (finding.provision or "", 0))
    provision = PROVISIONS.get(label)
    quotations = provision.citations if provision is not None else ()
    return f"{label}: “{quotations[index].quote}”" if quotations else label


def as_json(value: Any) -> str:
    """Return a value as the audit trail has it: JSON, with its keys in order."""
    return msgspec.json.encode(value, order="sorted").decode()


def written(name: str, value: Any, currency: str = "") -> str:
    """Return a value as a page shows it. ``currency``: in which to write amounts, "" for minor units."""
    if value is None:
        return gettext("as if nothing had been decided")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(str(FAMILY_NAMES.get(each, each)) for each in value)
    if name == SHIFTS:
        return shifts.written(value)
    if name == "maximum":
        caps = ((bet_in_every_game(bet), _amount(amount, currency)) for bet, amount in value.items())
        return ", ".join(labelled(bet, amount) for bet, amount in sorted(caps))
    if isinstance(value, dict):  # by its currency, each of its own
        return ", ".join(money(amount, own) for own, amount in sorted(value.items()))
    if KINDS[name].is_amount:
        return _amount(value, currency)
    match name:
        case "call_tolerance_ms":
            return f"{value} ms"
        case "throw_delay_s" | "result_slip_s":
            return f"{value} s"
        case "seat_limit" if isinstance(value, int):  # the default depends on the table, and is text
            return ngettext("%(number)d player", "%(number)d players", value) % {"number": value}
        case _:
            return str(_WORDS.get(value, value))


def written_default(name: str, default: str, currency: str) -> str:
    """Return a default of the engine, as its catalogue has it, as a page shows it."""
    if default == "none":
        return gettext("none")
    try:
        value = msgspec.json.decode(default.encode())
    except msgspec.DecodeError:
        value = default
    return written(name, value, currency)


_NAMED: Mapping[str, Sequence[str]] = {
    "zero_rule": ("choice", "half", "lose"),
    "release_value": ("halving", "full"),
    "commission_rounding": ("ceil", "floor", "nearest"),
}
"""The values of the readings that have a few, by name."""


def named_values(name: str) -> list[tuple[str, str]]:
    """Return the values of a reading that has a few, each as it is recorded and in words; none of any other."""
    return [(value, str(_WORDS[value])) for value in _NAMED.get(name, ())]


def as_read(name: str, value: Any) -> tuple[str, str]:
    """Return a reading and a value of it as a page shows them, in words; what is no reading as it is recorded."""
    return (str(KINDS[name].title), written(name, value)) if name in KINDS else (name, str(value))


_WORDS: Mapping[Any, Promise] = {
    "choice": _("the player chooses: half, or prison"),
    "half": _("half of it is lost"),
    "lose": _("all of it is lost"),
    "halving": _("halved by each further zero"),
    "full": _("in full"),
    "ceil": _("up"),
    "floor": _("down"),
    "nearest": _("to the nearest"),
}
"""What the values of a reading mean."""


def _amount(value: int, currency: str) -> str:
    return money(value, currency) if currency else gettext("%(amount)d minor units") % {"amount": value}
