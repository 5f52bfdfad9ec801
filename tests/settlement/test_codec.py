"""Many events read at once are read as each by itself, or not at all."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import RULESET_NAMES, play
from settlement import codec
from settlement.codec import ShapeError, decode_canonical, decode_canonical_all, decode_stored

EVENTS: list[dict[str, Any]] = [
    {"type": "last_coup.announced"},
    {"type": "no_more_bets", "actor": "Zoé"},
    {"type": "wager.placed", "data": {"wager": "w1", "bet": "plein", "stake": 500, "numbers": ["17"], "player": "P1"}},
    {"type": "ball.settled", "data": {"pocket": "17"}},
    {"type": "payout.made", "data": {"wager": "w1", "winnings": 17_500, "stake_returned": 500}},
    {"type": "events.lost", "data": {"through": 99, "reason": "a cable"}},
]


def text(seq: int, content: dict[str, Any]) -> str:
    event = {
        "stream": "casino.T1",
        "seq": seq,
        "occurred_at": "2026-11-20T21:00:00.125+01:00",
        "v": 1,
        "data": {},
        **content,
    }
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


DISFIGURED = {
    "space after a colon": lambda event: event.replace('":', '": ', 1),
    "space before a colon": lambda event: event.replace('":', '" :', 1),
    "space at the end": lambda event: f"{event} ",
    "a name twice, alike": lambda event: event.replace('"v":1', '"v":1,"v":1'),
    "a name twice, spaced": lambda event: event.replace('"v":1', '"v":1,"v"\t:1'),
    "a name twice, once escaped": lambda event: event.replace('"v":1', '"v":1,"\\u0076":1'),
    "another number twice": lambda event: event.replace('"seq":', '"seq":7,"seq":'),
    "an escape": lambda event: event.replace("casino.T1", "casino.\\u00541"),
    "an escaped slash": lambda event: event.replace("casino.T1", "casino\\/T1"),
    "no version": lambda event: event.replace('"v":1,', ""),
    "no data": lambda event: event.replace('"data":{},', "").replace(',"data":{}', ""),
    "another version": lambda event: event.replace('"v":1', '"v":2'),
    "a whole number as a float": lambda event: event.replace('"v":1', '"v":1.0'),
    "a whole number with an exponent": lambda event: event.replace('"stake":500', '"stake":5e2'),
    "an unknown field": lambda event: event.replace('"v":1', '"v":1,"w":1'),
    "the character NUL": lambda event: event.replace("P1", "P\\u0000"),
    "a year out of range": lambda event: event.replace("2026-", "0001-"),
    "another stream": lambda event: event.replace("casino.T1", "casino T1"),
    "longer than one may be": lambda event: event.replace("P1", "P" * 40_000),
    "nothing": lambda event: event,
}

events = st.lists(
    st.tuples(st.sampled_from(EVENTS), st.lists(st.sampled_from(sorted(DISFIGURED)), max_size=2)),
    min_size=1,
    max_size=5,
)


@given(chosen=events)
def test_at_once_is_one_by_one_or_not_at_all(chosen: list[tuple[dict[str, Any], list[str]]]) -> None:
    sent: list[bytes] = []
    for seq, (content, disfigured) in enumerate(chosen, start=1):
        event = text(seq, content)
        for name in disfigured:
            event = DISFIGURED[name](event)
        sent.append(event.encode())
    read = decode_canonical_all(b"[" + b",".join(sent) + b"]")
    if read is not None:
        assert list(zip(*read, strict=True)) == [decode_canonical(event) for event in sent]


@pytest.mark.parametrize("name", sorted(set(DISFIGURED) - {"nothing", "no version", "no data"}))
def test_what_is_not_plain_is_decoded_by_itself(name: str) -> None:
    plain = text(1, EVENTS[2]).encode()
    other = DISFIGURED[name](text(2, EVENTS[2])).encode()
    read = decode_canonical_all(b"[%b,%b]" % (plain, other))
    try:
        alone = decode_canonical(other)
    except ShapeError:
        assert read is None
    else:
        assert read is None or (read[0][1], read[1][1]) == alone


def test_plain_events_are_read_at_once() -> None:
    sent = [text(seq, content).encode() for seq, content in enumerate(EVENTS[:-1], start=1)]
    read = decode_canonical_all(b"[" + b",".join(sent) + b"]")
    assert read is not None
    assert read[1] == [decode_canonical(event)[1] for event in sent]
    assert decode_canonical_all(b"[" + text(1, EVENTS[-1]).encode() + b"]") is None, "a loss is looked at by itself"


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_night_of_any_game_is_read_at_once(ruleset: str) -> None:
    night = play(ruleset, casino="demo", code="T1", gaming_day=date(2026, 11, 19), seed=3, coups=5)
    sent = [json.dumps(each).encode() for each in night.events]
    read = decode_canonical_all(b"[" + b",".join(sent) + b"]")
    assert read is not None
    assert list(zip(*read, strict=True)) == [decode_canonical(event) for event in sent]
    assert decode_stored(b"[" + b",".join(read[1]) + b"]") == read[0]


# Events that are canonical as they are sent

INSTANTS = [
    "2026-11-20T21:00:00.125+01:00",
    "2026-11-20T21:00:00.000+01:00",
    "2026-11-20T21:00:01.120+01:00",
    "2026-11-20T21:00:01+01:00",
    "2026-11-20T20:00:01.123456+01:00",
    "2026-11-20T20:00:00Z",
    "2026-11-20T20:00:00.5Z",
    "2026-11-20T20:00:00.125Z",
    "2026-11-20T20:00:00.125+00:00",
    "2026-11-20T20:00:00+00:00",
    "2026-11-20T15:00:00.125-05:00",
    "2026-11-20t20:00:00.125z",
]

CANONICAL = [
    *EVENTS,
    {"type": "wager.placed", "data": {"wager": "w2", "bet": "plein", "stake": 500, "medium": "chips"}},
    {"type": "wager.placed", "data": {"wager": "é\u2028\U0001f3b2", "bet": "rouge", "stake": 2**53 - 1}},
    {"type": "no_more_bets", "actor": ',"occurred_at":"'},
    {"type": "entry.corrected", "data": {"corrects": 1, "data": {"a": 1, "occurred_at": "b"}, "reason": "r"}},
    {"type": "no_more_bets", "ext": {"occurred_at": "2026", "b": [1, {"d": 1, "c": 2}]}},
    {"type": "x.own", "data": {"n": 1.5}},
]

HOSTILE = {
    **DISFIGURED,
    "names in another order": lambda event: json.dumps(
        dict(reversed(json.loads(event).items())), separators=(",", ":")
    ),
    "a letter as an escape": lambda event: event.replace("P1", "\\u00501"),
    "an integer beyond the largest": lambda event: event.replace('"stake":500', f'"stake":{2**53}'),
    "an integer beyond 64 bits": lambda event: event.replace('"stake":500', f'"stake":{2**70}'),
    "a number that begins with 0": lambda event: event.replace('"stake":500', '"stake":0500'),
    "minus nothing": lambda event: event.replace('"winnings":17500', '"winnings":-0'),
    "a text longer than an event": lambda event: event.replace("Zoé", "Z" * 33_000),
    "null": lambda event: event.replace('"player":"P1"', '"player":null'),
    "an instant twice": lambda event: event.replace('"seq"', '"occurred_at":"2026-11-20T21:00:00+01:00","seq"'),
    "an escape in the instant": lambda event: event.replace("2026-", "\\u0032026-"),
    "a line end": lambda event: event.replace(",", ",\n", 1),
    "another field after the instant": lambda event: event.replace('","seq"', '","s":1,"seq"'),
}


def canonical_text(seq: int, content: dict[str, Any], instant: str) -> str:
    event = json.loads(text(seq, content)) | {"occurred_at": instant}
    return json.dumps(event, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def otherwise(array: bytes) -> Any:
    """Return what is read of an array where nothing is taken as it was sent."""
    with mock.patch.object(codec, "_as_sent", return_value=None):
        return decode_canonical_all(array)


canonical_events = st.lists(
    st.tuples(
        st.sampled_from(CANONICAL), st.sampled_from(INSTANTS), st.lists(st.sampled_from(sorted(HOSTILE)), max_size=1)
    ),
    min_size=1,
    max_size=5,
)


@given(chosen=canonical_events, ends=st.sampled_from(["[{}]", "[{}] ", "[{}]\n", "[ {}]", "[{},]", "[{}]]", "[{}"]))
def test_what_is_stored_is_the_same_bytes_whether_it_was_canonical_or_not(
    chosen: list[tuple[dict[str, Any], str, list[str]]], ends: str
) -> None:
    sent = []
    for seq, (content, instant, disfigured) in enumerate(chosen, start=1):
        event = canonical_text(seq, content, instant)
        for name in disfigured:
            event = HOSTILE[name](event)
        sent.append(event)
    array = ends.replace("{}", ",".join(sent)).encode()
    assert decode_canonical_all(array) == otherwise(array)


@pytest.mark.parametrize("name", sorted(HOSTILE))
@pytest.mark.parametrize("content", EVENTS[1:5])
def test_one_that_is_not_canonical_is_encoded_among_those_that_are(content: dict[str, Any], name: str) -> None:
    other = HOSTILE[name](canonical_text(2, content, INSTANTS[0]))
    array = (
        f"[{canonical_text(1, EVENTS[1], INSTANTS[0])},{other},{canonical_text(3, EVENTS[3], INSTANTS[0])}]".encode()
    )
    assert decode_canonical_all(array) == otherwise(array)


@pytest.mark.parametrize("instants", [INSTANTS[:3], INSTANTS[3:4], INSTANTS[4:5], *([each] for each in INSTANTS[5:11])])
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_night_that_is_canonical_is_not_encoded_again(
    monkeypatch: pytest.MonkeyPatch, ruleset: str, instants: list[str]
) -> None:
    night = play(ruleset, casino="demo", code="T1", gaming_day=date(2026, 11, 19), seed=3, coups=5)
    sent = [
        json.dumps(
            {**each, "occurred_at": instants[number % len(instants)]}, sort_keys=True, separators=(",", ":")
        ).encode()
        for number, each in enumerate(night.events)
    ]
    array = b"[" + b",".join(sent) + b"]"
    expected = otherwise(array)
    if "00:00.5Z" not in instants[0]:
        monkeypatch.setattr(codec, "_decode_any", None)
    assert decode_canonical_all(array) == expected
    assert expected[1] == sent
