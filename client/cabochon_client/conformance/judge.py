"""The judgement of a session: what the record has, held against what the script says.

Nothing is judged by what was sent. Where the record cannot show something, as that a request came twice, the check says
what it looked at instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cabochon_client.conformance.read_back import Recorded
from cabochon_client.conformance.scripts import ALWAYS_SEEN, FAMILIES, Game, Script, Step, steps_of

OFFLINE = timedelta(hours=2)
"""How long the line is down in the script of that name."""

OWN = Script("own", "A session of your own", "Played by the rules, so that nothing is found.")
"""The script of a session that no script describes: what is true of every session is looked at."""

_FAMILY_OF = {type: family for family, types in FAMILIES.items() for type in types}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: whether it is well, what was found, and what to do if it is not."""

    is_ok: bool
    what: str
    to_do: str = ""


@dataclass(frozen=True)
class Family:
    """What came of a family of events, and what the record makes of it."""

    name: str
    types: Mapping[str, int]
    is_observed: bool
    understood: str

    @property
    def count(self) -> int:
        return sum(self.types.values())


@dataclass
class Judgement:
    """What is said about one session. ``skipped`` says why it was not played, "" if it was."""

    script: Script
    stream: str
    checks: list[Check] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    recorded: Recorded | None = None
    skipped: str = ""

    @property
    def is_ok(self) -> bool:
        return not self.skipped and all(check.is_ok for check in self.checks)


def judge(script: Script, recorded: Recorded, game: Game | None, sent: list[Check]) -> Judgement:
    """Return the judgement of a session. ``game`` is None for a session that no script describes.

    ``sent`` are the checks of the answers, if the runner has played the session itself.
    """
    checks = [*sent, *_of_every_session(script, recorded)]
    if game is not None:
        checks += _steps(script, recorded, game)
    checks += [check for name in script.checks for check in CHECKS[name](recorded)]
    return Judgement(script, recorded.stream, checks, families_of(recorded), recorded)


# Every session ------------------------------------------------------------------------------------------------------


def _of_every_session(script: Script, recorded: Recorded) -> Iterator[Check]:
    closed = bool(recorded.events) and recorded.events[-1]["type"] in ("session.closed", "count.closed")
    yield Check(closed, "The session has its end", "" if closed else "Send session.closed as its last event.")
    yield _contiguous(recorded)
    if not recorded.is_adjudicated:
        yield Check(False, "The record has not adjudicated the session in time", "Ask the operator: do workers run?")
    yield from _findings(script, recorded)


def _contiguous(recorded: Recorded) -> Check:
    expected = 1
    for event in recorded.events:
        if event["seq"] != expected:
            return Check(False, f"Event {expected} is missing before {event['seq']}", "Send every number, one by one.")
        expected = event["data"]["through"] + 1 if event["type"] == "events.lost" else expected + 1
    return Check(True, f"{len(recorded.events)} events stand in the record, numbered one by one")


def _findings(script: Script, recorded: Recorded) -> Iterator[Check]:
    found = Counter(each["rule"] for each in recorded.findings)
    for rule in sorted(script.findings):
        to_do = "" if found[rule] else "What the script has done to the table system did not reach the record."
        yield Check(bool(found[rule]), f"{rule} is found, as it has to be", to_do)
    known = script.findings | script.allowed
    for each in recorded.findings:
        is_explained = each["rule"] in known or each["severity"] == "info" or (script.may_lack and _is_after(each))
        if not is_explained:
            yield Check(False, f"Event {each['seq']}: {each['message']['en']}", each["remedy"]["en"])
    if not script.findings and not recorded.findings and recorded.is_adjudicated:
        yield Check(True, "Nothing irregular is found")


def _is_after(finding: Mapping[str, Any]) -> bool:
    return finding.get("after_loss") is True


# The steps of a script ----------------------------------------------------------------------------------------------


def _steps(script: Script, recorded: Recorded, game: Game) -> Iterator[Check]:
    """Look for the event of each step, in order; what comes between is the table system's own."""
    lost = any(event["type"] == "events.lost" for event in recorded.events)
    at = 0
    for step in steps_of(game):
        found = next((i for i, event in enumerate(recorded.events[at:], at) if _is_of(event, step)), None)
        if found is not None:
            at = found + 1
            yield Check(True, f"{step.what}: event {recorded.events[found]['seq']}, {step.type}")
        elif script.may_lack and lost:
            yield Check(True, f"{step.what}: declared lost")
        else:
            yield Check(False, f"{step.what}: {_instead(recorded.events[at:], step)}", _wanted(step))


def _is_of(event: Mapping[str, Any], step: Step) -> bool:
    data = event.get("data", {})
    return event["type"] == step.type and all(_same(data.get(name), value) for name, value in step.data.items())


