"""An integrator's own events and fields, and persons, from the request to the page and the evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.evidence import verify
from audit.evidence.gather import evidence_of
from audit.ingest import record
from audit.models import Finding, Officer, Quarantined
from tests.audit.tables import Tenant, numbered
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db(transaction=True)

MARKUP = "<script>alert('é')</script>"


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


def rouge(tenant: Tenant, name: str, **opening: Any) -> list[dict[str, Any]]:
    """A session of one red stake that is never paid, with an integrator's own fields and events in between."""
    opener = tenant.opener(name, game="french_roulette", ruleset="fr-roulette", gaming_day="2026-11-19", **opening)
    events = numbered(
        opener,
        ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 100, "player": "p0412"}),
        ("x.acme.ball-speed", {"mm_per_s": 5120, "by": MARKUP}),
        ("ball.settled", {"pocket": "1"}),
        ("ball.settled", {"pocket": "2"}),
        ("session.closed", {"float": 0}),
        ("x.acme.camera", {}),
    )
    events[3]["ext"] = {"zone": MARKUP, "sensor": {"id": "L2"}}
    return events


def found(tenant: Tenant, name: str) -> list[tuple[str, int]]:
    while (progress := advance(tenant.stream(name).stream_id)) is not None and progress.behind:
        continue
    return sorted(Finding.objects.filter(casino=tenant.casino).values_list("rule", "seq"))


def test_own_events_and_fields_are_kept_and_never_adjudicated(tenant: Tenant) -> None:
    events = rouge(tenant, "s", observes=["wheel"])
    for each in events:  # each request alone, so that none but the first is read with the opener
        assert tenant.post("s", [each]).status_code == 201
    assert tenant.post("s", events).status_code == 200
    stored = [
        json.loads(line) for line in tenant.ask("streams/s/events", Accept="application/x-ndjson").content.splitlines()
    ]
    assert [each["type"] for each in stored] == [each["type"] for each in events]
    assert stored[2]["data"] == events[2]["data"]
    assert stored[3]["ext"] == events[3]["ext"]
    assert found(tenant, "s") == [("payout-missing", 5)], "what comes late after the close is not an own event"
    changed = [{**events[3], "ext": {"zone": "another"}}]
    assert tenant.post("s", changed).json()["code"] == "conflict", "it is part of what is hashed"


def test_the_page_of_events_shows_them_as_text(tenant: Tenant) -> None:
    tenant.post("s", rouge(tenant, "s"))
    found(tenant, "s")
    desk = Client()
    desk.force_login(Officer.objects.create_superuser("chief"))
    [finding] = Finding.objects.filter(casino=tenant.casino)
    for address in (
        reverse("admin:audit_loggedstream_events", args=(tenant.stream("s").stream_id,)),
        reverse("admin:audit_finding_change", args=(finding.pk,)),
    ):
        page = desk.get(address, headers={"accept-language": "en"}).content.decode()
        assert "Entry of the table system’s own, not adjudicated" in page
        assert "&quot;mm_per_s&quot;:5120" in page
        assert "&quot;sensor&quot;:{&quot;id&quot;:&quot;L2&quot;}" in page
        assert "&lt;script&gt;alert(&#x27;é&#x27;)&lt;/script&gt;" in page
        assert MARKUP not in page


def test_the_evidence_has_them(tenant: Tenant) -> None:
    tenant.post("s", rouge(tenant, "s"))
    found(tenant, "s")
    seal()
    [finding] = Finding.objects.filter(casino=tenant.casino)
    files = verify.files_in(evidence_of(finding).raw)
    assert list(verify.checks(files))
    lines = [json.loads(line) for line in files["events.ndjson"].splitlines()]
    assert lines[2]["type"] == "x.acme.ball-speed"
    assert lines[3]["ext"]["zone"] == MARKUP


@pytest.mark.parametrize(
    ("change", "pointer", "says"),
    [
        ({"data": {"wager": "w", "bet": "rouge", "stake": 1, "player": "Zoé Savard"}}, "/0/data/player", "opaque id"),
        ({"actor": "Zoé Savard"}, "/0/actor", "directory"),
        ({"data": {"wager": "w", "bet": "Rouge", "stake": 1}}, "/0/data/bet", "'rouge' is meant"),
        ({"ext": []}, "/0/ext", "object"),
        ({"ext": {"a": "x" * 4_096}}, "/0/ext", "4104 bytes"),
        ({"type": "x.Acme"}, "/0/type", "x."),
        ({"type": "acme.camera"}, "/0/type", "no type of event"),
        ({"ext": {"a": ["\x1b[8m"]}}, "/0/ext/a/0", "U+001B"),
        ({"ext": {"\u202egnihton": 1}}, "/0/ext", "U+202E"),
        ({"data": {"wager": "w\x9b2K", "bet": "rouge", "stake": 1}}, "/0/data/wager", "U+009B"),
    ],
)
def test_what_is_refused_is_refused_with_a_word_why(
    tenant: Tenant, change: dict[str, Any], pointer: str, says: str
) -> None:
    first, second, *_rest = rouge(tenant, "s")
    tenant.post("s", [first])
    answer = tenant.post("s", [second | change])
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert says in error["detail"]
    assert Quarantined.objects.filter(casino=tenant.casino, code="invalid", seq=2).count() == 1
    assert tenant.post("s", [second]).status_code == 201


def test_an_own_event_opens_no_stream(tenant: Tenant) -> None:
    own = rouge(tenant, "s")[2] | {"seq": 1}
    assert tenant.post("s", [own]).json()["code"] == "not-opened"


def test_a_control_that_was_stored_is_compared_and_not_refused(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    events = rouge(tenant, "s")[:3]
    events[2]["data"]["by"] = "a\nb"
    with monkeypatch.context() as before_the_rule:
        before_the_rule.setattr(record, "refuse_controls", lambda envelope: None)
        assert tenant.post("s", events).status_code == 201
    assert tenant.post("s", events).status_code == 200


def test_a_person_who_was_stored_by_name_is_read_as_ever(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    events = rouge(tenant, "s")
    events[1]["data"]["player"] = "Zoé Savard"
    with monkeypatch.context() as first_edition:
        first_edition.setattr(record, "to_look_at", lambda events: [])
        assert tenant.post("s", events[:3]).status_code == 201
    assert tenant.post("s", events).status_code == 201, "what is stored is compared, not refused"
    assert found(tenant, "s") == [("payout-missing", 5)]
    desk = Client()
    desk.force_login(Officer.objects.create_superuser("chief"))
    address = reverse("admin:audit_loggedstream_table", args=(tenant.stream("s").stream_id,))
    assert "Zoé Savard" in desk.get(address).content.decode()
    seal()
    [finding] = Finding.objects.filter(casino=tenant.casino)
    assert evidence_of(finding).raw


def test_the_document_describes_an_event(tenant: Tenant) -> None:
    schemas = tenant.client.get("/api/v1/schema/?format=json").json()["components"]["schemas"]
    own = schemas["ExtensionEvent"]["properties"]
    assert {"ext", "actor", "data"} <= own.keys()
    assert own["type"]["pattern"] == r"^x(\.[a-z0-9-]+)+$"
    assert {"$ref": "#/components/schemas/ExtensionEvent"} in schemas["Event"]["anyOf"]
