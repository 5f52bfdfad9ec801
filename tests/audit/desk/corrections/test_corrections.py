"""The pages of corrections: the list, both readings, the two decisions, and the links that lead there."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.html import escape

from audit.adjudication.both_readings import both_readings
from audit.models import Correction, CorrectionDecision, Finding, Officer
from audit.presentation import finding_title
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, finding_of, replayed
from tests.audit.tables import numbered

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/correction/"

SIGNED = {"proof_password": "x"}
"""The password of every officer here, with which a decision is signed."""


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def signed_in(officer: Officer) -> Client:
    client = Client(headers={"accept-language": "en"})
    assert client.login(username=officer.username, password="x")
    return client


def page_of(finding: Finding) -> str:
    return f"{LIST}{finding.pk}/change/"


def decide(officer: Officer, finding: Finding, decision: str, reason: str = "seen on video") -> str:
    """Send a decision and return the page that it leads to."""
    form = {"decision": decision, "reason": reason, **SIGNED}
    answer = signed_in(officer).post(f"{LIST}{finding.pk}/decide/", form, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_shows_both_readings_with_the_money_of_the_wager(desk: CorrectionsDesk) -> None:
    finding = finding_of(desk.session("s"))
    page = signed_in(desk.second).get(page_of(finding)).content.decode()
    for amount in ("€10.00", "€21.66", "€26.00", "€4.34 overpaid", "€12.00", "€0.00"):
        assert amount in page, amount
    for rule in ("payout-overpaid", "stake-not-returned"):
        assert escape(finding_title(rule)) in page, rule
    assert "chief" in page
    assert "misread" in page
    assert "Countersign" in page
    assert "−€16.00 as recorded, −€11.66 by the rules" in page
    assert "−€14.00 as recorded, −€14.00 by the rules" in page


def test_two_officers_approve_in_the_browser_and_the_page_says_so(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    finding = finding_of(stream_id)
    assert "Countersigned. Another officer must decide." in decide(desk.officer, finding, "countersign")
    own = signed_in(desk.officer).get(page_of(finding)).content.decode()
    assert "/decide/" not in own
    assert "You have countersigned." in own
    assert "Approved. The session is being replayed with this correction." in decide(
        desk.second, finding, "countersign"
    )
    replayed(stream_id)
    after = signed_in(desk.second).get(page_of(finding)).content.decode()
    assert "Approved by two officers" in after
    assert desk.officer.username in after
    assert "/decide/" not in after


def test_one_officer_refuses_for_good(desk: CorrectionsDesk) -> None:
    finding = finding_of(desk.session("s"))
    assert "Refused." in decide(desk.director, finding, "refuse", "the video shows otherwise")
    page = signed_in(desk.second).get(page_of(finding)).content.decode()
    assert "Refused for good" in page
    assert "the video shows otherwise" in page
    assert "/decide/" not in page
    assert "decided in the meantime" in decide(desk.second, finding, "countersign")


@pytest.mark.parametrize("form", [{}, {"proof_password": "wrong"}])
@pytest.mark.parametrize("decision", ["countersign", pytest.param("refuse", marks=pytest.mark.faults)])
def test_nothing_is_decided_without_the_password_though_the_officer_has_just_signed_in(
    desk: CorrectionsDesk, decision: str, form: dict[str, str]
) -> None:
    finding = finding_of(desk.session("s"))
    client = signed_in(desk.second)
    assert 'id="decide-proof_password"' in client.get(page_of(finding)).content.decode()
    answer = client.post(f"{LIST}{finding.pk}/decide/", {"decision": decision, "reason": "seen", **form})
    assert answer.status_code == 403
    assert not CorrectionDecision.objects.exists()
    assert client.post(f"{LIST}{finding.pk}/decide/", {"decision": "crown", **SIGNED}).status_code == 404


def test_who_may_not_decide_is_told_so_and_sees_no_button(desk: CorrectionsDesk) -> None:
    finding = finding_of(desk.session("s"))
    page = signed_in(desk.officer).get(page_of(finding)).content.decode()
    assert 'value="countersign"' in page
    assert 'value="refuse"' not in page
    assert escape("Your role at this casino does not allow this.") in decide(desk.officer, finding, "refuse")


def test_the_list_the_first_page_and_the_finding_lead_to_it(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    finding = finding_of(stream_id)
    client = signed_in(desk.second)
    first = client.get("/admin/").content.decode()
    assert "<b>1</b> correction waiting for a decision" in first
    listed = client.get(f"{LIST}?state=waiting").content.decode()
    assert page_of(finding) in listed
    assert page_of(finding) in client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    desk.approved(stream_id)
    replayed(stream_id)
    assert "correction waiting for a decision" not in client.get("/admin/").content.decode()
    assert page_of(finding) not in client.get(f"{LIST}?state=waiting").content.decode()
    current = finding_of(stream_id)
    assert page_of(current) in client.get(f"{LIST}?state=approved").content.decode()
    assert client.get(page_of(finding)).context["finding"] == Correction.objects.get(pk=current.pk)
    gone = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    page = client.get(f"/admin/audit/finding/{gone.pk}/change/").content.decode()
    assert f"countersigned by {desk.officer.username}, {desk.second.username}" in page


def test_an_informational_correction_has_no_page_and_nobody_sees_another_casinos(desk: CorrectionsDesk) -> None:
    again = ("entry.corrected", {"corrects": 5, "data": {"faces": [2, 1]}, "reason": "r", "approved_by": "c"})
    stream_id = desk.session("s", again)
    client, foreign = signed_in(desk.second), CorrectionsDesk()
    assert client.get(page_of(finding_of(stream_id, 7))).status_code in (302, 404)
    finding = finding_of(stream_id)
    assert signed_in(foreign.director).get(page_of(finding)).status_code in (302, 404)
    form = {"decision": "countersign", "reason": "x", **SIGNED}
    answer = signed_in(foreign.director).post(f"{LIST}{finding.pk}/decide/", form)
    assert answer.status_code in (302, 404)
    assert finding.facts["corrects"] == 2
    assert finding.seq == CORRECTION


def section(page: str, name: str) -> str:
    return page.split(f'aria-labelledby="{name}"')[1].split("</section>")[0]


def test_what_it_takes_away_and_what_would_be_new_are_lines_with_what_follows_under_each(desk: CorrectionsDesk) -> None:
    finding = finding_of(desk.session("s"))
    page = signed_in(desk.second).get(page_of(finding)).content.decode()
    both = both_readings(finding.stream_id, finding.seq)
    assert both is not None
    hides = section(page, "hides")
    shown = [*both.only_without, *both.only_with]
    assert shown
    known = {(each.rule, each.seq, each.wager) for each in shown}
    heads = [
        each
        for each in shown
        if each.caused_by is None or (each.caused_by.rule, each.caused_by.seq, each.caused_by.wager) not in known
    ]
    assert hides.count("<li>") == len(heads)
    assert hides.count(">taken away<") + hides.count(">would be new<") == len(heads)
    for each in shown:
        assert escape(finding_title(each.rule)) in hides


def test_the_records_traces_say_what_speaks_for_which(desk: CorrectionsDesk) -> None:
    finding = finding_of(desk.session("s"))
    client = signed_in(desk.second)
    speaks = section(client.get(page_of(finding)).content.decode(), "speaks")
    assert "0 of 1 stakes were paid in line with what was recorded" in speaks
    assert "1 of 1 stakes were paid in line with the correction" in speaks
    assert "The video of that instant was not asked for" in speaks
    assert "other correction" not in speaks
    finding_of(desk.session("t"))
    speaks = section(client.get(page_of(finding)).content.decode(), "speaks")
    assert "1 other correction came from this table within a year" in speaks


def test_the_page_of_a_correction_says_how_long_it_may_wait(desk: CorrectionsDesk) -> None:
    page = signed_in(desk.second).get(page_of(finding_of(desk.session("s")))).content.decode()
    meta = page.split('class="meta"')[1].split("</div>")[0]
    assert "left" in meta or "late" in meta


def test_the_page_of_a_result_taken_away_shows_whose_outcome_changes_before_two_officers_decide(
    desk: CorrectionsDesk,
) -> None:
    opener = desk.tenant.opener("wheel", game="french_roulette", ruleset="fr-roulette", observes=[])
    voided = {"announced_by": "croupier", "reason": "unsure", "voids": 4}
    events = numbered(
        opener,
        ("wager.placed", {"wager": "a", "bet": "plein", "stake": 10000, "numbers": ["17"], "player": "P1"}),
        ("wager.placed", {"wager": "b", "bet": "plein", "stake": 2000, "numbers": ["3"]}),
        ("ball.settled", {"pocket": "17"}),
        ("spin.voided", voided),
    )
    assert desk.tenant.post("wheel", events).status_code == 201
    stream_id = desk.tenant.stream("wheel").stream_id
    replayed(stream_id)
    client, finding = signed_in(desk.second), finding_of(stream_id, 5)
    assert finding.severity == "critical"
    page = client.get(page_of(finding)).content.decode()
    shown = section(page, "outcomes")
    rows = [re.sub(r"\s*<[^>]*>\s*", "|", row) for row in re.findall(r"<tr.*?</tr>", shown)]
    assert [re.sub(r"\|+", "|", row).strip("|") for row in rows[1:]] == [
        "P1|a|wins €3,500.00|still open|€3,500.00 less for the player",
        "unknown player|b|loses €20.00|still open|€20.00 more for the player",
        "2 wagers together|wins €3,480.00|nothing|€3,480.00 less for the player",
    ]
    assert "/decide/" in page
    client.cookies["django_language"] = "fr"
    french = section(client.get(page_of(finding), headers={"accept-language": "fr"}).content.decode(), "outcomes")
    assert "gagne 3\N{NARROW NO-BREAK SPACE}500,00\N{NO-BREAK SPACE}€" in french
    assert "de moins pour le joueur" in french


def test_a_correction_that_changes_no_outcome_shows_no_such_table(desk: CorrectionsDesk) -> None:
    again = ("entry.corrected", {"corrects": 5, "data": {"faces": [2, 1]}, "reason": "r", "approved_by": "c"})
    stream_id = desk.session("s", ("dice.thrown", {"faces": [1, 2]}), (again[0], again[1]))
    page = signed_in(desk.second).get(page_of(finding_of(stream_id, 8))).content.decode()
    assert 'aria-labelledby="outcomes"' not in page
