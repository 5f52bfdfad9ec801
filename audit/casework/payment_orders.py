"""Payment orders, waivers, persons not found: what officers do about a claim, from the first click to the receipt.

    a claim is due ─► ordered, numbered ──────────────────────► paid: receipt, cage, date
           │            ▲  └──────────────────────────────────► cancelled: reason
           │            └ above the casino's threshold a second officer approves first
           ├────────► waiver proposed ─► waived, by a second officer
           └────────► person not found ─► kept, for the casino's term ─► handed over to the cash desk
                       ▲ as an order, from the threshold on      └──────► found: due again

A claim is what an incident owes to one person, or one person to the house: ``Owing``. Each act names an entry of the
audit trail, and the database does what it says in the same statement, or refuses: ``sql/payment_orders.sql``. At most
one order of a claim is open at a time, whoever writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.keepers import SAME_HANDS, same_hands
from audit.access.scope import Scope
from audit.casework.debts import claims_in
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import OPEN_ORDERS, Case, Finding, Officer, OrderKind, OrderState, PaymentOrder
from settlement.catalogue.sentences import minor_units

ORDERED, PROPOSED, STATED = "payment.ordered", "waiver.proposed", "not_found.stated"
BEGUN: Mapping[str, str] = {OrderKind.PAYMENT: ORDERED, OrderKind.WAIVER: PROPOSED, OrderKind.NOT_FOUND: STATED}
"""The entry with which an order of each kind begins."""

AGREED: Mapping[str, OrderState] = {
    OrderKind.PAYMENT: OrderState.ORDERED,
    OrderKind.WAIVER: OrderState.WAIVED,
    OrderKind.NOT_FOUND: OrderState.KEPT,
}
"""Where an order of each kind is once nobody has to approve it any more."""


class Step(StrEnum):
    """What goes on with an order, as its entries name it."""

    APPROVED = "approved"
    PAID = "paid"
    HANDED_OVER = "handed_over"
    CANCELLED = "cancelled"


ATTEMPT_REFUSED = "payment.refused"

_LETTERS = {OrderKind.PAYMENT: "P", OrderKind.WAIVER: "W", OrderKind.NOT_FOUND: "N"}

CHANGED = _("The claim or its order has changed in the meantime. Look at it again.")

_NOT_ALLOWED = _("Your role at this casino does not allow this.")

_REFUSALS: Mapping[str, Promise] = {
    "not-an-officer": _NOT_ALLOWED,
    "not-allowed": _NOT_ALLOWED,
    "no-such-claim": _("Nothing is owed here any more."),
    "no-such-order": CHANGED,
    "moved-on": CHANGED,
    "ordered-already": _("An order for this claim is open already."),
    "own-order": _("You asked for this. Another officer must approve."),
    "same-hands": SAME_HANDS,
    "not-then": _("The day must be after the claim arose, and not in the future."),
    "kept-still": _("The casino still keeps this sum for the person."),
    "not-readable": _("The record cannot hold this order."),
}
"""What the database's code of a refusal is in words."""


class OrderRefused(audit_trail.Refused):
    """The order cannot be made, or not go on so. ``reason`` is for the officer."""


@dataclass(frozen=True, slots=True)
class Owing:
    """The claim of one person in an incident: who owes it ("house" or "player"), the player, "" if not recorded.

    ``amount`` is owed now, in minor units; 0 once it is paid, waived, kept or put right. ``orders`` are its own, the
    newest first.
    """

    by: str
    player: str
    amount: int
    currency: str
    orders: Sequence[PaymentOrder] = ()

    @property
    def open(self) -> PaymentOrder | None:
        """The order that something still has to be done about; None if there is none."""
        return next((each for each in self.orders if each.state in OPEN_ORDERS), None)


