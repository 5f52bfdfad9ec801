"""``make rule-examples``: for each rule the smallest table that breaks it, and near ones that do not.

    tapes of the tests ─► every stream that raises a rule ─► events left out while it still does ─► it fires
                     └──► one event more, another in its place, one less, two the other way round ─► silent, other rule
    docs/rule-examples.jsonl ─► what no tape raises, and near streams by hand

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
from datetime import date, datetime, timedelta
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
"""A stream for each rule that no tape raises, or none that says much.

``near``, where a line has it, are streams beside it that no change of one field makes, each as what is otherwise:

    {"instead": 3, "event": {…}}   another event in the place of event 3; its clock is kept unless it has one
    {"saved": 3, "event": {…}}     one event more, which becomes event 3
    {"without": 3}                 event 3 did not happen

The engine judges them as it does the others: one in which the rule is not silent is an error. A line that has ``near``
is taken whatever the tapes have.
"""

OUT = ROOT / "audit" / "desk" / "rules" / "examples.jsonl"

NEAR = 4
"""Examples beside the one that fires, at most."""

FEWEST = 2
"""Examples beside the one that fires, where there are as many; several of one event then."""

UNJUDGED = "unknown-ruleset"
"""The rule of a session of which nothing is judged: that any other is silent in it says nothing."""

LONGEST = 40
"""Events of a stream that is looked through."""

SHOWN = 4
"""Events of an example that are drawn."""

REFERENCES = ("corrects", "annuls", "voids", "opened")
"""Fields that name another event by its number."""

ROLES = ("stickman", "croupier", "chef_de_table", "chef_de_partie")

KEPT = (
    *("wager", "bet", "stake", "pocket", "faces", "winnings", "stake_returned", "ruleset", "currency"),
    *("flags", "medium"),  # without them an event says what it does with one of their values
)
"""Fields without which an event is none, or another."""

OBSERVED = ("custody", "staff", "calls")
"""Families that a table may report besides."""

ADDED: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "wager.placed": {
        "marker": ("wrong_bet", "buy", "lay"),
        "working": (True,),
        "commission": (50,),
        "number": (6,),
        "seat": ("S1",),
    },
    "throw.voided": {"flags": (["slid"], ["off_table"])},
    "dice.thrown": {"flags": (["slid"],)},
    "dice.set_introduced": {"cause": ("broken",)},
}
"""Fields that an event may have too."""

PARAMS: Mapping[str, Any] = {
    "call_tolerance_ms": 1000,
    "payout_unit": 100,
    "seat_limit": 7,
    "throw_delay_s": 10,
    "zero_rule": "choice",
}
"""Of each reading that a session may set a lawful value: the greatest, where there is one."""

FREE = "w99"
"""A wager that no stream has."""

SECOND = timedelta(seconds=1)

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
    field: str = ""
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
    for row in _others():
        found = (0, 0), row["events"], row.get("readings")
        if "near" in row:
            best[row["rule"]] = found
        else:
            best.setdefault(row["rule"], found)
    return {rule: (stream, readings) for rule, (_cost, stream, readings) in sorted(best.items()) if rule in RULES}


@cache
def _others() -> tuple[dict[str, Any], ...]:
    rows = (json.loads(line) for line in OTHERS.read_text(encoding="utf-8").splitlines())
    return tuple(row for row in rows if is_whole(row["events"]))


def by_hand(rule: str, found: Found, readings: Mapping[str, Any] | None) -> Iterator[Near]:
    """Yield the near streams that ``OTHERS`` has for a rule. Raise ``ValueError`` for one in which it is not silent."""
    for row in _others():
        for change in row.get("near", ()) if row["rule"] == rule else ():
            kind = next(each for each in ("instead", "saved", "without") if each in change)
            near = [*_silent(kind, *_changed(row["events"], kind, change), rule, found, readings)]
            if not near:
                raise ValueError(f"{OTHERS.name}: {rule} is not silent in {change}")
            yield from near


def _changed(stream: Stream, kind: str, change: Mapping[str, Any]) -> tuple[Stream, int, str, dict[str, Any] | None]:
    """Return a stream with a change of ``OTHERS``, its index, the field, and the event that is gone if one is."""
    index = change[kind] - 1
    if kind == "without":
        shorter = without(stream, index)
        assert shorter is not None, change
        return shorter, index, "", stream[index]
    longer = deepcopy(stream)
    if kind == "saved":
        for each in longer[index:]:
            each["seq"] += 1
            named = {name: seq for name, seq in each["data"].items() if name in REFERENCES and isinstance(seq, int)}
            each["data"] |= {name: seq + (seq > index) for name, seq in named.items()}
        longer.insert(index, {"stream": "s", "seq": index + 1, **change["event"]})
    else:
        longer[index] |= change["event"]
    return longer, index, _field(stream[index], longer[index]) if kind == "instead" else "", None


def _field(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the first field in which two events differ."""
    own = next((name for name in ("type", "occurred_at") if before[name] != after[name]), "")
    values = {**before["data"], **after["data"]}
    return own or next(name for name in values if before["data"].get(name) != after["data"].get(name))


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
        for name, data in _other_data(stream, index, rule, found.seqs[rule]):
            changed = deepcopy(stream)
            changed[index]["data"] = data
            yield from _silent("instead", changed, index, name, None, rule, found, readings)
        for clock in _other_clocks(stream, index):
            changed = deepcopy(stream)
            changed[index]["occurred_at"] = clock
            yield from _silent("instead", changed, index, "occurred_at", None, rule, found, readings)
        if index and index + 1 < len(stream):
            swapped = deepcopy(stream)
            for name in ("type", "data"):
                swapped[index][name], swapped[index + 1][name] = swapped[index + 1][name], swapped[index][name]
            yield from _silent("before", swapped, index, "", None, rule, found, readings)
        shorter = without(stream, index) if index else None
        if shorter is not None:
            yield from _silent("without", shorter, index, "", stream[index], rule, found, readings)


