"""After every act on a case the page says what was done, or offers to take it back."""

from __future__ import annotations

import html
import re

import pytest
from django.utils import timezone

from audit.casework import actions
from audit.casework.state_machine import TRANSITIONS
from audit.desk.findings.casework import MESSAGES
from audit.event_store import audit_trail
from audit.models import Case, CaseAction, Officer
from tests.audit.casework.test_actions import Desk, client_of

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/finding/"


def after(desk: Desk, officer: Officer, name: str, **form: str) -> str:
    address = f"/admin/audit/finding/{desk.findings[0].pk}/case/{name}/"
    page = client_of(officer).post(address, form, follow=True, headers={"accept-language": "en"})
    assert page.status_code == 200
    return page.content.decode()


def messages_of(page: str) -> str:
    return page.split('class="messagelist"')[1].split("</ul>")[0] if "messagelist" in page else ""


def form_of(page: str) -> tuple[str, str]:
    """Return where the undo of a message goes, and the actions that it takes back."""
    found = re.search(r'<form class="undo" method="post" action="([^"]*)">.*?name="actions" value="([^"]*)"', page)
    assert found, messages_of(page)
    return html.unescape(found[1]), found[2]


def chosen(desk: Desk, officer: Officer, name: str, **form: str) -> str:
    """Do one act to all cases of the desk by the list, and return the page that follows."""
    rows = [finding.pk for finding in desk.findings]
    sent = {"action": f"{name}_selected", "_selected_action": rows, "index": "0", **form}
    page = client_of(officer).post(f"{LIST}?queue=open", sent, follow=True, headers={"accept-language": "en"})
    return str(page.content.decode())


def state_of_all(desk: Desk) -> set[tuple[str, int | None, str]]:
    cases = Case.objects.filter(findings__in=desk.findings)
    return set(cases.values_list("state", "assigned_to", "outcome"))


def test_what_was_done_to_several_cases_is_taken_back_at_once_as_new_actions(desk: Desk) -> None:
    client = client_of
    number = len({finding.case_id for finding in desk.findings})
    before = state_of_all(desk)
    address, ids = form_of(chosen(desk, desk.first, "take"))
    assert address == f"{LIST}undo/?queue=open"
    assert len(ids.split(",")) == number
    assert state_of_all(desk) == {("investigating", desk.first.pk, "")}
    page = client(desk.first).post(address, {"actions": ids}, follow=True, headers={"accept-language": "en"})
    assert page.redirect_chain[-1][0] == f"{LIST}?queue=open"
    assert f"Undone: {number} cases." in messages_of(page.content.decode())
    assert state_of_all(desk) == before
    done = CaseAction.objects.filter(case__findings__in=desk.findings).order_by("pk").values_list("type", flat=True)
    assert list(done) == ["case.taken"] * number + ["case.released"] * number
    actors = [
        each.actor
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == "case.released"
    ]
    assert actors == [desk.first.username] * number


def test_a_proposal_of_several_cases_is_taken_back_and_they_stay_the_officers(desk: Desk) -> None:
    chosen(desk, desk.first, "take")
    address, ids = form_of(chosen(desk, desk.first, "propose", outcome="explained", reason="training night"))
    client_of(desk.first).post(address, {"actions": ids})
    assert state_of_all(desk) == {("investigating", desk.first.pk, "")}


def test_nobody_takes_back_what_another_officer_did_nor_what_was_followed_by_more(desk: Desk) -> None:
    address, ids = form_of(chosen(desk, desk.first, "take"))
    taken = state_of_all(desk)
    for officer in (desk.second, desk.auditor):
        client_of(officer).post(address, {"actions": ids})
        assert state_of_all(desk) == taken
    actions.perform(desk.case.pk, desk.second, "take")
    page = client_of(desk.first).post(address, {"actions": ids}, follow=True, headers={"accept-language": "en"})
    why = "Something else has been done on the case since"
    assert f"1 case was not changed: {why}" in messages_of(page.content.decode())
    assert state_of_all(desk) == {("investigating", desk.second.pk, ""), ("new", None, "")}
    page = client_of(desk.first).post(address, {"actions": ids}, follow=True)
    assert state_of_all(desk) == {("investigating", desk.second.pk, ""), ("new", None, "")}, "once"


def test_an_undo_needs_a_post_and_ids(desk: Desk) -> None:
    client = client_of(desk.first)
    assert client.get(f"{LIST}undo/").status_code == 405
    before = state_of_all(desk)
    for sent in ("", "x", "1,,-2", "9" * 30, "0"):
        assert client.post(f"{LIST}undo/", {"actions": sent}).status_code == 302
    assert state_of_all(desk) == before


def test_the_button_of_one_case_takes_back_nothing_that_was_done_since(desk: Desk) -> None:
    page = after(desk, desk.first, "take")
    undoes = re.search(r'name="undoes" value="(\d+)"', page)
    assert undoes
    actions.perform(desk.case.pk, desk.second, "take")
    page = after(desk, desk.first, "release", undoes=undoes[1])
    assert "Something else has been done on the case since" in messages_of(page)
    assert desk.case.assigned_to == desk.second


def test_every_act_has_its_words() -> None:
    assert set(MESSAGES) == {transition.event for transition in TRANSITIONS.values()}


def test_what_can_be_taken_back_is_said_beside_its_button_and_taking_it_back_is_said_too(desk: Desk) -> None:
    page = after(desk, desk.first, "take")
    assert messages_of(page) == ""
    assert page.split('class="undo"')[1].split("</div>")[0].count("You took this case.") == 1
    page = after(desk, desk.first, "release")
    assert "The case was released. No officer has it." in messages_of(page)
    assert 'class="undo"' not in page


@pytest.mark.parametrize(
    ("name", "form", "words"),
    [
        ("comment", {"reason": "camera 4"}, "The note was added."),
        ("answer", {"reason": "I saw nothing"}, "The croupier’s answer was added."),
        ("withdraw", {}, "The proposal was withdrawn."),
    ],
)
def test_an_act_of_the_officer_who_proposed_is_said(desk: Desk, name: str, form: dict[str, str], words: str) -> None:
    desk.proposed_by(desk.first)
    assert words in messages_of(after(desk, desk.first, name, **form))


def test_a_refused_act_says_why_and_not_that_it_was_done(desk: Desk) -> None:
    actions.perform(desk.case.pk, desk.first, "take")
    shown = messages_of(after(desk, desk.first, "propose", outcome="explained"))
    assert shown
    assert "proposed" not in shown


def test_a_case_is_assigned_to_nobody_whose_name_no_account_can_have(desk: Desk) -> None:
    shown = messages_of(after(desk, desk.first, "assign", assignee="\0"))
    assert 'class="error"' in shown
    assert not Case.objects.exclude(assigned_to=None).exists()
