"""Accounts: invitations and links, what takes two administrators, and accounts that are in the same hands."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.db.utils import Error as DatabaseError
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts, keepers
from audit.access.accounts import AccountRefused, Invitation
from audit.access.capabilities import capabilities_of
from audit.casework import actions
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.models import AccessLink, AccountRequest, Case, Casino, Membership, Officer, Role
from tests.audit.casework.test_actions import Desk, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

PASSWORD = "correct-horse-9"


class Accounts:
    """A casino with two administrators, and a superuser."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.one = hired(self.tenant, Role.ADMINISTRATOR, "one")
        self.other = hired(self.tenant, Role.ADMINISTRATOR, "other")
        self.chief = Officer.objects.create_superuser(f"chief-{self.tenant.code}")

    def invite(self, actor: Officer, name: str, role: str = Role.OFFICER, *, is_shown: bool = False) -> Invitation:
        return accounts.invite(
            actor,
            username=f"{name}-{self.tenant.code}",
            first_name="",
            last_name="",
            email=f"{name}@cabochon.example",
            casino=self.tenant.casino,
            role=role,
            is_shown=is_shown,
        )

    def opened(self, name: str, role: str = Role.OFFICER) -> Officer:
        """Return an officer whom one administrator has invited, the other approved, and who chose a password."""
        invitation = self.invite(self.one, name, role)
        assert invitation.request is not None
        accounts.approve(self.other, invitation.request.pk)
        assert accounts.choose_password(invitation.token, PASSWORD)
        return Officer.objects.get(pk=invitation.officer.pk)

    def entries(self, casino: Casino | None = None) -> list[AuditEntry]:
        casino_id = (casino or self.tenant.casino).pk
        return [
            each
            for each in audit_trail.entries_of(casino_id, datetime.now(UTC).date())
            if each.type.startswith("officer.")
        ]

    def trail(self) -> list[tuple[str, str]]:
        """Return who did what, in the trail of this casino."""
        return [(each.type, each.actor.partition("-")[0]) for each in self.entries()]


@pytest.fixture
def desk() -> Accounts:
    return Accounts()


def role_of(officer: Officer) -> str | None:
    membership = Membership.objects.filter(officer=officer).first()
    return membership.role if membership else None


