"""*To approve*: what others proposed, to whom may decide it; nobody finds their own there, nor another casino's."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.access import accounts
from audit.casework import actions
from audit.corrections import decisions
from audit.models import CaseAction, Finding, Membership, Officer, Role
from audit.presentation import date_time, money
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def counted(client: Client) -> int:
    """Return the number beside *To approve* in the navigation."""
    found = re.search(r">To approve(?:<b[^>]*>(\d+)</b>)?</a>", page(client, "/admin/"))
    assert found is not None
    return int(found[1] or 0)


def page(client: Client, address: str = "/admin/approve/") -> str:
    answer = client.get(address, headers={"accept-language": "en"})
    assert answer.status_code == 200
    return answer.content.decode()


def addresses(client: Client) -> list[str]:
    return re.findall(r'<a class="t1" href="([^"]*)"', page(client))


def test_a_proposed_closing_waits_for_a_second_officer_and_not_for_who_proposed_it() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    case_address = re.compile(r"/admin/approve/closing/\d+/$")
    assert [bool(case_address.match(each)) for each in addresses(client_of(desk.third))] == [True]
    assert counted(client_of(desk.third)) == 1
    assert "the camera shows it" in page(client_of(desk.third))
    assert addresses(client_of(desk.second)) == []
    assert counted(client_of(desk.second)) == 0
    assert "Nothing waits for your decision" in page(client_of(desk.second))


def test_a_closing_is_proposed_when_the_officer_did_and_not_when_its_case_was_opened() -> None:
    with time_machine.travel(timezone.now() - timedelta(days=3), tick=True):
        desk = Desk()
    desk.proposed_by(desk.second)
    proposed = CaseAction.objects.get(case=desk.case, type="case.proposed").at
    shown = page(client_of(desk.third))
    assert date_time(proposed, desk.tenant.casino) in shown
    assert date_time(desk.case.opened_at, desk.tenant.casino) not in shown


def test_an_officer_who_may_not_approve_closings_is_shown_none() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    assert addresses(client_of(desk.first)) == []
    assert client_of(desk.auditor).get("/admin/approve/").status_code == 403


def test_what_was_decided_waits_no_more() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    actions.perform(desk.case.pk, desk.third, "approve")
    assert addresses(client_of(hired(desk.tenant, Role.SECOND, "fourth"))) == []


def test_another_casinos_proposals_are_not_shown() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    assert (addresses(stranger), counted(stranger)) == ([], 0)


def test_a_correction_waits_for_two_officers_and_for_each_until_they_have_decided() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s1")
    for officer in (desk.officer, desk.second):
        assert ["/admin/audit/correction/" in each for each in addresses(client_of(officer))] == [True]
        assert counted(client_of(officer)) == 1
    decisions.countersign(desk.officer, desk.tenant.stream("s1"), CORRECTION, reason="the camera shows it")
    assert (addresses(client_of(desk.officer)), counted(client_of(desk.officer))) == ([], 0)
    assert counted(client_of(desk.second)) == 1
    desk.refused(stream_id)
    assert counted(client_of(desk.second)) == 0


def test_a_superuser_sees_every_casinos() -> None:
    desk, other = Desk(), Desk()
    desk.proposed_by(desk.second)
    other.proposed_by(other.second)
    chief = Officer.objects.create_superuser("chief-of-approvals")
    assert len(addresses(client_of(chief))) == 2


def test_a_request_about_an_account_waits_for_another_administrator_and_not_for_who_proposed_it() -> None:
    tenant = Tenant()
    one, other = (hired(tenant, Role.ADMINISTRATOR, name) for name in ("keeper-one", "keeper-other"))
    officer = hired(tenant, Role.OFFICER, "promoted")
    accounts.propose_role(one, officer, tenant.casino, Role.SECOND, reason="passed the examination")
    assert addresses(client_of(other)) == [f"/admin/audit/officer/{officer.pk}/change/"]
    shown = page(client_of(other))
    assert "Second officer, " in shown
    assert "passed the examination" in shown
    assert counted(client_of(other)) == 1
    assert (addresses(client_of(one)), counted(client_of(one))) == ([], 0)


def test_a_request_about_an_account_is_shown_to_no_other_role_or_casino() -> None:
    tenant = Tenant()
    one, director = hired(tenant, Role.ADMINISTRATOR, "keeper"), hired(tenant, Role.DIRECTOR, "director-here")
    officer = hired(tenant, Role.OFFICER, "promoted")
    accounts.propose_role(one, officer, tenant.casino, Role.SECOND, reason="passed the examination")
    stranger = hired(Tenant(), Role.ADMINISTRATOR, "keeper-elsewhere")
    for other in (director, stranger):
        assert (addresses(client_of(other)), counted(client_of(other))) == ([], 0)


def closing(desk: Desk) -> str:
    return f"/admin/approve/closing/{desk.findings[0].pk}/"


def test_the_page_of_a_closing_says_what_is_proposed_by_whom_and_why_and_on_which_events() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    shown = page(client_of(desk.third), closing(desk))
    assert f"{desk.second.username} proposes closing: breach confirmed" in shown
    assert "the camera shows it" in shown
    assert f'<span class="seq">{desk.findings[0].seq}</span>' in shown
    assert f"/admin/audit/finding/{desk.findings[0].pk}/case/approve/" in shown
    assert f"/admin/audit/finding/{desk.findings[0].pk}/case/send_back/" in shown
    assert "The finding still stands, as the record is read now" in shown


def test_the_page_of_a_closing_is_for_who_may_decide_and_leads_others_to_the_finding() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    answer = client_of(desk.second).get(closing(desk))
    assert answer.headers["location"] == f"/admin/audit/finding/{desk.findings[0].pk}/change/"
    for officer in (desk.first, desk.auditor, desk.administrator):
        assert client_of(officer).get(closing(desk)).status_code == 403
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    assert client_of(stranger).get(closing(desk)).status_code == 404


def test_a_closing_is_approved_or_sent_back_from_its_page() -> None:
    desk = Desk()
    desk.proposed_by(desk.second)
    address = f"/admin/audit/finding/{desk.findings[0].pk}/case/"
    client_of(desk.third).post(f"{address}send_back/", {"reason": "which camera?"})
    assert desk.case.state == "investigating"
    actions.perform(desk.case.pk, desk.second, "propose", reason="camera 2", outcome="confirmed")
    client_of(desk.third).post(f"{address}approve/", {"reason": "seen"})
    assert desk.case.state == "closed"
    assert client_of(desk.third).get(closing(desk)).status_code == 302


def test_the_page_of_a_closing_says_what_of_the_night_is_open_before_and_after() -> None:
    desk = Desk()
    finding = next(each for each in desk.findings if each.severity == "critical")
    assert finding.case_id
    assert finding.difference
    actions.perform(finding.case_id, desk.second, "take")
    actions.perform(finding.case_id, desk.second, "propose", reason="the camera shows it", outcome="confirmed")
    answer = client_of(desk.third).get(f"/admin/approve/closing/{finding.pk}/", headers={"accept-language": "en"})
    changes = {each.label: (each.before, each.after) for each in answer.context["then"]}
    assert changes["Critical findings of the night, still open"] == ("1", "0")
    amount, nothing = money(abs(finding.difference), finding.currency), money(0, finding.currency)
    assert changes["Overpaid to players, still open"] == (amount, nothing)
    assert f"{amount} to <b>{nothing}</b>" in answer.content.decode()
    actions.perform(finding.case_id, desk.third, "approve")
    still_open = Finding.objects.standing().filter(casino=desk.tenant.casino, severity="critical").exclude(case=None)
    assert not still_open.exclude(case__state="closed").exists(), "as it was promised"


def test_the_page_of_a_correction_says_whose_eyes_saw_it_and_what_it_is_about() -> None:
    desk = CorrectionsDesk()
    stream_id = desk.session("s1")
    (address,) = addresses(client_of(desk.second))
    assert f"#{CORRECTION}, about #2" in page(client_of(desk.second), address)
    assert "waits for a second officer" not in page(client_of(desk.second), address)
    decisions.countersign(desk.officer, desk.tenant.stream("s1"), CORRECTION, reason="the camera shows it")
    shown = page(client_of(desk.second), address)
    assert "waits for a second officer" in shown
    eyes = shown.split('id="eyes"')[1].split("</section>")[0]
    assert re.findall(r'<span class="tag (\w*)">(\w+)</span>', eyes) == [("ok", "countersigned"), ("gold", "decides")]
    desk.refused(stream_id)
    refused = page(client_of(desk.second), address)
    assert '<span class="tag bad">refused</span>' in refused
    assert ">decides<" not in refused


def test_a_page_leads_to_the_proposals_before_and_after_it_at_the_officers_own_casinos() -> None:
    desk, elsewhere = Desk(), Desk()
    desk.proposed_by(desk.second)
    elsewhere.proposed_by(elsewhere.second)
    both = desk.third
    assert 'rel="next"' not in page(client_of(both), closing(desk))
    Membership.objects.create(officer=both, casino=elsewhere.tenant.casino, role=Role.SECOND)
    first, last = addresses(client_of(both))
    assert f'rel="next" data-key="j" title="j" href="{last}"' in page(client_of(both), first)
    assert "1 of 2" in page(client_of(both), first)
    assert f'rel="prev" data-key="k" title="k" href="{first}"' in page(client_of(both), last)


def test_the_queries_of_a_closings_page_do_not_grow_with_what_waits() -> None:
    desk, other = Desk(), Desk()
    desk.proposed_by(desk.second)
    client = client_of(desk.third)
    page(client, closing(desk))  # fills what later pages find in caches
    with CaptureQueriesContext(connection) as alone:
        page(client, closing(desk))
    other.proposed_by(other.second)
    Membership.objects.create(officer=desk.third, casino=other.tenant.casino, role=Role.SECOND)
    with CaptureQueriesContext(connection) as with_another:
        page(client, closing(desk))
    assert "1 of 2" in page(client, closing(desk))
    assert len(with_another) == len(alone)


def test_the_page_of_a_correction_says_whom_it_favours_and_leads_through_what_waits() -> None:
    desk = CorrectionsDesk()
    desk.session("s1")
    desk.session("s2")
    client = client_of(desk.second)
    first, last = addresses(client)
    shown = page(client, first)
    assert "A correction would give players €2.34" in shown
    assert "€11.66 for players" in shown
    assert "€14.00 for players" in shown
    assert "1 of 2" in shown
    assert f'rel="next" data-key="j" title="j" href="{last}"' in shown
    assert f'rel="prev" data-key="k" title="k" href="{first}"' in page(client, last)


def test_the_next_of_a_correction_is_never_another_casinos() -> None:
    desk, elsewhere = CorrectionsDesk(), CorrectionsDesk()
    desk.session("s1")
    elsewhere.session("s1")
    client = client_of(desk.second)
    (own,) = addresses(client)
    assert 'rel="next"' not in page(client, own)
