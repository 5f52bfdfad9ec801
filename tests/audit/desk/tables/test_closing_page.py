"""Two officers close a session at the desk: the page says what is known, takes a proposal, and a decision about it."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from audit.casework import session_closing
from audit.models import Officer, Role, SessionClosing
from tests.audit.casework.test_actions import PASSWORD, client_of, hired
from tests.audit.casework.test_session_closing import COUNTED, DeadTable
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def dead() -> DeadTable:
    return DeadTable()


def address(dead: DeadTable) -> str:
    return f"/admin/audit/loggedstream/{dead.stream.pk}/closing/"


def page(client: Client, at: str, language: str = "en") -> str:
    answer = client.get(at, headers={"accept-language": language})
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", answer.content.decode())).split())


def decided(officer: Officer, dead: DeadTable, decision: str, **form: str) -> str:
    """Post a decision; return the page that follows."""
    waits = session_closing.waiting_of(dead.stream.pk)
    read = {} if decision == "propose" or waits is None else {"closing": str(waits.pk)}
    sent = {"decision": decision, "proof_password": PASSWORD, **read, **form}
    answer = client_of(officer).post(f"{address(dead)}decide/", sent, follow=True, headers={"accept-language": "en"})
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", answer.content.decode())).split())


PROPOSAL = {"counted": "49901.00", "reason": "the terminal burned out"}


def test_an_officer_proposes_and_another_closes_the_session(dead: DeadTable) -> None:
    events = f"/admin/audit/loggedstream/{dead.stream.pk}/events/"
    assert "Close the session…" in page(client_of(dead.officer), events)
    assert "Proposed. Another officer must decide." in decided(dead.officer, dead, "propose", **PROPOSAL)
    closing = SessionClosing.objects.get(stream=dead.stream.pk)
    assert (closing.float_minor, closing.reason) == (COUNTED, "the terminal burned out")
    assert "Withdraw" in page(client_of(dead.officer), address(dead))
    shown = page(client_of(dead.second), address(dead))
    assert "€49,901" in shown
    assert "the terminal burned out" in shown
    assert "Closed. The session is read to its end" in decided(dead.second, dead, "approve")
    dead.replay()
    assert dead.is_closed()
    assert "Close the session…" not in page(client_of(dead.officer), events)
    shown = page(client_of(dead.officer), events)
    assert "Session closed" in shown
    assert dead.officer.username in shown
    assert dead.second.username in shown


def test_a_proposal_waits_under_to_approve_for_another_officer(dead: DeadTable) -> None:
    dead.proposed()
    assert "Sessions to close" in page(client_of(dead.second), "/admin/approve/")
    assert f'href="{address(dead)}"' in client_of(dead.second).get("/admin/approve/").content.decode()
    assert "Sessions to close" not in page(client_of(dead.officer), "/admin/approve/")
    assert re.search(r"To approve 1\b", page(client_of(dead.second), "/admin/"))


def test_nothing_is_signed_without_the_password(dead: DeadTable) -> None:
    sent = {"decision": "propose", **PROPOSAL}
    assert client_of(dead.officer).post(f"{address(dead)}decide/", sent).status_code == 403
    assert not SessionClosing.objects.exists()


@pytest.mark.parametrize(
    "counted",
    in_short(["-1", "1.005"], further=["", "many", "1e40"]),
)
def test_a_float_that_is_no_amount_of_the_currency_is_refused_at_the_field(dead: DeadTable, counted: str) -> None:
    decided(dead.officer, dead, "propose", counted=counted, reason="gone")
    assert not SessionClosing.objects.exists()


def test_a_table_that_sends_again_is_said_to_and_leaves_nothing_to_approve(dead: DeadTable) -> None:
    dead.proposed()
    assert dead.tenant.post(dead.name, dead.later(("no_more_bets", {}))).status_code == 201
    shown = page(client_of(dead.second), address(dead))
    assert "it is not gone" in shown
    assert "Approve and close the session" not in shown
    assert "has sent events since" in decided(dead.second, dead, "approve")
    assert "Declined." in decided(dead.second, dead, "decline", reason="it sends again")


@pytest.mark.parametrize("decision", ["approve", pytest.param("decline", marks=pytest.mark.faults)])
def test_a_decision_is_about_the_proposal_that_its_page_showed(dead: DeadTable, decision: str) -> None:
    dead.proposed()
    raw = client_of(dead.second).get(address(dead)).content.decode()
    read, *others = set(re.findall(r'name="closing" value="(\d+)"', raw))
    assert others == []
    decided(dead.officer, dead, "withdraw")
    decided(dead.officer, dead, "propose", counted="1.00", reason="counted anew")
    for stale in (read, "", "x"):
        answer = decided(dead.second, dead, decision, reason="seen", closing=stale)
        assert "The proposal has changed in the meantime" in answer
    form = {"decision": decision, "proof_password": PASSWORD, "reason": "seen"}
    client_of(dead.second).post(f"{address(dead)}decide/", form)
    assert SessionClosing.objects.latest("pk").state == "waiting", "nobody has read this float"
    again = str(SessionClosing.objects.latest("pk").pk)
    decided(dead.second, dead, decision, reason="seen", closing=again)
    assert SessionClosing.objects.latest("pk").state != "waiting"


def test_who_only_looks_sees_the_page_and_no_form(dead: DeadTable) -> None:
    auditor = hired(dead.tenant, Role.AUDITOR, "auditor")
    raw = client_of(auditor).get(address(dead)).content.decode()
    assert "closing/decide/" not in raw


def test_the_page_is_in_french(dead: DeadTable) -> None:
    dead.proposed()
    shown = page(client_of(dead.second), address(dead), "fr")
    for words in ("Clore une séance", "Approuver et clore la séance", "Encaisse comptée", "proposée"):
        assert words in shown
    for english in ("Float", "proposed", "Approve", "Closing"):
        assert english not in shown