def refused(function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(AccountRefused) as error:
        function(*args, **kwargs)
    return str(error.value)


# Invitations and links


def test_an_officer_is_invited_by_one_administrator_approved_by_another_and_chooses_the_password(
    desk: Accounts,
) -> None:
    invitation = desk.invite(desk.one, "new")
    officer = invitation.officer
    assert (officer.created_by, officer.has_usable_password(), officer.is_staff) == (desk.one, False, True)
    assert role_of(officer) is None, "an account without a role sees nothing"
    assert invitation.request is not None
    accounts.approve(desk.other, invitation.request.pk)
    assert role_of(officer) == Role.OFFICER
    assert accounts.choose_password(invitation.token, PASSWORD) == officer
    assert Officer.objects.get(pk=officer.pk).check_password(PASSWORD)
    assert desk.trail() == [
        ("officer.invited", "one"),
        ("officer.role_proposed", "one"),
        ("officer.link_issued", "one"),
        ("officer.role_approved", "other"),
        ("officer.link_used", "new"),
    ]
    assert desk.entries()[-1].data["issued_by"] == desk.one.username


def test_a_link_is_stored_as_a_digest_and_good_once(desk: Accounts) -> None:
    token = desk.invite(desk.one, "new").token
    assert len(token) >= 43
    stored = AccessLink.objects.get()
    assert token not in stored.token_sha256
    assert accounts.choose_password(token, PASSWORD) is not None
    assert accounts.link_of(token) is None
    assert accounts.choose_password(token, "another-password-1") is None
    assert accounts.choose_password("", PASSWORD) is None


def test_a_link_expires_after_72_hours(desk: Accounts) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        token = desk.invite(desk.one, "new").token
        clock.shift(timedelta(hours=72, seconds=-1))
        assert accounts.link_of(token) is not None
        clock.shift(timedelta(seconds=1))
        assert accounts.link_of(token) is None
        assert accounts.choose_password(token, PASSWORD) is None


def test_a_new_link_revokes_the_one_before(desk: Accounts) -> None:
    officer = desk.opened("new")
    first = accounts.issue_link(desk.one, officer, is_shown=True)
    second = accounts.issue_link(desk.other, officer, is_shown=True)
    assert accounts.link_of(first) is None
    assert accounts.link_of(second) is not None


def test_a_password_changed_by_the_officer_revokes_a_link_that_is_under_way(desk: Accounts) -> None:
    officer = desk.opened("new")
    token = accounts.issue_link(desk.one, officer, is_shown=True)
    accounts.change_own_password(officer, "chosen-by-myself-1")
    assert accounts.link_of(token) is None
    assert desk.trail()[-1] == ("officer.password_changed", "new")


def test_deactivating_ends_links_of_and_by_the_officer_and_withdraws_requests(desk: Accounts) -> None:
    officer = desk.opened("new")
    own_link = accounts.issue_link(desk.one, officer, is_shown=True)
    accounts.deactivate(desk.other, officer, reason="left")
    assert accounts.link_of(own_link) is None
    assert refused(accounts.issue_link, desk.one, officer, is_shown=True)
    invitation = desk.invite(desk.one, "later")
    accounts.deactivate(desk.other, desk.one, reason="left")
    assert accounts.link_of(invitation.token) is None
    assert AccountRequest.objects.get(officer=invitation.officer).state == "withdrawn"


@pytest.mark.django_db(transaction=True)
def test_two_who_use_one_link_at_once_do_not_both_choose(desk: Accounts) -> None:
    token = desk.invite(desk.one, "new").token
    chosen: list[Officer | None] = []

    def choose(password: str) -> None:
        chosen.append(accounts.choose_password(token, password))
        connection.close()

    threads = [threading.Thread(target=choose, args=(f"correct-horse-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(officer is not None for officer in chosen) == 1


# Roles


@pytest.mark.parametrize("before", [None, *Role])
@pytest.mark.parametrize("after", in_short(list(Role), every=2))
def test_a_role_that_lets_an_officer_do_more_takes_two_and_any_other_one(
    desk: Accounts, before: Role | None, after: Role
) -> None:
    officer = desk.opened("new", before or Role.OFFICER)
    if before is None:
        Membership.objects.filter(officer=officer).delete()
        officer = hired(desk.tenant, Role.AUDITOR, "bare")
        Membership.objects.filter(officer=officer).delete()
        Membership.objects.create(officer=officer, casino=Tenant().casino, role=Role.AUDITOR)
        actor = desk.chief
    else:
        actor = desk.one
    if before == after:
        assert refused(accounts.propose_role, actor, officer, desk.tenant.casino, after, reason="x")
        return
    request = accounts.propose_role(actor, officer, desk.tenant.casino, after, reason="x")
    widens = before is None or bool(capabilities_of(after) - capabilities_of(before))
    assert (request is not None) == widens
    now = Membership.objects.filter(officer=officer, casino=desk.tenant.casino).first()
    assert (now.role if now else None) == (before if widens else after)


def test_a_role_is_approved_by_another_administrator_of_that_casino_alone(desk: Accounts) -> None:
    officer = desk.opened("new")
    elsewhere = hired(Tenant(), Role.ADMINISTRATOR, "elsewhere")
    second = hired(desk.tenant, Role.SECOND, "second")
    request = accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.SECOND, reason="promoted")
    assert request is not None
    for actor in (desk.one, elsewhere, second, officer):
        assert refused(accounts.approve, actor, request.pk)
        assert role_of(officer) == Role.OFFICER
    assert [entry.actor for entry in desk.entries() if entry.type == "officer.request_refused"] == [
        each.username for each in (desk.one, elsewhere, second, officer)
    ]
    accounts.approve(desk.other, request.pk)
    assert role_of(officer) == Role.SECOND
    assert refused(accounts.approve, desk.other, request.pk), "it has been decided"


def test_a_superuser_is_the_second_at_a_casino_with_one_administrator(desk: Accounts) -> None:
    Membership.objects.filter(officer=desk.other).delete()
    invitation = desk.invite(desk.one, "new")
    assert invitation.request is not None
    accounts.approve(desk.chief, invitation.request.pk)
    assert role_of(invitation.officer) == Role.OFFICER


def test_a_superuser_appoints_the_first_administrator_of_a_casino_alone_and_nobody_after_that(desk: Accounts) -> None:
    casino = Tenant().casino

    def invite(name: str, role: str) -> Invitation:
        return accounts.invite(
            desk.chief,
            username=f"{name}-{casino.code}",
            first_name="",
            last_name="",
            email="",
            casino=casino,
            role=role,
            is_shown=True,
        )

    assert invite("officer", Role.OFFICER).request is not None
    first = invite("first", Role.ADMINISTRATOR)
    assert first.request is None
    assert role_of(first.officer) == Role.ADMINISTRATOR
    assert invite("next", Role.ADMINISTRATOR).request is not None
    accounts.remove_role(desk.chief, first.officer, casino, reason="left")
    assert invite("again", Role.ADMINISTRATOR).request is not None, "there was a first one"
    assert "officer.first_administrator" in {entry.type for entry in desk.entries(casino)}


def test_a_lone_superuser_and_the_first_administrator_decide_together_until_there_is_somebody_else() -> None:
    casino, chief = Tenant().casino, Officer.objects.create_superuser("chief")

    def invite(actor: Officer, name: str, role: str) -> Invitation:
        values = {"first_name": "", "last_name": "", "email": "", "casino": casino, "is_shown": True}
        return accounts.invite(actor, username=name, role=role, **values)  # type: ignore[arg-type]

    first = invite(chief, "first", Role.ADMINISTRATOR).officer
    by_first, by_chief = invite(first, "second", Role.ADMINISTRATOR), invite(chief, "officer", Role.OFFICER)
    assert by_first.request is not None
    assert by_chief.request is not None
    for request in (by_first.request, by_chief.request):
        assert refused(accounts.approve, request.proposed_by, request.pk)
    accounts.approve(chief, by_first.request.pk)
    assert role_of(by_first.officer) == Role.ADMINISTRATOR
    assert refused(accounts.approve, first, by_chief.request.pk), "there is another administrator now"
    accounts.approve(by_first.officer, by_chief.request.pk)
    assert role_of(by_chief.officer) == Role.OFFICER


def test_a_superuser_does_not_approve_their_own_proposal_nor_by_an_account_they_created(desk: Accounts) -> None:
    officer = desk.opened("new")
    request = accounts.propose_role(desk.chief, officer, desk.tenant.casino, Role.DIRECTOR, reason="x")
    assert request is not None
    puppet = desk.invite(desk.chief, "puppet").officer
    puppet.is_superuser = True
    puppet.save()
    for actor in (desk.chief, puppet):
        assert refused(accounts.approve, actor, request.pk)
    assert role_of(officer) == Role.OFFICER


@pytest.mark.superuser
def test_an_invited_administrator_does_not_approve_what_the_inviter_proposes_nor_the_other_way_round(
    desk: Accounts,
) -> None:
    puppet = desk.opened("puppet", Role.ADMINISTRATOR)
    officer = desk.opened("new")
    for proposer, approver in ((desk.one, puppet), (puppet, desk.one)):
        request = accounts.propose_role(proposer, officer, desk.tenant.casino, Role.SECOND, reason="x")
        assert request is not None
        assert "created the other’s account" in refused(accounts.approve, approver, request.pk)
        with pytest.raises(IntegrityError, match="two people"), transaction.atomic():
            AccountRequest.objects.filter(pk=request.pk).update(
                state="approved", decided_by=approver, decided_at=datetime.now(UTC)
            )
        accounts.decline(proposer, request.pk, reason="")


def test_what_a_dismissed_administrator_proposed_is_not_approved(desk: Accounts) -> None:
    officer = desk.opened("new")
    request = accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.SECOND, reason="x")
    assert request is not None
    held = Membership.objects.get(officer=desk.one)
    held.role = Role.AUDITOR
    held.save()
    assert refused(accounts.approve, desk.other, request.pk)
    accounts.decline(desk.other, request.pk, reason="no")
    assert role_of(officer) == Role.OFFICER


def test_a_declined_invitation_deactivates_the_account_and_a_withdrawn_request_is_nobodys(desk: Accounts) -> None:
    invitation = desk.invite(desk.one, "new")
    assert invitation.request is not None
    accounts.decline(desk.other, invitation.request.pk, reason="who is that?")
    assert not Officer.objects.get(pk=invitation.officer.pk).is_active
    assert accounts.link_of(invitation.token) is None
    assert desk.trail()[-2:] == [("officer.role_declined", "other"), ("officer.deactivated", "other")]
    officer = desk.opened("kept")
    request = accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.SECOND, reason="x")
    assert request is not None
    accounts.decline(desk.one, request.pk, reason="")
    assert Officer.objects.get(pk=officer.pk).is_active
    assert desk.trail()[-1] == ("officer.role_withdrawn", "one")


def test_narrowing_removing_and_deactivating_take_one_and_are_in_the_trail_with_their_reason(desk: Accounts) -> None:
    officer = desk.opened("new", Role.SECOND)
    assert accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.OFFICER, reason="on leave") is None
    accounts.remove_role(desk.one, officer, desk.tenant.casino, reason="left")
    assert role_of(officer) is None
    gone = desk.opened("gone")
    accounts.deactivate(desk.one, gone, reason="left too")
    reasons = {entry.type: entry.reason for entry in desk.entries()}
    assert reasons["officer.role_narrowed"] == "on leave"
    assert reasons["officer.role_removed"] == "left"
    assert reasons["officer.deactivated"] == "left too"


