"""Every status of the ingestion table, one by one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import timedelta
from functools import cache

import psycopg
import pytest
import time_machine
from django.core.cache.backends.redis import RedisCache
from django.db import connection
from django.utils import timezone

from audit.api import rate_limit
from audit.api.authentication import KeyThrottle
from audit.api.rate_limit import RateCounter
from audit.models import ApiKey, Finding, GamingTable, KeyScope, LoggedEvent, Quarantined
from tests.audit.conftest import make_tenant
from tests.audit.sessions import as_lines, event, opener, unique_name, wagers, written
from tests.audit.tables import Tenant

Read = Callable[..., tuple[int, str]]


def stored(tenant: Tenant, stream: str) -> list[int]:
    """Return the seqs of the stored events of a stream."""
    answer = tenant.ask(f"streams/{stream}/events?limit=1000")
    return [each["seq"] for each in answer.json()["events"]] if answer.status_code == 200 else []


def test_201_for_new_events_and_200_with_the_same_receipt_for_the_same_again(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 10)
    first = tenant.send(stream, sent)
    again = tenant.send(stream, sent)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content
    receipt = first.json()
    assert {name: receipt[name] for name in ("stream", "first_seq", "last_seq", "next_seq")} == {
        "stream": stream,
        "first_seq": 1,
        "last_seq": 10,
        "next_seq": 11,
    }
    names = "stream first_seq last_seq next_seq root chain received_at signature"
    assert list(receipt) == names.split()


@pytest.mark.parametrize(
    "format", ["array", "object", "lines", "gzip array", "gzip lines", "marked", "spaced", "x-gzip"]
)
def test_every_format_of_body_has_the_same_content(tenant: Tenant, stream: str, format: str) -> None:
    sent = tenant.session(stream, 3)
    raw, kind = json.dumps(sent).encode(), "application/json"
    headers: dict[str, str] = {}
    match format.split():
        case ["object"]:
            raw = json.dumps({"events": sent}, indent=1).encode()
        case [*_, "lines"]:
            raw, kind = as_lines(sent) + b"\r\n\n", "application/x-ndjson"
        case ["marked"]:
            raw = b"\xef\xbb\xbf" + raw
        case ["spaced"]:
            raw, kind = b"\n\t " + raw + b"\r\n", "application/json; charset=UTF-8"
    if "gzip" in format:
        raw, headers = gzip.compress(raw), {"Content-Encoding": format.split()[0]}
    assert tenant.send(stream, raw, type=kind, **headers).status_code == 201
    assert tenant.send(stream, sent).status_code == 200


def test_a_gzip_of_two_members_loses_neither(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 4)
    raw = gzip.compress(as_lines(sent[:2]) + b"\n") + gzip.compress(as_lines(sent[2:]))
    answer = tenant.send(stream, raw, type="application/x-ndjson", **{"Content-Encoding": "gzip"})
    assert answer.json()["last_seq"] == 4


def test_explicit_and_omitted_defaults_are_the_same_content(tenant: Tenant, stream: str) -> None:
    sent = [*tenant.session(stream, 2), event(stream, 3)]
    tenant.send(stream, sent)
    del sent[2]["data"]
    assert tenant.send(stream, [each | {"v": 1} for each in sent]).status_code == 200


def test_a_mixed_request_stores_the_tail_and_gets_its_receipt(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 9)
    tenant.send(stream, sent[:5])
    mixed = tenant.send(stream, sent[2:])
    assert (mixed.status_code, mixed.json()["first_seq"], mixed.json()["last_seq"]) == (201, 6, 9)
    assert stored(tenant, stream) == list(range(1, 10))


def test_duplicates_get_the_receipt_of_the_batch_that_holds_the_last_event_sent(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 9)
    first, second = tenant.send(stream, sent[:5]), tenant.send(stream, sent[5:])
    assert tenant.send(stream, sent[1:3]).content == first.content
    assert tenant.send(stream, sent[3:6]).content == second.content


def test_order_within_a_request_does_not_matter_and_an_event_may_come_twice(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 4)
    assert tenant.send(stream, [sent[2], sent[0], sent[3], sent[1], sent[2]]).status_code == 201
    assert stored(tenant, stream) == [1, 2, 3, 4]


def test_409_gap_names_the_next_seq_and_stores_nothing(tenant: Tenant, stream: str, code_of: Read) -> None:
    sent = tenant.session(stream, 9)
    tenant.send(stream, sent[:3])
    for hole in (sent[4:], sent[3:5] + sent[6:]):
        answer = tenant.send(stream, hole)
        assert code_of(answer) == (409, "gap")
        assert answer.json()["next_seq"] == 4
    assert stored(tenant, stream) == [1, 2, 3]


def test_a_declared_loss_is_followed_by_the_number_after_it(tenant: Tenant, stream: str, code_of: Read) -> None:
    lost = event(stream, 3, "events.lost", through=7, reason="spool_lost")
    assert tenant.send(stream, [*tenant.session(stream, 2), lost]).json()["next_seq"] == 8
    assert code_of(tenant.send(stream, wagers(stream, 4, 4))) == (409, "gap")
    assert tenant.send(stream, wagers(stream, 8, 9)).json()["first_seq"] == 8
    assert code_of(tenant.send(stream, wagers(stream, 6, 10))) == (409, "gap")
    assert stored(tenant, stream) == [1, 2, 3, 8, 9]
    assert not Finding.objects.filter(casino=tenant.casino).exists()
    assert Quarantined.objects.filter(stream=stream, code="declared-lost").count() == 2


def test_409_conflict_keeps_the_first_content_quarantines_the_second_and_opens_a_finding(
    tenant: Tenant, stream: str, code_of: Read
) -> None:
    sent = tenant.session(stream, 5)
    tenant.send(stream, sent)
    other = json.loads(json.dumps(sent))
    other[3]["data"]["stake"] = 9_999
    for _ in range(2):
        answer = tenant.send(stream, [*other, *wagers(stream, 6, 6)])
        assert code_of(answer) == (409, "conflict")
    problem = answer.json()
    assert problem["seq"] == 4
    assert problem["stored_digest"] != problem["sent_digest"]
    finding = Finding.objects.get(casino=tenant.casino)
    assert (finding.rule, finding.seq, finding.severity, finding.evidence) == ("sequence-conflict", 4, "critical", [4])
    assert finding.facts == {
        "stored_digest": problem["stored_digest"],
        "sent_digest": problem["sent_digest"],
        "claimed_at": "2026-11-19T19:00:04.000000Z",
    }
    kept = Quarantined.objects.get(casino=tenant.casino)
    assert (kept.code, kept.seq, json.loads(bytes(kept.body))) == ("conflict", 4, other[3])
    assert stored(tenant, stream) == [1, 2, 3, 4, 5]
    assert tenant.ask(f"streams/{stream}/events?after=3&limit=1").content == b'{"events":[%b]}' % written(sent[3])


def test_another_offset_of_the_same_instant_is_other_content(tenant: Tenant, stream: str, code_of: Read) -> None:
    sent = tenant.session(stream, 2)
    tenant.send(stream, sent)
    sent[1]["occurred_at"] = "2026-11-19T19:00:02Z"
    assert code_of(tenant.send(stream, sent)) == (409, "conflict")


def test_events_after_the_close_are_stored(tenant: Tenant, stream: str) -> None:
    closed = event(stream, 3, "session.closed", float=1)
    assert tenant.send(stream, [*tenant.session(stream, 2), closed]).status_code == 201
    assert tenant.send(stream, wagers(stream, 4, 4)).status_code == 201


def test_irregular_conduct_is_stored(tenant: Tenant, stream: str) -> None:
    sent = [
        opener(stream, casino=tenant.casino.code, game="tarot", ruleset="x" * 9_000),
        event(stream, 2, "dice.thrown", faces=[7, 2]),
        event(stream, 3, "wager.placed", wager="w", bet="on_the_croupier", stake=1),
        opener(stream, casino="elsewhere", seq=4),
    ]
    assert tenant.send(stream, sent).status_code == 201


def test_413_for_more_than_a_thousand_events(tenant: Tenant, stream: str, code_of: Read) -> None:
    assert code_of(tenant.send(stream, tenant.session(stream, 1_001))) == (413, "too-large")
    assert tenant.send(stream, tenant.session(stream, 1_000)).status_code == 201


def test_413_for_more_than_a_mebibyte(tenant: Tenant, stream: str, code_of: Read) -> None:
    raw = json.dumps(tenant.session(stream, 2)).encode()
    assert code_of(tenant.send(stream, raw.ljust(1024 * 1024 + 1))) == (413, "too-large")
    assert code_of(tenant.send(stream, raw.ljust(9 * 1024 * 1024))) == (413, "too-large")
    squeezed = gzip.compress(raw.ljust(1024 * 1024 + 1))
    assert code_of(tenant.send(stream, squeezed, **{"Content-Encoding": "gzip"})) == (413, "too-large")
    assert tenant.send(stream, raw.ljust(1024 * 1024)).status_code == 201


@pytest.mark.parametrize(
    ("type", "encoding"),
    [
        ("text/plain", ""),
        ("application/x-www-form-urlencoded", ""),
        ("multipart/form-data; boundary=x", ""),
        ("application/json; charset=iso-8859-1", ""),
        ("", ""),
        ("application/json", "deflate"),
        ("application/json", "gzip, gzip"),
        ("application/x-ndjson", "br"),
    ],
)
def test_415_for_another_type(tenant: Tenant, stream: str, code_of: Read, type: str, encoding: str) -> None:
    raw = json.dumps(tenant.session(stream, 1)).encode()
    answer = tenant.send(stream, raw, type=type, **({"Content-Encoding": encoding} if encoding else {}))
    assert code_of(answer) == (415, "unsupported-media-type")


def test_422_invalid_points_at_every_fault_and_keeps_the_bytes(tenant: Tenant, stream: str, code_of: Read) -> None:
    sent = tenant.session(stream, 5)
    sent[2]["data"]["stake"] = "100"
    sent[4]["data"]["colur"] = "red"
    raw = json.dumps({"events": sent}).encode()
    answer = tenant.send(stream, raw)
    assert code_of(answer) == (422, "invalid")
    problem = answer.json()
    assert [error["pointer"] for error in problem["errors"]] == ["/events/2/data/stake", "/events/4/data/colur"]
    assert (problem["index"], problem["seq"]) == (2, 3)
    kept = Quarantined.objects.get(casino=tenant.casino)
    assert (kept.stream, kept.seq, kept.code, bytes(kept.body)) == (stream, 3, "invalid", raw)
    assert stored(tenant, stream) == []


def test_pointers_are_relative_to_the_body_that_was_sent(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 2)
    sent[1]["data"]["stake"] = 0
    listed = tenant.send(stream, sent).json()["errors"]
    lines = tenant.send(stream, as_lines(sent), type="application/x-ndjson").json()["errors"]
    assert [error["pointer"] for error in listed] == [error["pointer"] for error in lines] == ["/1/data/stake"]


def test_422_for_an_event_of_another_stream(tenant: Tenant, stream: str, code_of: Read) -> None:
    sent = tenant.session(stream, 2)
    sent[1]["stream"] = "elsewhere"
    answer = tenant.send(stream, sent)
    assert code_of(answer) == (422, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/1/stream"


def test_422_for_two_contents_of_one_number_in_one_request(tenant: Tenant, stream: str, code_of: Read) -> None:
    sent = tenant.session(stream, 3)
    answer = tenant.send(stream, [*sent, event(stream, 3)])
    assert code_of(answer) == (422, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/3/seq"


def test_422_not_opened(tenant: Tenant, stream: str, code_of: Read) -> None:
    for first in (wagers(stream, 1, 2), wagers(stream, 7, 8)):
        answer = tenant.send(stream, first)
        assert code_of(answer) == (422, "not-opened")
        assert answer.json()["next_seq"] == 1
    assert code_of(tenant.send(stream, [opener(stream, casino=tenant.casino.code, seq=2)])) == (409, "gap")


@pytest.mark.parametrize("day", ["1989-12-31", "2101-01-01", "0001-01-01", "9999-12-31"])
def test_422_for_a_gaming_day_out_of_range(tenant: Tenant, stream: str, code_of: Read, day: str) -> None:
    answer = tenant.send(stream, [opener(stream, casino=tenant.casino.code, gaming_day=day)])
    assert code_of(answer) == (422, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/0/data/gaming_day"
    assert Quarantined.objects.filter(casino=tenant.casino).count() == 1


def test_401_without_a_valid_key(tenant: Tenant, stream: str, code_of: Read) -> None:
    key, secret = tenant.key, tenant.secret
    for wrong in (
        "",
        "Bearer",
        "Bearer x",
        f"Bearer {secret}x",
        f"Bearer {secret} x",
        f"Basic {secret}",
        "Bearer \xff",
    ):
        answer = tenant.send(stream, tenant.session(stream, 1), Authorization=wrong)
        assert code_of(answer) == (401, "unauthenticated"), wrong
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    for column, moment in (("expires_at", timezone.now()), ("revoked_at", timezone.now())):
        ApiKey.objects.filter(pk=key.pk).update(expires_at=None, revoked_at=None)
        ApiKey.objects.filter(pk=key.pk).update(**{column: moment})
        assert code_of(tenant.send(stream, tenant.session(stream, 1))) == (401, "unauthenticated")


def test_two_keys_are_valid_while_one_replaces_the_other(tenant: Tenant, stream: str) -> None:
    _, second = ApiKey.make(casino=tenant.casino, name="tables, new", scopes=[KeyScope.EVENTS_WRITE])
    assert tenant.send(stream, tenant.session(stream, 1)).status_code == 201
    later = timezone.now() + timedelta(hours=1)
    ApiKey.objects.filter(pk=tenant.key.pk).update(expires_at=later)
    assert tenant.send(stream, tenant.session(stream, 2), Authorization=f"Bearer {second}").status_code == 201
    assert tenant.send(stream, tenant.session(stream, 3)).status_code == 201


def test_403_without_the_scope(tenant: Tenant, stream: str, code_of: Read) -> None:
    ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=[KeyScope.STREAMS_READ])
    assert code_of(tenant.send(stream, tenant.session(stream, 1))) == (403, "forbidden")


def test_403_for_a_casino_or_a_table_that_is_not_the_keys(tenant: Tenant, stream: str, code_of: Read) -> None:
    neighbour = make_tenant(tables=("C1", "C9"))
    for changed in ({"casino": neighbour.casino.code}, {"table": "C9"}, {"table": "unknown"}, {"casino": "unknown"}):
        answer = tenant.send(stream, [opener(stream, **({"casino": tenant.casino.code} | changed))])
        assert code_of(answer) == (403, "forbidden")
    assert not GamingTable.objects.filter(casino=tenant.casino, code="C9").exists()


def test_403_for_a_stream_of_a_table_that_is_not_the_keys(db: None, stream: str, code_of: Read) -> None:
    limited = make_tenant(limited_to=("R1",))
    _, other = ApiKey.make(casino=limited.casino, name="every table", scopes=list(KeyScope.values))
    assert code_of(limited.send(stream, limited.session(stream, 1))) == (403, "forbidden")
    assert limited.send(stream, limited.session(stream, 1), Authorization=f"Bearer {other}").status_code == 201
    assert code_of(limited.send(stream, limited.session(stream, 2))) == (403, "forbidden")
    for path in (f"streams/{stream}", f"streams/{stream}/events", f"streams/{stream}/adjudication"):
        assert code_of(limited.ask(path)) == (403, "forbidden")
    count = event(stream + "c", 1, "count.opened", casino=limited.casino.code, gaming_day="2026-11-19", currency="EUR")
    assert code_of(limited.send(stream + "c", [count])) == (403, "forbidden")


def test_404_for_a_stream_of_another_casino_whose_name_is_free_at_the_own_casino(
    tenant: Tenant, stream: str, code_of: Read
) -> None:
    neighbour = make_tenant()
    neighbour.send(stream, neighbour.session(stream, 3))
    for path in (f"streams/{stream}", f"streams/{stream}/events", f"streams/{stream}/adjudication"):
        assert code_of(tenant.ask(path)) == (404, "not-found")
    assert code_of(tenant.send(stream, wagers(stream, 4, 4))) == (422, "not-opened")
    assert tenant.send(stream, tenant.session(stream, 1)).status_code == 201
    assert stored(neighbour, stream) == [1, 2, 3]


@pytest.mark.parametrize("name", ["a%20b", "a%2Fb", "é", "x" * 101, "a;b", "%ff"])
def test_404_for_an_invalid_stream_name(tenant: Tenant, code_of: Read, name: str) -> None:
    assert code_of(tenant.send(name, tenant.session("s", 1))) == (404, "not-found")
    assert code_of(tenant.ask(f"streams/{name}")) == (404, "not-found")


def test_405_and_406_are_problems_too(tenant: Tenant, stream: str, code_of: Read) -> None:
    put = tenant.client.put(f"/api/v1/streams/{stream}/events", b"[]", headers=tenant.headers())
    assert code_of(put) == (405, "method-not-allowed")
    refused = tenant.send(stream, tenant.session(stream, 1), Accept="text/html")
    assert code_of(refused) == (406, "not-acceptable")
    assert stored(tenant, stream) == []


def test_429_has_retry_after(tenant: Tenant, stream: str, code_of: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeyThrottle, "rate", "2/min", raising=False)
    with time_machine.travel(600_000_050.5, tick=False):
        answers = [tenant.send(stream, tenant.session(stream, 1)) for _ in range(3)]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert code_of(answers[2]) == (429, "throttled")
    assert answers[2].headers["Retry-After"] == answers[2].headers["RateLimit-Reset"] == "10"
    assert answers[2].headers["RateLimit-Limit"] == "2"
    assert make_tenant().send(unique_name(), []).status_code == 422  # another key has its own rate


@pytest.mark.superuser  # who locks the head of a stream from elsewhere
def test_503_when_the_record_is_unavailable(committed_tenant: Tenant, stream: str, code_of: Read) -> None:
    tenant = committed_tenant
    sent = tenant.session(stream, 4)
    tenant.send(stream, sent[:2])
    with psycopg.connect(connection.connection.info.dsn, password=connection.settings_dict["PASSWORD"]) as other:
        stream_id = tenant.stream(stream).stream_id
        other.execute("select from log.stream_head where stream_id = %s for update", (stream_id,))
        with connection.cursor() as cursor:
            cursor.execute("set lock_timeout = '200ms'")
        answer = tenant.send(stream, sent)
        assert code_of(answer) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) >= 1
    with connection.cursor() as cursor:
        cursor.execute("reset lock_timeout")
    assert tenant.send(stream, sent).json()["last_seq"] == 4


def test_a_count_room_has_a_stream_of_its_own(tenant: Tenant, stream: str) -> None:
    sent = [
        event(stream, 1, "count.opened", casino=tenant.casino.code, gaming_day="2026-11-19", currency="EUR"),
        event(stream, 2, "drop.counted", session="s", amount=5, counted_by=["a", "b"]),
    ]
    assert tenant.send(stream, sent).status_code == 201
    standing = tenant.ask(f"streams/{stream}").json()
    assert (standing["table"], standing["game"], standing["next_seq"]) == (None, None, 3)


def test_no_refused_request_left_an_event(tenant: Tenant, stream: str) -> None:
    before = LoggedEvent.objects.count()
    for body in ([], {}, None, [None], wagers(stream, 1, 3), tenant.session(stream, 3)[1:]):
        assert tenant.send(stream, body).status_code == 422
    assert LoggedEvent.objects.count() == before


def test_web_processes_share_the_count_of_a_key_through_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "SHARED_EVERY_S", 0.0)
    one, other = RateCounter(60), RateCounter(60)
    with time_machine.travel(600_000_010, tick=False):
        assert [one.add(7), other.add(7), one.add(7), other.add(7)] == [1, 2, 3, 4]
        assert (one.used(7), other.used(7), one.used(8)) == (3, 4, 0)
    with time_machine.travel(600_000_070, tick=False):
        assert (one.used(7), one.add(7)) == (0, 1)


def test_a_cache_that_is_gone_is_tried_by_one_request_and_by_none_after_it(
    tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = RedisCache("redis://127.0.0.1:1/0", {})
    tried: list[str] = []
    add = gone.add
    monkeypatch.setattr(gone, "add", lambda name, *args, **named: (tried.append(name), add(name, *args, **named))[1])
    monkeypatch.setattr(rate_limit, "cache", gone)
    monkeypatch.setattr(rate_limit, "rate_counter", cache(RateCounter))
    monkeypatch.setattr(rate_limit, "SHARED_EVERY_S", 0.0)
    assert tenant.send(stream, tenant.session(stream, 1)).status_code == 201
    assert [tenant.send(stream, tenant.session(stream, 1)).status_code for _ in range(10)] == [200] * 10
    assert len(tried) == 1
