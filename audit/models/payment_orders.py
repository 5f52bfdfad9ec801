"""Payment orders, waivers, persons not found: what officers did about the debt of an incident to or by one person."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.calendar import CALENDAR
from audit.models.cases import Case
from audit.models.casinos import Casino
from audit.models.officers import Officer


class OrderKind(models.TextChoices):
    """What officers do about a claim: have the cage pay it, give it up, or keep it for a person who is not found."""

    PAYMENT = "payment", _("payment order")
    WAIVER = "waiver", _("waiver")
    NOT_FOUND = "not_found", _("person not found")


class OrderState(models.TextChoices):
    """Where an order is. One that waits or is ordered is open: a claim has at most one of these."""

    WAITING = "waiting", _("waits for a second officer")
    ORDERED = "ordered", _("ordered")
    PAID = "paid", _("paid")
    WAIVED = "waived", _("waived")
    KEPT = "kept", _("kept")
    HANDED_OVER = "handed_over", _("handed over to the cash desk")
    CANCELLED = "cancelled", _("cancelled")


OPEN_ORDERS = (OrderState.WAITING, OrderState.ORDERED)
"""The states of an order that something still has to be done about."""

CLEARED = (OrderState.PAID, OrderState.WAIVED, OrderState.KEPT, OrderState.HANDED_OVER)
"""The states of an order after which its claim is not owed any more."""


_DAYS = tuple(each.date() for each in CALENDAR)


class PaymentOrder(models.Model):
    """What was done about the claim of one person in one incident. Functions of the database write it.

    ``debtor`` is who owes the claim, "house" or "player"; ``player`` the other side, or the debtor: "" if not recorded.
    ``amount`` is in minor units of ``currency``. The sum of a person not found is kept until ``kept_until``; from this
    day on the cash desk may have it.
    """

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+", verbose_name=_("casino"))
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="orders", verbose_name=_("case"))
    kind = models.CharField(_("kind"), max_length=16, choices=OrderKind)
    reference = models.CharField(_("number"), max_length=32)  # “P-26-0007”: counted for the casino, the kind, the year
    debtor = models.CharField(max_length=8)
    player = models.CharField(_("player"), max_length=200, blank=True)
    amount = models.BigIntegerField(_("amount"))
    currency = models.CharField(_("currency"), max_length=3)
    reason = models.TextField(_("reason"), blank=True)
    state = models.CharField(_("state"), max_length=16, choices=OrderState)
    ordered_by = models.ForeignKey(Officer, on_delete=models.PROTECT, related_name="+", verbose_name=_("ordered by"))
    ordered_at = models.DateTimeField(_("ordered"))
    approved_by = models.ForeignKey(  # None: the amount takes no second officer, or none has approved it
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("approved by")
    )
    approved_at = models.DateTimeField(_("approved"), null=True)
    ended_by = models.ForeignKey(  # who recorded the payment or the handing over, or cancelled the order
        Officer, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("ended by")
    )
    ended_at = models.DateTimeField(_("ended"), null=True)
    end_reason = models.TextField(_("reason for cancelling"), blank=True)
    receipt = models.CharField(_("receipt"), max_length=100, blank=True)
    cage = models.CharField(_("cage"), max_length=100, blank=True)
    paid_on = models.DateField(_("paid on"), null=True)  # or handed over
    not_found_on = models.DateField(_("not found on"), null=True)
    kept_until = models.DateField(_("kept until"), null=True)

    class Meta:
        verbose_name = _("payment order")
        verbose_name_plural = _("payment orders")
        ordering = ["-ordered_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "debtor", "player"],
                condition=Q(state__in=["waiting", "ordered"]),
                name="one_open_order_a_claim",
            ),
            models.UniqueConstraint(fields=["casino", "reference"], name="order_has_its_own_number"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="order_is_of_an_amount"),
            models.CheckConstraint(
                condition=Q(kind="payment", debtor="house", state__in=["waiting", "ordered", "paid", "cancelled"])
                | (
                    Q(kind="waiver", debtor__in=["house", "player"], state__in=["waiting", "waived", "cancelled"])
                    & ~Q(reason="")
                )
                | (
                    Q(kind="not_found", debtor="house", state__in=["waiting", "kept", "handed_over", "cancelled"])
                    & ~Q(reason="")
                ),
                name="order_is_of_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None, approved_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False),
                name="order_approved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "ordered", "waived", "kept"], ended_by=None, ended_at=None)
                | Q(state__in=["paid", "handed_over", "cancelled"], ended_by__isnull=False, ended_at__isnull=False),
                name="order_ended_by_somebody",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=["paid", "handed_over"], paid_on__isnull=False) & ~Q(receipt="") & ~Q(cage=""))
                | (~Q(state__in=["paid", "handed_over"]) & Q(receipt="", cage="", paid_on=None)),
                name="order_paid_with_a_receipt",
            ),
            models.CheckConstraint(condition=~Q(state="cancelled") | ~Q(end_reason=""), name="order_cancelled_why"),
            models.CheckConstraint(
                condition=~Q(state="waived") | Q(approved_by__isnull=False), name="waiver_of_two_officers"
            ),
            models.CheckConstraint(
                condition=Q(kind="not_found", not_found_on__isnull=False, kept_until__isnull=False)
                & Q(not_found_on__range=_DAYS, kept_until__range=_DAYS)
                & Q(kept_until__gt=F("not_found_on"))
                | (~Q(kind="not_found") & Q(not_found_on=None, kept_until=None)),
                name="order_kept_for_a_term",
            ),
        ]

    def __str__(self) -> str:
        return self.reference
