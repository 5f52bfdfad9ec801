"""The hours within which a case is to be closed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.desk.audited_admin import AuditedAdmin, actor
from audit.desk.scoped_admin import scope_of
from audit.event_store import audit_trail
from audit.models import Deadline


@admin.register(Deadline)
class DeadlineAdmin(AuditedAdmin[Deadline]):
    """The hours within which a case is to be closed, by severity. A change applies to cases opened from then on.

    A casino without a deadline of its own has the installation's, which a superuser changes.
    """

    sees = changes = (Capability.KEEP_EQUIPMENT,)
    list_display = ("severity", "whose", "hours")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Deadline]:
        scope = scope_of(request, *self.sees)
        rows = Deadline.objects.select_related("casino").order_by("casino__code", "pk")
        return rows if scope.is_everywhere else rows.filter(Q(casino=None) | Q(casino__in=scope.casino_ids or ()))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        scope = scope_of(request, *self.sees)
        return bool(scope) and (obj is None or self.casino_id_of(obj) is None or self._is_within(scope, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow a casino to return to the deadlines of the installation, which are never deleted."""
        if obj is not None and self.casino_id_of(obj) is None:
            return False
        return self.has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Deadline, form: Any, change: bool) -> None:
        """Have the database set the hours, with the entry: web servers may write no deadline in another way."""
        written = self._perform(request, "changed" if change else "added", obj, hours=obj.hours)
        obj.pk = written["id"]

    def delete_model(self, request: HttpRequest, obj: Deadline) -> None:
        """Have the database delete a deadline, with the entry."""
        self._perform(request, "deleted", obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Deadline]) -> None:
        """Delete those that are chosen, one after the other."""
        for row in queryset:
            self.delete_model(request, row)

    def record_row(self, request: HttpRequest, verb: str, row: Deadline, message: Any) -> None:
        """Enter nothing more: what writes a deadline has entered it."""

    def _perform(self, request: HttpRequest, verb: str, row: Deadline, **data: Any) -> dict[str, Any]:
        entry = {"named": str(row), "severity": str(row.severity), **data}
        casino_id = row.casino_id or audit_trail.INSTALLATION
        return audit_trail.perform(actor(request), f"deadline.{verb}", casino_id=casino_id, data=entry)

    def get_readonly_fields(self, request: HttpRequest, obj: Deadline | None = None) -> tuple[str, ...]:
        return ("severity", "whose") if obj else ()

    def get_fields(self, request: HttpRequest, obj: Deadline | None = None) -> tuple[str, ...]:
        """Begin a deadline that there is with what it is for; the installation's says in words whose it is."""
        return ("severity", "whose", "hours") if obj else ("casino", "severity", "hours")

    def get_form(self, request: HttpRequest, obj: Deadline | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Require the casino of a new deadline: those of the installation are all there."""
        form = super().get_form(request, obj, change, **kwargs)
        if "casino" in form.base_fields:
            form.base_fields["casino"].required = True
        return form

    @admin.display(description=_("casino"), ordering="casino__code")
    def whose(self, deadline: Deadline) -> str:
        return str(deadline.casino or _("every casino without its own deadline"))
