"""The comparison of a what-if run as PDF: what was tried, the sums of both sides, each rule, what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext, ngettext

from audit.adjudication.what_if import Change
from audit.adjudication.what_if_sums import Compared, in_all
from audit.desk.what_if.comparison import KINDS_OF_CHANGE, ChangeRow, Side, Verdict, change_row, facts_of, rule_rows
from audit.exports.lists import MAX_PRINTED
from audit.exports.pdf import render_pdf
from audit.models import WhatIf
from audit.presentation import count, language

TEMPLATE = Path(__file__).with_name("comparison.typ")


def comparison_pdf(what_if: WhatIf, compared: Sequence[Compared], changes: Iterable[Change]) -> bytes:
    """Return the comparison as PDF in the active language; ``compared`` and ``changes`` are those an officer sees.

    Of more than ``MAX_PRINTED`` changes the first are printed, and how many more there are is said.
    """
    return render_pdf(TEMPLATE, pdf_data(what_if, compared, changes))


def pdf_data(what_if: WhatIf, compared: Sequence[Compared], changes: Iterable[Change]) -> dict[str, Any]:
    """Return what the template prints: every text is ready, nothing is left to it."""
    started = what_if.started_at
    heading = gettext("Under another reading") if what_if.readings else gettext("By another version of the engine")
    return {
        "lang": language(),
        "title": f"{heading}: {what_if.name}",
        "date": [started.year, started.month, started.day],
        "heading": heading,
        "subheading": what_if.name,
        "note": gettext("The same events judged twice. Nothing in the record, no finding and no night changes."),
        "facts": list(facts_of(what_if)),
        "verdicts": [list(_verdict(Verdict(each))) for each in in_all(compared)],
        "nothing": gettext("Neither finds anything in the streams that were replayed."),
        "parts": [_by_rule(compared), _by_finding(changes)],
    }


def _verdict(verdict: Verdict) -> Iterator[dict[str, str]]:
    """Yield what stands, what the run finds, and the difference."""
    for name, side in ((gettext("In force"), verdict.before), (gettext("What if"), verdict.after)):
        found = ngettext("%(number)s finding", "%(number)s findings", side.findings) % {"number": count(side.findings)}
        yield {"name": name, "value": found, "note": _owed(side), "tone": "plain"}
    if verdict.to_players:
        note = gettext("and %(amount)s owed to the house") % {"amount": verdict.to_bank} if verdict.to_bank else ""
        yield {"name": gettext("Owed to players"), "value": verdict.to_players, "note": note, "tone": "player"}
    elif verdict.to_bank:
        yield {"name": gettext("Owed to the house"), "value": verdict.to_bank, "note": "", "tone": "bank"}
    else:
        yield {"name": gettext("Money"), "value": gettext("the same"), "note": "", "tone": "plain"}


def _owed(side: Side) -> str:
    if side.to_players and side.to_bank:
        words = gettext("%(players)s owed to players, %(bank)s to the house")
        return words % {"players": side.to_players, "bank": side.to_bank}
    if side.to_players:
        return gettext("%(amount)s owed to players") % {"amount": side.to_players}
    if side.to_bank:
        return gettext("%(amount)s owed to the house") % {"amount": side.to_bank}
    return gettext("no money owed")


def _by_rule(compared: Sequence[Compared]) -> dict[str, Any]:
    rows = [
        [
            row.title,
            count(row.before.findings),
            count(row.after.findings),
            _both(row.before.to_players, row.after.to_players),
            _both(row.before.to_bank, row.after.to_bank),
        ]
        for row in rule_rows(compared)
    ]
    return {
        "title": gettext("Difference by rule"),
        "headings": [
            gettext("Rule"),
            gettext("In force"),
            gettext("What if"),
            gettext("Owed to players"),
            gettext("Owed to the house"),
        ],
        "widths": ["rest", *["auto"] * 4],
        "rights": [False, True, True, True, True],
        "rows": rows,
        "empty": gettext("No differences."),
        "after": "",
    }


def _both(before: str, after: str) -> str:
    """Return an amount before and after, once where it is the same."""
    none = gettext("none")
    return before or none if before == after else f"{before or none} → {after or none}"


def _by_finding(changes: Iterable[Change]) -> dict[str, Any]:
    rest = iter(changes)
    rows = [_change(change_row(each)) for each in islice(rest, MAX_PRINTED)]
    more = sum(1 for _each in rest)
    further = ngettext(
        "%(number)s further finding that differs is in the files.",
        "%(number)s further findings that differ are in the files.",
        more,
    )
    return {
        "title": gettext("Finding by finding"),
        "headings": [
            gettext("Change"),
            gettext("Stream"),
            gettext("Finding"),
            gettext("Wager"),
            gettext("In force"),
            gettext("What if"),
            gettext("Difference"),
        ],
        "widths": ["auto", "auto", "rest", *["auto"] * 4],
        "rights": [False, False, False, False, True, True, False],
        "rows": rows,
        "empty": gettext("No differences."),
        "after": further % {"number": count(more)} if more else "",
    }


def _change(row: ChangeRow) -> list[str]:
    change = row.change
    where = f"{change.stream} #{change.seq}"
    return [
        str(KINDS_OF_CHANGE[change.kind]),
        where,
        row.title,
        change.wager,
        row.before,
        row.after,
        row.difference_in_words,
    ]
