"""Payment orders, waivers and kept sums: the list, the page that asks first, the page of each, and its paper.

The use cases are in ``audit.casework.payment_orders``; a page shows what they allow.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.capabilities import Capability
from audit.casework import payment_orders
from audit.casework.payment_orders import OrderRefused
from audit.desk import kept_words
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.names import directory_for
from audit.desk.navigation import is_of_several
from audit.desk.payment_orders.claims import claim_words, payee, state_words
from audit.desk.payment_orders.pdf import payment_order
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.event_store.audit_trail import MAX_REASON
from audit.exports.pdf import PDF
from audit.models import OPEN_ORDERS, Finding, OrderKind, OrderState, PaymentOrder
from audit.persons.directory import Directory, players
from audit.presentation import date_time, finding_title, local, money, money_in_prose, reference

_WORKERS = (Capability.WORK_CASES, Capability.APPROVE_CASES)


class _Day(forms.DateInput):
    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d", attrs={"type": "date"})


class PaidForm(forms.Form):
    """What the cage says of a payment."""

    receipt = forms.CharField(label=gettext_lazy("Number of the receipt"), max_length=100)
    cage = forms.CharField(label=gettext_lazy("Cage"), max_length=100)
    paid_on = forms.DateField(label=gettext_lazy("Paid on"), widget=_Day())


class ReasonForm(forms.Form):
    """The reason of a waiver, of a cancellation, or by which a person is found."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=MAX_REASON, widget=forms.Textarea(attrs={"rows": 3})
    )


class HandedOverForm(PaidForm):
    """What the cash desk says of a sum that nobody came for."""

    paid_on = forms.DateField(label=gettext_lazy("Handed over on"), widget=_Day())


class NotFoundForm(ReasonForm):
    """Since when, and why, a person is not found."""

    not_found_on = forms.DateField(label=gettext_lazy("Not found on"), widget=_Day())
    field_order = ("not_found_on", "reason")


