"""Refused requests, with their bytes."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from audit.admin.reading import RecordAdmin
from audit.models import Quarantined

SHOWN_BYTES = 8_000


@admin.register(Quarantined)
class QuarantinedAdmin(RecordAdmin):
    list_display = ("received_at", "code", "stream", "seq", "detail")
    list_filter = ("code", "casino")
    fields = ("received_at", "casino", "key", "stream", "seq", "code", "detail", "text")
    readonly_fields = ("text",)

    @admin.display(description=_("bytes"))
    def text(self, refused: Quarantined) -> str:
        """Show what came, as text: the first bytes of it, with what is no text replaced."""
        return bytes(refused.body[:SHOWN_BYTES]).decode("utf-8", "replace")
