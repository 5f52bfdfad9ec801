"""After every act on a case the page says what was done, or offers to take it back."""

from __future__ import annotations

import pytest

from audit.casework import actions
from audit.casework.state_machine import TRANSITIONS
from audit.desk.findings.casework import MESSAGES
from audit.models import Officer
from tests.audit.casework.test_actions import Desk, client_of

pytestmark = pytest.mark.django_db


def after(desk: Desk, officer: Officer, name: str, **form: str) -> str:
    address = f"/admin/audit/finding/{desk.findings[0].pk}/case/{name}/"
    page = client_of(officer).post(address, form, follow=True, headers={"accept-language": "en"})
    assert page.status_code == 200
    return page.content.decode()


def messages_of(page: str) -> str:
    return page.split('class="messagelist"')[1].split("</ul>")[0] if "messagelist" in page else ""


def test_every_act_has_its_words() -> None:
    assert set(MESSAGES) == {transition.event for transition in TRANSITIONS.values()}


def test_what_can_be_taken_back_is_said_beside_its_button_and_taking_it_back_is_said_too() -> None:
    desk = Desk()
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
def test_an_act_of_the_officer_who_proposed_is_said(name: str, form: dict[str, str], words: str) -> None:
    desk = Desk()
    desk.proposed_by(desk.first)
    assert words in messages_of(after(desk, desk.first, name, **form))


def test_a_refused_act_says_why_and_not_that_it_was_done() -> None:
    desk = Desk()
    actions.perform(desk.case.pk, desk.first, "take")
    shown = messages_of(after(desk, desk.first, "propose", outcome="explained"))
    assert shown
    assert "proposed" not in shown