def test_reactivation_and_another_mail_address_take_two(desk: Accounts) -> None:
    officer = desk.opened("new")
    accounts.deactivate(desk.one, officer, reason="left")
    officer.refresh_from_db()
    request = accounts.propose_reactivation(desk.one, officer, reason="back")
    assert refused(accounts.approve, desk.one, request.pk)
    accounts.approve(desk.other, request.pk)
    officer.refresh_from_db()
    assert officer.is_active
    token = accounts.issue_link(desk.one, officer, is_shown=False)
    request = accounts.propose_email(desk.one, officer, "mine@example.org", reason="new address")
    officer.refresh_from_db()
    assert officer.email == "new@cabochon.example"
    accounts.approve(desk.other, request.pk)
    officer.refresh_from_db()
    assert officer.email == "mine@example.org"
    assert accounts.link_of(token) is None, "it went to the address before"


def test_a_second_factor_is_taken_away_by_two(desk: Accounts) -> None:
    officer = desk.opened("new")
    TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    StaticDevice.objects.create(user=officer, name="paper")
    request = accounts.propose_factor_reset(desk.one, officer, reason="lost the phone")
    assert refused(accounts.propose_factor_reset, desk.other, officer, reason="again")
    assert refused(accounts.approve, desk.one, request.pk)
    assert TOTPDevice.objects.filter(user=officer).exists()
    accounts.approve(desk.other, request.pk)
    assert not TOTPDevice.objects.filter(user=officer).exists()
    assert not StaticDevice.objects.filter(user=officer).exists()
    assert desk.trail()[-3:] == [
        ("officer.second_factor_proposed", "one"),
        ("officer.request_refused", "one"),
        ("officer.second_factor_approved", "other"),
    ]


