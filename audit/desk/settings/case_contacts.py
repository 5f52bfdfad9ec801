"""Whom the cases of a casino turn to: its video room, and the deputy for late cases."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope, officers_with
from audit.desk.audited_admin import AuditedAdmin
from audit.desk.scoped_admin import scope_of
from audit.event_store.audit_trail import address_mark
from audit.models import CaseContacts


class CaseContactsForm(forms.ModelForm):  # type: ignore[type-arg]  # Django’s own takes no type parameter
    """Refuses a deputy who does not work on cases at the casino."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        casino = cleaned.get("casino") or getattr(self.instance, "casino", None)
        deputy = cleaned.get("deputy")
        if casino and deputy and not Scope.of(deputy, Capability.WORK_CASES).includes(casino.pk):
            raise forms.ValidationError(_("This officer does not work on cases at this casino."))
        return cleaned


@admin.register(CaseContacts)
class CaseContactsAdmin(AuditedAdmin[CaseContacts]):
    sees = changes = (Capability.KEEP_EQUIPMENT,)
    form = CaseContactsForm
    when_empty = _(
        "No address of a video room is set: nobody can ask for the video. Late cases pass to the administrators."
    )
    list_display = ("casino", "video_room", "deputy")
    list_select_related = ("casino", "deputy")

    def stated(self, row: CaseContacts) -> dict[str, Any]:
        """Return the mark of the video room's address, and the user name of the deputy, "" for none."""
        return {"address": address_mark(row.video_room), "deputy": row.deputy_name}

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("casino",) if obj else ()

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer as deputy the officers who work on cases at the administrator's casinos."""
        if db_field.name == "deputy":
            kwargs["queryset"] = officers_with(Capability.WORK_CASES, scope_of(request, *self.changes).casino_ids)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
