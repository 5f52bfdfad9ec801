"""The examples on the page of a rule: the smallest table that breaks it, and near ones in which it is silent.

    make rule-examples ─► examples.jsonl: one line a rule, what fires first ─► four events each, as sentences

The engine has judged every one of them when the file was made, and a test asks it again. Nothing here comes from the
record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.desk.icons import icon
from audit.desk.rules.captions import caption
from audit.desk.tables.event_sentences import sentence
from audit.presentation import finding_title, language
from settlement import RULESETS, Finding, adjudicate, decode
from settlement.catalogue.sentences import amount_in_prose, exponent
from settlement.events import Event

FILE = Path(__file__).with_name("examples.jsonl")

Kind = Literal["fires", "saved", "instead", "before", "without"]
Part = Literal["", "decides", "completes", "saves", "changed", "removed"]

TITLES: Mapping[Kind, str | Promise] = {
    "fires": _("It fires"),
    "saved": _("One event more"),
    "instead": _("Another in its place"),
    "before": _("The other way round"),
    "without": _("One event fewer"),
}
"""What an example is called that ``captions`` has no words for."""

REASONS: Mapping[Kind, str | Promise] = {
    "saved": _("what is ringed in green happened, too"),
    "instead": _("what is ringed in green is different"),
    "before": _("what is ringed in green has changed places"),
    "without": _("what is struck out did not happen"),
}

ICONS: Mapping[str, str] = {
    "payout.made": "done",
    "payout.recovered": "cash_out",
    "stakes.collected": "exports",
    "spin.voided": "close",
    "throw.voided": "close",
    "entry.annulled": "close",
    "wheel.spun": "clock",
    "ball.launched": "clock",
    "no_more_bets": "silent",
    "session.opened": "tables",
    "session.closed": "tables",
    "player.seated": "player",
    "player.left": "player",
    "staff.assigned": "people",
    "staff.relieved": "people",
    "bank.filled": "bank",
    "bank.credited": "bank",
    "buy_in.recorded": "bank",
}
"""What stands in the ring of an event that shows no result."""


_Event: TypeAlias = tuple[str, str, dict[str, Any]]
"""The clock of an event, its type and its data."""


class _Example(msgspec.Struct):
    kind: Kind
    others: list[str]
    shown: dict[str, Part]
    events: list[_Event]


class Examples(msgspec.Struct):
    """A line of the file: the examples of a rule, and what the house register says in them."""

    rule: str
    examples: list[_Example]
    readings: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One event as it is drawn: its clock, what stands in its ring, and its sentence."""

    clock: str
    mark: SafeString | str
    pocket: str
    text: str
    part: Part


@dataclass(frozen=True, slots=True)
class Shown:
    """One example as it is drawn. ``others`` are the titles of other rules that it breaks."""

    title: str
    reason: str
    fires: bool
    others: Sequence[str]
    steps: Sequence[Step]


@cache
def _lines() -> Mapping[str, bytes]:
    """Return the lines of the file by rule."""
    lines = FILE.read_bytes().splitlines()
    return {msgspec.json.decode(line, type=_Named).rule: line for line in lines}


class _Named(msgspec.Struct):
    rule: str


def examples_of(rule: str) -> Examples | None:
    """Return the examples of a rule; None of one that no stream alone can break."""
    line = _lines().get(rule)
    return msgspec.json.decode(line, type=Examples) if line is not None else None


def envelopes(example: _Example) -> list[dict[str, Any]]:
    """Return the events of an example as a table system sends them, without the one that is struck out."""
    kept = [each for index, each in enumerate(example.events) if example.shown.get(str(index)) != "removed"]
    return [
        {"stream": "s", "seq": seq, "type": kind, "occurred_at": at, "data": data}
        for seq, (at, kind, data) in enumerate(kept, start=1)
    ]


@cache
def _finding_in_example(rule: str) -> Finding | None:
    """Return what the engine finds by a rule in its first example; None of a rule without one."""
    found = examples_of(rule)
    if found is None:
        return None
    raw = [msgspec.json.encode(each) for each in envelopes(found.examples[0])]
    findings = adjudicate(raw, readings=found.readings).findings
    return next((each for each in findings if each.rule == rule), None)


