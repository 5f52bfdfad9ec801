"""Refused requests: why, by whom, and their very bytes; for a conflict, beside what is recorded."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from audit.desk.audited_admin import record_act
from audit.desk.record_admin import RecordAdmin
from audit.event_store import read
from audit.models import Quarantined
from settlement import ShapeError, canonical

SHOWN_BYTES = 8_000


@admin.register(Quarantined)
class QuarantinedAdmin(RecordAdmin):
    list_display = ("received_at", "code", "stream", "seq", "key", "size", "detail")
    list_filter = ("code", "casino", "key")
    list_select_related = ("key", "casino")
    search_fields = ("=stream",)
    search_help_text = _("a stream, whole")
    fields = (
        *("received_at", "casino", "key", "stream", "seq", "code", "detail", "size", "sha256", "purged_at"),
        *("text", "hexadecimal", "sent", "recorded", "download"),
    )
    readonly_fields = ("sha256", "text", "hexadecimal", "sent", "recorded", "download")

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:pk>/bytes", self.admin_site.admin_view(self.bytes_view), name="audit_quarantined_bytes")
        return [own, *super().get_urls()]

    def bytes_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Hand out the bytes as they came, as a file that no browser opens."""
        refused = self.get_object(request, str(pk))
        if not isinstance(refused, Quarantined) or refused.purged_at is not None:
            raise Http404
        if not self.has_view_permission(request, refused):
            raise PermissionDenied
        record_act(request, "quarantine.exported", casino_id=refused.casino_id, id=refused.pk, stream=refused.stream)
        headers = {"Content-Disposition": f'attachment; filename="refused-{refused.pk}.bin"'}
        return HttpResponse(bytes(refused.body), content_type="application/octet-stream", headers=headers)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        refused = self.get_object(request, object_id)
        if isinstance(refused, Quarantined) and self.has_view_permission(request, refused):
            record_act(request, "quarantine.viewed", casino_id=refused.casino_id, id=refused.pk, stream=refused.stream)
        return super().change_view(request, object_id, *args, **kwargs)

    @admin.display(description="SHA-256")
    def sha256(self, refused: Quarantined) -> str:
        return bytes(refused.digest).hex()

    @admin.display(description=_("as text"))
    def text(self, refused: Quarantined) -> str:
        """Show the first bytes of what came, with what is no text replaced."""
        return _preformatted(bytes(refused.body[:SHOWN_BYTES]).decode("utf-8", "replace"))

    @admin.display(description=_("in hexadecimal"))
    def hexadecimal(self, refused: Quarantined) -> str:
        shown = bytes(refused.body[: SHOWN_BYTES // 16])
        return _preformatted("\n".join(shown[at : at + 32].hex(" ", 4) for at in range(0, len(shown), 32)))

    @admin.display(description=_("sent, in canonical form"))
    def sent(self, refused: Quarantined) -> str:
        try:
            form = canonical(bytes(refused.body)).decode() if refused.code == "conflict" and refused.body else ""
        except ShapeError:
            form = ""
        return _preformatted(form.replace(",", ",\n"))

    @admin.display(description=_("recorded, in canonical form"))
    def recorded(self, refused: Quarantined) -> str:
        head = read.head_of(refused.casino_id, refused.stream) if refused.code == "conflict" else None
        if head is None or refused.seq is None:
            return _preformatted("")
        stored = read.events_at(head.stream_id, [refused.seq]).get(refused.seq, b"")
        return _preformatted(stored.decode().replace(",", ",\n"))

    @admin.display(description=_("file"))
    def download(self, refused: Quarantined) -> str:
        if refused.purged_at is not None:
            return str(_("its bytes were let go"))
        address = reverse("admin:audit_quarantined_bytes", args=(refused.pk,))
        return format_html('<a href="{}">{}</a>', address, _("the bytes as they came"))


def _preformatted(text: str) -> str:
    return format_html('<pre class="bytes">{}</pre>', text) if text else "—"
