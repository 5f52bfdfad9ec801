"""The findings list: its columns, defined once for the desk's list and for its exports, and its rows as a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from audit.access.scope import Scope
from audit.exports.sheets import Column, Sheet
from audit.models import Finding
from audit.persons.directory import Directory, named_facts, players_of_facts
from audit.presentation import finding_title, language, local, superseded_by

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_ROWS = 50_000
"""Rows of a file; an officer who wants more narrows the filter."""

BATCH_ROWS = 500
"""Rows read by one query, and rows between two reports of progress."""

RELATED = ("stream", "table", "casino", "case__assigned_to", "superseded_by_run")
"""What a row shows in addition to the finding itself."""


@dataclass(frozen=True, slots=True)
class FindingColumn:
    """One column of the findings list: its heading, its cell, and the field that sorts it ("" if none does).

    Amounts are minor units of the row's currency. A cell may be None.
    """

    heading: _StrPromise
    cell: Callable[[Finding], Any]
    ordering: str = ""


def _occurred(finding: Finding) -> str:
    return local(finding.occurred_at, finding.casino).isoformat()


COLUMNS: Mapping[str, FindingColumn] = MappingProxyType(
    {
        "id": FindingColumn(_("id"), lambda finding: finding.pk, "pk"),
        "severity": FindingColumn(_("severity"), lambda finding: finding.get_severity_display(), "severity"),
        "rule": FindingColumn(_("rule"), lambda finding: finding.rule, "rule"),
        "title": FindingColumn(_("finding"), lambda finding: finding_title(finding.rule), "rule"),
        "casino": FindingColumn(_("casino"), lambda finding: finding.casino.code, "casino"),
        "table": FindingColumn(_("table"), lambda finding: finding.table.code if finding.table else "", "table"),
        "gaming_day": FindingColumn(_("gaming day"), lambda finding: finding.gaming_day.isoformat(), "gaming_day"),
        "occurred": FindingColumn(_("occurred"), _occurred, "occurred_at"),
        "wager": FindingColumn(_("wager"), lambda finding: finding.wager, "wager"),
        "expected": FindingColumn(_("expected"), lambda finding: finding.expected),
        "recorded": FindingColumn(_("recorded"), lambda finding: finding.recorded),
        "currency": FindingColumn(_("currency"), lambda finding: finding.currency),
        "provision": FindingColumn(_("provision"), lambda finding: finding.provision),
        "state": FindingColumn(
            _("state"),
            lambda finding: finding.case.get_state_display() if finding.case else "",
            "case__state",
        ),
        "officer": FindingColumn(
            _("officer"),
            lambda finding: str(finding.case.assigned_to or "") if finding.case else "",
            "case__assigned_to",
        ),
        "deadline": FindingColumn(
            _("deadline"),
            lambda finding: finding.case.deadline.isoformat(timespec="minutes") if finding.case else "",
            "case__deadline",
        ),
        "outcome": FindingColumn(
            _("outcome"),
            lambda finding: finding.case.get_outcome_display() if finding.case and finding.case.outcome else "",
        ),
        "status": FindingColumn(_("status"), lambda finding: finding.get_status_display(), "status"),
        "superseded_by": FindingColumn(_("superseded by"), superseded_by),
        "message": FindingColumn(_("message"), lambda finding: finding.as_value().message(language())),
    }
)
"""Every column by its name, in the order of an export. A list on screen shows a selection of them."""


NOWHERE = Scope()


def findings_by_id(ids: Sequence[int], scope: Scope, *, names: Scope = NOWHERE) -> Iterator[Finding]:
    """Yield the findings with these ids in this order, read in batches. Ids unknown or out of ``scope`` are skipped.

    At the casinos of ``names``, their facts have players' names beside the ids: they are for reading, not for saving.
    """
    selected = scope.rows(Finding.objects.select_related(*RELATED))
    for low in range(0, len(ids), BATCH_ROWS):
        batch = ids[low : low + BATCH_ROWS]
        findings = selected.in_bulk(batch)
        _add_names(findings.values(), names)
        yield from (findings[pk] for pk in batch if pk in findings)


def _add_names(findings: Collection[Finding], names: Scope) -> None:
    """Put players' names into the facts of ``findings``, in memory: one query for each casino."""
    by_casino: dict[int, list[Finding]] = {}
    for finding in findings:
        if names.includes(finding.casino_id):
            by_casino.setdefault(finding.casino_id, []).append(finding)
    for casino_id, at_casino in by_casino.items():
        named = chain.from_iterable(players_of_facts(finding.facts) for finding in at_casino)
        directory = Directory.of(casino_id, named)
        for finding in at_casino:
            finding.facts = named_facts(finding.facts, directory)


def findings_sheet(findings: Iterable[Finding], on_progress: Callable[[int], None] = lambda rows: None) -> Sheet:
    """Return findings as a table in the active language. ``on_progress`` receives the number of rows so far."""
    rows = []
    for finding in findings:
        rows.append([column.cell(finding) for column in COLUMNS.values()])
        if len(rows) % BATCH_ROWS == 0:
            on_progress(len(rows))
    return Sheet("findings", [Column(str(column.heading)) for column in COLUMNS.values()], rows)
