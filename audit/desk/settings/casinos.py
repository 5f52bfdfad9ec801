"""Casinos, tables and keys. A key is made by ``manage.py createkey``, which shows its secret once."""

from __future__ import annotations

from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.desk.audited_admin import AuditedAdmin, record_act
from audit.models import ApiKey, Casino, GamingTable


class _Kept(AuditedAdmin, admin.ModelAdmin):
    """Rows that the record refers to: never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Casino)
class CasinoAdmin(_Kept):
    list_display = ("code", "name", "time_zone", "cutoff")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("code",) if obj else ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Casino]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(pk__in=request.user.casinos_with_role())


@admin.register(GamingTable)
class GamingTableAdmin(_Kept):
    list_display = ("code", "casino")
    list_filter = ("casino",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("casino", "code") if obj else ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[GamingTable]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(casino__in=request.user.casinos_with_role())


@admin.register(ApiKey)
class ApiKeyAdmin(_Kept):
    list_display = ("name", "prefix", "casino", "created_at", "expires_at", "revoked_at")
    list_filter = ("casino",)
    readonly_fields = ("casino", "name", "prefix", "scopes", "tables", "created_at", "expires_at", "revoked_at")
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(casino__in=request.user.casinos_with_role())

    @admin.action(description=_("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        with transaction.atomic():
            revoked = list(keys.select_for_update().filter(revoked_at=None))
            keys.filter(pk__in=[key.pk for key in revoked]).update(revoked_at=timezone.now())
            for key in revoked:
                record_act(request, "key.revoked", casino_id=key.casino_id, id=key.pk, prefix=key.prefix)
        self.message_user(request, _("%(count)d keys were revoked.") % {"count": len(revoked)})
