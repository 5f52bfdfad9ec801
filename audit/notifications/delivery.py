"""Sending a message once: what a mail server refuses is tried again after growing pauses, and given up after days.

    due ──send──► sent                     pauses: 1, 2, 4 … minutes, at most 4 hours
     ▲      └──► failed ──next_try_at──┐    given up: 3 days after the first failure
     └─────────────────────────────────┘

A refusal for good (5xx) is paused alike: an address may come to be, and a server that is set up wrong says 550 as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import structlog
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone
from django.utils.translation import gettext

from audit.event_store import audit_trail
from audit.models import NightReport, Officer
from audit.models.case_messages import Delivery
from audit.presentation import day

FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=4)
GIVEN_UP_AFTER = timedelta(days=3)
"""How long a message is tried, from its first failure."""

CLAIM = timedelta(seconds=60)
"""How long a message is left to the worker that claimed it; then another one may send it."""

MAX_ERROR = 300

COLUMNS = ["failures", "failing_since", "next_try_at", "given_up_at", "error"]

_Delivery = TypeVar("_Delivery", bound=Delivery)

log = structlog.get_logger(__name__)


class NotTaken(Exception):
    """No mail server took the message. Raised within the transaction that says it was sent."""


def send(
    find: Callable[[datetime], Sequence[_Delivery]],
    write: Callable[[Sequence[_Delivery]], EmailMessage | None],
    *,
    given_up: Callable[[_Delivery], None],
    sent: Callable[[_Delivery], None] = lambda each: None,
) -> int:
    """Mail what ``find`` locks of what is due now, as the one message that ``write`` makes of it. Return how many.

    ``sent`` and ``given_up`` record what became of each, in the transaction that says so of it. Nothing is mailed where
    nothing is found, or where ``write`` returns None.
    """
    now = timezone.now()
    try:
        with transaction.atomic():
            found = find(now)
            message = write(found) if found else None
            if message is None:
                return 0
            for each in found:
                each.sent_at = now
                each.save(update_fields=["sent_at"])
                sent(each)
            hand_over(message)
    except NotTaken as error:
        with transaction.atomic():
            for each in note_failure(find(now), error, now):
                given_up(each)
        return 0
    return len(found)


def send_night(
    report: NightReport,
    officer: Officer,
    entry: str,
    claim: Callable[[], tuple[Model, bool]],
    message: Callable[[], EmailMessage],
) -> bool:
    """Mail an officer a message about a night, with an entry of the audit trail. Return False if that was done.

    ``claim`` gets or creates the row that says so. If the mail fails, all is rolled back, and the next sweep tries.
    """
    with transaction.atomic():
        _row, is_new = claim()
        if is_new:  # else another worker mails it
            data = {"report": report.pk, "digest": report.digest, "to": officer.get_username()}
            audit_trail.record("system", entry, casino_id=report.casino_id, data=data)
            message().send()
    return is_new


def night_facts(report: NightReport) -> dict[str, str]:
    """Return what the subject of a mail says of a night, in the active language."""
    return {
        "day": day(report.gaming_day, with_weekday=True, with_year=True),
        "casino": report.casino.name or report.casino.code,
        "currency": report.currency,
    }


def part_note(listed: int, number: int) -> str:
    """Return that a message lists a part of what waits for its receiver; "" if it lists all."""
    if listed >= number:
        return ""
    says = gettext("This message has %(listed)d of %(number)d. The rest follows in another message.")
    return says % {"listed": listed, "number": number}


def hand_over(message: EmailMessage) -> None:
    """Send a message. Raise ``NotTaken`` with what the server said."""
    try:
        message.send()
    except Exception as error:  # whatever the mail backend raises: of the network, the server or an address
        raise NotTaken(f"{type(error).__name__}: {error}"[:MAX_ERROR].replace("\0", "")) from error


def claim(message: Delivery) -> bool:
    """Claim a message, to send it outside of a transaction. Return False if it waits, or another worker has it."""
    now = timezone.now()
    is_free = Q(next_try_at=None) | Q(next_try_at__lte=now)
    mine = type(message)._default_manager.filter(is_free, pk=message.pk, sent_at=None, given_up_at=None)
    return bool(mine.update(next_try_at=now + CLAIM))


def note_failure(deliveries: Sequence[_Delivery], error: NotTaken, now: datetime) -> list[_Delivery]:
    """Keep that some deliveries failed, and when they are tried again. Return those that are given up by it."""
    given_up = []
    for each in deliveries:
        each.failures += 1
        each.failing_since = each.failing_since or now
        each.error = str(error)
        if now - each.failing_since >= GIVEN_UP_AFTER:
            each.given_up_at = now
            given_up.append(each)
        else:
            each.next_try_at = now + pause_after(each.failures)
        each.save(update_fields=COLUMNS)
    log.warning("not sent", error=str(error), given_up=len(given_up))
    return given_up


def pause_after(failures: int) -> timedelta:
    """Return how long a message waits after that many failures."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(failures - 1, 16)))
