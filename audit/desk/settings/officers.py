"""The people at the desk, each with a role at each of their houses.

A superuser keeps them all. An administrator keeps those who work at his own houses and at no other, and neither
himself nor a superuser: nobody gives himself a role.
"""

from __future__ import annotations

from typing import Any

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

from audit.desk.audited_admin import AuditedAdmin, record_act
from audit.models import Deadline, Membership, Officer, Role

# Officers have roles, not groups; a second factor is shown to its owner alone; nights follow the calendar.
admin.site.unregister([Group, StaticDevice, TOTPDevice, ClockedSchedule, IntervalSchedule, SolarSchedule])


class MembershipInline(admin.StackedInline):
    model = Membership
    extra = 0

    def get_min_num(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        """Nobody without a role is made by who keeps but some houses: he would not see him again."""
        return 0 if request.user.is_superuser else 1

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.validate_min = True
        return formset

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "casino":
            kwargs["queryset"] = request.user.casinos_with_role(Role.ADMINISTRATOR)  # type: ignore[union-attr]
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(Officer)
class OfficerAdmin(AuditedAdmin, UserAdmin):
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser")
    list_filter = ("is_active",)
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (_("Sign-in"), {"fields": ("is_active", "last_login", "date_joined")}),
    )
    of_superusers = ((_("All casinos"), {"fields": ("is_superuser",)}),)
    inlines = (MembershipInline,)
    actions = ("forget_second_factor",)

    @admin.action(description=_("Take the second factor away, to be made anew"), permissions=("change",))
    def forget_second_factor(self, request: HttpRequest, officers: QuerySet[Officer]) -> None:
        """For who has lost the phone. Whoever has none is asked for a password alone, or to make one at once."""
        taken = 0
        with transaction.atomic():
            for officer in officers:
                had = [kind.objects.filter(user=officer).delete()[0] for kind in (TOTPDevice, StaticDevice)]
                if any(had):
                    taken += 1
                    record_act(request, "officer.second_factor_taken", id=officer.pk, named=officer.get_username())
        told = ngettext(
            "%(count)d officer has no second factor now.", "%(count)d officers have no second factor now.", taken
        )
        messages.success(request, told % {"count": taken})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Officer]:
        officers: QuerySet[Officer] = super().get_queryset(request)
        if request.user.is_superuser:
            return officers
        of_officer = Membership.objects.filter(officer=OuterRef("pk"))
        kept = request.user.casinos_with_role(Role.ADMINISTRATOR)  # type: ignore[union-attr]
        return officers.filter(
            Exists(of_officer.filter(casino__in=kept)), ~Exists(of_officer.exclude(casino__in=kept)), is_superuser=False
        ).exclude(pk=request.user.pk)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        return (*shown, *self.of_superusers) if obj is not None and request.user.is_superuser else shown

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Somebody who has left is no longer active; what he did keeps his name."""
        return False

    def save_model(self, request: HttpRequest, obj: Officer, form: Any, change: bool) -> None:
        obj.is_staff = True  # whoever is an officer signs in at the desk
        super().save_model(request, obj, form, change)


@admin.register(Deadline)
class DeadlineAdmin(AuditedAdmin, admin.ModelAdmin):
    """In how many hours a case is to be closed. What is changed holds for cases opened from then on."""

    list_display = ("severity", "hours")
    readonly_fields = ("severity",)

    def has_add_permission(self, request: object) -> bool:
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        return False
