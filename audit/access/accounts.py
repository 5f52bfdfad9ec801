"""Accounts: who opens them, who gives roles, and what takes two administrators. The desk writes them here.

    invite ──► an account without a password or a role ──► one-time link ──► the officer chooses a password
          └──► a request for the role ──► another administrator approves ──► the role

Nobody sets the password of another. A role that lets its holder do more, a reset of the second factor, a new mail
address and a reactivation are requests that one administrator proposes and another decides; what takes something away
is done by one.

Each of these functions names an entry of the audit trail, and the database does what the entry says in the same
statement, or refuses: the rules are in ``sql/accounts.sql`` and ``sql/requests.sql``. Here are the words of a refusal.
An account of several casinos has the entry in the trail of each.

The link of an invitation works before its role is approved: choosing a password and approving a role then need not
wait for each other, and an account without a role sees nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import capabilities_of
from audit.access.keepers import casino_ids_of
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import AccessLink, AccountRequest, Casino, Membership, Officer, RequestKind, RequestState, Role
from audit.models.officers import is_active_account

LINK_LIFE = timedelta(hours=72)
"""How long a link is good, as pages and mails say it. The database counts it."""

TOKEN_BYTES = 32

_NOT_KEPT = _("You do not manage this account.")

REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _NOT_KEPT,
    "not-keeper": _NOT_KEPT,
    "not-keeper-here": _("You are not an administrator of this casino."),
    "deactivated": _("This account is deactivated."),
    "active": _("This account is active."),
    "no-such-role": _("Choose a role."),
    "has-role": _("The officer already has this role."),
    "same-address": _("Give an e-mail address other than the present one."),
    "waiting-already": _("A request like this is already waiting."),
    "decided": _("The request has been decided in the meantime."),
    "own-proposal": _("You proposed this. Another administrator must decide."),
    "same-hands": _(
        "One of you created the other’s account or reset its password, or one person could have "
        "chosen both passwords. Another administrator must decide."
    ),
    "nothing-to-confirm": _("There is nothing to confirm about this account."),
    "link-was-shown": _("The password was chosen with a link that was shown to an administrator."),
    "not-signed-in": _("The officer has not signed in since choosing the password."),
    "proposer-left": _("Whoever proposed this is no longer an administrator here. Decline it."),
}
"""What the database's code of a refusal is in words."""

_CHANGED_MEANWHILE = _("This account has been changed in the meantime. Look at it again.")

_encode = msgspec.json.Encoder().encode


class AccountRefused(audit_trail.Refused):
    """An administrator may not do this to the account, or not with these values. ``reason`` is for them."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A new account, the token of its link, and the request for its role, None if it has the role already."""

    officer: Officer
    token: str
    request: AccountRequest | None


# Accounts and their passwords


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
    try:
        with transaction.atomic():
            added = _perform_at(
                casino.pk,
                actor,
                "officer.invited",
                secret=_json(first_name=first_name, last_name=last_name, email=email),
                data={"officer": username, "role": role},
            )
    except IntegrityError as error:  # another was invited under the name at the same instant
        raise AccountRefused(Officer._meta.get_field("username").error_messages["unique"]) from error
    officer = Officer.objects.get(pk=added["id"])
    request = propose_role(actor, officer, casino, role, reason="")
    return Invitation(officer, issue_link(actor, officer, is_shown=is_shown), request)


