"""Persons not found at the desk: stated in three clicks, shown apart from what is owed, handed over after the term."""

from __future__ import annotations

from typing import Any

import pytest

from audit.casework import payment_orders
from audit.models import Casino, OrderKind, PaymentOrder
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of
from tests.audit.casework.test_payment_orders import RECEIPT
from tests.audit.casework.test_persons_not_found import REASON, Kept
from tests.audit.desk.payment_orders.test_pages import EN, LIST, at, box, finding_page, new

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

STATED = {"kind": "not_found", "by": "house", "player": "p1", "amount": "4000", "reason": REASON}

OVERVIEW = "/admin/"


@pytest.fixture
def claim(db: None) -> Kept:
    return Kept(Desk())


def shown(claim: Kept, order: PaymentOrder) -> str:
    page: Any = client_of(claim.desk.first).get(f"{LIST}{order.pk}/change/", headers=EN)
    text: str = page.content.decode()
    return text


def test_three_clicks_lead_from_the_claim_to_a_sum_that_is_kept(claim: Kept) -> None:
    client = client_of(claim.desk.first)
    claims = {each.words: each for each in finding_page(claim).context["claims_shown"]}
    assert [each.not_found_address for each in claims.values() if each.side == "bank"] == [""]
    address = claims["the house owes p1"].not_found_address
    asks = client.get(address, headers=EN).content.decode()
    assert "The casino keeps the sum for 365 days." in asks
    assert "Keep €40.00" in asks
    assert client.post(address, {**STATED, "reason": ""}, headers=EN).context["form"].errors.keys() == {
        *("reason", "not_found_on")
    }
    client.post(address, {**STATED, "not_found_on": claim.day.isoformat()})
    [order] = PaymentOrder.objects.all()
    assert (order.kind, order.state, order.not_found_on) == ("not_found", "kept", claim.day)
    assert order.reference in box(claim)
    assert "€40 is kept until" in box(claim)
    assert "Record that the person is found" in box(claim)
    assert "€40 is kept until" in shown(claim, order)
    assert client.get(at(order, "file")).status_code == 404, "the cage pays nothing"


@pytest.mark.parametrize("day", ["9999-12-31", pytest.param("9999-01-01", marks=pytest.mark.faults), "0001-01-01"])
def test_a_day_without_an_end_of_its_term_is_refused(claim: Kept, day: str) -> None:
    address = f"{LIST}new/{claim.head.pk}/"
    page = client_of(claim.desk.first).post(address, {**STATED, "not_found_on": day}, headers=EN, follow=True)
    assert "The day must be after the claim arose, and not in the future." in page.content.decode()
    assert not PaymentOrder.objects.exists()


def test_a_kept_sum_is_apart_from_what_is_owed_on_the_overview(claim: Kept) -> None:
    client = client_of(claim.desk.first)
    assert client.get(OVERVIEW, headers=EN).context["overview"]["kept"] == []
    claim.not_found()
    page = client.get(OVERVIEW, headers=EN)
    [kept] = page.context["overview"]["kept"]
    assert (kept.amount, kept.count, kept.over) == ("€40.00", 1, 0)
    assert [(each.side, each.amount) for each in page.context["overview"]["losses"]] == [("bank", "€30.00")]
    assert "Kept for persons not found" in page.content.decode()
    assert [each.reference for each in client.get(LIST, {"state__exact": "kept"}).context["cl"].result_list] == [
        *PaymentOrder.objects.values_list("reference", flat=True)
    ]


def test_a_person_who_is_found_is_owed_again(claim: Kept) -> None:
    order = claim.not_found()
    assert "The person is found…" in shown(claim, order)
    assert "Record as handed over" not in shown(claim, order)
    client_of(claim.desk.second).post(at(order), {"step": "cancel", "reason": "she came to the cage"})
    order.refresh_from_db()
    assert (order.state, order.end_reason) == ("cancelled", "she came to the cage")
    assert "Order the payment…" in box(claim)


def test_after_the_term_the_desk_says_that_the_sum_goes_to_the_cash_desk_and_records_it(claim: Kept) -> None:
    claim.set_term(1)
    order, client = claim.not_found(), client_of(claim.desk.first)
    assert "Hand over to the cash desk" in box(claim)
    assert "€40 goes to the cash desk" in shown(claim, order)
    assert "1 sum goes to the cash desk" in client.get(OVERVIEW, headers=EN).content.decode()
    assert order.kept_until is not None
    form = {"step": "handed_over", **RECEIPT, "paid_on": order.kept_until.isoformat()}
    answer = client.post(at(order), {**form, "receipt": " "}, headers=EN)
    assert answer.context["paid"].errors.keys() == {"receipt"}
    client.post(at(order), form)
    order.refresh_from_db()
    assert (order.state, order.receipt) == ("handed_over", "R-118")
    assert "handed over to the cash desk on" in box(claim)
    assert "Record as handed over" not in shown(claim, order)
    assert client.get(OVERVIEW, headers=EN).context["overview"]["kept"] == []


def test_a_second_officer_approves_above_the_threshold(claim: Kept) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=40)
    order, second = claim.not_found(), client_of(claim.desk.second)
    assert f"Person not found {order.reference}" in second.get("/admin/approve/", headers=EN).content.decode()
    second.post(at(order), {"step": "approve", "proof_password": PASSWORD})
    order.refresh_from_db()
    assert (order.state, order.approved_by) == ("kept", claim.desk.second)


def test_who_only_reads_keeps_nothing(claim: Kept) -> None:
    order = claim.not_found()
    reader = client_of(claim.desk.auditor)
    assert reader.get(new(claim), STATED).status_code == 403
    assert reader.post(at(order), {"step": "handed_over"}).status_code == 403
    assert "The person is found…" not in reader.get(f"{LIST}{order.pk}/change/", headers=EN).content.decode()
    assert client_of(claim.desk.first).get(new(claim), {**STATED, "by": "player", "player": "p2"}).status_code == 404


def test_the_search_finds_a_kept_sum_by_its_number(claim: Kept) -> None:
    order = claim.not_found()
    query = {"q": order.reference.lower(), "part": "1"}
    assert (
        f'href="{LIST}{order.pk}/change/"' in client_of(claim.desk.first).get("/admin/search/", query).content.decode()
    )


def test_a_waiver_is_still_asked_for_without_a_day(claim: Kept) -> None:
    page = client_of(claim.desk.first).get(new(claim), {"kind": "waiver", "by": "house", "player": "p1"}, headers=EN)
    assert "not_found_on" not in page.content.decode()
    assert payment_orders.takes_two(claim.owing(), claim.case, OrderKind.WAIVER)


def test_the_pages_are_french_in_french(claim: Kept) -> None:
    client, fr = client_of(claim.desk.first), {"accept-language": "fr"}
    asks = client.get(new(claim), STATED, headers=fr).content.decode()
    assert "Personne introuvable" in asks
    assert "365 jours" in asks
    order = claim.not_found()
    page = client.get(f"{LIST}{order.pk}/change/", headers=fr).content.decode()
    for words in ("conservée jusqu’au", "La personne est retrouvée…"):
        assert words in page, words
    assert "Conservé pour des personnes introuvables" in client.get(OVERVIEW, headers=fr).content.decode()
