"""The forms of watch and exclusion lists."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from audit.event_store.audit_trail import MAX_REASON
from audit.models import ListKind, SightingOutcome


def _reason() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Reason, without the name: the trail keeps it for good"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ReasonForm(forms.Form):
    """The reason of a step."""

    reason = _reason()


class ProposalForm(forms.Form):
    """On which list a player is put, through which gaming day, and why."""

    kind = forms.ChoiceField(label=gettext_lazy("List"), choices=[("", "—"), *ListKind.choices])
    last_day = forms.DateField(
        label=gettext_lazy("Last day, empty for no end"),
        required=False,
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    reason = _reason()


class DismissalForm(forms.Form):
    """Why a sighting is dismissed."""

    outcome = forms.ChoiceField(
        label=gettext_lazy("Outcome"), choices=[("", "—"), *((each.value, each.label) for each in SightingOutcome)]
    )
    reason = forms.CharField(
        label=gettext_lazy("Note, without the name: the trail keeps it for good"),
        max_length=MAX_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
