"""The audit trail of the desk: who signed in, who looked at what, who changed which settings."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model, QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from audit.access import refusals
from audit.access.client_address import UNKNOWN, network_address
from audit.desk.scoped_admin import ScopedAdmin
from audit.event_store import audit_trail
from audit.models import Officer

Row = TypeVar("Row", bound=Model)


STEP = "step"
"""What an address has in its query that was opened from the first steps: its form leads back there."""


class AuditedAdmin(ScopedAdmin[Row]):
    """A section that records every change in the audit trail, in the transaction of the change itself."""

    def response_add(self, request: HttpRequest, obj: Row, post_url_continue: str | None = None) -> HttpResponse:
        """Lead back to the first steps where the form was opened there."""
        response = super().response_add(request, obj, post_url_continue)
        return redirect("admin:first_run") if STEP in request.GET else response

    def log_addition(self, request: HttpRequest, obj: Row, message: Any) -> Any:
        self.record_row(request, "added", obj, message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Row, message: Any) -> Any:
        self.record_row(request, "changed", obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Row]) -> Any:
        for row in queryset:
            self.record_row(request, "deleted", row, [])
        return super().log_deletions(request, queryset)

    def record_row(self, request: HttpRequest, verb: str, row: Row, message: Any) -> None:
        """Record that a row was ``added``, ``changed`` or ``deleted``, and which fields by ``message``, Django's."""
        fields = sorted(changed_fields(message))
        casino_id = int(getattr(row, "casino_id", None) or audit_trail.INSTALLATION)
        entry = {"id": row.pk, "named": str(row), "fields": fields, **self.stated(row)}
        record_entry(request, f"{row._meta.model_name}.{verb}", casino_id=casino_id, **entry)

    def stated(self, row: Row) -> dict[str, Any]:
        """Return what the entry says of a row beside the names of its fields: verification holds the row against it."""
        return {}


def record_entry(request: HttpRequest, type: str, *, casino_id: int = audit_trail.INSTALLATION, **data: Any) -> None:
    """Append an entry to the audit trail: what the signed-in officer does. ``data`` says to what."""
    audit_trail.record(actor(request), type, casino_id=casino_id, data=data)


def actor(request: HttpRequest) -> str:
    """Return the signed-in officer's name as the audit trail has it."""
    return str(request.user.get_username())


def changed_fields(message: Any) -> set[str]:
    """Return the names of the fields in Django's change message. Their values never enter the audit trail."""
    if not isinstance(message, list):
        return set()
    return {str(name) for part in message for detail in part.values() for name in detail.get("fields", ())}


@receiver(user_logged_in)
def _on_sign_in(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    refusals.write_refusals(timezone.now())
    _record_at_own_casinos(user, "officer.signed_in")


@receiver(user_logged_out)
def _on_sign_out(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    if isinstance(user, Officer):  # None if the session had expired
        _record_at_own_casinos(user, "officer.signed_out")


@receiver(user_login_failed)
def _on_failed_sign_in(sender: Any, request: HttpRequest | None = None, **kwargs: Any) -> None:
    """Count a refusal; the window before is written by whoever comes next, or by the sweep."""
    now = timezone.now()
    refusals.write_refusals(now)
    refusals.count_refusal(network_address(request) if request is not None else UNKNOWN, now)


def _record_at_own_casinos(officer: Officer, type: str) -> None:
    """Record an entry in the audit trail of each of the officer's casinos; a superuser's in the installation's."""
    casino_ids = [] if officer.is_superuser else sorted(officer.roles_by_casino)
    for casino_id in casino_ids or [audit_trail.INSTALLATION]:
        audit_trail.record(officer.get_username(), type, casino_id=casino_id, data={})