@pytest.mark.parametrize("hidden", ["themselves", "a superuser", "elsewhere", "at both"])
def test_an_administrator_does_nothing_to_an_account_that_is_not_theirs_to_keep(desk: Accounts, hidden: str) -> None:
    other = Tenant()
    at_both = hired(desk.tenant, Role.OFFICER, "both")
    Membership.objects.create(officer=at_both, casino=other.casino, role=Role.OFFICER)
    officer = {
        "themselves": desk.one,
        "a superuser": desk.chief,
        "elsewhere": hired(other, Role.OFFICER, "elsewhere"),
        "at both": at_both,
    }[hidden]
    casino = desk.tenant.casino
    before = Officer.objects.filter(pk=officer.pk).values().get()
    for attempt in (
        lambda: accounts.issue_link(desk.one, officer, is_shown=True),
        lambda: accounts.deactivate(desk.one, officer, reason="x"),
        lambda: accounts.rename_person(desk.one, officer, first_name="x", last_name="x"),
        lambda: accounts.propose_role(desk.one, officer, casino, Role.DIRECTOR, reason="x"),
        lambda: accounts.propose_role(desk.one, officer, other.casino, Role.DIRECTOR, reason="x"),
        lambda: accounts.remove_role(desk.one, officer, casino, reason="x"),
        lambda: accounts.propose_email(desk.one, officer, "x@example.org", reason="x"),
        lambda: accounts.propose_factor_reset(desk.one, officer, reason="x"),
    ):
        with pytest.raises(AccountRefused):
            attempt()
    assert Officer.objects.filter(pk=officer.pk).values().get() == before
    assert officer not in keepers.kept_by(desk.one)
    assert not AccountRequest.objects.exists()