def _same(found: object, wanted: object) -> bool:
    # 1250.0, True and "1250" are not 1250.
    return type(found) is type(wanted) and found == wanted


def _instead(events: list[dict[str, Any]], step: Step) -> str:
    nearest = next((event for event in events if event["type"] == step.type), None)
    if nearest is None:
        return f"no {step.type} is in the record where it should be"
    data = nearest.get("data", {})
    differs = [
        f"{name} is {data.get(name)!r}, not {value!r}"
        for name, value in step.data.items()
        if not _same(data.get(name), value)
    ]
    return f"event {nearest['seq']}, {step.type}: " + "; ".join(differs)


def _wanted(step: Step) -> str:
    fields = ", ".join(f"{name} {value!r}" for name, value in step.data.items())
    return f"Send {step.type} with {fields}."


# What single scripts look at ----------------------------------------------------------------------------------------


def _lost(recorded: Recorded) -> Iterator[Check]:
    losses = [event for event in recorded.events if event["type"] == "events.lost"]
    to_do = "" if losses else "Declare what is lost for good with events.lost; never renumber what comes after."
    found = (
        f"events {losses[0]['seq']} to {losses[0]['data']['through']} are declared lost"
        if losses
        else "no loss is declared"
    )
    yield Check(bool(losses), f"Of what was deleted, {found}", to_do)


def _kept_time(recorded: Recorded) -> Iterator[Check]:
    """Compare when events claim to have happened with when they came."""
    received = {each["first_seq"]: _instant(each["received_at"]) for each in recorded.batches}
    ages = [
        received[max(first for first in received if first <= event["seq"])] - _instant(event["occurred_at"])
        for event in recorded.events
    ]
    oldest, span = max(ages), _instant(recorded.events[-1]["occurred_at"]) - _instant(recorded.events[0]["occurred_at"])
    is_old = oldest >= OFFLINE
    to_do = "" if is_old else "occurred_at is when it happened at the table, not when it was sent."
    yield Check(
        is_old,
        f"The oldest event came {_minutes(oldest)} after it happened; the session lasted {_minutes(span)}",
        to_do,
    )


def _two_keys(recorded: Recorded) -> Iterator[Check]:
    keys = sorted({str(each["key"]) for each in recorded.batches})
    to_do = "" if len(keys) > 1 else "Read the key again for each request, or give the client both, the newest first."
    yield Check(len(keys) > 1, f"The session was sent with {len(keys)} keys: {', '.join(keys)}", to_do)


def _several_batches(recorded: Recorded) -> Iterator[Check]:
    to_do = "" if len(recorded.batches) > 1 else "Send what there is when it happens, not the whole session at its end."
    number = len(recorded.batches)
    yield Check(
        number > 1,
        f"The session came in {number} {'request' if number == 1 else 'requests'}, and no number stands twice",
        to_do,
    )


def _integers(recorded: Recorded) -> Iterator[Check]:
    stakes = [event["data"].get("stake") for event in recorded.events if event["type"] == "wager.placed"]
    is_right = 1250 in stakes
    to_do = "" if is_right else "Amounts are whole minor units: 12.50 EUR is 1250."
    yield Check(is_right, f"The stakes are {', '.join(map(str, stakes)) or 'none'} in minor units", to_do)


CHECKS: Mapping[str, Callable[[Recorded], Iterator[Check]]] = {
    "lost": _lost,
    "kept-time": _kept_time,
    "two-keys": _two_keys,
    "several-batches": _several_batches,
    "integers": _integers,
}


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _minutes(length: timedelta) -> str:
    return f"{length.total_seconds() / 60:.0f} min"


# Families -----------------------------------------------------------------------------------------------------------


def families_of(recorded: Recorded) -> list[Family]:
    """Return what came of each family, of the session itself, and of the table system's own events."""
    observed = recorded.observes if recorded.observes & ALWAYS_SEEN else recorded.observes | ALWAYS_SEEN
    came: dict[str, Counter[str]] = {}
    for event in recorded.events:
        kind = event["type"]
        family = "own events" if kind.startswith("x.") else _FAMILY_OF.get(kind, "session")
        came.setdefault(family, Counter())[kind] += 1
    rows = [Family("session", came.pop("session", Counter()), True, "the session, its bank and its corrections")]
    own = came.pop("own events", None)
    for name in FAMILIES:
        types = came.get(name, Counter())
        rows.append(Family(name, types, name in observed, _understood(name in observed, bool(types))))
    if own is not None:
        rows.append(Family("own events", own, False, "kept and shown, never adjudicated"))
    return rows


def _understood(is_observed: bool, has_come: bool) -> str:
    if is_observed and has_come:
        return "adjudicated"
    if is_observed:
        return "listed in 'observes', and none came: the record takes that as a fact"
    if has_come:
        return "came, and 'observes' does not list it: what is missing of it is nobody's fault"
    return "not observed: rules that need it are silent"
