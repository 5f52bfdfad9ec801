"""Batches: closings of one reason, proposed at once and decided by one signature, each case with its own entry."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.casework import actions
from audit.event_store import audit_trail
from audit.models import Case, CaseAction, Finding, Membership, Officer, Role
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

ENGLISH = {"accept-language": "en"}
QUEUE = "/admin/audit/finding/?queue=unassigned&rule=payout-missing"


@dataclass
class Browser:
    """What an officer clicks: a link, a field, a box or a button, each of them seen on the page before."""

    officer: Officer
    clicks: int = 0
    page: str = ""
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = client_of(self.officer)

    def open(self, address: str) -> None:
        self.page = self.client.get(address, follow=True, headers=ENGLISH).content.decode()

    def link(self, pattern: str) -> None:
        found = re.search(f'href="({pattern})"', self.page)
        assert found is not None, pattern
        self.clicks += 1
        self.open(html.unescape(found[1]))

    def choose(self, name: str, value: str, clicks: int = 1) -> dict[str, str]:
        assert re.search(rf'name="{name}"', self.page), name
        assert value in self.page or value == "1" or clicks == 1
        self.clicks += clicks
        return {name: value}

    def send(self, address: str, form: dict[str, Any]) -> None:
        self.clicks += 1
        self.page = self.client.post(address, form, follow=True, headers=ENGLISH).content.decode()


@pytest.fixture
def fifty(desk: Desk) -> list[Finding]:
    return [found(desk, "minor", rule="payout-missing") for _ in range(50)]


def proposed(desk: Desk, number: int, *, reason: str = "training night", officer: Officer | None = None) -> list[Case]:
    findings = [found(desk, "minor", rule="payout-missing") for _ in range(number)]
    who = officer or desk.first
    return [actions.perform(each.case_id or 0, who, "propose", reason=reason, outcome="explained") for each in findings]


def address_of(case: Case) -> str:
    return f"/admin/approve/batch/{case.findings.order_by('pk')[0].pk}/"


def chosen(*cases: Case) -> list[str]:
    return [f"{case.pk}:{actions.proposal_of(case)}" for case in cases]


def states(cases: list[Case]) -> set[str]:
    return set(Case.objects.filter(pk__in=[case.pk for case in cases]).values_list("state", flat=True))


def decide(officer: Officer, case: Case, form: dict[str, Any], address: str = "") -> str:
    client = client_of(officer)
    return client.post(address or address_of(case), form, follow=True, headers=ENGLISH).content.decode()


def test_a_batch_of_fifty_takes_twelve_clicks_and_one_password(desk: Desk, fifty: list[Finding]) -> None:
    first = Browser(desk.first)
    first.open("/admin/")
    first.clicks += 1
    first.open(QUEUE)
    form: dict[str, Any] = {"index": "0", "action": "propose_selected"}
    selected = re.findall(r'name="_selected_action" value="(\d+)"', first.page)
    assert len(selected) == 25
    assert "Select all 50" in first.page
    first.clicks += 2  # the box of the page, and "Select all 50"
    form |= {"_selected_action": selected, "select_across": "1"}
    form |= first.choose("outcome", "explained", clicks=2)
    form |= first.choose("reason", "training night")
    first.send(QUEUE, form)
    assert "You proposed closing 50 cases. A second officer must decide." in first.page
    second = Browser(desk.second)
    second.open("/admin/")
    second.link("/admin/approve/")
    assert "50 closings, one reason" in second.page
    second.link(r"/admin/approve/batch/\d+/")
    [address] = set(re.findall(r"/admin/approve/batch/\d+/", second.client.get("/admin/approve/").content.decode()))
    sent: dict[str, Any] = {"chosen": re.findall(r'name="chosen" value="([\d:]+)" checked', second.page)}
    assert len(sent["chosen"]) == 50
    sent |= second.choose("decision", "approve")
    sent |= second.choose("proof_password", PASSWORD)
    second.send(address, sent)
    assert "50 cases were closed." in second.page
    cases = Case.objects.filter(findings__in=fifty)
    assert set(cases.values_list("state", "reason", "approved_by")) == {("closed", "training night", desk.second.pk)}
    assert first.clicks + second.clicks <= 12
    entries = list(audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date()))
    of_cases = {case.pk for case in cases}
    for kind in ("case.taken", "case.proposed", "case.closed"):
        assert {each.data["case"] for each in entries if each.type == kind} >= of_cases, "each case has its own"


def test_who_proposes_a_case_that_nobody_has_takes_it(desk: Desk) -> None:
    case = actions.perform(desk.case.pk, desk.first, "propose", reason="seen", outcome="confirmed")
    assert (case.state, case.assigned_to, case.proposed_by) == ("second", desk.first, desk.first)
    assert [each.type for each in CaseAction.objects.filter(case=case)] == ["case.taken", "case.proposed"]
    page = client_of(desk.first).get(f"/admin/audit/finding/{desk.findings[1].pk}/change/").content.decode()
    assert "/case/propose/" in page, "the page of a case that nobody has offers it"


def test_a_batch_without_a_reason_or_outcome_is_refused_once_and_keeps_what_was_written(desk: Desk) -> None:
    findings = [found(desk, "minor", rule="payout-missing") for _ in range(3)]
    form = {"action": "propose_selected", "_selected_action": [each.pk for each in findings], "index": "0"}
    client = client_of(desk.first)
    page = client.get(QUEUE, headers=ENGLISH).content.decode()
    field = re.search(r'name="written_in" value="([^"]+)">\s*<input type="hidden" name="select_across"', page)
    assert field is not None
    form |= {"reason": "training night", "written_in": field[1]}
    answer = client.post(QUEUE, form, follow=True, headers=ENGLISH).content.decode()
    assert answer.count("Choose an outcome and give a reason") == 1
    assert 'name="reason" maxlength="4000" value="training night"' in answer
    assert states([each.case for each in findings if each.case is not None]) == {"new"}


def test_a_refusal_says_in_which_state_the_case_is(desk: Desk) -> None:
    cases = proposed(desk, 3)
    findings = [case.findings.get().pk for case in cases]
    sent = {"action": "propose_selected", "_selected_action": findings, "index": "0"}
    sent |= {"outcome": "explained", "reason": "training night"}
    page = client_of(desk.third).post("/admin/audit/finding/", sent, follow=True, headers=ENGLISH).content.decode()
    assert "3 cases were not changed: The closing of this case is already proposed." in page


def test_a_batch_has_the_closings_of_one_officer_and_reason_and_others_stay_alone(desk: Desk) -> None:
    cases, [other] = proposed(desk, 3), proposed(desk, 1, reason="another reason")
    proposed(desk, 2, officer=desk.second)
    page = client_of(desk.second).get("/admin/approve/", headers=ENGLISH).content.decode()
    assert page.count("closings, one reason") == 1
    assert "3 closings, one reason" in page
    assert f"/admin/approve/closing/{other.findings.get().pk}/" in page
    assert f"/admin/approve/closing/{cases[0].findings.get().pk}/" not in page
    shown = client_of(desk.second).get(address_of(cases[0]), headers=ENGLISH).content.decode()
    assert re.findall(r'name="chosen" value="([\d:]+)" checked', shown) == chosen(*cases)
    assert shown.count('<p class="message">') == 3, "the sample of three is all of them"
    assert re.findall(r'<input type="radio" name="decision" value="(\w+)"( checked)?', shown) == [
        ("approve", ""),
        ("send_back", ""),
    ]


def test_the_sample_of_a_larger_batch_is_five_with_the_largest_sum_and_each_is_an_entry_of_the_trail(
    desk: Desk,
) -> None:
    findings = [found(desk, "minor", rule="payout-missing", euros=1 + number % 2) for number in range(12)]
    findings.append(found(desk, "minor", rule="payout-missing", euros=900))
    for each in findings:
        actions.perform(each.case_id or 0, desk.first, "propose", reason="training", outcome="explained")
    answer = client_of(desk.second).get(f"/admin/approve/batch/{findings[0].pk}/", headers=ENGLISH)
    sample = [line.chosen.split(":")[0] for line in answer.context["sample"]]
    assert len(sample) == len(set(sample)) == 5
    assert sample[0] == str(findings[-1].case_id)
    entries = audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
    viewed = {each.data["id"] for each in entries if each.type == "finding.viewed"}
    assert viewed >= set(Finding.objects.filter(heads_case=True, case__in=sample).values_list("pk", flat=True))


def test_a_case_that_is_unticked_or_has_changed_is_left_out_and_that_is_said(desk: Desk) -> None:
    cases = proposed(desk, 4)
    sent = chosen(*cases[:3])
    actions.perform(cases[0].pk, desk.first, "withdraw")
    actions.perform(cases[1].pk, desk.first, "withdraw")
    actions.perform(cases[1].pk, desk.first, "propose", reason="training night", outcome="explained")
    form = {"decision": "approve", "chosen": sent, "proof_password": PASSWORD}
    page = decide(desk.second, cases[2], form)
    assert "1 case was closed." in page
    assert "1 case was not changed: It waits in this batch no more." in page
    assert "1 case was not changed: The case has changed in the meantime: another closing is proposed." in page
    assert [Case.objects.get(pk=case.pk).state for case in cases] == ["investigating", "second", "closed", "second"]


@pytest.mark.parametrize(
    ("form", "why"),
    [
        pytest.param({"decision": ""}, "Choose: approve, or send back.", marks=pytest.mark.faults),
        ({"decision": "take"}, "Choose: approve, or send back."),
        ({"decision": "approve", "chosen": ["x", "1", "9" * 30 + ":1"]}, "No case is ticked."),
        ({"decision": "send_back"}, "Give a reason."),
    ],
)
def test_a_batch_is_not_decided_without_a_choice_a_case_or_a_reason(desk: Desk, form: Any, why: str) -> None:
    cases = proposed(desk, 2)
    assert why in decide(desk.second, cases[0], {"chosen": chosen(*cases), "proof_password": PASSWORD, **form})
    assert states(cases) == {"second"}


def test_a_batch_takes_the_password_and_one_wrong_decides_nothing(desk: Desk) -> None:
    cases = proposed(desk, 2)
    for password in ({}, {"proof_password": "wrong"}):
        page = decide(desk.second, cases[0], {"decision": "approve", "chosen": chosen(*cases), **password})
        assert all(each in page for each in chosen(*cases)), "what was ticked is sent again"
        assert states(cases) == {"second"}
    form = {"decision": "send_back", "chosen": chosen(*cases), "reason": "which camera?", "proof_password": PASSWORD}
    assert "2 cases were sent back." in decide(desk.second, cases[0], form)
    assert states(cases) == {"investigating"}


def test_nobody_decides_on_their_own_batch_nor_on_one_of_another_casino(desk: Desk) -> None:
    cases = proposed(desk, 2, officer=desk.second)
    form = {"decision": "approve", "chosen": chosen(*cases), "proof_password": PASSWORD}
    assert "waits for no decision" in decide(desk.second, cases[0], form)
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    assert client_of(stranger).post(address_of(cases[0]), form).status_code == 404
    for officer in (desk.first, desk.auditor, desk.administrator):
        assert client_of(officer).post(address_of(cases[0]), form).status_code == 403
    [elsewhere] = proposed(Desk(), 1, officer=None)
    mixed = proposed(desk, 2)
    sent = {"decision": "approve", "chosen": chosen(elsewhere), "proof_password": PASSWORD}
    assert "It waits in this batch no more." in decide(desk.second, mixed[0], sent)
    assert states([*cases, *mixed, elsewhere]) == {"second"}


def test_after_a_decision_comes_the_next_proposal_and_the_list_when_none_is_left(desk: Desk) -> None:
    one, two = (each.case_id for each in desk.findings[:2])
    for case, reason in ((one, "a"), (two, "b")):
        actions.perform(case or 0, desk.first, "propose", reason=reason, outcome="confirmed")
    client, left = client_of(desk.third), []
    at = f"/admin/approve/closing/{desk.findings[0].pk}/"
    for _ in range(2):
        case = Finding.objects.get(pk=int(at.split("/")[-2])).case
        assert case is not None
        form = {"decision": "approve", "proposal": str(actions.proposal_of(case)), "proof_password": PASSWORD}
        at = client.post(at, form).headers["location"]
        left.append(at)
    assert left == [f"/admin/approve/closing/{desk.findings[1].pk}/", "/admin/approve/"]


def test_after_a_batch_comes_the_next_batch_and_after_a_closing_the_batch_that_waits(desk: Desk) -> None:
    first, second = proposed(desk, 2, reason="a"), proposed(desk, 2, reason="b")
    [alone] = proposed(desk, 1, reason="c")
    client, left = client_of(desk.second), []
    sent = {"decision": "approve", "proof_password": PASSWORD}
    left.append(client.post(address_of(first[0]), {**sent, "chosen": chosen(*first)}).headers["location"])
    finding = alone.findings.get()
    form = {**sent, "proposal": str(actions.proposal_of(alone))}
    left.append(client.post(f"/admin/approve/closing/{finding.pk}/", form).headers["location"])
    assert left == [address_of(second[0])] * 2


def test_a_batch_names_its_casino_and_what_its_cases_owe(desk: Desk) -> None:
    for euros in (-25, -15, 30):
        case_id = found(desk, "major", rule="payout-missing", euros=euros).case_id or 0
        case = actions.perform(case_id, desk.first, "propose", reason="a", outcome="explained")
    Membership.objects.create(officer=desk.second, casino=Tenant().casino, role=Role.SECOND)
    client = client_of(desk.second)
    first = Finding.objects.filter(case__reason="a").order_by("pk")[0]
    for address in ("/admin/approve/", f"/admin/approve/batch/{first.pk}/"):
        shown = client.get(address, headers=ENGLISH).content.decode().split('id="content"')[1].split("A sample")[0]
        assert str(case.casino) in shown
        for side, amount in (("player", "€40"), ("bank", "€30")):
            assert re.search(rf'<span class="who {side}">.*?{amount}</span>', shown), (address, side)


def test_a_decision_on_the_page_of_the_finding_leads_to_the_next_proposal_too(desk: Desk) -> None:
    one, two = (each.case_id or 0 for each in desk.findings[:2])
    for case, reason in ((one, "a"), (two, "b")):
        actions.perform(case, desk.first, "propose", reason=reason, outcome="confirmed")
    form = {"proposal": str(actions.proposal_of(desk.case)), "proof_password": PASSWORD}
    at = f"/admin/audit/finding/{desk.findings[0].pk}/case/approve/"
    answer = client_of(desk.third).post(at, form, follow=True, headers=ENGLISH)
    assert answer.redirect_chain[-1][0] == f"/admin/approve/closing/{desk.findings[1].pk}/"
    assert f'<a href="/admin/audit/finding/{desk.findings[0].pk}/change/">' in answer.content.decode()


def test_the_second_officer_reads_what_was_not_done(desk: Desk) -> None:
    cases = proposed(desk, 2)
    croupiers = CaseAction.objects.filter(type="case.answered")
    assert not croupiers.exists()
    batch = client_of(desk.second).get(address_of(cases[0]), headers=ENGLISH).content.decode()
    assert "No video was asked for in 2 cases." in batch
    desk.proposed_by(desk.first)
    at = f"/admin/approve/closing/{desk.findings[0].pk}/"
    page = client_of(desk.second).get(at, headers=ENGLISH).content.decode()
    assert "No video was asked for." in page
    assert ("The croupier was not heard." in page) is bool(desk.findings[0].croupier)
    assert " checked" not in page.split('class="fieldset pick"')[-1].split("</fieldset>")[0]
    sent = {"proposal": str(actions.proposal_of(desk.case)), "proof_password": PASSWORD}
    refused = client_of(desk.second).post(at, sent, follow=True, headers=ENGLISH).content.decode()
    assert "Choose: approve, or send back." in refused
    assert desk.case.state == "second"
