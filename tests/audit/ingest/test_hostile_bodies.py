"""Hostile bodies: each is refused with a problem document, and none stores an event."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import LoggedStream, Quarantined
from tests.audit.sessions import event
from tests.audit.tables import Tenant

Read = Callable[..., tuple[int, str]]


def named(raw: bytes) -> str:
    """Return a name for a test of ``raw`` that a command line takes as well."""
    return re.sub(r"[^\w .:,{}-]", "_", repr(raw[:28])[2:-1])


def with_wager(stream: str, tenant: Tenant, wager: bytes) -> bytes:
    """Return a request whose second event has ``wager`` for an id, put in as raw bytes."""
    return json.dumps(tenant.session(stream, 2)).encode().replace(b'"w2"', wager)


def with_seq(stream: str, tenant: Tenant, seq: bytes) -> bytes:
    return json.dumps(tenant.session(stream, 2)).encode().replace(b'"seq": 2', b'"seq": ' + seq)


@pytest.mark.parametrize(
    "wager",
    [
        b'"\\u0000"',
        b'"a\\u0000b"',
        b'"\x00"',
        b'"\x1f"',
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'"\xff"',
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
        b'"\xf5\x80\x80\x80"',
        b'"w2',
        b"'w2'",
        b"null",
        b'""',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'"' + b"x" * 33_000 + b'"',
        b'"w2", "wager": "w3"',
        b'"w2", "wag\\u0065r": "w3"',
        b'"w2", "wager" : "w3"',
    ],
    ids=named,
)
def test_an_invalid_id_is_refused_and_quarantined(tenant: Tenant, stream: str, code_of: Read, wager: bytes) -> None:
    raw = with_wager(stream, tenant, wager)
    assert code_of(tenant.send(stream, raw)) == (422, "invalid")
    assert bytes(Quarantined.objects.get(casino=tenant.casino).body) == raw
    assert not LoggedStream.objects.filter(casino=tenant.casino).exists()


@pytest.mark.parametrize(
    "seq",
    [
        b"0",
        b"-1",
        b"2.0",
        b"2e0",
        b"1e400",
        b"NaN",
        b"-Infinity",
        b"02",
        b"0x2",
        b"true",
        b"9007199254740992",
        b"9" * 4_000,
    ],
    ids=named,
)
def test_only_exact_positive_integers_are_numbers(tenant: Tenant, stream: str, code_of: Read, seq: bytes) -> None:
    assert code_of(tenant.send(stream, with_seq(stream, tenant, seq))) == (422, "invalid")


def test_the_largest_number_is_a_gap_and_nothing_else(tenant: Tenant, stream: str, code_of: Read) -> None:
    tenant.send(stream, tenant.session(stream, 1))
    assert code_of(tenant.send(stream, [event(stream, 2**53 - 1)])) == (409, "gap")


def test_a_loss_up_to_the_largest_number_ends_the_stream(tenant: Tenant, stream: str, code_of: Read) -> None:
    lost = event(stream, 2, "events.lost", through=2**53 - 1, reason="spool_lost")
    answer = tenant.send(stream, [*tenant.session(stream, 1), lost])
    assert (answer.status_code, answer.json()["next_seq"]) == (201, 2**53)
    assert tenant.send(stream, [*tenant.session(stream, 1), lost]).status_code == 200


@pytest.mark.parametrize(
    "raw",
    [
        b" ",
        b"\xef\xbb\xbf",
        b"null",
        b"1",
        b'"[]"',
        b"[]",
        b"{}",
        b"[",
        b"[}",
        b'{"events":[]}',
        b'{"events":{}}',
        b'{"events":null}',
        b'{"events":[{}],"events":[]}',
        b'{"events":[{}],"more":1}',
        b'{"more":1,"events":[{}]}',
        b'[{}]{"events":[{}]}',
        b"[{},]",
        b"[[[[]]]]",
        b"[" * 500_000,
        b"\x00" * 1_000,
        b"\xfe\xff\x00[\x00]",
        b"\x1f\x8b",
        b"\x80" * 1_000,
    ],
    ids=named,
)
@pytest.mark.parametrize("type", ["application/json", "application/x-ndjson"])
def test_a_body_that_is_not_a_list_of_events_is_refused(
    tenant: Tenant, stream: str, code_of: Read, raw: bytes, type: str
) -> None:
    assert code_of(tenant.send(stream, raw, type=type)) == (422, "invalid")


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-19T20:00:00"])
def test_an_instant_out_of_range_is_refused(tenant: Tenant, stream: str, code_of: Read, instant: str) -> None:
    sent = tenant.session(stream, 2)
    sent[1]["occurred_at"] = instant
    answer = tenant.send(stream, sent)
    assert code_of(answer) == (422, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/1/occurred_at"


@pytest.mark.parametrize("instant", ["1970-01-01T00:00:00Z", "0002-01-01T00:00:00+23:59", "9998-12-31T23:59:59-23:59"])
def test_an_implausible_instant_is_stored_and_read(tenant: Tenant, stream: str, instant: str) -> None:
    sent = tenant.session(stream, 2)
    sent[1]["occurred_at"] = instant
    assert tenant.send(stream, sent).status_code == 201
    assert tenant.ask(f"streams/{stream}/events").json()["events"][1]["occurred_at"] == instant


@pytest.mark.parametrize("depth", [40, 400, 900, 990, 5_000])
def test_deeply_nested_corrections_are_refused(tenant: Tenant, stream: str, code_of: Read, depth: int) -> None:
    correction = event(stream, 2, "entry.corrected", corrects=1, data={"a": 0}, reason="r", approved_by="c")
    raw = json.dumps([*tenant.session(stream, 1), correction]).encode()
    raw = raw.replace(b'"a": 0', b'"a": ' + b"[" * depth + b"]" * depth)
    assert code_of(tenant.send(stream, raw)) == (422, "invalid")


def test_thousands_of_names_are_read_quickly(tenant: Tenant, stream: str, code_of: Read) -> None:
    names = {f"n{number:04}": 0 for number in range(2_300)}
    corrections = [
        event(stream, seq, "entry.corrected", corrects=1, data=names, reason="r\u00e9", approved_by="c")
        for seq in range(2, 32)
    ]
    raw = json.dumps([*tenant.session(stream, 1), *corrections], separators=(",", ":")).encode()
    assert len(raw) < 1024 * 1024
    assert tenant.send(stream, raw).status_code == 201


def test_a_gzip_bomb_is_refused_before_it_grows(tenant: Tenant, stream: str, code_of: Read) -> None:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabyte = b" " * 1_000_000
    bomb = b"".join(squeeze.compress(megabyte) for _ in range(100)) + squeeze.flush()
    assert len(bomb) < 500_000
    for type in ("application/json", "application/x-ndjson"):
        answer = tenant.send(stream, bomb, type=type, **{"Content-Encoding": "gzip"})
        assert code_of(answer) == (413, "too-large")


@pytest.mark.parametrize("spoil", ["cut", "trailer", "header", "junk", "plain", "empty"])
def test_a_broken_gzip_is_refused_and_quarantined(tenant: Tenant, stream: str, code_of: Read, spoil: str) -> None:
    plain = json.dumps(tenant.session(stream, 3)).encode()
    whole = gzip.compress(plain)
    raw = {
        "cut": whole[:-20],
        "trailer": whole[:-8] + bytes(8),
        "header": b"\x00" + whole[1:],
        "junk": whole + b"junk",
        "plain": plain,
        "empty": gzip.compress(b""),
    }[spoil]
    assert code_of(tenant.send(stream, raw, **{"Content-Encoding": "gzip"})) == (422, "invalid")
    if spoil != "empty":
        assert bytes(Quarantined.objects.get(casino=tenant.casino).body) == raw


def test_thousands_of_empty_gzip_members_are_refused_quickly(tenant: Tenant, stream: str, code_of: Read) -> None:
    raw = gzip.compress(b"") * 50_000
    assert code_of(tenant.send(stream, raw, **{"Content-Encoding": "gzip"})) == (422, "invalid")


def test_the_same_refused_bytes_are_kept_once(tenant: Tenant, stream: str) -> None:
    for _ in range(5):
        tenant.send(stream, b"[{}]")
    tenant.send(stream, b"[{} ]")
    assert Quarantined.objects.filter(casino=tenant.casino).count() == 2


@pytest.mark.parametrize("address", ["streams/%00/events", "streams/..%2f/events", "findings?table=%00", "findings/0"])
def test_an_unusual_address_is_answered_with_a_status(tenant: Tenant, address: str) -> None:
    assert 400 <= tenant.ask(address).status_code < 500


corrupted = given(
    spoilt=st.tuples(st.integers(0, 2_000), st.binary(min_size=1, max_size=4)),
    kind=st.sampled_from(["application/json", "application/x-ndjson"]),
)
examples = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(examples, max_examples=settings.default.max_examples // 3)
@corrupted
def test_a_corrupted_request_is_stored_or_refused_and_never_fails(
    tenant: Tenant, spoilt: tuple[int, bytes], kind: str
) -> None:
    is_answered_however_corrupted(tenant, spoilt, kind)


@pytest.mark.faults
@examples
@corrupted
def test_many_corrupted_requests_are_stored_or_refused_and_never_fail(
    tenant: Tenant, spoilt: tuple[int, bytes], kind: str
) -> None:
    is_answered_however_corrupted(tenant, spoilt, kind)


def is_answered_however_corrupted(tenant: Tenant, spoilt: tuple[int, bytes], kind: str) -> None:
    offset, junk = spoilt
    whole = json.dumps(tenant.session("spoilt", 3)).encode()
    offset %= len(whole)
    answer = tenant.send("spoilt", whole[:offset] + junk + whole[offset + len(junk) :], type=kind)
    assert answer.status_code in (200, 201, 403, 409, 422)


@pytest.mark.parametrize("name", ["x\0", "x\0y", "\0" * 300])
def test_a_type_with_a_nul_is_refused_and_kept_in_quarantine(tenant: Tenant, stream: str, name: str) -> None:
    sent = {"stream": stream, "seq": 1, "type": name, "occurred_at": "2026-11-21T20:46:17+01:00", "data": {}}
    assert tenant.send(stream, [sent]).status_code == 422
    answer = tenant.client.post(
        "/api/v1/events", json.dumps([sent]), content_type="application/json", headers=tenant.headers()
    )
    assert answer.status_code < 500, answer.content
    assert "\0" not in Quarantined.objects.filter(key=tenant.key).latest("pk").detail
