"""The people at the desk."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.utils.translation import gettext_lazy as _

from audit.admin.acts import Recorded
from audit.models import Officer


@admin.register(Officer)
class OfficerAdmin(Recorded, UserAdmin):
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser")
    filter_horizontal = ("casinos", "groups", "user_permissions")
    fieldsets = (*UserAdmin.fieldsets, (_("Casinos"), {"fields": ("casinos",)}))  # type: ignore[has-type]
