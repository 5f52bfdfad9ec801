"""Officers, with a role at each of their casinos, and the deadlines of cases.

A superuser manages all officers. An administrator manages those whose casinos are all among their own; never
themselves and never a superuser, so that nobody can give themselves a role.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_celery_beat.models import ClockedSchedule, IntervalSchedule, SolarSchedule
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.desk.audited_admin import AuditedAdmin, record_entry
from audit.desk.record_admin import officer_of
from audit.desk.typed_admin import StackedInline
from audit.models import Deadline, Membership, Officer, Role

# Officers have roles, not groups; second factors are secret; casinos' cutoffs are crontabs, not these schedules.
admin.site.unregister([Group, StaticDevice, TOTPDevice, ClockedSchedule, IntervalSchedule, SolarSchedule])


if TYPE_CHECKING:
    OfficerUserAdmin = UserAdmin[Officer]
else:
    OfficerUserAdmin = UserAdmin


class MembershipInline(StackedInline[Membership, Officer]):
    model = Membership
    extra = 0

    def get_min_num(self, request: HttpRequest, obj: Officer | None = None, **kwargs: Any) -> int:
        """Require a role unless a superuser adds the officer: an administrator could not see one who has none."""
        return 0 if officer_of(request).is_superuser else 1

    def get_formset(self, request: HttpRequest, obj: Officer | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.validate_min = True
        return formset

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "casino":
            kwargs["queryset"] = officer_of(request).casinos_with_role(Role.ADMINISTRATOR)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(Officer)
class OfficerAdmin(AuditedAdmin[Officer], OfficerUserAdmin):
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser")
    list_filter = ("is_active",)
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (_("Sign-in"), {"fields": ("is_active", "last_login", "date_joined")}),
    )
    superuser_fieldsets = ((_("All casinos"), {"fields": ("is_superuser",)}),)
    inlines = (MembershipInline,)
    actions = ("reset_second_factor",)

    @admin.action(description=_("Reset the second factor"), permissions=("change",))
    def reset_second_factor(self, request: HttpRequest, officers: QuerySet[Officer]) -> None:
        """Delete the second factor of officers who lost their phone, so that they can set up a new one."""
        reset = 0
        with transaction.atomic():
            for officer in officers:
                deleted = [device.objects.filter(user=officer).delete()[0] for device in (TOTPDevice, StaticDevice)]
                if any(deleted):
                    reset += 1
                    record_entry(request, "officer.second_factor_taken", id=officer.pk, named=officer.get_username())
        text = ngettext(
            "The second factor of %(count)d officer has been reset.",
            "The second factor of %(count)d officers has been reset.",
            reset,
        )
        messages.success(request, text % {"count": reset})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Officer]:
        officers, officer = super().get_queryset(request), officer_of(request)
        if officer.is_superuser:
            return officers
        managed = officer.casinos_with_role(Role.ADMINISTRATOR)
        memberships = Membership.objects.filter(officer=OuterRef("pk"))
        return officers.filter(
            Exists(memberships.filter(casino__in=managed)),
            ~Exists(memberships.exclude(casino__in=managed)),
            is_superuser=False,
        ).exclude(pk=officer.pk)

    def get_fieldsets(self, request: HttpRequest, obj: Officer | None = None) -> Any:
        """Offer “all casinos” to superusers alone, and not while an officer is being added."""
        fieldsets = super().get_fieldsets(request, obj)
        may_promote = obj is not None and officer_of(request).is_superuser
        return (*fieldsets, *self.superuser_fieldsets) if may_promote else fieldsets

    def has_delete_permission(self, request: HttpRequest, obj: Officer | None = None) -> bool:
        """Forbid deleting: the record names its officers. One who has left is deactivated."""
        return False

    def save_model(self, request: HttpRequest, obj: Officer, form: Any, change: bool) -> None:
        obj.is_staff = True  # every officer signs in at the desk
        super().save_model(request, obj, form, change)


@admin.register(Deadline)
class DeadlineAdmin(AuditedAdmin[Deadline]):
    """The hours within which a case is to be closed, by severity. A change applies to cases opened from then on."""

    list_display = ("severity", "hours")
    readonly_fields = ("severity",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Deadline | None = None) -> bool:
        return False
