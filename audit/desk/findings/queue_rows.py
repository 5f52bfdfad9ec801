"""The lines of a list of findings, written without a template, which would look up sixty names for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.casework.debts import stake_of_incident
from audit.desk.addresses import page_of
from audit.desk.findings.queue_page import Consequences, Row
from audit.desk.parts import on_two_lines
from audit.models import Finding
from audit.presentation import date_time, money, reference, ruleset_label


def lines_of(rows: Iterable[Row], preserved_filters: str, *, can_work_cases: bool, of_several: bool) -> SafeString:
    """Return the lines of one group. ``preserved_filters`` is the query that leads back from a finding to the list.

    ``of_several``: the list shows several casinos, so each line names its own; every casino may have a table R1.
    """
    kept = escape(preserved_filters)
    tags = (_tag(gettext("pattern")), _tag(gettext("came back")))
    lines = (_line(row, kept, tags, can_work_cases=can_work_cases, of_several=of_several) for row in rows)
    return mark_safe("\n".join(lines))


def _tag(words: str) -> str:
    return f'<span class="tag gold">{escape(words)}</span>'


def _line(row: Row, kept: str, tags: tuple[str, str], *, can_work_cases: bool, of_several: bool) -> str:
    finding, address = row.finding, f"{row.address}?{kept}"
    casino = f"<span>{escape(str(finding.casino))}</span>" if of_several else ""
    box = passed_to = alike = cause = outcome = rule = ""
    marks = tags[0] * row.is_pattern + tags[1] * row.has_come_back
    if row.status:
        marks += f'<span class="tag">{escape(row.status)}</span>'
    if row.rule:
        rule = f'<span class="rule">{escape(row.rule)}</span>'
    if row.cause:
        cause = f'<span class="cause">{escape(row.cause)}</span>'
    if row.outcome:
        outcome = f'<br><small class="dim">{escape(row.outcome)}</small>'
    if can_work_cases:
        box = (
            f'<td class="ck"><input type="checkbox" name="_selected_action" value="{finding.pk}" class="action-select"'
            f' aria-label="{escape(row.select)}"></td>'
        )
    if row.passed_to:
        words = escape(gettext("passed to %(to)s")) % {"to": escape(row.passed_to)}
        passed_to = f'<br><small class="dim">{words}</small>'
    if row.alike:
        alike = f'<a class="alike" href="{escape(row.alike_address)}">{escape(row.alike_words)}</a>'
    if row.stake.amount:
        money = f'<span class="money">{escape(row.stake.amount)}</span><br>{row.who}'
    else:
        about = f'<span class="who none">{escape(row.without_money)}</span>'
        money = f'<span class="dim">{escape(row.stake.words)}</span><br>{about}'
    table = escape(finding.table.code) if finding.table is not None else ""
    if finding.ruleset:
        table += f"<small>{escape(capfirst(ruleset_label(finding.ruleset)))}</small>"
    return (
        f'<tr data-row>{box}\n<td class="pr">{row.bars}</td>\n'
        f'<td class="ti"><div class="l1"><a href="{address}">{escape(row.title)}</a>{marks}</div>'
        f'<div class="l2"><span class="ref">{escape(row.reference)}</span>'
        f"{rule}{casino}{cause}{alike}{_like(row)}{_folded(row.consequences, address)}</div></td>\n"
        f'<td class="am">{money}</td>\n<td class="tb two">{table}</td>\n<td class="cr">{row.croupier}</td>\n'
        f'<td class="at two"><time datetime="{row.occurred_iso}">{on_two_lines(row.occurred)}</time></td>\n'
        f'<td class="du">{row.due}{passed_to}</td>\n'
        f'<td class="st-c"><span class="of">{row.state}</span>{outcome}</td></tr>'
    )


def _folded(consequences: Consequences, address: str) -> str:
    """Return what follows from an incident, folded; "" for nothing."""
    if not consequences.count:
        return ""
    items = "".join(
        f'<li><a href="{page_of("finding", each.pk)}">{escape(each.title)}</a> {escape(each.words)}</li>'
        for each in consequences.first
    )
    if consequences.more:
        items += f'<li><a href="{address}">{escape(consequences.more_words)}</a></li>'
    return f'<details class="fold"><summary>{escape(consequences.words)}</summary><ul>{items}</ul></details>'


def _like(row: Row) -> str:
    """Return the incidents of a pattern beneath its line, folded; "" for none."""
    if not row.folded.count:
        return ""
    items = "".join(_item(each) for each in row.folded.first)
    if row.folded.count > len(row.folded.first):
        items += f'<li><a href="{escape(row.pattern_address)}">{escape(row.folded.more_words)}</a></li>'
    return f'<details class="fold"><summary>{escape(row.folded.words)}</summary><ul>{items}</ul></details>'


def _item(finding: Finding) -> str:
    """Return one incident of a pattern: its reference, when it happened, and its money."""
    amount = stake_of_incident(finding, write=money).amount
    about = " · ".join(escape(each) for each in (date_time(finding.occurred_at, finding.casino), amount) if each)
    return f'<li><a href="{page_of("finding", finding.pk)}">{escape(reference(finding))}</a> {about}</li>'
