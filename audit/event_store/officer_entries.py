"""Accounts, passwords and roles that a command writes: each with its entry of the audit trail, or not at all.

Django's own commands, ``createsuperuser`` and ``changepassword``, know nothing of entries: they save an ``Officer``. A
model may not import the event store, which is above it; so it sends a signal, and what it was to save becomes entries
here. They are the machine's account's, and only an operator of the database may write them. At the desk nothing is
saved in this way: ``audit.access.accounts`` names each entry.
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
            added = audit_trail.perform_command("officer.added", data=named, secret=officer.password)
            officer.pk, officer.is_staff = added["id"], True
            officer._state.adding, officer._state.db = False, "default"
        protected = {*fields} & {*Officer.PROTECTED}
        if not protected:
            return
        stored = Officer.objects.only("username", *Officer.PROTECTED).get(pk=officer.pk)
        named = {"named": stored.get_username()}  # a new name is stored after this
        if "password" in protected and stored.password != officer.password:
            audit_trail.perform_command("officer.password_changed", data=named, secret=officer.password)
        if "is_superuser" in protected and stored.is_superuser != officer.is_superuser:
            verb = "made" if officer.is_superuser else "unmade"
            audit_trail.perform_command(f"officer.{verb}_superuser", data=named)


@receiver(membership_is_saved)
def _save_membership(membership: Membership, is_deleted: bool, **kwargs: Any) -> None:
    before = Membership.objects.filter(pk=membership.pk).first()
    has_moved = before is not None and before.casino_id != membership.casino_id  # to another casino: another membership
    if before is not None and (is_deleted or has_moved):
        _perform("membership.removed", before)
    if is_deleted:
        membership.pk = None
    elif before is None or has_moved:
        membership.pk = _perform("membership.given", membership)["id"]
        membership._state.adding, membership._state.db = False, "default"
    elif before.role != membership.role:
        _perform("membership.given", membership, before=before.role)


def _perform(type: str, membership: Membership, **data: str) -> dict[str, Any]:
    data = {"officer": membership.officer.get_username(), "role": str(membership.role), **data}
    return audit_trail.perform_command(type, casino_id=membership.casino_id, data=data)
