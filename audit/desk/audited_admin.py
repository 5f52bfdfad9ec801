"""What is recorded of what officers do at the desk: who signed in, who looked at what, who changed what."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.dispatch import receiver
from django.http import HttpRequest

from audit.event_store import audit_trail
from audit.models import Casino, Officer

TYPED = 150
"""Most characters kept of a name that somebody tried to sign in by."""


class AuditedAdmin:
    """A ``ModelAdmin`` whose additions and changes are acts of the log, in the transaction that makes them."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_row(request, "added", obj, message)
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        _record_row(request, "changed", obj, message)
        return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            _record_row(request, "deleted", row, [])
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def record_act(request: HttpRequest, type: str, *, casino_id: int = audit_trail.INSTALLATION, **data: Any) -> None:
    """Record what the officer who asks does."""
    audit_trail.record(actor(request), type, casino_id=casino_id, data=data)


def actor(request: HttpRequest) -> str:
    """Return who asks, as acts name them."""
    return str(request.user.get_username())


def _record_row(request: HttpRequest, did: str, row: Model, message: Any) -> None:
    record_act(
        request,
        f"{row._meta.model_name}.{did}",
        casino_id=_casino_of(row),
        id=row.pk,
        named=str(row),
        fields=sorted(_fields_in(message)),
    )


def _casino_of(row: Model) -> int:
    if isinstance(row, Casino):
        return int(row.pk)
    return int(getattr(row, "casino_id", None) or audit_trail.INSTALLATION)


def _fields_in(message: Any) -> set[str]:
    """Return the names of the fields that a form changed, and nothing of what they hold."""
    if not isinstance(message, list):
        return set()
    return {str(name) for part in message for told in part.values() for name in told.get("fields", ())}


def _casinos(officer: Any) -> list[int]:
    """Return where an officer's coming and going is recorded: at each of their houses, or at the installation."""
    own = [] if officer.is_superuser else list(officer.casinos_with_role().values_list("pk", flat=True))
    return own or [audit_trail.INSTALLATION]


@receiver(user_logged_in)
def _signed_in(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    _record_everywhere(user, "officer.signed_in")


@receiver(user_logged_out)
def _signed_out(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    if isinstance(user, Officer):  # None where the session had ended already
        _record_everywhere(user, "officer.signed_out")


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], **kwargs: Any) -> None:
    audit_trail.record(str(credentials.get("username", ""))[:TYPED].replace("\0", ""), "officer.refused", data={})


def _record_everywhere(officer: Any, type: str) -> None:
    for casino_id in _casinos(officer):
        audit_trail.record(officer.get_username(), type, casino_id=casino_id, data={})
