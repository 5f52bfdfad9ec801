"""Tapes: a table's session as text, one event a line, with the rules each line must raise and no others.

    fr-craps custody marker                    the ruleset, then what the session observes, then readings (unit=100)
    offer S1
    place w1 win 1000 seat=S1
    throw 5-3                                  => w1:open
    dice g h i j k l by=chef_de_table          ! dice-changed-during-point-series

``!`` is followed by every rule that the line raises, by name; a line without it raises none. ``rule:w1`` says that the
finding names the wager w1, ``rule:-`` that it names none. ``?`` is followed by rules that the line comes close to and
must not raise: near misses. ``=>`` gives the status of wagers after the line. A blank or ``#``
line is for the reader.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from settlement import Finding, State, decode
from settlement.corrections import changes_in
from settlement.streams import fold
from tests.settlement.streams import event, opener
from tests.settlement.wording import check_finding

READINGS = {
    "unit": ("payout_unit", int),
    "rounding": ("commission_rounding", str),
    "refund": ("commission_refunded_on_withdrawal", bool),
    "zero": ("zero_rule", str),
    "release": ("release_value", str),
    "delay": ("throw_delay_s", int),
    "tolerance": ("call_tolerance_ms", int),
    "commission_unit": ("commission_unit", int),
    "seats_at_most": ("seat_limit", int),
    "slip": ("result_slip_s", int),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One event of a tape, and the rules it must raise, each with the wager that it names if the tape names one.

    ``missed`` are the rules that it comes close to, ``standing`` the status of wagers after it.
    """

    text: str
    raw: bytes
    wanted: list[tuple[str, str | None]]
    missed: list[str]
    standing: dict[str, str]


