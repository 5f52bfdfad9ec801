"""What a vendor reads: the page of the events and the interface's own document have every event and every field."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from audit.adjudication.replay import advance
from audit.api.event_schemas import event_schemas
from audit.management.commands.eventpage import FAMILIES, PAGE, SECTIONS, page
from settlement.events import DATA_OF, TYPES
from settlement.events.envelope import Family
from settlement.events.meanings import FIELDS, MEANINGS, MEANT_OTHERWISE
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.audit.transparency.sealed import seal


def fields_of(type: str) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(DATA_OF[TYPES[type]])}


def test_the_page_of_the_events_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run manage.py eventpage"


def test_every_event_and_every_field_has_a_meaning_and_no_other_has() -> None:
    contract, own = [[name for name, kind in TYPES.items() if bool(kind.ruleset) is is_own] for is_own in (False, True)]
    assert MEANINGS.keys() == set(contract)
    assert set(FIELDS) == set().union(*map(fields_of, contract))
    assert {name: TYPES[name].meanings.keys() for name in own} == {name: {"", *fields_of(name)} for name in own}
    assert all(field in fields_of(type) for type, field in MEANT_OTHERWISE)


def test_every_event_has_its_part_of_the_page_and_its_fields_in_it() -> None:
    parts = page().split("\n### ")[1:]
    written = {part.split("`")[1]: part for part in parts}
    assert written.keys() == TYPES.keys()
    for type, part in written.items():
        for field in fields_of(type):
            assert re.search(rf"^\* .*`{field}`", part, re.M), (type, field)
    assert list(SECTIONS)[-1] == "Roulette", "the last section takes what is left"


def test_families_are_those_that_a_session_may_list() -> None:
    assert set(FAMILIES) == set(Family.__args__)  # type: ignore[attr-defined]
    named = [type for types in FAMILIES.values() for type in types]
    assert len(named) == len(set(named))
    assert set(named) <= TYPES.keys()


@pytest.mark.parametrize("type", sorted(TYPES))
def test_the_schema_of_an_event_is_one_and_has_every_field(type: str) -> None:
    schemas = event_schemas()
    Draft202012Validator.check_schema(schemas[type])
    assert schemas[type]["properties"].keys() == fields_of(type)
    assert schemas[type]["additionalProperties"] is False


@pytest.mark.django_db
def test_what_is_recorded_is_valid_by_the_schema_and_a_finding_by_its_own() -> None:
    tenant = Tenant()
    document = Client().get("/api/v1/schema/?format=json").json()
    events = dice_changed_in_mid_series(tenant, "s")
    for event in events:
        _valid(document, str(event["type"]), event["data"])
    assert tenant.post("s", events).status_code == 201
    advance(tenant.stream("s").stream_id)
    found = tenant.get("/findings").json()["results"]
    assert found
    properties = document["components"]["schemas"]["Finding"]["properties"]
    for finding in found:
        _valid(document, "Finding", finding)
        assert finding.keys() <= properties.keys()
    wrong = {"wager": "w1", "winnings": -1, "stake_returned": 0}
    with pytest.raises(AssertionError):
        _valid(document, "payout.made", wrong)
    with pytest.raises(AssertionError):
        _valid(document, "player.left", {"player": "Anna Ferrand"})


def _valid(document: dict[str, Any], name: str, value: Any) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    errors = list(Draft202012Validator(schema).iter_errors(json.loads(json.dumps(value))))
    assert not errors, errors[0].message


@pytest.mark.django_db
def test_every_answer_is_as_its_schema_has_it_and_has_no_field_that_the_schema_has_not() -> None:
    tenant = Tenant()
    document = Client().get("/api/v1/schema/?format=json").json()
    events = dice_changed_in_mid_series(tenant, "s")
    answers = {
        "DryRunResult": _posted(tenant, "/streams/s/events?dry_run=true", events),
        "Receipt": tenant.post("s", events).json(),
        "StreamResults": _posted(tenant, "/events", events),
    }
    advance(tenant.stream("s").stream_id)
    seal()
    answers |= {
        "StoredEvents": tenant.get("/streams/s/events").json(),
        "Standing": tenant.get("/streams/s").json(),
        "Adjudication": tenant.get("/streams/s/adjudication").json(),
        "Inclusion": tenant.get("/log/inclusion?stream=s&seq=3").json(),
        "Consistency": tenant.get("/log/consistency?from=1").json(),
        "PublicKeys": tenant.get("/log/key").json(),
        "OwnKey": tenant.get("/key").json(),
        "StreamList": tenant.get("/streams").json(),
        "BatchList": tenant.get("/streams/s/batches").json(),
        "FeedPage": tenant.get("/findings/feed").json(),
    }
    for name, answer in answers.items():
        _valid(document, name, answer)
        schema = document["components"]["schemas"][name]
        assert answer.keys() <= schema["properties"].keys(), name
    assert answers["DryRunResult"]["findings"]
    assert answers["Adjudication"]["findings"]
    assert answers["Adjudication"]["wagers"]
    changes = answers["FeedPage"]["changes"]
    assert changes
    finding = document["components"]["schemas"]["PublishedFinding"]
    assert all(change["finding"].keys() <= finding["properties"].keys() for change in changes)


@pytest.mark.django_db
def test_the_document_says_what_generators_and_fuzzers_need(client: Client) -> None:
    """No client is called as ours is; each number has its bounds, and each name its pattern."""
    document = client.get("/api/v1/schema/?format=json").json()
    assert document["info"]["title"].lower().replace(" ", "-") + "-client" != "cabochon-client"
    assert document["servers"] == [{"url": "/", "description": "The record that serves this document."}]
    parameters = [
        (f"{method} {path}", each["name"], each["schema"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for each in operation.get("parameters", ())
    ]
    assert [
        (where, name)
        for where, name, schema in parameters
        if schema["type"] == "integer" and not ({"minimum", "maximum"} <= schema.keys() or "enum" in schema)
    ] == []
    assert {name for _, name, schema in parameters if name in ("stream", "currency") and "pattern" not in schema} == {
        "stream"
    }, "a filter of findings takes any text, and finds nothing"
    answers = {
        content["schema"].get("$ref", "")
        for content in document["paths"]["/api/v1/findings/feed"]["get"]["responses"]["200"]["content"].values()
    }
    assert "#/components/schemas/FeedPage" in answers


@pytest.mark.django_db
def test_an_event_is_valid_by_the_union_and_only_by_the_schema_of_its_type() -> None:
    document = Client().get("/api/v1/schema/?format=json").json()
    events = dice_changed_in_mid_series(Tenant(), "s")
    own = {**events[1], "type": "x.acme.ball-speed", "data": {"metres": 3}}
    for event in [*events, own]:
        _valid(document, "Event", event)
    for wrong in ({**own, "type": "wager.lifted"}, {**events[0], "data": {}}, {**events[0], "note": "x"}):
        with pytest.raises(AssertionError):
            _valid(document, "Event", wrong)
    mapping = document["components"]["schemas"]["ContractEvent"]["discriminator"]["mapping"]
    assert mapping.keys() == TYPES.keys()
    for type, name in mapping.items():
        schema = document["components"]["schemas"][name.rpartition("/")[2]]
        assert schema["properties"]["type"]["const"] == type


def _posted(tenant: Tenant, path: str, events: list[dict[str, Any]]) -> Any:
    answer = tenant.client.post(
        f"/api/v1{path}", json.dumps(events), content_type="application/json", headers=tenant.headers()
    )
    return answer.json()
