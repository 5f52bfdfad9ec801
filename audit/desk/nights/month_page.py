"""What the page of a month shows: win by table and day, restatements, exceptions, and croupiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy

from audit.desk.nights.page import ROWS_SHOWN, croupiers_table
from audit.desk.nights.tables import Table, build_table
from audit.presentation import day as shown_day
from audit.reconciliation import wording
from audit.reconciliation.columns import Column
from audit.reconciliation.month import ADJUSTMENTS, EXCEPTIONS, Month, croupier_rows
from audit.reconciliation.wording import money


def month_page(month: Month, *, with_names: bool = False) -> dict[str, Any]:
    """Return the context of the page of a month; ``with_names`` beside croupiers' ids."""
    return {
        "win": _win_table(month),
        "adjustments": build_table(
            ADJUSTMENTS.select(ADJUSTMENTS.page),
            month.adjustments[:ROWS_SHOWN],
            month.currency,
            {"version": lambda row: _report_address(row["report"])},
        ),
        "exceptions": build_table(
            EXCEPTIONS.select(EXCEPTIONS.page),
            month.exceptions[:ROWS_SHOWN],
            month.currency,
            {"day": lambda row: _report_address(row["report"])},
        ),
        "croupiers": croupiers_table(croupier_rows(month, with_names=with_names), month.currency),
    }


def _win_table(month: Month) -> Table:
    """Return the accounting win by table and day, and below it the night's figures by day."""
    days, currency = month.reported, month.currency
    columns = [
        Column("heading", gettext_lazy("Table"), "name"),
        *(Column(str(day), shown_day(day, with_year=False), "formatted") for day in days),
        Column("total", gettext_lazy("Total"), "formatted"),
    ]
    rows: list[Mapping[str, Any]] = [
        {
            "heading": table,
            **{str(day): money(won[day], currency) if day in won else "" for day in days},
            "total": money(month.table_total(table), currency),
        }
        for table, won in month.win.items()
    ]
    sums = [
        {
            "heading": wording.FIGURES[figure],
            **{str(day): money(month.totals[day][figure], currency) for day in days},
            "total": money(month.total(figure), currency),
        }
        for figure in month.figures
    ]
    table = build_table(columns, rows, currency)
    table.foot = build_table(columns, sums, currency).rows
    for heading, day in zip(table.headings[1:-1], days, strict=True):
        heading.address = _report_address(month.reports[day].pk)
    return table


def _report_address(pk: int) -> str:
    return reverse("admin:audit_nightreport_change", args=(pk,))
