"""The audit trail: what officers did is recorded in the same log, sealed and proved like any other event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.test import Client
from django.urls import reverse

from audit.access.refusals import write_refusals
from audit.event_store import audit_trail, binary_copy, read
from audit.event_store.audit_trail import AuditEntry
from audit.models import Membership, Officer, Role
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified


def entries_today(casino_id: int) -> list[AuditEntry]:
    """The audit trail's entries of today and yesterday: a test may run over midnight."""
    today = datetime.now(UTC).date()
    return [entry for day in (today - timedelta(days=1), today) for entry in audit_trail.entries_of(casino_id, day)]


def officer_of(tenant: Tenant) -> Client:
    officer = Officer.objects.create_user("claire", password="right horse", is_staff=True)
    Membership.objects.create(officer=officer, casino=tenant.casino, role=Role.OFFICER)
    client = Client()
    assert client.login(username="claire", password="right horse")
    return client


def test_an_entry_is_an_event_of_the_log_under_the_same_tree(tenant: Tenant) -> None:
    audit_trail.record(
        "claire", "finding.assigned", casino_id=tenant.casino.pk, data={"id": 7, "to": "marc"}, reason="fits"
    )
    audit_trail.record("marc", "finding.viewed", casino_id=tenant.casino.pk, data={"id": 7})
    first, second = entries_today(tenant.casino.pk)
    assert (first.actor, first.type, first.data, first.reason) == (
        *("claire", "finding.assigned", {"id": 7, "to": "marc"}),
        "fits",
    )
    assert (second.seq, second.reason) == (first.seq + 1, "")
    seal()
    outcome = verified()
    assert outcome.faults == []
    assert outcome.batches >= 2


def test_a_text_that_fits_into_its_field_is_kept_whole_though_a_form_sends_two_characters_for_a_line_break() -> None:
    lines = ["no chip was found"] * 100
    typed = "\n".join(lines)
    assert audit_trail.cleaned("\r\n".join(lines), most=len(typed)) == typed
    assert audit_trail.cleaned("\r\n".join([*lines, "more"]), most=len(typed)) == typed


def test_an_entry_is_rolled_back_with_what_it_records(tenant: Tenant) -> None:
    with transaction.atomic():
        audit_trail.record("claire", "key.revoked", casino_id=tenant.casino.pk, data={})
        transaction.set_rollback(True)
    assert entries_today(tenant.casino.pk) == []


def test_signing_in_viewing_and_signing_out_are_recorded(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 4))
    client = officer_of(tenant)
    [(stream_id,)] = binary_copy.execute("select stream_id from log.stream where name = %b::text", (stream,))
    assert client.get(reverse("admin:audit_loggedstream_events", args=(stream_id,))).status_code == 200
    client.post(reverse("admin:logout"))
    _role_given, *entries = entries_today(tenant.casino.pk)
    assert [(entry.actor, entry.type) for entry in entries] == [
        ("claire", "officer.signed_in"),
        ("claire", "events.viewed"),
        ("claire", "officer.signed_out"),
    ]
    assert entries[1].data == {"stream": stream, "seqs": [1, 4]}


def test_a_refused_sign_in_is_counted_and_neither_the_name_nor_the_password_is_recorded(tenant: Tenant) -> None:
    before = len(entries_today(audit_trail.INSTALLATION))
    Client().post(reverse("admin:login"), {"username": "clairvoyant", "password": "wrong secret"})
    write_refusals(datetime.now(UTC) + timedelta(minutes=10))
    [entry] = entries_today(audit_trail.INSTALLATION)[before:]
    assert (entry.type, entry.actor, entry.data["refusals"]) == ("officer.refused", "sign-in", 1)
    assert "clairvoyant" not in str(entry)
    assert "secret" not in str(entry)


def test_a_change_at_the_desk_is_recorded_with_its_fields(tenant: Tenant) -> None:
    Officer.objects.create_superuser("claire", password="right horse")
    client = Client()
    assert client.login(username="claire", password="right horse")
    change = reverse("admin:audit_casino_change", args=(tenant.casino.pk,))
    form = {
        "name": "Grand Casino",
        "time_zone": "Europe/Paris",
        "cutoff": "06:00",
        "priority_threshold": "100",
        "unclaimed_days": "365",
        "false_questions": "1",
    }
    assert client.post(change, form).status_code == 302
    revoke = {"action": "revoke", "_selected_action": [tenant.key.pk]}
    assert client.post(reverse("admin:audit_apikey_changelist"), revoke).status_code == 302
    changed, revoked = entries_today(tenant.casino.pk)
    assert (changed.type, changed.data["fields"]) == ("casino.changed", ["Name"])
    assert (revoked.type, revoked.data["prefix"]) == ("key.revoked", tenant.key.prefix)
    tenant.key.refresh_from_db()
    assert tenant.key.revoked_at is not None


def test_no_table_system_reads_or_writes_a_desk_stream(tenant: Tenant) -> None:
    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={"id": 7})
    [(name,)] = binary_copy.execute(
        "select name from log.stream where is_of_desk and casino_id = %b::bigint", (tenant.casino.pk,)
    )
    event = tenant.session(name, 2)[1]
    assert tenant.send(name, [event]).status_code == 403
    assert tenant.ask(f"streams/{name}").status_code == 404
    assert tenant.ask(f"streams/{name}/events").status_code == 404
    assert tenant.ask(f"log/inclusion?stream={name}&seq=1").status_code == 404
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    assert head.next_seq == 2


def test_a_desk_stream_opens_although_a_table_system_took_its_name(tenant: Tenant) -> None:
    name = f"desk:{datetime.now(UTC).date()}"
    assert tenant.send(name, tenant.session(name, 3)).status_code == 201
    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={"id": 7})
    assert [entry.type for entry in entries_today(tenant.casino.pk)] == ["finding.viewed"]
    assert len(tenant.ask(f"streams/{name}/events").json()["events"]) == 3


def test_no_desk_stream_waits_for_a_replay(tenant: Tenant) -> None:
    before = set(read.dirty_streams("1", limit=10_000))
    audit_trail.record("claire", "finding.viewed", casino_id=tenant.casino.pk, data={"id": 7})
    assert set(read.dirty_streams("1", limit=10_000)) == before