def owings_of(case_id: int) -> list[Owing]:
    """Return the claims of an incident, those of the house first, with what officers did about each: two queries.

    One that nothing is owed of any more is among them while it has an order.
    """
    orders: dict[tuple[str, str], list[PaymentOrder]] = {}
    rows = PaymentOrder.objects.filter(case=case_id).select_related("ordered_by", "approved_by", "ended_by", "casino")
    for order in rows.order_by("-ordered_at", "-pk"):
        orders.setdefault((order.debtor, order.player), []).append(order)
    sums: dict[tuple[str, str], tuple[int, str]] = {key: (0, own[0].currency) for key, own in orders.items()}
    for claim in claims_in(Finding.objects.standing().filter(case=case_id).order_by("pk")):
        amount, _currency = sums.get((claim.by, claim.player), (0, ""))
        sums[claim.by, claim.player] = (amount + claim.amount, claim.currency)
    return [
        Owing(by, player, amount, currency, orders.get((by, player), ()))
        for (by, player), (amount, currency) in sorted(sums.items())
    ]


def owing_of(case_id: int, by: str, player: str) -> Owing | None:
    """Return one claim of an incident; None if the incident has no such claim."""
    return next((each for each in owings_of(case_id) if (each.by, each.player) == (by, player)), None)


def is_ordered(case_id: int) -> bool:
    """Return whether a payment is ordered, or waits for a second officer, in an incident."""
    return PaymentOrder.objects.filter(case=case_id, kind=OrderKind.PAYMENT, state__in=OPEN_ORDERS).exists()


def findings_of(case_id: int, by: str, player: str) -> list[Finding]:
    """Return the standing findings that make up a claim of an incident, in their order."""
    rows = Finding.objects.standing().filter(case=case_id, player=player, owed__by=by)
    return list(rows.select_related("casino", "table", "stream").order_by("seq", "rule", "wager", "pk"))


def takes_two(owing: Owing, case: Case, kind: str) -> bool:
    """Return whether an order of a claim waits for a second officer: a waiver always, another from the threshold on."""
    return kind == OrderKind.WAIVER or owing.amount >= minor_units(case.casino.priority_threshold, owing.currency)


def begin(
    actor: Officer, case: Case, owing: Owing, kind: str, *, reason: str = "", not_found_on: date | None = None
) -> PaymentOrder:
    """Order the payment of a claim, propose to waive it, or keep it for a person who was not found on a day.

    ``owing`` is the claim as the officer has read it. Without a payment, a reason is needed. Raise ``OrderRefused``
    where the claim has changed, or has an open order.
    """
    reason = audit_trail.cleaned(reason)
    if kind != OrderKind.PAYMENT and not reason:
        raise OrderRefused(_("Give a reason."))
    identity = {"stream": _stream_of(case), "seq": case.seq, "rule": case.rule, "wager": case.wager}
    claim = {"debtor": owing.by, "player": owing.player, "amount": owing.amount, "currency": owing.currency}
    data = {"case": case.pk, **identity, **claim, "signatures": 2 if takes_two(owing, case, kind) else 1}
    if not_found_on is not None:
        if not_found_on > _today() + timedelta(days=1):  # as the database says, which has no end of its term either
            raise OrderRefused(_REFUSALS["not-then"])
        until = not_found_on + timedelta(days=case.casino.unclaimed_days)
        data |= {"not_found_on": not_found_on.isoformat(), "kept_until": until.isoformat()}
    return _perform(actor, BEGUN[kind], case.casino_id, data, reason, case=case, kind=kind)


def approve(actor: Officer, order: PaymentOrder) -> PaymentOrder:
    """Be the second officer of an order or a waiver. Raise ``OrderRefused``."""
    return _go_on(actor, order, Step.APPROVED, {})


def record_paid(actor: Officer, order: PaymentOrder, *, receipt: str, cage: str, paid_on: date) -> PaymentOrder:
    """Record that a cage has paid what was ordered, on a day, with its receipt. Raise ``OrderRefused``."""
    return _go_on(actor, order, Step.PAID, {"receipt": receipt, "cage": cage, "paid_on": paid_on.isoformat()})


def hand_over(actor: Officer, order: PaymentOrder, *, receipt: str, cage: str, paid_on: date) -> PaymentOrder:
    """Record that the cash desk has the sum of a person not found, on a day after its term. Raise ``OrderRefused``."""
    return _go_on(actor, order, Step.HANDED_OVER, {"receipt": receipt, "cage": cage, "paid_on": paid_on.isoformat()})


