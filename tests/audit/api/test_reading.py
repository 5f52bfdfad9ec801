"""Reading with a key: streams, events, adjudications, findings, rules."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.models import ApiKey, Finding, KeyScope, LoggedStream
from audit.transparency.integrity_findings import integrity_finding
from settlement import adjudicate
from settlement.catalogue import RULES
from tests.audit.conftest import make_tenant
from tests.audit.sessions import as_lines, event, opener, unique_name, written
from tests.audit.tables import Tenant


def overpaid(stream: str, tenant: Tenant, *, table: str = "C1") -> list[dict[str, object]]:
    """A session in which a winner is paid too much, with the throw that ends the coup."""
    return [
        opener(stream, casino=tenant.casino.code, table=table, observes=[]),
        event(stream, 2, "wager.placed", wager="w1", bet="win", stake=1_000),
        event(stream, 3, "dice.thrown", faces=[4, 3]),
        event(stream, 4, "payout.made", wager="w1", winnings=5_000, stake_returned=1_000),
        event(stream, 5, "dice.thrown", faces=[2, 1]),
    ]


def replayed(tenant: Tenant, sent: list[dict[str, object]]) -> str:
    """Record a session and replay it. Return its stream's name."""
    stream = str(sent[0]["stream"])
    assert tenant.send(stream, sent).status_code == 201
    advance(LoggedStream.objects.get(casino=tenant.casino, name=stream).stream_id)
    return stream


def test_a_stream_shows_where_it_stands(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, overpaid(stream, tenant))
    before = tenant.ask(f"streams/{stream}").json()
    assert (before["next_seq"], before["adjudicated_through"], before["verdict"]) == (6, 0, "pending")
    advance(LoggedStream.objects.get(name=stream).stream_id)
    after = tenant.ask(f"streams/{stream}").json()
    assert (after["adjudicated_through"], after["verdict"], after["findings"]) == (5, "irregular", {"critical": 1})
    assert (after["casino"], after["table"], after["game"]) == (tenant.casino.code, "C1", "craps")
    assert len(after["chain"]) == 64


def test_events_come_back_byte_for_byte_in_pages(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 7)
    tenant.send(stream, sent)
    page = tenant.ask(f"streams/{stream}/events?after=2&limit=3")
    assert page.content == b'{"events":[' + b",".join(written(each) for each in sent[2:5]) + b"]}"
    lines = tenant.ask(f"streams/{stream}/events?after=5", Accept="application/x-ndjson")
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    assert lines.content == b"".join(written(each) + b"\n" for each in sent[5:])
    assert tenant.ask(f"streams/{stream}/events?after=7").json() == {"events": []}


@pytest.mark.parametrize("query", ["after=-1", "limit=0", "limit=1001", "after=x", "after=1e3", "after=٣", "limit="])
def test_an_invalid_page_is_a_problem(tenant: Tenant, stream: str, query: str) -> None:
    tenant.send(stream, tenant.session(stream, 1))
    for accept in ("application/json", "application/x-ndjson"):
        answer = tenant.ask(f"streams/{stream}/events?{query}", Accept=accept)
        assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")


def test_events_read_back_can_be_sent_again(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, overpaid(stream, tenant))
    lines = tenant.ask(f"streams/{stream}/events", Accept="application/x-ndjson").content
    assert tenant.send(stream, lines, type="application/x-ndjson").status_code == 200
    assert tenant.send(stream, tenant.ask(f"streams/{stream}/events").content).status_code == 200


def test_an_adjudication_is_that_of_the_library(tenant: Tenant, stream: str) -> None:
    sent = overpaid(stream, tenant)
    assert tenant.ask(f"streams/{stream}/adjudication").status_code == 404
    replayed(tenant, sent)
    answer = tenant.ask(f"streams/{stream}/adjudication").json()
    assert answer == json.loads(json.dumps(adjudicate(as_lines(sent).splitlines(), readings={}).as_dict()))


def test_findings_are_filtered_and_each_has_its_address(tenant: Tenant, stream: str) -> None:
    replayed(tenant, overpaid(stream, tenant))
    other = replayed(tenant, overpaid(unique_name(), tenant, table="R1"))
    every = tenant.ask("findings").json()["results"]
    assert {finding["stream"] for finding in every} == {stream, other}
    for query, count in (
        ("rule=payout-overpaid", 2),
        ("table=R1", 1),
        (f"stream={stream}", 1),
        ("severity=critical&severity=major", 2),
        ("severity=info", 0),
        ("gaming_day=2026-11-19", 2),
        ("gaming_day=2026-11-20", 0),
        ("status=standing", 2),
        ("status=superseded", 0),
    ):
        assert len(tenant.ask(f"findings?{query}").json()["results"]) == count, query
    one = tenant.ask(f"findings/{every[0]['id']}").json()
    assert one == every[0]
    assert (one["rule"], one["expected"], one["recorded"]) == ("payout-overpaid", 1_000, 5_000)
    assert one["message"]["fr"]


