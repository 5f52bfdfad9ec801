"""Accounts: who opens them, who gives roles, and what takes two administrators. Every write of them is here.

    invite ──► an account without a password or a role ──► one-time link ──► the officer chooses a password
          └──► a request for the role ──► another administrator approves ──► the role

Nobody sets the password of another. A role that lets its holder do more, a reset of the second factor, a new mail
address and a reactivation are requests that one administrator proposes and another decides; what takes something away
is done by one. Each of these functions checks who acts, writes, and records an entry in the audit trail of the casino,
in one transaction.

The link of an invitation works before its role is approved: choosing a password and approving a role then need not
wait for each other, and an account without a role sees nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from hashlib import sha256
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access.capabilities import Capability, capabilities_of
from audit.access.keepers import are_two_people, casino_ids_of, keeps
from audit.access.scope import Scope
from audit.event_store import audit_trail
from audit.models import AccessLink, AccountRequest, Casino, Membership, Officer, RequestKind, RequestState, Role

LINK_LIFE = timedelta(hours=72)

TOKEN_BYTES = 32

MAX_REASON = 2_000
"""Characters of a reason."""


class AccountRefused(Exception):
    """An administrator may not do this to the account, or not with these values. ``reason`` is for them."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Invitation:
    """A new account, the token of its link, and the request for its role, None if it has the role already."""

    officer: Officer
    token: str
    request: AccountRequest | None


P = ParamSpec("P")
R = TypeVar("R")


