"""The scripts as the runner plays them itself, with every answer of the record checked on the way.

a whole session of events ─► what the script does to it ─► requests ─► answers, each held against the documents
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cabochon_client.answers import problem_in
from cabochon_client.conformance.judge import OFFLINE, Check
from cabochon_client.conformance.read_back import OwnKey
from cabochon_client.conformance.scripts import Game, Script, steps_of
from cabochon_client.events import canonical
from cabochon_client.link import Answer, Link
from cabochon_client.receipts import NotAReceipt, PublicKey, check_receipt, read_receipt

Event = dict[str, Any]

BETWEEN = timedelta(seconds=20)
"""Between two things that happen at the table."""

AHEAD = timedelta(minutes=10)
"""How far the wrong clock is ahead."""


class NotPlayed(Exception):
    """The script needs something that is not there; the message says what."""


class Player:
    """Plays scripts at a table of a sandbox with ``keys``, the newest first. ``published`` are the log's keys."""

    def __init__(
        self, link: Link, keys: Sequence[str], own: OwnKey, game: Game, table: str, published: Iterable[PublicKey]
    ) -> None:
        self._link, self._keys, self._own, self._game, self._table = link, list(keys), own, game, table
        self._published = list(published)
        self._checks: list[Check] = []

    def play(self, script: Script) -> tuple[str, list[Check]]:
        """Play a script. Return the name of its stream and a check of each answer.

        Raise ``NotPlayed``, and ``Unreachable`` if no answer comes.
        """
        self._checks = []
        name = f"check.{script.name}.{datetime.now(UTC):%Y%m%dT%H%M%S}.{secrets.token_hex(3)}"
        events = self._session(name, self._begins(script))
        _PLAYS.get(script.name, Player._in_three)(self, events)
        return name, self._checks

    @staticmethod
    def _begins(script: Script) -> datetime:
        now = datetime.now().astimezone()
        if script.name == "offline":
            return now - OFFLINE - 30 * BETWEEN
        return now + AHEAD if script.name == "clock" else now - 10 * BETWEEN

    def _session(self, stream: str, begins: datetime) -> list[Event]:
        """Return the events of a session in which nothing goes wrong."""
        events: list[Event] = []
        wagers = 0
        for number, step in enumerate(steps_of(self._game), start=1):
            data = dict(step.data)
            if step.type == "session.opened":
                gaming_day = datetime.now().astimezone().date().isoformat()
                data |= {"casino": self._own.casino, "table": self._table, "gaming_day": gaming_day}
                data |= {"ruleset": self._game.ruleset, "observes": ["wagers", "results", "payouts"]}
            elif step.type == "wager.placed":
                wagers += 1
                data["wager"] = f"w{wagers}"
            elif step.type == "payout.made":
                data["wager"] = f"w{wagers}"
            occurred_at = (begins + number * BETWEEN).isoformat()
            events.append(
                {"stream": stream, "seq": number, "type": step.type, "occurred_at": occurred_at, "data": data}
            )
        return events

    # Requests

    def _send(self, events: Sequence[Event], *, key: str = "") -> Answer:
        body = json.dumps(list(events)).encode()
        path = f"/api/v1/streams/{events[0]['stream']}/events"
        return self._link.ask("POST", path, key=key or self._keys[0], body=body)

    def _stored(self, events: Sequence[Event], *, status: int = 201, key: str = "") -> bytes:
        """Send events that have to be stored, and check the receipt. Return the answer."""
        answer = self._send(events, key=key)
        first, last = events[0]["seq"], events[-1]["seq"]
        name = f"event {first}" if first == last else f"events {first} to {last}"
        if answer.status != status:
            problem = problem_in(answer)
            self._checks.append(Check(False, f"Sent {name}: {answer.status} and not {status}: {problem.get('detail')}"))
            return answer.body
        self._checks.append(
            Check(
                True,
                f"Sent {name}: {status}, {_receipt_fault(answer, events, self._published) or 'with a good receipt'}",
            )
        )
        if fault := _receipt_fault(answer, events, self._published):
            self._checks[-1] = Check(False, f"Sent {name}: {status}, and {fault}")
        return answer.body

    def _refused(
        self, events: Sequence[Event], code: str, holds: Callable[[Mapping[str, Any]], bool], what: str
    ) -> None:
        """Send events that have to be refused with a code, and look at what the refusal says."""
        problem = problem_in(self._send(events))
        is_right = problem["code"] == code and holds(problem)
        found = "" if is_right else f"; it answered {problem['status']} {problem['code']}: {problem.get('detail')}"
        self._checks.append(Check(is_right, f"{what}: refused with {code}{found}"))

    # Scripts

    def _in_three(self, events: list[Event]) -> None:
        for batch in (events[:2], events[2:4], events[4:]):
            self._stored(batch)

    def _at_once(self, events: list[Event]) -> None:
        self._stored(events)

    def _lossy(self, events: list[Event]) -> None:
        self._stored(events[:4])
        self._refused(events[5:6], "gap", lambda problem: problem.get("next_seq") == 5, "Event 6 without event 5")
        lost = {**events[4], "type": "events.lost", "data": {"through": 5, "reason": "spool_lost"}}
        self._stored([lost, *events[5:]])

    def _rotation(self, events: list[Event]) -> None:
        if len(self._keys) < 2:
            raise NotPlayed("It needs two keys of the sandbox: CABOCHON_KEY=cab_new…,cab_old….")
        self._stored(events[:4], key=self._keys[1])
        self._stored(events[4:], key=self._keys[0])

    def _repeated(self, events: list[Event]) -> None:
        first = self._stored(events[:4])
        again = self._stored(events[:4], status=200)
        self._checks.append(Check(first == again, "The same request again has the same receipt"))
        self._stored(events[4:])
        self._stored(events[3:], status=200)

    def _sequence(self, events: list[Event]) -> None:
        self._stored(events[:4])
        self._refused(events[5:], "gap", lambda problem: problem.get("next_seq") == 5, "Events 6 and 7 without event 5")
        self._stored(events[4:])

    def _misspelt(self, events: list[Event]) -> None:
        self._stored(events[:1])
        data = dict(events[1]["data"])
        data["stak"] = data.pop("stake")
        names_it = _points_at("/data", "stake")
        self._refused([{**events[1], "data": data}], "invalid", names_it, "'stak' in place of 'stake'")
        self._stored(events[1:])

    def _amounts(self, events: list[Event]) -> None:
        self._stored(events[:4])
        for wrong in ("12.50", 12.5):
            data = {**events[4]["data"], "stake": wrong}
            names_it = _points_at("/data/stake", "1250")
            self._refused([{**events[4], "data": data}], "invalid", names_it, f"A stake of {wrong!r}")
        self._stored(events[4:])


