"""Files of a case: taken by their content, bounded, hashed, sent as downloads that run nothing, erased for good."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.http import HttpResponse
from django.utils import timezone

from audit.access.database_roles import READER, WEB
from audit.casework import attachments
from audit.casework.actions import ActionRefused
from audit.event_store import audit_trail
from audit.models import Attachment, Officer, Role
from audit.projections.attachments import wrong_attachments
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

ENGLISH = {"accept-language": "en"}
PDF = b"%PDF-1.7\nstatement of Ines\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 17 + b"\0\0\0\0IEND\xaeB`\x82"
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20 + b"\xff\xd9"


def page_of(desk: Desk) -> str:
    return f"/admin/audit/finding/{desk.findings[0].pk}/"


def sent(officer: Officer, desk: Desk, content: bytes, name: str = "statement.pdf") -> str:
    file = SimpleUploadedFile(name, content, content_type="text/html")
    answer = client_of(officer).post(f"{page_of(desk)}attach/", {"file": file}, follow=True, headers=ENGLISH)
    assert answer.status_code == 200
    return answer.content.decode()


def attached(desk: Desk, content: bytes = PDF, name: str = "statement.pdf") -> Attachment:
    return attachments.attach(desk.first, desk.case, name, content)


def downloaded(officer: Officer, desk: Desk, attachment: Attachment) -> HttpResponse:
    response: Any = client_of(officer).post(f"{page_of(desk)}attachment/{attachment.pk}/")
    return response  # type: ignore[no-any-return]


def erased(officer: Officer, desk: Desk, attachment: Attachment, **form: str) -> HttpResponse:
    form = {"reason": "the court asked", "proof_password": PASSWORD, **form}
    response: Any = client_of(officer).post(f"{page_of(desk)}attachment/{attachment.pk}/erase/", form)
    return response  # type: ignore[no-any-return]


def entries(desk: Desk, kind: str) -> list[audit_trail.AuditEntry]:
    return [each for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date()) if each.type == kind]


@pytest.mark.parametrize(
    ("content", "kind"), [(PDF, "pdf"), (PNG, "png"), pytest.param(JPEG, "jpeg", marks=pytest.mark.faults)]
)
def test_a_file_is_attached_by_its_content_and_handed_out_as_it_was(desk: Desk, content: bytes, kind: str) -> None:
    assert "The file is attached." in sent(desk.first, desk, content, "../../Inès <b>.html")
    attachment = Attachment.objects.get(case=desk.case)
    digest = sha256(content).hexdigest()
    assert (attachment.kind, attachment.size, attachment.sha256) == (kind, len(content), digest)
    assert attachment.name == "Inès _b_.html"
    answer = downloaded(desk.second, desk, attachment)
    assert answer.content == content
    headers = {name.lower(): value for name, value in answer.headers.items()}
    assert headers["content-disposition"].startswith("attachment;")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "html" not in headers["content-type"]
    [entry] = entries(desk, attachments.ATTACHED)
    assert (entry.actor, entry.data["sha256"]) == (desk.first.username, digest)
    assert "Inès" not in str(entry.data), "the trail keeps no name of a file"
    [taken] = entries(desk, "case.attachment_downloaded")
    assert taken.actor == desk.second.username


@pytest.mark.parametrize(
    "content",
    in_short(
        [b"<html><script>alert(1)</script>", PDF[:12], JPEG[:-1], b"x" + PDF],
        further=[b"", b"GIF89a", PNG[:40], b"PK\3\4" + PDF],
    ),
)
def test_another_content_or_a_file_that_was_cut_off_is_refused(desk: Desk, content: bytes) -> None:
    page = sent(desk.first, desk, content)
    assert "Only a whole PDF, PNG or JPEG file can be attached." in page or "Choose a file." in page
    assert not Attachment.objects.exists()


def test_a_file_that_is_too_large_or_one_too_many_is_refused(desk: Desk, settings: Any, monkeypatch: Any) -> None:
    settings.CABOCHON_ATTACHMENT_MB = 1
    large = b"%PDF-" + b"x" * 1024 * 1024 + b"%%EOF"
    assert "The file is larger than 1 MB." in sent(desk.first, desk, large)
    with pytest.raises(ActionRefused):
        attachments.attach(desk.first, desk.case, "x", large)
    monkeypatch.setattr(attachments, "MOST", 1)
    attached(desk)
    assert "as many files as a case may have" in sent(desk.first, desk, PNG)
    assert Attachment.objects.count() == 1


def test_who_may_not_work_on_the_case_attaches_reads_and_erases_nothing(desk: Desk) -> None:
    attachment = attached(desk)
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    for officer in (desk.auditor, desk.administrator, stranger):
        file = SimpleUploadedFile("x.pdf", PDF)
        answer = client_of(officer).post(f"{page_of(desk)}attach/", {"file": file})
        assert answer.status_code in (403, 404)
        assert downloaded(officer, desk, attachment).status_code in (403, 404)
        assert erased(officer, desk, attachment).status_code in (403, 404)
    assert erased(desk.first, desk, attachment).status_code == 403, "an officer does not erase"
    with pytest.raises(ActionRefused):
        attachments.erase(desk.first, attachment, "seen")
    assert Attachment.objects.get().erased_at is None
    page = client_of(desk.auditor).get(f"{page_of(desk)}change/").content.decode()
    assert "statement.pdf" not in page, "who sees no names sees no files"
    other = desk.findings[1].pk
    assert client_of(desk.second).post(f"/admin/audit/finding/{other}/attachment/{attachment.pk}/").status_code == 404


def test_an_erased_file_is_gone_and_its_hash_stays(desk: Desk) -> None:
    attachment = attached(desk)
    assert erased(desk.second, desk, attachment, reason=" ").status_code == 302
    assert Attachment.objects.get().content is not None, "erasing takes a reason"
    assert erased(desk.second, desk, attachment).status_code == 302
    row = Attachment.objects.get()
    assert (row.content, row.name, row.erased_by) == (None, "", desk.second)
    assert row.sha256 == attachment.sha256
    [entry] = entries(desk, attachments.ERASED)
    assert (entry.reason, entry.data["sha256"]) == ("the court asked", attachment.sha256)
    assert downloaded(desk.second, desk, attachment).status_code == 404
    page = client_of(desk.second).get(f"{page_of(desk)}change/", headers=ENGLISH).content.decode()
    assert f"erased by {desk.second.username}" in page
    assert attachment.sha256 in page
    with pytest.raises(ActionRefused, match="already erased"):
        attachments.erase(desk.third, row, "again")


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_attachment set content = '\\x00'",
        "update audit_attachment set content = null, name = 'x', erased_at = now(), erased_by_id = officer_id",
        "insert into audit_attachment (case_id, officer_id, at, name, kind, size, sha256, content)"
        " select case_id, officer_id, at, name, kind, size, repeat('0', 64), content from audit_attachment",
    ],
)
def test_no_web_server_changes_a_file_or_keeps_one_under_another_hash(desk: Desk, statement: str) -> None:
    attached(desk)
    with acting_as(WEB), pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_trail_has_a_digest_of_the_name_that_nobody_without_the_file_can_try(desk: Desk) -> None:
    attachment = attached(desk)
    [entry] = entries(desk, attachments.ATTACHED)
    assert entry.data["digest"] == sha256(b"statement.pdf\0" + PDF).hexdigest()
    assert entry.data["at"] == attachment.at.isoformat()


def test_who_may_read_no_file_verifies_those_of_the_record(desk: Desk) -> None:
    attached(desk)
    attachments.erase(desk.second, attached(desk, PNG), "the court asked")
    with acting_as(READER):
        assert list(wrong_attachments(desk.tenant.casino.pk)) == []


def test_a_file_of_an_earlier_version_is_held_without_its_name(desk: Desk) -> None:
    """Its entry has neither the digest nor the instant to the microsecond."""
    with pytest.MonkeyPatch.context() as earlier:
        record = audit_trail.record
        earlier.setattr(
            audit_trail,
            "record",
            lambda *args, data, **more: record(
                *args, data={name: value for name, value in data.items() if name not in ("at", "digest")}, **more
            ),
        )
        attachment = attached(desk)
    [entry] = entries(desk, attachments.ATTACHED)
    assert entry.data.keys() == {"attachment", "case", "kind", "sha256", "size"}
    assert list(wrong_attachments(desk.tenant.casino.pk)) == []
    attachments.erase(desk.second, attachment, "the court asked")
    assert list(wrong_attachments(desk.tenant.casino.pk)) == []


def test_a_reader_of_the_database_has_no_file_and_no_name_of_one(desk: Desk) -> None:
    attached(desk)
    for column in ("content", "name"):
        with (
            acting_as(READER),
            pytest.raises(Exception, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"select {column} from audit_attachment")
