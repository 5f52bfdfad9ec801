"""What an officer wrote is kept: when the session had ended, and when another officer was first."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from audit.casework import actions
from audit.desk import kept_words
from audit.models import Officer
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of
from tests.audit.corrections.corrections_desk import CorrectionsDesk

pytestmark = pytest.mark.django_db

ENGLISH = {"accept-language": "en"}
NOTE = "camera 4 shows <the> dice"
ESCAPED = "camera 4 shows &lt;the&gt; dice"


def address(desk: Desk) -> str:
    return f"/admin/audit/finding/{desk.findings[0].pk}/change/"


def written_in(client: Client, desk: Desk, name: str) -> str:
    """Return the signed field of the form ``name`` on the page of the finding."""
    page = client.get(address(desk)).content.decode()
    form = page.split(f"/case/{name}/")[1].split("</form>")[0]
    found = re.search(r'name="written_in" value="([^"]+)"', form)
    assert found is not None
    return found[1]


def sent_after_the_session(client: Client, desk: Desk) -> str:
    """Send a note whose session has ended. Return where the answer leads."""
    form = {"reason": NOTE, "written_in": written_in(client, desk, "comment"), "proof_password": "secret"}
    client.logout()
    at = f"/admin/audit/finding/{desk.findings[0].pk}/case/comment/"
    answer = client.post(at, form, headers={"referer": f"http://testserver{address(desk)}"})
    assert answer.status_code == 302
    return str(answer.headers["location"])


def signed_in(client: Client, officer: Officer, at: str) -> str:
    answer = client.post(at, {"username": officer.username, "password": PASSWORD}, follow=True, headers=ENGLISH)
    return answer.content.decode()


def note_of(page: str) -> str:
    found = re.search(r'<textarea id="note"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    return found[1]


def test_a_note_whose_session_had_ended_is_in_its_form_after_signing_in(desk: Desk) -> None:
    client = client_of(desk.first)
    onward = sent_after_the_session(client, desk)
    assert onward == f"/admin/login/?next={address(desk)}"
    assert not desk.case.actions.exists()
    page = signed_in(client, desk.first, onward)
    assert note_of(page) == ESCAPED
    assert "Your text is not saved yet" in page
    assert "secret" not in page
    form = {"reason": NOTE, "written_in": written_in(client, desk, "comment")}
    client.post(f"/admin/audit/finding/{desk.findings[0].pk}/case/comment/", form)
    assert desk.case.actions.get().reason == NOTE
    page = client.get(address(desk), headers=ENGLISH).content.decode()
    assert note_of(page) == ""
    assert "Your text is not saved yet" not in page


def test_another_officer_who_signs_in_there_does_not_see_it(desk: Desk) -> None:
    client = client_of(desk.first)
    page = signed_in(client, desk.second, sent_after_the_session(client, desk))
    assert note_of(page) == ""
    assert "camera 4" not in page


@pytest.mark.parametrize("field", ["", "forged", None])
def test_nothing_is_kept_of_a_form_that_we_did_not_sign(desk: Desk, field: str | None) -> None:
    client = Client()
    form = {"reason": NOTE} | ({} if field is None else {"written_in": field})
    answer = client.post(f"/admin/audit/finding/{desk.findings[0].pk}/case/comment/", form)
    assert answer.status_code == 302
    assert "sessionid" not in client.cookies, "no session begins"


def test_the_way_back_is_within_the_desk(desk: Desk) -> None:
    client = client_of(desk.first)
    form = {"reason": NOTE, "written_in": written_in(client, desk, "comment")}
    client.logout()
    at = f"/admin/audit/finding/{desk.findings[0].pk}/case/comment/"
    answer = client.post(at, form, headers={"referer": "https://elsewhere.example/admin/"})
    assert answer.headers["location"] == "/admin/login/?next=/admin/"


def test_who_comes_second_has_what_they_wrote_on_the_page_that_says_why(desk: Desk) -> None:
    client = client_of(desk.first)
    field = written_in(client, desk, "propose")
    actions.perform(desk.case.pk, desk.second, "propose", reason="seen", outcome="explained")
    form = {"reason": NOTE, "outcome": "confirmed", "written_in": field}
    at = f"/admin/audit/finding/{desk.findings[0].pk}/case/propose/"
    page = client.post(at, form, follow=True, headers=ENGLISH).content.decode()
    assert "The closing of this case is already proposed." in page
    assert ESCAPED in page
    assert kept_words.FIELD in page


def test_a_second_officer_who_comes_second_keeps_the_note(desk: Desk) -> None:
    desk.proposed_by(desk.first)
    client = client_of(desk.third)
    at = f"/admin/approve/closing/{desk.findings[0].pk}/"
    found = re.search(r'name="written_in" value="([^"]+)"', client.get(at).content.decode())
    assert found is not None
    form = {"decision": "approve", "reason": NOTE, "proposal": str(actions.proposal_of(desk.case))}
    form |= {"written_in": found[1], "proof_password": PASSWORD}
    actions.perform(desk.case.pk, desk.second, "approve")
    page = client.post(at, form, follow=True, headers=ENGLISH).content.decode()
    assert "The case is closed." in page
    assert ESCAPED in page


def test_a_complaint_whose_session_had_ended_is_in_its_form_after_signing_in(desk: Desk) -> None:
    client = client_of(desk.first)
    at = "/admin/audit/complaint/add/"
    found = re.search(r'name="written_in" value="([^"]+)"', client.get(at).content.decode())
    assert found is not None
    client.logout()
    form = {"words": NOTE, "written_in": found[1]}
    onward = client.post(at, form, headers={"referer": f"http://testserver{at}"}).headers["location"]
    page = signed_in(client, desk.first, onward)
    assert re.search(rf'<textarea name="words"[^>]*>\s*{ESCAPED}</textarea>', page)


def test_a_correction_that_another_officer_refused_keeps_the_reason() -> None:
    corrections = CorrectionsDesk()
    stream_id = corrections.session("s1")
    client = client_of(corrections.second)
    listed = client.get("/admin/approve/").content.decode()
    found = re.search(r'href="(/admin/audit/correction/(\d+)/change/)"', listed)
    assert found is not None
    field = re.search(r'name="written_in" value="([^"]+)"', client.get(found[1]).content.decode())
    assert field is not None
    corrections.refused(stream_id)
    form = {"decision": "countersign", "reason": NOTE, "written_in": field[1], "proof_password": PASSWORD}
    page = client.post(f"/admin/audit/correction/{found[2]}/decide/", form, follow=True, headers=ENGLISH)
    assert ESCAPED in page.content.decode()
