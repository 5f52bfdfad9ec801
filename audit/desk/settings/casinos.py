"""Casinos, tables and API keys. A key is created by ``manage.py createkey``, which shows its secret once."""

from __future__ import annotations

from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.desk.audited_admin import AuditedAdmin, record_entry
from audit.desk.sign_in.proof import ask_for_proof
from audit.models import ApiKey, Casino, GamingTable
from audit.presentation import MISSING, date_time


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


@admin.register(ApiKey)
class ApiKeyAdmin(AuditedAdmin[ApiKey]):
    sees = changes = (Capability.KEEP_EQUIPMENT,)
    list_display = ("name", "prefix", "casino", "created", "expires", "revoked")
    list_filter = ("casino",)
    fields = readonly_fields = ("casino", "name", "prefix", "scopes", "tables", "created", "expires", "revoked")
    actions = ("revoke",)

    @admin.display(description=_("created"), ordering="created_at")
    def created(self, key: ApiKey) -> str:
        return date_time(key.created_at, key.casino)

    @admin.display(description=_("expires"), ordering="expires_at", empty_value=MISSING)
    def expires(self, key: ApiKey) -> str | None:
        return date_time(key.expires_at, key.casino) if key.expires_at else None

    @admin.display(description=_("revoked"), ordering="revoked_at", empty_value=MISSING)
    def revoked(self, key: ApiKey) -> str | None:
        return date_time(key.revoked_at, key.casino) if key.revoked_at else None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.action(description=_("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> HttpResponse | None:
        if (page := ask_for_proof(request)) is not None:
            return page
        with transaction.atomic():
            revoked = list(keys.select_for_update().filter(revoked_at=None))
            keys.filter(pk__in=[key.pk for key in revoked]).update(revoked_at=timezone.now())
            for key in revoked:
                record_entry(request, "key.revoked", casino_id=key.casino_id, id=key.pk, prefix=key.prefix)
        text = ngettext("%(count)d key has been revoked.", "%(count)d keys have been revoked.", len(revoked))
        self.message_user(request, text % {"count": len(revoked)})
        return None