_PLAYS: Mapping[str, Callable[[Player, list[Event]], None]] = {
    "orderly": Player._in_three,
    "lossy": Player._lossy,
    "offline": Player._at_once,
    "clock": Player._at_once,
    "rotation": Player._rotation,
    "repeated": Player._repeated,
    "sequence": Player._sequence,
    "misspelt": Player._misspelt,
    "amounts": Player._amounts,
}


def _points_at(pointer: str, words: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return what looks for an error at a place that says what was probably meant."""

    def holds(problem: Mapping[str, Any]) -> bool:
        errors = problem.get("errors")
        return isinstance(errors, list) and any(
            pointer in str(each.get("pointer")) and words in f"{each.get('pointer')} {each.get('detail')}"
            for each in errors
        )

    return holds


def _receipt_fault(answer: Answer, events: Sequence[Event], published: Iterable[PublicKey]) -> str:
    """Return what is wrong with a receipt, "" for nothing."""
    try:
        receipt = read_receipt(answer.body)
        covers = [canonical(each) for each in events if receipt["first_seq"] <= each["seq"] <= receipt["last_seq"]]
        batch = (
            covers if receipt["first_seq"] == events[0]["seq"] and receipt["last_seq"] == events[-1]["seq"] else None
        )
        check_receipt(receipt, published, stream=events[0]["stream"], last_seq=events[-1]["seq"], batch=batch)
    except NotAReceipt as error:
        return str(error)
    return "" if receipt.get("sandbox") is True else "the receipt is not of a sandbox"
