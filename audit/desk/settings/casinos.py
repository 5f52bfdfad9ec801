"""Casinos and their tables."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Model
from django.forms import TimeInput
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access import casino_settings
from audit.access.capabilities import Capability
from audit.desk.audited_admin import AuditedAdmin, Row, actor, changed_fields
from audit.desk.scoped_admin import officer_of, scope_of
from audit.desk.settings.tables import known_of
from audit.event_store.append import EntryRefused
from audit.models import Casino, GamingTable


class StatedAdmin(AuditedAdmin[Row]):
    """A section whose entries say all that a row is set to: ``verify`` holds the row against the newest."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Have the database store a row, with the entry: web servers may write none in another way."""
        fields = sorted(changed_fields(self.construct_change_message(request, form, [], add=not change)))
        try:
            casino_settings.store(actor(request), "changed" if change else "added", obj, fields=fields)
        except EntryRefused as refused:
            raise PermissionDenied from refused

    def record_row(self, request: HttpRequest, verb: str, row: Row, message: Any) -> None:
        """Enter nothing more: what stores a row has entered it."""


@admin.register(Casino)
class CasinoAdmin(StatedAdmin[Casino]):
    """Casinos. A superuser alone adds one, and changes more of one than its hours and when a table counts as silent."""

    sees = (Capability.SEE_RECORD, Capability.KEEP_EQUIPMENT)
    changes = (Capability.KEEP_EQUIPMENT,)
    casino = "pk"
    when_empty = _("No casino is registered yet. A superuser adds the first one.")
    list_display = ("named", "code", "time_zone", "cutoff", "is_sandbox")

    # The browser's own clock, as on every other page, instead of Django's: it writes hours without seconds.
    formfield_overrides = {models.TimeField: {"widget": TimeInput(format="%H:%M", attrs={"type": "time"})}}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return officer_of(request).is_superuser

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        if not officer_of(request).is_superuser:
            return ("code", "name", "time_zone", "priority_threshold", "unclaimed_days", "false_questions", "sandbox")
        return ("code", "sandbox") if obj else ()

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Leave out the box to tick where a word says whether it is a sandbox: it never changes."""
        return ("is_sandbox",) if obj or not officer_of(request).is_superuser else ()

    @admin.display(description=_("name"), ordering="name")
    def named(self, casino: Casino) -> str:
        return casino.name or casino.code

    @admin.display(description=_("sandbox"))
    def sandbox(self, casino: Casino) -> str:
        return gettext("yes") if casino.is_sandbox else gettext("no")


@admin.register(GamingTable)
class GamingTableAdmin(StatedAdmin[GamingTable]):
    """Tables. Their names may change; the code is what events have."""

    sees = (Capability.SEE_RECORD, Capability.KEEP_EQUIPMENT)
    changes = (Capability.KEEP_EQUIPMENT,)
    listed_as = _("Gaming tables")
    when_empty = _(
        "No table is registered yet. An administrator adds one, and then the key with which its system sends."
    )
    list_display = ("code", "name", "casino", "does_not_report")
    list_filter = ("casino",)
    search_fields = ("code", "name")
    fields = ("casino", "code", "name", "does_not_report")
    change_form_template = "admin/audit/settings/table.html"

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("casino", "code") if obj else ()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form, and under it what the record knows of the table, to who sees the record."""
        table = self.get_object(request, object_id)
        is_seen = table is not None and scope_of(request, Capability.SEE_RECORD).includes(table.casino_id)
        known = known_of(table) if table is not None and is_seen else None
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "known": known})
