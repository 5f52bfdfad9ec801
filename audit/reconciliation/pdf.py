"""A report as PDF, in either language; the same bytes every time. The document's date is the gaming day.

The first page is the director's: who won what, the two signatures, the bridge, what is open, not counted and not
checked, and the tables. The details follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from audit.charts.svg import for_print
from audit.exports.lists import omitted
from audit.exports.pdf import render_pdf
from audit.felt import draw, playback_of, standalone
from audit.felt.frames import range_around
from audit.models import NightReport
from audit.models.nights import NightState
from audit.presentation import MISSING, date_time, finding_title, labelled, money, night_of, officer_name
from audit.reconciliation import director
from audit.reconciliation.columns import Column
from audit.reconciliation.not_kept import not_kept_note
from audit.reconciliation.presentation import (
    CROUPIERS,
    ERRORS,
    GAMES,
    LETTERS,
    LINES,
    PAPER,
    TABLES,
    Section,
    bridge_note,
    load_content,
    total_row,
    unattributed_note,
    waiting_note,
)
from settlement.catalogue import Language

TEMPLATE = Path(__file__).with_name("report.typ")

MAX_ROWS = 60
"""Rows printed of a section, apart from its totals; the workbook has all."""

ALWAYS_PRINTED = (TABLES, GAMES, LETTERS, LINES)
"""Sections that are printed even without rows."""

DETAILS = [section for section in PAPER if section is not TABLES]
"""The sections after the director's page."""


def as_pdf(report: NightReport, language: Language, *, with_names: bool = False) -> bytes:
    """Return a report as PDF; ``with_names`` beside croupiers' ids, as the directory has them now."""
    with translation.override(language):
        return render_pdf(TEMPLATE, _data(report, language, with_names=with_names))


def _data(report: NightReport, language: Language, *, with_names: bool = False) -> dict[str, Any]:
    content = load_content(report, with_names=with_names)
    casino, day = report.casino, report.gaming_day
    name = casino.name or casino.code
    return {
        "lang": language,
        "title": f"{name} · {night_of(day, with_year=True)} · {report.currency} · {report.version}",
        "date": [day.year, day.month, day.day],
        "heading": night_of(day, with_year=True),
        "subheading": _("%(casino)s. Reconciliation report in %(currency)s, version %(version)s, %(state)s.")
        % {
            "casino": name,
            "currency": report.currency,
            "version": report.version,
            "state": NightState(report.state).label,
        },
        "sentence": [{"text": each.text, "tone": each.tone} for each in director.sentence(content, money)],
        "waterfall": for_print(director.waterfall(content)),
        "listings": [_listing(each) for each in director.listings(content)],
        "tables": _part(TABLES, content),
        "day_span": _("%(hours)s hours, ending %(end)s")
        % {"hours": content["hours"], "end": _local(datetime.fromisoformat(content["ends"]), report)},
        "tree_size": str(report.tree_size),
        "root": report.tree_root or MISSING,
        "digest": report.digest,
        "notice": waiting_note(content, money),
        "parts": [part for part in (_part(section, content) for section in DETAILS) if part is not None],
        "signatures": _signatures(report),
        "felt": _felt(report, content, language),
        "labels": {
            "tree": _("Tree size when sealed"),
            "root": _("root"),
            "digest": _("Digest of the report"),
            "bridge": _("From theory to the count"),
            "sign": _("Date, signature"),
            "none": _("None."),
            "caution": _(
                "A statistical test raises a question, not an accusation. Even on a night without "
                "irregularities, each test sometimes raises a false question."
            ),
        },
    }


def _listing(listing: director.Listing) -> dict[str, Any]:
    items = [{"strong": item.strong, "text": item.text} for item in listing.items]
    return {"title": labelled(listing.title, str(listing.count)), "items": items, "empty": listing.empty}


def _part(section: Section, content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a section as the template takes it, or None if it has no rows and is not always printed."""
    columns, rows = section.select(section.paper, content), section.rows(content)
    if section is CROUPIERS:
        rows = [{**row, "croupier": f"{row['croupier']} *" if row["noteworthy"] else row["croupier"]} for row in rows]
    if not rows and section not in ALWAYS_PRINTED:
        return None
    notes = [bridge_note(content) if section in (TABLES, GAMES) else str(section.note)]
    if section in (ERRORS, CROUPIERS):
        notes.append(unattributed_note(content))
    notes.append(not_kept_note(content, section.name))
    printed = [*rows[:MAX_ROWS], *_totals(section, content, columns[0].key)]
    return {
        "title": str(section.title),
        "headings": [str(column.label) for column in columns],
        "left_columns": len(list(takewhile(_is_left_aligned, columns))),
        "widths": _widths(columns),
        "rows": [[_cell(column, row, content["currency"]) for column in columns] for row in printed],
        "note": " ".join(filter(None, notes)),
        "more": omitted(len(rows) - MAX_ROWS),
    }


def _totals(section: Section, content: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
    """Return the rows at the foot of a section, with ``column`` saying what each is: of every row, printed or not."""
    if section not in (TABLES, GAMES):
        return []
    counted = director.counted_row(content, column) if section is TABLES else None
    return [*filter(None, [counted]), total_row(content, column)]


def _is_left_aligned(column: Column) -> bool:
    return not column.is_right_aligned and column.kind not in ("event", "events")


def _widths(columns: Sequence[Column]) -> list[str]:
    """Return the widths of columns: one takes the rest, the first unless another is wide."""
    wide = next((column for column in columns if column.is_wide), columns[0])
    return ["rest" if column is wide else "auto" for column in columns]


def _cell(column: Column, row: Mapping[str, Any], currency: str) -> str | dict[str, str]:
    text = column.text(row, currency)
    return {"code": row[column.key], "text": text} if column.kind == "verdict" else text


def _felt(report: NightReport, content: Mapping[str, Any], language: Language) -> dict[str, str] | None:
    """Return a drawing of the table at the night's most serious finding, as known to the report, and its caption.

    None if no table has a finding, or its layout is not drawn.
    """
    worst = content.get("worst")
    if not worst:
        return None
    first, last = range_around(worst["seq"], worst["evidence"])
    playback = playback_of(worst["stream_id"], first, last, known_through=report.through.get(str(worst["stream_id"])))
    svg = draw(playback, playback.index_of(worst["seq"]), language=language, disputed={worst["wager"]})
    if not svg:
        return None
    title = finding_title(worst["rule"])
    return {
        "title": _("The most serious finding"),
        "svg": standalone(svg),
        "caption": f"{title} · {worst['stream']} · #{worst['seq']}"
        + (f" · {worst['wager']}" if worst["wager"] else ""),
    }


def _local(moment: datetime, report: NightReport) -> str:
    return date_time(moment, report.casino, with_year=True)


def _signatures(report: NightReport) -> list[dict[str, str]]:
    signatures = (
        (_("Signed by"), report.reviewed_by, report.reviewed_at),
        (_("Closed by (another officer)"), report.closed_by, report.closed_at),
    )
    return [
        {
            "label": label,
            "name": officer_name(officer) if officer else "",
            "at": _local(at, report) if at else "",
        }
        for label, officer, at in signatures
    ]