def issue_link(actor: Officer, officer: Officer, *, is_shown: bool) -> str:
    """Revoke the officer's earlier link and return the token of a new one. Raise ``AccountRefused``.

    ``is_shown``: to the administrator, because it cannot be mailed.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)
    delivery = "shown" if is_shown else "mailed"
    _perform(actor, "officer.link_issued", officer, secret=_digest(token), delivery=delivery)
    return token


def link_of(token: str) -> AccessLink | None:
    """Return the link of a token, or None if there is none that can be used now."""
    links = AccessLink.objects.select_related("officer", "issued_by").filter(used_at=None, revoked_at=None)
    return links.filter(
        is_active_account("officer__"), token_sha256=_digest(token), expires_at__gt=datetime.now(UTC)
    ).first()


def choose_password(token: str, password: str) -> Officer | None:
    """Set an officer's password by their link, which is used up. Return the officer, None if the link cannot be used.

    A new password ends every session of the officer.
    """
    link = link_of(token)
    if link is None:
        return None
    officer, issuer = link.officer, link.issued_by.get_username()
    officer.password = make_password(password)
    secret = _json(token=token, password=officer.password)
    try:
        _perform(officer, "officer.link_used", officer, secret=secret, issued_by=issuer)
    except AccountRefused:  # used, revoked or expired at the same moment
        return None
    return officer


def change_own_password(officer: Officer, password: str) -> None:
    """Set the password that an officer has chosen at the desk, and revoke a link that would set another."""
    officer.password = make_password(password)
    _perform(officer, "officer.password_changed", officer, secret=officer.password)


def put_second_factor_into_use(officer: Officer, device_id: int, recovery_codes: Collection[str]) -> None:
    """Put an officer's own device, which a code has confirmed, into use, with recovery codes instead of earlier ones.

    Raise ``AccountRefused`` if the officer has a second factor.
    """
    _perform_at(
        audit_trail.INSTALLATION,
        officer,
        "officer.second_factor",
        secret=_json(device=device_id, codes=list(recovery_codes)),
        data={"named": officer.get_username()},
    )


def confirm_person(actor: Officer, officer: Officer, *, reason: str) -> None:
    """Say whose account it is, after its owner chose the password with a mailed link. Raise ``AccountRefused``.

    Until then it is in the hands of whoever gave the address.
    """
    _perform(actor, "officer.confirmed", officer, reason=reason)


def rename_person(actor: Officer, officer: Officer, *, first_name: str, last_name: str) -> None:
    """Change the name of the person. The user name is in the audit trail, and stays. Raise ``AccountRefused``."""
    if (officer.first_name, officer.last_name) == (first_name, last_name):
        return
    _perform(actor, "officer.renamed", officer, secret=_json(first_name=first_name, last_name=last_name))
    officer.first_name, officer.last_name = first_name, last_name


@transaction.atomic
def deactivate(actor: Officer, officer: Officer, *, reason: str) -> None:
    """Let an officer sign in no more; withdraw the requests that they proposed or that are about them, and the links
    that they issued or were issued. Raise ``AccountRefused``."""
    _perform(actor, "officer.deactivated", officer, reason=reason)
    officer.is_active = False
    waiting = AccountRequest.objects.filter(Q(officer=officer) | Q(proposed_by=officer), state=RequestState.WAITING)
    # Whoever has no role but those that are proposed is nobody's to keep when the last of these is withdrawn.
    own_roles_last = waiting.select_related("officer", "proposed_by").exclude(officer=actor)
    for request in sorted(own_roles_last, key=lambda each: (each.officer_id == officer.pk, each.casino_id or 0)):
        _settle(actor, request, RequestState.WITHDRAWN)


# Roles


def propose_role(actor: Officer, officer: Officer, casino: Casino, role: str, *, reason: str) -> AccountRequest | None:
    """Give a role that lets the officer do no more than before, or propose one that does.

    Return the request, None if the role was given. Raise ``AccountRefused``.
    """
    if role not in Role.values:  # before the entry: the log takes no text with a null character
        raise AccountRefused(REFUSALS["no-such-role"])
    current = Membership.objects.filter(officer=officer, casino=casino).first()
    before = current.role if current else None
    if before is not None and before != role and _is_within(role, before):
        _perform(actor, "officer.role_narrowed", officer, at=[casino.pk], reason=reason, role=str(role), before=before)
        return None
    if actor.is_superuser and _is_first_administrator(casino, role):
        _perform(actor, "officer.first_administrator", officer, at=[casino.pk], reason=reason, role=str(role))
        return None
    return _propose(actor, officer, RequestKind.ROLE, reason, at=[casino.pk], role=str(role))


def remove_role(actor: Officer, officer: Officer, casino: Casino, *, reason: str) -> None:
    """Take an officer's role at a casino away. Raise ``AccountRefused``."""
    membership = Membership.objects.filter(officer=officer, casino=casino).first()
    if membership is None:
        raise AccountRefused(_("The officer has no role at this casino."))
    _perform(actor, "officer.role_removed", officer, at=[casino.pk], reason=reason, before=membership.role)


# Requests


def propose_factor_reset(actor: Officer, officer: Officer, *, reason: str) -> AccountRequest:
    """Propose to take away the second factor of an officer who lost it. Raise ``AccountRefused``."""
    return _propose(actor, officer, RequestKind.SECOND_FACTOR, reason)


def propose_email(actor: Officer, officer: Officer, email: str, *, reason: str) -> AccountRequest:
    """Propose another mail address, to which the officer's links will go. Raise ``AccountRefused``."""
    return _propose(actor, officer, RequestKind.EMAIL, reason, secret=email)


def propose_reactivation(actor: Officer, officer: Officer, *, reason: str) -> AccountRequest:
    """Propose to let a deactivated officer sign in again. Raise ``AccountRefused``."""
    return _propose(actor, officer, RequestKind.REACTIVATION, reason)


def approve(actor: Officer, request_id: int) -> AccountRequest:
    """Approve a request and do what it is for. Raise ``AccountRefused``; then the attempt is recorded."""
    return _decide(actor, request_id, RequestState.APPROVED, "")


