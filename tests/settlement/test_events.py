"""The event contract: every shape it takes, every shape it refuses and where, and the bytes that are hashed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from settlement import ShapeError, canonical, decode
from settlement.codec import MAX_EVENT_BYTES, decode_all, next_seq_after
from settlement.events import TYPES

BASE: dict[str, Any] = {
    "stream": "deauville.C1.2026-11-19.1",
    "seq": 2,
    "type": "wager.placed",
    "occurred_at": "2026-11-19T21:00:00.250+01:00",
    "data": {"wager": "w1", "bet": "win", "stake": 1000},
}

OPENER: dict[str, Any] = BASE | {
    "seq": 1,
    "type": "session.opened",
    "data": {
        "casino": "deauville",
        "table": "C1",
        "gaming_day": "2026-11-19",
        "game": "craps",
        "ruleset": "fr-craps",
        "currency": "EUR",
        "float": 0,
        "observes": [],
    },
}


def changed(event: dict[str, Any], path: str, value: Any) -> bytes:
    """Return ``event`` with another value at ``path`` (``data/stake``); ``...`` takes the field away."""
    copy = json.loads(json.dumps(event))
    *folders, name = path.split("/")
    parent = copy
    for folder in folders:
        parent = parent[folder]
    if value is ...:
        del parent[name]
    else:
        parent[name] = value
    return json.dumps(copy).encode()


def test_there_are_the_types_of_the_contract() -> None:
    assert len([cls for cls in TYPES.values() if cls.ruleset is None]) == 51
    assert all(cls.type == name for name, cls in TYPES.items())


#  path                value                    where the fault is
REFUSED = [
    ("stream", "a b", "/stream"),
    ("stream", "", "/stream"),
    ("stream", "x" * 101, "/stream"),
    ("stream", "é", "/stream"),
    ("stream", "a\n", "/stream"),
    ("seq", 0, "/seq"),
    ("seq", -1, "/seq"),
    ("seq", 2**53, "/seq"),
    ("seq", 1.0, "/seq"),
    ("seq", "1", "/seq"),
    ("seq", True, "/seq"),
    ("seq", ..., ""),
    ("type", "wager.dreamt", "/type"),
    ("type", ..., ""),
    ("v", 2, "/v"),
    ("occurred_at", "2026-11-19T21:00:00", "/occurred_at"),
    ("occurred_at", "yesterday", "/occurred_at"),
    ("actor", None, "/actor"),
    ("mood", "good", ""),
    ("data", ..., ""),
    ("data", [], "/data"),
    ("data/stake", 0, "/data/stake"),
    ("data/stake", 2**53, "/data/stake"),
    ("data/stake", 10.5, "/data/stake"),
    ("data/stake", "1000", "/data/stake"),
    ("data/stake", None, "/data/stake"),
    ("data/stake", ..., "/data"),
    ("data/wager", "", "/data/wager"),
    ("data/wager", "w\0", "/data/wager"),
    ("data/tip", 5, "/data"),
    ("data/player", None, "/data/player"),
    ("data/numbers", ["1", 2], "/data/numbers/1"),
    ("data/which", ["1"], "/data/which/0"),
    ("data/medium", "promises", "/data/medium"),
    ("data/marker", "on", "/data/marker"),
    ("data/commission", -1, "/data/commission"),
]


@pytest.mark.parametrize(("path", "value", "pointer"), REFUSED)
def test_a_wrong_shape_is_refused_where_it_is(path: str, value: Any, pointer: str) -> None:
    with pytest.raises(ShapeError) as refused:
        decode(changed(BASE, path, value))
    assert refused.value.pointer == pointer
    assert refused.value.reason


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        ("data/observes", ["telepathy"], "/data/observes/0"),
        ("data/currency", "euro", "/data/currency"),
        ("data/gaming_day", "2026-02-30", "/data/gaming_day"),
        ("data/params", {"payout_unit": 0}, "/data/params/payout_unit"),
        ("data/params", {"zero_rule": "maybe"}, "/data/params/zero_rule"),
        ("data/params", {"house_edge": 1}, "/data/params"),
        ("data/params", {"maximum": {"win": -1}}, "/data/params/maximum"),
        ("data/staff", [{"person": "p", "role": "king"}], "/data/staff/0/role"),
    ],
)
def test_an_opener_is_checked_as_closely(path: str, value: Any, pointer: str) -> None:
    with pytest.raises(ShapeError) as refused:
        decode(changed(OPENER, path, value))
    assert refused.value.pointer == pointer


@pytest.mark.parametrize(
    ("path", "value"), [("data/game", "bridge"), ("data/ruleset", "nevada-craps"), ("data/float", 2**53 - 1)]
)
def test_what_is_conduct_and_not_shape_is_taken(path: str, value: Any) -> None:
    decode(changed(OPENER, path, value))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("dice.thrown", {"faces": [7, 2]}),
        ("ball.settled", {"pocket": "99"}),
        ("wager.placed", {"wager": "w", "bet": "the moon", "stake": 1}),
        ("colour.assigned", {"player": "p", "colour": "c", "value": None}),
        ("events.lost", {"through": 2, "reason": "rats"}),
    ],
)
def test_an_irregular_event_happened_so_it_is_taken(kind: str, data: dict[str, Any]) -> None:
    assert decode(json.dumps(BASE | {"type": kind, "data": data})).type == kind


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nonsense",
        b"[]",
        b"7",
        b"null",
        b'{"stream":',
        b"\xff\xfe",
        b'{"stream": "\\ud800"}',
        b'{"a":' * 5_000,
        b"[" * 100_000,
        b"NaN",
        json.dumps(BASE | {"actor": "x" * MAX_EVENT_BYTES}).encode(),
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_what_is_not_an_event_is_refused(raw: bytes) -> None:
    with pytest.raises(ShapeError):
        decode(raw)


def test_a_loss_ends_no_earlier_than_it_begins() -> None:
    lost = BASE | {"type": "events.lost", "data": {"through": 1, "reason": "spool_lost"}}
    with pytest.raises(ShapeError) as refused:
        decode(json.dumps(lost))
    assert refused.value.pointer == "/data/through"
    assert next_seq_after(decode(json.dumps(lost | {"data": {"through": 9, "reason": "x"}}))) == 10
    assert next_seq_after(decode(json.dumps(BASE))) == 3


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({"stake": 1.5}, "/data/data/stake"),
        ({"list": [1, {"deep": 2**53}]}, "/data/data/list/1/deep"),
        ({"é": 1}, "/data/data/é"),
    ],
)
def test_a_correction_brings_exact_numbers_too(data: dict[str, Any], pointer: str) -> None:
    entry = {"corrects": 1, "data": data, "reason": "slip", "approved_by": "chef"}
    with pytest.raises(ShapeError) as refused:
        decode(json.dumps(BASE | {"type": "entry.corrected", "data": entry}))
    assert refused.value.pointer == pointer


# The canonical form


def test_the_canonical_form_sorts_names_and_keeps_what_was_sent() -> None:
    sent = (
        b'{ "type":"wager.placed", "stream":"s", "seq":2,\n "occurred_at":"2026-11-19T21:00:00+01:00",'
        b' "data":{"wager":"w","stake":5,"bet":"win","player":"Chlo\\u00e9"} }'
    )
    assert (
        canonical(sent)
        == (
            '{"data":{"bet":"win","player":"Chloé","stake":5,"wager":"w"},"occurred_at":"2026-11-19T21:00:00+01:00",'
            '"seq":2,"stream":"s","type":"wager.placed","v":1}'
        ).encode()
    )


def test_defaults_are_added_and_nothing_else_is() -> None:
    minimal = json.dumps(
        {"stream": "s", "seq": 2, "type": "no_more_bets", "occurred_at": "2026-11-19T21:00:00Z"}
    ).encode()
    assert canonical(minimal) == (
        b'{"data":{},"occurred_at":"2026-11-19T21:00:00Z","seq":2,"stream":"s","type":"no_more_bets","v":1}'
    )
    assert b"medium" not in canonical(json.dumps(BASE).encode())


def test_two_ways_to_write_one_event_are_one() -> None:
    compact = json.dumps(BASE, separators=(",", ":"), sort_keys=True).encode()
    airy = json.dumps(BASE | {"v": 1}, indent=4).encode()
    assert canonical(compact) == canonical(airy)
    assert canonical(canonical(airy)) == canonical(airy)


def test_the_offset_is_content() -> None:
    paris, utc = (
        changed(BASE, "occurred_at", "2026-11-19T21:00:00+01:00"),
        changed(BASE, "occurred_at", "2026-11-19T20:00:00Z"),
    )
    assert canonical(paris) != canonical(utc)


def test_control_characters_are_escaped_as_rfc_8785_says() -> None:
    raw = changed(BASE, "data/player", '\b\t\n\f\r\x1f"\\/\x7f\u2028😀')
    assert rb'"\b\t\n\f\r\u001f\"\\/' in canonical(raw)
    assert "\x7f\u2028😀".encode() in canonical(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"stream":"s","seq":2,"seq":2,"type":"no_more_bets","occurred_at":"2026-11-19T21:00:00Z"}',
        b'{"stream":"s","seq":2,"type":"no_more_bets","occurred_at":"2026-11-19T21:00:00Z","v":1,"v":1}',
        b'{"stream":"s","seq":2,"type":"player.left","occurred_at":"2026-11-19T21:00:00Z",'
        b'"data":{"player":"a","player" :"b"}}',
        b'{"stream":"s","seq":2,"type":"player.left","occurred_at":"2026-11-19T21:00:00Z",'
        b'"data":{"player":"\\u0022:","player":"\\u0022:"}}',
        b'{"stream":"s","seq":2,"type":"player.left","occurred_at":"2026-11-19T21:00:00Z",'
        b'"data":{"player":"a","p\\u006cayer":"b"}}',
    ],
)
def test_a_name_given_twice_is_refused_because_readers_differ(raw: bytes) -> None:
    with pytest.raises(ShapeError, match="twice"):
        canonical(raw)


def test_a_text_that_looks_like_a_name_is_no_name() -> None:
    raw = changed(BASE, "data/player", '":":"')
    assert json.loads(canonical(raw))["data"]["player"] == '":":"'


def test_decoding_many_at_once_is_decoding_each() -> None:
    raws = [changed(BASE, "seq", seq) for seq in range(1, 6)]
    assert decode_all(raws) == [decode(raw) for raw in raws]
    for bad in (b"nonsense", changed(BASE, "stream", "a b"), changed(BASE, "data/wager", "\0")):
        with pytest.raises(ShapeError):
            decode_all([*raws, bad])