@admin.register(PaymentOrder)
class PaymentOrderAdmin(RecordAdmin[PaymentOrder]):
    list_display = ("number", "casino", "sum", "for_player", "standing", "since")
    list_display_links = ("number",)
    list_select_related = ("casino", "ordered_by")
    list_filter = ("state", "kind", "casino")
    ordering = ("-ordered_at", "-pk")
    when_empty = gettext_lazy("No payment has been ordered yet. The page of a finding has its claims.")

    @admin.display(description=gettext_lazy("number"), ordering="reference")
    def number(self, order: PaymentOrder) -> str:
        return f"{order.reference} · {order.get_kind_display()}"

    @admin.display(description=gettext_lazy("amount"), ordering="amount")
    def sum(self, order: PaymentOrder) -> str:
        return money(order.amount, order.currency)

    @admin.display(description=gettext_lazy("player"), ordering="player")
    def for_player(self, order: PaymentOrder) -> str:
        return order.player or _("player not recorded")

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def standing(self, order: PaymentOrder) -> str:
        return order.get_state_display()

    @admin.display(description=gettext_lazy("ordered"), ordering="ordered_at")
    def since(self, order: PaymentOrder) -> str:
        return date_time(order.ordered_at, order.casino)

    @at("new/<int:pk>/")
    @demands(Capability.WORK_CASES)
    def new_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what an order, a waiver or a kept sum of a claim at a finding's incident would be; by POST, make it.

        ``kind``, ``by`` and ``player`` name the claim; ``amount`` is what the officer has read that it is.
        """
        rows = scope_of(request, Capability.WORK_CASES).rows(Finding.objects.exclude(case=None).filter(pk=pk))
        finding = rows.select_related("casino", "case__casino").first()
        named = request.POST if request.method == "POST" else request.GET
        kind, by, player = (named.get(name, "").replace("\0", "") for name in ("kind", "by", "player"))
        if finding is None or finding.case is None or kind not in OrderKind.values:
            raise Http404
        owing = payment_orders.owing_of(finding.case.pk, by, player)
        if owing is None or (kind != OrderKind.WAIVER and by != "house"):
            raise Http404
        today = local(timezone.now(), finding.casino).date()
        form = _FORMS[OrderKind(kind)](request.POST or None, initial={"not_found_on": today})
        if request.method == "POST" and form.is_valid():
            try:
                if named.get("amount") != str(owing.amount):
                    raise OrderRefused(payment_orders.CHANGED)
                order = payment_orders.begin(officer_of(request), finding.case, owing, kind, **form.cleaned_data)
            except OrderRefused as refused:
                messages.error(request, str(refused))
                return redirect("admin:audit_finding_change", pk)
            messages.success(
                request, _BEGUN[OrderKind(order.kind), OrderState(order.state)] % {"order": order.reference}
            )
            return redirect("admin:audit_paymentorder_change", order.pk)
        who = payee(player, self._directory(request, finding.casino_id, player))
        return self.page(
            request,
            "admin/audit/payment_orders/new.html",
            title=_TITLES[OrderKind(kind)],
            finding=finding,
            reference=reference(finding),
            owing=owing,
            amount=money(owing.amount, owing.currency),
            words=claim_words(by, who),
            who=who,
            kind=kind,
            rules=[finding_title(each.rule) for each in payment_orders.findings_of(finding.case.pk, by, player)],
            days=finding.casino.unclaimed_days,
            takes_two=payment_orders.takes_two(owing, finding.case, kind),
            is_open=owing.open,
            form=form,
        )

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show an order: what it is for, what became of it, and the next step of whoever may take it."""
        return self._order_page(request, self.row_or_404(request, object_id))

    def _order_page(
        self, request: HttpRequest, order: PaymentOrder, paid: PaidForm | None = None, reason: ReasonForm | None = None
    ) -> HttpResponse:
        record_entry(request, "payment.viewed", casino_id=order.casino_id, order=order.reference)
        officer, is_open = officer_of(request), order.state in OPEN_ORDERS
        may_end = payment_orders.may_end(officer, order.casino_id)
        who = payee(
            order.player, directory_for(request, order.casino_id, players([order.player] if order.player else []))
        )
        owing = payment_orders.owing_of(order.case_id, order.debtor, order.player)
        today = local(timezone.now(), order.casino).date()
        where = [str(order.casino)] if is_of_several(request) else []  # each casino counts its own orders
        is_kept, asks = order.state == OrderState.KEPT, PaidForm if order.state == OrderState.ORDERED else None
        if payment_orders.is_term_over(order):
            asks = HandedOverForm
        return self.page(
            request,
            "admin/audit/payment_orders/order.html",
            title=" · ".join((f"{order.get_kind_display().capitalize()} {order.reference}", *where)),
            order=order,
            who=who,
            words=claim_words(order.debtor, who),
            amount=money(order.amount, order.currency),
            standing=state_words(order),
            findings=[
                {"finding": each, "reference": reference(each), "title": finding_title(each.rule)}
                for each in payment_orders.findings_of(order.case_id, order.debtor, order.player)
            ],
            has_changed=is_open and (owing is None or owing.amount != order.amount),
            owed_now=money_in_prose(owing.amount if owing is not None else 0, order.currency),
            may_approve=payment_orders.may_approve(officer, order),
            is_own=order.state == OrderState.WAITING and order.ordered_by_id == officer.pk,
            paid=(paid or asks(initial={"paid_on": today})) if may_end and asks is not None else None,
            cancelling=(reason or ReasonForm(auto_id="cancel_%s")) if may_end and (is_open or is_kept) else None,
        )

    def _directory(self, request: HttpRequest, casino_id: int, player: str) -> Directory:
        """Return the name of a player, where the officer may see it; "" is nobody."""
        return directory_for(request, casino_id, players([player] if player else []))

    @at("<int:pk>/decide/")
    @demands(*_WORKERS)
    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Approve an order, record its payment or its handing over, or cancel it, as ``step`` says, by POST."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        order, actor, step = self.row_or_404(request, pk, *_WORKERS), officer_of(request), request.POST.get("step")
        if step == "approve" and (page := ask_for_proof(request, is_signature=True)) is not None:
            return page
        form: PaidForm | ReasonForm | None = None
        try:
            match step:
                case "approve":
                    order = payment_orders.approve(actor, order)
                case "paid" | "handed_over":
                    form = PaidForm(request.POST) if step == "paid" else HandedOverForm(request.POST)
                    if not form.is_valid():
                        return self._order_page(request, order, paid=form)
                    end = payment_orders.record_paid if step == "paid" else payment_orders.hand_over
                    order = end(actor, order, **form.cleaned_data)
                case "cancel":
                    form = ReasonForm(request.POST, auto_id="cancel_%s")
                    if not form.is_valid():
                        return self._order_page(request, order, reason=form)
                    order = payment_orders.cancel(actor, order, reason=form.cleaned_data["reason"])
                case _:
                    raise Http404
        except OrderRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:audit_paymentorder_change", pk))
        else:
            messages.success(request, str(_DONE[OrderState(order.state)]))
        return redirect("admin:audit_paymentorder_change", pk)

    @at("<int:pk>/file/")
    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the paper of an order for the cage: of one that is ordered or paid. Each copy has its number."""
        order = self.row_or_404(request, pk)
        if order.kind != OrderKind.PAYMENT or order.state not in (OrderState.ORDERED, OrderState.PAID):
            raise Http404
        record_entry(request, "payment.exported", casino_id=order.casino_id, order=order.reference)
        directory = self._directory(request, order.casino_id, order.player)
        return file_response(f"{order.casino.code}-{order.reference}.pdf", PDF, payment_order(order, directory))


_TITLES = {
    OrderKind.PAYMENT: gettext_lazy("Order a payment"),
    OrderKind.WAIVER: gettext_lazy("Waive a claim"),
    OrderKind.NOT_FOUND: gettext_lazy("Person not found"),
}

_FORMS: dict[OrderKind, type[forms.Form]] = {
    OrderKind.PAYMENT: forms.Form,
    OrderKind.WAIVER: ReasonForm,
    OrderKind.NOT_FOUND: NotFoundForm,
}

_KEPT = gettext_lazy("The sum is kept, and is not owed until the person is found.")

_BEGUN = {
    (OrderKind.PAYMENT, OrderState.ORDERED): gettext_lazy("%(order)s is ordered. Give its paper to the cage."),
    (OrderKind.PAYMENT, OrderState.WAITING): gettext_lazy("%(order)s waits for a second officer."),
    (OrderKind.WAIVER, OrderState.WAITING): gettext_lazy("%(order)s waits for a second officer."),
    (OrderKind.NOT_FOUND, OrderState.WAITING): gettext_lazy("%(order)s waits for a second officer."),
    (OrderKind.NOT_FOUND, OrderState.KEPT): _KEPT,
}

_DONE = {
    OrderState.ORDERED: gettext_lazy("Approved. Give its paper to the cage."),
    OrderState.WAIVED: gettext_lazy("Waived. Nothing is owed any more."),
    OrderState.PAID: gettext_lazy("The payment is recorded."),
    OrderState.KEPT: _KEPT,
    OrderState.HANDED_OVER: gettext_lazy("It is recorded that the cash desk has the sum."),
    OrderState.CANCELLED: gettext_lazy("Cancelled. The claim is due again."),
}
"""What is said after an act, by the state that the order then has."""
