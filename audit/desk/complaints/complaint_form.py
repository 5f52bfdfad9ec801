"""The forms of complaints: what an officer enters, and what they answer.

The page first points out a player whom the directory does not know, or an answer that an event does not pay to the
cent, and takes it once it is confirmed: the field for that stands in the form from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.scope import Scope
from audit.casework import complaints
from audit.casework.actions import MAX_REASON
from audit.desk.tables.moment import Moment, moments_of
from audit.models import Complaint, GamingTable, LoggedStream
from audit.models.complaints import Answer, Came
from audit.persons.choosing import choice_of
from audit.presentation import labelled, money_in_prose, person, zone
from settlement.catalogue.sentences import exponent

MAX_SEQ = 2**53


class EntryForm(forms.Form):
    """A complaint to enter, at a table of a casino at which the officer works on cases."""

    table = forms.ModelChoiceField(GamingTable.objects.none(), label=gettext_lazy("Table"), empty_label=None)
    day = forms.DateField(
        label=gettext_lazy("Gaming day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    clock = forms.TimeField(
        label=gettext_lazy("Casino clock"), widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )
    came = forms.ChoiceField(label=gettext_lazy("How it came in"), choices=Came)
    player = forms.CharField(
        label=gettext_lazy("Player, if known"),
        help_text=gettext_lazy("The id, or a part of the name as the directory of the casino has it."),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    offered = forms.ChoiceField(
        label=gettext_lazy("Players of that name"), required=False, widget=forms.HiddenInput, choices=()
    )
    is_confirmed = forms.BooleanField(
        label=gettext_lazy("The directory does not know this id. Enter it all the same."),
        required=False,
        widget=forms.HiddenInput,
    )
    wager = forms.CharField(label=gettext_lazy("Wager, if known"), max_length=200, required=False)
    words = forms.CharField(
        label=gettext_lazy("What the player says"),
        help_text=gettext_lazy("The officers’ trail keeps these words for good: write ids, not names."),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, scope: Scope, *args: Any, sees_names: Callable[[int], bool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sees_names = sees_names
        field = self.fields["table"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = scope.rows(GamingTable.objects.select_related("casino").order_by("casino__code", "code"))
        field.label_from_instance = _with_zone  # type: ignore[assignment,method-assign]
        self.fields["offered"].valid_value = lambda value: True  # type: ignore[attr-defined]  # compared in clean

    def clean(self) -> dict[str, Any]:
        """Replace what was typed for the player by an id, or ask: which of several, or whether one is meant that the
        directory does not know."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        typed, table = cleaned.get("player", "").strip(), cleaned.get("table")
        if not typed or table is None:
            return cleaned
        choice = choice_of(table.casino_id, typed, by_name=self.sees_names(table.casino_id))
        if cleaned.get("offered") in {each.code for each in choice.offered}:
            cleaned["player"] = cleaned["offered"]
            return cleaned
        cleaned["player"] = choice.code
        if choice.is_known or cleaned.get("is_confirmed"):
            return cleaned
        if choice.offered:
            self._show("offered", forms.RadioSelect)
            offered = [(each.code, person(each.code, each.name)) for each in choice.offered]
            self.fields["offered"].choices = offered  # type: ignore[attr-defined]
            self.add_error("player", _("Choose the player, or type the id."))
        else:
            self._show("is_confirmed", forms.CheckboxInput)
            self.add_error("player", _("The directory of this casino does not know this id."))
        return cleaned

    def moment(self) -> Moment | None:
        """Return the moment that a valid form names; None if the table has no session on that day."""
        values = self.cleaned_data
        streams = LoggedStream.objects.all()
        return next(moments_of([values["table"]], values["clock"], streams=streams, day=values["day"]), None)

    def _show(self, name: str, widget: type[forms.Widget]) -> None:
        field = self.fields[name]
        field.widget = widget()


class AnswerForm(forms.Form):
    """The answer to a complaint. The amount has no more decimals than the currency of the table."""

    outcome = forms.ChoiceField(label=gettext_lazy("Outcome"), choices=Answer)
    amount = forms.DecimalField(label=gettext_lazy("Amount, if upheld"), required=False, min_value=0, max_digits=15)
    paid = forms.IntegerField(
        label=gettext_lazy("Number of the event that paid it, if any"),
        required=False,
        min_value=1,
        max_value=MAX_SEQ,
    )
    is_confirmed = forms.BooleanField(
        label=gettext_lazy("The event does not pay this amount. Answer all the same."),
        required=False,
        widget=forms.HiddenInput,
    )
    words = forms.CharField(
        label=gettext_lazy("Answer to the player"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, complaint: Complaint, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.complaint = complaint
        self.digits = exponent(complaint.stream.currency)
        decimals = forms.DecimalField(
            label=self.fields["amount"].label, required=False, min_value=0, max_digits=15, decimal_places=self.digits
        )
        self.fields["amount"] = decimals

    def minor(self) -> int | None:
        """Return the amount of a valid form in minor units."""
        amount = self.cleaned_data["amount"]
        return None if amount is None else int(amount.scaleb(self.digits))

    def clean(self) -> dict[str, Any]:
        """Compare the amount with what the event paid, and ask where they differ."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        amount, paid = cleaned.get("amount"), cleaned.get("paid")
        if cleaned.get("outcome") != Answer.FOUNDED or amount is None or paid is None:
            return cleaned
        payment = complaints.payment_of(self.complaint, paid)
        if payment is None or cleaned.get("is_confirmed"):
            return cleaned  # the use case refuses an event that pays nobody
        if payment.amount != self.minor() or not payment.is_approved or _is_of_another(payment, self.complaint):
            self.fields["is_confirmed"].widget = forms.CheckboxInput()
            self.add_error("paid", comparison(self.complaint, self.minor(), paid))
        return cleaned


def comparison(complaint: Complaint, amount: int | None, paid: int | None) -> str:
    """Return how what an answer says compares with the event that pays it, in sentences; "" if it is about no money."""
    if not amount and paid is None:
        return ""
    if paid is None:
        return _("No paying event is named.")
    payment = complaints.payment_of(complaint, paid)
    if payment is None:
        return ""
    currency = complaint.stream.currency
    difference = payment.amount - (amount or 0)
    texts = {
        "seq": paid,
        "paid": money_in_prose(payment.amount, currency),
        "difference": money_in_prose(abs(difference), currency),
    }
    if difference == 0:
        sentences = [_("Event %(seq)s pays exactly this.") % texts]
    elif difference < 0:
        sentences = [_("Event %(seq)s pays %(paid)s: %(difference)s less than the answer.") % texts]
    else:
        sentences = [_("Event %(seq)s pays %(paid)s: %(difference)s more than the answer.") % texts]
    if not payment.is_approved:
        sentences.append(_("Nobody approved it, so it does not count as a payment."))
    if _is_of_another(payment, complaint):
        sentences.append(_("It names another player: %(player)s.") % {"player": payment.player})
    return " ".join(sentences)


def _is_of_another(payment: complaints.Payment, complaint: Complaint) -> bool:
    return bool(payment.player and complaint.player and payment.player != complaint.player)


def _with_zone(table: GamingTable) -> str:
    return f"{labelled(str(table.casino), str(table))} ({zone(timezone.now(), table.casino)})"
