"""``verify`` names a payment order that nobody made, that one hand made, or that somebody altered in the tables."""

from __future__ import annotations

from copy import deepcopy

import pytest
from django.db import connection, transaction
from django.test import Client

from audit.casework import payment_orders
from audit.event_store import audit_trail
from audit.models import Casino, Finding, Officer, PaymentOrder
from audit.projections.payment_orders import wrong_orders
from tests import citus
from tests.audit.access.test_account_walls import WEB
from tests.audit.casework.test_actions import Desk
from tests.audit.casework.test_payment_orders import RECEIPT, Claim
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


@pytest.fixture(scope=citus.MODULE)
def shared_claim(_committed_before: None) -> Claim:
    claim = Claim(Desk())
    claim.desk.tenant.client = Client()  # one that has answered nothing can be copied
    return claim


@pytest.fixture
def claim(shared_claim: Claim, db: None) -> Claim:
    return deepcopy(shared_claim)


def found(claim: Claim) -> list[str]:
    return [each.what for each in wrong_orders(claim.desk.tenant.casino.pk)]


def altered(claim: Claim, statement: str) -> list[str]:
    """Return what is named once a superuser has run a statement past every trigger; it is rolled back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")  # nothing waits that a change of a table would not wait for
        for table in ("audit_paymentorder", "audit_finding"):
            cursor.execute(f"alter table {table} disable trigger user")
        cursor.execute(statement)
        whats = found(claim)
        transaction.set_rollback(True)
    return whats


def test_every_way_of_an_order_holds(claim: Claim) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=40)
    cancelled = payment_orders.cancel(claim.desk.second, claim.order(), reason="wrong guest")
    assert found(claim) == []
    order = payment_orders.approve(claim.desk.second, claim.order())
    assert (cancelled.state, order.state, found(claim)) == ("cancelled", "ordered", [])
    payment_orders.record_paid(claim.desk.first, order, **RECEIPT)
    payment_orders.approve(claim.desk.second, claim.waiver())
    assert found(claim) == []
    assert list(Finding.objects.filter(case=claim.case).order_by("pk").values_list("cleared", flat=True)) == [
        *(2_500, 1_500, 3_000)
    ]


def test_what_somebody_alters_in_the_tables_is_named(claim: Claim) -> None:
    order = claim.paid()
    row = f"where id = {order.pk}"
    for named, change in {
        "amount": "amount = 1",
        "player": "player = 'p2'",
        "receipt": "receipt = 'x'",
        "end_reason": "end_reason = 'x'",
        "paid_on": "paid_on = '2020-01-01'",
        "ordered_at": "ordered_at = '2020-01-01'",
        "ordered_by": f"ordered_by_id = {claim.desk.second.pk}",
    }.items():
        (what,) = altered(claim, f"update audit_paymentorder set {change} {row}")
        assert what == f"{order.reference}: it is not what the audit trail says: {named}"
    (what,) = altered(claim, f"delete from audit_paymentorder {row}")
    assert "is missing" in what
    (what,) = altered(claim, f"update audit_finding set cleared = 0 where id = {claim.head.pk}")
    assert "0 of payout-missing are cleared, and by the audit trail 2500 were" in what
    (what,) = altered(claim, f"update audit_finding set cleared = 3000 where id = {claim.others[1].pk}")
    assert "3000 of payout-overpaid are cleared, and by the audit trail 0 were" in what


def test_an_order_that_no_entry_says_is_named(claim: Claim) -> None:
    order = claim.order()
    payment_orders.cancel(claim.desk.first, order, reason="wrong guest")
    kept = [each.attname for each in PaymentOrder._meta.concrete_fields if each.name not in ("id", "reference")]
    columns = ", ".join(kept)
    (what,) = altered(
        claim,
        f"insert into audit_paymentorder (reference, {columns})"
        f" select 'P-26-9999', {columns} from audit_paymentorder where id = {order.pk}",
    )
    assert what == "P-26-9999: it is stored, and the audit trail does not say so"


def test_an_order_that_is_stored_twice_is_named(claim: Claim) -> None:
    order = payment_orders.cancel(claim.desk.first, claim.order(), reason="wrong guest")
    columns = ", ".join(each.attname for each in PaymentOrder._meta.concrete_fields if each.name != "id")
    (what,) = altered(
        claim,
        "alter table audit_paymentorder drop constraint order_has_its_own_number;"
        f" insert into audit_paymentorder ({columns}) select {columns} from audit_paymentorder where id = {order.pk}",
    )
    assert what == f"{order.reference}: it is stored twice"


def test_an_order_of_one_hand_is_named(claim: Claim) -> None:
    payment_orders.approve(claim.desk.second, claim.waiver())
    Officer.objects.filter(pk=claim.desk.second.pk).update(created_by=claim.desk.first)
    (what,) = found(claim)
    assert "one hand made it" in what


def test_entries_that_the_door_did_not_write_are_named(claim: Claim) -> None:
    waiver, casino_id = claim.waiver(), claim.desk.tenant.casino.pk
    with acting_as(WEB):
        name = claim.desk.first.username
        audit_trail.record(name, "waiver.approved", casino_id=casino_id, data={"order": waiver.reference})
        audit_trail.record(name, "payment.paid", casino_id=casino_id, data={"order": "P-26-7777"})
    whats = found(claim)
    assert any(f"{name} alone made it" in what for what in whats)
    assert any("it is not what the audit trail says: state" in what for what in whats)
    assert any("goes on with P-26-7777, which nobody began" in what for what in whats)
    assert any("by the audit trail 3000 were paid, waived or kept" in what for what in whats)
