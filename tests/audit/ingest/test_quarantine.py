"""Quarantine: what was refused is kept for a time, shown safely, and never fills the disk."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from audit.ingest.quarantine import purge
from audit.models import Finding, Officer, Quarantined
from audit.tasks import purge_quarantine
from tests.audit.conftest import make_tenant
from tests.audit.tables import Tenant


def of(tenant: Tenant) -> list[Quarantined]:
    return list(Quarantined.objects.filter(casino=tenant.casino).order_by("pk"))


def conflicted(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 3)
    tenant.send(stream, sent)
    assert tenant.send(stream, [sent[2] | {"actor": "<b>else</b>"}]).status_code == 409


@pytest.mark.superuser
def test_the_bytes_of_old_requests_are_deleted_and_their_digest_stays(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, b"[<script>]")
    tenant.send(stream, b"[new]")
    [old, new] = of(tenant)
    Quarantined.objects.filter(pk=old.pk).update(received_at=timezone.now() - timedelta(days=500))
    digest = bytes(old.digest)
    assert purge_quarantine() >= 1
    [old, new] = of(tenant)
    assert (bytes(old.body), bytes(old.digest), old.size, old.code) == (b"", digest, 10, "invalid")
    assert old.purged_at is not None
    assert (bytes(new.body), new.purged_at) == (b"[new]", None)
    assert tenant.send(stream, b"[<script>]").status_code == 422
    assert len(of(tenant)) == 2, "the same again is known by its digest"


def test_the_bytes_of_a_standing_conflict_are_kept(tenant: Tenant, stream: str) -> None:
    conflicted(tenant, stream)
    later = timezone.now() + timedelta(days=1)
    purge(before=later)
    assert of(tenant)[0].purged_at is None
    Finding.objects.filter(casino=tenant.casino).update(status="superseded", superseded_at=later)
    purge(before=later)
    assert of(tenant)[0].purged_at is not None


def test_a_broken_table_system_does_not_fill_the_disk(tenant: Tenant, stream: str, settings: Settings) -> None:
    settings.CABOCHON_QUARANTINE_BYTES = 1_000
    for number in range(5):
        tenant.send(stream, b"[%d" % number + b"x" * 600 + b"]")
    assert [len(bytes(refused.body)) for refused in of(tenant)] == [603, 603, 0, 0, 0]
    assert all(len(bytes(refused.digest)) == 32 and refused.size == 603 for refused in of(tenant))
    other = make_tenant()
    other.send(stream, b"[x]")
    assert len(bytes(of(other)[0].body)) == 3


def test_no_byte_is_kept_beyond_the_limit(tenant: Tenant, stream: str, settings: Settings) -> None:
    settings.CABOCHON_QUARANTINE_BYTES = 5
    for sent in (b"[one]", b"[]"):
        tenant.send(stream, sent + b"!" * (sent == b"[]"))
    assert [bytes(refused.body) for refused in of(tenant)] == [b"[one]", b""]


def test_the_command_counts_and_purges(tenant: Tenant, stream: str) -> None:
    tenant.send(stream, b"[x]")
    output = StringIO()
    call_command("quarantine", stdout=output)
    call_command("quarantine", "--dry-run", "--days", "0", stdout=output)
    assert of(tenant)[0].purged_at is None
    call_command("quarantine", "--purge", "--days", "0", stdout=output)
    assert of(tenant)[0].purged_at is not None
    assert "invalid" in output.getvalue()
    assert "would be deleted" in output.getvalue()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_escapes_bytes_and_shows_a_conflict_next_to_the_stored_event(
    tenant: Tenant, stream: str, language: str
) -> None:
    conflicted(tenant, stream)
    tenant.send(stream, b"[\xff<script>alert(1)</script>]")
    officer = Officer.objects.create_user("claire", is_staff=True)
    officer.casinos.set([tenant.casino])
    client = Client(headers={"accept-language": language})
    client.force_login(officer)
    assert client.get(reverse("admin:audit_quarantined_changelist")).status_code == 200
    conflict, broken = of(tenant)
    page = client.get(reverse("admin:audit_quarantined_change", args=(conflict.pk,))).content.decode()
    assert page.count("&lt;b&gt;else&lt;/b&gt;") == 2, "as it came, and in canonical form"
    assert "&quot;wager.placed&quot;" in page.partition("else")[2]
    page = client.get(reverse("admin:audit_quarantined_change", args=(broken.pk,))).content.decode()
    assert "<script>alert" not in page
    assert "5bff3c73" in page
    file = client.get(reverse("admin:audit_quarantined_bytes", args=(broken.pk,)))
    assert file.content == bytes(broken.body)
    assert file.headers["Content-Type"] == "application/octet-stream"
    stranger = Client()
    other = Officer.objects.create_user("other", is_staff=True)
    other.casinos.set([make_tenant().casino])
    stranger.force_login(other)
    for name in ("change", "bytes"):
        assert stranger.get(reverse(f"admin:audit_quarantined_{name}", args=(broken.pk,))).status_code in (302, 404)


@pytest.mark.superuser
def test_bytes_that_are_deleted_make_room_for_others(tenant: Tenant, stream: str, settings: Settings) -> None:
    settings.CABOCHON_QUARANTINE_BYTES = 4
    tenant.send(stream, b"[one]")
    tenant.send(stream, b"[two]")
    assert [bytes(refused.body) for refused in of(tenant)] == [b"[one]", b""]
    assert purge(before=timezone.now() + timedelta(seconds=1)) >= 1
    tenant.send(stream, b"[three]")
    assert [bytes(refused.body) for refused in of(tenant)] == [b"", b"", b"[three]"]
    Quarantined.objects.filter(casino=tenant.casino).update(received_at=timezone.now() - timedelta(hours=25))
    tenant.send(stream, b"[four]")
    assert bytes(of(tenant)[-1].body) == b"[four]", "yesterday's bytes do not count"


@pytest.mark.parametrize(("limit", "is_kept"), [(4, False), (5, False), (6, True)])
def test_the_bytes_of_a_conflict_are_not_kept_either_once_the_days_limit_is_reached(
    tenant: Tenant, stream: str, settings: Settings, limit: int, is_kept: bool
) -> None:
    settings.CABOCHON_QUARANTINE_BYTES = limit
    tenant.send(stream, b"[one]")
    conflicted(tenant, stream)
    [_, refused] = of(tenant)
    assert (refused.code, refused.seq) == ("conflict", 3)
    assert (bytes(refused.body) != b"", refused.purged_at is None) == (is_kept, is_kept)
    assert Finding.objects.get(casino=tenant.casino).rule == "sequence-conflict"


def test_a_broken_table_system_does_not_fill_the_table(tenant: Tenant, stream: str, settings: Settings) -> None:
    settings.CABOCHON_QUARANTINE_ROWS = 3
    for number in range(6):
        assert tenant.send(stream, b"[%d" % number).status_code == 422
    sent = tenant.session(stream, 6)
    tenant.send(stream, sent)
    for turn in range(2):
        assert tenant.send(stream, [each | {"actor": f"else-{turn}"} for each in sent[1:]]).status_code == 409
    assert [each.code for each in of(tenant)] == ["invalid"] * 3 + ["full"]
    found = Finding.objects.filter(casino=tenant.casino, rule="sequence-conflict")
    assert sorted(found.values_list("seq", flat=True)) == [2, 3, 4, 5, 6], "findings do not depend on what is kept"
    other = make_tenant()
    other.send(stream, b"[1")
    assert len(of(other)) == 1


def test_a_conflict_of_more_events_than_there_is_room_for_keeps_the_first(
    tenant: Tenant, stream: str, settings: Settings
) -> None:
    settings.CABOCHON_QUARANTINE_ROWS = 2
    sent = tenant.session(stream, 6)
    tenant.send(stream, sent)
    assert tenant.send(stream, [each | {"actor": "else"} for each in sent]).status_code == 409
    assert sorted((each.code, each.seq) for each in of(tenant) if each.seq) == [("conflict", 1), ("conflict", 2)]
    assert [each.code for each in of(tenant) if not each.seq] == ["full"]
