"""Files of cases: a PDF, a PNG or a JPEG by its content, of a bounded size, hashed, and kept in this database.

The trail has the hash and never the name of a file, in which a person's name may stand. Of the name it has a digest,
made with the content, so that nobody without the file can try names. Erasing takes the content and the name away for
good; the hash stays, so that a copy elsewhere can still be compared.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.actions import MAX_REASON, ActionRefused
from audit.event_store import audit_trail
from audit.models import Attachment, Case, FileKind, Officer

ATTACHED, ERASED = "case.attached", "case.attachment_erased"

MOST = 20
"""Files of one case, erased ones among them."""

MAX_NAME = 100

_END = 2_048
"""Bytes at the end of a PDF within which its end is marked."""


def most_bytes() -> int:
    """Return how many bytes a file may have."""
    return int(settings.CABOCHON_ATTACHMENT_MB) * 1024 * 1024


def kind_of(content: bytes) -> FileKind | None:
    """Return what a file is by its first and last bytes; None for anything else, and for a file that was cut off."""
    if content.startswith(b"%PDF-") and b"%%EOF" in content[-_END:]:
        return FileKind.PDF
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR" and content[-8:-4] == b"IEND":
        return FileKind.PNG
    if content.startswith(b"\xff\xd8\xff") and content.endswith(b"\xff\xd9"):
        return FileKind.JPEG
    return None


def attach(officer: Officer, case: Case, name: str, content: bytes) -> Attachment:
    """Attach a file to a case. Raise ``ActionRefused`` where the officer may not, or for a file that is not taken."""
    if not Scope.of(officer, Capability.WORK_CASES).includes(case.casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    kind = kind_of(content)
    if kind is None:
        raise ActionRefused(_("Only a whole PDF, PNG or JPEG file can be attached."))
    if len(content) > most_bytes():
        raise ActionRefused(too_large())
    with transaction.atomic():
        Case.objects.select_for_update().get(pk=case.pk)  # two officers together attach no more than one may
        if Attachment.objects.filter(case=case).count() >= MOST:
            raise ActionRefused(_("This case has as many files as a case may have."))
        digest = sha256(content).hexdigest()
        attachment = Attachment.objects.create(
            case=case, officer=officer, name=_safe(name), kind=kind, size=len(content), sha256=digest, content=content
        )
        named = sha256(attachment.name.encode() + b"\0" + content).hexdigest()
        _record(officer, attachment, ATTACHED, attachment.at, digest=named)
    return attachment


def erase(officer: Officer, attachment: Attachment, reason: str) -> None:
    """Erase a file. Raise ``ActionRefused`` where the officer may not, without a reason, or if it is erased."""
    if not Scope.of(officer, Capability.APPROVE_CASES).includes(attachment.case.casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))
    reason = audit_trail.cleaned(reason, most=MAX_REASON)
    if not reason:
        raise ActionRefused(_("Give a reason."))
    with transaction.atomic():
        held, now = Attachment.objects.filter(pk=attachment.pk, erased_at=None), datetime.now(UTC)
        if not held.update(content=None, name="", erased_at=now, erased_by=officer):
            raise ActionRefused(_("This file is already erased."))
        _record(officer, attachment, ERASED, now, reason)


def too_large() -> str:
    """Return why a file that is too large is refused."""
    return gettext("The file is larger than %(number)s MB.") % {"number": settings.CABOCHON_ATTACHMENT_MB}


def _record(officer: Officer, attachment: Attachment, event: str, at: datetime, reason: str = "", **more: str) -> None:
    data: dict[str, str | int] = {"case": attachment.case_id, "attachment": attachment.pk, "at": at.isoformat()}
    data |= {"sha256": attachment.sha256, "size": attachment.size, "kind": str(attachment.kind), **more}
    audit_trail.record(officer.get_username(), event, casino_id=attachment.case.casino_id, data=data, reason=reason)


def _safe(name: str) -> str:
    """Return the last part of a file's name without what no file system or header takes."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w .()+-]", "_", last).strip()[-MAX_NAME:]
