"""What is said of an event that was refused: all of it, where it is, and what was meant."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.codec import MAX_EVENT_BYTES, ShapeError, decode
from settlement.diagnosis import faults_of

WAGER: dict[str, Any] = {
    "type": "wager.placed",
    "stream": "s",
    "seq": 3,
    "occurred_at": "2026-11-21T23:41:07+01:00",
    "data": {"wager": "w-1", "player": "p-1", "bet": "red", "stake": 1250, "medium": "chips"},
}
OPENED: dict[str, Any] = {
    "type": "session.opened",
    "stream": "s",
    "seq": 1,
    "occurred_at": "2026-11-21T23:41:07+01:00",
    "data": {
        "casino": "deauville",
        "table": "R3",
        "gaming_day": "2026-11-21",
        "game": "roulette",
        "ruleset": "fr-roulette",
        "currency": "EUR",
        "float": 0,
        "observes": ["wheel"],
        "staff": [{"person": "c-1", "role": "croupier"}],
    },
}
THROWN: dict[str, Any] = {**WAGER, "type": "dice.thrown", "data": {"faces": [1, 2]}}
OWN: dict[str, Any] = {**WAGER, "type": "x.house.light", "data": {"on": True}}


def reasons(event: object) -> dict[str, str]:
    return {fault.pointer: fault.reason for fault in faults_of(json.dumps(event).encode())}


def wager(**data: Any) -> dict[str, Any]:
    return {**WAGER, "data": {**WAGER["data"], **data}}


@pytest.mark.parametrize("event", [WAGER, OPENED, THROWN, OWN], ids=lambda event: event["type"])
def test_of_an_event_in_order_nothing_is_said(event: dict[str, Any]) -> None:
    decode(json.dumps(event))
    assert reasons(event) == {}


@pytest.mark.parametrize(
    ("event", "pointer", "reason"),
    [
        (
            wager(stake=12.5),
            "/data/stake",
            "is 12.5, and an amount is an integer in minor units: 12.50 is 1250 in a currency of two decimals",
        ),
        (
            wager(stake="12,50"),
            "/data/stake",
            "is the text '12,50', and an amount is an integer in minor units: "
            "12.50 is 1250 in a currency of two decimals",
        ),
        (wager(stake="ten"), "/data/stake", "is the text 'ten', and an amount is an integer in minor units"),
        (wager(stake=0), "/data/stake", "is 0, and an integer from 1 on is expected"),
        (WAGER | {"seq": 1.5}, "/seq", "is 1.5, and an integer from 1 on is expected"),
        (
            wager(medium="chip"),
            "/data/medium",
            "'chip' is none of 'cash', 'chips', 'credit', 'plaques', 'verbal'; did you mean 'chips'?",
        ),
        (wager(plaayer="p"), "/data/plaayer", "is no field of 'wager.placed'"),
        (WAGER | {"type": "wager.placd"}, "/type", "'wager.placd' is no type of event; did you mean 'wager.placed'?"),
        (
            WAGER | {"type": "lights.out"},
            "/type",
            "'lights.out' is no type of event; an integrator's own begin with 'x.'",
        ),
        (WAGER | {"data": 5}, "/data", "is 5, and an object is expected"),
        (
            OPENED | {"data": OPENED["data"] | {"currency": "eur"}},
            "/data/currency",
            "is the text 'eur', and a currency of three capital letters, as EUR, is expected",
        ),
        (WAGER | {"v": 2}, "/v", "is 2, and 1 is expected"),
        (THROWN | {"data": {"faces": [1, 2, 3]}}, "/data/faces", "is a list of 3, and a list of 2 is expected"),
        (
            WAGER | {"occurred_at": "2026-11-21 23:41"},
            "/occurred_at",
            "is the text '2026-11-21 23:41', and a time with its offset, as 2026-11-21T23:41:07+01:00, is expected",
        ),
        ([WAGER], "", "is a list of 1, and an event is an object"),
    ],
)
def test_each_fault_says_where_what_and_what_was_meant(event: object, pointer: str, reason: str) -> None:
    with pytest.raises(ShapeError):
        decode(json.dumps(event))
    assert reasons(event) == {pointer: reason}


def test_all_that_is_wrong_is_said_at_once() -> None:
    event = {**WAGER, "type": "wager.placed", "seq": "3", "data": {"wagr": "w", "bet": 5, "stake": "1.5"}}
    assert reasons(event) == {
        "/seq": "is the text '3', and an integer from 1 on is expected",
        "/data/wagr": "is no field of 'wager.placed'; did you mean 'wager'?",
        "/data/bet": "is 5, and text is expected",
        "/data/stake": "is the text '1.5', and an amount is an integer in minor units: "
        "1.50 is 150 in a currency of two decimals",
        "/data": reasons(event)["/data"],
    }
    assert reasons(event)["/data"].startswith("has no '")


def test_a_part_of_an_event_is_looked_into() -> None:
    event = deepcopy(OPENED)
    event["data"]["staff"].append({"person": "c-2", "rol": "croupier"})
    event["data"]["observes"] = ["wheel", "payout"]
    assert reasons(event) == {
        "/data/observes/1": reasons(event)["/data/observes/1"],
        "/data/staff/1/rol": "is no field of 'staff' of 'session.opened'; did you mean 'role'?",
        "/data/staff/1": "has no 'role', which 'staff' of 'session.opened' needs",
    }
    assert reasons(event)["/data/observes/1"].endswith("did you mean 'payouts'?")


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 5_000, b'{"type":"' + b"x" * MAX_EVENT_BYTES + b'"}'])
def test_what_is_no_json_or_too_large_is_left_to_the_codec(raw: bytes) -> None:
    assert faults_of(raw) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.hypothesis
@given(data=st.data())
def test_a_fault_is_found_if_and_only_if_the_type_refuses_it(data: st.DataObject) -> None:
    """Somewhere in an event in order something else is put: what msgspec refuses has a fault, and nothing else has."""
    event = deepcopy(data.draw(st.sampled_from([WAGER, OPENED, THROWN, OWN])))
    holder = data.draw(st.sampled_from([event, event["data"]]))
    for name in data.draw(st.lists(st.sampled_from([*holder, "unknown"]), min_size=1, max_size=3, unique=True)):
        if name in holder and data.draw(st.booleans()):
            del holder[name]
        else:
            holder[name] = data.draw(JSON)
    raw = msgspec.json.encode(event)
    refused = refusal_of(raw)
    if refused is None or not is_beyond_types(refused):
        assert bool(faults_of(raw)) == (refused is not None)


def refusal_of(raw: bytes) -> ShapeError | None:
    try:
        decode(raw)
    except ShapeError as refused:
        return refused
    return None


def is_beyond_types(refused: ShapeError) -> bool:
    """Whether a fault is of what a type does not express: the codec checks it after decoding."""
    beyond = ("stream's name", "of the years", "opaque", "character NUL", "is no integer", "beyond", "nested")
    return any(words in refused.reason for words in beyond)
