"""Pairs of hands: whoever could have chosen the passwords of two accounts may be both of their officers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.utils import Error as DatabaseError

from audit.access import accounts, keepers
from audit.access.keepers import same_hands
from audit.casework import actions
from audit.models import AccessLink, AccountRequest, Officer, Role
from tests.audit.access.test_accounts import PASSWORD, Accounts, refused
from tests.audit.casework.test_actions import Desk, hired

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Accounts:
    return Accounts()


def invited(desk: Accounts, actor: Officer, name: str, *, is_shown: bool, role: str = Role.OFFICER) -> Officer:
    """Return an officer whom another administrator approved and whose password the link of the invitation chose."""
    invitation = desk.invite(actor, name, role, is_shown=is_shown)
    assert invitation.request is not None
    approver = desk.other if actor != desk.other else desk.one
    accounts.approve(approver, invitation.request.pk)
    assert accounts.choose_password(invitation.token, PASSWORD)
    return Officer.objects.get(pk=invitation.officer.pk)


def signed_in(officer: Officer) -> None:
    officer.last_login = datetime.now(UTC) + timedelta(seconds=1)
    officer.save(update_fields=["last_login"])


def confirmed(actor: Officer, *officers: Officer) -> None:
    for officer in officers:
        signed_in(officer)
        accounts.confirm_person(actor, officer, reason="met at the casino")


@pytest.mark.parametrize("is_shown", [True, False])
def test_two_officers_whom_one_administrator_invited_are_one_pair_of_hands(desk: Accounts, is_shown: bool) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=is_shown) for name in ("first", "second"))
    assert same_hands(first, second)


def test_an_administrator_does_not_close_a_critical_case_with_two_officers_of_their_own(desk: Accounts) -> None:
    worked = Desk()
    other = hired(worked.tenant, Role.ADMINISTRATOR, "other-administrator")
    officers = []
    for name in ("own-first", "own-second"):
        invitation = accounts.invite(
            worked.administrator,
            username=f"{name}-{worked.tenant.code}",
            first_name="",
            last_name="",
            email="",
            casino=worked.tenant.casino,
            role=Role.SECOND,
            is_shown=True,
        )
        assert invitation.request is not None
        accounts.approve(other, invitation.request.pk)
        assert accounts.choose_password(invitation.token, PASSWORD)
        officers.append(Officer.objects.get(pk=invitation.officer.pk))
    worked.proposed_by(officers[0])
    with pytest.raises(actions.ActionRefused, match="one person could have chosen both"):
        actions.perform(worked.case.pk, officers[1], "approve")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "update audit_case set state = 'closed', approved_by_id = %s, closed_at = now() where id = %s",
            (officers[1].pk, worked.case.pk),
        )
    assert actions.perform(worked.case.pk, worked.third, "approve").state == "closed"


def test_two_officers_are_two_pairs_of_hands_once_another_administrator_has_said_who_each_is(desk: Accounts) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=False) for name in ("first", "second"))
    assert keepers.cannot_confirm(desk.other, first), "the officer has not signed in"
    confirmed(desk.other, first)
    assert not same_hands(first, second), "the one is in the administrator's hands, the other in nobody's"
    confirmed(desk.other, second)
    assert not same_hands(first, second)
    assert same_hands(desk.one, first), "whoever created an account does not sign with it"
    link = AccessLink.objects.get(officer=first)
    assert link.confirmed_by == desk.other
    assert [each.reason for each in desk.entries() if each.type == "officer.confirmed"] == ["met at the casino"] * 2
    assert "nothing to confirm" in refused(accounts.confirm_person, desk.other, first, reason="again")


def test_a_person_is_confirmed_by_another_administrator_after_signing_in_with_what_they_alone_know(
    desk: Accounts,
) -> None:
    mailed, shown = invited(desk, desk.one, "mailed", is_shown=False), invited(desk, desk.one, "shown", is_shown=True)
    assert "has not signed in" in refused(accounts.confirm_person, desk.other, mailed, reason="x")
    signed_in(mailed)
    signed_in(shown)
    assert "shown to an administrator" in refused(accounts.confirm_person, desk.other, shown, reason="x")
    assert "created the other" in refused(accounts.confirm_person, desk.one, mailed, reason="x")
    assert "do not manage" in refused(accounts.confirm_person, mailed, mailed, reason="x")
    nobody = Accounts().one
    assert "do not manage" in refused(accounts.confirm_person, nobody, mailed, reason="x")
    puppet = invited(desk, desk.one, "puppet", is_shown=True, role=Role.ADMINISTRATOR)
    assert "chosen both passwords" in refused(accounts.confirm_person, puppet, mailed, reason="x")
    accounts.confirm_person(desk.other, mailed, reason="x")


def test_an_administrator_of_one_s_own_makes_no_second_pair_of_hands(desk: Accounts) -> None:
    puppet = invited(desk, desk.one, "puppet", is_shown=True, role=Role.ADMINISTRATOR)
    first, second = invited(desk, desk.one, "first", is_shown=True), invited(desk, puppet, "second", is_shown=True)
    assert same_hands(first, second)
    assert same_hands(desk.one, second)
    assert not same_hands(first, invited(desk, desk.other, "third", is_shown=True))


def test_an_account_is_in_the_hands_of_whoever_gave_the_address_of_the_last_link(desk: Accounts) -> None:
    first, second = hired(desk.tenant, Role.OFFICER, "first"), hired(desk.tenant, Role.OFFICER, "second")
    assert not same_hands(first, second)
    for officer in (first, second):
        accounts.propose_email(desk.one, officer, f"new-{officer.pk}@cabochon.example", reason="x")
        accounts.approve(desk.other, AccountRequest.objects.get(officer=officer).pk)
        assert accounts.choose_password(accounts.issue_link(desk.chief, officer, is_shown=False), PASSWORD)
    assert same_hands(first, second)
    assert same_hands(desk.one, first)
    confirmed(desk.other, first, second)
    assert not same_hands(first, second)


def test_a_password_that_is_chosen_again_is_confirmed_again(desk: Accounts) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=False) for name in ("first", "second"))
    confirmed(desk.other, first, second)
    for officer in (first, second):
        assert accounts.choose_password(accounts.issue_link(desk.one, officer, is_shown=True), PASSWORD)
    assert same_hands(first, second)


def test_an_operator_says_whose_the_accounts_of_the_first_administrators_are(desk: Accounts) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=True) for name in ("first", "second"))
    call_command("confirmofficer", first.username)
    assert not same_hands(first, second)
    for name in (first.username, desk.chief.username, "nobody"):
        with pytest.raises(CommandError, match="nothing to confirm"):
            call_command("confirmofficer", name)


@pytest.mark.superuser
def test_what_was_decided_before_these_rules_is_verified_by_those_of_then(desk: Accounts) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=True) for name in ("first", "second"))
    with connection.cursor() as cursor:
        cursor.execute("select audit_same_hands_at(%s, %s, clock_timestamp())", (first.pk, second.pk))
        assert cursor.fetchone() == (True,)
        cursor.execute(
            "create or replace function audit_hands_since() returns timestamptz language sql immutable parallel safe"
            " as 'select timestamptz ''2999-01-01'''"
        )
        cursor.execute("select audit_same_hands_at(%s, %s, clock_timestamp())", (first.pk, second.pk))
        assert cursor.fetchone() == (False,)
        for officer in (first, second):
            assert accounts.choose_password(accounts.issue_link(desk.one, officer, is_shown=True), PASSWORD)
        cursor.execute("select audit_same_hands_at(%s, %s, clock_timestamp())", (first.pk, second.pk))
        assert cursor.fetchone() == (True,)


def test_who_has_signed_with_another_is_asked_of_a_moment(desk: Accounts) -> None:
    first, second = (invited(desk, desk.one, name, is_shown=False) for name in ("first", "second"))
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        [before] = cursor.fetchone()
        confirmed(desk.other, first, second)
        cursor.execute("select audit_same_hands_at(%s, %s, %s)", (first.pk, second.pk, before))
        assert cursor.fetchone() == (True,)
