"""The quarantine: refused requests with the reason, the sender and the exact bytes.

A request refused as a conflict is shown next to the event that the record already has under its number.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from audit.access.capabilities import Capability
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.scoped_admin import RecordAdmin, at, demands
from audit.desk.sessions import session_of, with_session
from audit.event_store import read
from audit.models import Quarantined
from audit.presentation import MISSING, date_time
from settlement import ShapeError, canonical

SHOWN_BYTES = 8_000
HEX_LINE_BYTES = 32


@admin.register(Quarantined)
class QuarantinedAdmin(RecordAdmin[Quarantined]):
    counted = ngettext_lazy("%(number)d quarantined request", "%(number)d quarantined requests", "number")
    when_empty = _("No request was refused. One that is, is kept here with its bytes and the reason.")
    list_display = ("received", "code", "session", "seq", "key", "size", "detail")
    list_filter = ("code", "casino", "key")
    list_select_related = ("key", "casino")
    search_fields = ("=stream",)
    search_help_text = _("the exact id of a stream")
    fields = (
        *("received", "casino", "key", "stream", "seq", "code", "detail", "size", "sha256", "purged_at"),
        *("text", "hexadecimal", "sent", "recorded", "download"),
    )
    readonly_fields = ("received", "sha256", "text", "hexadecimal", "sent", "recorded", "download")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Quarantined]:
        """Return the requests, each with the session that it was for."""
        return with_session(super().get_queryset(request))

    @admin.display(description=_("session"), ordering="stream")
    def session(self, refused: Quarantined) -> str:
        return format_html('<span title="{}">{}</span>', refused.stream, session_of(refused))

    def title_of(self, row: Quarantined) -> str:
        return f"{session_of(row)} · {row.code}"

    @at("<int:pk>/bytes")
    @demands(Capability.SEE_RECORD)
    def bytes_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Download the bytes as they were sent, as a file that no browser renders."""
        refused = self.row_or_404(request, pk)
        if refused.purged_at is not None:
            raise Http404
        _record_view(request, "quarantine.exported", refused)
        return file_response(f"refused-{refused.pk}.bin", "application/octet-stream", bytes(refused.body))

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        refused = self.get_object(request, object_id)
        if refused is not None and self.has_view_permission(request, refused):
            _record_view(request, "quarantine.viewed", refused)
        return super().change_view(request, object_id, *args, **kwargs)

    @admin.display(description=_("received"), ordering="received_at")
    def received(self, refused: Quarantined) -> str:
        return date_time(refused.received_at, refused.casino)

    @admin.display(description="SHA-256")
    def sha256(self, refused: Quarantined) -> str:
        return bytes(refused.digest).hex()

    @admin.display(description=_("as text"))
    def text(self, refused: Quarantined) -> str:
        """Return the first bytes as UTF-8, with the replacement character for what is not."""
        return _preformatted(bytes(refused.body[:SHOWN_BYTES]).decode("utf-8", "replace"))

    @admin.display(description=_("in hexadecimal"))
    def hexadecimal(self, refused: Quarantined) -> str:
        shown = bytes(refused.body[: SHOWN_BYTES // 16])
        starts = range(0, len(shown), HEX_LINE_BYTES)
        return _preformatted("\n".join(shown[start : start + HEX_LINE_BYTES].hex(" ", 4) for start in starts))

    @admin.display(description=_("sent, in canonical form"))
    def sent(self, refused: Quarantined) -> str:
        if refused.code != "conflict" or not refused.body:
            return MISSING
        try:
            return _one_field_a_line(canonical(bytes(refused.body)))
        except ShapeError:
            return MISSING

    @admin.display(description=_("recorded, in canonical form"))
    def recorded(self, refused: Quarantined) -> str:
        head = read.head_of(refused.casino_id, refused.stream) if refused.code == "conflict" else None
        if head is None or refused.seq is None:
            return MISSING
        return _one_field_a_line(read.events_at(head.stream_id, [refused.seq]).get(refused.seq, b""))

    @admin.display(description=_("file"))
    def download(self, refused: Quarantined) -> str:
        if refused.purged_at is not None:
            return str(_("the bytes have been deleted"))
        address = reverse("admin:audit_quarantined_bytes", args=(refused.pk,))
        return format_html('<a href="{}">{}</a>', address, _("the bytes as sent"))


def _record_view(request: HttpRequest, type: str, refused: Quarantined) -> None:
    record_entry(request, type, casino_id=refused.casino_id, id=refused.pk, stream=refused.stream)


def _one_field_a_line(event: bytes) -> str:
    return _preformatted(event.decode().replace(",", ",\n"))


def _preformatted(text: str) -> str:
    return format_html('<pre class="bytes">{}</pre>', text) if text else MISSING
