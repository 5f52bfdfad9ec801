"""Lists as files: CSV, XLSX and PDF of exactly what a filter leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

from django.utils.translation import get_language, gettext

from audit.exports.pdf import printed
from audit.models import Finding
from audit.reconciliation.sheets import Column, Sheet, as_csv, workbook
from settlement.catalogue import RULES

FORMS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
}

MAX_ROWS = 50_000
"""Rows of a file; an officer who wants more narrows the filter."""

MAX_PRINTED = 1_000
"""Rows of a PDF. Paper is for reading."""

AT_ONCE = 500
"""Rows that are read together."""

SHOWN_WITH = ("stream", "table", "casino", "case__assigned_to")
"""What a row shows besides the finding itself."""

TEMPLATE = Path(__file__).with_name("list.typ")

_NAMES = (
    *("id", "severity", "rule", "finding", "casino", "table", "gaming day", "occurred", "wager", "expected"),
    *("recorded", "currency", "provision", "state", "officer", "deadline", "outcome", "message"),
)


def made(sheet: Sheet, form: str, *, title: str, said: Sequence[str], day: date) -> tuple[str, bytes]:
    """Return a table as a file, and its name. ``form`` is one of ``FORMS``; ``said`` is what its filter was, in words;
    ``day`` dates the paper."""
    name = f"{sheet.name}-{day.isoformat()}.{form}"
    match form:
        case "csv":
            return name, as_csv(sheet, "")
        case "xlsx":
            return name, workbook([sheet], "", title)
        case _:
            return name, _printed(sheet, title, said, day)


def _printed(sheet: Sheet, title: str, said: Sequence[str], day: date) -> bytes:
    left_off = max(0, len(sheet.rows) - MAX_PRINTED)
    data = {
        "lang": get_language() or "en",
        "title": title,
        "said": " · ".join(said),
        "date": [day.year, day.month, day.day],
        "heads": [column.name for column in sheet.columns],
        "rows": [["" if value is None else str(value) for value in row] for row in sheet.rows[:MAX_PRINTED]],
        "count": gettext("%(rows)d rows") % {"rows": len(sheet.rows)},
        "left_off": gettext("%(rows)d further rows are in the workbook.") % {"rows": left_off} if left_off else "",
    }
    return printed(TEMPLATE, data)


def findings_of(ids: Sequence[int]) -> Iterator[Finding]:
    """Yield the findings of these numbers, in their order, some at a time."""
    for low in range(0, len(ids), AT_ONCE):
        part = ids[low : low + AT_ONCE]
        found = Finding.objects.select_related(*SHOWN_WITH).in_bulk(part)
        yield from (found[each] for each in part if each in found)


def findings_sheet(findings: Iterable[Finding], tell: Callable[[int], None] = lambda rows: None) -> Sheet:
    """Return findings as a table, amounts in minor units beside their currency. ``tell`` is told of the rows so far."""
    rows = []
    tongue = "fr" if (get_language() or "").startswith("fr") else "en"
    for each in findings:
        case = each.case
        rows.append(
            [
                each.pk,
                each.get_severity_display(),
                each.rule,
                RULES[each.rule].title.in_language(tongue),
                each.casino.code,
                each.table.code if each.table else "",
                each.gaming_day.isoformat(),
                each.occurred_at.astimezone(ZoneInfo(each.casino.time_zone)).isoformat(),
                each.wager,
                each.expected,
                each.recorded,
                each.currency,
                each.provision,
                case.get_state_display() if case else "",
                str(case.assigned_to or "") if case else "",
                case.deadline.isoformat(timespec="minutes") if case else "",
                case.get_outcome_display() if case and case.outcome else "",
                each.as_value().message(tongue),
            ]
        )
        if len(rows) % AT_ONCE == 0:
            tell(len(rows))
    return Sheet("findings", [Column(str(gettext(name))) for name in _NAMES], rows)
