"""Slips from day to day: what earlier gaming days used, kept in ``SlipUse``, and which later days that concerns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from django.db.models import QuerySet

from audit.models import Casino, LoggedStream, SlipUse
from audit.reconciliation import slips
from audit.reconciliation.slips import EarlierUse, Reached, Use


@dataclass(slots=True)
class Earlier:
    """What the days before one have used: by slip, and by series."""

    uses: dict[str, EarlierUse] = field(default_factory=dict)
    reached: dict[str, Reached] = field(default_factory=dict)


def earlier_than(casino: Casino, day: date, currency: str, used: Iterable[Use]) -> Earlier:
    """Return what the days before ``day`` used of the slips and series that are ``used`` on it."""
    names = {use.slip.slip for use in used}
    series = {prefix for prefix, number in map(slips.series_of, names) if number is not None}
    before = _of(casino, currency).filter(gaming_day__lt=day)
    earlier = Earlier()
    again = before.filter(slip__in=names).order_by("gaming_day", "stream_id", "seq").select_related("stream")
    for use in again:
        earlier.uses.setdefault(use.slip, EarlierUse(use.stream.name, use.seq, use.gaming_day.isoformat()))
    numbered = before.filter(series__in=series, number__isnull=False)
    highest = numbered.order_by("series", "-number", "gaming_day").distinct("series")
    for prefix, number, gaming_day in highest.values_list("series", "number", "gaming_day"):
        assert number is not None, "only numbered slips"
        earlier.reached[prefix] = Reached(number, gaming_day.isoformat())
    return earlier


def keep(casino: Casino, day: date, currency: str, streams: Iterable[LoggedStream], used: Iterable[Use]) -> set[date]:
    """Keep what the sessions of a day used, and return the later days for which that changes something.

    These are the days that used a slip whose uses have changed, and the next one of each series with such a slip.
    """
    by_name = {stream.name: stream for stream in streams}
    rows = [
        SlipUse(
            casino=casino,
            currency=currency,
            gaming_day=day,
            stream=by_name[use.stream],
            seq=use.slip.seq,
            slip=use.slip.slip,
            series=series,
            number=number,
        )
        for use in used
        for series, number in [slips.series_of(use.slip.slip)]
    ]
    stored = SlipUse.objects.filter(stream__in=[stream.pk for stream in by_name.values()])
    before = set(stored.values_list("stream_id", "seq", "slip"))
    now = {(row.stream_id, row.seq, row.slip) for row in rows}
    if before == now:
        return set()
    stored.delete()
    SlipUse.objects.bulk_create(rows, batch_size=1_000)
    return _concerned(casino, day, currency, {slip for _stream, _seq, slip in before ^ now})


def _concerned(casino: Casino, day: date, currency: str, changed: set[str]) -> set[date]:
    later = _of(casino, currency).filter(gaming_day__gt=day)
    days = set(later.filter(slip__in=changed).values_list("gaming_day", flat=True))
    prefixes = {slips.series_of(slip)[0] for slip in changed}
    following = later.filter(series__in=prefixes).order_by("series", "gaming_day").distinct("series")
    return days | set(following.values_list("gaming_day", flat=True))


def _of(casino: Casino, currency: str) -> QuerySet[SlipUse]:
    return SlipUse.objects.filter(casino=casino, currency=currency)