def decline(actor: Officer, request_id: int, *, reason: str) -> AccountRequest:
    """Decline a request; an account that it leaves without any role is deactivated. Its proposer withdraws it.

    Raise ``AccountRefused``.
    """
    return _decide(actor, request_id, RequestState.DECLINED, reason)


def _decide(actor: Officer, request_id: int, state: RequestState, reason: str) -> AccountRequest:
    request = AccountRequest.objects.select_related("officer", "proposed_by").get(pk=request_id)
    casino_ids = _casinos(request)
    if state == RequestState.DECLINED and request.proposed_by_id == actor.pk:
        state = RequestState.WITHDRAWN
    try:
        with transaction.atomic():
            _settle(actor, request, state, reason=reason)
            if state != RequestState.APPROVED:
                _close_if_never_given_a_role(actor, request.officer, casino_ids)
    except AccountRefused as refused:
        _record(actor, "officer.request_refused", request.officer, casino_ids, reason=str(refused))
        raise
    return AccountRequest.objects.get(pk=request_id)


def _propose(
    actor: Officer,
    officer: Officer,
    kind: RequestKind,
    reason: str,
    *,
    at: Collection[int] | None = None,
    secret: str | None = None,
    **data: str,
) -> AccountRequest:
    proposed = _perform(actor, f"officer.{kind}_proposed", officer, at=at, reason=reason, secret=secret, **data)
    return AccountRequest.objects.get(pk=proposed["id"])


def _settle(actor: Officer, request: AccountRequest, state: RequestState, *, reason: str = "") -> None:
    about = {"role": request.role} if request.role else {}
    _perform(
        actor,
        f"officer.{request.kind}_{state}",
        request.officer,
        at=_casinos(request),
        reason=reason,
        request=request.pk,
        proposed_by=request.proposed_by.get_username(),
        **about,
    )


def _close_if_never_given_a_role(actor: Officer, officer: Officer, casino_ids: Collection[int]) -> None:
    """Deactivate an account whose invitation was declined, at the casinos where it was proposed."""
    if officer.is_superuser or not officer.is_active or casino_ids_of(officer):
        return
    _perform(actor, "officer.deactivated", officer, at=casino_ids)


# Rows and entries


def _is_within(role: str, before: str) -> bool:
    return capabilities_of(role) <= capabilities_of(before)


def _is_first_administrator(casino: Casino, role: str) -> bool:
    has_had_one = (
        Membership.objects.filter(casino=casino, role=Role.ADMINISTRATOR).exists()
        or AccountRequest.objects.filter(casino=casino, role=Role.ADMINISTRATOR, state=RequestState.APPROVED).exists()
    )
    return role == Role.ADMINISTRATOR and not has_had_one


def _casinos(request: AccountRequest) -> Collection[int]:
    """Return the casinos in whose audit trail the request is."""
    return casino_ids_of(request.officer) if request.casino_id is None else [request.casino_id]


def _perform(
    actor: Officer,
    type: str,
    officer: Officer,
    *,
    at: Collection[int] | None = None,
    reason: str = "",
    secret: str | None = None,
    **data: Any,
) -> dict[str, Any]:
    """Have the database do what an entry says of an account. Return what its function returns.

    The entry is in the trail of each casino ``at``, or else of each of the officer's casinos, of the
    installation if there are none. The first of them has the effect. Raise ``AccountRefused``.
    """
    first, *others = _trails(casino_ids_of(officer) if at is None else at)
    data = _about(officer, data)
    with transaction.atomic():
        result = _perform_at(first, actor, type, data=data, reason=reason, secret=secret)
        for casino_id in others:
            audit_trail.record(
                actor.get_username(), type, casino_id=casino_id, data=data, reason=audit_trail.cleaned(reason)
            )
    return result


def _perform_at(
    casino_id: int, actor: Officer, type: str, *, data: dict[str, Any], reason: str = "", secret: str | None = None
) -> dict[str, Any]:
    try:
        return audit_trail.perform(
            actor.get_username(),
            type,
            casino_id=casino_id,
            data=data,
            reason=audit_trail.cleaned(reason),
            secret=secret,
        )
    except EntryRefused as refused:
        raise AccountRefused(REFUSALS.get(refused.code, _CHANGED_MEANWHILE)) from refused


def _record(actor: Officer, type: str, officer: Officer, casino_ids: Collection[int], *, reason: str) -> None:
    """Record an entry at each of these casinos, at the installation if there are none."""
    for casino_id in _trails(casino_ids):
        audit_trail.record(
            actor.get_username(),
            type,
            casino_id=casino_id,
            data=_about(officer, {}),
            reason=audit_trail.cleaned(reason),
        )


def _trails(casino_ids: Collection[int]) -> list[int]:
    return sorted(casino_ids) or [audit_trail.INSTALLATION]


def _about(officer: Officer, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": officer.pk, "officer": officer.get_username(), **data}


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _json(**values: Any) -> str:
    return _encode(values).decode()
