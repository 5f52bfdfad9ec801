"""Accounts are what the audit trail says: power, and whose hands they are in, forged by SQL as a superuser."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from audit.access import accounts
from audit.access.keepers import same_hands
from audit.models import AccessLink, Officer, Role
from audit.projections.found import Figures
from audit.projections.officers import wrong_officers
from audit.projections.push import wrong_push
from audit.projections.takeover import keep_settings
from audit.transparency import outcome
from tests import citus
from tests.audit.casework.test_actions import hired
from tests.audit.notifications.browsers import Browser
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge, named, named_by, unguard_all_tables
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

PASSWORD = "correct horse battery staple"


class Accounts:
    """A keeper who has invited one officer, reset the passwords of two others, and deactivated a third."""

    def __init__(self) -> None:
        self.record = Casino()
        self.casino, tenant = self.record.casino, self.record.tenant
        self.keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
        self.other = hired(tenant, Role.ADMINISTRATOR, "second-keeper")
        self.invited = self._invited()
        self.reset = hired(tenant, Role.OFFICER, "reset")
        self.alike = hired(tenant, Role.SECOND, "alike")
        for officer in (self.reset, self.alike):
            accounts.choose_password(accounts.issue_link(self.keeper, officer, is_shown=False), PASSWORD)
            accounts.choose_password(accounts.issue_link(self.keeper, officer, is_shown=True), PASSWORD)
        self.gone = hired(tenant, Role.AUDITOR, "gone")
        self.chief = Officer.objects.create_superuser(f"chief-{self.casino.code}")
        for each in (self.reset, self.gone):
            Browser(f"https://push.example/{each.username}").subscribe(each)
        accounts.deactivate(self.keeper, self.gone, reason="has left")
        keep_settings()
        seal()
        assert faults() == []

    def _invited(self) -> Officer:
        invitation = accounts.invite(
            self.keeper,
            username=f"invited-{self.casino.code}",
            first_name="In",
            last_name="Vited",
            email="i@example.org",
            casino=self.casino,
            role=Role.OFFICER,
            is_shown=False,
        )
        assert accounts.choose_password(invitation.token, PASSWORD) is not None
        assert invitation.request is not None
        accounts.approve(self.other, invitation.request.pk)
        Officer.objects.filter(pk=invitation.officer.pk).update(last_login=datetime.now(UTC) + timedelta(seconds=1))
        accounts.confirm_person(self.other, invitation.officer, reason="met")
        return invitation.officer

    def forge(self, statement: str) -> None:
        forge(
            statement,
            chief=self.chief.pk,
            other=self.other.pk,
            invited=self.invited.pk,
            reset=self.reset.pk,
            gone=self.gone.pk,
        )


@pytest.fixture(scope=citus.MODULE)
def kept(_committed_before: None) -> Accounts:
    return Accounts()


OF_RESET = "officer_id = {reset} and is_shown"

FORGED = {
    "an officer who may do everything": (
        "update audit_officer set is_superuser = true where id = {reset}",
        "may do everything at every casino, and no entry says so",
    ),
    "an officer who may do everything no more": (
        "update audit_officer set is_superuser = false where id = {chief}",
        "may no longer do everything, and no entry says so",
    ),
    "an officer who may not sign in": (
        "update audit_officer set is_active = false where id = {reset}",
        "may not sign in, and no entry says so",
    ),
    "an officer who may not use the desk": (
        "update audit_officer set is_staff = false where id = {reset}",
        "may not sign in, and no entry says so",
    ),
    "an account that is said to be invited": (
        "update audit_officer set created_by_id = {other} where id = {reset}",
        "was invited by nobody, and second-keeper",
    ),
    "an account without an entry": (
        "insert into audit_officer (username, password, is_superuser, is_staff, is_active, first_name, last_name,"
        " email, date_joined) values ('forged', '!', false, true, true, '', '', '', now())",
        "forged has an account, and no entry says so",
    ),
    "a link that nobody issued and nobody used": (
        "insert into audit_accesslink (officer_id, is_invitation, token_sha256, issued_by_id, issued_at, expires_at,"
        " is_shown) values ({other}, true, repeat('ab', 32), {reset}, now(), now() + interval '1 hour', false)",
        "for second-keeper",
    ),
    "a link that is good for longer": (
        f"update audit_accesslink set expires_at = expires_at + interval '9 days' where {OF_RESET}",
        "is not good for",
    ),
    "a link that was issued at another time": (
        f"update audit_accesslink set issued_at = issued_at - interval '1 day' where {OF_RESET}",
        "is stored, and no entry says so",
    ),
    "an officer who may sign in again": (
        "update audit_officer set is_active = true where id = {gone}",
        "may sign in, and was deactivated",
    ),
    "an account that nobody has opened": (
        "update audit_officer set created_by_id = null where id = {invited}",
        "was invited by keeper",
    ),
    "an account that somebody else has opened": (
        "update audit_officer set created_by_id = {other} where id = {invited}",
        "was invited by keeper",
    ),
    "a link that is gone": (f"delete from audit_accesslink where {OF_RESET}", "is missing or altered"),
    "a link of somebody else": (
        f"update audit_accesslink set issued_by_id = {{other}} where {OF_RESET}",
        "and no entry says so",
    ),
    "a link of another officer": (
        f"update audit_accesslink set officer_id = {{gone}} where {OF_RESET}",
        "is missing or altered",
    ),
    "a link that was mailed": (
        f"update audit_accesslink set is_shown = false where {OF_RESET}",
        "is missing or altered",
    ),
    "a link of an invitation": (
        f"update audit_accesslink set is_invitation = true where {OF_RESET}",
        "is missing or altered",
    ),
    "a link of an account whose person is confirmed": (
        f"update audit_accesslink set confirmed_at = now(), confirmed_by_id = {{chief}} where {OF_RESET}",
        "is not of the kind, used, revoked or confirmed as its entries say",
    ),
    "a confirmation that is gone": (
        "update audit_accesslink set confirmed_at = null, confirmed_by_id = null where officer_id = {invited}",
        "is not of the kind, used, revoked or confirmed as its entries say",
    ),
    "a confirmation by somebody else": (
        "update audit_accesslink set confirmed_by_id = {chief} where officer_id = {invited}",
        "is not of the kind, used, revoked or confirmed as its entries say",
    ),
    "a link that was not used": (
        f"update audit_accesslink set used_at = null where {OF_RESET}",
        "is missing or altered",
    ),
    "a link that was used later": (
        f"update audit_accesslink set used_at = used_at + interval '2 hours' where {OF_RESET}",
        "is missing or altered",
    ),
}


BROWSERS = {
    "a browser that notifies another officer": (
        "update audit_pushsubscription set officer_id = {other} where officer_id = {reset}",
        "notifies second-keeper",
    ),
    "a browser at another address": (
        "update audit_pushsubscription set endpoint = 'https://push.example/evil' where officer_id = {reset}",
        "and no entry says so",
    ),
    "a browser with another key": (
        "update audit_pushsubscription set public_key = reverse(public_key) where officer_id = {reset}",
        "and is not what entry",
    ),
    "a browser that nobody subscribed": (
        "insert into audit_pushsubscription (officer_id, endpoint, public_key, auth, language, browser, created_at)"
        " select {gone}, endpoint || '2', public_key, auth, language, browser, created_at from audit_pushsubscription"
        " where officer_id = {reset}",
        "and no entry says so",
    ),
    "a browser that is gone": ("delete from audit_pushsubscription where officer_id = {reset}", "is missing"),
}


def test_a_browser_that_is_forged_is_named(kept: Accounts) -> None:
    missed = {}
    unguard_all_tables()
    for what, (statement, expected) in BROWSERS.items():
        found = named_by(wrong_push, partial(kept.forge, statement))
        if expected not in found or "push: " not in found:
            missed[what] = found
    assert not missed


@pytest.mark.parametrize("third", in_short(range(3), every=3))
def test_an_account_that_is_forged_is_named(kept: Accounts, third: int) -> None:
    assert same_hands(kept.reset, kept.alike)
    missed = {}
    unguard_all_tables()
    for what, (statement, expected) in [*FORGED.items()][third::3]:
        found = named_by(partial(wrong_officers, Figures()), partial(kept.forge, statement))
        if expected not in found or "officer: " not in found:
            missed[what] = found
    assert not missed
    assert faults() == []


def test_a_flood_of_forged_findings_does_not_hide_a_superuser(kept: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "MAX_OF_A_PART", 2)
    kept.record.played("flood")
    seal()
    kept.forge("update audit_finding set recorded = '{{}}', player = 'x'")
    kept.forge("update audit_officer set is_superuser = true where id = {reset}")
    printed = StringIO()
    with pytest.raises(CommandError, match=r"The first: officer: .* may do everything"):
        call_command("verify", stdout=printed)
    lines = printed.getvalue().splitlines()
    assert lines[0].startswith("officer: ")
    assert sum(line.startswith("finding of ") for line in lines) == 2
    [counts] = [line for line in lines if line.startswith("Faults by part: ")]
    assert "officer 1" in counts
    assert int(re.findall(r"finding (\d+)", counts)[0]) > 2


def test_a_link_that_is_used_at_two_casinos_is_one() -> None:
    """The entry of its use is in the trail of each."""
    first, second = Tenant(), Tenant()
    keeper = hired(first, Role.ADMINISTRATOR, "keeper")
    officer = hired(first, Role.OFFICER, "officer")
    for each in (keeper, officer):
        role = Role.ADMINISTRATOR if each is keeper else Role.OFFICER
        each.memberships.create(casino=second.casino, role=role)
    accounts.choose_password(accounts.issue_link(keeper, officer, is_shown=True), PASSWORD)
    seal()
    assert AccessLink.objects.filter(officer=officer).count() == 1
    assert [fault for fault in named().splitlines() if "officer: " in fault] == []


def test_an_officer_who_is_invited_deactivated_and_taken_back_holds(kept: Accounts) -> None:
    request = accounts.propose_reactivation(kept.keeper, kept.gone, reason="is back")
    accounts.approve(kept.other, request.pk)
    seal()
    assert Officer.objects.get(pk=kept.gone.pk).is_active
    assert faults() == []
