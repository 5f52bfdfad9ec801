"""A report in other forms: its tables as CSV and XLSX, the whole as JSON. The same report gives the same bytes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import xlsxwriter

from audit.exports.csv_injection import guarded
from audit.models import NightReport
from audit.reconciliation import wording
from settlement.catalogue.sentences import exponent

LETTERS = ("O", "F", "C", "K", "D", "B", "S", "U", "I", "W_acct", "W_rec", "W_adj")
BRIDGE = ("theoretical", "luck", "payout_errors", "accounting_variance")

XLSX_MADE = datetime(2000, 1, 1)  # noqa: DTZ001  (an instant of the file's own, so that it is the same file every time)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, and what it holds: ``money`` in minor units, ``number``, or ``text``."""

    name: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a report."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


def document(report: NightReport) -> dict[str, Any]:
    """Return the report with its signatures and sign-off exceptions, as the interface answers it."""
    return {
        **report.said(),
        "state": report.state,
        "digest": report.digest,
        "made_at": report.made_at.isoformat(),
        "restatement": report.sheet,
        "signatures": [
            {"officer": officer.get_username(), "at": at.isoformat(), "as": place}
            for officer, at, place in (
                (report.reviewed_by, report.reviewed_at, "reviewed"),
                (report.closed_by, report.closed_at, "closed"),
            )
            if officer is not None and at is not None
        ],
        "reservations": [
            {"code": each.code, "words": each.reason, "officer": each.officer.get_username()}
            for each in report.signoff_exceptions.select_related("officer")
        ],
    }


def as_json(report: NightReport) -> bytes:
    """Return ``document`` as JSON with sorted names."""
    return json.dumps(document(report), sort_keys=True, ensure_ascii=False, indent=1).encode() + b"\n"


def sheets(report: NightReport) -> list[Sheet]:
    """Return every table of a report. Names of columns are codes; amounts are minor units."""
    said = report.said()
    money = [Column(name, "money") for name in (*LETTERS, *BRIDGE)]
    counts = [Column("sessions", "number"), Column("uncounted", "number")]
    return [
        Sheet("tables", [Column("table"), *counts, *money], [_sum(each) for each in said["tables"]]),
        Sheet("games", [Column("game"), *counts, *money], [_sum(each) for each in said["games"]]),
        Sheet("total", [Column("of"), *counts, *money], [_sum(said["total"])]),
        Sheet(
            "sessions",
            [
                *(Column(name) for name in ("stream", "table", "game", "ruleset", "opened_at", "closed_at")),
                Column("events", "number"),
                *money,
                *(Column(name, "number") for name in ("hold_millionths", "edge_millionths", "z_thousandths")),
                Column("p_millionths", "number"),
            ],
            [
                [
                    *(each[name] for name in ("stream", "table", "game", "ruleset", "opened_at", "closed_at")),
                    each["events"],
                    *_money(each),
                    *(each[name] for name in ("hold_millionths", "edge_millionths", "z_thousandths", "p_millionths")),
                ]
                for each in said["sessions"]
            ],
        ),
        _lines(said),
        _listed("errors", said["errors"], ("stream", "table", "wager", "bet", "status", "seq", "amount", "croupier")),
        _listed(
            "standing",
            said["standing"],
            ("stream", "table", "wager", "bet", "status", "seq", "amount", "zeros", "refund", "present_value"),
        ),
        _listed(
            "croupiers",
            said["croupiers"],
            (
                *("croupier", "payouts", "for_house", "for_player", "rate_millionths", "low_millionths"),
                *("high_millionths", "p_errors_millionths", "p_side_millionths", "noteworthy"),
            ),
        ),
        Sheet(
            "restatement",
            [Column(name) for name in ("of", "line", "was", "is", "events", "reasons")],
            [
                [row["of"], row["line"], row["was"], row["is"], " ".join(row["events"]), "; ".join(row["reasons"])]
                for row in report.sheet
            ],
        ),
    ]


def _sum(each: dict[str, Any]) -> list[Any]:
    return [each["name"], each["sessions"], each["uncounted"], *_money(each)]


def _money(each: dict[str, Any]) -> list[int | None]:
    return [*(each[name] for name in LETTERS), *(each["bridge"].get(name) for name in BRIDGE)]


def _lines(said: dict[str, Any]) -> Sheet:
    names = ("number", "line", "verdict", "stream", "table", "kind", "expected", "found", "events", "note")
    rows = [
        [
            line["number"],
            line["code"],
            row["verdict"],
            *(row[name] for name in ("stream", "table", "kind", "expected", "found")),
            " ".join(map(str, row["seqs"])),
            wording.note(row, said["currency"]),
        ]
        for line in said["lines"]
        for row in line["rows"]
    ]
    return Sheet("lines", [Column(name) for name in names], rows)


_AMOUNTS = ("amount", "refund")


def _listed(name: str, listed: list[dict[str, Any]], names: Sequence[str]) -> Sheet:
    columns = [Column(each, "money" if each in _AMOUNTS else "text") for each in names]
    return Sheet(name, columns, [[each[column] for column in names] for each in listed])


def as_csv(sheet: Sheet, currency: str) -> bytes:
    """Return one table as CSV: UTF-8, a line each, amounts in units of the currency with a point."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow(
            [
                _decimal(value, currency) if column.kind == "money" and value is not None else guarded(value)
                for column, value in zip(sheet.columns, row, strict=True)
            ]
        )
    return out.getvalue().encode()


def as_xlsx(report: NightReport) -> bytes:
    """Return every table of a report as one workbook, a sheet each."""
    return workbook(sheets(report), report.currency, str(report))


def workbook(tables: Sequence[Sheet], currency: str, title: str) -> bytes:
    """Return tables as one workbook. Text is written as text, whatever it begins with."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False}) as book:
        book.set_properties({"title": title, "created": XLSX_MADE})
        places = exponent(currency)
        money = book.add_format({"num_format": "#,##0" + ("." + "0" * places if places else "")})
        bold = book.add_format({"bold": True, "bottom": 1})
        for sheet in tables:
            page = book.add_worksheet(sheet.name)
            page.freeze_panes(1, 1)
            page.write_row(0, 0, [column.name for column in sheet.columns], bold)
            for number, row in enumerate(sheet.rows, start=1):
                for place, (column, value) in enumerate(zip(sheet.columns, row, strict=True)):
                    if value is None:
                        continue
                    if column.kind == "money" and isinstance(value, int):
                        page.write_number(number, place, value / 10**places, money)
                    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
                        page.write_number(number, place, value)
                    else:
                        page.write_string(number, place, str(value)[:32_000])
            page.autofit()
    return out.getvalue()


def _decimal(minor: int, currency: str) -> str:
    places = exponent(currency)
    whole, rest = divmod(abs(minor), 10**places)
    return ("-" if minor < 0 else "") + (f"{whole}.{rest:0{places}}" if places else str(whole))


def sheet_named(report: NightReport, name: str) -> Sheet | None:
    return next((sheet for sheet in sheets(report) if sheet.name == name), None)


def names() -> Iterator[str]:
    """Yield the names of a report's tables."""
    yield from (*("tables", "games", "total", "sessions", "lines", "errors", "standing", "croupiers", "restatement"),)