def _pairs(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Split ``words`` into plain ones and ``name=value`` ones; digits become integers, ``a,b`` lists."""
    plain, named = [], {}
    for word in words:
        name, sign, value = word.partition("=")
        if sign:
            # Pockets stay words: 00 is not 0.
            named[name] = value if name in ("numbers", "which") else _value(value)
        else:
            plain.append(word)
    return plain, named


def _value(text: str) -> Any:
    if text in ("true", "false", "null"):
        return json.loads(text)
    return int(text) if text.lstrip("-").isdigit() else text


def _place(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    wager, bet, stake = words
    for name in ("numbers", "which"):
        if name in named:
            listed = named[name].split(",")
            named[name] = [int(each) for each in listed] if name == "which" else listed
    return {"wager": wager, "bet": bet, "stake": int(stake), **named}


def _throw(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    return {"faces": [int(face) for face in words[0].split("-")], **_listed(named)}


def _void(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    return {"announced_by": named.pop("by", "stickman"), "flags": words, **_listed(named)}


def _listed(named: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value).split(",") if name in ("flags", "dice") else value for name, value in named.items()}


def _pay(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    winnings, stake = words[1].split("+")
    return {"wager": words[0], "winnings": int(winnings), "stake_returned": int(stake), **named}


def _recover(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    winnings, stake = words[1].split("+")
    return {"wager": words[0], "winnings": int(winnings), "stake": int(stake), **named}


def _dice(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    data = {"dice": words, "decided_by": named["by"], "announced": named.get("announced", True)}
    return data | ({"cause": named["cause"]} if "cause" in named else {})


def _select(words: list[str], named: dict[str, Any]) -> dict[str, Any]:
    bar = words.index("/")
    return {"seat": words[0], "dice": words[1:bar], "boxed": words[bar + 1 :]}


Reader = Callable[[list[str], dict[str, Any]], dict[str, Any]]

VERBS: dict[str, tuple[str, Reader]] = {
    "place": ("wager.placed", _place),
    "take": ("wager.withdrawn", lambda w, n: {"wager": w[0]} | ({"amount": int(w[1])} if len(w) > 1 else {})),
    "switch": ("wager.switched", lambda w, n: {"wager": w[0], "working": w[1] == "on"}),
    "move": ("wager.moved", lambda w, n: {"wager": w[0], "number": int(w[1])}),
    "call": ("no_more_bets", lambda w, n: {}),
    "sweep": ("stakes.collected", lambda w, n: {"wagers": w}),
    "say": ("payment.announced", lambda w, n: {"wager": w[0], "amount": int(w[1])}),
    "pay": ("payout.made", _pay),
    "recover": ("payout.recovered", _recover),
    "tip": ("tip.given", lambda w, n: {"amount": int(w[0]), **n}),
    "goodwill": ("goodwill.paid", lambda w, n: {"amount": int(w[0]), "reason": "spilt", **n}),
    "dispute": ("dispute.opened", lambda w, n: ({"wager": w[0]} if w else {}) | n),
    "settle": ("dispute.settled", lambda w, n: {"opened": int(w[0]), "amount": int(w[1]), **n}),
    "orphan": ("orphan.recorded", lambda w, n: {"amount": int(w[0]), **n}),
    "offer": ("dice.offered", lambda w, n: ({"seat": w[0]} if w else {}) | n),
    "decline": ("dice.declined", lambda w, n: ({"seat": w[0]} if w else {}) | n),
    "dice": ("dice.set_introduced", _dice),
    "select": ("dice.selected", _select),
    "touch": ("dice.touched", lambda w, n: {"by": w[0], "cause": w[1]}),
    "throw": ("dice.thrown", _throw),
    "void": ("throw.voided", _void),
    "mark": ("point.marked", lambda w, n: {"number": int(w[0])}),
    "remove": ("shooter.removed", lambda w, n: {"seat": w[0], "by": n["by"]}),
    "spin": ("wheel.spun", lambda w, n: {"direction": w[0], **n}),
    "launch": ("ball.launched", lambda w, n: {"direction": w[0], **n}),
    "chip": ("chip.fell_in_wheel", lambda w, n: {}),
    "retrieve": ("ball.retrieved", lambda w, n: {}),
    "land": ("ball.settled", lambda w, n: {"pocket": w[0]}),
    "announce": ("result.announced", lambda w, n: {"pocket": w[0], "chances": w[1:]}),
    "zero": ("zero.decided", lambda w, n: {"wager": w[0], "choice": w[1]}),
    "last": ("last_coup.announced", lambda w, n: {}),
    "stacks": ("stacks.rebuilt", lambda w, n: {}),
    "colour": (
        "colour.assigned",
        lambda w, n: {"player": w[0], "colour": w[1], "value": _value(w[2])} | {f"marker_{k}": v for k, v in n.items()},
    ),
    "handle": ("chips.handled", lambda w, n: {"by": w[0]}),
    "sit": ("player.seated", lambda w, n: {"player": w[0], **n}),
    "leave": ("player.left", lambda w, n: {"player": w[0], **n}),
    "assign": ("staff.assigned", lambda w, n: {"person": w[0], "role": w[1]}),
    "relieve": ("staff.relieved", lambda w, n: {"person": w[0], "role": w[1]}),
    "own": ("x.acme.camera", lambda w, n: {"frames": w, **n}),
    "close": ("session.closed", lambda w, n: {"float": int(w[0]) if w else 0}),
    "fill": ("bank.filled", lambda w, n: {"amount": int(w[0]), "slip": w[1]}),
    "credit": ("bank.credited", lambda w, n: {"amount": int(w[0]), "slip": w[1]}),
    "buy": ("buy_in.recorded", lambda w, n: {"amount": int(w[0]), "means": "cash"} | n),
    "lost": ("events.lost", lambda w, n: {"through": int(w[0]), "reason": "spool_lost"}),
    "annul": ("entry.annulled", lambda w, n: {"annuls": int(w[0]), "reason": "slip", "approved_by": "chef-1"}),
    "roll": ("boule.settled", lambda w, n: {"number": int(w[0]), **n}),
    "unroll": ("boule.voided", lambda w, n: {"reason": w[0], **n}),
    "spoil": ("spin.voided", lambda w, n: {"announced_by": "croupier", "reason": w[0], **n}),
    "correct": (
        "entry.corrected",
        lambda w, n: {"corrects": int(w[0]), "data": json.loads(w[1]), "reason": "slip", "approved_by": "chef-1"},
    ),
}


def read(tape: str) -> Iterator[Line]:
    """Yield the lines of a tape as events.

    ``@12`` before a verb is its seq, ``+20s``, ``-2s`` or ``+400ms`` the time since the last one, 1 s unless given.
    """
    lines = [line.split("#")[0].rstrip() for line in tape.strip().splitlines()]
    first, *rest = [line.strip() for line in lines if line.strip()]
    yield _opening(first)
    seq, ms = 1, 1000
    for text in rest:
        sentence, wanted, missed, standing = _parts(text)
        words = shlex.split(sentence)
        seq, ms = seq + 1, ms + 1000
        while words[0][0] in "@+-":
            if words[0].startswith("@"):
                seq = int(words.pop(0)[1:])
            else:
                given = words.pop(0)
                ms += (int(given[:-2]) if given.endswith("ms") else 1000 * int(given[:-1])) - 1000
        kind, reader = VERBS[words[0]]
        plain, named = _pairs(words[1:]) if words[0] != "correct" else (words[1:], {})
        at = f"2010-11-19T20:{ms // 60_000:02}:{ms // 1000 % 60:02}.{ms % 1000:03}+01:00"
        yield Line(text, event("s", seq, kind, at=at, **reader(plain, named)), wanted, missed, standing)
        if words[0] == "lost":
            seq = int(plain[0])


def _parts(text: str) -> tuple[str, list[tuple[str, str | None]], list[str], dict[str, str]]:
    """Return the event of a line, the rules it must raise, those it comes close to, and how its wagers are after it."""
    before, _sign, missed = text.partition("?")
    before, _sign, wanted = before.partition("!")
    sentence, _sign, standing = before.partition("=>")
    return sentence, _wanted(wanted), missed.split(), dict(word.split(":") for word in standing.split())


def _opening(text: str) -> Line:
    sentence, wanted, missed, standing = _parts(text)
    plain, named = _pairs(shlex.split(sentence))
    ruleset, *observes = plain
    params = {READINGS[name][0]: READINGS[name][1](named.pop(name)) for name in list(named) if name in READINGS}
    if "maximum" in named:
        bet, _colon, most = str(named.pop("maximum")).rpartition(":")
        params["maximum"] = {bet or "win": int(most)}
    if "seats" in named:
        named["seats"] = named["seats"].split(",")
    if "staff" in named:
        roles = named["staff"].split(",")
        named["staff"] = [{"person": f"p{number}", "role": role} for number, role in enumerate(roles)]
    if "day" in named:
        named["gaming_day"] = named.pop("day")
    raw = opener("s", ruleset, observes=observes, **({"params": params} if params else {}), **named)
    return Line(text, raw, wanted, missed, standing)


def _wanted(text: str) -> list[tuple[str, str | None]]:
    wanted = []
    for word in text.split():
        rule, sign, wager = word.partition(":")
        wanted.append((rule, wager if sign else None))
    return sorted(wanted)


def play(tape: str) -> list[Finding]:
    """Play a tape and return its findings. Fail at the first line that raises anything but its rules.

    A line raises what names it as the event that completes the finding. The money of a coup is judged when the coup
    ends, so what a payment raises is given later; it stands at the payment all the same.
    """
    lines = list(read(tape))
    events = [decode(line.raw) for line in lines]
    changes = changes_in(events)
    state = State(changes, held=fold(events).corrections.held if changes else ())
    given: list[Finding] = []
    for line, each in zip(lines, events, strict=True):
        given += state.feed(each)
        statuses = {wager: state.table.wagers[wager].status for wager in line.standing}
        assert statuses == line.standing, line.text
    answer = state.adjudication().findings
    assert {finding.order for finding in given} <= {finding.order for finding in answer}
    for line, each in zip(lines, events, strict=True):
        findings = [finding for finding in answer if finding.seq == each.seq]
        raised = sorted(finding.rule for finding in findings)
        assert raised == [rule for rule, _wager in line.wanted], line.text
        assert not set(raised) & set(line.missed), line.text
        for rule, wager in line.wanted:
            if wager is not None:
                named = {finding.wager for finding in findings if finding.rule == rule}
                assert (None if wager == "-" else wager) in named, line.text
    assert {finding.seq for finding in answer} <= {each.seq for each in events}
    for finding in answer:
        check_finding(finding)
    return answer


def raised_by(tape: str) -> set[str]:
    """Return the rules that the lines of a tape must raise."""
    return {rule for line in read(tape) for rule, _wager in line.wanted}
