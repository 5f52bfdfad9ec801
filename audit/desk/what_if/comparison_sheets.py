"""The comparison of a what-if run as a workbook: what was tried, each rule, each finding that differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.adjudication.what_if import Change
from audit.adjudication.what_if_sums import Compared, in_all
from audit.desk.what_if.comparison import KINDS_OF_CHANGE, change_row, facts_of, missing_minor
from audit.exports.sheets import Column, Sheet, workbook
from audit.models import WhatIf
from audit.presentation import count, finding_title, units

MAX_ROWS = 100_000
"""Findings of a workbook; the CSV has all."""


def comparison_workbook(what_if: WhatIf, compared: Sequence[Compared], changes: Iterable[Change]) -> bytes:
    """Return the comparison as XLSX in the active language; ``compared`` and ``changes`` are those an officer sees."""
    return workbook([_run(what_if, compared), _by_rule(compared), _by_finding(changes)], "", what_if.name)


def _run(what_if: WhatIf, compared: Sequence[Compared]) -> Sheet:
    """Return what was tried, and how many findings there are by each reading."""
    before, after = (sum(getattr(each, side).findings for each in in_all(compared)) for side in ("before", "after"))
    rows: list[list[Any]] = [[_("What-if run"), what_if.name], *facts_of(what_if)]
    rows += [[_("Findings in force"), before], [_("Findings of the run"), after]]
    return Sheet(_("run"), [Column(_("What")), Column(_("Value"))], rows)


def _by_rule(compared: Sequence[Compared]) -> Sheet:
    """Return the findings and the money of each rule in each currency, those that agree included."""
    headings = [
        *(_("Rule"), _("Findings in force"), _("Findings of the run"), _("Currency")),
        *(_("Owed to players, in force"), _("Owed to players, what if")),
        *(_("Owed to the house, in force"), _("Owed to the house, what if")),
    ]
    rows = [
        [
            *(finding_title(each.rule), each.before.findings, each.after.findings, each.currency),
            *(units(side.to_players_minor, each.currency) for side in (each.before, each.after)),
            *(units(side.to_bank_minor, each.currency) for side in (each.before, each.after)),
        ]
        for each in compared
    ]
    return Sheet(_("by rule"), [Column(name) for name in headings], rows)


def _by_finding(changes: Iterable[Change]) -> Sheet:
    """Return each finding that differs, with what more is due to the player, negative for less."""
    headings = [
        *(_("Change"), _("Stream"), _("Event"), _("Finding"), _("Wager"), _("In force"), _("What if")),
        *(_("More due to the player"), _("Currency")),
    ]
    rest = iter(changes)
    rows = [_row(each) for each in islice(rest, MAX_ROWS)]
    if more := sum(1 for _each in rest):
        words = ngettext(
            "%(number)s further finding that differs is in the CSV.",
            "%(number)s further findings that differ are in the CSV.",
            more,
        )
        rows.append([words % {"number": count(more)}, *[None] * (len(headings) - 1)])
    return Sheet(_("by finding"), [Column(name) for name in headings], rows)


def _row(change: Change) -> list[Any]:
    row, due = change_row(change), missing_minor(change)
    return [
        *(str(KINDS_OF_CHANGE[change.kind]), change.stream, change.seq, row.title, change.wager, row.before, row.after),
        *(units(due, change.currency) if due is not None else None, change.currency),
    ]
