"""The slips that sessions have used, held against their figures: a later night finds a reuse or a hole in them.

    the newest run of each night ─► how far it read each session ─► its figures through there ─► the uses, or a fault

``figures`` holds what is kept of a session against its events. A night is reconciled again within a day of what lets it
read otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from audit.models import LoggedStream, NightRun, SessionFigures, SlipUse
from audit.projections.faults import WrongRow
from audit.reconciliation.kept import keys_of
from audit.reconciliation.night import session_streams
from audit.reconciliation.sessions import decode_figures
from audit.reconciliation.slips import series_of

READ_AGAIN_WITHIN = timedelta(days=1)


def wrong_slip_uses(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the slips of a casino, of every casino for None."""
    ended = NightRun.objects.filter(ended_at__isnull=False)
    ended = ended if casino_id is None else ended.filter(casino=casino_id)
    newest = ended.values("casino", "gaming_day").annotate(newest=Max("pk")).values("newest")
    covered: set[int] = set()
    for run in NightRun.objects.filter(pk__in=newest).select_related("casino").order_by("pk"):
        streams = session_streams(run.casino, run.gaming_day)
        through = {each.pk: run.through[str(each.pk)] for each in streams if str(each.pk) in run.through}
        covered |= set(through)
        readings = _readings(through, run.ended_at)
        stored = _stored(list(through))
        for stream in streams:
            if stream.pk in readings and stored.get(stream.pk, []) not in readings[stream.pk]:
                yield WrongRow("slips", "the slips that it used are not what its events give", stream.name)
    uses = SlipUse.objects.order_by("pk")
    uses = uses if casino_id is None else uses.filter(casino=casino_id)
    of_uses = LoggedStream.objects.in_bulk(list(uses.values_list("stream", flat=True).distinct()))
    for use in uses:
        used_in = of_uses.get(use.stream_id)
        of_stream = used_in and (used_in.casino_id, used_in.gaming_day, used_in.currency, *series_of(use.slip))
        name = used_in.name if used_in is not None else f"{use.stream_id}"
        if of_stream != (use.casino_id, use.gaming_day, use.currency, use.series, use.number):
            yield WrongRow("slips", f"the slip {use.slip} is not said to be of its casino, day or series", name)
        elif use.stream_id not in covered:
            yield WrongRow("slips", f"no run of its night has read the slip {use.slip}", name)


def _stored(stream_ids: list[int]) -> dict[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = {}
    rows = SlipUse.objects.filter(stream__in=stream_ids).order_by("seq", "slip")
    for stream_id, seq, slip in rows.values_list("stream", "seq", "slip"):
        found.setdefault(stream_id, []).append((seq, slip))
    return found


def _readings(through: dict[int, int], ended_at: datetime | None) -> dict[int, list[list[tuple[int, str]]]]:
    """Return the uses that each session may have, by what is kept of it now, and until a day ago.

    None are known of a session without its figures.
    """
    keys = keys_of(through)
    found: dict[int, list[list[tuple[int, str]]]] = {}
    before: dict[int, list[list[tuple[int, str]]]] = {}
    changed_since: dict[int, datetime] = {}
    for row in SessionFigures.objects.filter(stream__in=list(through)).order_by("pk"):
        key = keys[row.stream_id]
        if row.last_seq != key.last_seq:
            continue
        uses = sorted((slip.seq, slip.slip) for slip in decode_figures(row).slips)
        if (row.readings, row.corrections) == (key.readings, key.corrections):
            found.setdefault(row.stream_id, []).append(uses)
            changed_since[row.stream_id] = row.made_at
        else:
            before.setdefault(row.stream_id, []).append(uses)
    now = timezone.now()
    for stream_id, uses_before in before.items():
        since = changed_since.get(stream_id)
        is_awaited = since is not None and ended_at is not None and ended_at < since and now < since + READ_AGAIN_WITHIN
        if since is None or is_awaited:
            found.setdefault(stream_id, []).extend(uses_before)
    return found
