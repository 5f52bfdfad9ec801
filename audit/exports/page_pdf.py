"""A page of the desk as PDF: its heading, its figures, its drawings and its tables, in the active language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import ngettext

from audit.charts.svg import for_print
from audit.exports.lists import MAX_PRINTED
from audit.exports.pdf import render_pdf
from audit.presentation import count, language

TEMPLATE = Path(__file__).with_name("page.typ")

Tone = Literal["plain", "player", "bank"]


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure of the page: what it is, how much, what is said of it, and who loses by it."""

    name: str
    value: str
    note: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Part:
    """One table of the page. ``rights`` are the indexes of the columns of numbers, ``wide`` those that share the rest.

    ``empty`` stands there without rows, ``after`` below them.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    rights: Sequence[int] = ()
    wide: Sequence[int] = (0,)
    empty: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """One drawing of the page; one that ``is_small`` takes half of its width."""

    title: str
    svg: str
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class PagePdf:
    """What is printed of a page. ``note`` stands at the foot of every sheet; ``day`` dates the document."""

    heading: str
    subheading: str
    note: str
    day: date
    tiles: Sequence[Tile] = ()
    remark: str = ""
    charts: Sequence[Chart] = ()
    parts: Sequence[Part] = ()

    def render(self) -> bytes:
        """Return the PDF. Of a table with more than ``MAX_PRINTED`` rows the first are printed, and it says so."""
        return render_pdf(TEMPLATE, self.data())

    def data(self) -> dict[str, Any]:
        """Return what the template prints: every text is ready, nothing is left to it."""
        return {
            "lang": language(),
            "title": f"{self.heading} · {self.subheading}",
            "date": [self.day.year, self.day.month, self.day.day],
            "heading": self.heading,
            "subheading": self.subheading,
            "note": self.note,
            "remark": self.remark,
            "tiles": [asdict(each) for each in self.tiles],
            "charts": [
                {"title": each.title, "svg": for_print(each.svg), "width": 50 if each.is_small else 100}
                for each in self.charts
                if each.svg
            ],
            "parts": list(self._parts()),
        }

    def _parts(self) -> Iterator[dict[str, Any]]:
        for part in self.parts:
            more = len(part.rows) - MAX_PRINTED
            further = ngettext("%(number)s further row.", "%(number)s further rows.", more)
            columns = range(len(part.headings))
            yield {
                "title": part.title,
                "headings": [str(each) for each in part.headings],
                "widths": ["rest" if index in part.wide else "auto" for index in columns],
                "rights": [index in part.rights for index in columns],
                "rows": [[str(each) for each in row] for row in islice(part.rows, MAX_PRINTED)],
                "empty": part.empty,
                "after": " ".join(filter(None, (part.after, further % {"number": count(more)} if more > 0 else ""))),
            }
