"""Webhooks: created, changed, rotated and tested here; what they did not take, and how it is sent again.

A secret is shown once, on the page that created it. An address decides where findings go: to change it takes a fresh
proof.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.audited_admin import AuditedAdmin, actor
from audit.desk.scoped_admin import RecordAdmin, at, demands, scope_of
from audit.desk.settings.webhook_states import receiver_of, state_of
from audit.desk.sign_in.proof import ask_for_proof, fresh_proof
from audit.models import Casino, DeadLetter, Webhook
from audit.models.adjudication import Severity
from audit.models.webhooks import every_severity
from audit.notifications import webhooks
from audit.notifications.webhook_http import MAX_URL, AddressRefused, target_of
from audit.presentation import date_time

REFUSED = {
    "not-https": gettext_lazy("An address that begins with https:// is needed."),
    "malformed": gettext_lazy("This is not the address of a web server."),
    "credentials": gettext_lazy("An address with a password in it is not accepted."),
}

TOO_MANY = gettext_lazy("The casino has as many active webhooks as it may have.")

LETTERS = 20
"""Dead letters on the page of a webhook; their own page has all."""


class WebhookForm(forms.Form):
    """Where to, and what. A webhook that exists keeps its casino."""

    casino = forms.ModelChoiceField(label=gettext_lazy("Casino"), queryset=Casino.objects.none(), empty_label=None)
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=200, help_text=gettext_lazy("Who receives it, such as “Duty desk”.")
    )
    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=MAX_URL,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
        help_text=gettext_lazy("It receives each finding by POST, signed. It has to be on the internet, by https."),
    )
    severities = forms.MultipleChoiceField(
        label=gettext_lazy("Severities"),
        choices=Severity.choices,
        initial=every_severity,
        widget=forms.CheckboxSelectMultiple,
    )
    receives_alerts = forms.BooleanField(
        label=gettext_lazy("Alerts"),
        required=False,
        help_text=gettext_lazy("When a table that should report is silent or behind, and when that ends."),
    )
    is_active = forms.BooleanField(
        label=gettext_lazy("Active"),
        required=False,
        initial=True,
        help_text=gettext_lazy("An inactive webhook is sent nothing; once active again, it goes on from where it was."),
    )

    def __init__(self, scope: Scope, webhook: Webhook | None, data: Any = None) -> None:
        initial = None
        if webhook is not None:
            fields = ("name", "url", "severities", "receives_alerts", "is_active")
            initial = {name: getattr(webhook, name) for name in fields}
        super().__init__(data, initial=initial)
        if webhook is not None:
            del self.fields["casino"]
            return
        del self.fields["is_active"]
        casino = self.fields["casino"]
        assert isinstance(casino, forms.ModelChoiceField)
        casino.queryset = scope.casinos()

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            target_of(url)
        except AddressRefused as error:
            raise forms.ValidationError(REFUSED[error.reason]) from None
        return url


@admin.register(Webhook)
class WebhookAdmin(AuditedAdmin[Webhook]):
    sees = changes = (Capability.KEEP_EQUIPMENT,)
    when_empty = gettext_lazy(
        "No webhook: findings are read at the desk and from the feed. A receiver that is added here is told of each."
    )
    list_display = ("name", "casino", "receiver", "state", "last_delivered", "letters")
    list_filter = ("casino",)
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        waiting = Count("dead_letters", filter=Q(dead_letters__sent_at=None))
        return super().get_queryset(request).select_related("casino").annotate(waiting=waiting)

    @admin.display(description=gettext_lazy("receiver"))
    def receiver(self, webhook: Webhook) -> str:
        return receiver_of(webhook)

    @admin.display(description=gettext_lazy("state"))
    def state(self, webhook: Webhook) -> str:
        return state_of(webhook)[0]

    @admin.display(description=gettext_lazy("last delivered"), ordering="delivered_at")
    def last_delivered(self, webhook: Webhook) -> str:
        return date_time(webhook.delivered_at, webhook.casino) if webhook.delivered_at else gettext("nothing yet")

    @admin.display(description=gettext_lazy("failed deliveries"), ordering="waiting")
    def letters(self, webhook: Webhook) -> int:
        count: int = webhook.waiting  # type: ignore[attr-defined]  # annotated
        return count

    @demands(Capability.KEEP_EQUIPMENT)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Create a webhook, and show its secret this once."""
        if (page := ask_for_proof(request)) is not None:
            return page
        form = WebhookForm(scope_of(request, *self.changes), None, request.POST or None)
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            try:
                webhook, secret = webhooks.create(actor(request), **values)
            except webhooks.TooMany:
                form.add_error(None, forms.ValidationError(TOO_MANY))
            else:
                return self._shown_once(request, webhook, secret)
        purpose = gettext(
            "It is sent every change to the casino’s findings, in order, signed with a secret. The "
            "secret is shown once."
        )
        title = gettext("Create a webhook")
        return self.page(request, "admin/audit/parts/create.html", title=title, purpose=purpose, form=form)

    @demands(Capability.KEEP_EQUIPMENT)
    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a webhook: where it sends, how that goes, and what it did not take."""
        webhook = self.row_or_404(request, object_id, *self.changes)
        if (page := ask_for_proof(request)) is not None:
            return page
        form = WebhookForm(scope_of(request, *self.changes), webhook, request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                webhooks.change(actor(request), webhook, **form.cleaned_data)
            except webhooks.TooMany:
                form.add_error(None, forms.ValidationError(TOO_MANY))
            else:
                messages.success(request, gettext("The webhook has been changed."))
                return redirect("admin:audit_webhook_change", webhook.pk)
        text, tag = state_of(webhook)
        return self.page(
            request,
            "admin/audit/webhooks/page.html",
            title=webhook.name,
            webhook=webhook,
            form=form,
            state=text,
            tag=tag,
            overlap=webhook.secrets.filter(expires_at__gt=timezone.now()).values_list("expires_at", flat=True).first(),
            letters=webhook.dead_letters.select_related("change__finding").filter(sent_at=None)[:LETTERS],
        )

    @at("<int:pk>/rotate/")
    @demands(Capability.KEEP_EQUIPMENT)
    @fresh_proof
    def rotate_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Give a webhook another secret by POST, and show it this once."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        webhook = self.row_or_404(request, pk, *self.changes)
        secret = webhooks.rotate(actor(request), webhook)
        return self._shown_once(request, webhook, secret, is_rotated=True)

    @at("<int:pk>/test/")
    @demands(Capability.KEEP_EQUIPMENT)
    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Have a test message sent by POST. A worker sends it: a web server calls nobody."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        webhook = self.row_or_404(request, pk, *self.changes)
        webhooks.request_test(actor(request), webhook)
        messages.success(request, gettext("A test message is on its way. Reload the page to see what came of it."))
        return redirect("admin:audit_webhook_change", webhook.pk)

    def _shown_once(self, request: HttpRequest, webhook: Webhook, secret: str, **context: Any) -> HttpResponse:
        response = self.page(
            request, "admin/audit/webhooks/once.html", title=webhook.name, webhook=webhook, secret=secret, **context
        )
        response["Cache-Control"] = "no-store"
        return response


@admin.register(DeadLetter)
class DeadLetterAdmin(RecordAdmin[DeadLetter]):
    """What a webhook did not take within a day. It is kept, and sent again when an administrator wants."""

    sees = (Capability.KEEP_EQUIPMENT,)
    casino = "webhook__casino"
    when_empty = gettext_lazy(
        "No failed delivery. A message that a webhook refuses for a day appears here, and can be sent again."
    )
    list_display = ("finding", "webhook", "at_casino", "given_up", "error", "state")
    list_display_links = None
    list_select_related = ("webhook__casino", "change__finding")
    actions = ("send_again",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=gettext_lazy("finding"))
    def finding(self, letter: DeadLetter) -> str:
        return f"{letter.change.finding} · {letter.change.get_kind_display()}"

    @admin.display(description=gettext_lazy("casino"))
    def at_casino(self, letter: DeadLetter) -> str:
        return str(letter.webhook.casino)

    @admin.display(description=gettext_lazy("given up"), ordering="given_up_at")
    def given_up(self, letter: DeadLetter) -> str:
        return date_time(letter.given_up_at, letter.webhook.casino)

    @admin.display(description=gettext_lazy("state"))
    def state(self, letter: DeadLetter) -> str:
        if letter.sent_at is not None:
            return gettext("sent %(at)s") % {"at": date_time(letter.sent_at, letter.webhook.casino)}
        return gettext("being sent again") if letter.again_at is not None else gettext("not delivered")

    @admin.action(description=gettext_lazy("Send the selected again"), permissions=["view"])
    def send_again(self, request: HttpRequest, chosen: QuerySet[DeadLetter]) -> HttpResponse:
        count = 0
        letters = list(chosen.select_related("webhook"))
        for casino_id in sorted({letter.webhook.casino_id for letter in letters}):
            of_casino = [letter for letter in letters if letter.webhook.casino_id == casino_id]
            count += webhooks.send_again(actor(request), casino_id, of_casino)
        text = ngettext(
            "%(count)d failed delivery is being sent again.", "%(count)d failed deliveries are being sent again.", count
        )
        self.message_user(request, text % {"count": count})
        return redirect(reverse("admin:audit_deadletter_changelist"))
