"""Mail about alerts: to a casino's subscribers, several in one message, when one was opened and when it has ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.core.mail import EmailMessage
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.escalation import AT_ONCE, is_due, receivable_of
from audit.event_store import audit_trail
from audit.models import AlertKind, AlertNotice, Casino, NightSubscriber, Webhook
from audit.models.officers import is_active_account
from audit.notifications import delivery
from audit.notifications.delivery import GIVEN_UP_AFTER
from audit.presentation import date_time, labelled


def officers_to_mail(now: datetime) -> list[tuple[int, int]]:
    """Return the officers to whom something is to be mailed now, each with the casino of it."""
    both = ("officer", "alert__casino")
    return list(_due(now).order_by(*both).values_list(*both).distinct()[:AT_ONCE])


def waiting_since(now: datetime, casinos: Collection[int] | None) -> list[datetime]:
    """Return since when each notice waits that is to be mailed now, to an officer who may receive it."""
    due = _due(now).select_related("alert", "officer").order_by("pk")
    rows = due if casinos is None else due.filter(alert__casino__in=casinos)
    return [
        each.next_try_at or (each.alert.ended_at if each.is_of_end else None) or each.alert.opened_at
        for each in receivable_of(rows, lambda each: each.alert.casino_id, Capability.RECEIVE_REPORTS)
    ]


def without_receiver(*, has_mail_server: bool) -> QuerySet[Casino]:
    """Return the casinos that want alerts of their tables, which neither an officer with mail nor a webhook receives.

    The broker's exchange does not count: without a queue it drops them. Without a mail server no mail leaves.
    """
    wanting = Casino.objects.filter(is_sandbox=False, silent_after_min__isnull=False).order_by("code")
    called = Webhook.objects.filter(casino=OuterRef("pk"), is_active=True, receives_alerts=True)
    mailed = NightSubscriber.objects.filter(is_active_account("officer__"), casino=OuterRef("pk"), receives_alerts=True)
    unheard = wanting.exclude(Exists(called))
    return unheard.exclude(Exists(mailed.exclude(officer__email=""))) if has_mail_server else unheard


def check_receivers(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of each casino whose alerts would reach nobody. Whether there is a mail server a command does not know."""
    if "default" not in (databases or ()):
        return []
    hint = "At the desk, subscribe an officer with a mail address to its alerts, or have a webhook receive them."
    return [
        Warning(f"The alerts of {each.code} would reach nobody.", hint=hint, id="audit.W009")
        for each in without_receiver(has_mail_server=True)
    ]


def send(officer_id: int, casino_id: int) -> int:
    """Mail an officer the alerts of a casino of which they were not mailed. Return how many the message lists.

    Left out are those of officers who have no address, subscription or role at the casino any more, and those of
    before the last days.
    """

    def given_up(notice: AlertNotice) -> None:
        data = {"alert": notice.alert_id, "to": notice.officer.get_username()}
        audit_trail.record("system", "alert.not_mailed", casino_id=casino_id, data=data)

    def write(found: Sequence[AlertNotice]) -> EmailMessage:
        return message(found, number=_due(timezone.now()).filter(officer=officer_id, alert__casino=casino_id).count())

    return delivery.send(lambda now: _to_mail(officer_id, casino_id, now), write, given_up=given_up)


def _due(now: datetime) -> QuerySet[AlertNotice]:
    subscribed = NightSubscriber.objects.filter(
        casino=OuterRef("alert__casino"), officer=OuterRef("officer"), receives_alerts=True
    )
    newest = now - GIVEN_UP_AFTER
    is_new = Q(is_of_end=False, alert__opened_at__gt=newest) | Q(is_of_end=True, alert__ended_at__gt=newest)
    waiting = AlertNotice.objects.filter(is_due(now), is_new, Exists(subscribed), is_active_account("officer__"))
    return waiting.exclude(officer__email="")


def _to_mail(officer_id: int, casino_id: int, now: datetime) -> list[AlertNotice]:
    theirs = _due(now).filter(officer=officer_id, alert__casino=casino_id)
    locked = theirs.select_for_update(skip_locked=True, of=("self",)).select_related(
        "alert__casino", "alert__table", "officer"
    )
    notices = list(locked.order_by("pk")[:AT_ONCE])
    if notices and not Scope.of(notices[0].officer, Capability.RECEIVE_REPORTS).includes(casino_id):
        return []
    return notices


def message(notices: Sequence[AlertNotice], *, number: int) -> EmailMessage:
    """Return alerts of one casino as a message to their officer, in the language of their subscription.

    ``number`` is how many wait for the officer, with those that the message lists.
    """
    casino, officer = notices[0].alert.casino, notices[0].officer
    language = NightSubscriber.objects.values_list("language", flat=True).get(casino=casino, officer=officer)
    with translation.override(language):
        named = casino.name or casino.code
        if number == 1:
            subject = f"{headline(notices[0])}, {named}"
        else:
            subject = ngettext("%(number)d alert, %(casino)s", "%(number)d alerts, %(casino)s", number) % {
                "number": number,
                "casino": named,
            }
        head = filter(None, [labelled(_("Casino"), named), delivery.part_note(len(notices), number)])
        body = "\n".join([*head, "", "\n\n".join(map(_paragraph, notices)), ""])
    return EmailMessage(" ".join(subject.split()), body, to=[officer.email])


def headline(notice: AlertNotice) -> str:
    """Return what a notice is about, in a line."""
    if notice.alert.kind == AlertKind.TABLE_SILENT:
        text = _("Ended: table %(table)s was silent") if notice.is_of_end else _("Table %(table)s is silent")
    elif notice.is_of_end:
        text = _("Ended: the events of table %(table)s were late")
    else:
        text = _("The events of table %(table)s are late")
    return text % {"table": notice.alert.table.code}


def _paragraph(notice: AlertNotice) -> str:
    alert = notice.alert
    lines = [headline(notice), labelled(_("Since"), date_time(alert.since, alert.casino, with_year=True))]
    if notice.is_of_end and alert.ended_at is not None:
        lines.append(labelled(_("Ended"), date_time(alert.ended_at, alert.casino, with_year=True)))
        lines.append(labelled(_("Why"), alert.get_ended_by_display()))
    return "\n".join(lines)
