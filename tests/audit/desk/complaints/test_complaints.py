"""A complaint entered at the desk: in the trail, on the session's page, answered once, by who works on cases."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils.html import escape

from audit.casework import complaints
from audit.casework.actions import ActionRefused
from audit.event_store import audit_trail
from audit.models import Complaint, Role
from audit.presentation import local
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return Desk()


def entered(desk: Desk) -> Complaint:
    finding = desk.findings[0]
    form = {
        "table": str(desk.stream.table_id),
        "day": f"{desk.stream.gaming_day:%Y-%m-%d}",
        "clock": f"{local(finding.occurred_at, desk.tenant.casino):%H:%M}",
        "came": "letter",
        "player": "p-1",
        "words": "I was not paid",
    }
    answer = client_of(desk.first).post(reverse("admin:audit_complaint_add"), form)
    complaint = Complaint.objects.get(stream_id=desk.stream.pk)
    assert answer.url == reverse("admin:audit_complaint_change", args=(complaint.pk,))  # type: ignore[attr-defined]
    return complaint


def trail(desk: Desk, type: str) -> list[audit_trail.AuditEntry]:
    day = Complaint.objects.get(stream_id=desk.stream.pk).entered_at.date()
    return [each for each in audit_trail.entries_of(desk.tenant.casino.pk, day) if each.type == type]


def test_a_complaint_is_an_entry_of_the_trail_and_waits_where_its_moment_is(desk: Desk) -> None:
    complaint = entered(desk)
    [entry] = trail(desk, "complaint.entered")
    assert (entry.actor, entry.reason) == (desk.first.username, "I was not paid")
    assert (entry.data["stream"], entry.data["seq"], entry.data["player"]) == (desk.stream.name, complaint.seq, "p-1")
    page = reverse("admin:audit_complaint_change", args=(complaint.pk,))
    moment = reverse("admin:audit_loggedstream_table", args=(desk.stream.pk,)) + f"?at={complaint.seq}"
    assert page in client_of(desk.auditor).get(moment).content.decode()
    assert page in client_of(desk.auditor).get(reverse("admin:audit_complaint_changelist")).content.decode()
    shown = client_of(desk.auditor).get(page).content.decode()
    assert "I was not paid" in shown
    assert "The answer pays nothing" in shown
    assert "<form" not in shown.split('id="answer"')[1].split("</section>")[0]
    player = reverse("admin:audit_person_player", args=(desk.tenant.casino.pk, "p-1"))
    finding = reverse("admin:audit_finding_change", args=(desk.findings[0].pk,))
    for address in (player, finding):
        assert page in client_of(desk.first).get(address).content.decode(), address
    overview = client_of(desk.first).get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert "<b>1</b> Complaints to answer" in overview


def test_what_a_finding_is_about_is_filled_in_where_a_complaint_is_entered(desk: Desk) -> None:
    finding = desk.findings[0]
    shown = client_of(desk.first).get(reverse("admin:audit_finding_change", args=(finding.pk,)))
    address = shown.context["complain_address"]
    assert escape(address) in shown.content.decode()
    form = client_of(desk.first).get(address).context["form"]
    assert form.initial["table"] == str(finding.table_id)
    assert form.initial["clock"] == f"{local(finding.occurred_at, finding.casino):%H:%M}"
    auditor = client_of(desk.auditor).get(reverse("admin:audit_finding_change", args=(finding.pk,)))
    assert auditor.context["complain_address"] == ""


def test_a_complaint_is_answered_once(desk: Desk) -> None:
    complaint = entered(desk)
    address = reverse("admin:audit_complaint_answer", args=(complaint.pk,))
    client = client_of(desk.second)
    client.post(address, {"outcome": "founded", "words": "the camera shows it"})
    assert not trail(desk, "complaint.answered"), "it does not say for how much"
    client.post(address, {"outcome": "founded", "words": "the camera shows it", "amount": "12.50", "paid": "1"})
    assert not trail(desk, "complaint.answered"), "an opener pays nothing"
    form = {"outcome": "founded", "words": "the camera shows it", "amount": "12.50"}
    assert client.post(address, form).status_code == 302
    [entry] = trail(desk, "complaint.answered")
    assert (entry.data["about"], entry.data["amount"], entry.reason) == ("founded", 1250, "the camera shows it")
    with pytest.raises(ActionRefused, match="already"):
        complaints.answer(complaint.pk, desk.first, "unfounded", "no")
    assert len(trail(desk, "complaint.answered")) == 1


def test_only_who_works_on_cases_of_the_casino_enters_and_answers(desk: Desk) -> None:
    complaint = entered(desk)
    answer = reverse("admin:audit_complaint_answer", args=(complaint.pk,))
    assert client_of(desk.auditor).get(reverse("admin:audit_complaint_add")).status_code == 403
    assert client_of(desk.auditor).post(answer, {"outcome": "unfounded", "words": "no"}).status_code == 403
    stranger = hired(Tenant(), Role.OFFICER, "stranger")
    assert client_of(stranger).post(answer, {"outcome": "unfounded", "words": "no"}).status_code == 404
    with pytest.raises(ActionRefused):
        complaints.answer(complaint.pk, stranger, "unfounded", "no")
