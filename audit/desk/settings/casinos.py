"""Casinos and their tables."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.desk.audited_admin import AuditedAdmin
from audit.models import Casino, GamingTable


@admin.register(Casino)
class CasinoAdmin(AuditedAdmin[Casino]):
    """Casinos. A superuser alone adds one or changes it: its cutoff decides to which night an event belongs."""

    sees = (Capability.SEE_RECORD, Capability.KEEP_EQUIPMENT)
    casino = "pk"
    list_display = ("code", "name", "time_zone", "cutoff")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("code",) if obj else ()


@admin.register(GamingTable)
class GamingTableAdmin(AuditedAdmin[GamingTable]):
    sees = (Capability.SEE_RECORD, Capability.KEEP_EQUIPMENT)
    changes = (Capability.KEEP_EQUIPMENT,)
    list_display = ("code", "casino")
    list_filter = ("casino",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("casino", "code") if obj else ()
