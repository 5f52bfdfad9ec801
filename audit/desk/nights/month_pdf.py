"""A month of nights as PDF: the sentence, the bridge, each night, each table, the croupiers, what was restated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from audit.desk.nights.month_page import sentence
from audit.exports.page_pdf import Chart, PagePdf, Part, Tile
from audit.models import NightState
from audit.presentation import day, money, month_of
from audit.reconciliation import wording
from audit.reconciliation.month import Month


def month_pdf(month: Month, context: Mapping[str, Any]) -> bytes:
    """Return a month; ``context`` is that of its page."""
    return PagePdf(
        heading=f"{month.casino} · {month_of(month.first)}",
        subheading=month.currency,
        note=_("Plus is for the house. Each night is a version of its report, with its digest and two signatures."),
        day=month.first,
        tiles=[Tile(str(each["label"]), each["amount"]) for each in context["bridge"]],
        remark=" ".join(filter(None, (sentence(month, money), context["chance"]))),
        charts=[Chart(_("Win against theory, running total night by night"), context["against_theory"], is_small=True)],
        parts=[_nights(month), _tables(context), _croupiers(context), _adjustments(context)],
    ).render()


def _nights(month: Month) -> Part:
    rows = []
    for each in month.reported:
        report, figures = month.reports[each], month.totals[each]
        rows.append(
            [
                day(each, with_weekday=True, with_year=True),
                wording.figure("W_acct", figures["W_acct"], month.currency),
                str(NightState(report.state).label),
                str(report.version),
            ]
        )
    return Part(
        _("Accounting win, night by night"),
        [_("Night"), _("Accounting win"), _("State"), _("Version")],
        rows,
        rights=(1, 3),
        empty=_("No nights have been reconciled for this month."),
    )


def _tables(context: Mapping[str, Any]) -> Part:
    rows = [
        [
            row["name"],
            row["game"],
            _("players %(amount)s") % {"amount": row["total"]} if row["has_players_won"] else row["total"],
            _errors(row),
        ]
        for row in context["matrix"]
    ]
    return Part(
        _("Tables"),
        [_("Table"), _("Game"), _("Month"), _("Payout errors")],
        rows,
        rights=(2, 3),
        wide=(1,),
        empty=_("No nights have been reconciled for this month."),
    )


def _errors(row: Mapping[str, Any]) -> str:
    if not row["errors"]:
        return _("none")
    words = _("%(amount)s owed to players") if row["kept"] else _("%(amount)s overpaid")
    return words % {"amount": row["errors"]}


def _croupiers(context: Mapping[str, Any]) -> Part:
    return Part(
        _("Errors by croupier"),
        [_("Croupier"), _("Errors"), _("95% interval"), _("Rate"), _("Direction")],
        [
            [
                f"{row['croupier']} *" if row["noteworthy"] else row["croupier"],
                row["errors"],
                row["interval"],
                row["rate"],
                row["direction"],
            ]
            for row in context["croupiers"]
        ],
        rights=(2, 3),
        empty=_("No payouts are known for this month."),
        after=_("About 1 in 10 marked names is a false alarm. A mark is a question, not an accusation."),
    )  # fmt: skip


def _adjustments(context: Mapping[str, Any]) -> Part:
    table = context["adjustments"]
    return Part(
        _("Restatements"),
        [str(heading.column.label) for heading in table.headings],
        [[cell.text or ", ".join(link.text for link in cell.links) for cell in row.cells] for row in table.rows],
        empty=_("No night was restated."),
    )
