"""Listed players at the tables: a sweep compares what table systems send with the lists of their casinos.

    events of the last days ─► players of each session ─► on a list in force on that gaming day ─► one sighting a day
                                            └► at another table since it was dismissed ─► another sighting

An entry counts from the gaming day on which a second officer approved it. A session that arrives late, as an import
does, counts on its own gaming day. A sighting leaves the inboxes when an officer dismisses it: ``listings.dismiss``.
Somebody who was shown out may come back, so a dismissal covers the table and not the day.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.event_store import audit_trail, binary_copy
from audit.models import IN_FORCE, Casino, Listing, ListKind, Sighting
from audit.persons.listings import in_force_on

SEEN = "listing.seen"

ARRIVED_WITHIN = timedelta(days=2)
"""How long ago events may have arrived that are looked through for a new entry, or by the first sweep."""

OVERLAP = timedelta(minutes=10)
"""What each sweep looks through again: events that were stored, and not committed yet, at the sweep before."""

LATE_AT_MOST = timedelta(days=7)
"""How long after the last day of an entry a session of that day may arrive."""

SHOWN_FOR = timedelta(days=7)
"""How long a sighting stands in the inbox, unless an officer dismisses it."""

TITLES: Mapping[str, Promise] = {
    ListKind.EXCLUSION: _("Excluded player at a table"),
    ListKind.WATCH: _("Watched player at a table"),
}
"""What an inbox and a mail call a sighting, the more urgent first."""

_SESSIONS = """
select s.stream_id, s.name, s.gaming_day, s.table_id from log.stream s join log.stream_head h using (stream_id)
where s.casino_id = %b::bigint and not s.is_of_desk and s.gaming_day >= %b::date and h.received_at > %b::timestamptz
order by s.gaming_day, s.stream_id
"""

# An envelope is canonical JSON, and the ids of a directory have no character that JSON escapes.
_PLAYERS = """
select e.stream_id, listed.code, max(b.received_at) from log.batch b
join log.event e on e.stream_id = b.stream_id and e.seq between b.first_seq and b.last_seq
join unnest(%b::text[]) listed (code) on position('"player":"' || listed.code || '"' in e.envelope::text) > 0
where b.stream_id = any (%b::bigint[]) and b.received_at > %b::timestamptz
group by e.stream_id, listed.code
"""


class _Session(NamedTuple):
    """A session that events arrived of; ``table_id`` is None where it is not known."""

    stream_id: int
    name: str
    gaming_day: date
    table_id: int | None


def sweep(now: datetime, last: datetime | None = None) -> int:
    """Keep a sighting of each listed player for each gaming day. Return how many are new. Idempotent.

    ``last`` is when the sweep before ran. Only an entry approved since then makes this one read what arrived earlier.
    """
    casinos = Casino.objects.filter(
        is_sandbox=False, pk__in=Listing.objects.filter(state__in=IN_FORCE).values("casino")
    )
    return sum(_sweep(casino, now, last) for casino in casinos.order_by("pk"))


def recent(sightings: QuerySet[Sighting], now: datetime) -> QuerySet[Sighting]:
    """Return those of ``sightings`` that stand in an inbox, the newest first."""
    rows = sightings.filter(seen_at__gt=now - SHOWN_FOR, dismissed_at=None)
    rows = rows.select_related("listing__casino", "stream__table")
    return rows.order_by("-seen_at", "-pk")


def _sweep(casino: Casino, now: datetime, last: datetime | None) -> int:
    ended = casino.gaming_day_at(now) - LATE_AT_MOST
    listings = list(Listing.objects.filter(in_force_on(ended), casino=casino).order_by("pk"))
    if not listings:
        return 0
    first = min(_first_day(casino, each) for each in listings)
    since = now - ARRIVED_WITHIN
    if last is not None and all(_approved_at(each) <= last - OVERLAP for each in listings):
        since = last - OVERLAP
    sessions = [_Session(*row) for row in binary_copy.execute(_SESSIONS, (casino.pk, first, since))]
    codes = sorted({each.code for each in listings})
    streams = [session.stream_id for session in sessions]
    last_came = {
        (stream_id, code): at for stream_id, code, at in binary_copy.execute(_PLAYERS, (codes, streams, since))
    }
    new = 0
    for session in sessions:
        for listing in listings:
            day, came = session.gaming_day, last_came.get((session.stream_id, listing.code))
            is_in_force = _first_day(casino, listing) <= day and (listing.last_day is None or day <= listing.last_day)
            if is_in_force and came is not None:
                new += _keep(listing, session, came, now)
    return new


def _approved_at(listing: Listing) -> datetime:
    assert listing.approved_at is not None, "an entry in force was approved"
    return listing.approved_at


def _first_day(casino: Casino, listing: Listing) -> date:
    return casino.gaming_day_at(_approved_at(listing))


def _keep(listing: Listing, session: _Session, came: datetime, now: datetime) -> bool:
    """Keep that a player was at a table; ``came`` is when the last event about that arrived. Return False if it is
    known: a sighting of the gaming day stands, or what was dismissed is this table or came after."""
    day = session.gaming_day
    of_day = Sighting.objects.filter(listing=listing, gaming_day=day).select_related("stream")
    if any(_covers(each, session, came) for each in of_day):
        return False
    data = {"listing": listing.number, "list": listing.kind, "named": listing.code, "session": session.name}
    try:
        with transaction.atomic():
            Sighting.objects.create(listing=listing, gaming_day=day, stream_id=session.stream_id, seen_at=now)
            data["gaming_day"] = day.isoformat()
            audit_trail.record("system", SEEN, casino_id=listing.casino_id, data=data)
    except IntegrityError:  # another sweep keeps it
        return False
    return True


def _covers(sighting: Sighting, session: _Session, came: datetime) -> bool:
    """Return whether officers know of a session by a sighting of its gaming day."""
    if sighting.dismissed_at is None or came <= sighting.dismissed_at:
        return True
    return sighting.stream_id == session.stream_id or sighting.stream.table_id == session.table_id
