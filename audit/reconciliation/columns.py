"""Columns of a report: what a cell holds, and how it is shown as text and in a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext

from audit import presentation
from audit.exports import sheets
from audit.presentation import payment_error, wager_status
from audit.reconciliation import wording
from settlement.night.bridge import in_minor_units

Row: TypeAlias = Mapping[str, Any]

Kind: TypeAlias = Literal[
    "name",  # heads its row
    "text",
    "ordinal",
    "day",  # as ISO 8601 writes it
    "number",
    "money",  # minor units
    "signed_money",  # minor units, a step of the bridge: plus is for the house
    "payment_error",  # minor units, more than zero where the house kept it
    "present_value",  # minor units as a fraction n/d
    "share",  # millionths
    "probability",  # millionths
    "thousandths",
    "formatted",  # text already, of a number
    "interval",  # between low_millionths and high_millionths
    "bet",
    "game",
    "status",
    "unit",  # of what a row compares
    "yes",  # or nothing
    "verdict",
    "line",  # one of the twelve
    "numbered_line",
    "origin",  # the session, else the table
    "place",  # the table, else the session
    "wager",  # nothing where money was given without one
    "compared",  # of the kind that the row says
    "note",
    "figure",  # of a restatement
    "restated",
    "scope",  # of a restatement: a session, "" for the total
    "reasons",
    "person",
    "event",  # a seq
    "events",  # seqs of the row's stream
    "references",  # events of any stream, each stream#seq
]

RIGHT_ALIGNED: frozenset[Kind] = frozenset(
    (
        *("number", "money", "signed_money", "payment_error", "present_value", "share", "probability", "thousandths"),
        *("formatted", "interval"),
        *("compared", "restated"),
    )
)

EVENTS_IN_TEXT = 4


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key, its heading, and the kind of its cells. ``is_wide`` takes the space that others leave."""

    key: str
    label: str | Promise = ""
    kind: Kind = "text"
    is_wide: bool = False

    @property
    def is_right_aligned(self) -> bool:
        return self.kind in RIGHT_ALIGNED

    def text(self, row: Row, currency: str) -> str:
        """Return the cell of a row as an officer reads it, in the active language."""
        return _TEXT[self.kind](row, self.key, currency)

    def heading(self, currency: str) -> str:
        """Return the heading in a file, in the active language, with the unit of what stands below it."""
        label = str(self.label)
        match self.kind:
            case "money" | "signed_money" | "payment_error" | "present_value":
                return f"{label} ({currency})"
            case "share":
                return f"{label} (%)"
            case _:
                return label

    def value(self, row: Row, currency: str) -> Any:
        """Return the cell of a row as a spreadsheet takes it, None if empty: a number in its unit, or a text."""
        match self.kind:
            case "note" | "verdict" | "line" | "game" | "status" | "bet" | "unit" | "figure" | "scope" | "yes":
                return self.text(row, currency)
            case "day":
                return presentation.day(date.fromisoformat(row[self.key]), with_year=True)
            case "money" | "signed_money" | "payment_error" if row.get(self.key) is None:
                return str(wording.NOT_COUNTED)
            case "share" | "probability" | "thousandths":
                return _scaled(row.get(self.key), self.kind)
            case "compared":
                is_text = isinstance(row[self.key], str)
                return self.text(row, currency) if is_text else _as_filed(row[self.key], row["kind"], currency)
            case "restated":
                is_amount = isinstance(row[self.key], int)
                return _as_filed(row[self.key], "money", currency) if is_amount else self.text(row, currency)
            case "present_value":
                return _as_filed(in_minor_units([Fraction(row[self.key])])[0], "money", currency)
            case "events" | "references":
                return " ".join(map(str, row[self.key]))
            case "reasons":
                return self.text(row, currency)
            case _:
                return row.get(self.key)


