"""The page on which two officers close a session whose table system is gone: what is known of it, and the two acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.casework import session_closing
from audit.event_store import read
from audit.event_store.audit_trail import MAX_REASON
from audit.models import LoggedStream, Officer, RequestState, SessionClosing
from audit.presentation import money_in_prose
from settlement.catalogue.sentences import exponent

PROPOSED = gettext_lazy("Proposed. Another officer must decide.")

DONE: Mapping[str, Promise] = {
    "approve": gettext_lazy("Closed. The session is read to its end, and its night can be settled."),
    "decline": gettext_lazy("Declined."),
    "withdraw": gettext_lazy("Withdrawn."),
}
"""The message of the page after each decision."""


class ClosingForm(forms.Form):
    """A closing to propose: the float as counted, with no more decimals than the currency has, and the reason."""

    counted = forms.DecimalField()
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, stream: LoggedStream, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stream = stream
        self.digits = exponent(stream.currency)
        self.fields["counted"] = forms.DecimalField(
            label=_("Float as counted, in %(currency)s") % {"currency": stream.currency},
            min_value=0,
            max_digits=15,
            decimal_places=self.digits,
        )

    def propose(self, actor: Officer) -> SessionClosing:
        """Propose what a valid form says. Raise ``ClosingRefused``."""
        minor = int(self.cleaned_data["counted"].scaleb(self.digits))
        return session_closing.propose(actor, self.stream, float_minor=minor, reason=self.cleaned_data["reason"])


def decide(actor: Officer, closing: SessionClosing, decision: str, reason: str) -> None:
    """Approve, decline or withdraw a proposal; ``decision`` is a key of ``DONE``. Raise ``ClosingRefused``."""
    match decision:
        case "approve":
            session_closing.approve(actor, closing, reason=reason)
        case "decline":
            session_closing.decline(actor, closing, reason=reason)
        case "withdraw":
            session_closing.withdraw(actor, closing, reason=reason)
        case _:
            raise AssertionError(decision)


def closing_context(actor: Officer, stream: LoggedStream, form: ClosingForm | None) -> dict[str, Any]:
    """Return the context of the page; ``form`` is one that was sent and is not valid."""
    closings = SessionClosing.objects.filter(stream=stream.pk).select_related("proposed_by", "decided_by", "casino")
    history = list(closings.order_by("pk"))
    waits = next((each for each in history if each.state == RequestState.WAITING), None)
    is_closed = read.last_of_type_in([stream.pk], "session.closed") != {}
    may_propose = session_closing.may_propose(actor, stream.casino_id)
    return {
        "stream": stream,
        "last_received": read.last_received([stream.pk]),
        "last_seq": read.next_seq_of(stream.pk) - 1,
        "is_closed": is_closed,
        "history": [(each, money_in_prose(each.float_minor, stream.currency)) for each in history],
        "waits": waits,
        "has_moved": waits is not None and read.next_seq_of(stream.pk) != waits.next_seq,
        "is_own": waits is not None and waits.proposed_by_id == actor.pk,
        "may_decide": waits is not None and session_closing.may_decide(actor, waits),
        "form": (form or ClosingForm(stream)) if may_propose and waits is None and not is_closed else None,
    }
