"""What an entry of the register touches: sessions that are read again by it, and nights that somebody has signed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.db import connection
from django.db.models import QuerySet

from audit.event_store import cluster
from audit.models import LoggedStream, NightReport, RegisterEntry
from audit.register.in_force import Place
from audit.register.readings import KINDS, as_json, rulesets_of


def streams_of(entry: RegisterEntry) -> QuerySet[LoggedStream]:
    """Return the sessions that an entry is about, whether or not it decides there: none where none is read by it."""
    if KINDS[entry.reading].is_of_casino:
        return LoggedStream.objects.none()
    streams = LoggedStream.objects.filter(
        casino=entry.casino_id,
        is_of_desk=False,
        ruleset__in=rulesets_of(entry.reading, entry.ruleset),
        gaming_day__gte=entry.first_day,
    )
    if entry.table_id is not None:
        streams = streams.filter(table=entry.table_id)
    return streams if entry.last_day is None else streams.filter(gaming_day__lte=entry.last_day)


def signed_nights(entry: RegisterEntry) -> list[date]:
    """Return the gaming days of an entry whose newest report has a signature, in order."""
    days = streams_of(entry).order_by("gaming_day").values_list("gaming_day", flat=True).distinct()
    signed = NightReport.objects.filter(casino=entry.casino_id, gaming_day__in=days, reviewed_by__isnull=False)
    return sorted(signed.values_list("gaming_day", flat=True).distinct())


_AGREE = """
with newest as (
  select e.casino_id, max(e.version) as version from audit_registerentry e where e.version is not null group by 1),
untouched as (
  select r.id, n.version from audit_adjudicationrun r
  join newest n on n.casino_id = r.casino_id and r.register_version < n.version
  join log.stream s on s.stream_id = r.stream_id
  where r.state = 'complete' and r.what_if_id is null and not exists (
    select from audit_registerentry e
    where e.casino_id = r.casino_id and e.version > r.register_version and e.reading <> all(%(of_casino)s)
      and (e.table_id is null or e.table_id = s.table_id) and e.ruleset in ('', s.ruleset)
      and s.gaming_day >= e.first_day and s.gaming_day <= coalesce(e.last_day, s.gaming_day))
  limit %(most)s for update of r skip locked)
update audit_adjudicationrun r set register_version = u.version from untouched u where u.id = r.id
"""

AGREED_AT_ONCE = 10_000


def agree() -> int:
    """Note for every complete run which no new entry touches that it reads as the newest version does. Return how many.

    The others are dirty until a step has compared what both versions say of their stream.
    """
    of_casino = [kind.name for kind in KINDS.values() if kind.is_of_casino]
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(_AGREE), {"most": AGREED_AT_ONCE, "of_casino": of_casino})
        return int(cursor.rowcount)


def named(entry: RegisterEntry) -> str:
    """Return an approved entry in one line: ``payout_unit = 100, version 3 (ada, bob)``."""
    officers = [each.get_username() for each in (entry.proposed_by, entry.decided_by) if each is not None]
    return f"{entry.reading} = {as_json(entry.value)}, version {entry.version} ({', '.join(officers)})"


def new_entries(stream: LoggedStream, after: int | None, through: int | None) -> Sequence[RegisterEntry]:
    """Return the approved entries about a stream after one version of the register through another."""
    if through is None:
        return []
    entries = RegisterEntry.objects.filter(casino=stream.casino_id, version__gt=after or 0, version__lte=through)
    where = Place.of(stream)
    found = entries.order_by("version").select_related("proposed_by", "decided_by")
    return [entry for entry in found if where.is_reached_by(entry)]
