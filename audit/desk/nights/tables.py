"""Tables of the pages of a night: the columns of the presentation, with the links that only the desk knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from audit.desk.parts import person_address
from audit.reconciliation.columns import Column

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads somewhere, unless its address is ""."""

    text: str
    address: str


Addresses: TypeAlias = dict[str, "Callable[[Row], str] | Callable[[Row], list[Link]]"]
"""By key of a column, where its cell leads; or several links in the place of its text."""


@dataclass(slots=True)
class Heading:
    """The heading of one column."""

    column: Column
    address: str = ""


@dataclass(slots=True)
class Cell:
    """One cell. ``links`` replace the text; ``verdict`` colours it; ``remark`` follows it quietly."""

    column: Column
    text: str
    address: str = ""
    links: list[Link] = field(default_factory=list)
    verdict: str = ""
    remark: str = ""
    is_question: bool = False

    @property
    def is_heading(self) -> bool:
        return self.column.kind in ("name", "game")

    @property
    def css(self) -> str:
        names = {
            "number": self.column.is_right_aligned,
            "note-cell": self.column.kind == "note",
        }
        return " ".join(name for name, applies in names.items() if applies)


@dataclass(slots=True)
class TableRow:
    cells: list[Cell]
    id: str = ""
    css: str = ""


@dataclass(slots=True)
class Table:
    """A table as ``night/table.html`` draws it."""

    headings: list[Heading]
    rows: list[TableRow]
    foot: list[TableRow] = field(default_factory=list)


def croupier_address(casino_id: int, row: Row, day: date) -> str:
    """Return where the croupier of a row leads, in the month of ``day``; "" for nobody known."""
    code = row.get("croupier_id", row["croupier"])
    return person_address("croupier", casino_id, code, month=f"{day:%Y-%m}") if code else ""


def build_table(
    columns: Sequence[Column],
    rows: Iterable[Row],
    currency: str,
    addresses: Addresses | None = None,
) -> Table:
    """Return rows as a table in the active language."""
    return Table(
        [Heading(column) for column in columns],
        [TableRow([_cell(column, row, currency, addresses or {}) for column in columns]) for row in rows],
    )


def _cell(column: Column, row: Row, currency: str, addresses: Addresses) -> Cell:
    cell = Cell(column, column.text(row, currency))
    address = addresses[column.key](row) if column.key in addresses else ""
    if isinstance(address, str):
        cell.address = address
    else:
        cell.links = address
    if column.kind == "verdict":
        cell.verdict = row[column.key]
    return cell
