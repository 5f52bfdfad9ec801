"""The claim of a person who is not found is kept for the casino's term and not owed; then the cash desk has it."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit.casework import payment_orders
from audit.casework.payment_orders import Owing
from audit.models import Casino, Finding, OrderKind, PaymentOrder
from audit.projections.payment_orders import wrong_orders
from tests import citus
from tests.audit.access.test_account_walls import DENIED, WEB, refused
from tests.audit.casework.test_actions import Desk
from tests.audit.casework.test_payment_orders import RECEIPT, YEAR, Claim, why
from tests.audit.casework.test_priority import found
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

REASON = "he left before the coup was put right"


class Kept(Claim):
    """The claim of €40 of p1, whom nobody finds on the gaming day."""

    @property
    def day(self) -> date:
        return self.head.gaming_day

    def set_term(self, days: int) -> None:
        Casino.objects.filter(pk=self.desk.tenant.casino.pk).update(unclaimed_days=days)

    def not_found(self, player: str = "p1", **more: Any) -> PaymentOrder:
        stated = {"reason": REASON, "not_found_on": self.day, **more}
        return payment_orders.begin(self.desk.first, self.case, self.owing(player), OrderKind.NOT_FOUND, **stated)

    def cleared(self) -> list[int]:
        return list(Finding.objects.filter(case=self.case).order_by("pk").values_list("cleared", flat=True))

    def verified(self) -> list[str]:
        return [each.what for each in wrong_orders(self.desk.tenant.casino.pk)]


@pytest.fixture(scope=citus.MODULE)
def shared_claim(shared_desk: Desk) -> Kept:
    return Kept(shared_desk)


@pytest.fixture
def claim(shared_claim: Kept, db: None) -> Kept:
    return deepcopy(shared_claim)


def handed_over(claim: Kept, order: PaymentOrder, **more: Any) -> PaymentOrder:
    until = order.kept_until
    assert until is not None
    return payment_orders.hand_over(claim.desk.first, order, **{**RECEIPT, "paid_on": until, **more})


def test_the_claim_of_a_person_not_found_is_kept_for_the_term_and_is_not_owed(claim: Kept) -> None:
    order = claim.not_found()
    assert (order.reference, order.state, order.amount, order.player) == (f"N-{YEAR}-0001", "kept", 4_000, "p1")
    assert (order.not_found_on, order.kept_until) == (claim.day, claim.day + timedelta(days=365))
    assert order.reason == REASON
    assert claim.owed() == (0, 3_000), "the rest of the incident is owed as before"
    assert claim.cleared() == [2_500, 1_500, 0]
    assert [*payment_orders.kept_sums(PaymentOrder.objects.filter(case=claim.case))] == [("EUR", 4_000, 1, 0)]
    assert claim.trail() == [("not_found.stated", claim.desk.first.username, order.reference)]
    assert claim.verified() == []


def test_a_person_who_is_not_recorded_is_not_found_either(claim: Kept) -> None:
    case = found(claim.desk, "major", rule="payout-missing", euros=-10, player="").case
    assert case is not None
    [owing] = payment_orders.owings_of(case.pk)
    order = payment_orders.begin(
        claim.desk.first, case, owing, OrderKind.NOT_FOUND, reason=REASON, not_found_on=claim.day
    )
    assert (order.state, order.player) == ("kept", "")
    assert [each.amount for each in payment_orders.owings_of(case.pk)] == [0]


def test_a_person_who_is_found_is_owed_again(claim: Kept) -> None:
    order = claim.not_found()
    assert "Give a reason" in why(payment_orders.cancel, claim.desk.first, order, reason=" ")
    found_again = payment_orders.cancel(claim.desk.second, order, reason="he came to the cage")
    assert (found_again.state, found_again.end_reason) == ("cancelled", "he came to the cage")
    assert claim.owed() == (4_000, 3_000)
    assert not payment_orders.kept_sums(PaymentOrder.objects.filter(case=claim.case))
    assert claim.paid().state == "paid"
    assert claim.verified() == []


def test_the_sum_goes_to_the_cash_desk_after_the_term_and_not_before(claim: Kept) -> None:
    claim.set_term(1)
    order = claim.not_found()
    assert payment_orders.is_term_over(order)
    assert [*payment_orders.kept_sums(PaymentOrder.objects.filter(case=claim.case))] == [("EUR", 4_000, 1, 1)]
    assert "still keeps" in why(handed_over, claim, order, paid_on=claim.day)
    for wrong in ({"receipt": " "}, {"cage": ""}, {"paid_on": date(2999, 1, 1)}):
        assert "cannot hold" in why(handed_over, claim, order, **wrong)
    done = handed_over(claim, order)
    assert (done.state, done.receipt, done.cage, done.paid_on) == ("handed_over", "R-118", "main cage", done.kept_until)
    assert not payment_orders.is_term_over(done)
    assert claim.owed() == (0, 3_000)
    assert "in the meantime" in why(payment_orders.cancel, claim.desk.first, done, reason="he came")
    assert claim.verified() == []


def test_a_later_change_of_the_term_leaves_alone_what_is_kept(claim: Kept) -> None:
    order = claim.not_found()
    claim.set_term(1)
    assert not payment_orders.is_term_over(PaymentOrder.objects.get(pk=order.pk))
    assert "still keeps" in why(handed_over, claim, order, paid_on=claim.day + timedelta(days=1))


def test_a_term_that_changed_while_the_page_was_read_is_refused(claim: Kept) -> None:
    case = claim.case
    assert case.casino.unclaimed_days == 365
    claim.set_term(30)
    assert "in the meantime" in why(
        payment_orders.begin, claim.desk.first, case, claim.owing(), OrderKind.NOT_FOUND,
        reason=REASON, not_found_on=claim.day,
    )  # fmt: skip


def test_above_the_threshold_another_officer_agrees_and_it_is_owed_until_then(claim: Kept) -> None:
    Casino.objects.filter(pk=claim.desk.tenant.casino.pk).update(priority_threshold=40)
    order = claim.not_found()
    assert (order.state, claim.owed()[0]) == ("waiting", 4_000)
    assert "in the meantime" in why(handed_over, claim, order)
    assert "Another officer" not in why(payment_orders.approve, claim.desk.second, order)
    order.refresh_from_db()
    assert (order.state, order.approved_by, claim.owed()[0]) == ("kept", claim.desk.second, 0)
    assert claim.verified() == []


def test_a_reason_and_a_day_since_the_claim_are_needed(claim: Kept) -> None:
    assert "Give a reason" in why(claim.not_found, reason=" ")
    assert "cannot hold" in why(claim.not_found, not_found_on=None)
    for wrong in (claim.day - timedelta(days=1), datetime.now(UTC).date() + timedelta(days=2)):
        assert "The day must be after" in why(claim.not_found, not_found_on=wrong)
    assert claim.owed() == (4_000, 3_000)
    assert not PaymentOrder.objects.filter(case=claim.case).exists()


def test_what_a_player_owes_the_house_is_never_kept_for_the_house(claim: Kept) -> None:
    assert "cannot hold" in why(claim.not_found, "p2")


def test_what_is_found_later_of_a_kept_claim_is_owed_and_the_kept_sum_stays(claim: Kept) -> None:
    kept = claim.not_found()
    found(claim.desk, "major", rule="payout-missing", euros=-5, player="p1", case=claim.head.case)
    assert claim.owed()[0] == 500
    order = claim.order()
    assert (order.amount, order.state) == (500, "ordered")
    assert payment_orders.cancel(claim.desk.first, kept, reason="he came").state == "cancelled"
    assert claim.owed()[0] == 4_500
    assert claim.verified() == []


def test_nothing_is_kept_of_a_claim_that_is_ordered_or_not_owed(claim: Kept) -> None:
    claim.order()
    assert "open already" in why(claim.not_found)
    assert "Nothing is owed" in why(
        payment_orders.begin, claim.desk.first, claim.case, Owing("house", "p9", 100, "EUR"), OrderKind.NOT_FOUND,
        reason=REASON, not_found_on=claim.day,
    )  # fmt: skip


def test_the_database_keeps_what_is_kept(claim: Kept) -> None:
    order = claim.not_found()
    with acting_as(WEB):
        for statement in (
            f"update audit_paymentorder set kept_until = now() where id = {order.pk}",
            "select audit_act_not_found_stated('{}', 1, null)",
            "select audit_act_not_found_handed_over('{}', 1, null)",
        ):
            assert refused(statement) == DENIED, statement
    for wrong in ("kept_until = not_found_on", "kept_until = kept_until - 1", "not_found_on = null", "state = 'paid'"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"update audit_paymentorder set {wrong} where id = %s", [order.pk])


def test_verify_names_a_kept_sum_that_somebody_altered(claim: Kept) -> None:
    order = claim.not_found()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        for table in ("audit_paymentorder", "audit_finding"):
            cursor.execute(f"alter table {table} disable trigger user")
        for named, change in {"not_found_on": "not_found_on - 1", "kept_until": "kept_until + 1"}.items():
            with transaction.atomic():
                cursor.execute(f"update audit_paymentorder set {named} = {change} where id = {order.pk}")
                assert claim.verified() == [f"{order.reference}: it is not what the audit trail says: {named}"]
                transaction.set_rollback(True)
        cursor.execute(f"update audit_finding set cleared = 0 where id = {claim.head.pk}")
        [what] = claim.verified()
        transaction.set_rollback(True)
    assert "by the audit trail 2500 were paid, waived or kept" in what
