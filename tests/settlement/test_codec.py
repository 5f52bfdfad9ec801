"""Many events read at once are read as each by itself, or not at all."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import RULESET_NAMES, play
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
