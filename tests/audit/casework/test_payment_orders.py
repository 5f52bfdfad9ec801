"""A claim is ordered once, paid once, and owed until then, whoever clicks how often and whatever its case becomes."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.access.capabilities import Capability, roles_with
from audit.casework import actions, payment_orders
from audit.casework.debts import debt_of_incident, owed_by_incident, with_money
from audit.casework.payment_orders import OrderRefused, Owing
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Case, Casino, Finding, Officer, OrderKind, PaymentOrder, Role
from audit.notifications import feed
from settlement.catalogue.sentences import EXPONENTS
from tests import citus
from tests.audit.access.test_account_walls import DENIED, WEB, refused
from tests.audit.casework.test_actions import Desk, hired
from tests.audit.casework.test_priority import found
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

YEAR = f"{datetime.now(UTC):%y}"

RECEIPT: dict[str, Any] = {"receipt": "R-118", "cage": "main cage", "paid_on": date(2026, 11, 20)}


class Claim:
    """€40 that the house owes p1 by two findings of one incident, and €30 that p2 owes the house by a third."""

    def __init__(self, desk: Desk) -> None:
        Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
        self.desk = desk
        self.head = found(desk, "major", rule="payout-missing", euros=-25, player="p1")
        self.others = [
            found(desk, "major", rule=rule, euros=euros, player=player, case=self.head.case)
            for rule, euros, player in (("payout-underpaid", -15, "p1"), ("payout-overpaid", 30, "p2"))
        ]

    @property
    def case(self) -> Case:
        return Case.objects.get(pk=self.head.case_id)

    def owing(self, player: str = "p1") -> Owing:
        return next(each for each in payment_orders.owings_of(self.case.pk) if each.player == player)

    def order(self, by: Officer | None = None) -> PaymentOrder:
        return payment_orders.begin(by or self.desk.first, self.case, self.owing(), OrderKind.PAYMENT)

    def paid(self) -> PaymentOrder:
        return payment_orders.record_paid(self.desk.first, self.order(), **RECEIPT)

    def waiver(self, player: str = "p2") -> PaymentOrder:
        return payment_orders.begin(
            self.desk.first, self.case, self.owing(player), OrderKind.WAIVER, reason="he left the country"
        )

    def owed(self) -> tuple[int, int]:
        """Return what the incident owes to players and to the house, which memory and SQL say alike."""
        (row,) = with_money(Finding.objects.filter(pk=self.head.pk).annotate(both=owed_by_incident()))
        debt = debt_of_incident(row)
        assert debt == debt_of_incident(Finding.objects.get(pk=self.head.pk))
        assert row.both == debt.amount
        return debt.to_players, debt.to_bank

    def trail(self) -> list[tuple[str, str, str]]:
        entries = audit_trail.entries_of(self.desk.tenant.casino.pk, datetime.now(UTC).date())
        found = (each for each in entries if each.type.startswith(("payment.", "waiver.", "not_found.")))
        return [(each.type, each.actor, str(each.data.get("order", ""))) for each in found]


@pytest.fixture(scope=citus.MODULE)
def shared_claim(shared_desk: Desk) -> Claim:
    return Claim(shared_desk)


@pytest.fixture
def claim(shared_claim: Claim, db: None) -> Claim:
    return deepcopy(shared_claim)


def why(function: Any, *args: Any, **more: Any) -> str:
    """Return why an officer is refused; "" if they are not."""
    try:
        function(*args, **more)
    except OrderRefused as refusal:
        return str(refusal)
    return ""


def test_an_order_is_numbered_and_the_claim_is_owed_until_it_is_paid(claim: Claim) -> None:
    assert claim.owed() == (4_000, 3_000)
    order = claim.order()
    assert (order.reference, order.state, order.amount, order.player) == (f"P-{YEAR}-0001", "ordered", 4_000, "p1")
    assert claim.owed() == (4_000, 3_000), "an order pays nothing"
    order = payment_orders.record_paid(claim.desk.third, order, **RECEIPT)
    assert (order.state, order.receipt, order.cage, order.paid_on) == ("paid", "R-118", "main cage", date(2026, 11, 20))
    assert claim.owed() == (0, 3_000), "claims of two persons are never netted"
    assert claim.trail() == [
        ("payment.ordered", claim.desk.first.username, order.reference),
        ("payment.paid", claim.desk.third.username, order.reference),
    ]


def test_three_clicks_make_one_order(claim: Claim) -> None:
    claim.order()
    for by in (claim.desk.first, claim.desk.second):
        assert "open already" in why(claim.order, by)
    assert PaymentOrder.objects.filter(case=claim.case).count() == 1
    assert [type for type, _by, _order in claim.trail()] == ["payment.ordered", "payment.refused", "payment.refused"]


def test_nothing_that_writes_makes_a_second_order_of_a_claim(claim: Claim) -> None:
    order = claim.order()
    second = {
        each.attname: getattr(order, each.attname) for each in PaymentOrder._meta.concrete_fields if each.name != "id"
    }
    with pytest.raises(DatabaseError, match="one_open_order_a_claim"), transaction.atomic():
        PaymentOrder.objects.create(**{**second, "reference": "P-26-0999"})


def test_what_is_paid_is_ordered_no_more_and_what_is_cancelled_is_due_again(claim: Claim) -> None:
    order = claim.order()
    assert "Give a reason" in why(payment_orders.cancel, claim.desk.first, order, reason=" ")
    cancelled = payment_orders.cancel(claim.desk.first, order, reason="wrong guest")
    assert (cancelled.state, cancelled.end_reason, claim.owed()[0]) == ("cancelled", "wrong guest", 4_000)
    for later in (lambda: payment_orders.record_paid(claim.desk.first, order, **RECEIPT),
                  lambda: payment_orders.cancel(claim.desk.first, order, reason="again")):  # fmt: skip
        assert "in the meantime" in why(later)
    paid = claim.paid()
    assert paid.reference == f"P-{YEAR}-0002"
    assert "Nothing is owed" in why(
        payment_orders.begin, claim.desk.first, claim.case, Owing("house", "p1", 4_000, "EUR"), OrderKind.PAYMENT
    )
    assert claim.owing().amount == 0


def test_an_order_of_another_amount_than_is_owed_is_refused(claim: Claim) -> None:
    read = claim.owing()
    Finding.objects.filter(pk=claim.head.pk).update(owed={"by": "house", "to": None, "amount": 2_600})
    assert "in the meantime" in why(payment_orders.begin, claim.desk.first, claim.case, read, OrderKind.PAYMENT)
    assert claim.order().amount == 4_100


def test_above_the_threshold_of_the_casino_another_officer_approves(claim: Claim) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=40)
    order = claim.order(claim.desk.second)
    assert order.state == "waiting"
    assert "in the meantime" in why(payment_orders.record_paid, claim.desk.first, order, **RECEIPT)
    assert "Another officer" in why(payment_orders.approve, claim.desk.second, order)
    assert "role" in why(payment_orders.approve, claim.desk.first, order)
    approved = payment_orders.approve(claim.desk.third, order)
    assert (approved.state, approved.approved_by) == ("ordered", claim.desk.third)
    assert payment_orders.record_paid(claim.desk.first, approved, **RECEIPT).state == "paid"


def test_two_accounts_in_one_hand_are_one_officer(claim: Claim) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=1)
    order = claim.order()
    Officer.objects.filter(pk=claim.desk.second.pk).update(created_by=claim.desk.first)
    assert "created the other’s account" in why(payment_orders.approve, claim.desk.second, order)
    with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic():
        PaymentOrder.objects.filter(pk=order.pk).update(
            state="ordered", approved_by=claim.desk.second, approved_at=timezone.now()
        )


def test_a_waiver_takes_a_reason_and_two_officers_and_then_nothing_is_owed(claim: Claim) -> None:
    assert "Give a reason" in why(
        payment_orders.begin, claim.desk.first, claim.case, claim.owing("p2"), OrderKind.WAIVER
    )
    waiver = claim.waiver()
    assert (waiver.reference, waiver.state, waiver.debtor) == (f"W-{YEAR}-0001", "waiting", "player")
    assert claim.owed() == (4_000, 3_000)
    assert payment_orders.approve(claim.desk.second, waiver).state == "waived"
    assert claim.owed() == (4_000, 0)
    assert "in the meantime" in why(payment_orders.cancel, claim.desk.first, waiver, reason="no")


def test_a_claim_of_the_house_is_waived_and_never_paid_by_the_cage(claim: Claim) -> None:
    assert "cannot hold" in why(
        payment_orders.begin, claim.desk.first, claim.case, claim.owing("p2"), OrderKind.PAYMENT
    )
    assert "in the meantime" in why(payment_orders.record_paid, claim.desk.first, claim.waiver(), **RECEIPT)


def test_closing_the_case_changes_nothing_of_what_is_owed_and_it_can_still_be_paid(claim: Claim) -> None:
    actions.perform(claim.case.pk, claim.desk.first, "take")
    actions.perform(claim.case.pk, claim.desk.first, "propose", reason="seen", outcome="confirmed")
    actions.perform(claim.case.pk, claim.desk.second, "approve")
    assert claim.case.state == "closed"
    assert claim.owed() == (4_000, 3_000)
    claim.paid()
    assert claim.owed() == (0, 3_000)


def test_what_was_paid_stays_paid_when_the_session_is_read_anew(claim: Claim) -> None:
    claim.paid()
    assert [each.cleared for each in Finding.objects.filter(case=claim.case).order_by("pk")] == [2_500, 1_500, 0]
    # The run after finds that €10 more were owed at the first, and nothing at the second.
    Finding.objects.filter(case=claim.case, player="p1").update(status="superseded", superseded_at=timezone.now())
    again = found(claim.desk, "major", rule="payout-missing", euros=-50, player="p1", case=claim.case)
    assert (again.cleared, claim.owed()[0]) == (4_000, 1_000)
    assert set(Finding.objects.filter(case=claim.case, status="superseded").values_list("cleared", flat=True)) == {0}
    order = claim.order()
    assert order.amount == 1_000, "the rest alone is ordered"
    payment_orders.record_paid(claim.desk.first, order, **RECEIPT)
    assert claim.owed()[0] == 0


def test_the_feed_and_the_interface_say_what_was_paid_of_a_claim(claim: Claim) -> None:
    casino_id = claim.desk.tenant.casino.pk
    before = feed.number(casino_id)
    claim.paid()
    feed.number(casino_id)
    changes = feed.documents(feed.changes(casino_id, before, limit=100))
    content = [(each["type"], each["finding"]["owed"]["amount"], each["finding"]["cleared"]) for each in changes]
    assert content == [("finding.amended", 2_500, 2_500), ("finding.amended", 1_500, 1_500)]
    assert claim.desk.tenant.get(f"/findings/{claim.head.pk}").json()["cleared"] == 2_500


def test_what_the_table_puts_right_after_an_order_is_owed_no_more(claim: Claim) -> None:
    order = claim.order()
    Finding.objects.filter(case=claim.case, player="p1").update(owed=None, difference=0, put_right_by=9)
    assert claim.owed()[0] == 0
    assert [(each.amount, each.open) for each in payment_orders.owings_of(claim.case.pk) if each.player == "p1"] == [
        (0, order)
    ]


@pytest.mark.parametrize("role", list(Role))
def test_the_database_lets_the_roles_act_that_the_desk_lets_act(claim: Claim, role: Role) -> None:
    somebody = hired(claim.desk.tenant, role, "somebody")
    begins = role in roles_with(Capability.WORK_CASES)
    ends = role in roles_with(Capability.WORK_CASES, Capability.APPROVE_CASES)
    approves = role in roles_with(Capability.APPROVE_CASES)
    casino_id = claim.desk.tenant.casino.pk
    waiver = claim.waiver()
    assert payment_orders.may_begin(somebody, casino_id) == begins
    assert payment_orders.may_end(somebody, casino_id) == ends
    assert payment_orders.may_approve(somebody, waiver) == approves
    assert (why(claim.order, somebody) == "") == begins
    order = claim.owing().open or claim.order()
    assert (why(payment_orders.record_paid, somebody, order, **RECEIPT) == "") == ends
    assert (why(payment_orders.approve, somebody, waiver) == "") == approves


def test_an_officer_of_another_casino_orders_nothing_here(claim: Claim) -> None:
    foreign = Desk()
    assert "role" in why(claim.order, foreign.second)
    case = claim.case
    case.casino = foreign.tenant.casino
    assert "Nothing is owed" in why(payment_orders.begin, foreign.first, case, claim.owing(), OrderKind.PAYMENT)


def test_the_record_holds_no_payment_without_a_receipt_or_of_a_day_to_come(claim: Claim) -> None:
    order = claim.order()
    for wrong in ({"receipt": " "}, {"cage": ""}, {"paid_on": date(2999, 1, 1)}):
        assert "cannot hold" in why(payment_orders.record_paid, claim.desk.first, order, **{**RECEIPT, **wrong})


def test_numbers_are_the_casinos_own(claim: Claim) -> None:
    assert claim.order().reference == Claim(Desk()).order().reference == f"P-{YEAR}-0001"


def test_the_web_role_writes_an_order_by_the_door_alone(claim: Claim) -> None:
    with acting_as(WEB):
        order = payment_orders.record_paid(claim.desk.first, claim.order(), **RECEIPT)
    assert order.state == "paid"
    for statement in (
        f"update audit_paymentorder set state = 'ordered' where id = {order.pk}",
        f"delete from audit_paymentorder where id = {order.pk}",
        f"update audit_finding set cleared = 0 where case_id = {claim.case.pk}",
        "select audit_act_payment_ordered('{}', 1, null)",
        "select audit_begin_order('{}', 'payment')",
        "select audit_go_on_with_order('{}', 'payment', 'paid')",
        f"select audit_clear_claim({claim.case.pk}, 'house', 'p1')",
    ):
        assert refused(statement) == DENIED, statement


def test_what_is_ordered_never_changes_and_is_never_deleted(claim: Claim) -> None:
    order = claim.order()
    for wrong in ("amount = 1", "player = 'p9'", "reason = 'x'", "state = 'waived'", "state = 'waiting'"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"update audit_paymentorder set {wrong} where id = %s", [order.pk])
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        PaymentOrder.objects.filter(pk=order.pk).delete()


def test_an_entry_that_is_no_order_is_refused(claim: Claim) -> None:
    good = {
        "order": f"P-{YEAR}-0001",
        "case": claim.case.pk,
        "debtor": "house",
        "player": "p1",
        "amount": 4_000,
        "currency": "EUR",
        "signatures": 1,
    }
    for wrong in (
        *({"order": "P-26-0002"}, {"order": None}, {"amount": 1}, {"signatures": 2}, {"currency": "USD"}),
        *({"case": 0}, {"case": "x"}, {"player": "p3"}, {"debtor": "player"}),
    ):
        with pytest.raises(EntryRefused), transaction.atomic():
            audit_trail.perform(
                claim.desk.first.username, "payment.ordered", casino_id=claim.desk.tenant.casino.pk,
                data={**good, **wrong},
            )  # fmt: skip
    assert not PaymentOrder.objects.filter(case=claim.case).exists()


def test_the_database_knows_the_minor_units_of_every_currency() -> None:
    with connection.cursor() as cursor:
        for currency, digits in {**EXPONENTS, "EUR": 2, "USD": 2}.items():
            cursor.execute("select audit_minor_units(%s)", [currency])
            assert cursor.fetchone() == (10**digits,), currency
