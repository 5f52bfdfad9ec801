"""Single sign-on: which officer an account at the provider is, and the roles that its groups stand for.

An account is opened by invitation, as ever. The first sign-in with the provider links it, by a mail address that the
provider has verified; from then on the provider's own name for the account, its subject, is what counts. Groups change
roles at the casinos that an operator has mapped (``manage.py signon``) and nowhere else; a role that no group stands
for is taken away, and the role of administrator is never given: that takes two administrators.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import transaction

from audit.access.capabilities import capabilities_of
from audit.access.keepers import casino_ids_of
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import GroupRole, Officer, ProviderAccount, Role

_WIDEST_FIRST = (Role.ADMINISTRATOR, Role.SECOND, Role.DIRECTOR, Role.OFFICER, Role.AUDITOR)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says that somebody is. ``email`` is "" unless the provider has verified it; ``groups`` is None
    where groups are not looked at, and empty where the provider names none.
    """

    issuer: str
    subject: str
    email: str
    groups: Collection[str] | None


class SignOnRefused(Exception):
    """Nobody here is who the provider says, or they may not sign in with it."""


@transaction.atomic
def officer_of(identity: Identity) -> Officer:
    """Return the officer whom the provider names, with the roles of their groups. Raise ``SignOnRefused``."""
    officer = _linked(identity) or _link(identity)
    if not officer.is_active or not officer.is_staff or officer.is_superuser:
        raise SignOnRefused
    if identity.groups is not None:
        _follow_groups(officer, identity.groups)
    return officer


def _linked(identity: Identity) -> Officer | None:
    account = ProviderAccount.objects.filter(issuer=identity.issuer, subject=identity.subject)
    found = account.select_related("officer").first()
    return found.officer if found is not None else None


def _link(identity: Identity) -> Officer:
    """Link the one active account with the verified mail address, if it is not linked to another at the provider."""
    if not identity.email:
        raise SignOnRefused
    named = Officer.objects.filter(email__iexact=identity.email)
    found = list(named[:2])
    if len(found) != 1 or not found[0].is_active or found[0].is_superuser:
        raise SignOnRefused
    [officer] = found
    data = {"id": officer.pk, "officer": officer.get_username(), "issuer": identity.issuer}
    casino_id = min(casino_ids_of(officer), default=audit_trail.INSTALLATION)
    _perform(officer, "officer.linked", casino_id=casino_id, data=data, secret=identity.subject)
    return officer


def _follow_groups(officer: Officer, groups: Collection[str]) -> None:
    """Have the officer's roles at the mapped casinos be those of the groups. Each change is an entry."""
    mapped: dict[int, list[GroupRole]] = {}
    for row in GroupRole.objects.order_by("casino_id", "pk"):
        mapped.setdefault(row.casino_id, []).append(row)
    for casino_id, rows in mapped.items():
        held = officer.roles_by_casino.get(casino_id, "")
        role, group = _role(held, rows, groups)
        if role == held:
            continue
        data = {"id": officer.pk, "officer": officer.get_username(), "role": role, "before": held, "group": group}
        _perform(officer, "officer.role_by_groups", casino_id=casino_id, data=data)
    officer.__dict__.pop("roles_by_casino", None)


def _role(held: str, rows: Collection[GroupRole], groups: Collection[str]) -> tuple[str, str]:
    """Return the role that groups stand for at a casino, and the group; "" for none.

    Of several, the one that is held; else the widest. The role of administrator stays while a group stands for it, or
    while no group could, and is never given.
    """
    stands_for: Mapping[str, str] = {row.role: row.group for row in reversed(list(rows)) if row.group in groups}
    if held in stands_for:
        wider = [role for role in stands_for if _is_wider(role, held)]
        if not wider or held == Role.ADMINISTRATOR:
            return held, stands_for[held]
    if held == Role.ADMINISTRATOR and not any(row.role == held for row in rows):
        return held, ""
    given = [role for role in _WIDEST_FIRST if role in stands_for and role != Role.ADMINISTRATOR]
    return (str(given[0]), stands_for[given[0]]) if given else ("", "")


def _is_wider(role: str, than: str) -> bool:
    return role != Role.ADMINISTRATOR and capabilities_of(role) > capabilities_of(than)


def _perform(officer: Officer, type: str, *, casino_id: int, data: Mapping[str, object], secret: str = "") -> None:
    try:
        audit_trail.perform(officer.get_username(), type, casino_id=casino_id, data=data, secret=secret)
    except EntryRefused as refused:
        raise SignOnRefused from refused
