"""The deeds of an intruder on a web server by the functions of the database, and the code with which they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from audit.access.database_roles import WEB
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Casino, Officer
from tests.roles import acting_as


@contextmanager
def taken_over() -> Iterator[None]:
    """Be a web server, and roll back what it did."""
    with transaction.atomic(), acting_as(WEB):
        yield
        transaction.set_rollback(True)


def refused(actor: Officer, type: str, at: Casino, data: dict[str, Any], secret: str | None = None) -> str | None:
    """Return the code with which the database refuses an entry, or None."""
    try:
        with taken_over():
            audit_trail.perform(actor.get_username(), type, casino_id=at.pk, data=data, secret=secret)
    except EntryRefused as refusal:
        return refusal.code
    return None