def _silent(
    kind: str,
    stream: Stream,
    at: int,
    field: str,
    removed: dict[str, Any] | None,
    rule: str,
    found: Found,
    readings: Mapping[str, Any] | None,
) -> Iterator[Near]:
    try:
        rules = adjudicated(stream, readings).rules
    except ValueError:  # it is no event any more
        return
    if rule not in rules and UNJUDGED not in rules:
        yield Near(kind, stream, at, rules - found.rules, field, removed)


def _other_clocks(stream: Stream, index: int) -> Iterator[str]:
    """Yield when else an event could have been: a second before and after it, and after the event before it."""
    if not index:
        return
    clock, before = (datetime.fromisoformat(stream[each]["occurred_at"]) for each in (index, index - 1))
    for other in (clock - SECOND, clock + SECOND, before + SECOND, before - SECOND):
        if other != clock:
            yield other.isoformat(timespec="milliseconds")


def _other_data(
    stream: Stream, index: int, rule: str, finding: tuple[int, tuple[int, ...], Any, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a field and what else the data of an event could be: first what was expected, then what else it may be."""
    data, (_seq, _evidence, expected, recorded) = stream[index]["data"], finding
    added, is_wager = ADDED.get(stream[index]["type"], {}), stream[index]["type"] == "wager.placed"
    placed = (each for each in stream if each["type"] == "wager.placed")
    for name, value in data.items():
        if expected is not None and value == recorded and type(expected) is type(value):
            yield name, {**data, name: expected}
    if is_wager and isinstance(expected, int) and "commission" not in data:
        yield "commission", {**data, "commission": expected}
    for name, value in data.items():
        for other in _other_values(stream, name, value):
            if other != value:
                yield name, {**data, name: other}
        if name not in KEPT and index:
            yield name, {each: data[each] for each in data if each != name}
    for name, values in added.items():
        yield from ((name, {**data, name: value}) for value in values)
    if is_wager and sum(each["data"].get("wager") == data["wager"] for each in placed) > 1:
        yield "wager", {**data, "wager": FREE}
    if rule == UNJUDGED and "ruleset" in data:
        yield from (("ruleset", {**data, "ruleset": name}) for name in RULESETS)


def _other_values(stream: Stream, name: str, value: Any) -> Iterator[Any]:
    """Yield what else a field of an event could hold: the other way, another role, what others of the stream hold."""
    match name, value:
        case _, bool():
            yield not value
        case (("by" | "decided_by" | "announced_by" | "marker_from" | "role"), _):
            yield from ROLES
        case "flags", _:
            yield from ([], ["slid"], ["rubbed_or_held"])
        case "direction", _:
            yield "clockwise" if value == "counterclockwise" else "counterclockwise"
        case "medium", _:
            yield from ("chips", "plaques")
        case "params", dict():
            yield from ({**value, param: PARAMS[param]} for param in value if param in PARAMS)
            yield {}
        case "gaming_day", _:
            yield from _days(stream)
        case (("ruleset" | "casino" | "table" | "currency"), _):
            return
        case "bet", _:
            yield from RULESETS[stream[0]["data"]["ruleset"]].kinds
        case (("observes" | "game" | "pocket" | "faces" | "number" | "numbers" | "staff"), _) | ("value", None):
            yield from _others_known(name, value)
        case _ if name in REFERENCES:
            yield from (value + 1, value - 1)
        case _:
            held = (each["data"].get(name) for each in stream)
            yield from (each for each in held if type(each) is type(value))
            if name in ("dice", "boxed") and isinstance(value, list):
                yield from ([*value, each] for each in "abcdef" if each not in value)
                lists = (each["data"].get(other) for each in stream for other in ("dice", "boxed"))
                yield from (each for each in lists if each)
            if name == "stake" and isinstance(value, int):
                yield from (value // 2, value * 2, value // 5 * 6)


def _days(stream: Stream) -> Iterator[str]:
    """Yield gaming days: the last and the first on which the ruleset of a stream was in force, as far as is known."""
    instrument = RULESETS[stream[0]["data"]["ruleset"]].instrument
    if instrument.in_force_until is not None:
        yield (instrument.in_force_until - timedelta(days=1)).isoformat()
    if instrument.in_force_from is not None:
        yield instrument.in_force_from.isoformat()
    yield date(2010, 11, 19).isoformat()


def examples() -> Iterator[dict[str, Any]]:
    """Yield a row for each rule that a stream can break: its examples, the one that fires first."""
    for rule, (stream, readings) in firing().items():
        found = adjudicated(stream, readings)
        seq, evidence, _expected, _recorded = found.seqs[rule]
        roles = {number - 1: "decides" for number in evidence} | {seq - 1: "completes"}
        rows = [_row("fires", stream, roles, found.rules - {rule})]
        rows += [_near_row(each, seq) for each in _chosen(stream, rule, readings, found)]
        yield {"rule": rule, **({"readings": readings} if readings else {}), "examples": rows}


def _chosen(stream: Stream, rule: str, readings: Mapping[str, Any] | None, found: Found) -> list[Near]:
    """Return what is shown beside the stream that fires: what says most about the rule first, one of each event.

    Where that makes too few, there are several of one event: of its fields first, then of their values.
    """
    seq, evidence, _expected, _recorded = found.seqs[rule]
    near = sorted(otherwise(stream, rule, readings), key=lambda each: _remoteness(each, seq, evidence))
    groups = [
        [each for each in near if each.kind == "instead" and not each.others],
        [each for each in saved().get(rule, []) if not each.others],
        [each for each in near if each.kind == "before" and not each.others],
        [each for each in near if each.kind != "without" and each.others],
        [each for each in near if each.kind == "without" and each.others],
        [each for each in near if each.kind == "without" and not each.others and each.at != seq - 1],
    ]
    chosen = [*by_hand(rule, found, readings)]
    seen = {_mark(each) for each in chosen}
    for group, most in zip(groups, (2, 2, 1, 1, 1, 2), strict=True):
        taken = 0
        for each in group:
            is_new = _mark(each) not in seen and all(_is_another(each, other) for other in chosen)
            if taken < most and len(chosen) < NEAR and is_new:
                seen.add(_mark(each))
                chosen.append(each)
                taken += 1
    for is_other in (_is_of_another_field, _is_another):
        for each in (each for group in groups for each in group):
            is_new = all(_is_another(each, other) and is_other(each, other) for other in chosen)
            if len(chosen) < FEWEST and is_new:
                chosen.append(each)
    return chosen


def _mark(near: Near) -> tuple[str, Any]:
    """Return that of which one example is enough: the event that is otherwise, or the type of the one that saves."""
    return near.kind, near.stream[near.at]["type"] if near.kind == "saved" else near.at


def _remoteness(near: Near, seq: int, evidence: Sequence[int]) -> tuple[int, bool, int]:
    """Return how far what is otherwise lies from what the rule finds: at the event that completes it first.

    Of one event another bet comes last, for it seldom is a bet without its own fields; so does a table that reports
    nothing, of all.
    """
    where = 0 if near.at == seq - 1 else 1 if near.at + 1 in evidence else 2
    return 3 if near.field == "observes" else where, near.field == "bet", len(near.others)


def _is_of_another_field(near: Near, other: Near) -> bool:
    return (near.kind, near.at, near.field) != (other.kind, other.at, other.field)


def _is_another(near: Near, other: Near) -> bool:
    return near.stream != other.stream


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
        case "game", _:
            yield from ("craps", "french_roulette", "american_roulette")
        case "pocket", _:
            yield from ("17", "0")
        case "faces", _:
            yield from ([3, 4], [2, 3], [1, 1])
        case "number", _:
            yield from (4, 5, 6, 8, 9, 10)
        case "numbers", [str(first), *_] if first.isdigit():
            yield [first, str(int(first) + 1)]
            yield [first]
        case "staff", list():
            yield value[:-1]
            yield from ([*value, {"person": "p9", "role": role}] for role in ("employe", "stickman"))
            yield [{"person": f"p{place}", "role": role} for place, role in enumerate(ROLES)]
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
