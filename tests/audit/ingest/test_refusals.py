"""What a table system is told when its request is refused: the whole problem document, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.http import HttpResponse
from pytest_django import Settings

from audit.adjudication.replay import advance
from audit.event_store import audit_trail
from audit.event_store.append import UnexpectedSeq
from audit.ingest import record
from audit.models import ApiKey, KeyScope, LoggedStream, Quarantined
from audit.transparency import signing_keys
from tests.audit.conftest import make_tenant
from tests.audit.sessions import event, unique_name, wagers
from tests.audit.tables import Tenant


def problem(answer: HttpResponse) -> dict[str, Any]:
    """Return what a problem document says in addition to its title, which only repeats the status."""
    document: dict[str, Any] = answer.json()
    return {name: value for name, value in document.items() if name not in ("type", "title")}


def post(tenant: Tenant, body: Any, query: str = "") -> HttpResponse:
    sent = json.dumps(body).encode()
    return tenant.client.post(f"/api/v1/events{query}", sent, content_type="application/json", headers=tenant.headers())


def dry(tenant: Tenant, stream: str, body: Any) -> HttpResponse:
    sent = json.dumps(body).encode()
    address = f"/api/v1/streams/{stream}/events?dry_run=true"
    return tenant.client.post(address, sent, content_type="application/json", headers=tenant.headers())


def kept(tenant: Tenant) -> list[tuple[str, int | None, str, str, bytes]]:
    rows = Quarantined.objects.filter(casino=tenant.casino).order_by("pk")
    return [(row.stream, row.seq, row.code, row.detail, bytes(row.body)) for row in rows]


CORRECT_THESE = "Each of 'errors' says where and why; correct these and send all again."
FROM_THERE = "Send the events from that number on."


def test_a_stream_that_is_not_open(tenant: Tenant, stream: str) -> None:
    expected = {
        "status": 422,
        "code": "not-opened",
        "detail": "The stream is not open: its first event is session.opened or count.opened. "
        "Send that one first, with seq 1.",
        "index": 1,
        "seq": 3,
        "next_seq": 1,
    }
    assert problem(tenant.send(stream, [*wagers(stream, 4, 4), *wagers(stream, 3, 3)])) == expected
    other = unique_name()
    [_, result] = post(tenant, [*tenant.session(other, 1), *wagers(stream, 3, 3)]).json()["results"]
    assert {name: result["problem"][name] for name in expected} == expected


def test_events_of_another_shape_stream_or_day(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 5)
    sent[0]["data"]["gaming_day"] = "1989-12-31"
    sent[1]["stream"] = "elsewhere"
    del sent[2]["data"]["stake"]
    raw = json.dumps([*sent, event(stream, 4)]).encode()
    assert problem(tenant.send(stream, raw)) == {
        "status": 422,
        "code": "invalid",
        "detail": f"4 of 6 events cannot be recorded; none was. {CORRECT_THESE}",
        "index": 0,
        "seq": 1,
        "errors": [
            {"pointer": "/0/data/gaming_day", "detail": "is not from 1990-01-01 to 2100-12-31", "index": 0},
            {"pointer": "/1/stream", "detail": f"is not the stream of the address, '{stream}'", "index": 1},
            {"pointer": "/2/data", "detail": "has no 'stake', which 'wager.placed' needs", "index": 2},
            {"pointer": "/5/seq", "detail": "comes twice in this request, with different contents", "index": 5},
        ],
    }
    [(name, seq, code, detail, body)] = kept(tenant)
    assert (name, seq, code, body) == (stream, 1, "invalid", raw)
    assert "is not from 1990-01-01 to 2100-12-31" in detail


def test_every_fault_of_a_body_is_named_up_to_twenty(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 30)
    first = sent[2]["data"]
    first |= {"stake": 12.5, "medium": "chip", "plyer": "p-1"}
    answer = problem(tenant.send(stream, sent))
    assert answer["detail"].startswith("1 of 30 events cannot be recorded; none was.")
    assert {each["pointer"]: each["detail"] for each in answer["errors"]} == {
        "/2/data/stake": "is 12.5, and an amount is an integer in minor units: "
        "12.50 is 1250 in a currency of two decimals",
        "/2/data/medium": "'chip' is none of 'cash', 'chips', 'credit', 'plaques', 'verbal'; did you mean 'chips'?",
        "/2/data/plyer": "is no field of 'wager.placed'"
        + ("; did you mean 'player'?" if "player" not in first else ""),
    }
    for each in sent[1:]:
        each["data"] = {"stake": None, "wager": 7, "medium": 1}
    answer = problem(tenant.send(stream, sent))
    assert answer["detail"].startswith("29 of 30 events cannot be recorded; none was.")
    assert len(answer["errors"]) == 20


def test_an_opening_with_a_misspelt_ruleset_is_told_which_is_meant_and_opens_nothing(
    tenant: Tenant, stream: str
) -> None:
    sent = tenant.session(stream, 3)
    sent[0]["data"]["ruleset"] = "FR-craps"
    answer = problem(tenant.send(stream, sent))
    assert (answer["status"], answer["code"], answer["index"], answer["seq"]) == (422, "invalid", 0, 1)
    [fault] = answer["errors"]
    assert fault["pointer"] == "/0/data/ruleset"
    assert fault["detail"].endswith("; did you mean 'fr-craps'?")
    assert tenant.client.get(f"/api/v1/streams/{stream}", headers=tenant.headers()).status_code == 404
    [(name, seq, code, detail, _)] = kept(tenant)
    assert (name, seq, code) == (stream, 1, "invalid")
    assert "did you mean 'fr-craps'?" in detail
    sent[0]["data"]["ruleset"] = "fr-craps"
    assert tenant.send(stream, sent).status_code == 201


def test_the_first_day_is_accepted(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 3)
    sent[0]["data"]["gaming_day"] = "1990-01-01"
    assert tenant.send(stream, [sent[0], sent[2], sent[1]]).status_code == 201
    assert tenant.send(stream, sent).status_code == 200


@pytest.mark.parametrize(
    "seq, seen",
    [(1_000, 1_000), (2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63), None), (None, None), ("7", None)],
)
def test_an_invalid_event_is_kept_with_its_number_if_that_can_be_stored(
    tenant: Tenant, stream: str, seq: Any, seen: int | None
) -> None:
    answer = tenant.send(stream, [event(stream, 1) | {"seq": seq, "data": 7}])
    assert (answer.status_code, answer.json()["seq"]) == (422, seen)
    assert [row[1] for row in kept(tenant)] == [seen]


def test_events_that_name_no_stream(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 3)
    sent[1]["stream"] = "a b"
    assert problem(post(tenant, {"events": sent})) == {
        "status": 422,
        "code": "invalid",
        "detail": "1 of 3 events do not say of which stream they are; none was recorded. "
        "'errors' lists them; give each its 'stream' and send all again.",
        "errors": [
            {
                "pointer": "/events/1/stream",
                "detail": "is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)",
                "index": 1,
            }
        ],
    }
    del sent[1]["stream"]
    [error] = post(tenant, sent).json()["errors"]
    assert error == {"pointer": "/1/stream", "detail": "Object missing required field `stream`", "index": 1}


@pytest.mark.parametrize("several", [False, True])
def test_no_more_than_twenty_faults_are_listed(tenant: Tenant, stream: str, several: bool) -> None:
    sent = [each | ({"stream": 7} if several else {"data": 7}) for each in wagers(stream, 1, 130)]
    answer = post(tenant, sent) if several else tenant.send(stream, sent)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("130 of 130 events ")
    assert [error["index"] for error in answer.json()["errors"]] == list(range(20))


def test_of_several_streams_the_part_that_is_refused_is_kept(tenant: Tenant) -> None:
    good, bad = unique_name(), unique_name()
    broken = [each | {"data": 7} for each in wagers(bad, 1, 2)]
    sent = [broken[0], *tenant.session(good, 2), broken[1]]
    answer = post(tenant, sent)
    assert answer.status_code == 207
    refused = next(result["problem"] for result in answer.json()["results"] if result["stream"] == bad)
    assert (refused["detail"], refused["index"]) == (f"2 of 2 events cannot be recorded; none was. {CORRECT_THESE}", 0)
    assert [error["index"] for error in refused["errors"]] == [0, 3]
    [(name, seq, code, _detail, body)] = kept(tenant)
    assert (name, seq, code, json.loads(body)) == (bad, 1, "invalid", broken)


def test_a_number_that_was_declared_lost(tenant: Tenant, stream: str) -> None:
    lost = event(stream, 3, "events.lost", through=7, reason="spool_lost")
    tenant.send(stream, [*tenant.session(stream, 2), lost])
    raw = json.dumps(wagers(stream, 5, 8)).encode()
    detail = "The stream takes 8 next; 5 was declared lost."
    assert problem(tenant.send(stream, raw)) == {
        "status": 409,
        "code": "gap",
        "detail": f"{detail} {FROM_THERE}",
        "next_seq": 8,
    }
    assert kept(tenant) == [(stream, 5, "declared-lost", detail, raw)]


def test_a_gap(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 3))
    lost = event(stream, 4, "events.lost", through=9, reason="spool_lost")
    for sent, reason in (
        (wagers(stream, 5, 6), "4 is missing before 5"),
        (wagers(stream, 4, 5) + wagers(stream, 7, 7), "6 is missing before 7"),
        ([lost, *wagers(stream, 6, 6)], "6 is declared lost by an event before it"),
        ([lost, *wagers(stream, 11, 11)], "10 is missing before 11"),
    ):
        detail = f"The stream takes 4 next; {reason}. {FROM_THERE}"
        assert problem(tenant.send(stream, sent)) == {"status": 409, "code": "gap", "detail": detail, "next_seq": 4}
    assert tenant.send(stream, [lost, *wagers(stream, 10, 11)]).json()["next_seq"] == 12


def test_other_content_under_a_stored_number(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 5))
    other = [event(stream, 3, reported=True), event(stream, 4)]
    other[0]["data"] = {}
    refused = problem(tenant.send(stream, other))
    assert (refused["status"], refused["code"], refused["seq"]) == (409, "conflict", 3)
    assert refused["detail"] == (
        "Event 3 is recorded with other content. It stays, and no event of this request was stored."
        " Send a correction as a new event (entry.corrected)."
    )
    assert [row[:4] for row in kept(tenant)] == [
        (stream, 3, "conflict", "Event 3 is recorded with other content."),
        (stream, 4, "conflict", "Event 4 is recorded with other content."),
    ]
    assert [json.loads(row[4]) for row in kept(tenant)] == other


def test_a_key_of_another_casino_table_or_room(tenant: Tenant, stream: str) -> None:
    code = tenant.casino.code
    limited, secret = ApiKey.make(casino=tenant.casino, name="one table", scopes=list(KeyScope.values))
    limited.tables.set(tenant.casino.tables.filter(code="R1"))
    tenant.send(stream, tenant.session(stream, 1))
    other = unique_name()
    count = event(other, 1, "count.opened", casino=code, gaming_day="2026-11-19", currency="EUR")
    opened = tenant.session(other, 1)[0]
    for sent, name, detail in (
        (
            tenant.session(stream, 2),
            stream,
            "This key does not report on the table of this stream. Use one that does; GET /api/v1/key says which tables"
            " a key has.",
        ),
        (
            [count],
            other,
            "This key is of certain tables, and a count is of the whole casino. Use a key of every table.",
        ),
        (
            [opened],
            other,
            "The table 'C1' is not one of this key. Use a key that has it, or have the operator register it: manage.py"
            f" createkey --casino {code} --table C1.",
        ),
        (
            [opened | {"data": opened["data"] | {"casino": "elsewhere"}}],
            other,
            f"This key does not report for the casino 'elsewhere': it is of the casino '{code}'. Name that one in"
            " 'casino', or use a key of 'elsewhere'.",
        ),
    ):
        refused = tenant.send(name, sent, Authorization=f"Bearer {secret}")
        assert problem(refused) == {"status": 403, "code": "forbidden", "detail": detail}


def test_too_many_events(tenant: Tenant, stream: str) -> None:
    detail = "A request holds at most 1000 events, not 1001. Send them in several requests."
    refused = problem(tenant.send(stream, tenant.session(stream, 1_001)))
    assert refused == {"status": 413, "code": "too-large", "detail": detail}


def test_a_body_without_an_event(tenant: Tenant, stream: str) -> None:
    detail = "The body has no event."
    expected = {
        "status": 422,
        "code": "invalid",
        "detail": f"{detail} Correct the body and send it again.",
        "errors": [{"pointer": "", "detail": detail}],
    }
    assert problem(tenant.send(stream, b"\n[] ")) == expected
    assert kept(tenant) == [(stream, None, "invalid", detail, b"\n[] ")]


def test_without_a_key_to_sign_with_nothing_is_stored_but_a_dry_run_is_answered(
    tenant: Tenant, stream: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CABOCHON_KEYS = tmp_path
    monkeypatch.setattr(signing_keys, "_keyring", signing_keys._Keyring())
    assert problem(tenant.send(stream, tenant.session(stream, 2))) == {
        "status": 503,
        "code": "unavailable",
        "detail": "No receipt can be signed here now. Send the request again; if that goes on, tell the operator.",
    }
    assert not LoggedStream.objects.filter(casino=tenant.casino).exists()
    tried = dry(tenant, stream, tenant.session(stream, 2))
    assert (tried.status_code, tried.json()["last_seq"]) == (201, 2)


def test_a_request_that_another_overtakes_looks_again(
    tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tenant.session(stream, 6)
    tenant.send(stream, sent[:2])
    append = record.append
    faster = [sent[:4], sent[:5]]

    def overtaking(*arguments: Any, **named: Any) -> Any:
        if faster:
            with monkeypatch.context() as other:
                other.setattr(record, "append", append)
                assert tenant.send(stream, faster.pop(0)).status_code == 201
        return append(*arguments, **named)

    monkeypatch.setattr(record, "append", overtaking)
    answer = tenant.send(stream, sent)
    assert (answer.status_code, answer.json()["first_seq"], answer.json()["last_seq"]) == (201, 6, 6)


def test_a_request_that_is_overtaken_every_time_is_to_be_sent_again(
    tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(*arguments: Any, **named: Any) -> Any:
        raise UnexpectedSeq(1)

    monkeypatch.setattr(record, "append", overtaken)
    answer = tenant.send(stream, tenant.session(stream, 2))
    assert problem(answer) == {
        "status": 503,
        "code": "unavailable",
        "detail": "Too many requests write to this stream at once; send this one again.",
    }
    assert int(answer.headers["Retry-After"]) >= 1
    assert tenant.ask(f"streams/{stream}").status_code == 404


def test_a_dry_run_waits_for_no_worker_that_adjudicates_the_stream(committed_tenant: Tenant, stream: str) -> None:
    tenant = committed_tenant
    tenant.send(stream, tenant.session(stream, 3))
    stream_id = LoggedStream.objects.get(casino=tenant.casino, name=stream).stream_id
    advance(stream_id)
    with psycopg.connect(connection.connection.info.dsn, password=connection.settings_dict["PASSWORD"]) as worker:
        worker.execute("select from audit_adjudication where stream_id = %s for update", (stream_id,))
        assert dry(tenant, stream, tenant.session(stream, 4)).status_code == 201


def test_a_dry_run_of_a_stream_that_is_far_behind(tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.ingest.dry_run.MAX_EVENTS", 4)
    tenant.send(stream, tenant.session(stream, 3))
    assert dry(tenant, stream, tenant.session(stream, 4)).status_code == 201
    assert problem(dry(tenant, stream, tenant.session(stream, 5))) == {
        "status": 409,
        "code": "behind",
        "detail": "At least 5 events of the stream wait to be adjudicated; try it again later.",
    }


def test_the_desks_stream_is_nobodys(tenant: Tenant) -> None:
    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={})
    desk = LoggedStream.objects.get(casino=tenant.casino, is_of_desk=True).name
    assert problem(tenant.send(desk, [event(desk, 2)])) == {
        "status": 403,
        "code": "forbidden",
        "detail": "The desk writes this stream, and no table system. Send to a stream of another name.",
    }
    assert make_tenant().send(desk, [event(desk, 2)]).json()["code"] == "not-opened"
