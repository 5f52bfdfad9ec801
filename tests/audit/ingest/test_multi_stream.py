"""Several streams in one request, and dry runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse

from audit.adjudication.replay import advance
from audit.api.authentication import KeyThrottle
from audit.ingest import dry_run
from audit.models import Adjudication, ApiKey, Finding, LoggedStream, Quarantined
from tests.audit.conftest import make_tenant
from tests.audit.corrections.corrections_desk import approve, replayed
from tests.audit.sessions import unique_name
from tests.audit.tables import (
    TOUCHED_WRONGLY,
    Tenant,
    dice_changed_in_mid_series,
    dice_touched_wrongly,
    touched_for,
)

COUNTED = ("log.stream", "log.stream_head", "log.event", "log.batch", "log.outbox", "audit_quarantined")


def post(tenant: Tenant, body: Any, query: str = "") -> HttpResponse:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return tenant.client.post(f"/api/v1/events{query}", sent, content_type="application/json", headers=tenant.headers())


def rows() -> list[int]:
    with connection.cursor() as cursor:
        found = []
        for table in (*COUNTED, "audit_finding", "audit_adjudication", "audit_retiredwagers"):
            cursor.execute(f"select count(*) from {table}")
            found.append(cursor.fetchone()[0])
        return found


def found_by_trying(tenant: Tenant, entry: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the findings of a dry run of one event: rule and seq."""
    answer = tenant.client.post(
        "/api/v1/streams/s/events?dry_run=true",
        json.dumps([entry]),
        content_type="application/json",
        headers={"authorization": f"Bearer {tenant.secret}"},
    )
    return [(each["rule"], each["seq"]) for each in answer.json()["findings"]]


def test_each_stream_is_answered_by_itself_and_equal_statuses_are_the_status(tenant: Tenant) -> None:
    one, other = unique_name(), unique_name()
    mixed = [each for pair in zip(tenant.session(other, 3), tenant.session(one, 3), strict=True) for each in pair]
    first = post(tenant, mixed)
    assert first.status_code == 201
    assert [result["stream"] for result in first.json()["results"]] == [other, one]
    assert all(result["receipt"]["last_seq"] == 3 for result in first.json()["results"])
    again = post(tenant, {"events": mixed})
    assert again.status_code == 200
    assert [result["receipt"] for result in again.json()["results"]] == [
        result["receipt"] for result in first.json()["results"]
    ]
    assert tenant.send(one, tenant.session(one, 3)).json() == first.json()["results"][1]["receipt"]


def test_a_refused_stream_does_not_keep_the_others_from_being_stored(tenant: Tenant) -> None:
    good, gap, bad, foreign = (unique_name() for _ in range(4))
    stranger = make_tenant()
    stranger.send(foreign, stranger.session(foreign, 2))
    broken = tenant.session(bad, 3)
    broken[2]["data"]["stake"] = -1
    sent = [tenant.session(gap, 3)[0], *tenant.session(good, 2), tenant.session(gap, 3)[2], *broken]
    sent += stranger.session(foreign, 3)[2:]
    answer = post(tenant, sent)
    assert answer.status_code == 207
    results = {result["stream"]: result for result in answer.json()["results"]}
    assert {name: result["status"] for name, result in results.items()} == {
        good: 201,
        gap: 409,
        bad: 422,
        foreign: 422,
    }
    assert results[gap]["problem"]["code"] == "gap"
    assert results[bad]["problem"]["errors"][0]["pointer"] == "/6/data/stake", "as it stood in the request"
    assert results[foreign]["problem"]["code"] == "not-opened", "as if there were none of that name"
    assert len(tenant.ask(f"streams/{good}/events").json()["events"]) == 2
    assert tenant.ask(f"streams/{bad}").status_code == 404
    assert Quarantined.objects.filter(casino=tenant.casino, stream=bad).count() == 1


