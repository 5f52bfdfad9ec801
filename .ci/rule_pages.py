"""The catalogue of rules as pages of the documentation: each rule with its clauses and, drawn, a table that breaks it.

The examples are the conformance cases: for each rule the shortest whose adjudication has it; for rules that no case
has, ``docs/rule-examples.jsonl``. Nothing is kept: the pages are made whenever the site is built, from the catalogue
and the drawing that the desk has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import settlement
from audit.desk.rules.catalogue import groups
from audit.felt import draw, playback_of_events
from settlement.arrival import NeedsReplay
from settlement.catalogue import RULES, Rule
from settlement.provisions import PROVISIONS

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "conformance" / "cases.jsonl"
OTHERS = ROOT / "docs" / "rule-examples.jsonl"
"""A stream for each rule that no conformance case has, and the house register's readings where it needs one.

Its ``near`` streams are of the desk's page of the rule: see ``.ci/rule_examples.py``.
"""

LAST_EVENTS = 12
"""Events of an example that are shown, up to the one that completes the finding."""

HIDDEN = "---\nhide: [navigation]\n---\n"
"""The pages of rules are reached from their index: beside them there is no navigation, and the felt is wide."""

SEVERITIES = {"critical": "critical", "major": "major", "minor": "minor", "info": "for information"}


@dataclass(frozen=True, slots=True)
class Example:
    """A stream whose adjudication has a finding of a rule."""

    events: list[dict[str, Any]]
    finding: settlement.Finding


@cache
def examples() -> dict[str, Example]:
    """Return the shortest example of each rule, by its name; a rule without one is left out."""
    found: dict[str, Example] = {}
    for line in CASES.read_text(encoding="utf-8").splitlines():
        events = json.loads(line)["events"]
        for finding in settlement.adjudicate(map(json.dumps, events)).findings:
            before = found.get(finding.rule)
            if before is None or len(events) < len(before.events):
                found[finding.rule] = Example(events, finding)
    for line in OTHERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer = settlement.adjudicate(map(json.dumps, row["events"]), readings=row.get("readings"))
        (finding, *_) = (each for each in answer.findings if each.rule == row["rule"])
        found.setdefault(row["rule"], Example(row["events"], finding))
    return found


def pages() -> dict[str, str]:
    """Return every page of the catalogue by its path in the site's sources."""
    return {"rules/index.md": _index(), **{f"rules/{name}.md": _page(rule) for name, rule in RULES.items()}}


def _index() -> str:
    lines = ["# Rules\n", f"Every rule of the catalogue: {len(RULES)}, by the text that they check.\n"]
    for group in groups():
        text = group.text
        title = (
            f"{text.title} ({text.article})" if text else {"several": "Of several texts"}.get(group.key, "Of no text")
        )
        lines.append(f"## {title}\n")
        lines.append("| rule | what it finds | severity |\n|---|---|---|")
        lines += [
            f"| [`{each.name}`]({each.name}.md) | {each.title.en} | {SEVERITIES[each.severity]} |"
            for each in group.rules
        ]
        lines.append("")
    return "\n".join(lines)


def _page(rule: Rule) -> str:
    lines = [
        HIDDEN,
        f"# {rule.title.en}\n",
        f"`{rule.name}`: *{rule.title.fr}*. Severity: {SEVERITIES[rule.severity]}.\n",
    ]
    if rule.needs:
        lines.append(f"Checked where the table reports the family `{rule.needs}`.\n")
    lines += [f"{rule.explanation.en}\n", "## The law\n", *_clauses(rule), "## An example\n", *_example(rule)]
    return "\n".join(lines)


def _clauses(rule: Rule) -> Iterator[str]:
    labels = dict.fromkeys(label for found in rule.provisions.values() for label in found if label in PROVISIONS)
    if not labels and rule.reason is None and rule.name in examples():
        yield "It cites the clause of the bet. In the example:\n"
        cited = examples()[rule.name].finding.provisions
        labels = dict.fromkeys(label for label in cited if label in PROVISIONS)
    for label in labels:
        yield f"**{label}**\n"
        yield from (f"> {' '.join(quote.split())}\n" for quote in PROVISIONS[label].quotes)
    if not labels:
        yield f"{rule.reason.en if rule.reason else 'It rests on no clause.'}\n"


def _example(rule: Rule) -> Iterator[str]:
    example = examples().get(rule.name)
    if example is None:
        if rule.raised_by == "record":
            yield "No single stream shows it: the record raises it.\n"
        else:
            yield "No stream of a sound engine shows it.\n"
        return
    finding = example.finding
    if drawn := drawing(example, finding.seq):
        yield f'<figure class="felt-figure">{drawn}<figcaption>After event {finding.seq}</figcaption></figure>\n'
    elif drawn := drawing(example, finding.seq - 1):  # a correction changes what was before it
        yield f'<figure class="felt-figure">{drawn}<figcaption>Before event {finding.seq}</figcaption></figure>\n'
    yield "| event | type | data |\n|---|---|---|"
    for event in [each for each in example.events if each["seq"] <= finding.seq][-LAST_EVENTS:]:
        mark = " ◄" if event["seq"] == finding.seq else ""
        yield f"| {event['seq']}{mark} | `{event['type']}` | {_data(event)} |"
    yield f"\nThe officer reads: {finding.message('en')}\n"
    yield f"*En français : {finding.message('fr')}*\n"


def _data(event: dict[str, Any]) -> str:
    shown = "casino, its table and the rules" if event["type"] == "session.opened" else ""
    values = json.dumps(event.get("data", {}), ensure_ascii=False).strip("{}").replace('"', "").replace("|", "\\|")
    return shown or values


def drawing(example: Example, last: int) -> str:
    """Return the felt just after event ``last`` as SVG, "" where the rules have no layout or that event reads others
    anew. Of two contents of one number the first counts."""
    events = {each["seq"]: each for each in reversed(example.events) if each["seq"] <= last}
    try:
        playback = playback_of_events(
            settlement.State(), [settlement.decode(json.dumps(events[seq])) for seq in sorted(events)]
        )
    except NeedsReplay:
        return ""
    disputed = {example.finding.wager} if example.finding.wager else set()
    svg = draw(playback, len(playback.frames) - 1, language="en", disputed=disputed)
    return re.sub(r"\s*\n\s*", " ", svg)