def test_whom_an_administrator_keeps_is_one_set_in_the_list_and_in_the_check(desk: Accounts) -> None:
    other = Tenant()
    hired(other, Role.OFFICER, "elsewhere")
    at_both = hired(desk.tenant, Role.OFFICER, "both")
    Membership.objects.create(officer=at_both, casino=other.casino, role=Role.OFFICER)
    desk.invite(desk.one, "waiting")
    moving = desk.opened("moving")
    accounts.propose_role(desk.chief, moving, other.casino, Role.OFFICER, reason="x")
    for actor in (desk.one, desk.other, desk.chief, hired(other, Role.ADMINISTRATOR, "keeper")):
        listed = set(keepers.kept_by(actor))
        assert listed == {officer for officer in Officer.objects.all() if keepers.keeps(actor, officer)}
    assert moving not in keepers.kept_by(desk.one), "a role at another casino waits"


# The database


@pytest.mark.superuser
def test_the_database_holds_four_eyes_against_every_writer(desk: Accounts) -> None:
    officer = desk.opened("new")
    request = accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.SECOND, reason="x")
    assert request is not None
    rows, now = AccountRequest.objects.filter(pk=request.pk), datetime.now(UTC)
    for values in (
        {"state": "approved", "decided_by": desk.one, "decided_at": now},
        {"state": "approved", "decided_by": officer, "decided_at": now},
        {"state": "approved"},
        {"role": "administrator"},
        {"is_first": True},
        {"proposed_by": desk.other},
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**values)
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.delete()
    accounts.approve(desk.other, request.pk)
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.update(state="declined")
    link = AccessLink.objects.filter(officer=officer)
    for values in ({"used_at": None}, {"issued_by": desk.other}, {"is_shown": True}, {"expires_at": now}):
        with pytest.raises(DatabaseError), transaction.atomic():
            link.update(**values)
    with pytest.raises(DatabaseError), transaction.atomic():
        Officer.objects.filter(pk=officer.pk).update(created_by=desk.other)


# Same hands