@pytest.mark.parametrize("stream", [None, 7, "", "a b", "x" * 101, ["s"]])
def test_an_event_of_no_stream_makes_the_whole_request_invalid(tenant: Tenant, stream: Any) -> None:
    name = unique_name()
    before = rows()
    answer = post(tenant, [*tenant.session(name, 2), {**tenant.session(name, 3)[2], "stream": stream}])
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/2/stream")
    assert rows() == before


def test_a_dry_run_answers_as_the_request_and_stores_nothing(tenant: Tenant) -> None:
    name = unique_name()
    sent = tenant.session(name, 5)
    before = rows()
    tried = tenant.client.post(
        f"/api/v1/streams/{name}/events?dry_run=true", json.dumps(sent), content_type="application/json",
        headers=tenant.headers(),
    )  # fmt: skip
    assert (tried.status_code, tried.json()["dry_run"], tried.json()["findings"]) == (201, True, [])
    assert rows() == before
    done = tenant.send(name, sent)
    same = ("stream", "first_seq", "last_seq", "next_seq", "root", "chain")
    assert {key: tried.json()[key] for key in same} == {key: done.json()[key] for key in same}
    assert "signature" not in tried.json()


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_answers_with_the_findings_it_would_open_corrections_included() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")

    def tried(body: list[dict[str, Any]]) -> Any:
        return tenant.client.post(
            "/api/v1/streams/s/events?dry_run=true", json.dumps(body), content_type="application/json",
            headers={"authorization": f"Bearer {tenant.secret}"},
        )  # fmt: skip

    tenant.post("s", events[:6])
    before = rows()
    found = tried(events[6:]).json()["findings"]
    assert rows() == before
    tenant.post("s", events[6:])
    stream_id = tenant.stream("s").stream_id
    while (progress := advance(stream_id)) and progress.behind:
        pass
    standing = Finding.objects.filter(stream_id=stream_id, status="standing").order_by("seq")
    assert found == [json.loads(json.dumps(finding.as_dict())) for finding in standing]
    assert len(found) == 2

    wrong = {"corrects": 12, "data": {"wager": "w2", "winnings": 1, "stake_returned": 600}, "reason": "r",
             "approved_by": "c"}  # fmt: skip
    entry = {**events[12], "seq": 14, "type": "entry.corrected", "data": wrong}
    before, run = rows(), Adjudication.objects.get(stream_id=stream_id).run
    [waiting] = tried([entry]).json()["findings"]
    assert waiting["rule"] == "entry-corrected", "it came after money moved"
    assert "Without the approval of two officers it has no effect" in waiting["message"]["en"]
    assert (rows(), Adjudication.objects.get(stream_id=stream_id).run) == (before, run)


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_of_a_correction_that_takes_effect_at_once_names_what_it_brings_about() -> None:
    tenant = Tenant()
    events = dice_touched_wrongly(tenant, "s")
    right = {**events[7], "data": {"by": "stickman", "cause": "examine"}}
    assert tenant.post("s", [*events[:7], right]).status_code == 201
    replayed(tenant.stream("s").stream_id)
    before = rows()
    assert found_by_trying(tenant, touched_for(events, "habit", seq=9)) == [TOUCHED_WRONGLY, ("entry-corrected", 9)]
    assert rows() == before


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_names_a_finding_that_was_superseded_and_would_stand_again() -> None:
    tenant = Tenant()
    events = dice_touched_wrongly(tenant, "s")
    for sent in (events, [touched_for(events, "examine", seq=9)]):
        assert tenant.post("s", sent).status_code == 201
        replayed(tenant.stream("s").stream_id)
    before = rows()
    found = found_by_trying(tenant, touched_for(events, "habit", seq=10))
    assert found == [TOUCHED_WRONGLY, ("entry-corrected", 9), ("entry-corrected", 10)]
    assert rows() == before


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_leaves_an_approved_correction_in_effect_when_another_would_wait() -> None:
    tenant = Tenant()
    events = dice_changed_in_mid_series(tenant, "s")
    stated = events[11]["data"]

    def correction(seq: int, data: dict[str, Any]) -> dict[str, Any]:
        entry = {"corrects": 12, "data": data, "reason": "r", "approved_by": "c"}
        return {**events[11], "seq": seq, "type": "entry.corrected", "data": entry}

    for sent in (events, [correction(14, stated | {"winnings": 700})]):
        assert tenant.post("s", sent).status_code == 201
        stream_id = tenant.stream("s").stream_id
        replayed(stream_id)
    overpaid = Finding.objects.filter(stream_id=stream_id, rule="payout-overpaid")
    assert overpaid.get().status == "standing"
    approve(tenant.casino, stream_id, 14)
    replayed(stream_id)
    assert overpaid.get().status == "superseded"
    before = rows()
    assert found_by_trying(tenant, correction(15, stated)) == [("entry-corrected", 15)]
    assert rows() == before


