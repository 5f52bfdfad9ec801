"""What is to be done about a finding, step by step, each with its button where the officer may do it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from audit.casework.debts import debt_of_incident
from audit.desk.findings.neighbours import list_kept
from audit.desk.payment_orders.claims import ShownClaim
from audit.models import Finding, VideoRequest
from audit.models.cases import State
from audit.presentation import date_time, officer_name


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. ``is_first``: the first that is not done."""

    title: str
    detail: str = ""
    button: SafeString | None = None
    is_done: bool = False
    is_first: bool = False


def steps_of(
    finding: Finding,
    remedies: Sequence[str],
    croupier: str,
    casework: Mapping[str, Any] | None,
    claims: Sequence[ShownClaim],
    request: HttpRequest,
) -> Sequence[Step]:
    """Return the steps of a finding.

    ``remedies`` are the catalogue’s, of the finding and of those at which the claim of its incident stands;
    ``croupier`` is whoever is to be heard as the page names them, "" for nobody, and ``casework`` that of its case,
    None without one. ``claims`` are those of its incident.
    """
    *others, last = dict.fromkeys(remedies)
    steps = [Step(each, is_done=finding.put_right_by is not None) for each in others]
    steps.append(_remedy(finding, last, casework, claims))
    if casework is not None:
        steps += _video(finding, casework, request)
        if croupier:
            steps.append(_hearing(croupier, casework))
        steps.append(_closing(casework))
    return _with_first(steps)


def _remedy(finding: Finding, remedy: str, casework: Mapping[str, Any] | None, claims: Sequence[ShownClaim]) -> Step:
    """Return what puts the finding right, with the open orders, and the way to the claim where the house owes money."""
    debt = debt_of_incident(finding)
    is_done = not debt.claims and (finding.put_right_by is not None or debt.is_cleared)
    if casework is None or not debt.payable:
        return Step(remedy, is_done=is_done)
    link = format_html('<a class="btn sm" href="#claims">{}</a>', gettext("To the claim"))
    begun = [f"{shown.order.reference}: {shown.words}" for claim in claims for shown in claim.orders if shown.next]
    return Step(remedy, "; ".join(begun) or gettext("The cage pays by an order with a number."), link)


def _button(finding: Finding, name: str, title: str, request: HttpRequest) -> SafeString:
    """Return the button of a transition that needs nothing filled in."""
    address = reverse("admin:audit_finding_case", args=[finding.pk, name])
    return post_button(f"{address}{list_kept(request)}", title, request)


def post_button(address: str, title: str, request: HttpRequest) -> SafeString:
    """Return the button of a step that is done by POST with nothing filled in."""
    return format_html(
        '<form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
        '<button class="btn sm" type="submit">{}</button></form>',
        address,
        get_token(request),
        title,
    )


def _video(finding: Finding, casework: Mapping[str, Any], request: HttpRequest) -> list[Step]:
    """Return the step that asks for the video; none where no camera saw it, or nobody asked before the closing."""
    video = casework["asks_video"]
    title = gettext("Ask for the video")
    if video["requests"]:
        last = video["requests"][-1]
        words = {"at": date_time(last.requested_at, finding.casino), "officer": officer_name(last.requested_by)}
        detail = gettext("Video asked for at %(at)s, by %(officer)s.") % words
        return [Step(title, f"{detail} {_mailing(last, finding)}".rstrip(), is_done=last.given_up_at is None)]
    if not video["is_of_a_table"] or casework["case"].state == State.CLOSED:
        return []
    if video["lacking"]:
        return [Step(title, str(video["lacking"]))]
    detail = gettext("A message goes to the video room. It cannot be taken back.")
    if not casework["may"]["ask_video"]:
        return [Step(title, detail)]
    return [Step(title, detail, _button(finding, "ask_video", title, request))]


def _mailing(message: VideoRequest, finding: Finding) -> str:
    """Return how the mailing of a request goes; "" where a mail server took it."""
    if message.sent_at is not None:
        return ""
    if message.given_up_at is not None:
        at = date_time(message.given_up_at, finding.casino)
        return gettext(
            "No mail server accepted the message: it was given up at %(at)s. Ask the video room yourself."
        ) % {"at": at}
    if message.failing_since is not None:
        since = date_time(message.failing_since, finding.casino)
        return gettext("No mail server has accepted the message since %(since)s; it will be tried again.") % {
            "since": since
        }
    return gettext("The message waits for the mail server.")


def _hearing(croupier: str, casework: Mapping[str, Any]) -> Step:
    is_heard = any(line["action"].type == "case.answered" for line in casework["history"])
    title = gettext("Ask the croupier, %(croupier)s") % {"croupier": croupier}
    link = format_html('<a class="btn sm" href="#answer">{}</a>', gettext("Add the answer")) if not is_heard else None
    is_open = casework["may"]["answer"]
    return Step(title, gettext("What the croupier says is kept in the case."), link if is_open else None, is_heard)


def _closing(casework: Mapping[str, Any]) -> Step:
    case = casework["case"]
    title = gettext("Propose closing, a second officer approves")
    detail = gettext("Breach confirmed, explained or mistaken, with a reason.")
    if case.state == State.CLOSED:
        return Step(title, gettext("Closed: %(outcome)s") % {"outcome": case.get_outcome_display()}, is_done=True)
    if case.state == State.SECOND:
        return Step(title, gettext("Proposed: %(outcome)s") % {"outcome": case.get_outcome_display()})
    return Step(title, detail)


def _with_first(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with the first that is not done marked."""
    first = next((step for step in steps if not step.is_done), None)
    return [replace(step, is_first=step is first) for step in steps]