def cancel(actor: Officer, order: PaymentOrder, *, reason: str) -> PaymentOrder:
    """Cancel an order that is not paid or a waiver that waits, or say that a person is found: the claim is due again.

    Raise ``OrderRefused``.
    """
    reason = audit_trail.cleaned(reason)
    if not reason:
        raise OrderRefused(_("Give a reason."))
    return _go_on(actor, order, Step.CANCELLED, {}, reason)


def is_term_over(order: PaymentOrder) -> bool:
    """Return whether a sum is kept for a person not found whose term has ended: it goes to the cash desk."""
    return order.state == OrderState.KEPT and order.kept_until is not None and order.kept_until <= _today()


def kept_sums(orders: QuerySet[PaymentOrder]) -> QuerySet[Any, Any]:
    """Return what is kept for persons not found: currency, total in minor units, number, number whose term is over."""
    over = Count("pk", filter=Q(kept_until__lte=_today()))
    kept = orders.filter(state=OrderState.KEPT).order_by("currency").values("currency")
    return kept.annotate(total=Sum("amount"), count=Count("pk"), over=over).values_list(
        "currency", "total", "count", "over"
    )


def may_begin(actor: Officer, casino_id: int) -> bool:
    """Return whether an officer may order payments and propose waivers at a casino."""
    return Scope.of(actor, Capability.WORK_CASES).includes(casino_id)


def may_end(actor: Officer, casino_id: int) -> bool:
    """Return whether an officer may record a payment, or cancel an order, at a casino."""
    return Scope.of(actor, Capability.WORK_CASES, Capability.APPROVE_CASES).includes(casino_id)


def may_approve(actor: Officer, order: PaymentOrder) -> bool:
    """Return whether an officer may be the second one of an order that waits."""
    return (
        order.state == OrderState.WAITING
        and Scope.of(actor, Capability.APPROVE_CASES).includes(order.casino_id)
        and not same_hands(order.ordered_by, actor)
    )


def _go_on(actor: Officer, order: PaymentOrder, step: Step, data: Mapping[str, Any], reason: str = "") -> PaymentOrder:
    named = {"order": order.reference, **data}
    return _perform(actor, f"{order.kind}.{step}", order.casino_id, named, reason, case=order.case)


def _perform(
    actor: Officer, type: str, casino_id: int, data: dict[str, Any], reason: str, *, case: Case, kind: str = ""
) -> PaymentOrder:
    """Have the database do what an entry says. ``kind`` is that of an order that begins, which gets its number here.

    A refused attempt is recorded in the audit trail.
    """
    name = actor.get_username()
    try:
        with transaction.atomic():
            # As everything that holds a case and the trail at once: the case first.
            Case.objects.select_for_update().get(pk=case.pk)
            if kind:
                data["order"] = _next_reference(casino_id, kind)
            done = audit_trail.perform(name, type, casino_id=casino_id, data=data, reason=reason)
            return PaymentOrder.objects.select_related("ordered_by", "approved_by", "ended_by").get(pk=done["id"])
    except EntryRefused as refused:
        why = _REFUSALS.get(refused.code, CHANGED)
        attempt = {"case": case.pk, "decision": type, "order": data.get("order", "")}
        audit_trail.record(name, ATTEMPT_REFUSED, casino_id=casino_id, data=attempt, reason=str(why))
        raise OrderRefused(why) from refused


def _next_reference(casino_id: int, kind: str) -> str:
    """Return the number of the next order of a kind, “P-26-0007”: nobody else takes one until this is committed."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('audit.payment_orders', %s))", [casino_id])
    year = datetime.now(UTC).year
    # By its bounds in UTC, whatever zone is active.
    bounds = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    of_year = PaymentOrder.objects.filter(
        casino=casino_id, kind=kind, ordered_at__gte=bounds[0], ordered_at__lt=bounds[1]
    )
    return f"{_LETTERS[OrderKind(kind)]}-{year % 100:02d}-{of_year.count() + 1:04d}"


def _today() -> date:
    return datetime.now(UTC).date()


def _stream_of(case: Case) -> str:
    return Finding.objects.filter(case=case).values_list("stream__name", flat=True).first() or ""
