"""Who may do what, and what is sent out, is what the log says: forged by SQL as a superuser with every guard off."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from audit.access import keys
from audit.event_store import audit_trail
from audit.event_store.audit_trail import COMMAND
from audit.models import ApiKey, Finding, Membership, ProviderAccount, Role, Webhook
from audit.notifications import feed, webhooks
from audit.projections.takeover import keep_settings
from tests import citus
from tests.audit.casework.test_actions import hired
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge, named, named_after
from tests.audit.projections.test_contacts import entered_contacts
from tests.audit.projections.test_receivers import entered_receivers
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

HOOK = "https://hooks.example/cabochon?token=1"


class Kept:
    """A casino with findings, officers, a webhook, keys, groups and a linked account, all of which the log keeps."""

    def __init__(self) -> None:
        self.record = Casino()
        self.casino = self.record.casino
        self.record.played("s")
        self.record.corrected("t")
        self.second = self.record.second
        self.stranger = hired(Tenant(), Role.AUDITOR, "stranger")
        self.webhook, _secret = webhooks.create(COMMAND, casino=self.casino, name="g", url=HOOK, severities=["major"])
        self.key, _secret = keys.make(keys.COMMAND, casino=self.casino, name="k", scopes=["streams:read"])
        self.rotated, _new, _secret = keys.rotate(
            keys.COMMAND, keys.make(keys.COMMAND, casino=self.casino, name="o", scopes=["streams:read"])[0].pk
        )
        [self.revoked] = keys.revoke(
            keys.COMMAND, [keys.make(keys.COMMAND, casino=self.casino, name="r", scopes=[])[0].pk]
        )
        call_command("signon", add=[self.casino.code, "auditor", "inspectors"])
        linked = {"id": self.second.pk, "officer": self.second.get_username(), "issuer": "https://id.example"}
        audit_trail.perform(
            self.second.get_username(), "officer.linked", casino_id=self.casino.pk, data=linked, secret="subject-1"
        )
        entered_contacts(self.record)
        self.subscriber, self.request = entered_receivers(self.record)
        feed.number(self.casino.pk)
        keep_settings()
        seal()
        assert faults() == []
        self.finding = Finding.objects.standing().filter(casino=self.casino).earliest("pk")

    def forge(self, statement: str) -> None:
        names: dict[str, Any] = {
            "casino": self.casino.pk,
            "auditor": self.record.auditor.pk,
            "second": self.second.pk,
            "stranger": self.stranger.pk,
            "webhook": self.webhook.pk,
            "key": self.key.pk,
            "revoked": self.revoked.pk,
            "rotated": self.rotated.pk,
            "table": self.record.tenant.table.pk,
            "finding": self.finding.pk,
        }
        forge(statement, **names)


@pytest.fixture(scope=citus.MODULE)
def kept(_committed_before: None) -> Kept:
    return Kept()


FORGED = {
    "a wider role": ("update audit_officer_casinos set role = 'second' where officer_id = {auditor}", "role: auditor"),
    "a role that nobody gave": (
        "insert into audit_officer_casinos (officer_id, casino_id, role) values ({stranger}, {casino}, 'director')",
        "is director at",
    ),
    "a role taken away": ("delete from audit_officer_casinos where officer_id = {second}", "has no role at"),
    "a group that stands for more": (
        "update audit_grouprole set role = 'second' where casino_id = {casino}",
        "inspectors stands for second",
    ),
    "a group added": (
        "insert into audit_grouprole (casino_id, role, \"group\") values ({casino}, 'director', 'everybody')",
        "everybody stands for director",
    ),
    "a group removed": ("delete from audit_grouprole where casino_id = {casino}", "inspectors does not stand for"),
    "an account linked to another officer": (
        "update audit_provideraccount set officer_id = {auditor} where officer_id = {second}",
        "is linked to an account at https://id.example, and no entry says so",
    ),
    "an account at another provider": (
        "update audit_provideraccount set issuer = 'https://evil.example' where officer_id = {second}",
        "is linked to an account at https://evil.example",
    ),
    "a link deleted": ("delete from audit_provideraccount where officer_id = {second}", "is linked to no account"),
    "scopes added to a key": (
        "update audit_apikey set scopes = array['streams:read', 'events:write'] where id = {key}",
        "has not the scopes and tables that entry",
    ),
    "a key that is limited to one table": (
        "insert into audit_apikey_tables (apikey_id, gamingtable_id) values ({key}, {table})",
        "has not the scopes and tables that entry",
    ),
    "a revoked key that is valid again": (
        "update audit_apikey set revoked_at = null where id = {revoked}",
        "is not revoked, and entry",
    ),
    "a revoked key that is valid until later": (
        "update audit_apikey set revoked_at = '2099-01-01' where id = {revoked}",
        "is not revoked when entry",
    ),
    "a key that was revoked earlier": (
        "update audit_apikey set revoked_at = revoked_at - interval '1 day' where id = {revoked}",
        "is not revoked when entry",
    ),
    "a key of another name": ("update audit_apikey set name = 'other' where id = {key}", "has not the name"),
    "a key of another day": (
        "update audit_apikey set created_at = created_at - interval '1 day' where id = {key}",
        "has not the date",
    ),
    "a key of another casino": (
        "update audit_apikey set casino_id = -1 where id = {key}",
        "has not the casino that entry",
    ),
    "a key of another prefix": (
        "update audit_apikey set prefix = 'aaaabbbbcccc' where id = {key}",
        "has not the prefix",
    ),
    "a key that is valid for longer": (
        "update audit_apikey set expires_at = now() + interval '9 years' where id = {key}",
        "has not the expiry",
    ),
    "a key that never ends": ("update audit_apikey set expires_at = null where id = {rotated}", "has not the expiry"),
    "a key that was revoked by nobody": (
        "update audit_apikey set revoked_at = now() where id = {key}",
        "is revoked, and no entry says so",
    ),
    "a key deleted": ("delete from audit_apikey where id = {revoked}", "is missing, of which entry"),
    "a webhook that gets alerts": ("update audit_webhook set receives_alerts = true where id = {webhook}", "alerts"),
    "a key added": (
        "insert into audit_apikey (casino_id, name, prefix, digest, scopes, created_at)"
        " values ({casino}, 'x', 'aaaabbbbcccc', sha256('x'), array['events:write'], now())",
        "API key aaaabbbbcccc is stored, and no entry says what it may do",
    ),
    "a webhook sent elsewhere": (
        "update audit_webhook set url = 'https://evil.example/' where id = {webhook}",
        "is not what entry",
    ),
    "a webhook sent to another path of its host": (
        "update audit_webhook set url = url || '2' where id = {webhook}",
        "is not what entry",
    ),
    "a webhook that leaves out what is grave": (
        "update audit_webhook set severities = array['info'] where id = {webhook}",
        "severities",
    ),
    "a webhook put to silence": ("update audit_webhook set is_active = false where id = {webhook}", "active"),
    "a webhook added": (
        "insert into audit_webhook (casino_id, name, url, severities, is_active, created_at, position, failures, error,"
        " test_result) values ({casino}, 'x', 'https://evil.example/', array['major'], true, now(), 0, 0, '', '')",
        "(x) is stored, and no entry says so",
    ),
    "a webhook deleted": (
        "with gone as (delete from audit_webhooksecret where webhook_id = {webhook})"
        " delete from audit_webhook where id = {webhook}",
        "is missing, of which",
    ),
    "a change deleted from the feed": (
        "delete from audit_findingchange where casino_id = {casino} and position = 1",
        "the feed of casino",
    ),
    "the newest change deleted, and no position missing": (
        "delete from audit_findingchange where casino_id = {casino} and position ="
        " (select max(position) from audit_findingchange where casino_id = {casino})",
        "feed of",
    ),
    "a change that says what is not": (
        "update audit_findingchange set kind = 'superseded' where finding_id = {finding} and kind = 'opened'",
        "and the feed says",
    ),
    "a change added that supersedes": (
        "insert into audit_findingchange (casino_id, table_id, finding_id, kind, at, position)"
        " select casino_id, table_id, finding_id, 'superseded', now(), (select max(position) + 1"
        " from audit_findingchange where casino_id = {casino}) from audit_findingchange"
        " where finding_id = {finding} limit 1",
        "and the feed says superseded last",
    ),
    "a change of a finding that does not exist": (
        "update audit_findingchange set finding_id = -finding_id where finding_id = {finding}",
        "changes of finding -",
    ),
    "a change in the feed of another casino": (
        "update audit_findingchange set casino_id = -1 where finding_id = {finding}",
        "are not of its casino",
    ),
    "positions moved on": (
        "update audit_findingchange set position = position + 1000 where casino_id = {casino}",
        "the feed of casino",
    ),
    "a counter set back": (
        "update audit_findingcounter set last = 0 where casino_id = {casino}",
        "counter of references",
    ),
    "a counter moved on": (
        "update audit_findingcounter set last = last + 7 where casino_id = {casino}",
        "counter of references",
    ),
    "a counter deleted": ("delete from audit_findingcounter where casino_id = {casino}", "counter of references"),
    "a reference given to another finding": (
        "update audit_finding set number = number + 100 where id = {finding}",
        "{where}",
    ),
}


@pytest.mark.faults
def test_whatever_is_forged_is_named(kept: Kept) -> None:
    where = f"of {kept.finding.stream.name}, event {kept.finding.seq}:"
    missed = []
    for what, (statement, expected) in FORGED.items():
        found = named_after(partial(kept.forge, statement))
        if expected.format(where=where) not in found:
            missed.append(f"{what}: {found or 'no fault'}")
    assert not missed, "\n".join(missed)
    assert faults() == []


def test_what_is_declared_not_to_be_named_is_not(kept: Kept) -> None:
    """``docs/log.md`` says so, under what tables say: whoever closes one of these changes both."""
    kept.forge("update audit_apikey set digest = sha256('another secret') where id = {key}")
    kept.forge("update audit_provideraccount set subject = 'subject-2' where officer_id = {second}")
    kept.forge("update audit_webhook set position = 0, failures = 3 where id = {webhook}")
    assert named() == ""


def test_a_linked_account_that_was_unlinked_holds(kept: Kept) -> None:
    call_command("signon", unlink=kept.second.get_username())
    assert not ProviderAccount.objects.filter(officer=kept.second).exists()
    seal()
    assert faults() == []


def test_each_change_of_a_webhook_holds(kept: Kept) -> None:
    webhooks.change(COMMAND, kept.webhook, name="h", url=HOOK + "2", severities=["minor", "critical"], is_active=False)
    webhooks.rotate(COMMAND, kept.webhook)
    seal()
    assert faults() == []
    stored = Webhook.objects.get(pk=kept.webhook.pk)
    entry = [
        each for each in audit_trail.entries_of(kept.casino.pk, stored.created_at.date()) if "address" in each.data
    ]
    assert entry[-1].data["address"] == hashlib.sha256(stored.url.encode()).hexdigest()
    assert stored.url not in str(entry), "an address may have a secret in it"


def test_a_key_that_was_rotated_holds(kept: Kept) -> None:
    _before, key, _secret = keys.rotate(keys.COMMAND, kept.key.pk)
    seal()
    assert faults() == []
    assert ApiKey.objects.get(pk=key.pk).scopes == ["streams:read"]


def test_a_role_that_is_changed_and_taken_away_by_a_command_holds(kept: Kept) -> None:
    membership = Membership.objects.get(officer=kept.record.auditor, casino=kept.casino)
    membership.role = Role.OFFICER
    membership.save()
    seal()
    assert faults() == []
    membership.delete()
    seal()
    assert faults() == []
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from audit_officer_casinos where officer_id = %s", [kept.record.auditor.pk])
        assert cursor.fetchone() == (0,)
