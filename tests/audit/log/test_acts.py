"""Officers' acts: events of the same log, sealed and proved like any other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from django.urls import reverse

from audit.log import acts, read, wire
from audit.log.acts import Act
from audit.models import Officer
from tests.audit.conftest import House
from tests.audit.log.sealed import seal, verified


def acts_today(casino_id: int) -> list[Act]:
    today = datetime.now(UTC).date()
    return [act for day in (today - timedelta(days=1), today) for act in acts.acts_of(casino_id, day)]


def officer_of(house: House, *permissions: str) -> Client:
    officer = Officer.objects.create_user("claire", password="right horse", is_staff=True)
    officer.casinos.set([house.casino])
    officer.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    assert client.login(username="claire", password="right horse")
    return client


def test_an_act_is_an_event_of_the_log_under_the_same_tree(house: House) -> None:
    acts.record("claire", "finding.assigned", casino_id=house.casino.pk, data={"id": 7, "to": "marc"}, reason="fits")
    acts.record("marc", "finding.viewed", casino_id=house.casino.pk, data={"id": 7})
    first, second = acts_today(house.casino.pk)
    assert (first.actor, first.type, first.data, first.reason) == (
        *("claire", "finding.assigned", {"id": 7, "to": "marc"}),
        "fits",
    )
    assert (second.seq, second.reason) == (first.seq + 1, "")
    seal()
    outcome = verified()
    assert outcome.faults == []
    assert outcome.batches >= 2


def test_an_act_that_is_undone_leaves_no_trace(house: House) -> None:
    with transaction.atomic():
        acts.record("claire", "key.revoked", casino_id=house.casino.pk, data={})
        transaction.set_rollback(True)
    assert acts_today(house.casino.pk) == []


def test_coming_going_and_looking_are_recorded(house: House, stream: str) -> None:
    house.send(stream, house.session(stream, 4))
    client = officer_of(house, "view_loggedstream", "view_finding")
    [(stream_id,)] = wire.execute("select stream_id from log.stream where name = %b::text", (stream,))
    assert client.get(reverse("admin:audit_loggedstream_events", args=(stream_id,))).status_code == 200
    client.post(reverse("admin:logout"))
    assert [(act.actor, act.type) for act in acts_today(house.casino.pk)] == [
        ("claire", "officer.signed_in"),
        ("claire", "events.viewed"),
        ("claire", "officer.signed_out"),
    ]
    assert acts_today(house.casino.pk)[1].data == {"stream": stream, "seqs": [1, 4]}


def test_a_refused_sign_in_is_recorded_by_the_name_and_never_the_password(house: House) -> None:
    before = len(acts_today(acts.INSTALLATION))
    Client().post(reverse("admin:login"), {"username": "clairvoyant", "password": "wrong secret"})
    [act] = acts_today(acts.INSTALLATION)[before:]
    assert (act.actor, act.type, act.data) == ("clairvoyant", "officer.refused", {})


def test_what_is_changed_at_the_desk_is_recorded_with_its_fields(house: House) -> None:
    client = officer_of(house, "view_apikey", "change_apikey", "view_casino", "change_casino")
    change = reverse("admin:audit_casino_change", args=(house.casino.pk,))
    said = {"name": "Grand Casino", "time_zone": "Europe/Paris", "cutoff": "06:00"}
    assert client.post(change, said).status_code == 302
    revoke = {"action": "revoke", "_selected_action": [house.key.pk]}
    assert client.post(reverse("admin:audit_apikey_changelist"), revoke).status_code == 302
    _, changed, revoked = acts_today(house.casino.pk)
    assert (changed.type, changed.data["fields"]) == ("casino.changed", ["Name"])
    assert (revoked.type, revoked.data["prefix"]) == ("key.revoked", house.key.prefix)
    house.key.refresh_from_db()
    assert house.key.revoked_at is not None


def test_no_table_system_reads_or_writes_the_desks_stream(house: House) -> None:
    acts.record("claire", "finding.viewed", casino_id=house.casino.pk, data={"id": 7})
    [(name,)] = wire.execute(
        "select name from log.stream where is_of_desk and casino_id = %b::bigint", (house.casino.pk,)
    )
    event = house.session(name, 2)[1]
    assert house.send(name, [event]).status_code == 403
    assert house.ask(f"streams/{name}").status_code == 404
    assert house.ask(f"streams/{name}/events").status_code == 404
    assert house.ask(f"log/inclusion?stream={name}&seq=1").status_code == 404
    head = read.head_of(house.casino.pk, name)
    assert head is not None
    assert head.next_seq == 2


def test_a_table_system_that_took_the_name_first_does_not_keep_the_desk_from_its_stream(house: House) -> None:
    name = f"desk:{datetime.now(UTC).date()}"
    assert house.send(name, house.session(name, 3)).status_code == 201
    acts.record("claire", "finding.viewed", casino_id=house.casino.pk, data={"id": 7})
    assert [act.type for act in acts_today(house.casino.pk)] == ["finding.viewed"]
    assert len(house.ask(f"streams/{name}/events").json()["events"]) == 3


def test_no_stream_of_the_desk_waits_for_a_replay(house: House) -> None:
    before = set(read.dirty_streams("1", limit=10_000))
    acts.record("claire", "finding.viewed", casino_id=house.casino.pk, data={"id": 7})
    assert set(read.dirty_streams("1", limit=10_000)) == before