_TEXT: Mapping[Kind, Callable[[Row, str, str], str]] = {
    "name": lambda row, key, currency: str(row[key]),
    "text": lambda row, key, currency: str(row[key]),
    "ordinal": lambda row, key, currency: str(row[key]),
    "day": lambda row, key, currency: presentation.day(date.fromisoformat(row[key])),
    "number": lambda row, key, currency: str(row[key]),
    "money": lambda row, key, currency: wording.money(row.get(key), currency),
    "signed_money": lambda row, key, currency: wording.figure(key, row.get(key), currency),
    "payment_error": lambda row, key, currency: payment_error(-row[key], currency),
    "present_value": lambda row, key, currency: wording.money(in_minor_units([Fraction(row[key])])[0], currency),
    "share": lambda row, key, currency: wording.share(row[key]),
    "probability": lambda row, key, currency: wording.short_probability(row[key]),
    "thousandths": lambda row, key, currency: wording.thousandths(row[key]),
    "formatted": lambda row, key, currency: str(row[key]),
    "interval": lambda row, key, currency: (
        f"{wording.share(row['low_millionths'])} – {wording.share(row['high_millionths'])}"
    ),
    "bet": lambda row, key, currency: wording.bet(row, key),
    "game": lambda row, key, currency: wording.game(row[key]),
    "status": lambda row, key, currency: wager_status(row[key], currency),
    "unit": lambda row, key, currency: wording.unit_name(row, currency),
    "yes": lambda row, key, currency: gettext("yes") if row[key] else "",
    "verdict": lambda row, key, currency: str(wording.VERDICTS[row[key]]),
    "line": lambda row, key, currency: str(wording.LINES[row[key]]),
    "numbered_line": lambda row, key, currency: f"{row['number']} · {wording.LINES[row[key]]}",
    "origin": lambda row, key, currency: row["stream"] or row["table"],
    "place": lambda row, key, currency: row["table"] or row["stream"],
    "wager": lambda row, key, currency: "" if wording.is_concession(row[key]) else str(row[key]),
    "compared": lambda row, key, currency: wording.compared(row, key, currency),
    "note": lambda row, key, currency: wording.note(row, currency),
    "figure": lambda row, key, currency: wording.restated_line(row[key]),
    "restated": lambda row, key, currency: wording.restated(row[key], currency),
    "scope": lambda row, key, currency: row[key] or gettext("Total"),
    "reasons": lambda row, key, currency: "; ".join(map(wording.reason, row[key])),
    "person": lambda row, key, currency: row[key] or gettext("not reported"),
    "event": lambda row, key, currency: f"#{row[key]}",
    "events": lambda row, key, currency: ", ".join(f"#{seq}" for seq in row[key][:EVENTS_IN_TEXT]),
    "references": lambda row, key, currency: ", ".join(row[key][:EVENTS_IN_TEXT]),
}


def _as_filed(value: Any, kind: str, currency: str) -> Any:
    """Return a number: an amount in units of the currency, with their decimals, a share in percent."""
    if not isinstance(value, int):
        return value
    match kind:
        case "money":
            return presentation.units(value, currency)
        case "share":
            return _scaled(value, kind)
        case _:
            return value


_DECIMALS: Mapping[str, int] = {"share": 4, "probability": 6, "thousandths": 3}
"""By how many digits a stored number is larger than what a file has: a percentage, a probability, a plain number."""


def _scaled(value: int | None, kind: str) -> Any:
    return str(wording.NOT_KNOWN) if value is None else Decimal(value).scaleb(-_DECIMALS[kind])


def sheet_of(name: str, columns: Sequence[Column], rows: Iterable[Row], currency: str) -> sheets.Sheet:
    return sheets.Sheet(
        name,
        [sheets.Column(column.heading(currency), _sheet_kind(column.kind), column.key) for column in columns],
        [[column.value(row, currency) for column in columns] for row in rows],
    )


def _sheet_kind(kind: Kind) -> sheets.Kind:
    match kind:
        case "money" | "number":
            return kind
        case "signed_money" | "payment_error":
            return "money"
        case _:
            return "text"


def money_columns(keys: Iterable[str]) -> list[Column]:
    """Return a column of money for each figure, under its label."""
    return [Column(key, wording.FIGURES[key], "signed_money" if key in wording.SIGNED else "money") for key in keys]
