"""The digest of the inbox: each morning, what waits for an officer at a casino, in one mail. It names no person.

A digest is sent once a gaming day, in its first hours: a worker that was down at night sends none at noon. Where
nothing waits there is no mail. If no server takes it, the next sweep tries again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.access.scope import officers_with
from audit.casework import inbox
from audit.casework.titles import incident_title
from audit.casework.urgency import HIGHEST, priority_of
from audit.models import Casino, InboxDigest, NightSubscriber, Officer, Sighting
from audit.notifications import delivery
from audit.notifications.sighting_mail import sighting_in_words
from audit.persons import sightings
from audit.presentation import date_time, labelled, reference
from settlement.catalogue import Language

MORNING = timedelta(hours=6)
"""How long after the beginning of a gaming day a digest is still sent."""


def waiting(now: datetime) -> list[tuple[int, int]]:
    """Return the officers to whom the digest of this morning was not sent, each with the casino. Ids alone."""
    due = []
    for casino in Casino.objects.filter(is_sandbox=False):
        day = casino.gaming_day_at(now)
        if now - casino.cutoff_at(day) >= MORNING:
            continue
        sent = InboxDigest.objects.filter(casino=casino, gaming_day=day).values("officer")
        workers = officers_with(Capability.WORK_CASES, [casino.pk]) | officers_with(
            Capability.APPROVE_CASES, [casino.pk]
        )
        rest = workers.exclude(email="").exclude(pk__in=sent).order_by("pk").distinct()
        due += [(pk, casino.pk) for pk in rest.values_list("pk", flat=True)]
    return due


def send(officer_id: int, casino_id: int, now: datetime) -> int:
    """Mail an officer what waits at a casino, unless that was done this morning. Return how many lines it has."""
    if (officer_id, casino_id) not in waiting(now):
        return 0
    officer, casino = Officer.objects.get(pk=officer_id), Casino.objects.get(pk=casino_id)
    try:
        with transaction.atomic():
            _digest, is_new = InboxDigest.objects.get_or_create(
                officer=officer, casino=casino, gaming_day=casino.gaming_day_at(now)
            )
            lines = [line for found in inbox.lines_of(officer, [casino_id], now).values() for line in found]
            seen = list(sightings.recent(Sighting.objects.filter(listing__casino=casino), now))
            if not is_new or not (lines or seen):  # another worker mails it, or nothing waits on this morning
                return 0
            delivery.hand_over(_message(officer, casino, lines, seen))
    except delivery.NotTaken:
        return 0
    return len(lines) + len(seen)


def _message(officer: Officer, casino: Casino, lines: list[inbox.Line], seen: list[Sighting]) -> EmailMessage:
    chosen = NightSubscriber.objects.filter(casino=casino, officer=officer).values_list("language", flat=True).first()
    with translation.override(cast(Language, chosen or settings.LANGUAGE_CODE)):
        titles = {
            "due": _("Due today"),
            "video": _("Video ends"),
            "mentioned": _("Mentioned"),
            "assigned": _("Assigned to you"),
            "reopened": _("Reopened"),
            "decided": _("Decided"),
        }
        named, number = casino.name or casino.code, len(lines) + len(seen)
        words = ngettext(
            "%(number)d line in your inbox, %(casino)s", "%(number)d lines in your inbox, %(casino)s", number
        )
        subject = words % {"number": number, "casino": named}
        body = [sighting_in_words(each) for each in seen]
        body += [labelled(titles[line.kind], _about(line, casino)) for line in lines]
    return EmailMessage(" ".join(subject.split()), "\n".join([*body, ""]), to=[officer.email])


def _about(line: inbox.Line, casino: Casino) -> str:
    """Return what a line says, without a note: somebody may have written a name there."""
    table = line.finding.table.code if line.finding.table is not None else ""
    level = priority_of(line.finding)
    facts = (
        reference(line.finding),
        _("priority %(level)s of %(highest)s") % {"level": level, "highest": HIGHEST} if level else "",
        incident_title(line.finding),
        table,
        date_time(line.at, casino, with_year=True),
    )
    return ", ".join(filter(None, facts))
