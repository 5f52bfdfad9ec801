"""The files of a case on the page of its finding: attach one, take one away as a download, erase one.

A file comes from outside: it is never shown. It is sent as a download whose type no browser guesses, in a sandbox that
runs nothing. Files may name persons, so who does not see names does not see files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.casework import attachments
from audit.casework.actions import ActionRefused
from audit.desk import kept_words
from audit.desk.audited_admin import record_entry
from audit.desk.findings.casework import CaseworkAdmin, address_of
from audit.desk.scoped_admin import at, demands, officer_of, scope_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.models import Attachment, Case, FileKind, Finding

TYPES = {FileKind.PDF: "application/pdf", FileKind.PNG: "image/png", FileKind.JPEG: "image/jpeg"}

SANDBOX = "sandbox; default-src 'none'"
"""The Content-Security-Policy of a file: even one that a browser opens all the same runs and loads nothing."""


class AttachmentsAdmin(CaseworkAdmin):
    """The part of the findings admin that takes and hands out files."""

    @at("<int:pk>/attach/")
    @demands(Capability.WORK_CASES)
    def attach_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Attach the file of the field ``file``, by POST, and return to the page of the finding."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        case = self._case(request, pk, Capability.WORK_CASES)
        sent = request.FILES.get("file")
        try:
            if sent is None:
                raise ActionRefused(_("Choose a file."))
            if sent.size is None or sent.size > attachments.most_bytes():
                raise ActionRefused(attachments.too_large())
            attachments.attach(officer_of(request), case, sent.name or "", sent.read())
        except ActionRefused as refused:
            messages.error(request, str(refused))
        else:
            messages.success(request, _("The file is attached."))
        return redirect(f"{address_of(request, pk)}#files")

    @at("<int:pk>/attachment/<int:number>/")
    @demands(Capability.SEE_NAMES)
    def attachment_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Download a file of the case. By POST, because the download enters the audit trail."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        case = self._case(request, pk, Capability.SEE_NAMES)
        attachment = Attachment.objects.filter(case=case, pk=number).exclude(content=None).first()
        if attachment is None:
            raise Http404
        record_entry(
            request, "case.attachment_downloaded", casino_id=case.casino_id, case=case.pk, attachment=attachment.pk,
            sha256=attachment.sha256,
        )  # fmt: skip
        name = attachment.name or f"{attachment.sha256[:12]}.{attachment.kind}"
        headers = {
            "Content-Disposition": content_disposition_header(True, name) or "attachment",
            "Content-Security-Policy": SANDBOX,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        content = bytes(attachment.content or b"")
        return HttpResponse(content, content_type=TYPES[FileKind(attachment.kind)], headers=headers)

    @at("<int:pk>/attachment/<int:number>/erase/")
    @demands(Capability.APPROVE_CASES)
    def attachment_erase_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Erase a file of the case for good, by POST, with a reason and a fresh proof."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        case = self._case(request, pk, Capability.APPROVE_CASES)
        attachment = Attachment.objects.filter(case=case, pk=number).defer("content").select_related("case").first()
        if attachment is None:
            raise Http404
        if (page := ask_for_proof(request)) is not None:
            return page
        back = address_of(request, pk)
        try:
            attachments.erase(officer_of(request), attachment, request.POST.get("reason", ""))
        except ActionRefused as refused:
            messages.error(request, str(refused))
            kept_words.keep(request, urlsplit(back).path)
        else:
            messages.success(request, _("The file is erased. Its hash stays."))
        return redirect(f"{back}#files")

    def _case(self, request: HttpRequest, pk: int, *capabilities: Capability) -> Case:
        """Return the case of a finding at whose casino the officer has one of ``capabilities``."""
        case = self.row_or_404(request, pk, *capabilities).case
        if case is None:
            raise Http404
        return case


def files_of(request: HttpRequest, finding: Finding) -> dict[str, Any] | None:
    """Return what the page shows of the files of a case; None where the officer sees no names, or there is no case."""
    if finding.case is None or not scope_of(request, Capability.SEE_NAMES).includes(finding.casino_id):
        return None
    listed: Sequence[Attachment] = list(
        finding.case.attachments.defer("content").select_related("officer", "erased_by")
    )
    takes_files = scope_of(request, Capability.WORK_CASES).includes(finding.casino_id)
    return {
        "files": listed,
        "may_attach": takes_files and len(listed) < attachments.MOST,
        "may_erase": scope_of(request, Capability.APPROVE_CASES).includes(finding.casino_id),
    }
