"""The pages of a payment order: three clicks from the claim to the paper, once, and nothing without being asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.casework import payment_orders
from audit.models import Casino, Finding, Membership, Officer, PaymentOrder, Person, PersonKind, Role
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of
from tests.audit.casework.test_payment_orders import RECEIPT, Claim
from tests.audit.desk.printed import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/paymentorder/"

PAY = {"kind": "payment", "by": "house", "player": "p1"}

PAID = {"step": "paid", **RECEIPT, "paid_on": "2026-11-20"}

EN = {"accept-language": "en"}


@pytest.fixture
def claim(db: None) -> Claim:
    return Claim(Desk())


def new(claim: Claim) -> str:
    return f"{LIST}new/{claim.head.pk}/"


def at(order: PaymentOrder, page: str = "decide") -> str:
    return f"{LIST}{order.pk}/{page}/"


def finding_page(claim: Claim, officer: Officer | None = None) -> Any:
    return client_of(officer or claim.desk.first).get(f"/admin/audit/finding/{claim.head.pk}/change/", headers=EN)


def box(claim: Claim, officer: Officer | None = None) -> str:
    """Return the box of the claims on the page of the finding."""
    return finding_page(claim, officer).content.decode().split('id="claims"')[1].split("</section>")[0]


def test_three_clicks_lead_from_the_claim_to_one_order_and_its_paper(claim: Claim) -> None:
    Person.objects.create(casino=claim.desk.tenant.casino, code="p1", kind=PersonKind.PLAYER, name="Gaétan Villeneuve")
    client = client_of(claim.desk.first)
    assert "€40" in box(claim)
    address = next(each.order_address for each in finding_page(claim).context["claims_shown"] if each.order_address)
    confirming = client.get(address, headers=EN)
    shown = confirming.content.decode()
    assert not PaymentOrder.objects.exists(), "a page that asks orders nothing"
    for words in ("Gaétan Villeneuve", "€40.00", "Payout missing", "gets a number"):
        assert words in shown, words
    for _click in range(3):
        client.post(address, {**PAY, "amount": "4000"})
    (order,) = PaymentOrder.objects.all()
    answer = client.get(at(order, "file"))
    assert (answer["Content-Type"], answer.content[:5]) == ("application/pdf", b"%PDF-")
    assert f'filename="{order.casino.code}-{order.reference}.pdf"' in answer["Content-Disposition"]
    printed = words_of(answer.content)
    for words in (order.reference, "Gaétan Villeneuve", "40.00"):
        assert words in printed, words
    assert order.reference in box(claim)
    assert "Record the payment or cancel" in box(claim)
    assert "paymentorder/new" not in box(claim).split("p2")[0]


def test_of_two_orders_of_one_number_every_page_says_whose_each_is(claim: Claim) -> None:
    other = Claim(Desk())
    orders = [claim.order(), other.order()]
    for each in orders:
        Casino.objects.filter(pk=each.casino_id).update(name=f"Casino of {each.casino.code}")
        each.casino.refresh_from_db()
    assert len({each.reference for each in orders}) == 1
    officer = claim.desk.first
    Membership.objects.create(officer=officer, casino=other.desk.tenant.casino, role=Role.OFFICER)
    client = client_of(officer)
    listed = client.get(LIST, headers=EN).content.decode()
    found = client.get("/admin/search/", {"q": orders[0].reference, "part": "1"}, headers=EN).content.decode()
    for order in orders:
        assert f"Casino of {order.casino.code}" in listed.split('id="result_list"')[1]
        assert f"Casino of {order.casino.code}" in found
        assert at(order, "change") in found
        shown = client.get(at(order, "change"), headers=EN)
        assert shown.context["title"] == f"Payment order {order.reference} · Casino of {order.casino.code}"
    files = {client.get(at(order, "file"))["Content-Disposition"] for order in orders}
    assert len(files) == 2


def test_the_box_has_the_state_of_each_claim_and_its_next_step(claim: Claim) -> None:
    order = claim.order()
    client = client_of(claim.desk.first)
    page = client.get(f"{LIST}{order.pk}/change/", headers=EN).content.decode()
    assert "Record as paid" in page
    assert "Cancel the order" in page
    client.post(at(order), PAID)
    order.refresh_from_db()
    assert (order.state, order.receipt, str(order.paid_on)) == ("paid", "R-118", "2026-11-20")
    assert "receipt R-118, main cage" in box(claim)
    assert "p1: nothing is owed" in box(claim)
    page = client.get(f"{LIST}{order.pk}/change/", headers=EN).content.decode()
    assert "Record as paid" not in page
    assert "Cancel the order" not in page


def test_the_step_that_pays_names_the_order_that_was_made(claim: Claim) -> None:
    def detail() -> str:
        return str(next(step.detail for step in finding_page(claim).context["todo"] if step.title.startswith("Pay")))

    assert detail() == "The cage pays by an order with a number."
    order = claim.order()
    assert detail().startswith(f"{order.reference}: ordered by {claim.desk.first}")


def test_a_payment_without_a_receipt_is_asked_for_again(claim: Claim) -> None:
    order = claim.order()
    answer = client_of(claim.desk.first).post(at(order), {**PAID, "receipt": " "}, headers=EN)
    assert answer.status_code == 200
    assert answer.context["paid"].errors.keys() == {"receipt"}
    assert 'value="main cage"' in answer.content.decode(), "what was typed stays"
    order.refresh_from_db()
    assert order.state == "ordered"


def test_an_order_is_cancelled_with_a_reason_and_the_claim_is_due_again(claim: Claim) -> None:
    order, client = claim.order(), client_of(claim.desk.second)
    assert client.post(at(order), {"step": "cancel", "reason": ""}, headers=EN).context["cancelling"].errors
    client.post(at(order), {"step": "cancel", "reason": "wrong guest"})
    order.refresh_from_db()
    assert (order.state, order.end_reason) == ("cancelled", "wrong guest")
    assert "cancelled by" in box(claim)
    assert "Order the payment…" in box(claim)


def test_a_second_officer_approves_with_the_password_and_finds_it_among_what_waits(claim: Claim) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=40)
    assert (
        "A second officer must approve" in client_of(claim.desk.first).get(new(claim), PAY, headers=EN).content.decode()
    )
    order = claim.order()
    own, second = client_of(claim.desk.first), client_of(claim.desk.second)
    for client, is_there in ((own, False), (second, True)):
        if client is own:
            assert client.get(f"{LIST}{order.pk}/change/", headers=EN).context["may_approve"] is False
            continue
        waits = client.get("/admin/approve/", headers=EN).content.decode()
        assert (f"Payment order {order.reference}" in waits) is is_there
    assert client_of(claim.desk.first).get(at(order, "file")).status_code == 404, "no paper before it is ordered"
    assert second.post(at(order), {"step": "approve"}).status_code == 403
    second.post(at(order), {"step": "approve", "proof_password": PASSWORD})
    order.refresh_from_db()
    assert (order.state, order.approved_by) == ("ordered", claim.desk.second)
    printed = words_of(second.get(at(order, "file")).content)
    assert claim.desk.second.username in printed


def test_a_waiver_is_proposed_with_a_reason(claim: Claim) -> None:
    client, waive = client_of(claim.desk.first), {"kind": "waiver", "by": "player", "player": "p2", "amount": "3000"}
    assert client.post(new(claim), waive, headers=EN).context["form"].errors
    client.post(new(claim), {**waive, "reason": "he left the country"})
    (waiver,) = PaymentOrder.objects.all()
    assert (waiver.kind, waiver.state, waiver.amount) == ("waiver", "waiting", 3_000)
    assert client.get(at(waiver, "file")).status_code == 404


def test_a_claim_that_changed_since_the_page_was_read_is_not_ordered(claim: Claim) -> None:
    client = client_of(claim.desk.first)
    answer = client.post(new(claim), {**PAY, "amount": "3900"}, follow=True, headers=EN)
    assert "has changed in the meantime" in answer.content.decode()
    order = claim.order()
    Finding.objects.filter(case=claim.case, player="p1").update(owed=None, difference=0, put_right_by=9)
    page = client.get(f"{LIST}{order.pk}/change/", headers=EN).content.decode()
    assert "€0 is owed now. Cancel this order unless the cage has paid it." in page


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "payment", "by": "player", "player": "p2"},
        pytest.param({"kind": "payment", "by": "house", "player": "p9"}, marks=pytest.mark.faults),
        {"kind": "gift", "by": "house", "player": "p1"},
        {},
    ],
)
def test_there_is_no_page_for_what_is_no_claim(claim: Claim, query: dict[str, str]) -> None:
    assert client_of(claim.desk.first).get(new(claim), query).status_code == 404


def test_who_only_reads_sees_the_orders_and_orders_nothing(claim: Claim) -> None:
    order = claim.order()
    reader, foreign = client_of(claim.desk.auditor), client_of(Desk().first)
    shown = reader.get(f"{LIST}{order.pk}/change/", headers=EN).content.decode()
    assert "Record as paid" not in shown
    assert "paymentorder/new" not in box(claim, claim.desk.auditor)
    for client, status in ((reader, 403), (foreign, 404)):
        assert client.get(new(claim), PAY).status_code == status
        assert client.post(at(order), {"step": "cancel", "reason": "x"}).status_code == status
    assert foreign.get(f"{LIST}{order.pk}/change/").status_code == 404
    order.refresh_from_db()
    assert order.state == "ordered"


def listed(client: Client, **query: str) -> list[str]:
    return [each.reference for each in client.get(LIST, query).context["cl"].result_list]


def test_the_list_is_narrowed_by_state_and_stands_below_the_findings(claim: Claim) -> None:
    cancelled = payment_orders.cancel(claim.desk.first, claim.order(), reason="wrong guest")
    order, waiver = claim.order(), claim.waiver()
    client = client_of(claim.desk.first)
    assert listed(client) == [waiver.reference, order.reference, cancelled.reference]
    assert listed(client, state__exact="ordered") == [order.reference]
    assert listed(client, kind__exact="waiver") == [waiver.reference]
    page = client.get("/admin/audit/finding/?queue=open", headers=EN).content.decode()
    assert 'href="/admin/audit/paymentorder/"' in page
    assert listed(client_of(Desk().first)) == []


def test_the_search_finds_an_order_and_a_waiver_by_their_numbers_at_ones_own_casinos(claim: Claim) -> None:
    for order in (claim.order(), claim.waiver()):
        query = {"q": order.reference.lower(), "part": "1"}
        shown = client_of(claim.desk.first).get("/admin/search/", query, headers=EN).content.decode()
        assert f'href="{LIST}{order.pk}/change/"' in shown
        assert "paymentorder" not in client_of(Desk().first).get("/admin/search/", query).content.decode()


def test_the_pages_are_french_in_french(claim: Claim) -> None:
    client, fr = client_of(claim.desk.first), {"accept-language": "fr"}
    assert "Ordonner un paiement" in client.get(new(claim), PAY, headers=fr).content.decode()
    order = claim.order()
    shown = client.get(f"{LIST}{order.pk}/change/", headers=fr).content.decode()
    for words in ("Enregistrer le paiement", "Annuler l’ordre", "À payer à"):
        assert words in shown, words
    assert "Ordre de paiement" in words_of(client.get(at(order, "file"), headers=fr).content)