def _by_actor(write: Callable[Concatenate[Officer, P], R]) -> Callable[Concatenate[Officer, P], R]:
    """Ascribe to the officer who acts what is written of an account or a role: each such row comes by an entry."""

    @wraps(write)
    def ascribed(actor: Officer, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with audit_trail.done_by(actor.get_username()):
            return write(actor, *args, **kwargs)

    return ascribed


# Accounts and their passwords


@_by_actor
@transaction.atomic
def invite(
    actor: Officer,
    *,
    username: str,
    first_name: str,
    last_name: str,
    email: str,
    casino: Casino,
    role: str,
    is_shown: bool,
) -> Invitation:
    """Create an account without a password, propose its role, and issue its first link.

    The first administrator of a casino has the role at once if a superuser invites. Raise ``AccountRefused``.
    """
    _demand_keeper_at(actor, casino.pk)
    officer = Officer(
        username=username,
        first_name=first_name,
        last_name=last_name,
        email=email,
        is_staff=True,  # every officer signs in at the desk
        created_by=actor,
    )
    officer.set_unusable_password()
    officer.save(force_insert=True)
    _record(actor, "officer.invited", officer, [casino.pk], role=role)
    request = propose_role(actor, officer, casino, role, reason="")
    return Invitation(officer, issue_link(actor, officer, is_shown=is_shown), request)


@transaction.atomic
def issue_link(actor: Officer, officer: Officer, *, is_shown: bool) -> str:
    """Revoke the officer's earlier link and return the token of a new one. Raise ``AccountRefused``.

    ``is_shown``: to the administrator, because it cannot be mailed.
    """
    _demand_keeper(actor, officer)
    if not officer.is_active:
        raise AccountRefused(_("This account is deactivated."))
    now = datetime.now(UTC)
    _lock(officer)
    _revoke_links(AccessLink.objects.filter(officer=officer), now)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    AccessLink.objects.create(
        officer=officer,
        is_invitation=not officer.has_usable_password(),
        token_sha256=_digest(token),
        issued_by=actor,
        issued_at=now,
        expires_at=now + LINK_LIFE,
        is_shown=is_shown,
    )
    delivery = "shown" if is_shown else "mailed"
    _record(actor, "officer.link_issued", officer, casino_ids_of(officer), delivery=delivery)
    return token


def link_of(token: str) -> AccessLink | None:
    """Return the link of a token, or None if there is none that can be used now."""
    return _usable_links().select_related("officer").filter(token_sha256=_digest(token)).first()


@transaction.atomic
def choose_password(token: str, password: str) -> Officer | None:
    """Set an officer's password by their link, which is used up. Return the officer, None if the link cannot be used.

    A new password ends every session of the officer.
    """
    link = _usable_links().select_for_update(of=("self",)).filter(token_sha256=_digest(token)).first()
    if link is None:
        return None
    link.used_at = datetime.now(UTC)
    link.save(update_fields=["used_at"])
    officer = Officer.objects.select_for_update().get(pk=link.officer_id)
    officer.set_password(password)
    with audit_trail.done_by(officer.get_username()):
        officer.save(update_fields=["password"])
    issuer = link.issued_by.get_username()
    _record(officer, "officer.link_used", officer, casino_ids_of(officer), issued_by=issuer)
    return officer


@transaction.atomic
def change_own_password(officer: Officer, password: str) -> None:
    """Set the password that an officer has chosen at the desk, and revoke a link that would set another."""
    officer.set_password(password)
    with audit_trail.done_by(officer.get_username()):
        officer.save(update_fields=["password"])
    _revoke_links(AccessLink.objects.filter(officer=officer), datetime.now(UTC))
    if casino_ids := casino_ids_of(officer):  # the entry that wrote the password is the installation's
        _record(officer, "officer.password_changed", officer, casino_ids)


@transaction.atomic
def rename_person(actor: Officer, officer: Officer, *, first_name: str, last_name: str) -> None:
    """Change the name of the person. The user name is in the audit trail, and stays."""
    _demand_keeper(actor, officer)
    if (officer.first_name, officer.last_name) == (first_name, last_name):
        return
    officer.first_name, officer.last_name = first_name, last_name
    officer.save(update_fields=["first_name", "last_name"])
    _record(actor, "officer.renamed", officer, casino_ids_of(officer))


@_by_actor
@transaction.atomic
def deactivate(actor: Officer, officer: Officer, *, reason: str) -> None:
    """Let an officer sign in no more; withdraw the requests that they proposed or that are about them, and the links
    that they issued or were issued. Raise ``AccountRefused``."""
    _demand_keeper(actor, officer)
    if not officer.is_active:
        raise AccountRefused(_("This account is deactivated."))
    casino_ids, now = casino_ids_of(officer), datetime.now(UTC)
    for request in AccountRequest.objects.select_for_update(of=("self",)).filter(
        Q(officer=officer) | Q(proposed_by=officer), state=RequestState.WAITING
    ):
        if request.officer_id != actor.pk:
            _settle(request, RequestState.WITHDRAWN, actor, now)
            _record(actor, f"officer.{request.kind}_withdrawn", request.officer, _casinos(request))
    _revoke_links(AccessLink.objects.filter(Q(officer=officer) | Q(issued_by=officer)), now)
    officer.is_active = False
    officer.save(update_fields=["is_active"])
    _record(actor, "officer.deactivated", officer, casino_ids, reason=reason)


# Roles


@_by_actor
@transaction.atomic
def propose_role(actor: Officer, officer: Officer, casino: Casino, role: str, *, reason: str) -> AccountRequest | None:
    """Give a role that lets the officer do no more than before, or propose one that does.

    Return the request, None if the role was given. Raise ``AccountRefused``.
    """
    _demand_keeper_at(actor, casino.pk)
    if officer.created_by_id != actor.pk or casino_ids_of(officer):  # an account of one's own has no casino at first
        _demand_keeper(actor, officer)
    if role not in Role.values:
        raise AccountRefused(_("Choose a role."))
    _lock(officer)
    current = Membership.objects.filter(officer=officer, casino=casino).first()
    if current is not None and current.role == role:
        raise AccountRefused(_("The officer has this role already."))
    if current is not None and capabilities_of(role) <= capabilities_of(current.role):
        _give_role(officer, casino.pk, role)
        _record(actor, "officer.role_narrowed", officer, [casino.pk], role=role, before=current.role, reason=reason)
        return None
    if actor.is_superuser and _is_first_administrator(casino, role):
        _appoint_first(actor, officer, casino, reason)
        return None
    return _propose(actor, officer, RequestKind.ROLE, reason, casino=casino, role=role)


@_by_actor
@transaction.atomic
def remove_role(actor: Officer, officer: Officer, casino: Casino, *, reason: str) -> None:
    """Take an officer's role at a casino away. Raise ``AccountRefused``."""
    _demand_keeper(actor, officer)
    _demand_keeper_at(actor, casino.pk)
    _lock(officer)
    membership = Membership.objects.filter(officer=officer, casino=casino).first()
    if membership is None:
        raise AccountRefused(_("The officer has no role at this casino."))
    membership.delete()
    _record(actor, "officer.role_removed", officer, [casino.pk], before=membership.role, reason=reason)


# Requests


@transaction.atomic
def propose_factor_reset(actor: Officer, officer: Officer, *, reason: str) -> AccountRequest:
    """Propose to take away the second factor of an officer who lost it. Raise ``AccountRefused``."""
    _demand_keeper(actor, officer)
    return _propose(actor, officer, RequestKind.SECOND_FACTOR, reason)


@transaction.atomic
def propose_email(actor: Officer, officer: Officer, email: str, *, reason: str) -> AccountRequest:
    """Propose another mail address, to which the officer's links will go. Raise ``AccountRefused``."""
    _demand_keeper(actor, officer)
    if not email or email == officer.email:
        raise AccountRefused(_("Give a mail address other than the present one."))
    return _propose(actor, officer, RequestKind.EMAIL, reason, email=email)


@transaction.atomic
def propose_reactivation(actor: Officer, officer: Officer, *, reason: str) -> AccountRequest:
    """Propose to let a deactivated officer sign in again. Raise ``AccountRefused``."""
    _demand_keeper(actor, officer)
    if officer.is_active:
        raise AccountRefused(_("This account is active."))
    return _propose(actor, officer, RequestKind.REACTIVATION, reason)


def approve(actor: Officer, request_id: int) -> AccountRequest:
    """Approve a request and do what it is for. Raise ``AccountRefused``; then the attempt is recorded."""
    return _decide(actor, request_id, RequestState.APPROVED, "")


def decline(actor: Officer, request_id: int, *, reason: str) -> AccountRequest:
    """Decline a request; an account that it leaves without any role is deactivated. Whoever proposed it withdraws it.

    Raise ``AccountRefused``.
    """
    return _decide(actor, request_id, RequestState.DECLINED, reason)


def _decide(actor: Officer, request_id: int, state: RequestState, reason: str) -> AccountRequest:
    try:
        with transaction.atomic(), audit_trail.done_by(actor.get_username()):
            request = AccountRequest.objects.select_for_update(of=("self",)).get(pk=request_id)
            if state == RequestState.DECLINED and request.proposed_by_id == actor.pk:
                state = RequestState.WITHDRAWN
            _check_decision(actor, request, state)
            casino_ids = _casinos(request)
            if state == RequestState.APPROVED:
                _carry_out(request)
            _settle(request, state, actor, datetime.now(UTC))
            about = {"role": request.role} if request.role else {}
            proposer = request.proposed_by.get_username()
            _record(
                actor,
                f"officer.{request.kind}_{state}",
                request.officer,
                casino_ids,
                proposed_by=proposer,
                reason=reason,
                **about,
            )
            if state != RequestState.APPROVED:
                _close_if_never_given_a_role(actor, request.officer, casino_ids)
    except AccountRefused as refused:
        request = AccountRequest.objects.get(pk=request_id)
        _record(actor, "officer.request_refused", request.officer, _casinos(request), reason=str(refused))
        raise
    return request


def _check_decision(actor: Officer, request: AccountRequest, state: RequestState) -> None:
    """Raise ``AccountRefused`` unless ``actor`` may bring a request to this state."""
    _demand_keeper(actor, request.officer)
    if request.casino_id is not None:
        _demand_keeper_at(actor, request.casino_id)
    if request.state != RequestState.WAITING:
        raise AccountRefused(_("The request has been decided in the meantime."))
    if state == RequestState.WITHDRAWN:
        return
    if request.proposed_by_id == actor.pk:
        raise AccountRefused(_("You proposed this. Another administrator must decide."))
    if not are_two_people(actor, request):
        raise AccountRefused(
            _(
                "One of you created the account of the other or reset its password, "
                "or the same administrator reset both. Another administrator must decide."
            )
        )
    if state == RequestState.APPROVED and not keeps(request.proposed_by, request.officer):
        raise AccountRefused(_("Whoever proposed this is no longer an administrator here. Decline it."))


def _carry_out(request: AccountRequest) -> None:
    officer = Officer.objects.select_for_update().get(pk=request.officer_id)
    match request.kind:
        case RequestKind.ROLE:
            assert request.casino_id is not None, "a role is held at a casino: account_request_is_of_its_kind"
            _give_role(officer, request.casino_id, request.role)
        case RequestKind.SECOND_FACTOR:
            for device in (TOTPDevice, StaticDevice):
                device.objects.filter(user=officer).delete()
        case RequestKind.EMAIL:
            officer.email = request.email
            officer.save(update_fields=["email"])
            _revoke_links(AccessLink.objects.filter(officer=officer), datetime.now(UTC))
        case RequestKind.REACTIVATION:
            officer.is_active = True
            officer.save(update_fields=["is_active"])


def _propose(
    actor: Officer, officer: Officer, kind: RequestKind, reason: str, *, casino: Casino | None = None, **values: str
) -> AccountRequest:
    _lock(officer)
    if AccountRequest.objects.filter(officer=officer, kind=kind, casino=casino, state=RequestState.WAITING).exists():
        raise AccountRefused(_("Such a request is waiting already."))
    request = AccountRequest.objects.create(
        kind=kind,
        officer=officer,
        casino=casino,
        reason=_cleaned(reason),
        proposed_by=actor,
        proposed_at=datetime.now(UTC),
        **values,
    )
    about = {"role": request.role} if request.role else {}
    _record(actor, f"officer.{kind}_proposed", officer, _casinos(request), reason=reason, **about)
    return request


def _settle(request: AccountRequest, state: RequestState, actor: Officer, now: datetime) -> None:
    request.state, request.decided_by, request.decided_at = state, actor, now
    request.save(update_fields=["state", "decided_by", "decided_at"])


def _close_if_never_given_a_role(actor: Officer, officer: Officer, casino_ids: Collection[int]) -> None:
    """Deactivate an account whose invitation was declined, at the casinos where it was proposed."""
    if officer.is_superuser or not officer.is_active or casino_ids_of(officer):
        return
    _revoke_links(AccessLink.objects.filter(officer=officer), datetime.now(UTC))
    officer.is_active = False
    officer.save(update_fields=["is_active"])
    _record(actor, "officer.deactivated", officer, casino_ids)


# Rows


def _is_first_administrator(casino: Casino, role: str) -> bool:
    has_had_one = (
        Membership.objects.filter(casino=casino, role=Role.ADMINISTRATOR).exists()
        or AccountRequest.objects.filter(casino=casino, role=Role.ADMINISTRATOR, state=RequestState.APPROVED).exists()
    )
    return role == Role.ADMINISTRATOR and not has_had_one


def _appoint_first(actor: Officer, officer: Officer, casino: Casino, reason: str) -> None:
    now = datetime.now(UTC)
    AccountRequest.objects.create(
        kind=RequestKind.ROLE,
        officer=officer,
        casino=casino,
        role=Role.ADMINISTRATOR,
        reason=_cleaned(reason),
        state=RequestState.APPROVED,
        proposed_by=actor,
        proposed_at=now,
        decided_by=actor,
        decided_at=now,
        is_first=True,
    )
    _give_role(officer, casino.pk, Role.ADMINISTRATOR)
    _record(actor, "officer.first_administrator", officer, [casino.pk], role=Role.ADMINISTRATOR.value, reason=reason)


def _lock(officer: Officer) -> None:
    """Let one request or link of an officer be made at a time."""
    Officer.objects.select_for_update(no_key=True).get(pk=officer.pk)


def _give_role(officer: Officer, casino_id: int, role: str) -> None:
    held = Membership.objects.filter(officer=officer, casino_id=casino_id).first()
    membership = held or Membership(officer=officer, casino_id=casino_id)
    membership.role = role
    membership.save()


def _usable_links() -> QuerySet[AccessLink]:
    now = datetime.now(UTC)
    return AccessLink.objects.filter(used_at=None, revoked_at=None, expires_at__gt=now, officer__is_active=True)


def _revoke_links(links: QuerySet[AccessLink], now: datetime) -> None:
    links.filter(used_at=None, revoked_at=None).update(revoked_at=now)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# Checks and entries


def _demand_keeper(actor: Officer, officer: Officer) -> None:
    if not keeps(actor, officer):
        raise AccountRefused(_("You do not manage this account."))


def _demand_keeper_at(actor: Officer, casino_id: int) -> None:
    if not Scope.of(actor, Capability.KEEP_OFFICERS).includes(casino_id):
        raise AccountRefused(_("You are not an administrator of this casino."))


def _casinos(request: AccountRequest) -> Collection[int]:
    """Return the casinos in whose audit trail the request is."""
    return casino_ids_of(request.officer) if request.casino_id is None else [request.casino_id]


def _cleaned(reason: str) -> str:
    return reason.replace("\0", "").strip()[:MAX_REASON]


def _record(
    actor: Officer, type: str, officer: Officer, casino_ids: Collection[int], *, reason: str = "", **data: Any
) -> None:
    """Record an entry at each of these casinos, at the installation if there are none."""
    data = {"id": officer.pk, "officer": officer.get_username(), **data}
    for casino_id in sorted(casino_ids) or [audit_trail.INSTALLATION]:
        audit_trail.record(actor.get_username(), type, casino_id=casino_id, data=data, reason=_cleaned(reason))
