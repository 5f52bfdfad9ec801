"""A complaint entered at the desk: in the trail, on the session's page, answered once, by who works on cases."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse
from django.utils.html import escape

from audit.casework import complaints
from audit.casework.actions import ActionRefused
from audit.event_store import audit_trail, read
from audit.models import Complaint, Deadline, Person, Role
from audit.models.cases import FALLBACK_HOURS
from audit.presentation import local
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db


def form_of(desk: Desk, **values: str) -> dict[str, str]:
    finding = desk.findings[0]
    return {
        "table": str(desk.stream.table_id),
        "day": f"{desk.stream.gaming_day:%Y-%m-%d}",
        "clock": f"{local(finding.occurred_at, desk.tenant.casino):%H:%M}",
        "came": "letter",
        "player": "p-1",
        "words": "I was not paid",
        **values,
    }


def entered(desk: Desk, **values: str) -> Complaint:
    answer = client_of(desk.first).post(reverse("admin:audit_complaint_add"), form_of(desk, **values))
    complaint = Complaint.objects.get(stream_id=desk.stream.pk)
    assert answer.url == reverse("admin:audit_complaint_change", args=(complaint.pk,))  # type: ignore[attr-defined]
    return complaint


def listed(desk: Desk, code: str, name: str, kind: str = "player") -> Person:
    return Person.objects.create(casino=desk.tenant.casino, code=code, name=name, kind=kind)


def happened(desk: Desk, type: str, data: dict[str, object]) -> int:
    """Record one more event of the table, and return its number."""
    head = read.slice_of(desk.stream.pk, after=0, limit=1000)[-1][0]
    opener = desk.tenant.opener(desk.stream.name)
    event = numbered(opener, *[("x", {})] * (head - 1), (type, data))[-1]
    assert desk.tenant.post(desk.stream.name, [event]).status_code == 201
    return head + 1


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
    assert "<b>1</b> complaint to answer" in overview


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


@pytest.mark.parametrize(
    ("language", "shown", "other"),
    [("en", "amount: €1,250.00", "currency: "), ("fr", "montant : 1 250,00 €", "monnaie : ")],
)
@pytest.mark.parametrize("is_from_before", [pytest.param(False, marks=pytest.mark.faults), True])
def test_the_trail_says_for_how_much_a_complaint_was_upheld_as_money(
    desk: Desk, is_from_before: bool, language: str, shown: str, other: str
) -> None:
    complaint = entered(desk)
    if is_from_before:  # its entry names no currency: that of the stream which it names
        data = {"complaint": complaint.pk, "stream": desk.stream.name, "seq": complaint.seq, "amount": 125_000}
        audit_trail.record("anna", "complaint.answered", casino_id=complaint.casino_id, data=data)
    else:
        complaints.answer(complaint.pk, desk.second, "founded", "yes", amount=125_000)
        assert trail(desk, "complaint.answered")[0].data["currency"] == "EUR"
    client = client_of(desk.auditor)
    address, where = "/admin/audit-trail/", {"casino": desk.tenant.code}
    page = client.get(address, where, headers={"accept-language": language}).content.decode()
    assert shown in plain(page)
    assert other not in plain(page), "the amount has it"
    assert "125000" not in plain(page)
    csv = client.post(f"{address}export/csv/?casino={desk.tenant.code}", headers={"accept-language": language})
    assert shown in plain(b"".join(csv).decode())  # type: ignore[arg-type]
    as_recorded = b"".join(client.post(f"{address}export/json/?casino={desk.tenant.code}")).decode()  # type: ignore[arg-type]
    assert "amount 125000" in as_recorded
    assert ("currency EUR" in as_recorded) is not is_from_before, "a file for machines adds nothing"


def plain(text: str) -> str:
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")


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


def test_the_player_is_chosen_from_the_directory_by_id_or_by_name(desk: Desk) -> None:
    listed(desk, "p-1", "Anna Blanc")
    listed(desk, "p-2", "Anna Noir")
    assert entered(desk, player="p-2").player == "p-2"
    client, address = client_of(desk.first), reverse("admin:audit_complaint_add")
    form = form_of(desk, player="anna")
    page = client.post(address, form)
    assert [value for value, _label in page.context["form"].fields["offered"].choices] == ["p-1", "p-2"]
    assert "Anna Noir (p-2)" in page.content.decode()
    assert client.post(address, {**form, "offered": "p-9"}).status_code == 200, "none of those that were offered"
    assert client.post(address, {**form, "offered": "p-1"}).status_code == 302
    assert client.post(address, form_of(desk, player="anna NOIR")).status_code == 302, "the whole name is one of them"
    kept = Complaint.objects.filter(stream_id=desk.stream.pk).order_by("pk").values_list("player", flat=True)
    assert list(kept) == ["p-2", "p-1", "p-2"]


def test_an_id_that_the_directory_does_not_know_is_taken_once_it_is_confirmed(desk: Desk) -> None:
    listed(desk, "p-2", "Anna Noir")
    listed(desk, "p-9", "A croupier of that id", kind="croupier")
    client, address = client_of(desk.first), reverse("admin:audit_complaint_add")
    page = client.post(address, form_of(desk, player="p-9")).content.decode()
    assert "does not know this id" in page
    assert 'type="checkbox" name="is_confirmed"' in page
    assert not Complaint.objects.filter(stream_id=desk.stream.pk).exists()
    assert entered(desk, player="p-9", is_confirmed="on").player == "p-9"


def test_the_form_names_the_zone_as_clocks_do_and_its_labels_have_no_colon(desk: Desk) -> None:
    page = client_of(desk.first).get(reverse("admin:audit_complaint_add"), headers={"accept-language": "en"})
    text = page.content.decode()
    assert re.search(r"<option[^>]*>[^<]+ \((CET|CEST)\)</option>", text)
    assert "Europe/Paris" not in text
    assert re.search(r"<label[^>]*>Gaming day</label>", text)


def test_a_casino_without_a_directory_of_players_has_nothing_to_compare_with(desk: Desk) -> None:
    listed(desk, "c-1", "Of the staff", kind="croupier")
    assert entered(desk, player="p-9").player == "p-9"


def test_who_sees_no_names_finds_nobody_by_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(desk, "p-2", "Anna Noir")
    monkeypatch.setattr("audit.desk.complaints.admin.sees_names", lambda request, casino_id: False)
    page = client_of(desk.first).post(reverse("admin:audit_complaint_add"), form_of(desk, player="Anna Noir"))
    assert "p-2" not in page.content.decode()


def test_a_player_of_another_casino_is_not_known(desk: Desk) -> None:
    listed(desk, "p-2", "Anna Noir")
    Person.objects.create(casino=Tenant().casino, code="p-7", name="Elsewhere", kind="player")
    client, address = client_of(desk.first), reverse("admin:audit_complaint_add")
    assert client.post(address, form_of(desk, player="p-7")).status_code == 200
    assert "p-7)" not in client.post(address, form_of(desk, player="elsewhere")).content.decode()


def test_an_amount_has_no_more_decimals_than_its_currency(desk: Desk) -> None:
    complaint = entered(desk)
    address = reverse("admin:audit_complaint_answer", args=(complaint.pk,))
    form = {"outcome": "founded", "words": "yes", "amount": "12.505"}
    page = client_of(desk.second).post(address, form)
    assert "2 decimal places" in page.content.decode()
    assert not trail(desk, "complaint.answered")
    assert client_of(desk.second).post(address, {**form, "amount": "12.50"}).status_code == 302
    assert trail(desk, "complaint.answered")[0].data["amount"] == 1250


@pytest.mark.parametrize(
    ("event", "data", "says"),
    [
        ("goodwill.paid", {"amount": 1000, "reason": "x"}, "pays €10: €2.50 less than the answer."),
        ("goodwill.paid", {"amount": 2000, "reason": "x"}, "pays €20: €7.50 more than the answer."),
        ("goodwill.paid", {"amount": 1250, "reason": "x", "player": "p-2"}, "It names another player: p-2."),
        ("dispute.settled", {"opened": 1, "amount": 1250}, "Nobody approved it, so it does not count as a payment."),
    ],
)
def test_an_amount_that_the_event_does_not_pay_is_said_and_answered_once_it_is_confirmed(
    desk: Desk, event: str, data: dict[str, object], says: str
) -> None:
    complaint = entered(desk)
    paid = happened(desk, event, data)
    address = reverse("admin:audit_complaint_answer", args=(complaint.pk,))
    form = {"outcome": "founded", "words": "yes", "amount": "12.50", "paid": str(paid)}
    client = client_of(desk.second)
    assert says in client.post(address, form).content.decode()
    assert not trail(desk, "complaint.answered")
    assert client.post(address, {**form, "is_confirmed": "on"}).status_code == 302
    page = client.get(reverse("admin:audit_complaint_change", args=(complaint.pk,))).content.decode()
    assert says in page


def test_an_event_that_pays_the_amount_is_said_to(desk: Desk) -> None:
    complaint = entered(desk)
    paid = happened(desk, "goodwill.paid", {"amount": 1250, "reason": "x", "player": "p-1"})
    address = reverse("admin:audit_complaint_answer", args=(complaint.pk,))
    form = {"outcome": "founded", "words": "yes", "amount": "12.50", "paid": str(paid)}
    client = client_of(desk.second)
    assert client.post(address, form).status_code == 302
    page = client.get(reverse("admin:audit_complaint_change", args=(complaint.pk,))).content.decode()
    assert f"Event {paid} pays exactly this." in page


def test_a_dispute_that_the_player_paid_for_pays_no_player(desk: Desk) -> None:
    complaint = entered(desk)
    paid = happened(desk, "dispute.settled", {"opened": 1, "amount": 1250, "by": "player", "approved_by": "c-1"})
    with pytest.raises(ActionRefused, match="nor the settlement of a dispute"):
        complaints.answer(complaint.pk, desk.second, "founded", "yes", amount=1250, paid=paid)


def test_without_a_deadline_a_complaint_and_a_case_have_the_same_hours(desk: Desk) -> None:
    Deadline.objects.all().delete()
    complaint = entered(desk)
    with connection.cursor() as cursor:
        cursor.execute("select prosrc from pg_proc where proname = 'audit_deadline_of'")
        [[source]] = cursor.fetchall()
    assert f"limit 1), {FALLBACK_HOURS})" in source
    assert complaint.deadline - complaint.entered_at == timedelta(hours=FALLBACK_HOURS)
