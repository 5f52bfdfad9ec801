"""The house register at the desk: what is in force, what waits, who decides, and that no casino sees another’s."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

import pytest
from django.test import Client

from audit.desk.sign_in.proof import PROOF_S
from audit.models import Finding, RegisterEntry, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.register.register_desk import RegisterDesk, replayed
from tests.audit.register.test_replay import session

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/registerentry/"


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def page_of(entry: RegisterEntry) -> str:
    return f"{LIST}{entry.pk}/change/"


def form(desk: RegisterDesk, **other: Any) -> dict[str, Any]:
    return {
        "casino": desk.casino.pk,
        "reading": "payout_unit",
        "value": "1.00 EUR",
        "table": "",
        "ruleset": "",
        "first_day": "2026-01-01",
        "last_day": "",
        "reason": "chips of one euro",
        **other,
    }


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_an_officer_proposes_another_approves_and_the_page_says_what_is_in_force(desk: RegisterDesk) -> None:
    one, other = client_of(desk.one), client_of(desk.other)
    response = one.post(f"{LIST}add/", form(desk))
    entry = RegisterEntry.objects.get(casino=desk.casino)
    assert (response.status_code, response["Location"]) == (302, page_of(entry))
    assert "Waiting for a second officer" in text(other, LIST)
    assert "Approve</button>" in text(other, page_of(entry))
    assert "Approve</button>" not in text(one, page_of(entry))
    assert "Withdraw</button>" in text(one, page_of(entry))
    assert other.post(f"{LIST}{entry.pk}/decide/approve/", {"reason": ""}).status_code == 302
    entry.refresh_from_db()
    assert entry.version == 1
    shown = text(other, LIST)
    assert "Waiting for a second officer" not in shown
    assert "Version 1 of the register" in shown
    assert "Propose a change" in text(other, page_of(entry))


def test_what_somebody_may_not_decide_is_refused_in_words_and_changes_nothing(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    one = client_of(desk.one)
    response = one.post(f"{LIST}{entry.pk}/decide/approve/", {}, follow=True)
    assert "You proposed this" in response.content.decode()
    assert one.post(f"{LIST}{entry.pk}/decide/crown/", {}).status_code == 404
    assert one.get(f"{LIST}{entry.pk}/decide/approve/").status_code == 405
    entry.refresh_from_db()
    assert entry.state == "waiting"


def test_declining_takes_a_reason_which_stays_with_the_entry(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    other = client_of(desk.other)
    other.post(f"{LIST}{entry.pk}/decide/decline/", {"reason": " "})
    entry.refresh_from_db()
    assert entry.state == "waiting"
    other.post(f"{LIST}{entry.pk}/decide/decline/", {"reason": "chips of five"})
    assert "chips of five" in text(other, page_of(entry))


def test_approving_asks_again_for_a_password_after_a_while(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    other = client_of(desk.other)
    session = other.session
    session["proved_at"] = time.time() - PROOF_S - 1
    session.save()
    assert other.post(f"{LIST}{entry.pk}/decide/approve/", {}).status_code == 403
    entry.refresh_from_db()
    assert entry.state == "waiting"


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"value": "nothing"}, "Not an amount with its currency"),
        ({"reading": "zero_rule", "value": "nothing"}, "Not a value of this reading"),
        ({"value": ""}, "Give a value."),
        ({"reading": "luck"}, "Select a valid choice"),
        ({"reading": "double_table", "value": "yes"}, "Choose the table."),
        ({"last_day": "2025-12-31"}, "The last day is before the first."),
        ({"casino": "0"}, "Select a valid choice"),
        ({"table": "0"}, "Select a valid choice"),
    ],
)
def test_a_form_that_is_wrong_says_so(desk: RegisterDesk, other: dict[str, str], words: str) -> None:
    response = client_of(desk.one).post(f"{LIST}add/", form(desk, **other))
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not RegisterEntry.objects.filter(casino=desk.casino).exists()


def test_an_entry_that_takes_back_needs_no_value(desk: RegisterDesk) -> None:
    client_of(desk.one).post(f"{LIST}add/", form(desk, value="", takes_back="on"))
    assert RegisterEntry.objects.get(casino=desk.casino).value is None


def test_another_casino_sees_and_decides_nothing(desk: RegisterDesk) -> None:
    entry, foreign = desk.proposed("payout_unit", 100, reason="a secret of the house"), RegisterDesk()
    client = client_of(foreign.one)
    assert desk.casino.name not in text(client, LIST)
    assert client.get(page_of(entry)).status_code in (302, 404)
    assert client.post(f"{LIST}{entry.pk}/decide/approve/", {}).status_code == 404
    assert client.post(f"{LIST}add/", form(desk)).status_code == 200
    assert not RegisterEntry.objects.filter(reason="chips of one euro").exists()
    assert desk.casino.name not in text(client, f"{LIST}add/")


def test_who_only_reads_the_record_reads_the_register_too(desk: RegisterDesk) -> None:
    entry = desk.decided("payout_unit", 100)
    client = client_of(hired(desk.tenant, Role.AUDITOR, "reader"))
    assert "Propose a change" not in text(client, page_of(entry))
    assert "Payout unit" in text(client, LIST)
    assert client.get(f"{LIST}add/").status_code == 403
    assert client_of(hired(desk.tenant, Role.ADMINISTRATOR, "keeper")).get(LIST).status_code == 403


def test_shifts_are_proposed_as_they_are_said_and_touch_no_session(desk: RegisterDesk) -> None:
    one, other = client_of(desk.one), client_of(desk.other)
    desk.tenant.post("s", [desk.tenant.opener("s")])
    one.post(f"{LIST}add/", form(desk, reading="shifts", value="early=14:00, late=20h00, night=2:00"))
    entry = RegisterEntry.objects.get(casino=desk.casino)
    assert entry.value == {"early": "14:00", "late": "20:00", "night": "02:00"}
    shown = text(other, page_of(entry))
    assert "Shifts: 02:00 night, 14:00 early, 20:00 late" in shown
    assert "counts for the shift in which it closes" in shown
    assert "session of the record" not in shown
    assert "<dd>every table</dd>" in shown, "and no ruleset"
    assert "are read again" not in shown
    approved = other.post(f"{LIST}{entry.pk}/decide/approve/", {"reason": ""}, follow=True).content.decode()
    assert "Approved." in approved
    assert "The sessions that it touches" not in approved
    refused = one.post(f"{LIST}add/", form(desk, reading="shifts", value="all=14:00", ruleset="fr-craps"))
    assert "the whole casino" in refused.content.decode()


def test_the_pages_are_in_french(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100)
    client = client_of(desk.other)
    client.cookies["django_language"] = "fr"
    assert "Proposer une inscription" in text(client, LIST)
    for page in (LIST, page_of(entry)):
        shown = text(client, page)
        assert "Unité de paiement\N{NO-BREAK SPACE}: " in shown
        assert "Unité de paiement:" not in shown
    assert "Première journée de jeu" in text(client, f"{LIST}add/")


def test_the_page_of_a_finding_says_which_entry_superseded_it_and_who_decided(desk: RegisterDesk) -> None:
    stream_id = session(desk, "s", winnings=1100)
    replayed(stream_id)
    finding = Finding.objects.standing().get(stream_id=stream_id, rule="payout-underpaid")
    entry = desk.decided("payout_unit", 100)
    replayed(stream_id)
    shown = text(client_of(desk.one), f"/admin/audit/finding/{finding.pk}/change/")
    assert "version 1 of the house register" in shown
    assert page_of(entry) in shown
    assert f"{desk.one}, {desk.other}" in shown


def test_the_list_costs_no_statement_more_for_each_entry(
    desk: RegisterDesk, django_assert_max_num_queries: Any
) -> None:
    client = client_of(desk.one)
    for day in range(1, 9):
        desk.decided("payout_unit", day, first_day=date(2026, 1, day))
    client.get(LIST)
    with django_assert_max_num_queries(40):
        client.get(LIST)
