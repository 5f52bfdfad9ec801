"""``make rule-examples``: for each rule the smallest table that breaks it, and near ones that do not.

    tapes of the tests ─► every stream that raises a rule ─► events left out while it still does ─► it fires
                     └──► one event more, another in its place, one less, two the other way round ─► silent, other rule

Each example is adjudicated by the engine, never described by hand: what fires and what is silent is its answer. The
file is read by the page of a rule; a test holds every line of it against the engine, and the file against the tapes.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import settlement  # noqa: E402
from settlement import RULESETS  # noqa: E402
from settlement.catalogue import RULES  # noqa: E402
from tests.settlement.tapes import read  # noqa: E402  # of this project, which is no package that is installed

TAPES = ROOT / "tests" / "settlement"
OTHERS = ROOT / "docs" / "rule-examples.jsonl"
"""A stream for each rule that no tape raises."""

OUT = ROOT / "audit" / "desk" / "rules" / "examples.jsonl"

NEAR = 4
"""Examples beside the one that fires."""

LONGEST = 40
"""Events of a stream that is looked through."""

SHOWN = 4
"""Events of an example that are drawn."""

REFERENCES = ("corrects", "annuls", "voids", "opened")
"""Fields that name another event by its number."""

ROLES = ("stickman", "croupier", "chef_de_table", "chef_de_partie")

KEPT = ("wager", "bet", "stake", "pocket", "faces", "winnings", "stake_returned", "ruleset", "currency")
"""Fields without which an event is none, or another."""

OBSERVED = ("custody", "staff", "calls")
"""Families that a table may report besides."""

BETS = ("plein", "cheval", "transversale", "carre", "win", "field")

ADDED: Mapping[str, Mapping[str, Any]] = {
    "wager.placed": {"marker": "wrong_bet", "working": True, "commission": 50, "number": 6, "seat": "S1"},
    "throw.voided": {"flags": ["slid"]},
    "dice.thrown": {"flags": ["slid"]},
    "dice.set_introduced": {"cause": "broken"},
}
"""Fields that an event may have too."""

Stream = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """What the engine says of a stream: rules, and of one rule the first finding."""

    rules: frozenset[str]
    seqs: Mapping[str, tuple[int, tuple[int, ...], Any, Any]]


@dataclass(frozen=True, slots=True)
class Near:
    """A stream in which a rule is silent: what is otherwise than where it fires, and at which event."""

    kind: str
    stream: Stream
    at: int
    others: frozenset[str]
    removed: dict[str, Any] | None = None

    @property
    def cost(self) -> tuple[int, int]:
        return len(self.others), len(self.stream)


def adjudicated(stream: Stream, readings: Mapping[str, Any] | None = None) -> Found:
    """Return what the engine says of a stream."""
    findings = settlement.adjudicate(map(json.dumps, stream), readings=readings).findings
    seqs: dict[str, tuple[int, tuple[int, ...], Any, Any]] = {}
    for each in findings:
        seqs.setdefault(each.rule, (each.seq, tuple(each.evidence), each.expected, each.recorded))
    return Found(frozenset(seqs), seqs)


def tapes() -> tuple[str, ...]:
    """Return every tape of the tests of the law, in the order of their files."""
    found = []
    for path in sorted(TAPES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                lines = [line for line in node.value.strip().splitlines() if line.strip()]
                if len(lines) > 1 and lines[0].split()[0] in RULESETS:
                    found.append(node.value)
    return tuple(found)


@cache
def streams() -> tuple[Stream, ...]:
    """Return the streams of the tapes whose numbers follow each other; a tape with places to fill in is none."""
    found = []
    for tape in tapes():
        try:
            stream = [json.loads(line.raw) for line in read(tape)]
            adjudicated(stream)
        except (ValueError, KeyError, IndexError):
            continue
        if len(stream) <= LONGEST and is_whole(stream):
            found.append(stream)
    return tuple(found)


def is_whole(stream: Stream) -> bool:
    """Whether the numbers of a stream follow each other."""
    return [each["seq"] for each in stream] == list(range(1, len(stream) + 1))


def without(stream: Stream, index: int) -> Stream | None:
    """Return a stream without one event, numbered anew; None if another names that event."""
    gone, rest = stream[index]["seq"], deepcopy([*stream[:index], *stream[index + 1 :]])
    for each in rest:
        each["seq"] -= each["seq"] > gone
        for name in REFERENCES:
            if isinstance(each["data"].get(name), int):
                if each["data"][name] == gone:
                    return None
                each["data"][name] -= each["data"][name] > gone
    return rest


def smallest(stream: Stream, holds: Callable[[Stream], bool], kept: Sequence[int] = ()) -> Stream:
    """Leave out events, the last first, while ``holds``; those that are ``kept``, by index, stay."""
    marked = [(index, each) for index, each in enumerate(stream)]
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for place in range(len(marked) - 1, 0, -1):
            if marked[place][0] in kept:
                continue
            shorter = without([each for _index, each in marked], place)
            if shorter is not None and holds(shorter):
                indexes = [index for index, _each in [*marked[:place], *marked[place + 1 :]]]
                marked = list(zip(indexes, shorter, strict=True))
                is_smaller = True
    return [each for _index, each in marked]


def firing() -> dict[str, tuple[Stream, Mapping[str, Any] | None]]:
    """Return for each rule the smallest stream that breaks it, with the fewest other findings."""
    best: dict[str, tuple[tuple[int, int], Stream, Mapping[str, Any] | None]] = {}
    for stream in streams():
        for rule in sorted(adjudicated(stream).rules):
            shorter = _smallest_firing(stream, rule)
            cost = len(adjudicated(shorter).rules), len(shorter)
            if rule not in best or cost < best[rule][0]:
                best[rule] = cost, shorter, None
    for line in OTHERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if is_whole(row["events"]):
            best.setdefault(row["rule"], ((0, 0), row["events"], row.get("readings")))
    return {rule: (stream, readings) for rule, (_cost, stream, readings) in sorted(best.items()) if rule in RULES}


def _smallest_firing(stream: Stream, rule: str) -> Stream:
    before = adjudicated(stream).rules

    def holds(shorter: Stream) -> bool:
        rules = adjudicated(shorter).rules
        return rule in rules and rules <= before

    return smallest(stream, holds)


@cache
def saved() -> dict[str, list[Near]]:
    """Return for each rule the streams in which one event alone keeps it silent."""
    found: dict[str, list[Near]] = {}
    for stream in streams():
        before = adjudicated(stream).rules
        for index in range(1, len(stream)):
            shorter = without(stream, index)
            if shorter is None:
                continue
            for rule in sorted(adjudicated(shorter).rules - before):
                found.setdefault(rule, []).append(_saved(stream, index, rule, before))
    return {rule: sorted(each, key=lambda near: near.cost) for rule, each in found.items()}


def _saved(stream: Stream, index: int, rule: str, before: frozenset[str]) -> Near:
    mark = stream[index]["occurred_at"], stream[index]["type"], json.dumps(stream[index]["data"])

    def place(shorter: Stream) -> int:
        return next(
            (number for number, each in enumerate(shorter) if (each["occurred_at"], each["type"]) == mark[:2]),
            0,
        )

    def holds(shorter: Stream) -> bool:
        at = place(shorter)
        rest = without(shorter, at) if at else None
        if rest is None or rule not in adjudicated(rest).rules:
            return False
        rules = adjudicated(shorter).rules
        return rule not in rules and rules <= before

    shorter = smallest(stream, holds, (index,))
    return Near("saved", shorter, place(shorter), adjudicated(shorter).rules)


def otherwise(stream: Stream, rule: str, readings: Mapping[str, Any] | None) -> Iterator[Near]:
    """Yield the streams that differ by one event from one that fires, and do not."""
    found = adjudicated(stream, readings)
    for index in range(len(stream)):
        for data in _other_data(stream, index, found.seqs[rule]):
            changed = deepcopy(stream)
            changed[index]["data"] = data
            yield from _silent("instead", changed, index, rule, found, readings)
        if index and index + 1 < len(stream):
            swapped = deepcopy(stream)
            for name in ("type", "data"):
                swapped[index][name], swapped[index + 1][name] = swapped[index + 1][name], swapped[index][name]
            yield from _silent("before", swapped, index, rule, found, readings)
        shorter = without(stream, index) if index else None
        if shorter is not None:
            yield from _silent("without", shorter, index, rule, found, readings, removed=stream[index])


def _silent(
    kind: str,
    stream: Stream,
    at: int,
    rule: str,
    found: Found,
    readings: Mapping[str, Any] | None,
    removed: dict[str, Any] | None = None,
) -> Iterator[Near]:
    try:
        rules = adjudicated(stream, readings).rules
    except ValueError:  # it is no event any more
        return
    if rule not in rules:
        yield Near(kind, stream, at, rules - found.rules, removed)


def _other_data(stream: Stream, index: int, finding: tuple[int, tuple[int, ...], Any, Any]) -> Iterator[dict[str, Any]]:
    """Yield what else the data of an event could be: what was expected, another role, the other way, another value."""
    data, (_seq, _evidence, expected, recorded) = stream[index]["data"], finding
    for name, value in data.items():
        if expected is not None and value == recorded and type(expected) is type(value):
            yield {**data, name: expected}
        for other in _other_values(stream, name, value):
            if other != value:
                yield {**data, name: other}
        if name not in KEPT and index:
            yield {each: data[each] for each in data if each != name}
    for name, value in ADDED.get(stream[index]["type"], {}).items():
        yield {**data, name: value}


def _other_values(stream: Stream, name: str, value: Any) -> Iterator[Any]:
    """Yield what else a field of an event could hold: the other way, another role, what others of the stream hold."""
    match name, value:
        case _, bool():
            yield not value
        case (("by" | "decided_by" | "announced_by" | "marker_from" | "role"), _):
            yield from ROLES
        case "flags", _:
            yield []
            yield ["slid"]
        case "direction", _:
            yield "clockwise" if value == "counterclockwise" else "counterclockwise"
        case "medium", _:
            yield "chips"
        case "params", dict():
            yield {}
        case "gaming_day", _:
            yield "2010-11-19"
        case (("ruleset" | "casino" | "table" | "currency"), _):
            return
        case (("observes" | "bet" | "game" | "pocket" | "numbers" | "staff"), _) | ("value", None):
            yield from _others_known(name, value)
        case "faces", _:
            yield from ([3, 4], [2, 3], [1, 1])
        case "number", _:
            yield from (4, 5, 6, 8, 9, 10)
        case _:
            held = (each["data"].get(name) for each in stream)
            yield from (each for each in held if type(each) is type(value))
            if name in ("dice", "boxed") and isinstance(value, list):
                yield from ([*value, each] for each in "abcdef" if each not in value)
                lists = (each["data"].get(other) for each in stream for other in ("dice", "boxed"))
                yield from (each for each in lists if each)
            if name == "stake" and isinstance(value, int):
                yield from (value // 2, value * 2, value // 5 * 6)


def examples() -> Iterator[dict[str, Any]]:
    """Yield a row for each rule that a stream can break: its examples, the one that fires first."""
    for rule, (stream, readings) in firing().items():
        found = adjudicated(stream, readings)
        seq, evidence, _expected, _recorded = found.seqs[rule]
        roles = {number - 1: "decides" for number in evidence} | {seq - 1: "completes"}
        rows = [_row("fires", stream, roles, found.rules - {rule})]
        rows += [_near_row(each, seq) for each in _chosen(stream, rule, readings, seq)]
        yield {"rule": rule, **({"readings": readings} if readings else {}), "examples": rows}


def _chosen(stream: Stream, rule: str, readings: Mapping[str, Any] | None, seq: int) -> list[Near]:
    """Return what is shown beside the stream that fires: what says most about the rule first, one of each event."""
    near = [*otherwise(stream, rule, readings)]
    groups = [
        [each for each in near if each.kind == "instead" and not each.others],
        [each for each in saved().get(rule, []) if not each.others],
        [each for each in near if each.kind == "before" and not each.others],
        [each for each in near if each.kind != "without" and each.others],
        [each for each in near if each.kind == "without" and each.others],
        [each for each in near if each.kind == "without" and not each.others and each.at != seq - 1],
    ]
    chosen: list[Near] = []
    seen: set[Any] = set()
    for group, most in zip(groups, (2, 2, 1, 1, 1, 2), strict=True):
        taken = 0
        for each in group:
            mark = (each.kind, each.stream[each.at]["type"]) if each.kind == "saved" else (each.kind, each.at)
            if taken < most and len(chosen) < NEAR and mark not in seen:
                seen.add(mark)
                chosen.append(each)
                taken += 1
    return chosen


def _near_row(near: Near, seq: int) -> dict[str, Any]:
    stream, roles = near.stream, {near.at: {"saved": "saves", "instead": "changed", "before": "changed"}.get(near.kind)}
    if near.removed is not None:
        stream = [*stream[: near.at], {**near.removed, "seq": 0}, *stream[near.at :]]
        roles = {near.at: "removed"}
    if near.kind == "before":
        roles[near.at + 1] = "changed"
    return _row(near.kind, stream, roles, near.others)


def _others_known(name: str, value: Any) -> Iterator[Any]:
    """Yield values of a field that the games know, whatever else is in the stream."""
    match name, value:
        case "observes", list():
            yield [*value, *(each for each in OBSERVED if each not in value)]
            yield []
        case "bet", _:
            yield from BETS
        case "game", _:
            yield from ("craps", "french_roulette", "american_roulette")
        case "pocket", _:
            yield from ("17", "0")
        case "numbers", [str(first), *_] if first.isdigit():
            yield [first, str(int(first) + 1)]
            yield [first]
        case "staff", list():
            yield [*value, {"person": "p9", "role": "stickman"}]
            yield [{"person": f"p{place}", "role": role} for place, role in enumerate(ROLES)]
            yield value[:-1]
        case "value", None:
            yield 100


def _row(kind: str, stream: Stream, roles: Mapping[int, Any], others: frozenset[str]) -> dict[str, Any]:
    """Return an example: its events, each with its clock, which of them are drawn, and the other rules that speak."""
    wanted = sorted(roles, key=lambda index: (roles[index] != "completes", -index))[:SHOWN]
    rest = [index for index in range(len(stream) - 1, 0, -1) if index not in wanted] + [0] * (0 not in wanted)
    shown = sorted([*wanted, *rest[: max(0, min(SHOWN, len(stream) - 1) - len(wanted))]])
    return {
        "kind": kind,
        "others": sorted(others),
        "shown": {str(index): roles.get(index, "") for index in shown},
        "events": [[each["occurred_at"], each["type"], each["data"]] for each in stream],
    }


def main() -> int:
    OUT.write_text(text(), encoding="utf-8")
    print(f"{sum(1 for _line in OUT.open())} rules in {OUT.relative_to(ROOT)}")
    return 0


def text() -> str:
    """Return the file."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in examples())


if __name__ == "__main__":
    sys.exit(main())
