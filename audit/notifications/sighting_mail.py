"""Mail about excluded players: to the officers of the casino, once one of them is at a table. It has ids alone."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import officers_with
from audit.casework.escalation import is_due
from audit.event_store import audit_trail
from audit.models import ListKind, Sighting
from audit.notifications import delivery
from audit.persons import sightings
from audit.presentation import date_time, day, labelled


def waiting(now: datetime) -> list[int]:
    """Return the ids of the sightings of excluded players of the last days that are to be mailed now."""
    return list(_due(now).order_by("pk").values_list("pk", flat=True))


def send(sighting_id: int) -> bool:
    """Mail a sighting, unless that was done or is not due. Return whether a server took it."""

    def find(now: datetime) -> list[Sighting]:
        locked = _due(now).select_for_update(skip_locked=True, of=("self",)).filter(pk=sighting_id)
        return list(locked.select_related("listing__casino", "stream__table"))

    def given_up(sighting: Sighting) -> None:
        data = {"listing": sighting.listing.number, "named": sighting.listing.code}
        audit_trail.record("system", "listing.not_mailed", casino_id=sighting.listing.casino_id, data=data)

    return bool(delivery.send(find, lambda found: message(found[0]), given_up=given_up))


def message(sighting: Sighting) -> EmailMessage | None:
    """Return a sighting as one message to the officers of its casino who work on cases or approve them.

    None if none of them has an address. No officer sees the addresses of the others.
    """
    casino = sighting.listing.casino
    officers = officers_with(Capability.WORK_CASES, [casino.pk]) | officers_with(Capability.APPROVE_CASES, [casino.pk])
    addresses = officers.exclude(email="").order_by("email").values_list("email", flat=True).distinct()
    if not addresses:
        return None
    with translation.override(settings.LANGUAGE_CODE):
        named = casino.name or casino.code
        subject = f"{sightings.TITLES[sighting.listing.kind]}, {named}"
        facts = [
            (_("Casino"), named),
            (_("Player"), sighting.listing.code),
            (_("Table"), _table(sighting)),
            (_("Session"), sighting.stream.name),
            (_("Gaming day"), day(sighting.gaming_day, with_weekday=True, with_year=True)),
            (_("Seen"), date_time(sighting.seen_at, casino, with_year=True)),
            (_("Entry on the list"), str(sighting.listing.number)),
        ]
        body = "\n".join([*(labelled(label, text) for label, text in facts if text), ""])
    return EmailMessage(" ".join(subject.split()), body, bcc=list(addresses))


def sighting_in_words(sighting: Sighting) -> str:
    """Return a sighting as a line of a digest, in the active language."""
    facts = (sighting.listing.code, _table(sighting), day(sighting.gaming_day, with_year=True))
    return labelled(str(sightings.TITLES[sighting.listing.kind]), ", ".join(filter(None, facts)))


def _table(sighting: Sighting) -> str:
    return sighting.stream.table.code if sighting.stream.table is not None else ""


def _due(now: datetime) -> QuerySet[Sighting]:
    newest = now - delivery.GIVEN_UP_AFTER
    rows = Sighting.objects.filter(is_due(now), listing__kind=ListKind.EXCLUSION, seen_at__gt=newest)
    return rows.filter(dismissed_at=None)
