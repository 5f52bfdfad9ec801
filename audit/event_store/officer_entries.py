"""Accounts, passwords and roles of officers: written with their entry of the audit trail, or not at all.

Django's forms and commands save an ``Officer`` or a ``Membership``; what they change becomes entries here. At the desk
they are the officer's of ``audit_trail.done_by``, in a command the account's that runs it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from audit.event_store import audit_trail
from audit.models import Membership, Officer
from audit.models.officers import membership_is_saved, officer_is_saved


@receiver(officer_is_saved)
def _save_officer(officer: Officer, fields: Collection[str], **kwargs: Any) -> None:
    """Add an account that is new, and store the protected ``fields`` of an officer that have changed."""
    named = {"named": officer.get_username()}
    with transaction.atomic():
        if officer._state.adding:
            added = _perform("officer.added", data=named, secret=officer.password)
            officer.pk, officer.is_staff = added["id"], True
            officer._state.adding, officer._state.db = False, "default"
        protected = {*fields} & {*Officer.PROTECTED}
        if not protected:
            return
        stored = Officer.objects.only("username", *Officer.PROTECTED).get(pk=officer.pk)
        named = {"named": stored.get_username()}  # a new name is stored after this
        if "password" in protected and stored.password != officer.password:
            _perform("officer.password_changed", data=named, secret=officer.password)
        if "is_superuser" in protected and stored.is_superuser != officer.is_superuser:
            verb = "made" if officer.is_superuser else "unmade"
            _perform(f"officer.{verb}_superuser", data=named)


@receiver(membership_is_saved)
def _save_membership(membership: Membership, is_deleted: bool, **kwargs: Any) -> None:
    data = {"officer": membership.officer.get_username(), "role": str(membership.role)}
    if is_deleted:
        _perform("membership.removed", casino_id=membership.casino_id, data=data)
        membership.pk = None
    elif membership._state.adding:
        membership.pk = _perform("membership.added", casino_id=membership.casino_id, data=data)["id"]
        membership._state.adding, membership._state.db = False, "default"
    else:
        before = Membership.objects.get(pk=membership.pk)
        if before.casino_id != membership.casino_id:  # at another casino: another membership
            _save_membership(before, is_deleted=True)
            membership.pk = _perform("membership.added", casino_id=membership.casino_id, data=data)["id"]
        elif before.role != membership.role:
            _perform("membership.changed", casino_id=membership.casino_id, data={**data, "before": before.role})


def _perform(type: str, **values: Any) -> dict[str, Any]:
    officer = audit_trail.current_officer()
    return (
        audit_trail.perform_command(type, **values) if officer is None else audit_trail.perform(officer, type, **values)
    )
