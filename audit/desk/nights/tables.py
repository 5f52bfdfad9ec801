"""Tables of the pages of a night: the columns of the presentation, with the links that only the desk knows.

Rows are cards on a phone, as ``audit.desk.cards`` has them. A cell is written with its heading at once: to read
thousands of them again and add it takes longer than all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, TypeAlias

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from audit.desk.addresses import fixed
from audit.desk.parts import markup, person_address
from audit.reconciliation.columns import RIGHT_ALIGNED, Column, Kind

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
    """One cell. ``links`` replace the text; ``verdict`` colours it; ``remark`` follows it quietly.

    ``label`` is the heading of its column, on a card; None of the title of a card, the first cell of its row.
    """

    column: Column
    text: str
    label: str | None = None
    address: str = ""
    links: list[Link] = field(default_factory=list)
    verdict: str = ""
    remark: str = ""
    is_beyond_chance: bool = False

    def html(self, beyond_chance: str) -> str:
        """Return the cell as it stands in a row; ``beyond_chance`` are the words for errors beyond chance."""
        opening, closing = _tags(self.column.kind, self.label)
        remark = f' <span class="quiet">{markup(self.remark)}</span>' if self.remark else ""
        asks = f' <span class="verdict-tag question">{beyond_chance}</span>' if self.is_beyond_chance else ""
        content = f"{self._content()}{remark}{asks}"
        none = "" if content or self.label is None else " data-none"
        return f"{opening}{none}>{content}{closing}"

    def _content(self) -> str:
        if self.verdict:
            return f'<span class="verdict-tag {markup(self.verdict)}">{markup(self.text)}</span>'
        if self.links:
            return "".join(f"{_linked(link.text, link.address)} " for link in self.links)
        return _linked(self.text, self.address)


@lru_cache(maxsize=1024)
def _tags(kind: Kind, label: str | None) -> tuple[str, str]:
    """Return what a cell of a kind is between, the first without the end of its tag."""
    names = ("number" if kind in RIGHT_ALIGNED else "", "note-cell" if kind == "note" else "")
    css = " ".join(filter(None, names))
    is_heading = kind in ("name", "game")
    tag, role = ("th", "rowheader") if is_heading else ("td", "cell")
    attributes = {"scope": "row" if is_heading else None, "class": css or None, "data-label": label, "role": role}
    written = "".join(f' {name}="{markup(value)}"' for name, value in attributes.items() if value is not None)
    return f"<{tag}{written}", f"</{tag}>"


def _linked(text: str, address: str) -> str:
    shown = markup(text)
    return f'<a href="{markup(address)}">{shown}</a>' if address else shown


@dataclass(slots=True)
class TableRow:
    cells: list[Cell]
    id: str = ""
    css: str = ""

    def html(self) -> SafeString:
        """Return the row. A night of two hundred tables has thousands of cells: a template takes ten times as long."""
        beyond_chance = markup(gettext("more than chance explains"))
        attributes = "".join(
            f' {name}="{markup(value)}"' for name, value in (("id", self.id), ("class", self.css)) if value
        )
        cells = "".join(cell.html(beyond_chance) for cell in self.cells)
        return mark_safe(f'<tr role="row"{attributes}>{cells}</tr>')


@dataclass(slots=True)
class Table:
    """A table as ``night/table.html`` draws it. ``left_out``: how many more rows the workbook has."""

    headings: list[Heading]
    rows: list[TableRow]
    foot: list[TableRow] = field(default_factory=list)
    left_out: int = 0


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
    labelled = [(column, str(column.label) if number else None) for number, column in enumerate(columns)]
    return Table(
        [Heading(column) for column in columns],
        [
            TableRow([_cell(column, label, row, currency, addresses or {}) for column, label in labelled])
            for row in rows
        ],
    )


def build_first(
    columns: Sequence[Column], rows: Sequence[Row], currency: str, addresses: Addresses | None = None, *, most: int
) -> Table:
    """Return the first rows as a table that says how many it leaves out."""
    table = build_table(columns, rows[:most], currency, addresses)
    table.left_out = max(0, len(rows) - most)
    return table


def _cell(column: Column, label: str | None, row: Row, currency: str, addresses: Addresses) -> Cell:
    cell = Cell(column, column.text(row, currency), label)
    address = addresses[column.key](row) if column.key in addresses else ""
    if isinstance(address, str):
        cell.address = address
    else:
        cell.links = address
    if column.kind == "verdict":
        cell.verdict = row[column.key]
    return cell


def events_address(stream_id: int, seq: int) -> str:
    """Return the address of an event, on the page of its stream with some events before it."""
    return f"{fixed('audit_loggedstream_changelist')}{stream_id}/events/?after={max(0, seq - 8)}#e{seq}"