@pytest.mark.parametrize("kind", ["gap", "conflict", "invalid", "not-opened", "malformed"])
def test_a_dry_run_is_refused_as_the_request_is_and_quarantines_nothing(tenant: Tenant, kind: str) -> None:
    name = unique_name()
    sent = tenant.session(name, 6)
    if kind != "not-opened":
        tenant.send(name, sent[:3])
    body: Any = {
        "gap": sent[4:],
        "conflict": [sent[2] | {"actor": "else"}],
        "invalid": [sent[3] | {"data": {}}],
        "not-opened": sent[3:],
        "malformed": 7,
    }[kind]
    before = rows()
    tried = post(tenant, body, "?dry_run=true")
    assert rows() == before
    done = post(tenant, body)
    assert tried.status_code == done.status_code
    assert tried.status_code >= 400
    if kind != "malformed":
        assert tried.json()["results"][0]["problem"]["code"] == done.json()["results"][0]["problem"]["code"]


def test_a_dry_run_adjudicates_a_limited_number_of_events(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "MAX_EVENTS", 4)
    name = unique_name()
    tenant.send(name, tenant.session(name, 5))
    tried = post(tenant, tenant.session(name, 6), "?dry_run=true").json()["results"][0]
    assert (tried["status"], tried["problem"]["code"]) == (409, "behind")
    assert LoggedStream.objects.filter(name=name).count() == 1


@pytest.mark.parametrize("query", ["?dry_run=yes", "?dry_run=", "?dryrun=true", "?dry_run=true&x=1"])
def test_an_unknown_or_invalid_parameter_is_refused(tenant: Tenant, query: str) -> None:
    before = rows()
    assert post(tenant, tenant.session(unique_name(), 2), query).status_code == 422
    assert rows() == before


@pytest.mark.parametrize("address", ["streams/{}/events", "events"])
def test_a_dry_run_needs_a_key_that_reads_findings(tenant: Tenant, address: str) -> None:
    ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=["events:write", "events:backfill"])
    name = unique_name()
    path, body = f"/api/v1/{address.format(name)}", json.dumps(tenant.session(name, 2))
    tried, recorded = (
        tenant.client.post(path + query, body, content_type="application/json", headers=tenant.headers())
        for query in ("?dry_run=true", "?dry_run=false")
    )
    assert (tried.status_code, tried.json()["code"]) == (403, "forbidden")
    assert "findings:read" in tried.json()["detail"]
    assert recorded.status_code == 201


@pytest.mark.parametrize("address", ["streams/{}/events", "events"])
def test_a_dry_run_counts_as_many_requests_as_it_has_events(
    tenant: Tenant, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeyThrottle, "get_rate", lambda self: "10/min")
    with time_machine.travel("2026-11-20T12:00:10Z", tick=False):
        name = unique_name()
        path, body = f"/api/v1/{address.format(name)}?dry_run=true", json.dumps(tenant.session(name, 12))
        answers = [
            tenant.client.post(path, body, content_type="application/json", headers=tenant.headers()) for _ in range(2)
        ]
    assert [answer.status_code for answer in answers] == [201, 429]
    assert answers[0].headers["RateLimit-Remaining"] == "0"