def cited_in_example(rule: str) -> tuple[str, ...]:
    """Return the labels of the clauses that the finding of a rule's first example cites."""
    finding = _finding_in_example(rule)
    return tuple(finding.provisions) if finding is not None else ()


def shown_of(rule: str) -> list[Shown]:
    """Return the examples of a rule in the language of the page."""
    found = examples_of(rule)
    return [_shown(rule, each, found.examples[0]) for each in found.examples] if found is not None else []


def _shown(rule: str, example: _Example, first: _Example) -> Shown:
    currency = str(example.events[0][2].get("currency", "EUR"))
    others = [finding_title(other) for other in example.others]
    return Shown(
        _title(example, first, currency),
        _reason(rule, example, others),
        example.kind == "fires",
        others,
        [_step(example, int(index), part, currency) for index, part in example.shown.items()],
    )


def _title(example: _Example, first: _Example, currency: str) -> str:
    """Return what an example is called: what makes the difference to the first one, which fires."""
    changed = [int(number) for number, part in example.shown.items() if part in ("saves", "changed", "removed")]
    if not changed or example.kind == "fires":
        return str(TITLES[example.kind])
    first_changed, last_changed = changed[0], changed[-1]
    event, second = example.events[first_changed], example.events[last_changed]
    field, value, before = "", None, None
    if example.kind == "saved":
        field, value = "type", event[2]
    if example.kind == "instead":
        field, value, before = _difference(event, first.events[first_changed])
    title = caption(example.kind, event[1], field, value, before=before, second=second[1], currency=currency)
    return title or str(TITLES[example.kind])


def _difference(event: _Event, before: _Event) -> tuple[str, Any, Any]:
    """Return the field in which an event is otherwise, what it holds, and what it held ``before``, for ``caption``."""
    (at, kind, data), (at_before, kind_before, data_before) = event, before
    if kind != kind_before:
        return "type", data, data_before
    if at != at_before:
        return "occurred_at", at, at_before
    field = next(name for name in {**data_before, **data} if data_before.get(name) != data.get(name))
    return field, data.get(field), data_before.get(field)


def _reason(rule: str, example: _Example, others: Sequence[str]) -> str:
    """Return what the engine finds in the example that fires, and of the others which rule speaks in its place."""
    if example.kind == "fires":
        finding = _finding_in_example(rule)
        return finding.message(language(), amount_in_prose) if finding is not None else ""
    if others:
        return gettext("another rule speaks: %(rules)s") % {"rules": ", ".join(others)}
    return str(REASONS[example.kind])


def _step(example: _Example, index: int, part: Part, currency: str) -> Step:
    at, kind, data = example.events[index]
    event = decode(
        msgspec.json.encode({"stream": "s", "seq": index + 1, "type": kind, "occurred_at": at, "data": data})
    )
    ruleset = example.events[0][2].get("ruleset")
    return Step(
        at[11:19], _mark(event, currency), _pocket(event, ruleset), sentence(event, language(), currency, ruleset), part
    )


def _mark(event: Event, currency: str) -> SafeString | str:
    data: Any = event.data
    match event.type:
        case "wager.placed":
            return f"{data.stake // 10 ** exponent(currency)}"
        case "ball.settled":
            return str(data.pocket)
        case "dice.thrown":
            return "·".join(map(str, data.faces))
        case "point.marked":
            return str(data.number)
        case _ if event.is_result and event.shows and event.ruleset:
            return str(getattr(data, event.shows))
        case other:
            return icon(ICONS[other], is_small=True) if other in ICONS else "•"


def _pocket(event: Event, ruleset: str | None) -> str:
    """Return how the result is coloured: r, n or z of a pocket, "" of everything else."""
    known = RULESETS.get(ruleset or "")
    if known is None or known.layout is None or not event.is_result or event.shows is None:
        return ""
    return known.layout.colour_of(str(getattr(event.data, event.shows)))
