"""What whoever takes over a web server does to accounts with its role of the database: nothing by tables, and by the
functions only what the rules let the officer do in whose name they are called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import product
from typing import Any

import pytest
import time_machine
from django.contrib.auth.hashers import make_password
from django.db import DatabaseError, connection, transaction
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts, keepers
from audit.access.capabilities import capabilities_of
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import AccessLink, AccountRequest, Casino, Membership, Officer, Role
from tests.audit.access.test_accounts import PASSWORD, Accounts, role_of
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

WEB = "cabochon_web"
DENIED = "42501"
DIGEST = "a" * 64


@pytest.fixture
def desk() -> Accounts:
    return Accounts()


def refused(statement: str) -> str | None:
    """Run a statement as a web server and roll it back. Return the SQLSTATE of the refusal, or None."""
    try:
        with transaction.atomic():
            with acting_as(WEB), connection.cursor() as cursor:
                cursor.execute(statement)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return str(getattr(error.__cause__, "sqlstate", ""))
    return None


def attempted(
    actor: Officer | str, type: str, about: Officer, at: Casino | None, secret: str | None = None, **data: Any
) -> str | None:
    """Name an entry as a web server does, and roll it back. Return the code of the refusal, or None."""
    casino_id = at.pk if at else audit_trail.INSTALLATION
    data = {"id": about.pk, "officer": about.username, "named": about.username, **data}
    try:
        with transaction.atomic(), acting_as(WEB):
            audit_trail.perform(str(actor), type, casino_id=casino_id, data=data, secret=secret)
            transaction.set_rollback(True)
    except EntryRefused as refusal:
        return refusal.code
    return None


# By the tables


DIRECT = [
    # An invitation, a link, its digest and its life.
    "insert into audit_officer (username, password) values ('mine', 'x')",
    "insert into audit_accesslink default values",
    f"update audit_accesslink set token_sha256 = '{DIGEST}'",
    "update audit_accesslink set expires_at = now() + interval '1 year'",
    "update audit_accesslink set used_at = null",
    "update audit_accesslink set revoked_at = null",
    "update audit_accesslink set revoked_at = now()",
    "update audit_accesslink set issued_by_id = 1",
    "update audit_accesslink set is_shown = false",
    "update audit_accesslink set confirmed_at = now()",
    "delete from audit_accesslink",
    # A request, and both its approvals.
    "insert into audit_accountrequest default values",
    "update audit_accountrequest set state = 'approved', decided_by_id = 1, decided_at = now()",
    "update audit_accountrequest set state = 'waiting', decided_by_id = null, decided_at = null",
    "update audit_accountrequest set proposed_by_id = 1",
    "update audit_accountrequest set officer_id = 1",
    "update audit_accountrequest set role = 'administrator'",
    "update audit_accountrequest set email = 'mine@example.org'",
    "update audit_accountrequest set is_first = true",
    "delete from audit_accountrequest",
    # What requests are about.
    "insert into audit_officer_casinos (officer_id, casino_id, role) values (1, 1, 'administrator')",
    "update audit_officer_casinos set role = 'administrator'",
    "delete from audit_officer_casinos",
    "update audit_officer set is_active = true",
    "update audit_officer set is_active = false",
    "update audit_officer set email = 'mine@example.org'",
    "update audit_officer set username = 'mine'",
    "update audit_officer set first_name = 'mine'",
    "update audit_officer set created_by_id = null",
    "update audit_officer set password = 'x'",
    "delete from otp_totp_totpdevice",
    "delete from otp_static_staticdevice",
    "insert into otp_static_staticdevice default values",
    "insert into otp_static_statictoken default values",
    "update otp_static_statictoken set token = 'mine'",
    # The functions behind the doors.
    "select audit_set_role(1, 1, 'administrator')",
    "select audit_act_officer_role_approved('{}', 1, null)",
    "select audit_act_officer_role_proposed('{}', 1, null)",
    "select audit_act_officer_link_issued('{}', 1, null)",
    "select audit_act_officer_invited('{}', 1, null)",
    "select audit_act_membership_given('{}', 1, null)",
    "select audit_propose_request('{}', 'role', null)",
    "select audit_decide_request('{}', 'role', 'approved')",
    "select audit_carry_out_request('{}', null)",
    "select audit_revoke_links('{}', 1)",
    "select audit_set_superuser('{}', true)",
]


@pytest.mark.parametrize("statement", DIRECT)
def test_a_web_server_that_was_taken_over_writes_no_row_of_accounts(statement: str) -> None:
    assert refused(statement) == DENIED


def test_a_web_server_neither_changes_a_second_factor_nor_puts_one_into_use(desk: Accounts) -> None:
    for model in (TOTPDevice, StaticDevice):
        model.objects.create(user=desk.one, confirmed=True, name="in use")
        model.objects.create(user=desk.other, confirmed=False, name="new")
    for table in ("otp_totp_totpdevice", "otp_static_staticdevice"):
        for change in ("confirmed = not confirmed", f"user_id = {desk.chief.pk}", "name = 'x'"):
            assert refused(f"update {table} set {change}") == DENIED, (table, change)
        assert refused(f"update {table} set throttling_failure_count = 1, last_used_at = now()") is None
    for change in ("key = 'ab'", "digits = 8", "step = 3600", "tolerance = 9", "t0 = 1"):
        assert refused(f"update otp_totp_totpdevice set {change}") == DENIED, change
    with pytest.raises(DatabaseError, match="put into use"), transaction.atomic(), acting_as(WEB):
        TOTPDevice.objects.create(user=desk.other, confirmed=True)
    with acting_as(WEB):
        TOTPDevice.objects.create(user=desk.other, confirmed=False)
    assert refused(f"update otp_totp_totpdevice set last_t = 5, drift = 1 where user_id = {desk.one.pk}") is None


# By the functions


def test_no_officer_does_at_the_desk_what_a_command_does(desk: Accounts) -> None:
    casino, officer = desk.tenant.casino, desk.opened("new")
    for actor in (desk.one, desk.chief, officer):
        for type in ("membership.given", "membership.removed"):
            for role in ("administrator", "officer"):
                assert attempted(actor, type, officer, casino, role=role) == "not-allowed", (actor, type)
        for type in ("officer.added", "officer.made_superuser", "officer.unmade_superuser"):
            assert attempted(actor, type, officer, None, "x") == "not-allowed", (actor, type)
        for type in ("membership.added", "membership.changed", "officer.approved", "officer.role", "role.approved"):
            assert attempted(actor, type, officer, casino, role="administrator") == "no-effect", (actor, type)
    assert attempted("nobody-at-all", "officer.role_proposed", officer, casino, role="second") == "not-an-officer"


def test_nobody_sets_the_password_of_another_by_the_function(desk: Accounts) -> None:
    officer, casino = desk.opened("new"), desk.tenant.casino
    for actor in (desk.one, desk.other, desk.chief):
        assert attempted(actor, "officer.password_changed", officer, casino, make_password("x")) == "not-allowed"
    assert attempted(officer, "officer.password_changed", officer, casino, None) == "not-an-officer"
    assert attempted(officer, "officer.password_changed", officer, Tenant().casino, "x") == "not-its-trail"
    assert attempted(officer, "officer.password_changed", officer, casino, make_password("x")) is None


@pytest.fixture
def proposed(desk: Accounts) -> AccountRequest:
    """A request that one administrator made for a role of an officer."""
    request = accounts.propose_role(desk.one, desk.opened("new"), desk.tenant.casino, Role.SECOND, reason="x")
    assert request is not None
    return request


def deciding(request: AccountRequest, /, **changed: Any) -> dict[str, Any]:
    named = {"request": request.pk, "proposed_by": request.proposed_by.username, "role": request.role}
    return {"about": request.officer, "at": request.casino, **named, **changed}


def test_a_request_is_approved_in_the_name_of_a_second_administrator_of_the_casino_alone(
    desk: Accounts, proposed: AccountRequest
) -> None:
    puppet = desk.opened("puppet", Role.ADMINISTRATOR)  # whom the proposer invited
    second = hired(desk.tenant, Role.SECOND, "second")
    elsewhere = hired(Tenant(), Role.ADMINISTRATOR, "elsewhere")
    gone = hired(desk.tenant, Role.ADMINISTRATOR, "gone")
    Officer.objects.filter(pk=gone.pk).update(is_active=False)
    for state in ("approved", "declined"):
        for actor, code in (
            (desk.one, "own-proposal"),
            (puppet, "same-hands"),
            (proposed.officer, "not-keeper"),
            (second, "not-keeper"),
            (elsewhere, "not-keeper"),
            (gone, "not-an-officer"),
            (desk.other, None),
            (desk.chief, None),
        ):
            assert attempted(actor, f"officer.role_{state}", **deciding(proposed)) == code, (actor, state)
    for actor, code in ((desk.one, None), (desk.other, None), (second, "not-keeper"), (elsewhere, "not-keeper")):
        assert attempted(actor, "officer.role_withdrawn", **deciding(proposed)) == code, actor
    assert role_of(proposed.officer) == Role.OFFICER


def test_what_is_approved_is_what_the_entry_says_and_where_it_says(desk: Accounts, proposed: AccountRequest) -> None:
    other = desk.opened("another")
    for changed, code in (
        ({"request": proposed.pk + 1000}, "no-such-request"),
        ({"role": "administrator"}, "no-such-request"),
        ({"proposed_by": desk.other.username}, "no-such-request"),
        ({"about": other}, "no-such-request"),
        ({"id": other.pk}, "not-an-officer"),
        ({"at": Tenant().casino}, "not-its-trail"),
        ({"at": None}, "not-its-trail"),
    ):
        assert attempted(desk.other, "officer.role_approved", **deciding(proposed, **changed)) == code, changed
    for kind in ("email", "second_factor", "reactivation"):
        assert attempted(desk.other, f"officer.{kind}_approved", **deciding(proposed)) == "no-such-request"


@pytest.mark.parametrize("state", ["approved", "declined", "withdrawn"])
def test_a_request_is_decided_once_by_the_functions(desk: Accounts, proposed: AccountRequest, state: str) -> None:
    if state == "approved":
        accounts.approve(desk.other, proposed.pk)
    else:
        accounts.decline(desk.other if state == "declined" else desk.one, proposed.pk, reason="")
    for again in ("approved", "declined", "withdrawn"):
        assert attempted(desk.other, f"officer.role_{again}", **deciding(proposed)) == "decided"


def test_what_takes_two_administrators_is_not_done_without_a_request(desk: Accounts) -> None:
    officer = desk.opened("new")
    at: dict[str, Any] = {"about": officer, "at": desk.tenant.casino}
    for kind in ("role", "email", "second_factor", "reactivation"):
        nothing = {"request": 0, "proposed_by": desk.one.username, "role": "administrator"}
        assert attempted(desk.other, f"officer.{kind}_approved", **at, **nothing) == "no-such-request"
    for after, before in (("second", "officer"), ("officer", "second"), ("administrator", "officer"), ("x", "officer")):
        changed = {"role": after, "before": before}
        assert attempted(desk.other, "officer.role_narrowed", **at, **changed) == "not-narrower", changed
    assert attempted(desk.other, "officer.role_narrowed", **at, role="auditor", before="officer") is None
    for actor in (desk.one, desk.chief):
        assert attempted(actor, "officer.first_administrator", **at, role="administrator") == "not-the-first"


def test_the_first_administrator_of_a_casino_is_appointed_by_a_superuser_and_is_another(desk: Accounts) -> None:
    officer, casino = desk.opened("new"), Tenant().casino
    first: dict[str, Any] = {"type": "officer.first_administrator", "at": casino, "role": "administrator"}
    assert attempted(desk.one, about=officer, **first) == "not-the-first"
    assert attempted(desk.chief, about=desk.chief, **first) == "not-keeper"
    assert attempted(desk.chief, about=officer, **{**first, "role": "director"}) == "not-the-first"
    assert attempted(desk.chief, about=officer, **first) is None


def outsiders(desk: Accounts, officer: Officer) -> Iterator[Officer]:
    yield officer
    yield hired(desk.tenant, Role.DIRECTOR, "director")
    yield hired(Tenant(), Role.ADMINISTRATOR, "elsewhere")


def test_a_link_a_proposal_and_a_deactivation_are_of_a_keeper_and_in_the_accounts_own_trail(desk: Accounts) -> None:
    officer, casino, foreign = desk.opened("new"), desk.tenant.casino, Tenant().casino
    names = json.dumps({"first_name": "A", "last_name": "B"})
    entries: list[tuple[str, str | None, dict[str, str]]] = [
        ("officer.link_issued", DIGEST, {"delivery": "shown"}),
        ("officer.renamed", names, {}),
        ("officer.deactivated", None, {}),
        ("officer.email_proposed", "mine@example.org", {}),
        ("officer.second_factor_proposed", None, {}),
    ]
    not_keepers = list(outsiders(desk, officer))
    for type, secret, data in entries:
        for actor in not_keepers:
            assert attempted(actor, type, officer, casino, secret, **data) == "not-keeper", (type, actor)
        assert attempted(desk.one, type, desk.chief, None, secret, **data) == "not-keeper", "of a superuser"
        assert attempted(desk.one, type, officer, foreign, secret, **data) == "not-its-trail", type
        assert attempted(desk.one, type, officer, None, secret, **data) == "not-its-trail", type
        assert attempted(desk.one, type, officer, casino, secret, **data) is None, type
    for actor in not_keepers:
        for type, data in (
            ("officer.role_proposed", {"role": "second"}),
            ("officer.role_removed", {"before": "officer"}),
        ):
            assert attempted(actor, type, officer, casino, **data) in ("not-keeper", "not-keeper-here"), (type, actor)
    assert attempted(desk.one, "officer.role_proposed", officer, foreign, role="second") == "not-keeper-here"
    assert attempted(desk.one, "officer.role_proposed", desk.one, casino, role="director") == "not-keeper"
    assert attempted(desk.one, "officer.role_proposed", officer, casino, role="emperor") == "no-such-role"
    assert attempted(desk.one, "officer.role_removed", officer, casino, before="director") == "no-such-role"
    assert attempted(desk.one, "officer.reactivation_proposed", officer, casino) == "active"


def test_an_account_is_invited_by_an_administrator_of_the_casino(desk: Accounts) -> None:
    person = json.dumps({"first_name": "", "last_name": "", "email": "mine@example.org"})
    new = Officer(username="mine")
    for actor in outsiders(desk, desk.opened("new")):
        assert attempted(actor, "officer.invited", new, desk.tenant.casino, person) == "not-keeper-here"
    assert attempted(desk.one, "officer.invited", new, Tenant().casino, person) == "not-keeper-here"
    assert attempted(desk.one, "officer.invited", new, None, person) == "not-keeper-here"
    assert attempted(desk.one, "officer.invited", new, desk.tenant.casino, person) is None


def using(token: str, password: str | None = "x") -> str:
    return json.dumps({"token": token, "password": password})


def test_a_link_is_used_with_its_token_and_not_with_what_the_database_has(desk: Accounts) -> None:
    invitation = desk.invite(desk.one, "new")
    officer, token = invitation.officer, invitation.token
    used: dict[str, Any] = {"type": "officer.link_used", "at": desk.tenant.casino, "issued_by": desk.one.username}
    digest = AccessLink.objects.get().token_sha256
    assert digest == sha256(token.encode()).hexdigest()
    for wrong in (using(digest), using(""), using(token, None), using(token[:-1])):
        assert attempted(officer, about=officer, secret=wrong, **used) == "not-a-link", wrong
    assert attempted(desk.one, about=officer, secret=using(token), **used) == "not-a-link", "by another"
    assert attempted(desk.one, about=desk.one, secret=using(token), **used) == "not-a-link", "of another"
    other = {**used, "issued_by": desk.other.username}
    assert attempted(officer, about=officer, secret=using(token), **other) == "not-a-link", "whose hands it joins"
    assert attempted(officer, about=officer, secret=using(token), **{**used, "at": None}) == "not-its-trail"
    assert attempted(officer, about=officer, secret=using(token), **used) is None
    for wrong in ("", "x" * 64, DIGEST.upper()):
        assert attempted(desk.one, "officer.link_issued", officer, desk.tenant.casino, wrong, delivery="shown")


def test_an_entry_of_another_instant_neither_lengthens_the_life_of_a_link_nor_revives_it(desk: Accounts) -> None:
    officer, now = desk.opened("new"), datetime.now(UTC)
    with time_machine.travel(now + timedelta(days=300), tick=False):
        accounts.issue_link(desk.one, officer, is_shown=True)
    assert AccessLink.objects.latest("pk").expires_at < now + timedelta(hours=73)
    with time_machine.travel(now - timedelta(hours=80), tick=False):
        token = accounts.issue_link(desk.one, officer, is_shown=True)
        assert accounts.link_of(token) is not None
        assert accounts.choose_password(token, PASSWORD + "!") is None
    assert Officer.objects.get(pk=officer.pk).check_password(PASSWORD)


def test_a_second_factor_is_put_into_use_by_its_officer_who_has_none(desk: Accounts) -> None:
    own = TOTPDevice.objects.create(user=desk.one, confirmed=False, name="phone")
    secret = json.dumps({"device": own.pk, "codes": ["mine"]})
    type = "officer.second_factor"
    assert attempted(desk.other, type, desk.one, None, secret) == "has-second-factor", "in the name of another"
    assert attempted(desk.other, type, desk.other, None, secret) == "no-second-factor", "with the device of another"
    assert attempted(desk.one, type, desk.one, desk.tenant.casino, secret) == "not-its-trail"
    accounts.put_second_factor_into_use(desk.one, own.pk, ["abc", "def"])
    own.refresh_from_db()
    assert own.confirmed
    assert set(StaticToken.objects.filter(device__user=desk.one).values_list("token", flat=True)) == {"abc", "def"}
    another = TOTPDevice.objects.create(user=desk.one, confirmed=False, name="of somebody else")
    again = json.dumps({"device": another.pk, "codes": ["mine"]})
    assert attempted(desk.one, type, desk.one, None, again) == "has-second-factor"


# One action, one entry


def every_entry(casino_id: int) -> list[str]:
    today = datetime.now(UTC).date()
    return [each.type for each in audit_trail.entries_of(casino_id, today)]


def test_each_action_is_one_entry_and_names_no_address(desk: Accounts) -> None:
    before, of_commands = every_entry(desk.tenant.casino.pk), every_entry(audit_trail.INSTALLATION)
    officer = desk.opened("new", Role.SECOND)
    accounts.change_own_password(officer, "chosen-by-myself-1")
    request = accounts.propose_email(desk.one, officer, "mine@example.org", reason="moved")
    accounts.approve(desk.other, request.pk)
    accounts.rename_person(desk.one, officer, first_name="Ada", last_name="Lovelace")
    accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.OFFICER, reason="on leave")
    accounts.propose_role(desk.one, officer, desk.tenant.casino, Role.DIRECTOR, reason="back")
    accounts.deactivate(desk.other, officer, reason="left")
    accounts.remove_role(desk.other, officer, desk.tenant.casino, reason="left")
    assert every_entry(desk.tenant.casino.pk)[len(before) :] == [
        *("officer.invited", "officer.role_proposed", "officer.link_issued", "officer.role_approved"),
        *("officer.link_used", "officer.password_changed", "officer.email_proposed", "officer.email_approved"),
        *("officer.renamed", "officer.role_narrowed", "officer.role_proposed", "officer.deactivated"),
        *("officer.role_withdrawn", "officer.role_removed"),
    ]
    assert every_entry(audit_trail.INSTALLATION) == of_commands
    content = str(desk.entries())
    assert "example" not in content
    assert "Lovelace" not in content
    assert officer.password not in content


def test_an_account_of_two_casinos_has_the_entry_in_the_trail_of_each(desk: Accounts) -> None:
    other = Tenant().casino
    officer = desk.opened("new")
    Membership.objects.create(officer=officer, casino=other, role=Role.OFFICER)
    accounts.deactivate(desk.chief, officer, reason="left both")
    for casino in (desk.tenant.casino, other):
        last = desk.entries(casino)[-1]
        assert (last.type, last.actor, last.reason) == ("officer.deactivated", desk.chief.username, "left both")
    assert not Officer.objects.get(pk=officer.pk).is_active


# The rules of the database and of the pages


@pytest.mark.superuser
def test_the_database_compares_roles_as_the_capabilities_do() -> None:
    for role, of in product(Role.values, Role.values):
        with connection.cursor() as cursor:
            cursor.execute("select audit_role_is_within(%s, %s)", [role, of])
            assert cursor.fetchone() == (capabilities_of(role) <= capabilities_of(of),), (role, of)


@pytest.mark.superuser
def test_the_database_knows_the_keepers_that_the_pages_know(desk: Accounts) -> None:
    elsewhere = Tenant()
    hired(elsewhere, Role.ADMINISTRATOR, "keeper")
    both = hired(desk.tenant, Role.ADMINISTRATOR, "both")
    Membership.objects.create(officer=both, casino=elsewhere.casino, role=Role.OFFICER)
    desk.invite(desk.one, "waiting")
    moving = desk.opened("moving")
    accounts.propose_role(desk.chief, moving, elsewhere.casino, Role.OFFICER, reason="x")
    gone = hired(desk.tenant, Role.ADMINISTRATOR, "gone")
    Officer.objects.filter(pk=gone.pk).update(is_active=False)
    for actor, officer in product(Officer.objects.all(), Officer.objects.all()):
        with connection.cursor() as cursor:
            cursor.execute("select audit_keeps(%s, %s), audit_casinos_of(%s)", [actor.pk, officer.pk, officer.pk])
            keeps, casino_ids = cursor.fetchone()
        assert keeps == keepers.keeps(actor, officer), (actor, officer)
        assert set(casino_ids) == keepers.casino_ids_of(officer), officer
