"""*To approve*: what others proposed, to whom may decide it; nobody finds their own there, nor another casino's."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts
from audit.casework import actions
from audit.corrections import decisions
from audit.desk.findings.casework import proposal_shown
from audit.models import CaseAction, Finding, Membership, Officer, Role, SignInRefusal
from audit.presentation import date_time
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of, hired
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


def test_a_proposed_closing_waits_for_a_second_officer_and_not_for_who_proposed_it(desk: Desk) -> None:
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


def test_an_officer_who_may_not_approve_closings_is_shown_none(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    assert addresses(client_of(desk.first)) == []
    assert client_of(desk.auditor).get("/admin/approve/").status_code == 403


def test_what_was_decided_waits_no_more(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    actions.perform(desk.case.pk, desk.third, "approve")
    assert addresses(client_of(hired(desk.tenant, Role.SECOND, "fourth"))) == []


def test_another_casinos_proposals_are_not_shown(desk: Desk) -> None:
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


def test_a_superuser_sees_every_casinos(desk: Desk) -> None:
    other = Desk()
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


def decided(desk: Desk, decision: str, **form: str) -> Any:
    """Send the form of the page of a closing, by the third officer, who has just signed in."""
    address, english = closing(desk), {"accept-language": "en"}
    sent = {"decision": decision, "proposal": str(actions.proposal_of(desk.case)), **form}
    return client_of(desk.third).post(address, sent, headers=english)


def test_the_page_of_a_closing_says_what_is_proposed_by_whom_and_why_and_on_which_events(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    shown = page(client_of(desk.third), closing(desk))
    assert f"{desk.second.username} proposes closing: breach confirmed" in shown
    assert shown.count("the camera shows it") == 1, "not again in what was done"
    assert f'<span class="seq">{desk.findings[0].seq}</span>' in shown
    assert re.findall(r'<input type="radio" name="decision" value="(\w+)"( checked)? required>', shown) == [
        ("approve", ""),
        ("send_back", ""),
    ]
    assert 'id="decide-proof_password"' in shown, (
        "the password is in the box of the decision, however fresh the last is"
    )
    assert "The finding still stands, as the record is read now" in shown
    assert "<small>It is closed.</small>" in shown, "nothing follows from it"


def test_the_page_of_a_closing_is_for_who_may_decide_and_leads_others_to_the_finding(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    answer = client_of(desk.second).get(closing(desk))
    assert answer.headers["location"] == f"/admin/audit/finding/{desk.findings[0].pk}/change/"
    for officer in (desk.first, desk.auditor, desk.administrator):
        assert client_of(officer).get(closing(desk)).status_code == 403
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    assert client_of(stranger).get(closing(desk)).status_code == 404


def test_a_closing_is_approved_or_sent_back_from_its_page(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    assert decided(desk, "send_back", proof_password=PASSWORD).status_code == 302
    assert desk.case.state == "second", "sending back takes a reason"
    decided(desk, "send_back", reason="which camera?", proof_password=PASSWORD)
    assert desk.case.state == "investigating"
    actions.perform(desk.case.pk, desk.second, "propose", reason="camera 2", outcome="confirmed")
    decided(desk, "approve", reason="seen", proof_password=PASSWORD)
    assert (desk.case.state, desk.case.approved_by) == ("closed", desk.third)
    assert desk.case.actions.get(type="case.closed").reason == "seen"
    assert client_of(desk.third).get(closing(desk)).status_code == 302
    assert decided(desk, "crown", proof_password=PASSWORD).status_code == 404


@pytest.mark.parametrize("decision", [pytest.param("approve", marks=pytest.mark.faults), "send_back"])
@pytest.mark.parametrize("is_of_finding", [True, False])
def test_a_decision_is_about_the_proposal_that_its_page_showed(
    desk: Desk, decision: str, *, is_of_finding: bool
) -> None:
    desk.proposed_by(desk.second)
    finding = f"/admin/audit/finding/{desk.findings[0].pk}/"
    shown = page(client_of(desk.third), f"{finding}change/" if is_of_finding else closing(desk))
    [read] = set(re.findall(r'name="proposal" value="(\d+)"', shown))
    actions.perform(desk.case.pk, desk.second, "withdraw")
    actions.perform(desk.case.pk, desk.second, "propose", reason="nothing happened", outcome="explained")

    client = client_of(desk.third)

    def post(proposal: str | None) -> None:
        form = {"reason": "seen", "proof_password": PASSWORD, "decision": decision}
        form |= {} if proposal is None else {"proposal": proposal}
        at = f"{finding}case/{decision}/" if is_of_finding else closing(desk)
        assert client.post(at, form, headers={"accept-language": "en"}).status_code == 302

    stale = (read, "", "x", "None", None)
    for each in stale:
        post(each)
        assert desk.case.state == "second", "nobody has read this outcome"
    assert page(client, closing(desk)).count("The case has changed in the meantime") == len(stale)
    post(str(desk.case.actions.filter(type="case.proposed").latest("pk").pk))
    assert desk.case.state == {"approve": "closed", "send_back": "investigating"}[decision]


def test_a_page_names_no_proposal_that_came_after_the_case_that_it_shows(desk: Desk) -> None:
    shown = desk.proposed_by(desk.second)
    assert proposal_shown(shown, list(shown.actions.all())) == actions.proposal_of(shown)
    for outcome, reason in (("explained", shown.reason), (shown.outcome, "another")):
        actions.perform(desk.case.pk, desk.second, "withdraw")
        actions.perform(desk.case.pk, desk.second, "propose", reason=reason, outcome=outcome)
        assert proposal_shown(shown, list(shown.actions.all())) is None
    assert proposal_shown(desk.case, list(shown.actions.all())) == actions.proposal_of(shown)


@pytest.mark.parametrize(
    "form", [{}, pytest.param({"proof_password": ""}, marks=pytest.mark.faults), {"proof_password": "wrong"}]
)
@pytest.mark.parametrize("decision", ["approve", "send_back"])
def test_nothing_is_decided_without_the_password_though_the_officer_has_just_signed_in(
    desk: Desk, decision: str, form: dict[str, str]
) -> None:
    desk.proposed_by(desk.second)
    answer = decided(desk, decision, reason="which camera?", **form)
    assert (answer.status_code, desk.case.state) == (403, "second")
    assert "which camera?" in answer.content.decode(), "what was entered is kept"
    assert SignInRefusal.objects.filter(refusals=1).exists() == ("proof_password" in form), "as a failed sign-in"


def test_the_page_of_the_finding_is_no_way_around_the_password(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    for name in ("approve", "send_back"):
        address = f"/admin/audit/finding/{desk.findings[0].pk}/case/{name}/"
        assert client_of(desk.third).post(address, {"reason": "seen"}).status_code == 403
    assert desk.case.state == "second"


def test_a_closing_takes_the_code_too_of_who_has_a_second_factor(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    device = TOTPDevice.objects.create(user=desk.third, confirmed=True, name="phone")
    assert 'id="decide-proof_code"' in page(client_of(desk.third), closing(desk))
    wrong = decided(desk, "approve", proof_password=PASSWORD)
    assert (wrong.status_code, desk.case.state) == (403, "second")
    assert "A code is good for one act" in wrong.content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    code = f"{totp(device.bin_key):06}"
    assert decided(desk, "approve", proof_password=PASSWORD, proof_code=code).status_code == 302
    assert desk.case.state == "closed"


@pytest.mark.parametrize(("proved_s_ago", "status", "state"), [(10, 302, "closed"), (360, 403, "second")])
def test_who_was_let_in_by_the_provider_approves_by_what_was_proved_there(
    desk: Desk, proved_s_ago: int, status: int, state: str, settings: Any
) -> None:
    settings.CABOCHON_OIDC_ISSUER = "https://keys.example"
    desk.proposed_by(desk.second)
    desk.third.set_unusable_password()
    desk.third.save()
    client = client_of(desk.third)
    session = client.session
    session.update({"signed_in_by_provider": True, "proved_at": time.time() - proved_s_ago})
    session.save()
    shown = page(client, closing(desk))
    assert "proof_password" not in shown
    assert ("Sign in again with" in shown) is (status == 403)
    form = {"decision": "approve", "proposal": str(actions.proposal_of(desk.case))}
    assert client.post(closing(desk), form).status_code == status
    assert desk.case.state == state


def test_the_page_of_a_closing_says_what_of_the_night_is_open_before_and_after(desk: Desk) -> None:
    finding = next(each for each in desk.findings if each.severity == "critical")
    assert finding.case_id
    assert finding.difference
    actions.perform(finding.case_id, desk.second, "take")
    actions.perform(finding.case_id, desk.second, "propose", reason="the camera shows it", outcome="confirmed")
    answer = client_of(desk.third).get(f"/admin/approve/closing/{finding.pk}/", headers={"accept-language": "en"})
    changes = {each.label: (each.before, each.after) for each in answer.context["then"]}
    assert changes["Critical findings of the night, still open"] == ("1", "0")
    assert len(changes) == 1, "closing changes nothing of what is owed"
    assert "Closing pays nothing: it stays owed." in answer.content.decode()
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


def test_a_page_leads_to_the_proposals_before_and_after_it_at_the_officers_own_casinos(desk: Desk) -> None:
    elsewhere = Desk()
    desk.proposed_by(desk.second)
    elsewhere.proposed_by(elsewhere.second)
    both = desk.third
    assert 'rel="next"' not in page(client_of(both), closing(desk))
    Membership.objects.create(officer=both, casino=elsewhere.tenant.casino, role=Role.SECOND)
    first, last = addresses(client_of(both))
    assert f'rel="next" data-key="j" title="j" href="{last}"' in page(client_of(both), first)
    assert "1 of 2" in page(client_of(both), first)
    assert f'rel="prev" data-key="k" title="k" href="{first}"' in page(client_of(both), last)


def test_the_queries_of_a_closings_page_do_not_grow_with_what_waits(desk: Desk) -> None:
    other = Desk()
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
    assert "€14 for players" in shown
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
