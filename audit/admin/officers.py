"""The people at the desk, each with a role at each of their houses."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from audit.admin.acts import Recorded
from audit.models import Deadline, Membership, Officer


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 1


@admin.register(Officer)
class OfficerAdmin(Recorded, UserAdmin):
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser")
    filter_horizontal = ("groups", "user_permissions")
    inlines = (MembershipInline,)


@admin.register(Deadline)
class DeadlineAdmin(Recorded, admin.ModelAdmin):
    """In how many hours a case is to be closed. What is changed holds for cases opened from then on."""

    list_display = ("severity", "hours")
    readonly_fields = ("severity",)

    def has_add_permission(self, request: object) -> bool:
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        return False
