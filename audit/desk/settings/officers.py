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
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.audited_admin import AuditedAdmin, actor, record_entry
from audit.desk.scoped_admin import ScopedInline, demands, officer_of, scope_of
from audit.event_store import audit_trail
from audit.models import Deadline, Membership, Officer

# Officers have roles, not groups; second factors are secret; the schedule follows the settings and casinos' cutoffs.
admin.site.unregister([Group, StaticDevice, TOTPDevice])
admin.site.unregister([PeriodicTask, ClockedSchedule, CrontabSchedule, IntervalSchedule, SolarSchedule])


if TYPE_CHECKING:
    OfficerUserAdmin = UserAdmin[Officer]
else:
    OfficerUserAdmin = UserAdmin


class MembershipInline(ScopedInline[Membership]):
    changes = (Capability.KEEP_OFFICERS,)
    model = Membership
    extra = 0

    def get_min_num(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        """Require a role unless a superuser adds the officer: an administrator could not see one who has none."""
        return 0 if officer_of(request).is_superuser else 1

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.validate_min = True
        return formset


@admin.register(Officer)
class OfficerAdmin(AuditedAdmin[Officer], OfficerUserAdmin):
    sees = changes = (Capability.KEEP_OFFICERS,)
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
        officers, scope = Officer.objects.order_by("username"), scope_of(request, Capability.KEEP_OFFICERS)
        if scope.is_everywhere:
            return officers
        memberships = Membership.objects.filter(officer=OuterRef("pk"))
        return officers.filter(
            Exists(scope.rows(memberships)),
            ~Exists(memberships.exclude(casino__in=scope.casino_ids or ())),
            is_superuser=False,
        ).exclude(pk=officer_of(request).pk)

    def _is_within(self, scope: Scope, row: Model | None) -> bool:
        """Whether all casinos of an officer are in ``scope``; nobody's scope includes a superuser but a superuser's."""
        if scope.is_everywhere or row is None or row.pk is None:
            return bool(scope)
        assert isinstance(row, Officer)
        return not row.is_superuser and all(scope.includes(casino_id) for casino_id in row.roles_by_casino)

    def get_fieldsets(self, request: HttpRequest, obj: Officer | None = None) -> Any:
        """Offer “all casinos” to superusers alone, and not while an officer is being added."""
        fieldsets = super().get_fieldsets(request, obj)
        may_promote = obj is not None and officer_of(request).is_superuser
        return (*fieldsets, *self.superuser_fieldsets) if may_promote else fieldsets

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Ascribe to the signed-in officer what the form writes of an account and its roles."""
        with audit_trail.done_by(actor(request)):
            return super().changeform_view(request, *args, **kwargs)

    @demands(Capability.KEEP_OFFICERS)
    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with audit_trail.done_by(actor(request)):
            return super().user_change_password(request, *args, **kwargs)

    def log_addition(self, request: HttpRequest, obj: Officer, message: Any) -> Any:
        """Leave the entry of the audit trail to the account itself, which is added with it."""
        return UserAdmin.log_addition(self, request, obj, message)

    def save_model(self, request: HttpRequest, obj: Officer, form: Any, change: bool) -> None:
        obj.is_staff = True  # every officer signs in at the desk
        super().save_model(request, obj, form, change)


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

    def get_readonly_fields(self, request: HttpRequest, obj: Deadline | None = None) -> tuple[str, ...]:
        return ("casino", "severity") if obj else ()

    def get_form(self, request: HttpRequest, obj: Deadline | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Require the casino of a new deadline: those of the installation are all there."""
        form = super().get_form(request, obj, change, **kwargs)
        if "casino" in form.base_fields:
            form.base_fields["casino"].required = True
        return form

    @admin.display(description=_("casino"), ordering="casino__code")
    def whose(self, deadline: Deadline) -> str:
        return str(deadline.casino or _("every casino without its own"))
