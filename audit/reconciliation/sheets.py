"""A report as files: its tables as CSV and XLSX, the whole as JSON. The same report gives the same bytes.

``with_names`` puts croupiers' names beside their ids, as the directory has them now; the JSON has the ids alone.
"""

from __future__ import annotations

import json
from typing import Any

from audit.exports.sheets import Sheet, workbook
from audit.models import NightReport
from audit.reconciliation.presentation import SHEETS, as_sheet, load_content


def document(report: NightReport) -> dict[str, Any]:
    """Return the content of a report with its signatures and sign-off exceptions, as the API answers it."""
    signatures = ((report.reviewed_by, report.reviewed_at, "reviewed"), (report.closed_by, report.closed_at, "closed"))
    return {
        **report.parsed_content(),
        "state": report.state,
        "digest": report.digest,
        "made_at": report.made_at.isoformat(),
        "restatement": report.sheet,
        "signatures": [
            {"officer": officer.get_username(), "at": at.isoformat(), "as": step}
            for officer, at, step in signatures
            if officer is not None and at is not None
        ],
        "reservations": [
            {"code": each.code, "words": each.reason, "officer": each.officer.get_username()}
            for each in report.signoff_exceptions.select_related("officer")
        ],
    }


def as_json(report: NightReport) -> bytes:
    """Return ``document`` as indented JSON with sorted keys."""
    return json.dumps(document(report), sort_keys=True, ensure_ascii=False, indent=1).encode() + b"\n"


def as_xlsx(report: NightReport, *, with_names: bool = False) -> bytes:
    """Return every table of a report as one workbook, a sheet each."""
    return workbook(report_sheets(report, with_names=with_names), report.currency, str(report))


def report_sheets(report: NightReport, *, with_names: bool = False) -> list[Sheet]:
    """Return every table of a report, in the active language. Amounts are minor units."""
    content = load_content(report, with_names=with_names)
    return [as_sheet(section, content) for section in SHEETS]


def sheet_named(report: NightReport, name: str, *, with_names: bool = False) -> Sheet | None:
    """Return one table of a report, or None if there is none of that name."""
    section = next((section for section in SHEETS if section.name == name), None)
    return as_sheet(section, load_content(report, with_names=with_names)) if section else None


def sheet_names() -> list[str]:
    return [section.name for section in SHEETS]
