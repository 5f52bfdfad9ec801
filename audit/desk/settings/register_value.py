"""How the value of a reading is asked for at the desk: in words where there are a few, else with its unit.

    a few values      a list of their words, the default named
    yes or no         the same
    families          a box for each, in words
    an amount         a line, with the currency of the casino
    a number          a line, with what it counts
    name and value    rows of both: a bet and its cap, a currency and its threshold, a shift and when it begins

The form sends what ``audit.register.readings.parse`` reads, so that a page and a terminal are refused alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.presentation import FAMILY_NAMES, bet_label, labelled, language, ruleset_label
from audit.register import amounts
from audit.register.readings import (
    DOUBLE_TABLE,
    FAMILIES,
    KINDS,
    OF_CURRENCIES,
    STILL_PLAYED_BY,
    Kind,
    named_values,
    written_default,
)
from audit.register.shifts import SHIFTS
from settlement.readings import READINGS
from settlement.register import MOST_SLIP_S, MOST_TOLERANCE_MS
from settlement.rulesets import RULESETS

YES_OR_NO = ("commission_refunded_on_withdrawal", DOUBLE_TABLE)

COUNTED: Mapping[str, Promise] = {
    "call_tolerance_ms": gettext_lazy("milliseconds"),
    "throw_delay_s": gettext_lazy("seconds"),
    "result_slip_s": gettext_lazy("seconds"),
    "seat_limit": gettext_lazy("players"),
}
"""What a number counts, by the reading."""

HINTS: Mapping[str, Promise] = {
    "call_tolerance_ms": gettext_lazy("1,000 at most"),
    "result_slip_s": gettext_lazy("30 at most"),
    "seat_limit": gettext_lazy("7 at most, 14 at a double table"),
    SHIFTS: gettext_lazy("Each with the clock time at which it begins; it goes on until the next one."),
    STILL_PLAYED_BY: gettext_lazy("Who decided, and when."),
}
"""What a value is held to, by the reading."""

MOST: Mapping[str, int] = {"call_tolerance_ms": MOST_TOLERANCE_MS, "result_slip_s": MOST_SLIP_S}
"""The largest value of a number that the law allows, by the reading."""

MOST_ROWS = 60
"""Rows that are read of a form."""

ROWS = 4
"""Rows that are empty when a value of names is asked for."""


class Rows(forms.Widget):
    """Rows of a name and what it has. The form sends “name=value, …”, or that text itself as ``value``."""

    def __init__(self, kind: Kind, currency: str) -> None:
        super().__init__()
        self.kind, self.currency = kind, currency

    def id_for_label(self, id_: str) -> str:
        """Return no id: each line of a row says what it is."""
        return ""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str:
        """Return the rows that have something as one text."""
        if name in data:
            return str(data[name])
        rows = [(data.get(f"{name}-{row}-name", ""), data.get(f"{name}-{row}-of", "")) for row in range(MOST_ROWS)]
        sent = [(key.strip(), of.strip()) for key, of in rows if key.strip() or of.strip()]
        return ", ".join(f"{key}={of}" for key, of in sent)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        known = list(amounts.pairs(value)) if value else []
        if not known and self.kind.name in OF_CURRENCIES and self.currency:
            known = [(self.currency, "")]
        empty = [("", "")] * max(1, min(ROWS, MOST_ROWS - len(known)))
        return mark_safe(
            render_to_string(
                "admin/audit/register/rows.html",
                {
                    "name": name,
                    "rows": [*known, *empty],
                    "bets": _bets() if self.kind.name == "maximum" else (),
                    "is_clock": self.kind.name == SHIFTS,
                    "is_currency": self.kind.name in OF_CURRENCIES,
                    "unit": "" if self.kind.name in (SHIFTS, *OF_CURRENCIES) else self.currency,
                },
            )
        )


class Families(forms.CheckboxSelectMultiple):
    """A box for each family of events. The form sends their names with commas between them."""

    def __init__(self) -> None:
        super().__init__(choices=sorted(FAMILY_NAMES.items(), key=lambda each: str(each[1])))

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return ", ".join(super().value_from_datadict(data, files, name) or ())

    def format_value(self, value: Any) -> list[str]:
        return [each.strip() for each in str(value or "").split(",")]


def value_field(name: str, currency: str) -> forms.CharField:
    """Return the field for the value of a reading; ``currency`` is that of the casino, "" where it is not known."""
    kind = KINDS[name]
    choices = [("yes", _("yes")), ("no", _("no"))] if name in YES_OR_NO else named_values(name)
    field = forms.CharField(label=_("Value"), max_length=2_000, required=False, help_text=_hint(kind, currency))
    if choices:
        field.widget = forms.Select(choices=[("", _("choose")), *choices])
    elif name == FAMILIES:
        field.widget = Families()
    elif name in (*OF_CURRENCIES, "maximum", SHIFTS):
        field.widget = Rows(kind, currency)
    elif name in COUNTED:
        most = {"max": MOST[name]} if name in MOST else {}
        field.widget = forms.NumberInput(attrs={"min": 0, "step": 1, "inputmode": "numeric", **most})
    elif kind.is_amount:
        field.widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return field


def unit_of(name: str, currency: str) -> str:
    """Return what stands behind the line of a value: its currency, or what it counts; "" for nothing."""
    if name in COUNTED:
        return str(COUNTED[name])
    is_line = KINDS[name].is_amount and name not in (*OF_CURRENCIES, "maximum")
    return currency if is_line else ""


def default_words(name: str, currency: str) -> str:
    """Return how a reading is read without an entry, in words; "" for what the law leaves to the house alone."""
    reading = READINGS.get(name)
    default = reading.default if reading is not None else None
    if default is None:
        return ""
    if isinstance(default, str):
        return _default(name, default, currency)
    first, *others = (
        labelled(ruleset_label(ruleset), _default(name, each, currency)) for ruleset, each in default.items()
    )
    if language() == "fr":  # the games have a capital at the beginning alone
        return "\N{NARROW NO-BREAK SPACE}; ".join([first, *(each[:1].lower() + each[1:] for each in others)])
    return "; ".join([first, *others])


def _default(name: str, default: str, currency: str) -> str:
    """Return a default of the engine's catalogue as a page shows it."""
    if name == "seat_limit":
        return _("7, and 14 at a double table")
    if name in ("payout_unit", "commission_unit") and not currency:
        return _("the smallest unit of the currency")
    return written_default(name, default, currency)


def _hint(kind: Kind, currency: str) -> str:
    if kind.is_amount and not currency and kind.name not in OF_CURRENCIES:
        return _("In the casino’s currency. If it has none yet, or several, add the currency: 2.50 EUR.")
    return str(HINTS.get(kind.name, ""))


def _bets() -> Sequence[tuple[str, list[tuple[str, str]]]]:
    """Return the bets of each ruleset, each by its code and in words."""
    return [
        (ruleset_label(name), [(bet, bet_label(name, bet)) for bet in each.kinds]) for name, each in RULESETS.items()
    ]
