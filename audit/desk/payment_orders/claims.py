"""The claims of an incident on its page: who is owed how much, what officers did about it, and the next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.casework import payment_orders
from audit.casework.debts import LOSERS
from audit.casework.payment_orders import Owing
from audit.desk.names import directory_for
from audit.desk.scoped_admin import officer_of
from audit.models import Finding, OrderKind, OrderState, PaymentOrder
from audit.persons.directory import Directory, players
from audit.presentation import date_time, day, money_in_prose, officer_name

NEXT: Mapping[str, Promise] = {
    OrderState.WAITING: _("Approve or cancel"),
    OrderState.ORDERED: _("Record the payment or cancel"),
    OrderState.KEPT: _("Record that the person is found"),
}
"""What is done next about an order that is not at its end."""


@dataclass(frozen=True, slots=True)
class ShownOrder:
    """One order of a claim, what became of it in words, and the next step; "" for one at its end."""

    order: PaymentOrder
    words: str
    next: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """One claim: ``words`` say who owes it to whom. The addresses are "" for what the officer cannot do about it."""

    side: str
    amount: str
    words: str
    orders: list[ShownOrder]
    order_address: str
    waive_address: str
    not_found_address: str


def claims_shown(request: HttpRequest, finding: Finding, directory: Directory | None = None) -> list[ShownClaim]:
    """Return the claims of the incident of a finding as its page shows them; none of a finding without a case.

    ``directory`` has the names of the incident's players; None: they are looked up.
    """
    if finding.case_id is None:
        return []
    owings = payment_orders.owings_of(finding.case_id)
    if directory is None:
        named = players([each.player for each in owings if each.player])
        directory = directory_for(request, finding.casino_id, named)
    may_begin = payment_orders.may_begin(officer_of(request), finding.casino_id)
    return [_shown(finding, each, directory, may_begin=may_begin and each.open is None) for each in owings]


def _shown(finding: Finding, owing: Owing, directory: Directory, *, may_begin: bool) -> ShownClaim:
    def address(kind: str) -> str:
        claim = urlencode({"kind": kind, "by": owing.by, "player": owing.player})
        return f"{reverse('admin:audit_paymentorder_new', args=[finding.pk])}?{claim}"

    can_begin = may_begin and owing.amount > 0
    return ShownClaim(
        LOSERS[owing.by],
        money_in_prose(owing.amount, owing.currency),
        claim_words(owing.by, payee(owing.player, directory), is_owed=owing.amount > 0),
        [ShownOrder(each, state_words(each), _next(each)) for each in owing.orders],
        address(OrderKind.PAYMENT) if can_begin and owing.by == "house" else "",
        address(OrderKind.WAIVER) if can_begin else "",
        address(OrderKind.NOT_FOUND) if can_begin and owing.by == "house" else "",
    )


def _next(order: PaymentOrder) -> str:
    if payment_orders.is_term_over(order):
        return gettext("Hand over to the cash desk")
    return str(NEXT.get(order.state, ""))


def payee(player: str, directory: Directory) -> str:
    """Return the player of a claim as pages name them."""
    return directory.player(player) if player else gettext("player not recorded")


def claim_words(by: str, who: str, *, is_owed: bool = True) -> str:
    """Return who owes a claim to whom: “the house owes Ann Smith”."""
    if not is_owed:
        return gettext("%(player)s: nothing is owed") % {"player": who}
    words = gettext("the house owes %(player)s") if by == "house" else gettext("%(player)s owes the house")
    return words % {"player": who}


def state_words(order: PaymentOrder) -> str:
    """Return what became of an order: by whom, when, with which receipt; how long a sum is kept."""
    casino = order.casino
    if order.paid_on is not None:
        paid = {"day": day(order.paid_on, with_year=True), "receipt": order.receipt, "cage": order.cage}
        if order.state == OrderState.HANDED_OVER:
            return gettext("handed over to the cash desk on %(day)s, receipt %(receipt)s, %(cage)s") % paid
        return gettext("paid on %(day)s, receipt %(receipt)s, %(cage)s") % paid
    if order.state == OrderState.KEPT and order.not_found_on is not None and order.kept_until is not None:
        words = gettext("not found on %(day)s; %(amount)s is kept until %(until)s")
        if payment_orders.is_term_over(order):
            words = gettext("not found on %(day)s; the term ended on %(until)s: %(amount)s goes to the cash desk")
        until, since = (day(each, with_year=True) for each in (order.kept_until, order.not_found_on))
        return words % {"day": since, "until": until, "amount": money_in_prose(order.amount, order.currency)}
    steps = {
        OrderState.WAITING: (gettext("asked by %(officer)s, %(at)s; a second officer must approve"), "ordered"),
        OrderState.ORDERED: (gettext("ordered by %(officer)s, %(at)s"), "ordered"),
        OrderState.WAIVED: (gettext("waived, approved by %(officer)s, %(at)s"), "approved"),
        OrderState.CANCELLED: (gettext("cancelled by %(officer)s, %(at)s"), "ended"),
    }
    words, step = steps[OrderState(order.state)]
    officer, at = getattr(order, f"{step}_by"), getattr(order, f"{step}_at")
    return words % {"officer": officer_name(officer), "at": date_time(at, casino)}