def invited_by(officer: Officer, casino: Casino, role: Role = Role.OFFICER) -> Officer:
    """Return an officer who was invited by ``officer``, an administrator then, and approved by another one."""
    membership = Membership.objects.get(officer=officer, casino=casino)
    before, membership.role = membership.role, Role.ADMINISTRATOR
    membership.save()
    invitation = accounts.invite(
        Officer.objects.get(pk=officer.pk),
        username=f"invited-by-{officer}",
        first_name="",
        last_name="",
        email="",
        casino=casino,
        role=role,
        is_shown=True,
    )
    assert invitation.request is not None
    other = Officer.objects.create_user(f"approves-{officer}")
    Membership.objects.create(officer=other, casino=casino, role=Role.ADMINISTRATOR)
    accounts.approve(other, invitation.request.pk)
    membership.role = before
    membership.save()
    return invitation.officer


def test_nobody_approves_a_case_of_an_account_that_they_created(desk: Accounts) -> None:
    worked = Desk()
    first = invited_by(worked.second, worked.tenant.casino)
    worked.proposed_by(first)
    for name in ("approve", "send_back"):
        assert not actions.is_allowed(worked.case, worked.second, name)
        with pytest.raises(actions.ActionRefused, match="created the other’s account"):
            actions.perform(worked.case.pk, worked.second, name, reason="x")
    closed = {"state": "closed", "approved_by": worked.second, "closed_at": datetime.now(UTC)}
    with pytest.raises(DatabaseError, match="two people"), transaction.atomic():
        Case.objects.filter(pk=worked.case.pk).update(**closed)
    refusals = [
        each
        for each in audit_trail.entries_of(worked.tenant.casino.pk, datetime.now(UTC).date())
        if each.type == "case.refused"
    ]
    assert [each.actor for each in refusals] == [worked.second.username] * 2
    assert actions.perform(worked.case.pk, worked.third, "approve").state == "closed"


def test_nobody_approves_a_case_that_was_taken_with_an_account_they_reset_even_before_another_reset(
    desk: Accounts,
) -> None:
    worked = Desk()
    chief = Officer.objects.create_superuser("chief")
    token = accounts.issue_link(chief, worked.first, is_shown=True)
    assert accounts.choose_password(token, PASSWORD)
    later = accounts.issue_link(worked.administrator, worked.first, is_shown=True)
    assert accounts.choose_password(later, "another-password-1")
    actions.perform(worked.case.pk, worked.first, "take")
    actions.perform(worked.case.pk, worked.third, "propose", reason="x", outcome="confirmed")
    with pytest.raises(actions.ActionRefused, match="reset its password"):
        actions.perform(worked.case.pk, chief, "approve")


def test_an_administrator_who_resets_two_officers_does_not_close_a_critical_finding_with_them(desk: Accounts) -> None:
    worked = Desk()
    for officer in (worked.first, worked.second):
        assert accounts.choose_password(accounts.issue_link(worked.administrator, officer, is_shown=True), PASSWORD)
    worked.proposed_by(worked.first)
    with pytest.raises(actions.ActionRefused, match="reset its password"):
        actions.perform(worked.case.pk, worked.second, "approve")
    trail = [
        (each.type, each.data["officer"])
        for each in audit_trail.entries_of(worked.tenant.casino.pk, datetime.now(UTC).date())
        if each.type.startswith("officer.link")
    ]
    assert trail == [
        (type, officer.username)
        for officer in (worked.first, worked.second)
        for type in ("officer.link_issued", "officer.link_used")
    ]
    chief = Officer.objects.create_superuser("chief")
    assert accounts.choose_password(accounts.issue_link(chief, worked.second, is_shown=True), PASSWORD)
    assert actions.perform(worked.case.pk, worked.second, "approve").state == "closed"


def test_a_link_that_was_issued_and_never_used_joins_no_hands(desk: Accounts) -> None:
    officer = desk.opened("new")
    accounts.issue_link(desk.other, officer, is_shown=True)
    assert not keepers.same_hands(desk.other, officer)
    assert keepers.same_hands(desk.one, officer)
    assert keepers.same_hands(officer, officer)