def test_a_finding_is_found_by_its_reference(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 1))
    finding = integrity_finding(
        LoggedStream.objects.get(name=stream), "log-tampered", 1, occurred_at=timezone.now(), facts={}
    )
    finding.save()
    code = tenant.casino.reference_code
    [one] = tenant.ask(f"findings?reference={code.lower()}-26-0001").json()["results"]
    assert (one["id"], one["reference"]) == (finding.pk, f"{code}-26-0001")
    for other in (f"{code}-25-0001", f"{code}-26-0002", f"{code}-26-0001x", "F-26-0001", "ZZZ-26-0001", "7"):
        assert tenant.ask(f"findings?reference={other}").json()["results"] == [], other


@pytest.mark.parametrize("query", ["rule=none", "severity=x", "gaming_day=yesterday", "status=odd"])
def test_a_filter_that_cannot_be_is_a_problem(tenant: Tenant, query: str) -> None:
    answer = tenant.ask(f"findings?{query}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"][0]["parameter"] == query.split("=")[0]


def test_findings_come_in_pages(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 1))
    logged = LoggedStream.objects.get(name=stream)
    Finding.objects.bulk_create(
        Finding(
            stream=logged,
            seq=seq,
            rule="late-after-close",
            engine_version="1",
            casino=tenant.casino,
            gaming_day=logged.gaming_day,
            occurred_at="2026-11-19T20:00:00Z",
            severity="major",
            evidence=[seq],
        )
        for seq in range(1, 251)
    )
    seen: list[int] = []
    path = "findings"
    while path:
        page = tenant.ask(path).json()
        seen += [finding["seq"] for finding in page["results"]]
        path = page["next"] and page["next"].split("/api/v1/")[1]
    assert sorted(seen) == list(range(1, 251))


def test_nothing_of_another_casino_is_read(tenant: Tenant, stream: str) -> None:
    neighbour = make_tenant()
    replayed(neighbour, overpaid(stream, neighbour))
    theirs = neighbour.ask("findings").json()["results"]
    assert len(theirs) == 1
    assert tenant.ask("findings").json()["results"] == []
    assert tenant.ask(f"findings/{theirs[0]['id']}").status_code == 404
    assert tenant.ask(f"findings?stream={stream}").json()["results"] == []


def test_a_key_limited_to_tables_reads_their_findings_alone(db: None, stream: str) -> None:
    tenant = make_tenant()
    replayed(tenant, overpaid(stream, tenant))
    own = replayed(tenant, overpaid(unique_name(), tenant, table="R1"))
    limited, secret = ApiKey.make(casino=tenant.casino, name="R1", scopes=list(KeyScope.values))
    limited.tables.set(tenant.casino.tables.filter(code="R1"))
    results = tenant.ask("findings", Authorization=f"Bearer {secret}").json()["results"]
    assert [finding["stream"] for finding in results] == [own]


def test_the_rules_are_the_catalogue(tenant: Tenant) -> None:
    rules = {rule["rule"]: rule for rule in tenant.ask("rules").json()["rules"]}
    assert rules.keys() == RULES.keys()
    assert rules["payout-overpaid"]["severity"] == "critical"


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("streams/s", KeyScope.STREAMS_READ),
        ("streams/s/events", KeyScope.STREAMS_READ),
        ("streams/s/adjudication", KeyScope.FINDINGS_READ),
        ("findings", KeyScope.FINDINGS_READ),
        ("rules", KeyScope.FINDINGS_READ),
    ],
)
def test_each_address_has_its_scope(tenant: Tenant, path: str, scope: str) -> None:
    others = [each for each in KeyScope.values if each != scope]
    ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=others)
    assert tenant.ask(path).status_code == 403
    ApiKey.objects.filter(pk=tenant.key.pk).update(scopes=[scope])
    assert tenant.ask(path).status_code in (200, 404)
    assert tenant.ask(path, Authorization="").status_code == 401


@pytest.mark.parametrize(
    "path", ["", "nowhere", "streamz", "streams/", "streams/s/", "streams/s/table/x", "findings/x"]
)
def test_an_unknown_address_is_a_problem(tenant: Tenant, path: str) -> None:
    answer = tenant.ask(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")


def test_the_openapi_document_is_whole(tenant: Tenant) -> None:
    answer = tenant.client.get("/api/v1/schema/?format=json")
    assert answer.status_code == 200
    document = answer.json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]["/api/v1/streams/{stream}/events"]) >= {"get", "post"}
